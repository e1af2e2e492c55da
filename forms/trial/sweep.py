"""A sweep judged: several values of a setting, measured in blocks, beside the previous value and beside the best.

A *block* is one run with each of the values, in random order; a complete one has a run that counts of every value.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from statistics import fmean

from forms.stats import paired, ranks
from forms.stats.summary import mean
from forms.trial.summary import WIDEST_INTERVAL, pairs_of, rates_of
from forms.tuning import smb_conf
from storage import changes, records

SWEEP_ALPHA = 0.05
"""How often a sweep may find a difference where there is none, over all of its values."""

WORSE_PERCENT = 1.0
"""A value is worse than the best only if it is so by more than this."""

SETTLING_SHARE = 0.5
"""Half-width of an interval, as a share of the margin, with which equal values mostly settle."""

MOST_BLOCKS = 60
"""More blocks than these are not advised."""

LEAST_BLOCKS = 8
"""Fewer are not planned."""


class Standing(StrEnum):
    """How a value stands beside the best of the sweep."""

    WORSE = "worse"
    """Surely worse, by more than :data:`WORSE_PERCENT`."""
    LEVEL = "level"
    """As good: the best itself, or surely less than the margin worse."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepValue:
    """One value of a sweep, beside the previous value and beside the best."""

    value: str | None
    """None for the value that the server had before."""
    series: records.Series
    average: float | None
    """The mean rate in all its blocks, in the unit of a trial's; None without a run that counts."""
    effect: paired.PairedEffect | None
    """The change from the previous value; None for that value itself, or without a pair of runs."""
    adjusted_p: float | None
    """The p of ``effect``, adjusted for the number of values (Holm); None before all planned blocks are measured."""
    against_best: paired.PairedEffect | None
    """The change from the best value. Its interval allows for the number of values; None for the best itself."""
    standing: Standing

    @property
    def on_plateau(self) -> bool:
        """Whether it may be as good as the best."""
        return self.standing is not Standing.WORSE


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSummary:
    """A sweep: the values of a setting, and which of them are as good as the best."""

    experiment: records.Experiment
    plan: changes.TrialPlan
    values: tuple[SweepValue, ...]
    """The previous value first, then those that were tried, in their order."""
    blocks: int
    """The number of blocks of which every run counts."""
    friedman_p: float | None
    """The p of the test whether the values differ at all (Friedman 1937).

    None for two values, or before all planned blocks.
    """
    settled: bool
    """Whether every value is known to be worse than the best, or level with it."""
    default_is_as_good: bool
    """Whether the previous value may be as good as the best."""
    smallest: str | None
    """The smallest of the tried values that may be as good as the best; None without any."""
    blocks_to_settle: int | None
    """About how many blocks in all would settle it; None where it is settled, or more than are advised would do."""
    slots: tuple[changes.Slot, ...] = ()
    """Where each run stood in the order of measuring, with the control before it."""

    def interval_of(self, value: SweepValue) -> tuple[float, float] | None:
        """The rates between which a value's average lies, by its change; None where unknown."""
        base = self.values[0].average
        if base is None or value.effect is None or value.effect.interval_percent is None:
            return None
        low, high = value.effect.interval_percent
        return base * (1 + low / 100), base * (1 + high / 100)

    @property
    def complete(self) -> bool:
        """Whether all planned blocks are measured."""
        return self.blocks >= self.plan.looks[-1]


def blocks_needed(values: int) -> int:
    """The fewest blocks in which a difference of one of ``values`` from another can be shown at 5 %.

    2 / 2^n is the smallest p that the signed ranks of n blocks can have; Holm's correction multiplies it by ``values``.
    """
    blocks = LEAST_BLOCKS
    while 2 / 2**blocks * max(1, values) > SWEEP_ALPHA:
        blocks += 1
    return blocks


def block_order(arms: int, block: int, seed: int) -> tuple[int, ...]:
    """The random order in which a block measures its values, by their places; the same for the same seed."""
    order = list(range(arms))
    random.Random(f"{seed} {block}").shuffle(order)  # noqa: S311  an order of runs, no secret
    return tuple(order)


def sweep_summary(
    experiment: records.Experiment,
    plan: changes.TrialPlan,
    series: Sequence[records.Series],
    slots: Sequence[changes.Slot],
) -> SweepSummary:
    """The sweep of series, that of the previous value first. Raises ValueError for none."""
    rates_of_values = [rates_of(value_series, slots) for value_series in series]
    complete_blocks = sorted(set.intersection(*(set(rate_in_block) for rate_in_block in rates_of_values)))
    # A row of rates for each complete block, with the values in the order of the series.
    table = []
    for block in complete_blocks:
        table.append([rate_in_block[block] for rate_in_block in rates_of_values])
    is_complete = len(table) >= plan.looks[-1]

    effects = _effects_beside_first(series, slots)
    adjusted_p_values: list[float | None] = [None] * len(series)
    # A p-value holds for the blocks that were planned.
    if is_complete:
        adjusted_p_values = _adjust_by_holm(effects)
    standings: list[tuple[Standing, paired.PairedEffect | None]] = [(Standing.UNDECIDED, None)] * len(series)
    if table:
        standings = compare_with_best(table, plan.margin_percent)

    values = []
    for place, value_series in enumerate(series):
        standing, against_best = standings[place]
        is_previous = place == 0
        values.append(
            SweepValue(
                value=None if is_previous or not value_series.change else value_series.change.value,
                series=value_series,
                average=mean(list(rates_of_values[place].values())),
                effect=effects[place],
                adjusted_p=adjusted_p_values[place],
                against_best=against_best,
                standing=standing,
            )
        )

    is_settled = bool(table) and all(value.standing is not Standing.UNDECIDED for value in values)
    as_good = [value.value for value in values if table and value.on_plateau and value.value is not None]
    blocks_to_settle = None
    if table and not is_settled:
        blocks_to_settle = _blocks_to_settle(values, len(table), plan.margin_percent)
    has_friedman = is_complete and len(table) > 1 and len(series) > 2

    return SweepSummary(
        experiment=experiment,
        plan=plan,
        values=tuple(values),
        blocks=len(table),
        friedman_p=ranks.friedman_p(table) if has_friedman else None,
        settled=is_settled,
        default_is_as_good=values[0].on_plateau,
        smallest=min(as_good, key=partial(_size_of_value, plan)) if as_good else None,
        blocks_to_settle=blocks_to_settle,
        slots=tuple(slots),
    )


