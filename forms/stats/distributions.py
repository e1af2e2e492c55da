"""Student's t, chi-square and what is computed from them, in plain Python: tails, quantiles, and the power of a t test.

A *quantile* of a chance is the value up to which the distribution has that chance; two-sided, the values within ± of
it. Each function that finds a quantile follows Newton's method on the logarithm of the chance. Student's t and
chi-square have relative errors below 1e-9 for 0.5 to 1e7 degrees of freedom, and tails down to 1e-12.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

_STANDARD = NormalDist()

_PRECISION = 1e-15
"""Relative change of a sum or a fraction from which further terms change no digit of a double."""

_TINY = 1e-300
"""Stands for zero in a continued fraction, which Lentz's method divides by."""

_MOST_TERMS = 10_000
"""Of a series or a continued fraction, which converge far sooner."""

_MOST_STEPS = 200
"""Newton's method converges within a few steps; where it cannot, the best value so far is returned."""

_LONGEST_STEP = 3.0
"""Of Newton's method: where the slope is nearly zero, a step would lead far beyond the solution."""

_LONGEST_CHI_SQUARE_STEP = 2.0
"""The same for the quantile of chi-square."""

_NORMAL_FREEDOM = 1000.0
"""Degrees of freedom above which Hill's expansion is exact to the last digits."""

_NODES = 200
"""The steps of the trapezoidal rule over the scales."""

_UNIT_SCALE_AT = 0.567143290409784
"""Where w = exp(-w), so that the scale is 1."""

_NEGLIGIBLE_LOG_DENSITY = -45.0
"""exp(-45) is 3e-20: beyond it the trapezoidal rule gains no digit."""


def student_tail(t: float, freedom: float) -> float:
    """The two-sided tail of Student's t: the chance of a value beyond ± ``t``."""
    tail, _ = _student_parts(abs(t), freedom)
    return tail


@lru_cache(maxsize=4096)
def student_t(level: float, freedom: float) -> float:
    """The two-sided quantile of Student's t, by Newton's method on logarithms."""
    if level <= 0:
        return 0.0
    if level >= 1:
        return math.inf

    # The smaller of tail and centre is the one that is known to its own relative accuracy.
    in_tail = level > 0.5
    log_goal = math.log1p(-level) if in_tail else math.log(level)
    sign = -1 if in_tail else 1

    t = max(1e-3 * level, _STANDARD.inv_cdf((1 + level) / 2))
    last_size = math.inf
    for _ in range(_MOST_STEPS):
        tail, centre = _student_parts(t, freedom)
        chance = tail if in_tail else centre
        slope = 2 * t * _student_density(t, freedom) / chance * sign
        step = max(-_LONGEST_STEP, min(_LONGEST_STEP, (log_goal - math.log(chance)) / slope))
        t *= math.exp(step)

        # Of many degrees of freedom, rounding alone may make longer steps than the shortest.
        size = abs(step)
        is_rounding = size < 1e-10 and size >= last_size
        if size < 1e-14 or is_rounding:
            break
        last_size = size
    return t


def chi_square_tail(value: float, freedom: float) -> float:
    """The chance of a chi-square above ``value``."""
    _, above = _gamma_parts(freedom / 2, value / 2)
    return above


@lru_cache(maxsize=1024)
def chi_square_quantile(chance: float, freedom: float) -> float:
    """The chi-square quantile: Newton's method on logarithms, from the approximation of Wilson and Hilferty (1931)."""
    half = freedom / 2
    in_tail = chance > 0.5
    log_goal = math.log1p(-chance) if in_tail else math.log(chance)
    sign = -1 if in_tail else 1

    cube_root = 1 - 2 / (9 * freedom) + _STANDARD.inv_cdf(chance) * math.sqrt(2 / (9 * freedom))
    # For small values the approximation fails: the leading term of their series.
    log_x = (math.log(chance) + math.lgamma(half + 1)) / half
    if cube_root > 0.1:
        log_x = math.log(half * cube_root**3)

    for _ in range(_MOST_STEPS):
        x = math.exp(log_x)
        below, above = _gamma_parts(half, x)
        part = above if in_tail else below
        slope = math.exp(half * log_x - x - math.lgamma(half)) / part * sign
        longest = _LONGEST_CHI_SQUARE_STEP
        step = max(-longest, min(longest, (log_goal - math.log(part)) / slope))
        log_x += step
        if abs(step) < 1e-14:
            break
    return 2 * math.exp(log_x)


@lru_cache(maxsize=256)
def scale_nodes(freedom: float) -> tuple[tuple[float, float], ...]:
    """(scale, weight) pairs to average over √(chi-square / freedom); the weights add up to 1.

    This root is what an estimated standard deviation is over the true one. Trapezoidal rule over w, with the scale
    exp(w - exp(-w)), in which it converges geometrically (Takahasi and Mori 1974).
    """

    def log_density(w: float) -> float:
        log_scale = w - math.exp(-w)
        return freedom * (log_scale - math.expm1(2 * log_scale) / 2) + math.log1p(math.exp(-w))

    # The density is about 1 / √freedom wide: where it ends is looked for in tenths of that.
    step = 0.1 / math.sqrt(freedom + 1)
    low_end = _UNIT_SCALE_AT
    while log_density(low_end) > _NEGLIGIBLE_LOG_DENSITY:
        low_end -= step
    high_end = _UNIT_SCALE_AT
    while log_density(high_end) > _NEGLIGIBLE_LOG_DENSITY:
        high_end += step

    points = [low_end + (high_end - low_end) * place / _NODES for place in range(_NODES + 1)]
    weights = [math.exp(log_density(w)) for w in points]
    total = math.fsum(weights)
    return tuple((math.exp(w - math.exp(-w)), weight / total) for w, weight in zip(points, weights, strict=True))


