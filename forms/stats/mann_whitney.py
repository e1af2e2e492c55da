"""Tests by ranks: Mann and Whitney's U, two-sided and exact, ties included, and Friedman's of several values."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from statistics import NormalDist

from forms.stats.distributions import chi_square_tail

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


def friedman_p(blocks: Sequence[Sequence[float]]) -> float:
    """The p of Friedman's test that all columns are the same, by chi-square and corrected for ties (Friedman 1937).

    A block is one observation of each column, three columns or more. 1 where every block is tied throughout.
    """
    count, columns = len(blocks), len(blocks[0])
    ranked = [_doubled_ranks(block) for block in blocks]
    ties = sum(size**3 - size for ranks in ranked for size in Counter(ranks).values())
    untied = 1 - ties / (count * columns * (columns**2 - 1))
    if untied <= 0:
        return 1.0
    squares = sum(sum(column) ** 2 for column in zip(*ranked, strict=True)) / 4  # the ranks are doubled
    score = 12 * squares / (count * columns * (columns + 1)) - 3 * count * (columns + 1)
    return chi_square_tail(score / untied, columns - 1)


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
    ways = _ways_without_ties(few + many, few)[few * (few - 1) // 2 :]
    most = alpha * (1 + 1e-12) * math.comb(few + many, few)
    return sum(2 * below <= most for below in accumulate(ways)) - 1 if 2 * ways[0] <= most else None


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
    least = min(ranks)
    step = math.gcd(*(rank - least for rank in ranks)) or 1
    dealt = (dealt - picks * least) // step
    ways = (
        _ways_without_ties(len(ranks), picks)
        if len(set(ranks)) == len(ranks)
        else _ways([(rank - least) // step for rank in ranks], picks)
    )
    return min(1.0, 2 * min(sum(ways[: dealt + 1]), sum(ways[dealt:])) / math.comb(len(ranks), picks))


@lru_cache(maxsize=8)
def _ways_without_ties(total: int, picks: int) -> list[int]:
    """The same for ranks from 0 that all differ: counted once for many tests of as many runs."""
    return _ways(list(range(total)), picks)


def _ways(ranks: list[int], picks: int) -> list[int]:
    """In how many ways each sum of that many of the ranks comes about, from 0 up.

    The counts of one number of picks are the digits of one long integer, so that taking a rank is a shift and an
    addition (Kronecker substitution).
    """
    size = math.comb(len(ranks), picks).bit_length() // 8 + 1
    sums = [1] + [0] * picks
    for done, rank in enumerate(ranks, start=1):
        for taken in range(min(done, picks), 0, -1):
            sums[taken] += sums[taken - 1] << 8 * size * rank
    highest = sum(sorted(ranks)[-picks:])
    digits = sums[picks].to_bytes(size * (highest + 1), "little")
    return [int.from_bytes(digits[at : at + size], "little") for at in range(0, len(digits), size)]


def _normal(ranks: list[int], picks: int, dealt: int) -> float:
    total, rest = len(ranks), len(ranks) - picks
    excess = abs(dealt / 2 - picks * (total + 1) / 2)
    ties = sum(count**3 - count for count in Counter(ranks).values())
    variance = picks * rest / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    return math.erfc(max(0.0, excess - 0.5) / math.sqrt(2 * variance))
