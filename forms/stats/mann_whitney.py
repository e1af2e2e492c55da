"""The Mann-Whitney U test, two-sided and exact: by counting all ways to deal the ranks, ties included."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT_MAX = 200
"""The most values on both sides together whose deals are counted; beyond it the normal approximation is as good."""


def mann_whitney_p(first: Sequence[float], second: Sequence[float]) -> float:
    """The chance of ranks at least as unequal as these, either way, were both sides from one distribution.

    Exact given the tied ranks for up to 200 values (without ties this is scipy's ``method="exact"``, which is wrong
    with them); beyond that the normal approximation with tie and continuity correction. 1 where a side is empty.
    """
    if not first or not second:
        return 1.0
    few, many = sorted((list(first), list(second)), key=len)
    ranks = _doubled_ranks([*few, *many])
    dealt = sum(ranks[: len(few)])
    if len(ranks) <= EXACT_MAX:
        return _exact(ranks, len(few), dealt)
    return _normal(ranks, len(few), dealt)


def rank_shift(first: Sequence[float], second: Sequence[float]) -> int:
    """Which side ranks higher: 1 for the second, -1 for the first, 0 for neither."""
    ranks = _doubled_ranks([*first, *second])
    balance = len(first) * sum(ranks[len(first) :]) - len(second) * sum(ranks[: len(first)])
    return (balance > 0) - (balance < 0)


def critical_count(first: int, second: int, alpha: float) -> int | None:
    """How many of the pairs of one from each side may lie the other way, at most, for a p within alpha; None for none.

    Mann and Whitney's U, by the normal approximation for many values.
    """
    if first + second > EXACT_MAX:
        spread = math.sqrt(first * second * (first + second + 1) / 12)
        return max(0, int(first * second / 2 - NormalDist().inv_cdf(1 - alpha / 2) * spread))
    few, many = sorted((first, second))
    least = few * (few + 1)
    below = 2 * _shares_without_ties(few + many, few).cumsum()[least::2]
    return int((below <= alpha * (1 + 1e-12)).sum()) - 1 if below[0] <= alpha * (1 + 1e-12) else None


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each value from 1 up, ties sharing the middle of theirs; doubled, so that all are whole."""
    counts = Counter(values)
    doubled: dict[float, int] = {}
    before = 0
    for value in sorted(counts):
        doubled[value] = 2 * before + counts[value] + 1
        before += counts[value]
    return [doubled[value] for value in values]


def _exact(ranks: list[int], picks: int, dealt: int) -> float:
    shares = _shares_without_ties(len(ranks), picks) if len(set(ranks)) == len(ranks) else _shares(ranks, picks)
    return min(1.0, 2 * min(float(shares[: dealt + 1].sum()), float(shares[dealt:].sum())))


@lru_cache(maxsize=8)
def _shares_without_ties(total: int, picks: int) -> "NDArray[np.float64]":
    """The same for all values that differ: counted once for many tests of as many runs."""
    return _shares([2 * rank for rank in range(1, total + 1)], picks)


def _shares(ranks: list[int], picks: int) -> "NDArray[np.float64]":
    """How likely each sum of so many of the ranks is, from 0 up."""
    import numpy as np  # noqa: PLC0415  loaded where it counts, not with the program

    highest = sum(sorted(ranks)[-picks:])
    ways = np.zeros((picks + 1, highest + 1))
    ways[0, 0] = 1
    for rank in ranks:
        for taken in range(picks, 0, -1):
            ways[taken, rank:] += ways[taken - 1, : highest + 1 - rank]
    shares: NDArray[np.float64] = ways[picks] / ways[picks].sum()
    return shares


def _normal(ranks: list[int], picks: int, dealt: int) -> float:
    total, rest = len(ranks), len(ranks) - picks
    excess = abs(dealt / 2 - picks * (total + 1) / 2)
    ties = sum(count**3 - count for count in Counter(ranks).values())
    variance = picks * rest / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    return math.erfc(max(0.0, excess - 0.5) / math.sqrt(2 * variance))
