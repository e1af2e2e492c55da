"""Judge a trial in pairs at planned looks, and a sweep in complete blocks, against the previous value and the best."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from statistics import fmean, median

from forms import wording
from forms.findings.finding import Finding
from forms.findings.series_warnings import FULL_SECONDS, short_runs
from forms.stats import paired
from forms.stats.decision import Doubt, Verdict
from forms.stats.summary import mean
from forms.tuning.smb_conf import parameter_key, same_value, tidy_value
from storage.changes import ChangeKind, Slot, TrialPlan
from storage.json_reader import named
from storage.records import Change, Experiment, Phase, Series

_ENOUGH_FOR_A_NOTE = 4
LIMITED_PERCENT = 90.0
LIMITED_SHARE, UNKNOWN_SHARE = 0.5, 1.0
"""Share of a change that the fixed work must explain for a veto: processor-limited, or limit unknown."""
UNEQUAL_PERCENT = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A run with the tried value and its partner with the usual one."""

    number: int
    base_rate: float
    other_rate: float
    base_first: bool
    control_ratio: float | None = None
    """Time of the fixed work before the other run over that before the base's."""

    @property
    def ratio(self) -> float:
        return self.other_rate / self.base_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class LookResult:
    verdict: Verdict
    doubt: Doubt | None = None
    effect: paired.PairedEffect | None
    looked_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSummary(LookResult):
    experiment: Experiment
    plan: TrialPlan
    base: Series
    other: Series
    pairs: tuple[Pair, ...]
    rejected_pairs: int
    slot_effect_percent: float | None
    control: paired.PairedEffect | None
    control_counts: bool = True
    slots: tuple[Slot, ...] = ()

    @property
    def complete(self) -> bool:
        return self.looked_at is not None

    @property
    def so_far(self) -> str:
        effect = self.effect
        enough = effect is not None and effect.pairs >= self.plan.looks[0]
        return f", {wording.signed_percent(effect.change_percent)} so far" if effect and enough else ""

    @property
    def value(self) -> str:
        return self.plan.values[0]

    @property
    def reservations(self) -> tuple[Finding, ...]:
        sides = (self.base, self.other)
        times = [[run.seconds for run in one.measured() if run.seconds] for one in sides]
        longest = max((median(each) for each in times if each), default=0.0)
        moved = self.plan.load is None and longest < FULL_SECONDS  # else one side is far faster, on a file for both
        found = [said for series in sides for said in short_runs(series)][:1] if moved else []
        varied = self.effect.deviation_percent if self.effect else None
        if varied is not None and varied > UNEQUAL_PERCENT and self.doubt is not Doubt.VARYING:
            text = f"The pairs vary by {wording.percent(varied)}: measure again with longer runs or at a quieter time."
            found.append(Finding(key="scatter", title=text))
        return tuple(found)


def trial_summary(
    experiment: Experiment, plan: TrialPlan, series: Sequence[Series], slots: Sequence[Slot]
) -> TrialSummary:
    """The trial of two series, the base first. Raises ValueError where one is missing."""
    base, other = series
    pairs, rejected = pairs_of(base, other, slots)
    found = judge_pairs([pair.ratio for pair in pairs], [pair.base_first for pair in pairs], plan)
    used = pairs[: found.effect.pairs] if found.effect else ()
    ratios = [pair.control_ratio for pair in used if pair.control_ratio]
    control = paired.paired_effect(ratios) if ratios else None
    share = _share_for_veto(plan, (base, other), slots)
    decided = found.verdict in {Verdict.FASTER, Verdict.SLOWER}
    if decided and share and control and found.effect and _moved(control, found.effect, share):
        found = replace(found, verdict=Verdict.UNKNOWN, doubt=Doubt.DRIFT)
    return TrialSummary(
        **named(found, *LookResult.__dataclass_fields__), experiment=experiment, plan=plan, base=base, other=other,
        pairs=pairs, rejected_pairs=rejected,
        slot_effect_percent=paired.slot_effect_percent([p.base_first for p in used], [p.ratio for p in used])
        if len(used) >= _ENOUGH_FOR_A_NOTE
        else None, control=control, control_counts=share is not None, slots=tuple(slots),
    )  # fmt: skip


