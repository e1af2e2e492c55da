"""The Mann-Kendall test of a trend, two-sided: how often chance alone puts values in such an order.

scipy's ``kendalltau`` says the same; loading it takes longer than all else that a form needs.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

EXACT_MAX = 60
"""The most values whose orders are counted; beyond it the normal approximation is as good."""


def mann_kendall_p(values: Sequence[float]) -> float:
    """The chance of an order at least as rising or falling as this one; 1 where all values are equal.

    Mann 1945 and Kendall 1975: exact without ties up to 60 values, else normal with the tie correction.
    """
    n, counts = len(values), Counter(values)
    if len(counts) <= 1:
        return 1.0
    rises = sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))
    if len(counts) == n <= EXACT_MAX:
        pairs = n * (n - 1) // 2
        return min(1.0, 2 * sum(_orders_by_falls(n)[: (pairs - abs(rises)) // 2 + 1]) / math.factorial(n))
    tied = sum(count * (count - 1) * (2 * count + 5) for count in counts.values())
    variance = (n * (n - 1) * (2 * n + 5) - tied) / 18
    return math.erfc(abs(rises) / math.sqrt(2 * variance))


def _orders_by_falls(n: int) -> list[int]:
    """How many orders of n different values have 0, 1, 2 … pairs of which the later is the smaller."""
    orders = [1]
    for values in range(2, n + 1):
        sums = [0]
        for count in orders:
            sums.append(sums[-1] + count)
        most = len(orders) + values - 1
        orders = [sums[min(falls + 1, len(orders))] - sums[max(0, falls - values + 1)] for falls in range(most)]
    return orders
