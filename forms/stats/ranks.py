"""Tests by ranks: Mann-Whitney of two sides, Wilcoxon's signed ranks of pairs, Friedman of values in blocks.

The p of the first two is exact, ties included: the orders, or the signs, that are as extreme as the seen ones are
counted out. Ranks are doubled, so that the mean rank of ties is a whole number.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from statistics import NormalDist

from forms.stats.distributions import chi_square_tail

EXACT_MAX = 200
"""Values of both sides up to which the Mann-Whitney p is counted out; beyond, the normal approximation is used."""

MOST_EXACT = 100
"""Pairs up to which Wilcoxon's p is counted out; beyond, the normal approximation is used."""

_ROUNDING = 1 + 1e-12
"""An alpha such as 2/70 is a multiple of the chance of one order; rounding must not make that chance exceed it."""


def mann_whitney_p(first: Sequence[float], second: Sequence[float]) -> float:
    """The two-sided Mann-Whitney p, exact given the ties up to 200 values; 1 where a side is empty.

    scipy's ``method="exact"`` is wrong with ties. Beyond 200 the normal approximation, tie and continuity corrected.
    """
    if not first or not second:
        return 1.0
    few, many = sorted((list(first), list(second)), key=len)
    ranks = _doubled_ranks([*few, *many])
    rank_sum = sum(ranks[: len(few)])
    if len(ranks) <= EXACT_MAX:
        return _exact_p(ranks, len(few), rank_sum)

    # Of N = n + m values the n fewer have ranks that add up to n (N + 1) / 2 on average, with a variance of
    # n m / 12 · (N + 1 - ties / (N (N - 1))). The ranks here are doubled.
    total = len(ranks)
    excess = abs(rank_sum / 2 - len(few) * (total + 1) / 2)
    ties = _tie_excess(ranks)
    variance = len(few) * len(many) / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0

    # Rank sums are whole: a step of the normal distribution begins half a rank earlier.
    return math.erfc(max(0.0, excess - 0.5) / math.sqrt(2 * variance))


def friedman_p(blocks: Sequence[Sequence[float]]) -> float:
    """Friedman's p by chi-square, corrected for ties (1937), for three columns or more; 1 where all is tied."""
    count = len(blocks)
    columns = len(blocks[0])
    ranked = [_doubled_ranks(block) for block in blocks]
    ties = sum(map(_tie_excess, ranked))
    untied_share = 1 - ties / (count * columns * (columns**2 - 1))
    if untied_share <= 0:
        return 1.0

    # For b blocks of k columns: 12 / (b k (k + 1)) · the sum of squared rank sums - 3 b (k + 1). The ranks are doubled,
    # their squares fourfold.
    squares = sum(sum(column) ** 2 for column in zip(*ranked, strict=True)) / 4
    score = 12 * squares / (count * columns * (columns + 1)) - 3 * count * (columns + 1)
    return chi_square_tail(score / untied_share, columns - 1)


def signed_rank_p(differences: Sequence[float]) -> float:
    """Wilcoxon's two-sided p, exact up to ``MOST_EXACT`` pairs; zeros left out, ties have mean ranks."""
    values = sorted((abs(difference), difference > 0) for difference in differences if difference)
    if not values:
        return 1.0
    doubled = _doubled_ranks([size for size, _ in values])
    positive_sum = sum(rank for rank, (_, is_positive) in zip(doubled, values, strict=True) if is_positive)
    extreme = min(positive_sum, sum(doubled) - positive_sum)

    # The normal approximation: each rank has either sign, so that half of all is positive on average, with a variance
    # of a quarter of the sum of their squares.
    if len(doubled) > MOST_EXACT:
        spread = math.sqrt(sum(rank * rank for rank in doubled)) / 2
        return min(1.0, math.erfc((sum(doubled) / 2 - extreme) / spread / math.sqrt(2)))
    ways = _ways_of_signs(tuple(doubled))
    return min(1.0, 2.0 * sum(ways[: extreme + 1]) / float(2 ** len(doubled)))


