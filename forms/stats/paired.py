"""Exact paired comparisons by ranks: interleaved runs with planned looks, and values in blocks.

Stopping at the first p below 5 % gives a false alarm in one of five equal comparisons; looks after 8, 14 and 20 pairs
at LEVELS keep it under 5 % (simulated: tests/truth). What the second of a pair gains or loses for being second
cancels between pairs A B and B A (Koch 1972, crossovers). Orders are random, so that no rhythm of other work passes
for an effect. The p is exact at the first look; later ones do not count that orders are balanced: against the worst
pattern 0.024 where 0.0125 is reported.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from statistics import NormalDist, fmean, median, stdev

from forms.stats.changes import percent_of
from forms.stats.summary import chi_square_tail

EXACT_MAX = 200


def mann_whitney_p(first: Sequence[float], second: Sequence[float]) -> float:
    """The two-sided Mann-Whitney p, exact given the ties up to 200 values; 1 where a side is empty.
    scipy's ``method="exact"`` is wrong with ties. Beyond 200 the normal approximation, tie and continuity corrected.
    """
    if not first or not second:
        return 1.0
    few, many = sorted((list(first), list(second)), key=len)
    ranks = _doubled_ranks([*few, *many])
    dealt = sum(ranks[: len(few)])
    if len(ranks) <= EXACT_MAX:
        return _exact(ranks, len(few), dealt)
    picks = len(few)
    total, rest = len(ranks), len(ranks) - picks
    excess = abs(dealt / 2 - picks * (total + 1) / 2)
    ties = sum(count**3 - count for count in Counter(ranks).values())
    variance = picks * rest / 12 * (total + 1 - ties / (total * (total - 1)))
    return math.erfc(max(0.0, excess - 0.5) / math.sqrt(2 * variance)) if variance > 0 else 1.0


def friedman_p(blocks: Sequence[Sequence[float]]) -> float:
    """Friedman's p by chi-square, corrected for ties (1937), for three columns or more; 1 where all is tied."""
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
    """The largest Mann-Whitney U whose p is within alpha; None where there is none."""
    if first + second > EXACT_MAX:
        spread = math.sqrt(first * second * (first + second + 1) / 12)
        return max(0, int(first * second / 2 - NormalDist().inv_cdf(1 - alpha / 2) * spread))
    few, many = sorted((first, second))
    ways = _ways_without_ties(few + many, few)[few * (few - 1) // 2 :]
    return _last_within(ways, alpha * math.comb(few + many, few))


def _last_within(ways: Sequence[int], most: float) -> int | None:
    """The last place up to which twice the ways are within ``most``; None where there is none."""
    within = sum(2 * below <= most * (1 + 1e-12) for below in accumulate(ways))
    return within - 1 if within else None


def _doubled_ranks(values: Sequence[float]) -> list[int]:
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
    return _ways(list(range(total)), picks)


def _ways(ranks: list[int], picks: int) -> list[int]:
    """The number of ways to each sum of ``picks`` ranks, from 0, as digits of an integer (Kronecker substitution)."""
    size = math.comb(len(ranks), picks).bit_length() // 8 + 1
    sums = [1] + [0] * picks
    for done, rank in enumerate(ranks, start=1):
        for taken in range(min(done, picks), 0, -1):
            sums[taken] += sums[taken - 1] << 8 * size * rank
    highest = sum(sorted(ranks)[-picks:])
    digits = sums[picks].to_bytes(size * (highest + 1), "little")
    return [int.from_bytes(digits[at : at + size], "little") for at in range(0, len(digits), size)]


LOOKS = (8, 14, 20)
"""Pairs; both orders are equally frequent at each look."""
LEVELS = {8: 2 / 70, 14: 0.0125, 20: 0.0225}
"""The first one is the smallest p that 4 pairs of each order can have."""
ALPHA = 6 / 256
MOST_EXACT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedEffect:
    """What pairs say of a change; percents are of the first of each pair."""

    pairs: int
    p_value: float
    change_percent: float
    """The Hodges-Lehmann estimate: the median of means of two log ratios, one of each order if interleaved."""
    interval_percent: tuple[float, float] | None
    """(low, high) not rejected at ``alpha``; None with too few pairs."""
    deviation_percent: float | None
    """Of the pairs' differences, within each order if interleaved; None for too few pairs."""


def base_comes_first(done: Sequence[bool], looks: Sequence[int], pair: int, seed: int) -> bool:
    """The random order of the next pair: whether the base is measured first.
    Both orders are as frequent at the next look. The base begins: a row and its mirror image have the same p.
    """
    if not done:
        return True
    look = next((look for look in looks if look > len(done)), len(done) + 1)
    still_first = (look + 1) // 2 - sum(done)
    chance = random.Random(f"{seed} {pair}").random()  # noqa: S311  an order of runs, no secret
    return chance * (look - len(done)) < still_first


def drawn_order(pairs: int, chance: random.Random) -> list[bool]:
    """A random order of interleaved runs: whether the base is measured first in each pair.

    A fixed order (A B B A) keeps step with whatever slows every second or fourth run, and then shows a change that is
    none. Drawn again until both orders occur, so that what the second of a pair gains is seen as variation.
    """
    order = [chance.random() < 0.5 for _ in range(pairs)]
    while pairs > 1 and len(set(order)) < 2:
        order = [chance.random() < 0.5 for _ in range(pairs)]
    return order


def interleaved_effect(ratios: Sequence[float], base_first: Sequence[bool], alpha: float = ALPHA) -> PairedEffect:
    """The effect without that of being second; ``ratios`` are other over base."""
    logs = [math.log(ratio) for ratio in ratios]
    ahead = [one for one, first in zip(logs, base_first, strict=True) if first]
    behind = [one for one, first in zip(logs, base_first, strict=True) if not first]
    if not ahead or not behind:
        return paired_effect(ratios, alpha)
    means = sorted((one + other) / 2 for one in ahead for other in behind)
    cut = critical_count(len(ahead), len(behind), alpha)
    residuals = [one - fmean(side) for side in (ahead, behind) for one in side]
    freedom = len(logs) - 2
    spread = 100 * math.sqrt(sum(one * one for one in residuals) / freedom) if freedom else None
    return _effect(means, cut, len(logs), mann_whitney_p(ahead, [-one for one in behind]), spread)


def paired_effect(ratios: Sequence[float], alpha: float = ALPHA) -> PairedEffect:
    """The effect in pairs of ratios other over base. Raises ValueError for none."""
    if not ratios:
        raise ValueError("no pairs")
    logs = [math.log(ratio) for ratio in ratios]
    means = sorted((one + other) / 2 for i, one in enumerate(logs) for other in logs[i:])
    spread = 100 * stdev(logs) if len(logs) > 1 else None
    return _effect(means, _critical(len(logs), alpha), len(logs), signed_rank_p(logs), spread)


def _effect(
    means: Sequence[float], cut: int | None, pairs: int, p_value: float, deviation_percent: float | None
) -> PairedEffect:
    return PairedEffect(
        pairs=pairs,
        p_value=p_value,
        change_percent=percent_of(median(means)),
        interval_percent=None if cut is None else (percent_of(means[cut]), percent_of(means[-1 - cut])),
        deviation_percent=deviation_percent,
    )


def signed_rank_p(differences: Sequence[float]) -> float:
    """Wilcoxon's two-sided p, exact up to ``MOST_EXACT`` pairs; zeros left out, ties have mean ranks."""
    values = sorted((abs(one), one > 0) for one in differences if one)
    if not values:
        return 1.0
    doubled = _doubled_ranks([size for size, _ in values])
    observed = sum(rank for rank, (_, positive) in zip(doubled, values, strict=True) if positive)
    extreme = min(observed, sum(doubled) - observed)
    if len(doubled) > MOST_EXACT:
        spread = math.sqrt(sum(rank * rank for rank in doubled)) / 2
        return min(1.0, math.erfc((sum(doubled) / 2 - extreme) / spread / math.sqrt(2)))
    ways = _ways_of_signs(tuple(doubled))
    return min(1.0, 2.0 * sum(ways[: extreme + 1]) / float(2 ** len(doubled)))


def slot_effect_percent(first_is_base: Sequence[bool], ratios: Sequence[float]) -> float | None:
    """The effect of being second in a pair, in percent; None without both orders."""
    logs = [math.log(ratio) for ratio in ratios]
    ahead = [one for one, base_first in zip(logs, first_is_base, strict=True) if base_first]
    behind = [one for one, base_first in zip(logs, first_is_base, strict=True) if not base_first]
    return percent_of((fmean(ahead) - fmean(behind)) / 2) if ahead and behind else None


@lru_cache(maxsize=64)
def _ways_of_signs(ranks: tuple[int, ...]) -> list[int]:
    ways = [1] + [0] * sum(ranks)
    for rank in ranks:
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    return ways


def _critical(pairs: int, alpha: float) -> int | None:
    if pairs > MOST_EXACT:
        sums = pairs * (pairs + 1)
        spread = math.sqrt(sums * (2 * pairs + 1) / 24)
        return max(0, int(sums / 4 - NormalDist().inv_cdf(1 - alpha / 2) * spread))
    return _last_within(_ways_of_signs(tuple(range(1, pairs + 1))), alpha * 2**pairs)