def is_trial_of(change: Change, plan: TrialPlan) -> bool:
    """Whether that change of a setting was tried, and from the value that it had."""
    name, before = plan.name, plan.previous or ""
    same = partial(same_value, name)
    there = change.previous is None or same(before, change.previous)
    moved = there and same(plan.values[0], change.value) and not same(before, change.value)
    return moved and plan.kind is not ChangeKind.HOOK and parameter_key(name) == parameter_key(change.name)


def judge_pairs(ratios: Sequence[float], base_first: Sequence[bool], plan: TrialPlan) -> LookResult:
    """The verdict at the first planned look that gives one, else *unknown*; at the last, the margin counts too."""
    effect = None
    for look in plan.looks:
        if len(ratios) < look:
            break
        alpha = paired.LEVELS.get(look, paired.ALPHA)
        effect = paired.interleaved_effect(ratios[:look], base_first[:look], alpha)
        verdict = _at_look(effect, plan, alpha, last=look == plan.looks[-1])
        if verdict:
            return LookResult(verdict=verdict, effect=effect, looked_at=look)
    if effect and effect.pairs == plan.looks[-1]:
        return LookResult(verdict=Verdict.UNKNOWN, doubt=Doubt.VARYING, effect=effect, looked_at=effect.pairs)
    effect = paired.interleaved_effect(ratios, base_first) if ratios else None
    return LookResult(verdict=Verdict.UNKNOWN, doubt=Doubt.FEW_PAIRS, effect=effect)


def _at_look(effect: paired.PairedEffect, plan: TrialPlan, alpha: float, *, last: bool) -> Verdict | None:
    if effect.p_value <= alpha * (1 + 1e-12) and abs(effect.change_percent) > plan.noise_percent:
        return Verdict.FASTER if effect.change_percent > 0 else Verdict.SLOWER
    low, high = effect.interval_percent or (-100.0, 100.0)
    most = plan.margin_percent if last else plan.noise_percent
    return Verdict.SAME if -most < low and high < most else None


def _share_for_veto(plan: TrialPlan, series: Sequence[Series], slots: Sequence[Slot]) -> float | None:
    """Half of a change where the processor limited the runs, all of it where the limit is unknown, else None."""
    if any(_fills_link(one) for one in series):
        return None
    if plan.processor_percent:
        return LIMITED_SHARE if median(plan.processor_percent) >= LIMITED_PERCENT else None
    limited = sum(slot.generator_limited for slot in slots)
    return LIMITED_SHARE if limited and 2 * limited >= len(slots) else UNKNOWN_SHARE


def _fills_link(series: Series) -> bool:
    shares = [run.percent_of_link(series.link_bits_per_second) for run in series.measured()]
    known = [share for share in shares if share is not None]
    return bool(known) and median(known) >= LIMITED_PERCENT


def _moved(control: paired.PairedEffect, effect: paired.PairedEffect, share: float) -> bool:
    explained = -math.log1p(control.change_percent / 100)  # more seconds are less throughput
    seen = math.log1p(effect.change_percent / 100)
    low, high = control.interval_percent or (-100.0, 100.0)
    return not low <= 0 <= high and explained * seen > 0 and abs(explained) >= share * abs(seen)


def pairs_of(base: Series, other: Series, slots: Sequence[Slot]) -> tuple[tuple[Pair, ...], int]:
    """Pairs by run number, and the number of those left out since a run does not count."""
    places = {(slot.series_id, slot.number): slot for slot in slots}
    runs, others = ({run.number: run for run in one.runs if run.phase is Phase.MEASURED} for one in (base, other))
    rates, tried = rates_of(base, slots), rates_of(other, slots)
    pairs = []
    for number in sorted(rates.keys() & tried.keys()):
        first, second = places.get((base.id, number)), places.get((other.id, number))
        in_order = runs[number].started_at < others[number].started_at
        pair = Pair(number=number, base_rate=rates[number], other_rate=tried[number], base_first=in_order)
        if first and second:
            pair = replace(pair, base_first=first.position < second.position)
            if first.control_seconds > 0:
                pair = replace(pair, control_ratio=second.control_seconds / first.control_seconds)
        pairs.append(pair)
    return tuple(pairs), len(runs.keys() - rates.keys() | others.keys() - tried.keys())


