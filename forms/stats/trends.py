"""Whether the runs of a series depend on their order: a trend over all of them, or neighbours that are alike."""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

MIN_FOR_DRIFT = 5
"""The fewest values that can have a trend: 4 values in perfect order still have p = 0.083."""

DRIFT_ALPHA = 0.05
"""The p below which a trend is beyond chance."""

LONGEST_IN_PAIRS = 500
"""Values up to which all pairs are compared; more are averaged down to that many first."""

MIN_FOR_DEPENDENCE = 8
"""The fewest values whose neighbours can be found to be alike."""

LEAST_DEPENDENCE = 0.3
"""A smaller correlation of neighbours changes an interval too little to be told."""

_NORMAL_QUANTILE_95 = 1.645

_EXACT_MAX = 60
"""Values up to which the Mann-Kendall p is counted out; beyond, the normal approximation differs little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A trend of values over their order, whether it is beyond chance or not."""

    percent: float
    """From the first run to the last along the Theil-Sen line of the logarithms, in percent of the first."""
    values: tuple[float, ...]
    """What the trend is of: the values, or means of neighbours where there are many."""

    @property
    def p_value(self) -> float:
        """Of the two-sided Mann-Kendall test."""
        return mann_kendall_p(self.values)

    @property
    def significant(self) -> bool:
        return self.p_value < DRIFT_ALPHA


def drift(values: Sequence[float]) -> Drift | None:
    """The trend of values; None below five.

    Its test is that of Mann 1945 and Kendall 1975; its slope, by Theil 1950 and Sen 1968, is the median of
    (log x_j - log x_i) / (j - i) over all pairs i < j.
    """
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


def _thinned(values: Sequence[float]) -> Sequence[float]:
    """The values, or the means of neighbours where there are too many to compare all pairs."""
    size = math.ceil(len(values) / LONGEST_IN_PAIRS)
    if size <= 1:
        return values
    return [statistics.fmean(values[start : start + size]) for start in range(0, len(values), size)]


def mann_kendall_p(values: Sequence[float]) -> float:
    """The two-sided Mann-Kendall p (Mann 1945, Kendall 1975); exact without ties up to 60 values.

    S is the number of pairs of values that rise, less those that fall. Of n values in random order without ties, S has
    the mean 0 and the variance n (n - 1) (2 n + 5) / 18. Each group of t equal values takes t (t - 1) (2 t + 5) / 18 of
    it.
    """
    n = len(values)
    counts = Counter(values)
    if len(counts) <= 1:
        return 1.0

    s = sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))
    if len(counts) == n <= _EXACT_MAX:
        # S = pairs - 2 falls: as extreme as |S| are orders of at most (pairs - |S|) / 2 falls, and as many with as few
        # rises.
        pairs = n * (n - 1) // 2
        orders_as_extreme = sum(_orders_by_falls(n)[: (pairs - abs(s)) // 2 + 1])
        return min(1.0, 2 * orders_as_extreme / math.factorial(n))

    tied = sum(count * (count - 1) * (2 * count + 5) for count in counts.values())
    variance = (n * (n - 1) * (2 * n + 5) - tied) / 18
    return math.erfc(abs(s) / math.sqrt(2 * variance))


def _orders_by_falls(n: int) -> list[int]:
    """The number of orders of ``n`` values by how many pairs of them fall, from 0.

    The largest of k values can stand at any of k places, and falls with 0 to k - 1 of the others. So the orders of k
    values with f falls are the sum of the orders of k - 1 values with f, f - 1, … f - (k - 1) falls.
    """
    orders = [1]
    for k in range(2, n + 1):
        sums_of_first = [0, *itertools.accumulate(orders)]
        most_falls = k * (k - 1) // 2

        orders_of_k = []
        for falls in range(most_falls + 1):
            up_to_falls = sums_of_first[min(falls + 1, len(orders))]
            below_range = sums_of_first[max(0, falls - k + 1)]
            orders_of_k.append(up_to_falls - below_range)
        orders = orders_of_k
    return orders


def lag_1(values: Sequence[float]) -> float | None:
    """The correlation of neighbours, where it is beyond chance and above 0.3; else None.

    r = the sum of d_i d_(i+1) over the sum of d_i², with d the deviations from the mean. Bartlett 1946: of n
    independent values r has the mean -1 / n and the deviation 1 / √n; beyond chance is one-sided 5 %. From eight values
    on.
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
    least = max(LEAST_DEPENDENCE, _NORMAL_QUANTILE_95 / math.sqrt(n) - 1 / n)
    return correlation if correlation > least else None
