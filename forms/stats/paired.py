"""Paired comparisons by ranks, exact: of runs in turns with looks planned beforehand, and of values in blocks.

Looking after each pair and stopping at the first p below 5 % gives a false alarm in one of five comparisons of equal
things. Looks after 8, 14 and 20 pairs at the levels below keep it under 5 % for all three together (simulated:
tests/truth). The second run of a pair may be slower or faster for being the second; so what the second has over the
first is compared between pairs A B and pairs B A, from which that falls out whatever it is (Koch 1972, of crossovers).

The orders are drawn by lot, so that the p holds whatever else the machine does meanwhile: A B B A A B B A … has a
rhythm, and other work that comes and goes in about the same one would pass for an effect of the change. It is exact at
the first look; at later ones both orders are as frequent in each stretch between looks, which the p does not count:
against the worst pattern in time that can be made up it is then 0.024 where 0.0125 is told.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from statistics import NormalDist, fmean, median

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


def critical_count(first: int, second: int, alpha: float) -> int | None:
    """The most pairs of one from each side that may lie the other way for a p within alpha (Mann and Whitney's U)."""
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


LOOKS = (8, 14, 20)
"""After how many pairs it is judged; at each of them both orders are as frequent."""
LEVELS = {8: 2 / 70, 14: 0.0125, 20: 0.0225}
"""Of each look; the first one is the smallest p that 4 pairs of each order can have."""
ALPHA = 6 / 256
"""Of any other number of pairs."""
MOST_EXACT = 100
"""Pairs: counting all signs of more takes long, and the normal curve is as good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedEffect:
    """What pairs say of a change; percents are of the first of each pair."""

    pairs: int
    p_value: float
    change_percent: float
    """The Hodges-Lehmann estimate: the median of means of two log ratios, in turns one of each order."""
    interval_percent: tuple[float, float] | None
    """(low, high), what the test at ``alpha`` does not refuse; None with too few pairs for one."""
    deviation_percent: float | None
    """The standard deviation of the pairs' differences, in turns within each order; None for too few pairs."""


def base_comes_first(done: Sequence[bool], looks: Sequence[int], pair: int, seed: int) -> bool:
    """The order of the next pair, by lot: whether the base is measured first in it.

    ``done`` are the orders of the pairs that count so far, ``pair`` the number of this one. At the next look both
    orders are as frequent, and every such row of orders is as likely, but that the base begins: a two-sided test gives
    a row and its mirror image the same p.
    """
    if not done:
        return True
    look = next((look for look in looks if look > len(done)), len(done) + 1)
    still_first = (look + 1) // 2 - sum(done)
    chance = random.Random(f"{seed} {pair}").random()  # noqa: S311  an order of runs, no secret
    return chance * (look - len(done)) < still_first


def effect_in_turns(ratios: Sequence[float], base_first: Sequence[bool], alpha: float = ALPHA) -> PairedEffect:
    """The effect in pairs of both orders, without what being second does; ``ratios`` are other over base."""
    logs = [math.log(ratio) for ratio in ratios]
    ahead = [one for one, first in zip(logs, base_first, strict=True) if first]
    behind = [one for one, first in zip(logs, base_first, strict=True) if not first]
    if not ahead or not behind:
        return paired_effect(ratios, alpha)
    means = sorted((one + other) / 2 for one in ahead for other in behind)
    cut = critical_count(len(ahead), len(behind), alpha)
    residuals = [one - fmean(side) for side in (ahead, behind) for one in side]
    freedom = len(logs) - 2
    return PairedEffect(
        pairs=len(logs),
        p_value=mann_whitney_p(ahead, [-one for one in behind]),
        change_percent=_percent(median(means)),
        interval_percent=None if cut is None else (_percent(means[cut]), _percent(means[-1 - cut])),
        deviation_percent=100 * math.sqrt(sum(one * one for one in residuals) / freedom) if freedom else None,
    )


def paired_effect(ratios: Sequence[float], alpha: float = ALPHA) -> PairedEffect:
    """The effect in pairs whose ratios (other over base) are these. Raises ValueError where there are none."""
    if not ratios:
        raise ValueError("no pairs")
    logs = [math.log(ratio) for ratio in ratios]
    means = sorted((one + other) / 2 for i, one in enumerate(logs) for other in logs[i:])
    cut = _critical(len(logs), alpha)
    spread = None
    if len(logs) > 1:
        middle = fmean(logs)
        spread = 100 * math.sqrt(sum((one - middle) ** 2 for one in logs) / (len(logs) - 1))
    return PairedEffect(
        pairs=len(logs),
        p_value=signed_rank_p(logs),
        change_percent=_percent(median(means)),
        interval_percent=None if cut is None else (_percent(means[cut]), _percent(means[-1 - cut])),
        deviation_percent=spread,
    )


def signed_rank_p(differences: Sequence[float]) -> float:
    """Wilcoxon's two-sided p, exact up to ``MOST_EXACT`` pairs; zeros left out, ties have the mean of their ranks."""
    values = sorted((abs(one), one > 0) for one in differences if one)
    if not values:
        return 1.0
    doubled: list[int] = []  # ranks times two, so that the mean rank of a tie is whole
    start = 0
    bounds = [i for i, (one, other) in enumerate(pairwise(values), start=1) if one[0] != other[0]]
    for end in (*bounds, len(values)):
        doubled += [start + 1 + end] * (end - start)
        start = end
    observed = sum(rank for rank, (_, positive) in zip(doubled, values, strict=True) if positive)
    extreme = min(observed, sum(doubled) - observed)
    if len(doubled) > MOST_EXACT:
        spread = math.sqrt(sum(rank * rank for rank in doubled)) / 2
        return min(1.0, math.erfc((sum(doubled) / 2 - extreme) / spread / math.sqrt(2)))
    ways = _ways_of_signs(tuple(doubled))
    return min(1.0, 2.0 * sum(ways[: extreme + 1]) / float(2 ** len(doubled)))


def slot_effect_percent(first_is_base: Sequence[bool], ratios: Sequence[float]) -> float | None:
    """By how much the second of a pair is off for being the second, in percent; None without both orders."""
    logs = [math.log(ratio) for ratio in ratios]
    ahead = [one for one, base_first in zip(logs, first_is_base, strict=True) if base_first]
    behind = [one for one, base_first in zip(logs, first_is_base, strict=True) if not base_first]
    return _percent((fmean(ahead) - fmean(behind)) / 2) if ahead and behind else None


@lru_cache(maxsize=64)
def _ways_of_signs(ranks: tuple[int, ...]) -> list[int]:
    ways = [1] + [0] * sum(ranks)
    for rank in ranks:
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    return ways


def _critical(pairs: int, alpha: float) -> int | None:
    """The largest rank sum that the test refuses: so many of the sorted means of two lie outside on each side."""
    if pairs > MOST_EXACT:
        sums = pairs * (pairs + 1)
        spread = math.sqrt(sums * (2 * pairs + 1) / 24)
        return max(0, int(sums / 4 - NormalDist().inv_cdf(1 - alpha / 2) * spread))
    ways = _ways_of_signs(tuple(range(1, pairs + 1)))
    total, below, cut = 2**pairs, 0, None
    for rank_sum, count in enumerate(ways):
        below += count
        if 2 * below > alpha * total * (1 + 1e-12):
            break
        cut = rank_sum
    return cut


def _percent(log_ratio: float) -> float:
    return 100 * math.expm1(log_ratio)