def rates_of(series: Series, slots: Sequence[Slot]) -> dict[int, float]:
    """Rates of the runs that count: requests/s of a load's window, else bytes/s."""
    windows = {slot.number: slot.requests_per_second for slot in slots if slot.series_id == series.id}
    found = {run.number: windows.get(run.number) or run.bytes_per_second for run in series.measured()}
    return {number: rate for number, rate in found.items() if rate}


SWEEP_ALPHA = 0.05
WORSE_PERCENT = 1.0
SETTLING_SHARE = 0.5
"""Half-width of an interval, as a share of the margin, with which equal values mostly settle."""
MOST_BLOCKS = 60
LEAST_BLOCKS = 8


class Standing(StrEnum):
    WORSE = "worse"
    LEVEL = "level"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepValue:
    value: str | None
    series: Series
    average: float | None
    effect: paired.PairedEffect | None
    adjusted_p: float | None
    against_best: paired.PairedEffect | None
    """Its interval allows for the number of values; None for the best itself."""
    standing: Standing

    @property
    def on_plateau(self) -> bool:
        return self.standing is not Standing.WORSE


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSummary:
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
    def complete(self) -> bool:
        return self.blocks >= self.plan.looks[-1]


def blocks_needed(values: int) -> int:
    """The fewest blocks in which Holm's correction can still show a difference at 5 %."""
    blocks = LEAST_BLOCKS
    while 2 / 2**blocks * max(1, values) > SWEEP_ALPHA:
        blocks += 1
    return blocks


def block_order(arms: int, block: int, seed: int) -> tuple[int, ...]:
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
    complete = len(blocks) >= plan.looks[-1]  # a p-value holds for the blocks that were planned
    adjusted = _holm([effect.p_value if effect else 1.0 for effect in effects])
    standings = stand(table, plan.margin_percent) if table else [(Standing.UNDECIDED, None)] * len(series)
    found = [
        SweepValue(
            value=(one.change.value if one.change else None) if i else None,
            series=one,
            average=mean(list(rates[i].values())) if rates[i] else None,
            effect=effects[i - 1] if i else None,
            adjusted_p=adjusted[i - 1] if i and complete else None,
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
        friedman_p=paired.friedman_p(table) if complete and len(table) > 1 and len(series) > 2 else None,
        settled=settled,
        default_is_as_good=found[0].on_plateau,
        smallest=min(level, key=lambda value: _size(plan, value)) if level else None,
        blocks_to_settle=None if settled or not table else _blocks_to_settle(found, len(table), plan.margin_percent),
        slots=tuple(slots),
    )


def _effect(base: Series, other: Series, slots: Sequence[Slot]) -> paired.PairedEffect | None:
    pairs, _ = pairs_of(base, other, slots)
    return paired.paired_effect([pair.ratio for pair in pairs], SWEEP_ALPHA) if pairs else None


def stand(table: Sequence[Sequence[float]], margin_percent: float) -> list[tuple[Standing, paired.PairedEffect | None]]:
    """Multiple comparisons with the best (Hsu 1996, chapter 4); ``table`` has a row of rates per block."""
    columns = list(zip(*table, strict=True))
    best = max(range(len(columns)), key=lambda i: sum(columns[i]))
    found: list[tuple[Standing, paired.PairedEffect | None]] = []
    for i, column in enumerate(columns):
        if i == best:
            found.append((Standing.LEVEL, None))
            continue
        ratios = [rate / best_rate for rate, best_rate in zip(column, columns[best], strict=True)]
        effect = paired.paired_effect(ratios, SWEEP_ALPHA / (len(columns) - 1))
        low, high = effect.interval_percent or (-100.0, 100.0)
        not_worse = Standing.LEVEL if low > -margin_percent else Standing.UNDECIDED
        found.append((Standing.WORSE if high < -WORSE_PERCENT else not_worse, effect))
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
