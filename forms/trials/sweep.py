"""What a sweep says: several values of a setting in complete blocks, against the one that was there and the best."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from forms.stats.paired import PairedEffect, paired_effect
from forms.stats.summary import mean
from forms.trials.summary import pairs_of, rates_of
from forms.tuning.smb_conf import tidy_value
from storage.changes import Slot, TrialPlan
from storage.records import Experiment, Series

ALPHA = 0.05
PLATEAU_PERCENT = 1.0
"""A value that is no worse than the best one by more than this lies on the plateau."""
LEAST_BLOCKS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepValue:
    """One value of a sweep."""

    value: str | None
    """None for the value that was there."""
    series: Series
    average: float | None
    """Of its rates; None where nothing was measured."""
    effect: PairedEffect | None
    """Against the value that was there; None for that itself, and without blocks."""
    adjusted_p: float | None
    """Holm's, over all values of the sweep."""
    against_best: PairedEffect | None
    on_plateau: bool

    @property
    def short_name(self) -> str:
        """What is told apart by on a chart: of ``TCP_NODELAY SO_SNDBUF=4096`` the ``4096``."""
        return ((self.value or "").split()[-1:] or ["empty"])[0].rpartition("=")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSummary:
    """A sweep with what it came to."""

    experiment: Experiment
    plan: TrialPlan
    values: tuple[SweepValue, ...]
    """The one that was there first, then in the order they were named."""
    blocks: int
    """Complete ones, in which every run counts."""
    friedman_p: float | None
    """Whether the values differ at all; None with fewer than three values or too few blocks."""
    settled: bool
    """Whether the effects are known well enough for an answer: each interval is narrower than ± the margin."""
    default_is_as_good: bool
    """Whether no value is proven faster than the one that was there by more than the noise threshold."""
    smallest: str | None
    """The smallest value on the plateau; None where nothing was measured."""
    slots: tuple[Slot, ...] = ()
    """The order in which it was measured."""

    def interval_of(self, one: SweepValue) -> tuple[float, float] | None:
        """Between which rates a value's average lies, by its change against what was there; None where not known."""
        base = self.values[0].average
        if base is None or one.effect is None or one.effect.interval_percent is None:
            return None
        low, high = one.effect.interval_percent
        return base * (1 + low / 100), base * (1 + high / 100)

    @property
    def complete(self) -> bool:
        """Whether all planned blocks are there."""
        return self.blocks >= self.plan.looks[-1]


def blocks_needed(values: int) -> int:
    """The fewest blocks in which Holm's correction for so many values can still show a difference at 5 %."""
    blocks = LEAST_BLOCKS
    while 2 / 2**blocks * max(1, values) > ALPHA:
        blocks += 1
    return blocks


def block_order(arms: int, block: int, seed: int) -> tuple[int, ...]:
    """The order of the arms in a block (from 1): random, but the same each time it is asked for."""
    order = list(range(arms))
    random.Random(f"{seed} {block}").shuffle(order)  # noqa: S311  an order of runs, no secret
    return tuple(order)


def sweep_summary(
    experiment: Experiment, plan: TrialPlan, series: Sequence[Series], slots: Sequence[Slot]
) -> SweepSummary:
    """The sweep of those series, that of the value that was there first. Raises ValueError where there are none."""
    rates = [rates_of(one, slots) for one in series]
    blocks = sorted(set.intersection(*(set(one) for one in rates)))
    table = [[one[block] for one in rates] for block in blocks]
    base, *others = series
    effects = [_effect(base, other, slots) for other in others]
    adjusted = _holm([effect.p_value if effect else 1.0 for effect in effects])
    best = _best(table, len(series))
    against = [None if i == best else _effect(series[best], one, slots) for i, one in enumerate(series)]
    found = [
        SweepValue(
            value=(one.change.value if one.change else None) if i else None,
            series=one,
            average=mean(list(rates[i].values())) if rates[i] else None,
            effect=effects[i - 1] if i else None,
            adjusted_p=adjusted[i - 1] if i else None,
            against_best=against[i],
            on_plateau=bool(blocks) and _is_level(against[i], best=i == best),
        )
        for i, one in enumerate(series)
    ]
    faster = [
        one for one in found
        if one.effect and (one.adjusted_p or 0.0) <= ALPHA and one.effect.change_percent > plan.noise_percent
    ]  # fmt: skip
    level = [one.value for one in found if one.on_plateau and one.value is not None]
    return SweepSummary(
        experiment=experiment,
        plan=plan,
        values=tuple(found),
        blocks=len(blocks),
        friedman_p=_friedman(table),
        settled=all(_is_narrow(one.effect, plan.margin_percent) for one in found if one.effect and one.on_plateau),
        default_is_as_good=not faster,
        smallest=min(level, key=lambda value: _size(plan, value)) if level else None,
        slots=tuple(slots),
    )


def _effect(base: Series, other: Series, slots: Sequence[Slot]) -> PairedEffect | None:
    pairs, _ = pairs_of(base, other, slots)
    return paired_effect([pair.ratio for pair in pairs], ALPHA) if pairs else None


def _is_narrow(effect: PairedEffect, margin_percent: float) -> bool:
    low, high = effect.interval_percent or (-100.0, 100.0)
    return high - low < 2 * margin_percent


def _is_level(effect: PairedEffect | None, *, best: bool) -> bool:
    return best or (effect is not None and effect.change_percent >= -PLATEAU_PERCENT)


def _best(table: Sequence[Sequence[float]], values: int) -> int:
    """The value with the best mean over the blocks."""
    return max(range(values), key=lambda i: sum(row[i] for row in table))


def _holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (Holm 1979)."""
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for step, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def _friedman(table: Sequence[Sequence[float]]) -> float | None:
    """Friedman's test: whether the values differ at all, whatever the blocks do."""
    if len(table) < 2 or len(table[0]) < 3:
        return None
    if all(len(set(row)) == 1 for row in table):
        return 1.0  # where scipy divides by zero
    from scipy.stats import friedmanchisquare  # noqa: PLC0415  slow to load

    columns = list(zip(*table, strict=True))
    return float(friedmanchisquare(*columns).pvalue)


def _size(plan: TrialPlan, value: str) -> tuple[int, tuple[int, ...]]:
    """By how much a value is large, to be ordered by: its place among the values, of a grid both places together."""
    arm = plan.arms[plan.values.index(value)]
    axes = [(axis.name, axis.values) for axis in plan.axes] or [(plan.name, plan.values)]
    places = tuple(
        sorted(values, key=lambda one, name=name: _number(name, one)).index(tried)  # type: ignore[misc]
        for (name, values), tried in zip(axes, arm, strict=True)
    )
    return sum(places), places


def _number(name: str, value: str) -> float:
    """The value as a number; 0 for one that is none, which keeps its place."""
    text = tidy_value(name, value.rpartition(" ")[2].rpartition("=")[2])
    return float(text) if text.isdecimal() else 0.0
