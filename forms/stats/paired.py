"""Exact paired comparisons by ranks: interleaved runs with planned looks, and values in blocks.

Stopping at the first p below 5 % gives a false alarm in one of five equal comparisons; looks after 8, 14 and 20 pairs
at LEVELS keep it under 5 % (simulated: tests/truth). What the second of a pair gains or loses for being second
cancels between pairs A B and B A (Koch 1972, crossovers). Orders are random, so that no rhythm of other work passes
for an effect. The p is exact at the first look; later ones do not count that orders are balanced: against the worst
pattern 0.024 where 0.0125 is reported.
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
"""Pairs; both orders are equally frequent at each look."""

LEVELS = {8: 2 / 70, 14: 0.0125, 20: 0.0225}
"""The first one is the smallest p that 4 pairs of each order can have."""

ALPHA = 6 / 256


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


def base_comes_first(earlier: Sequence[bool], looks: Sequence[int], pair: int, seed: int) -> bool:
    """The random order of the next pair: whether the base is measured first, as it was in ``earlier`` pairs or not.

    Both orders are as frequent at the next look. The base begins: a row and its mirror image have the same p.
    """
    if not earlier:
        return True
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
    """The effect without that of being second; ``ratios`` are other over base."""
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
    """The effect that sorted ``means`` of log ratios tell; the interval leaves out ``cut`` of them at each end."""
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