def _effects_beside_first(
    series: Sequence[records.Series], slots: Sequence[changes.Slot]
) -> list[paired.PairedEffect | None]:
    """The change of each value from the previous one, block by block; None for that value itself, and without pairs."""
    base, *others = series
    effects: list[paired.PairedEffect | None] = [None]
    for other in others:
        pairs, _ = pairs_of(base, other, slots)
        ratios = [pair.ratio for pair in pairs]
        effects.append(paired.paired_effect(ratios, SWEEP_ALPHA) if ratios else None)
    return effects


def _adjust_by_holm(effects: Sequence[paired.PairedEffect | None]) -> list[float | None]:
    """The step-down p-values of Holm 1979 of all effects but the first, which is None; a missing effect counts as 1.

    Of m p-values, ascending, the k-th (from 0) becomes (m - k) p, at most 1, and at least what the one before became.
    """
    p_values = [effect.p_value if effect else 1.0 for effect in effects[1:]]
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    ascending = sorted(range(len(p_values)), key=p_values.__getitem__)
    for step, place in enumerate(ascending):
        stepped = (len(p_values) - step) * p_values[place]
        highest = max(highest, min(1.0, stepped))
        adjusted[place] = highest
    return [None, *adjusted]


def compare_with_best(
    table: Sequence[Sequence[float]], margin_percent: float
) -> list[tuple[Standing, paired.PairedEffect | None]]:
    """Multiple comparisons with the best (Hsu 1996, chapter 4); ``table`` has a row of rates per block."""
    columns = list(zip(*table, strict=True))
    sums = list(map(sum, columns))
    best = sums.index(max(sums))
    standings: list[tuple[Standing, paired.PairedEffect | None]] = []
    for place, column in enumerate(columns):
        if place == best:
            standings.append((Standing.LEVEL, None))
            continue

        ratios = [rate / best_rate for rate, best_rate in zip(column, columns[best], strict=True)]
        # Bonferroni: each of the others is compared with the best.
        effect = paired.paired_effect(ratios, SWEEP_ALPHA / (len(columns) - 1))
        standings.append((_standing_beside_best(effect, margin_percent), effect))
    return standings


def _standing_beside_best(effect: paired.PairedEffect, margin_percent: float) -> Standing:
    """How a value stands by its change from the best one."""
    low, high = effect.interval_percent or WIDEST_INTERVAL
    if high < -WORSE_PERCENT:
        return Standing.WORSE
    return Standing.LEVEL if low > -margin_percent else Standing.UNDECIDED


def _blocks_to_settle(values: Sequence[SweepValue], blocks: int, margin_percent: float) -> int | None:
    """About how many blocks in all settle it, by the width of the intervals of ``blocks``; None for too many."""
    undecided = [value.against_best for value in values if value.standing is Standing.UNDECIDED and value.against_best]
    intervals = [effect.interval_percent for effect in undecided if effect.interval_percent]
    if not intervals or len(intervals) < len(undecided):
        return blocks_needed(len(values) - 1)

    half_width = fmean((high - low) / 2 for low, high in intervals)
    # The width of an interval falls with the root of the number of blocks.
    times_as_wide = half_width / (SETTLING_SHARE * margin_percent)
    needed = max(blocks + 1, math.ceil(blocks * times_as_wide**2))
    return needed if needed <= MOST_BLOCKS else None


def _size_of_value(plan: changes.TrialPlan, value: str) -> tuple[int, tuple[int, ...]]:
    """How far up a value stands among those tried of each setting, to find the smallest: (sum of the places, places).

    A value of a sweep over one setting is its text, such as ``65536``. Over two settings (the axes of a grid) it names
    a combination, whose values of each axis are in the plan's ``arms``, at the place of the value.
    """
    axes = [(axis.name, axis.values) for axis in plan.axes] or [(plan.name, plan.values)]
    arm = plan.arms[plan.values.index(value)]
    places = []
    for (name, values), arm_value in zip(axes, arm, strict=True):
        ascending = sorted(values, key=partial(_number_in_value, name))
        places.append(ascending.index(arm_value))
    return sum(places), tuple(places)


def _number_in_value(name: str, value: str) -> float:
    """The number at the end of ``65536`` or ``SO_RCVBUF=65536``; 0 where none stands there."""
    text = smb_conf.tidy_value(name, value.rpartition(" ")[2].rpartition("=")[2])
    return float(text) if text.isdecimal() else 0.0
