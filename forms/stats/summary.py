"""Averages, deviations and intervals of values in the order measured, in any unit; None where too few define it.

Student's t and chi-square have relative errors below 1e-9 for 0.5 to 1e7 degrees of freedom, and tails down to 1e-12.
"""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from statistics import NormalDist

LEVEL = 0.95
"""Of every confidence interval that is shown, unless another is named."""
_EXACT_MAX = 60


def mann_kendall_p(values: Sequence[float]) -> float:
    """The Mann-Kendall p (Mann 1945, Kendall 1975); exact without ties up to 60 values."""
    n, counts = len(values), Counter(values)
    if len(counts) <= 1:
        return 1.0
    rises = sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))
    if len(counts) == n <= _EXACT_MAX:
        pairs = n * (n - 1) // 2
        return min(1.0, 2 * sum(_orders_by_falls(n)[: (pairs - abs(rises)) // 2 + 1]) / math.factorial(n))
    tied = sum(count * (count - 1) * (2 * count + 5) for count in counts.values())
    variance = (n * (n - 1) * (2 * n + 5) - tied) / 18
    return math.erfc(abs(rises) / math.sqrt(2 * variance))


def _orders_by_falls(n: int) -> list[int]:
    orders = [1]
    for values in range(2, n + 1):
        sums = [0]
        for count in orders:
            sums.append(sums[-1] + count)
        most = len(orders) + values - 1
        orders = [sums[min(falls + 1, len(orders))] - sums[max(0, falls - values + 1)] for falls in range(most)]
    return orders


UNUSUAL_SCORES = {3: 22.0, 4: 6.9, 5: 7.9, 6: 5.5, 7: 5.9, 8: 4.9, 9: 5.1, 10: 4.6, 12: 4.4, 15: 4.3, 18: 4.1, 25: 3.9}
"""By runs, simulated: flags a run in 5 % of series. The 3.5 of Iglewicz & Hoaglin 1993 holds for many values;
of five it would flag one in every fifth healthy series.
"""
_UNUSUAL_OF_MANY = 3.8
"""From 30 runs to hundreds: more runs, but better known variation."""

MAD_FLOOR_PERCENT = 0.5
"""Least median absolute deviation, in percent of the median: else five nearly equal runs flag the slightest difference.
With it no run of five is flagged within 5.9 % of the median (7.9 / 0.6745 x 0.5 %), none of thirty within 2.8 %.
"""

MIN_FOR_DRIFT = 5
"""4 values in perfect order still have p = 0.083."""

MIN_FOR_DEPENDENCE = 8
LEAST_DEPENDENCE = 0.3

LONGEST_IN_PAIRS = 500

TOO_LITTLE_WARM_UP = "too little warm-up"
DRIFT_ALPHA = 0.05


def mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def median(values: Sequence[float]) -> float | None:
    """The middle value, or the mean of the two middle ones; None for no values."""
    return statistics.median(values) if values else None


def deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation (n - 1); None for fewer than two values."""
    return statistics.stdev(values) if len(values) > 1 else None


def deviation_percent(values: Sequence[float]) -> float | None:
    """The deviation in percent of the mean; None for fewer than two values or a mean of zero."""
    return _percent_of_mean(deviation(values), values)


def confidence_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float] | None:
    """The interval of the mean by Student's t, (low, high); None below two values."""
    half = half_width(values, level)
    if half is None:
        return None
    middle = statistics.fmean(values)
    return middle - half, middle + half


def half_width(values: Sequence[float], level: float = LEVEL) -> float | None:
    spread = deviation(values)
    return None if spread is None else student_t(level, len(values) - 1) * spread / math.sqrt(len(values))


def half_width_percent(values: Sequence[float], level: float = LEVEL) -> float | None:
    """Half the interval in percent of the mean; None as for the deviation."""
    return _percent_of_mean(half_width(values, level), values)


def known_to_percent(values: Sequence[float]) -> float | None:
    """The ± in percent of the mean that ``--until`` waits for; None as for the deviation.
    Stopping at the first narrow interval picks lucky ones: a level of 99.2 % at five runs, 95.6 % from 28 on, makes
    95 % of them hold, up to a deviation of 5 % (simulated, TRUTH.md).
    """
    return half_width_percent(values, 2 * max(0.978, 1 - 0.0008 * len(values)) - 1)


def modified_z_scores(values: Sequence[float], clock_percent: float = 0.0) -> list[float]:
    """0.6745 x (value - median) / MAD (Iglewicz & Hoaglin 1993); 0 for equal values.
    The MAD is at least :data:`MAD_FLOOR_PERCENT` of the median, or half of ``clock_percent``.
    """
    if not values:
        return []
    middle = statistics.median(values)
    mad = statistics.median(abs(v - middle) for v in values)
    scale = max(mad, abs(middle) * max(MAD_FLOOR_PERCENT, clock_percent / 2) / 100)
    return [0.6745 * (v - middle) / scale if scale else 0.0 for v in values]


def unusual_score(runs: int) -> float:
    """The modified z-score beyond which a run is unusual; between two rows of the table the higher."""
    scores = [score for count, score in UNUSUAL_SCORES.items() if count <= runs]
    if not scores:
        return math.inf
    return scores[-1] if runs < 30 else _UNUSUAL_OF_MANY


def clock_percent(seconds: Sequence[float]) -> float:
    """One clock step in percent of a run: the coarsest of 1, 0.1, 0.01, 0.001 s that divides all times; 0 if finer."""
    for step in (1.0, 0.1, 0.01, 0.001):
        if seconds and all(abs(s / step - round(s / step)) < 1e-6 for s in seconds):
            return 100 * step / statistics.median(seconds)
    return 0.0


def unusual(rates: Sequence[float], seconds: Sequence[float] = ()) -> list[str | None]:
    """Why each run is unusual, in words, or None; slow runs at the start are too little warm-up.
    ``rates`` in any unit; ``seconds`` tell the clock's resolution.
    """
    scores = modified_z_scores(rates, clock_percent(seconds))
    bound = unusual_score(len(rates))
    middle = statistics.median(rates) if rates else 0.0
    reasons: list[str | None] = []
    warming = True
    for rate, score in zip(rates, scores, strict=True):
        if abs(score) <= bound:
            reasons.append(None)
            warming = False
            continue
        slow = score < 0
        how_far = f"{abs(rate - middle) / middle:.1%}" if middle else "far"
        text = (
            f"{how_far.replace('%', ' %')} {'slower' if slow else 'faster'} than the median run, more than others vary"
            f" (modified z-score {f'{score:+.1f}'.replace('-', '−')}, limit {bound:g})"
        )
        warming = warming and slow
        reasons.append(f"{TOO_LITTLE_WARM_UP}: {text}" if warming else text)
    return reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    percent: float
    """From the first run to the last along the Theil-Sen line of the logarithms, in percent of the first."""
    values: tuple[float, ...]

    @property
    def p_value(self) -> float:
        """Of the two-sided Mann-Kendall test."""
        return mann_kendall_p(self.values)

    @property
    def significant(self) -> bool:
        return self.p_value < DRIFT_ALPHA


def drift(values: Sequence[float]) -> Drift | None:
    """The trend, by Mann 1945, Kendall 1975 (test), Theil 1950, Sen 1968 (slope); None below five values."""
    values = _thinned(values)
    n = len(values)
    if n < MIN_FOR_DRIFT:
        return None
    if min(values) <= 0:
        return Drift(percent=0.0, values=tuple(values))
    slopes = [math.log(values[j] / values[i]) / (j - i) for i in range(n) for j in range(i + 1, n)]
    return Drift(percent=100 * math.expm1(statistics.median(slopes) * (n - 1)), values=tuple(values))


def lag_1(values: Sequence[float]) -> float | None:
    """The correlation of neighbours where it is beyond chance and above 0.3; else None.
    Bartlett 1946: independent values vary by 1 / sqrt(n) around -1 / n; one-sided 5 %, from eight values on.
    """
    n = len(values)
    if n < MIN_FOR_DEPENDENCE:
        return None
    middle = statistics.fmean(values)
    away = [v - middle for v in values]
    squares = math.fsum(a * a for a in away)
    found = math.fsum(a * b for a, b in itertools.pairwise(away)) / squares if squares else 0.0
    return found if found > max(LEAST_DEPENDENCE, 1.645 / math.sqrt(n) - 1 / n) else None


def _thinned(values: Sequence[float]) -> Sequence[float]:
    each = math.ceil(len(values) / LONGEST_IN_PAIRS)
    if each <= 1:
        return values
    return [statistics.fmean(values[start : start + each]) for start in range(0, len(values), each)]


def _percent_of_mean(amount: float | None, values: Sequence[float]) -> float | None:
    middle = mean(values)
    return None if amount is None or not middle else 100 * amount / abs(middle)


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