@lru_cache(maxsize=4096)
def noncentral_t_shift(bound: float, freedom: float, power: float) -> float:
    """The change, in standard errors, whose t exceeds ``bound`` with this power; to 1e-10 (1e-8 if freedom is 1).

    t = (change + error) / (scale · standard error), with a normal error: the noncentral t distribution.
    """
    return shift_with_power(power, [(1.0, bound * scale, weight) for scale, weight in scale_nodes(freedom)])


def shift_with_power(power: float, terms: Sequence[tuple[float, float, float]]) -> float:
    """The x at which the sum of weight · Φ(factor · x - bound) is ``power``, with Φ the normal chance up to a value.

    ``terms`` are (factor, bound, weight). Newton's method, with bisection where a step leads out of the bracket.
    """
    # Local names: this is the innermost loop of every comparison.
    erfc = math.erfc
    exp = math.exp
    root_of_half = math.sqrt(0.5)
    density_at_zero = math.sqrt(0.5 / math.pi)

    low = -math.inf
    high = math.inf
    quantile = _STANDARD.inv_cdf(power)
    x = math.fsum(weight * (bound + quantile) / factor for factor, bound, weight in terms)
    for _ in range(_MOST_STEPS):
        doubled_chance = 0.0
        density_sum = 0.0
        for factor, bound, weight in terms:
            at = factor * x - bound
            doubled_chance += weight * erfc(-at * root_of_half)
            density_sum += weight * factor * exp(-at * at / 2)
        excess = doubled_chance / 2 - power
        slope = density_sum * density_at_zero

        if excess < 0:
            low = x
        else:
            high = x
        step = -excess / slope if slope > 0 else math.copysign(math.inf, -excess)
        step = max(-_LONGEST_STEP, min(_LONGEST_STEP, step))
        if abs(step) < 1e-12:
            break
        x = x + step if low < x + step < high else (low + high) / 2
    return x


def _student_parts(t: float, freedom: float) -> tuple[float, float]:
    """(two-sided tail, centre) of Student's t, t >= 0; each to its own relative accuracy."""
    if t == 0:
        return 1.0, 0.0
    if freedom > _NORMAL_FREEDOM:
        z = _hill(t, freedom)
        return math.erfc(z / math.sqrt(2)), math.erf(z / math.sqrt(2))

    # I_x(freedom/2, 1/2) at x = freedom / (freedom + t^2), and its complement
    half = freedom / 2
    squared = t * t / freedom
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
    """The logarithm of the beta function of (half, 1/2); Stirling's series where gammas would cancel."""
    if half < 20:
        return math.lgamma(half) + math.lgamma(0.5) - math.lgamma(half + 0.5)
    inverse = 1 / (half * half)
    ratio = (-1 / 8 + inverse * (1 / 192 + inverse * (-1 / 640 + inverse * 17 / 14336))) / half
    return 0.5 * math.log(math.pi) - 0.5 * math.log(half) - ratio


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    c = 1.0
    d = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for term in range(1, _MOST_TERMS):
        twice = 2 * term

        even = term * (b - term) * x / ((a + twice - 1) * (a + twice))
        d = 1 / _away_from_zero(1 + even * d)
        c = _away_from_zero(1 + even / c)
        fraction *= d * c

        odd = -(a + term) * (a + b + term) * x / ((a + twice) * (a + twice + 1))
        d = 1 / _away_from_zero(1 + odd * d)
        c = _away_from_zero(1 + odd / c)
        fraction *= d * c

        if abs(d * c - 1) < _PRECISION:
            break
    return fraction


def _gamma_parts(a: float, x: float) -> tuple[float, float]:
    """Regularized incomplete gamma function, (below, above) x: series (DLMF 8.11.4) or fraction (8.9.2)."""
    if x <= 0:
        return 0.0, 1.0

    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        below = front * _gamma_series(a, x)
        return below, 1 - below
    above = front * _gamma_fraction(a, x)
    return 1 - above, above


def _gamma_series(a: float, x: float) -> float:
    term = total = 1 / a
    for place in range(1, _MOST_TERMS):
        term *= x / (a + place)
        total += term
        if term < total * _PRECISION:
            break
    return total


def _gamma_fraction(a: float, x: float) -> float:
    b = x + 1 - a
    c = 1 / _TINY
    d = 1 / b
    fraction = d
    for place in range(1, _MOST_TERMS):
        numerator = -place * (place - a)
        b += 2
        d = 1 / _away_from_zero(numerator * d + b)
        c = _away_from_zero(b + numerator / c)
        fraction *= d * c
        if abs(d * c - 1) < _PRECISION:
            break
    return fraction


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
