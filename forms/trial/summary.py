"""A trial judged: one value of a setting against the value before it, in pairs of runs, at planned looks.

A *pair* is a run with either value, one after the other, in random order. At a *look* (after 8, 14 and 20 pairs) a
trial may end with a verdict. Before each run a fixed computation is timed, the *control*: it needs the processor alone,
so that a change of its time tells of the machine and not of the setting. A *slot* is a run's place in the order of
measuring, with what was seen beside it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from forms import wording
from forms.findings import series_warnings
from forms.findings.finding import Finding
from forms.stats import paired
from forms.stats.decision import Doubt, Verdict
from forms.tuning import smb_conf
from storage import changes, records

_ENOUGH_FOR_ORDER_EFFECT = 4
"""Fewer pairs say nothing of the second place in a pair: each order was drawn once or twice."""

LIMITED_PERCENT = 90.0
"""From this use on a processor, or a link, counts as the limit of the runs."""

LIMITED_SHARE = 0.5
"""Share of a change that the fixed work must explain for a veto, where the processor limited the runs."""

UNKNOWN_SHARE = 1.0
"""The same where the limit of the runs is unknown."""

UNEQUAL_PERCENT = 10.0
"""Deviation of the pairs above which a trial's verdict carries a reservation."""

_ROUNDING = 1 + 1e-12
"""p-values of few pairs are multiples of a fraction such as 2/70; rounding must not keep one above its level."""

WIDEST_INTERVAL = (-100.0, 100.0)
"""The interval, in percent, of an effect that has none: it excludes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A run with the tried value and its partner with the usual one."""

    number: int
    """That of both runs, each in its own series."""
    base_rate: float
    """In bytes/s, in operations/s of random requests, or in requests/s of a load; ``other_rate`` likewise."""
    other_rate: float
    base_first: bool
    """Whether the base's run was measured first."""
    control_ratio: float | None = None
    """Time of the fixed work before the other run over that before the base's; None where it was not measured."""

    @property
    def ratio(self) -> float:
        return self.other_rate / self.base_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class LookResult:
    """The verdict on the pairs of a trial, at the planned look that gave it or at the last one."""

    verdict: Verdict
    doubt: Doubt | None = None
    """Why it is inconclusive; None beside any other verdict."""
    effect: paired.PairedEffect | None
    """What the pairs up to that look say, or all of them before it; None without any pair."""
    looked_at: int | None = None
    """The number of pairs of that look; None while the trial has not come to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSummary(LookResult):
    """A trial: a setting tried against its previous value in interleaved pairs of runs.

    Before each run a fixed work is timed, the *control*, which needs the processor alone and tells how fast it is.
    """

    experiment: records.Experiment
    plan: changes.TrialPlan
    base: records.Series
    """The series with the previous value."""
    other: records.Series
    """The series with the tried value."""
    pairs: tuple[Pair, ...]
    rejected_pairs: int
    """The number of pairs of which a run does not count."""
    slot_effect_percent: float | None
    """What a run gains for being the second of its pair; None for too few pairs, or where one order is missing."""
    control: paired.PairedEffect | None
    """How the time of the fixed work changed, in the pairs that were judged; None where it was not measured."""
    control_counts: bool = True
    """Whether a change of the control can take the verdict back: not where the processor is not the limit."""
    slots: tuple[changes.Slot, ...] = ()
    """Where each run stood in the order of measuring, with the control before it."""

    @property
    def complete(self) -> bool:
        """Whether it came to a verdict, or to its last look."""
        return self.looked_at is not None

    @property
    def so_far(self) -> str:
        """For people: the change so far, from the first look on; else empty."""
        if self.effect is None or self.effect.pairs < self.plan.looks[0]:
            return ""
        return f", {wording.signed_percent(self.effect.change_percent)} so far"

    @property
    def value(self) -> str:
        return self.plan.values[0]

    @property
    def reservations(self) -> tuple[Finding, ...]:
        """What makes the trial weaker than it looks: short runs, pairs that vary."""
        reservations: list[Finding] = []
        if self._runs_are_short():
            warnings = [*series_warnings.short_runs(self.base), *series_warnings.short_runs(self.other)]
            reservations += warnings[:1]

        deviation = self.effect.deviation_percent if self.effect else None
        if deviation is not None and deviation > UNEQUAL_PERCENT and self.doubt is not Doubt.VARYING:
            title = (
                f"The pairs vary by {wording.percent(deviation)}: measure again with longer runs or at a quieter time."
            )
            reservations.append(Finding(key="scatter", title=title))
        return tuple(reservations)

    def _runs_are_short(self) -> bool:
        """Whether even the slower side's runs are short; where one side is far faster, one file serves both."""
        if self.plan.load is not None:
            return False
        medians = []
        for series in (self.base, self.other):
            seconds = [run.seconds for run in series.measured() if run.seconds]
            if seconds:
                medians.append(median(seconds))
        return max(medians, default=0.0) < series_warnings.FULL_SECONDS


