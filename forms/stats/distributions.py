"""Normal, Student's t (central and noncentral) and chi-square distributions.
Relative errors below 1e-9 for 0.5 to 1e7 degrees of freedom, whole or not, and tails down to 1e-12.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

LEVEL = 0.95
"""Of every confidence interval that is shown, unless another is named."""
_STANDARD = NormalDist()
_ENOUGH = 1e-15
_LEAST = 1e-300
_MOST_TERMS = 10_000
_LONGEST = 3.0
_MANY = 1000.0
"""Degrees of freedom above which Hill's expansion is exact to the last digits."""
_NODES = 200
_MIDDLE = 0.567143290409784
"""Where w = exp(-w), so that the scale is 1."""
_NEGLIGIBLE = -45.0


def student_tail(t: float, freedom: float) -> float:
    return _student(abs(t), freedom)[0]


@lru_cache(maxsize=4096)
def student_t(level: float, freedom: float) -> float:
    """The two-sided quantile of Student's t, by Newton's method on logarithms."""
    if level <= 0:
        return 0.0
    if level >= 1:
        return math.inf
    in_tail = level > 0.5
    wanted = math.log1p(-level) if in_tail else math.log(level)
    t = max(1e-3 * level, _STANDARD.inv_cdf((1 + level) / 2))
    for _ in range(200):
        tail, centre = _student(t, freedom)
        chance = tail if in_tail else centre
        slope = 2 * t * _student_density(t, freedom) / chance * (-1 if in_tail else 1)
        step = max(-3.0, min(3.0, (wanted - math.log(chance)) / slope))
        t *= math.exp(step)
        if abs(step) < 1e-14:
            break
    return t


def chi_square_tail(value: float, freedom: float) -> float:
    return _gamma_parts(freedom / 2, value / 2)[1]


@lru_cache(maxsize=1024)
def chi_square_quantile(chance: float, freedom: float) -> float:
    """The chi-square quantile: Newton on logarithms, from Wilson and Hilferty (1931)."""
    half, in_tail = freedom / 2, chance > 0.5
    wanted = math.log1p(-chance) if in_tail else math.log(chance)
    rough = 1 - 2 / (9 * freedom) + _STANDARD.inv_cdf(chance) * math.sqrt(2 / (9 * freedom))
    small = (math.log(chance) + math.lgamma(half + 1)) / half  # the leading term of the series for small values
    log_x = math.log(half * rough**3) if rough > 0.1 else small
    for _ in range(200):
        x = math.exp(log_x)
        below, above = _gamma_parts(half, x)
        part = above if in_tail else below
        slope = math.exp(half * log_x - x - math.lgamma(half)) / part * (-1 if in_tail else 1)
        step = max(-2.0, min(2.0, (wanted - math.log(part)) / slope))
        log_x += step
        if abs(step) < 1e-14:
            break
    return 2 * math.exp(log_x)


@lru_cache(maxsize=256)
def scale_nodes(freedom: float) -> tuple[tuple[float, float], ...]:
    """(scale, weight) pairs to average over the root of chi-square / freedom; weights add up to 1.
    Trapezoidal rule over w, scale exp(w - exp(-w)): converges geometrically (Takahasi and Mori 1974).
    """

    def log_density(w: float) -> float:
        log_scale = w - math.exp(-w)
        return freedom * (log_scale - math.expm1(2 * log_scale) / 2) + math.log1p(math.exp(-w))

    step = 0.1 / math.sqrt(freedom + 1)
    left = right = _MIDDLE
    while log_density(left) > _NEGLIGIBLE:
        left -= step
    while log_density(right) > _NEGLIGIBLE:
        right += step
    points = [left + (right - left) * place / _NODES for place in range(_NODES + 1)]
    weights = [math.exp(log_density(w)) for w in points]
    total = math.fsum(weights)
    return tuple((math.exp(w - math.exp(-w)), weight / total) for w, weight in zip(points, weights, strict=True))


@lru_cache(maxsize=4096)
def noncentral_t_shift(bound: float, freedom: float, power: float) -> float:
    """Standard errors of a change whose t exceeds ``bound`` with this power, to 1e-10 (1e-8 if freedom is 1)."""
    return reaching(power, [(1.0, bound * scale, weight) for scale, weight in scale_nodes(freedom)])


