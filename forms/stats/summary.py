"""Averages, deviations and intervals of values in the order measured, in any unit; None where too few define it."""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from forms.stats.distributions import student_t

LEVEL = 0.95
"""Of every confidence interval that is shown, unless another is named."""

_EXACT_MAX = 60
"""Values up to which the Mann-Kendall p is counted out; beyond, the normal approximation differs little."""


def mann_kendall_p(values: Sequence[float]) -> float:
    """The Mann-Kendall p (Mann 1945, Kendall 1975); exact without ties up to 60 values."""
    n = len(values)
    counts = Counter(values)
    if len(counts) <= 1:
        return 1.0

    rises = sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))
    if len(counts) == n <= _EXACT_MAX:
        pairs = n * (n - 1) // 2
        orders_as_extreme = sum(_orders_by_falls(n)[: (pairs - abs(rises)) // 2 + 1])
        return min(1.0, 2 * orders_as_extreme / math.factorial(n))

    tied = sum(count * (count - 1) * (2 * count + 5) for count in counts.values())
    variance = (n * (n - 1) * (2 * n + 5) - tied) / 18
    return math.erfc(abs(rises) / math.sqrt(2 * variance))


def _orders_by_falls(n: int) -> list[int]:
    """The number of orders of ``n`` values by how many pairs of them fall, from 0."""
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
"""Values up to which all pairs are compared; more are averaged down to that many first."""

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
    if spread is None:
        return None
    return student_t(level, len(values) - 1) * spread / math.sqrt(len(values))


def half_width_percent(values: Sequence[float], level: float = LEVEL) -> float | None:
    """Half the interval in percent of the mean; None as for the deviation."""
    return _percent_of_mean(half_width(values, level), values)


def known_to_percent(values: Sequence[float]) -> float | None:
    """The ± in percent of the mean that ``--until`` waits for; None as for the deviation.

    Stopping at the first narrow interval picks lucky ones: a level of 99.2 % at five runs, 95.6 % from 28 on, makes
    95 % of them hold, up to a deviation of 5 % (simulated, TRUTH.md).
    """
    one_sided_level = max(0.978, 1 - 0.0008 * len(values))
    return half_width_percent(values, 2 * one_sided_level - 1)


def modified_z_scores(values: Sequence[float], clock_percent: float = 0.0) -> list[float]:
    """0.6745 x (value - median) / MAD (Iglewicz & Hoaglin 1993); 0 for equal values.

    The MAD is at least :data:`MAD_FLOOR_PERCENT` of the median, or half of ``clock_percent``.
    """
    if not values:
        return []
    middle = statistics.median(values)
    mad = statistics.median(abs(value - middle) for value in values)
    scale = max(mad, abs(middle) * max(MAD_FLOOR_PERCENT, clock_percent / 2) / 100)
    if not scale:
        return [0.0] * len(values)
    return [0.6745 * (value - middle) / scale for value in values]


def unusual_score(runs: int) -> float:
    """The modified z-score beyond which a run is unusual; between two rows of the table the higher."""
    scores = [score for count, score in UNUSUAL_SCORES.items() if count <= runs]
    if not scores:
        return math.inf
    return scores[-1] if runs < 30 else _UNUSUAL_OF_MANY


def clock_percent(seconds: Sequence[float]) -> float:
    """One clock step in percent of a run: the coarsest of 1, 0.1, 0.01, 0.001 s that divides all times; 0 if finer."""
    if not seconds:
        return 0.0
    for step in (1.0, 0.1, 0.01, 0.001):
        if all(abs(time / step - round(time / step)) < 1e-6 for time in seconds):
            return 100 * step / statistics.median(seconds)
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusualRate:
    """A rate that lies further from the median than the others vary."""

    share_of_median: float | None
    """How far from the median, as a share of it; None of a median of zero."""
    score: float
    """The modified z-score; below 0 the rate is slow."""
    bound: float
    is_warm_up: bool
    """Slow, and so are all rates before it: there was too little warm-up."""

    @property
    def is_slow(self) -> bool:
        return self.score < 0


def unusual_rates(rates: Sequence[float], seconds: Sequence[float] = ()) -> list[UnusualRate | None]:
    """What is unusual of each rate, None where nothing is.

    ``rates`` in any unit; ``seconds`` tell the clock's resolution.
    """
    if not rates:
        return []
    scores = modified_z_scores(rates, clock_percent(seconds))
    bound = unusual_score(len(rates))
    middle = statistics.median(rates)

    answers: list[UnusualRate | None] = []
    is_warming_up = True
    for rate, score in zip(rates, scores, strict=True):
        if abs(score) <= bound:
            answers.append(None)
            is_warming_up = False
            continue

        is_warming_up = is_warming_up and score < 0
        share = abs(rate - middle) / middle if middle else None
        answers.append(UnusualRate(share_of_median=share, score=score, bound=bound, is_warm_up=is_warming_up))
    return answers


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

    pairs = combinations(enumerate(values), 2)
    slopes = [math.log(later / earlier) / (j - i) for (i, earlier), (j, later) in pairs]
    percent = 100 * math.expm1(statistics.median(slopes) * (n - 1))
    return Drift(percent=percent, values=tuple(values))


def lag_1(values: Sequence[float]) -> float | None:
    """The correlation of neighbours where it is beyond chance and above 0.3; else None.

    Bartlett 1946: independent values vary by 1 / sqrt(n) around -1 / n; one-sided 5 %, from eight values on.
    """
    n = len(values)
    if n < MIN_FOR_DEPENDENCE:
        return None
    middle = statistics.fmean(values)
    deviations = [value - middle for value in values]
    squares = math.fsum(away * away for away in deviations)
    if not squares:
        return None

    correlation = math.fsum(before * after for before, after in itertools.pairwise(deviations)) / squares
    least = max(LEAST_DEPENDENCE, 1.645 / math.sqrt(n) - 1 / n)
    return correlation if correlation > least else None


def _thinned(values: Sequence[float]) -> Sequence[float]:
    """The values, or the means of neighbours where there are too many to compare all pairs."""
    size = math.ceil(len(values) / LONGEST_IN_PAIRS)
    if size <= 1:
        return values
    return [statistics.fmean(values[start : start + size]) for start in range(0, len(values), size)]


def _percent_of_mean(amount: float | None, values: Sequence[float]) -> float | None:
    middle = mean(values)
    if amount is None or not middle:
        return None
    return 100 * amount / abs(middle)