def trial_summary(
    experiment: records.Experiment,
    plan: changes.TrialPlan,
    series: Sequence[records.Series],
    slots: Sequence[changes.Slot],
) -> TrialSummary:
    """The trial of two series, the base first. Raises ValueError where one is missing."""
    base, other = series
    pairs, rejected = pairs_of(base, other, slots)
    result = judge_pairs([pair.ratio for pair in pairs], [pair.base_first for pair in pairs], plan)
    judged_pairs = pairs[: result.effect.pairs] if result.effect else ()

    # A change of the control, if it explains enough of what was found, takes the verdict back.
    control_ratios = [pair.control_ratio for pair in judged_pairs if pair.control_ratio]
    control = paired.paired_effect(control_ratios) if control_ratios else None
    share = _share_for_veto(plan, (base, other), slots)
    is_change = result.verdict in {Verdict.FASTER, Verdict.SLOWER}
    if is_change and share and control and result.effect and _control_explains(control, result.effect, share):
        result = replace(result, verdict=Verdict.UNKNOWN, doubt=Doubt.DRIFT)

    slot_effect_percent = None
    if len(judged_pairs) >= _ENOUGH_FOR_ORDER_EFFECT:
        base_first = [pair.base_first for pair in judged_pairs]
        ratios = [pair.ratio for pair in judged_pairs]
        slot_effect_percent = paired.slot_effect_percent(base_first, ratios)

    return TrialSummary(
        verdict=result.verdict,
        doubt=result.doubt,
        effect=result.effect,
        looked_at=result.looked_at,
        experiment=experiment,
        plan=plan,
        base=base,
        other=other,
        pairs=pairs,
        rejected_pairs=rejected,
        slot_effect_percent=slot_effect_percent,
        control=control,
        control_counts=share is not None,
        slots=tuple(slots),
    )


def is_trial_of(change: records.Change, plan: changes.TrialPlan) -> bool:
    """Whether a trial's plan tries just that change: the same setting, from the same value to the same value."""
    if plan.kind is changes.ChangeKind.HOOK:
        return False
    if smb_conf.parameter_key(plan.name) != smb_conf.parameter_key(change.name):
        return False

    previous = plan.previous or ""
    starts_alike = change.previous is None or smb_conf.same_value(plan.name, previous, change.previous)
    ends_alike = smb_conf.same_value(plan.name, plan.values[0], change.value)
    changes_something = not smb_conf.same_value(plan.name, previous, change.value)
    return starts_alike and ends_alike and changes_something


def judge_pairs(ratios: Sequence[float], base_first: Sequence[bool], plan: changes.TrialPlan) -> LookResult:
    """The verdict at the first planned look that gives one, else inconclusive.

    ``ratios``: the rate with the tried value over that of the base, of each pair; ``base_first``: its order.
    """
    effect = None
    for look in plan.looks:
        if len(ratios) < look:
            break
        alpha = paired.LEVELS.get(look, paired.ALPHA)
        effect = paired.interleaved_effect(ratios[:look], base_first[:look], alpha)
        verdict = _verdict_at_look(effect, plan, alpha, is_last=look == plan.looks[-1])
        if verdict:
            return LookResult(verdict=verdict, effect=effect, looked_at=look)

    if effect and effect.pairs == plan.looks[-1]:
        return LookResult(verdict=Verdict.UNKNOWN, doubt=Doubt.VARYING, effect=effect, looked_at=effect.pairs)
    effect = paired.interleaved_effect(ratios, base_first) if ratios else None
    return LookResult(verdict=Verdict.UNKNOWN, doubt=Doubt.FEW_PAIRS, effect=effect)