def reaching(power: float, terms: Sequence[tuple[float, float, float]]) -> float:
    """Solve the sum of weight * the normal chance up to (factor * x - bound) = ``power`` for x, by Newton's method."""
    low, high = -math.inf, math.inf
    erfc, exp, root, height = math.erfc, math.exp, math.sqrt(0.5), math.sqrt(0.5 / math.pi)
    quantile = _STANDARD.inv_cdf(power)
    x = math.fsum(weight * (bound + quantile) / factor for factor, bound, weight in terms)
    for _ in range(200):
        reached = slope = 0.0
        for factor, bound, weight in terms:  # the innermost loop of every comparison
            at = factor * x - bound
            reached += weight * erfc(-at * root)
            slope += weight * factor * exp(-at * at / 2)
        excess, slope = reached / 2 - power, slope * height
        low, high = (x, high) if excess < 0 else (low, x)
        step = -excess / slope if slope > 0 else math.copysign(math.inf, -excess)
        step = max(-_LONGEST, min(_LONGEST, step))
        if abs(step) < 1e-12:
            break
        x = x + step if low < x + step < high else (low + high) / 2
    return x


def _student(t: float, freedom: float) -> tuple[float, float]:
    """(two-sided tail, centre) of Student's t, t >= 0; each to its own relative accuracy."""
    if t == 0:
        return 1.0, 0.0
    if freedom > _MANY:
        z = _hill(t, freedom)
        return math.erfc(z / math.sqrt(2)), math.erf(z / math.sqrt(2))
    half = freedom / 2
    squared = t * t / freedom
    # I_x(freedom/2, 1/2) at x = freedom / (freedom + t^2), and its complement
    front = math.exp(-half * math.log1p(squared) + 0.5 * (math.log(squared) - math.log1p(squared)) - _log_beta(half))
    x = 1 / (1 + squared)
    if x < (half + 1) / (half + 2.5):
        tail = front * _beta_fraction(half, 0.5, x) / half
        return tail, 1 - tail
    centre = front * _beta_fraction(0.5, half, squared / (1 + squared)) / 0.5
    return 1 - centre, centre


def _student_density(t: float, freedom: float) -> float:
    half = freedom / 2
    return math.exp(-(half + 0.5) * math.log1p(t * t / freedom) - 0.5 * math.log(freedom) - _log_beta(half))


def _hill(t: float, freedom: float) -> float:
    """The normal value with the same tail (Hill 1970, algorithm 395)."""
    a = freedom - 0.5
    b = 48 * a * a
    y = a * math.log1p(t * t / freedom)
    beyond = (((-0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b)
    return math.sqrt(y) * (1 + (beyond + y + 3) / b)


def _log_beta(half: float) -> float:
    """Of (half, 1/2); Stirling's series where gammas would cancel."""
    if half < 20:
        return math.lgamma(half) + math.lgamma(0.5) - math.lgamma(half + 0.5)
    inverse = 1 / (half * half)
    ratio = (-1 / 8 + inverse * (1 / 192 + inverse * (-1 / 640 + inverse * 17 / 14336))) / half
    return 0.5 * math.log(math.pi) - 0.5 * math.log(half) - ratio


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    found = d
    for term in range(1, _MOST_TERMS):
        twice = 2 * term
        even = term * (b - term) * x / ((a + twice - 1) * (a + twice))
        d, c = 1 / _away(1 + even * d), _away(1 + even / c)
        found *= d * c
        odd = -(a + term) * (a + b + term) * x / ((a + twice) * (a + twice + 1))
        d, c = 1 / _away(1 + odd * d), _away(1 + odd / c)
        found *= d * c
        if abs(d * c - 1) < _ENOUGH:
            break
    return found


def _gamma_parts(a: float, x: float) -> tuple[float, float]:
    """Regularized incomplete gamma function, (below, above) x: series (DLMF 8.11.4) or fraction (8.9.2)."""
    if x <= 0:
        return 0.0, 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for place in range(1, _MOST_TERMS):
            term *= x / (a + place)
            total += term
            if term < total * _ENOUGH:
                break
        below = front * total
        return below, 1 - below
    b = x + 1 - a
    c, d = 1 / _LEAST, 1 / b
    found = d
    for place in range(1, _MOST_TERMS):
        step = -place * (place - a)
        b += 2
        d, c = 1 / _away(step * d + b), _away(b + step / c)
        found *= d * c
        if abs(d * c - 1) < _ENOUGH:
            break
    above = front * found
    return 1 - above, above


def _away(value: float) -> float:
    return value if abs(value) > _LEAST else _LEAST
