"""Judge a sweep: several values in complete blocks, against the previous value and the best."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from forms.stats.paired import PairedEffect, friedman_p, paired_effect
from forms.stats.summary import mean
from forms.trials.summary import pairs_of, rates_of
from forms.tuning.smb_conf import tidy_value
from storage.changes import Slot, TrialPlan
from storage.records import Experiment, Series

ALPHA = 0.05
WORSE_PERCENT = 1.0
SETTLING_SHARE = 0.5
"""Half-width of an interval, as a share of the margin, with which equal values mostly settle."""
MOST_BLOCKS = 60
LEAST_BLOCKS = 8


class Standing(StrEnum):
    """A value's standing beside the best."""

    WORSE = "worse"
    LEVEL = "level"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepValue:
    """One value of a sweep."""

    value: str | None
    series: Series
    average: float | None
    effect: PairedEffect | None
    adjusted_p: float | None
    against_best: PairedEffect | None
    """Its interval allows for the number of values; None for the best itself."""
    standing: Standing

    @property
    def on_plateau(self) -> bool:
        return self.standing is not Standing.WORSE

    @property
    def short_name(self) -> str:
        return ((self.value or "").split()[-1:] or ["empty"])[0].rpartition("=")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSummary:
    """A sweep with its result."""

    experiment: Experiment
    plan: TrialPlan
    values: tuple[SweepValue, ...]
    blocks: int
    friedman_p: float | None
    settled: bool
    default_is_as_good: bool
    smallest: str | None
    blocks_to_settle: int | None
    slots: tuple[Slot, ...] = ()

    def interval_of(self, one: SweepValue) -> tuple[float, float] | None:
        """The rates between which a value's average lies, by its change; None where unknown."""
        base = self.values[0].average
        if base is None or one.effect is None or one.effect.interval_percent is None:
            return None
        low, high = one.effect.interval_percent
        return base * (1 + low / 100), base * (1 + high / 100)

    @property
    def largest_loss_percent(self) -> float:
        lows = (one.against_best.interval_percent for one in self.values if one.against_best and one.on_plateau)
        return max((-interval[0] for interval in lows if interval), default=0.0)

    @property
    def complete(self) -> bool:
        return self.blocks >= self.plan.looks[-1]


def blocks_needed(values: int) -> int:
    """The fewest blocks in which Holm's correction can still show a difference at 5 %."""
    blocks = LEAST_BLOCKS
    while 2 / 2**blocks * max(1, values) > ALPHA:
        blocks += 1
    return blocks


def block_order(arms: int, block: int, seed: int) -> tuple[int, ...]:
    """The order of the arms in a block (from 1): random, fixed by the seed."""
    order = list(range(arms))
    random.Random(f"{seed} {block}").shuffle(order)  # noqa: S311  an order of runs, no secret
    return tuple(order)


def sweep_summary(
    experiment: Experiment, plan: TrialPlan, series: Sequence[Series], slots: Sequence[Slot]
) -> SweepSummary:
    """The sweep of series, that of the previous value first. Raises ValueError for none."""
    rates = [rates_of(one, slots) for one in series]
    blocks = sorted(set.intersection(*(set(one) for one in rates)))
    table = [[one[block] for one in rates] for block in blocks]
    base, *others = series
    effects = [_effect(base, other, slots) for other in others]
    adjusted = _holm([effect.p_value if effect else 1.0 for effect in effects])
    standings = stand(table, plan.margin_percent) if table else [(Standing.UNDECIDED, None)] * len(series)
    found = [
        SweepValue(
            value=(one.change.value if one.change else None) if i else None,
            series=one,
            average=mean(list(rates[i].values())) if rates[i] else None,
            effect=effects[i - 1] if i else None,
            adjusted_p=adjusted[i - 1] if i else None,
            against_best=standings[i][1],
            standing=standings[i][0],
        )
        for i, one in enumerate(series)
    ]
    level = [one.value for one in found if table and one.on_plateau and one.value is not None]
    settled = bool(table) and all(one.standing is not Standing.UNDECIDED for one in found)
    return SweepSummary(
        experiment=experiment,
        plan=plan,
        values=tuple(found),
        blocks=len(blocks),
        friedman_p=friedman_p(table) if len(table) > 1 and len(series) > 2 else None,
        settled=settled,
        default_is_as_good=found[0].on_plateau,
        smallest=min(level, key=lambda value: _size(plan, value)) if level else None,
        blocks_to_settle=None if settled or not table else _blocks_to_settle(found, len(table), plan.margin_percent),
        slots=tuple(slots),
    )


def _effect(base: Series, other: Series, slots: Sequence[Slot]) -> PairedEffect | None:
    pairs, _ = pairs_of(base, other, slots)
    return paired_effect([pair.ratio for pair in pairs], ALPHA) if pairs else None


def stand(table: Sequence[Sequence[float]], margin_percent: float) -> list[tuple[Standing, PairedEffect | None]]:
    """Multiple comparisons with the best (Hsu 1996, chapter 4); ``table`` has a row of rates per block."""
    columns = list(zip(*table, strict=True))
    best = max(range(len(columns)), key=lambda i: sum(columns[i]))
    found: list[tuple[Standing, PairedEffect | None]] = []
    for i, column in enumerate(columns):
        if i == best:
            found.append((Standing.LEVEL, None))
            continue
        ratios = [rate / best_rate for rate, best_rate in zip(column, columns[best], strict=True)]
        effect = paired_effect(ratios, ALPHA / (len(columns) - 1))
        low, high = effect.interval_percent or (-100.0, 100.0)
        if high < -WORSE_PERCENT:
            found.append((Standing.WORSE, effect))
        else:
            found.append((Standing.LEVEL if low > -margin_percent else Standing.UNDECIDED, effect))
    return found


def _blocks_to_settle(values: Sequence[SweepValue], blocks: int, margin_percent: float) -> int | None:
    effects = [one.against_best for one in values if one.standing is Standing.UNDECIDED and one.against_best]
    intervals = [effect.interval_percent for effect in effects]
    if not intervals or None in intervals:
        return blocks_needed(len(values) - 1)
    half = fmean((high - low) / 2 for low, high in (interval for interval in intervals if interval))
    needed = max(blocks + 1, math.ceil(blocks * (half / (SETTLING_SHARE * margin_percent)) ** 2))
    return needed if needed <= MOST_BLOCKS else None


def _holm(p_values: Sequence[float]) -> list[float]:
    """Holm 1979."""
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for step, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def _size(plan: TrialPlan, value: str) -> tuple[int, tuple[int, ...]]:
    arm = plan.arms[plan.values.index(value)]
    axes = [(axis.name, axis.values) for axis in plan.axes] or [(plan.name, plan.values)]
    places = tuple(
        sorted(values, key=lambda one, name=name: _number(name, one)).index(tried)  # type: ignore[misc]
        for (name, values), tried in zip(axes, arm, strict=True)
    )
    return sum(places), places


def _number(name: str, value: str) -> float:
    text = tidy_value(name, value.rpartition(" ")[2].rpartition("=")[2])
    return float(text) if text.isdecimal() else 0.0
