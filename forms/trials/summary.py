"""Judge a trial: one value of a setting against the previous one, in pairs, at planned looks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log1p
from statistics import median

from forms import wording
from forms.findings.finding import Finding, Severity
from forms.findings.series_warnings import FULL_SECONDS, short_runs
from forms.stats.decision import Doubt, Verdict
from forms.stats.paired import ALPHA, LEVELS, PairedEffect, interleaved_effect, paired_effect, slot_effect_percent
from storage.changes import Slot, TrialPlan
from storage.json_reader import named
from storage.records import Experiment, Phase, Run, Series

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
    """Bytes/s, or requests/s of a load."""
    other_rate: float
    base_first: bool
    control_ratio: float | None = None
    """Time of the fixed work before the other run over that before the base's."""

    @property
    def ratio(self) -> float:
        return self.other_rate / self.base_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class LookResult:
    """The result of a planned look, or of the last one reached."""

    verdict: Verdict
    doubt: Doubt | None = None
    effect: PairedEffect | None
    looked_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSummary(LookResult):
    """A trial with its result."""

    experiment: Experiment
    plan: TrialPlan
    base: Series
    other: Series
    pairs: tuple[Pair, ...]
    rejected_pairs: int
    slot_effect_percent: float | None
    control: PairedEffect | None
    control_counts: bool = True
    slots: tuple[Slot, ...] = ()

    @property
    def complete(self) -> bool:
        return self.looked_at is not None

    @property
    def value(self) -> str:
        return self.plan.values[0]

    @property
    def reservations(self) -> tuple[Finding, ...]:
        sides = (self.base, self.other)
        times = [[run.seconds for run in one.measured() if run.seconds] for one in sides]
        longest = max((median(each) for each in times if each), default=0.0)
        moved = (
            self.plan.load is None and longest < FULL_SECONDS
        )  # else one side is far faster, on a file that fits both
        found = [said for series in sides for said in short_runs(series)][:1] if moved else []
        varied = self.effect.deviation_percent if self.effect else None
        if varied is not None and varied > UNEQUAL_PERCENT and self.doubt is not Doubt.VARYING:
            text = f"The pairs vary by {wording.percent(varied)}: measure again with longer runs or at a quieter time."
            found.append(Finding(key="scatter", severity=Severity.WARNING, title=text))
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
    control = paired_effect(ratios) if ratios else None
    share = _share_for_veto(plan, (base, other), slots)
    decided = found.verdict in {Verdict.FASTER, Verdict.SLOWER}
    if decided and share and control and found.effect and _moved(control, found.effect, share):
        found = replace(found, verdict=Verdict.UNKNOWN, doubt=Doubt.DRIFT)
    return TrialSummary(
        **named(found, *LookResult.__dataclass_fields__),
        experiment=experiment,
        plan=plan,
        base=base,
        other=other,
        pairs=pairs,
        rejected_pairs=rejected,
        slot_effect_percent=slot_effect_percent([p.base_first for p in used], [p.ratio for p in used])
        if len(used) >= _ENOUGH_FOR_A_NOTE
        else None,
        control=control,
        control_counts=share is not None,
        slots=tuple(slots),
    )


def judge_pairs(ratios: Sequence[float], base_first: Sequence[bool], plan: TrialPlan) -> LookResult:
    """The verdict at the first planned look that gives one, else *unknown*; at the last, the margin counts too."""
    effect = None
    for look in plan.looks:
        if len(ratios) < look:
            break
        alpha = LEVELS.get(look, ALPHA)
        effect = interleaved_effect(ratios[:look], base_first[:look], alpha)
        verdict = _at_look(effect, plan, alpha, last=look == plan.looks[-1])
        if verdict:
            return LookResult(verdict=verdict, effect=effect, looked_at=look)
    if effect and effect.pairs == plan.looks[-1]:
        return LookResult(verdict=Verdict.UNKNOWN, doubt=Doubt.VARYING, effect=effect, looked_at=effect.pairs)
    effect = interleaved_effect(ratios, base_first) if ratios else None
    return LookResult(verdict=Verdict.UNKNOWN, doubt=Doubt.FEW_PAIRS, effect=effect)


def _at_look(effect: PairedEffect, plan: TrialPlan, alpha: float, *, last: bool) -> Verdict | None:
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


def _moved(control: PairedEffect, effect: PairedEffect, share: float) -> bool:
    explained = -log1p(control.change_percent / 100)  # more seconds are less throughput
    seen = log1p(effect.change_percent / 100)
    low, high = control.interval_percent or (-100.0, 100.0)
    return not low <= 0 <= high and explained * seen > 0 and abs(explained) >= share * abs(seen)


def pairs_of(base: Series, other: Series, slots: Sequence[Slot]) -> tuple[tuple[Pair, ...], int]:
    """Pairs by run number, and the number of those left out since a run does not count."""
    places = {(slot.series_id, slot.number): slot for slot in slots}
    runs, others = _measured(base), _measured(other)
    rates, tried = rates_of(base, slots), rates_of(other, slots)
    both = sorted(runs.keys() & others.keys())
    pairs = []
    for number in both:
        if number not in rates or number not in tried:
            continue
        first, second = places.get((base.id, number)), places.get((other.id, number))
        in_order = runs[number].started_at < others[number].started_at
        control_ratio = None
        if first and second:
            in_order = first.position < second.position
            if first.control_seconds > 0:
                control_ratio = second.control_seconds / first.control_seconds
        pairs.append(
            Pair(
                number=number,
                base_rate=rates[number],
                other_rate=tried[number],
                base_first=in_order,
                control_ratio=control_ratio,
            )
        )
    return tuple(pairs), len(both) - len(pairs)


def rates_of(series: Series, slots: Sequence[Slot]) -> dict[int, float]:
    """Rates of the runs that count: requests/s of a load's window, else bytes/s."""
    windows = {slot.number: slot.requests_per_second for slot in slots if slot.series_id == series.id}
    found = {run.number: windows.get(run.number) or run.bytes_per_second for run in series.measured()}
    return {number: rate for number, rate in found.items() if rate}


def _measured(series: Series) -> dict[int, Run]:
    return {run.number: run for run in series.runs if run.phase is Phase.MEASURED}
