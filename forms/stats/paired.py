"""Exact comparisons by ranks of runs in pairs, for trials and sweeps.

A *pair* is a run with the base (A) and a run with the other value (B), one after the other, in the order A B or B A. A
*look* is a planned number of pairs after which a trial may decide. Stopping at the first p below 5 % would give a false
alarm in one of five equal comparisons; looks after 8, 14 and 20 pairs at LEVELS keep it under 5 % (simulated:
tests/truth).

What the second of a pair gains or loses for being second cancels between pairs A B and B A (Koch 1972, crossovers).
Orders are random, so that no rhythm of other work passes for an effect. The p is exact at the first look. Later ones do
not count that orders are balanced: against the worst pattern it is 0.024 where 0.0125 is reported.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, compress, product
from statistics import fmean, median, stdev

from forms.stats.changes import percent_of
from forms.stats.ranks import critical_count, critical_rank_sum, mann_whitney_p, signed_rank_p

LOOKS = (8, 14, 20)
"""The numbers of pairs at the looks of a trial; both orders are equally frequent at each."""

LEVELS = {8: 2 / 70, 14: 0.0125, 20: 0.0225}
"""By look: the p up to which it finds a change. The first is the smallest p that 4 pairs of each order can have: two of
the 70 ways to choose 4 of 8.
"""

ALPHA = 6 / 256
"""The p up to which a change is found, and of intervals, where LEVELS has no look of that number of pairs.

It is the largest p below 2.5 % that the signed ranks of 8 pairs can have: 6 of the 256 ways to give 8 ranks a sign.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedEffect:
    """What pairs say of a change, from the base to the other value."""

    pairs: int
    p_value: float
    change_percent: float
    """The Hodges-Lehmann estimate: the median of means of two log ratios, one of each order if interleaved."""
    interval_percent: tuple[float, float] | None
    """(low, high): the changes that the test does not reject at its alpha; None with too few pairs."""
    deviation_percent: float | None
    """The deviation of the pairs' log ratios, around the mean of their order if interleaved; None for too few pairs."""


def base_comes_first(earlier: Sequence[bool], looks: Sequence[int], pair: int, seed: int) -> bool:
    """The random order of the next pair: whether the base is measured first.

    ``earlier``: the same of the pairs before, ``pair``: the number of this one. Both orders are as frequent at the next
    look. The first pair begins with the base: a row of orders and its mirror image have the same p.
    """
    if not earlier:
        return True
    # Of the pairs up to the next look half begin with the base. Those that still have to are drawn from those that are
    # still to come, each with the same chance.
    next_look = next((look for look in looks if look > len(earlier)), len(earlier) + 1)
    still_first = (next_look + 1) // 2 - sum(earlier)
    chance = random.Random(f"{seed} {pair}").random()  # noqa: S311  an order of runs, no secret
    return chance * (next_look - len(earlier)) < still_first


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
    """The effect of the other value, without what a run gains for being the second of its pair.

    ``ratios`` are the rates with the other value over those of the base. The test compares the log ratios of pairs A B
    with the negative ones of pairs B A (Mann-Whitney).
    """
    ahead, behind = _logs_by_order(ratios, base_first)
    if not ahead or not behind:
        return paired_effect(ratios, alpha)

    means = sorted((log_ahead + log_behind) / 2 for log_ahead, log_behind in product(ahead, behind))

    # Each order has a mean of its own, which takes a degree of freedom.
    deviations = [*_deviations_from_mean(ahead), *_deviations_from_mean(behind)]
    freedom = len(ratios) - 2
    spread = 100 * math.sqrt(sum(away * away for away in deviations) / freedom) if freedom else None
    return _effect(
        means,
        critical_count(len(ahead), len(behind), alpha),
        len(ratios),
        mann_whitney_p(ahead, [-log for log in behind]),
        spread,
    )


def _deviations_from_mean(logs: Sequence[float]) -> list[float]:
    mean = fmean(logs)
    return [log - mean for log in logs]


def paired_effect(ratios: Sequence[float], alpha: float = ALPHA) -> PairedEffect:
    """The effect in pairs of ratios other over base. Raises ValueError for none."""
    if not ratios:
        raise ValueError("no pairs")
    logs = [math.log(ratio) for ratio in ratios]
    # Walsh averages: each log ratio is also paired with itself.
    means = sorted((first + second) / 2 for first, second in combinations_with_replacement(logs, 2))
    spread = 100 * stdev(logs) if len(logs) > 1 else None
    return _effect(means, critical_rank_sum(len(logs), alpha), len(logs), signed_rank_p(logs), spread)


def _effect(
    means: Sequence[float], cut: int | None, pairs: int, p_value: float, deviation_percent: float | None
) -> PairedEffect:
    """The effect by the sorted ``means`` of two log ratios; the interval leaves out ``cut`` of them at each end.

    ``cut`` is the largest value of the test's statistic that it rejects; None where it rejects none.
    """
    return PairedEffect(
        pairs=pairs,
        p_value=p_value,
        change_percent=percent_of(median(means)),
        interval_percent=None if cut is None else (percent_of(means[cut]), percent_of(means[-1 - cut])),
        deviation_percent=deviation_percent,
    )


def slot_effect_percent(base_first: Sequence[bool], ratios: Sequence[float]) -> float | None:
    """The effect of being second in a pair, in percent; None without both orders."""
    ahead, behind = _logs_by_order(ratios, base_first)
    if not ahead or not behind:
        return None
    return percent_of((fmean(ahead) - fmean(behind)) / 2)


def _logs_by_order(ratios: Sequence[float], base_first: Sequence[bool]) -> tuple[list[float], list[float]]:
    """The logarithms of the ratios of pairs in which the base came first, and of the others."""
    logs = [math.log(ratio) for ratio in ratios]
    return list(compress(logs, base_first)), list(compress(logs, [not is_first for is_first in base_first]))