def critical_count(first: int, second: int, alpha: float) -> int | None:
    """The largest Mann-Whitney U whose p is within alpha; None where there is none."""
    # The normal approximation of U: n m / 2 on average, with a variance of n m (n + m + 1) / 12.
    if first + second > EXACT_MAX:
        spread = math.sqrt(first * second * (first + second + 1) / 12)
        return max(0, int(first * second / 2 - NormalDist().inv_cdf(1 - alpha / 2) * spread))

    few, many = sorted((first, second))
    # U is the rank sum, from rank 0, less the least that it can be: n (n - 1) / 2.
    ways = _ways_without_ties(few + many, few)[few * (few - 1) // 2 :]
    return _last_within(ways, alpha * math.comb(few + many, few))


def critical_rank_sum(pairs: int, alpha: float) -> int | None:
    """The largest sum of signed ranks whose p is within alpha; None where there is none."""
    # The normal approximation: n (n + 1) / 4 on average, with a variance of n (n + 1) (2 n + 1) / 24.
    if pairs > MOST_EXACT:
        four_means = pairs * (pairs + 1)
        spread = math.sqrt(four_means * (2 * pairs + 1) / 24)
        return max(0, int(four_means / 4 - NormalDist().inv_cdf(1 - alpha / 2) * spread))
    return _last_within(_ways_of_signs(tuple(range(1, pairs + 1))), alpha * 2**pairs)


def _last_within(ways: Sequence[int], most: float) -> int | None:
    """The last place up to which twice the ways are within ``most``; None where there is none."""
    within = sum(2 * below <= most * _ROUNDING for below in accumulate(ways))
    return within - 1 if within else None


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each value, so that the mean rank of ties is whole."""
    counts = Counter(values)
    doubled: dict[float, int] = {}
    before = 0
    for value in sorted(counts):
        doubled[value] = 2 * before + counts[value] + 1
        before += counts[value]
    return [doubled[value] for value in values]


def _tie_excess(ranks: Sequence[int]) -> int:
    """What ties take from the variance of ranks: t³ - t for each t values that are equal."""
    return sum(count**3 - count for count in Counter(ranks).values())


def _exact_p(ranks: list[int], picks: int, rank_sum: int) -> float:
    """The share of all ways to pick that many ranks whose sum is as extreme as this one, two-sided."""
    # The ways are counted by sum from 0: the least rank becomes 0, and the steps between ranks as small as they can.
    least = min(ranks)
    step = math.gcd(*(rank - least for rank in ranks)) or 1
    place = (rank_sum - picks * least) // step
    if len(set(ranks)) == len(ranks):
        ways = _ways_without_ties(len(ranks), picks)
    else:
        ways = _ways_of_picks([(rank - least) // step for rank in ranks], picks)

    extreme = min(sum(ways[: place + 1]), sum(ways[place:]))
    return min(1.0, 2 * extreme / math.comb(len(ranks), picks))


@lru_cache(maxsize=8)
def _ways_without_ties(total: int, picks: int) -> list[int]:
    return _ways_of_picks(list(range(total)), picks)


def _ways_of_picks(ranks: list[int], picks: int) -> list[int]:
    """The number of ways to each sum of ``picks`` of the ranks, from the sum 0 on.

    ways(picks, sum) of the first k ranks = ways(picks, sum) of the first k - 1 + ways(picks - 1, sum - rank k) of them.
    The ways to all sums are the digits of one large integer (Kronecker substitution), so that two rows of ways are
    added by one addition, and a row is moved by a rank by one shift.
    """
    digit_bytes = math.comb(len(ranks), picks).bit_length() // 8 + 1
    sums = [1] + [0] * picks
    for position, rank in enumerate(ranks, start=1):
        for picked in range(min(position, picks), 0, -1):
            sums[picked] += sums[picked - 1] << 8 * digit_bytes * rank

    highest = sum(sorted(ranks)[-picks:])
    digits = sums[picks].to_bytes(digit_bytes * (highest + 1), "little")
    return [int.from_bytes(digits[at : at + digit_bytes], "little") for at in range(0, len(digits), digit_bytes)]


@lru_cache(maxsize=64)
def _ways_of_signs(ranks: tuple[int, ...]) -> list[int]:
    """The number of ways to give each rank a sign, by the sum of the positive ranks, from 0."""
    ways = [1] + [0] * sum(ranks)
    for rank in ranks:
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    return ways