def _verdict_at_look(
    effect: paired.PairedEffect, plan: changes.TrialPlan, alpha: float, *, is_last: bool
) -> Verdict | None:
    """Faster, slower or the same; None for no verdict at this look."""
    if effect.p_value <= alpha * _ROUNDING and abs(effect.change_percent) > plan.noise_percent:
        return Verdict.FASTER if effect.change_percent > 0 else Verdict.SLOWER

    low, high = effect.interval_percent or WIDEST_INTERVAL
    # Before the last look, pairs that are still to come could narrow the interval further.
    limit = plan.margin_percent if is_last else plan.noise_percent
    return Verdict.SAME if -limit < low and high < limit else None


def _share_for_veto(
    plan: changes.TrialPlan, series: Sequence[records.Series], slots: Sequence[changes.Slot]
) -> float | None:
    """The share of a change that the control has to explain for a veto; None where it has none.

    Half where the processor limited the runs, all of the change where their limit is unknown; none where something else
    was the limit.
    """
    if any(_fills_link(side) for side in series):
        return None
    if plan.processor_percent:
        return LIMITED_SHARE if median(plan.processor_percent) >= LIMITED_PERCENT else None
    limited = sum(slot.generator_limited for slot in slots)
    return LIMITED_SHARE if limited and 2 * limited >= len(slots) else UNKNOWN_SHARE


def _fills_link(series: records.Series) -> bool:
    """Whether the link is the limit of a series' runs, in the middle of them."""
    shares = [run.percent_of_link(series.link_bits_per_second) for run in series.measured()]
    known_shares = [share for share in shares if share is not None]
    return bool(known_shares) and median(known_shares) >= LIMITED_PERCENT


def _control_explains(control: paired.PairedEffect, effect: paired.PairedEffect, share: float) -> bool:
    """Whether the fixed work, so the processor alone, changed by at least ``share`` of the change that was found."""
    low, high = control.interval_percent or WIDEST_INTERVAL
    if low <= 0 <= high:
        return False

    # More seconds for the fixed work are less throughput, hence the sign.
    explained = -math.log1p(control.change_percent / 100)
    change = math.log1p(effect.change_percent / 100)
    return explained * change > 0 and abs(explained) >= share * abs(change)


def pairs_of(
    base: records.Series, other: records.Series, slots: Sequence[changes.Slot]
) -> tuple[tuple[Pair, ...], int]:
    """(pairs of runs of the same number, how many pairs are left out because a run does not count)."""
    slot_at = {(slot.series_id, slot.number): slot for slot in slots}
    base_runs = _measured_runs(base)
    other_runs = _measured_runs(other)
    base_rates = rates_of(base, slots)
    other_rates = rates_of(other, slots)

    pairs = []
    for number in sorted(base_rates.keys() & other_rates.keys()):
        base_first = base_runs[number].started_at < other_runs[number].started_at
        control_ratio = None

        base_slot = slot_at.get((base.id, number))
        other_slot = slot_at.get((other.id, number))
        if base_slot and other_slot:
            # The planned order; the clock may have been set between the two runs.
            base_first = base_slot.position < other_slot.position
            if base_slot.control_seconds > 0:
                control_ratio = other_slot.control_seconds / base_slot.control_seconds

        pairs.append(
            Pair(
                number=number,
                base_rate=base_rates[number],
                other_rate=other_rates[number],
                base_first=base_first,
                control_ratio=control_ratio,
            )
        )

    left_out = (base_runs.keys() - base_rates.keys()) | (other_runs.keys() - other_rates.keys())
    return tuple(pairs), len(left_out)


def _measured_runs(series: records.Series) -> dict[int, records.Run]:
    return {run.number: run for run in series.runs if run.phase is records.Phase.MEASURED}


def rates_of(series: records.Series, slots: Sequence[changes.Slot]) -> dict[int, float]:
    """Rates of the runs that count: requests/s of a load's window, operations/s at random places, else bytes/s."""
    windows = {slot.number: slot.requests_per_second for slot in slots if slot.series_id == series.id}
    work_bytes = series.random_block_bytes or 1
    rates: dict[int, float] = {}
    for run in series.measured():
        rate = windows.get(run.number) or (run.bytes_per_second or 0.0) / work_bytes
        if rate:
            rates[run.number] = rate
    return rates
