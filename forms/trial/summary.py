"""Judge a trial in pairs at planned looks, and a sweep in complete blocks, against the previous value and the best."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from statistics import fmean, median

from forms import wording
from forms.findings import series_warnings
from forms.findings.finding import Finding
from forms.stats import paired, ranks
from forms.stats.decision import Doubt, Verdict
from forms.stats.summary import mean
from forms.tuning import smb_conf
from storage import changes, records

# Fewer pairs say nothing of the second place in a pair: each order was drawn once or twice.
_ENOUGH_FOR_ORDER_EFFECT = 4

# From here on a processor, or a link, counts as the limit of the runs.
LIMITED_PERCENT = 90.0

LIMITED_SHARE = 0.5
"""Share of a change that the fixed work must explain for a veto, where the processor limited the runs."""

UNKNOWN_SHARE = 1.0
"""The same where the limit of the runs is unknown."""

UNEQUAL_PERCENT = 10.0
"""Deviation of the pairs above which a trial's verdict carries a reservation."""

# p-values of few pairs are multiples of a fraction such as 2/70; rounding must not keep one above its level.
_ROUNDING = 1 + 1e-12

_EVERYTHING = (-100.0, 100.0)
"""The interval, in percent, of an effect that has none: it excludes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A run with the tried value and its partner with the usual one."""

    number: int
    """That of both runs, each in its own series."""
    base_rate: float
    """In bytes/s, or in requests/s of a load; ``other_rate`` likewise."""
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
    """Whether a change of the control can take the verdict back; not where something else limits the runs."""
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

    control_ratios = [pair.control_ratio for pair in judged_pairs if pair.control_ratio]
    control = paired.paired_effect(control_ratios) if control_ratios else None
    share = _share_for_veto(plan, (base, other), slots)
    is_decided = result.verdict in {Verdict.FASTER, Verdict.SLOWER}
    if is_decided and share and control and result.effect and _control_explains(control, result.effect, share):
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
    """Whether that change of a setting was tried, and from the value that it had."""
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
    """The verdict at the first planned look that gives one, else *unknown*; at the last, the margin counts too."""
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
    if effect.p_value <= alpha * _ROUNDING and abs(effect.change_percent) > plan.noise_percent:
        return Verdict.FASTER if effect.change_percent > 0 else Verdict.SLOWER

    low, high = effect.interval_percent or _EVERYTHING
    # Before the last look, pairs that are still to come could narrow the interval further.
    limit = plan.margin_percent if is_last else plan.noise_percent
    return Verdict.SAME if -limit < low and high < limit else None


def _share_for_veto(
    plan: changes.TrialPlan, series: Sequence[records.Series], slots: Sequence[changes.Slot]
) -> float | None:
    """Half of a change where the processor limited the runs, all of it where the limit is unknown, else None."""
    if any(_fills_link(side) for side in series):
        return None
    if plan.processor_percent:
        return LIMITED_SHARE if median(plan.processor_percent) >= LIMITED_PERCENT else None
    limited = sum(slot.generator_limited for slot in slots)
    return LIMITED_SHARE if limited and 2 * limited >= len(slots) else UNKNOWN_SHARE


def _fills_link(series: records.Series) -> bool:
    shares = [run.percent_of_link(series.link_bits_per_second) for run in series.measured()]
    known_shares = [share for share in shares if share is not None]
    return bool(known_shares) and median(known_shares) >= LIMITED_PERCENT


def _control_explains(control: paired.PairedEffect, effect: paired.PairedEffect, share: float) -> bool:
    """Whether the fixed work, so the processor alone, changed by at least ``share`` of the change that was found."""
    low, high = control.interval_percent or _EVERYTHING
    if low <= 0 <= high:
        return False

    # More seconds for the fixed work are less throughput, hence the sign.
    explained = -math.log1p(control.change_percent / 100)
    change = math.log1p(effect.change_percent / 100)
    return explained * change > 0 and abs(explained) >= share * abs(change)


def pairs_of(
    base: records.Series, other: records.Series, slots: Sequence[changes.Slot]
) -> tuple[tuple[Pair, ...], int]:
    """Pairs by run number, and the number of those left out since a run does not count."""
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
    """Rates of the runs that count: requests/s of a load's window, else bytes/s."""
    windows = {slot.number: slot.requests_per_second for slot in slots if slot.series_id == series.id}
    rates = {run.number: windows.get(run.number) or run.bytes_per_second for run in series.measured()}
    return {number: rate for number, rate in rates.items() if rate}


# A sweep tries several values of a setting. A *block* is one run with each of them, in random order.

SWEEP_ALPHA = 0.05
"""How often a sweep may find a difference where there is none, over all of its values."""

WORSE_PERCENT = 1.0
"""A value is worse than the best only if it is so by more than this."""

SETTLING_SHARE = 0.5
"""Half-width of an interval, as a share of the margin, with which equal values mostly settle."""

MOST_BLOCKS = 60
"""More blocks than these are not advised."""

LEAST_BLOCKS = 8


class Standing(StrEnum):
    """How a value stands beside the best of the sweep."""

    WORSE = "worse"
    """Surely worse, by more than :data:`WORSE_PERCENT`."""
    LEVEL = "level"
    """The best, or surely not worse by the margin."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepValue:
    """One value of a sweep, beside the previous value and beside the best."""

    value: str | None
    """None for the value that the server had before."""
    series: records.Series
    average: float | None
    """The mean rate in all its blocks, in bytes/s, or in requests/s of a load; None without a run that counts."""
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
    """Whether the values differ at all (Friedman 1937); None for two values, or before all planned blocks."""
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
    """The fewest blocks in which Holm's correction can still show a difference at 5 %."""
    # 2 / 2^n is the smallest p that the signed ranks of n blocks can have.
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
    base, *others = series
    rates = [rates_of(value_series, slots) for value_series in series]
    blocks = sorted(set.intersection(*(set(rates_by_block) for rates_by_block in rates)))
    table = []
    for block in blocks:
        table.append([rates_by_block[block] for rates_by_block in rates])
    is_complete = len(blocks) >= plan.looks[-1]

    effects = [_sweep_effect(base, other, slots) for other in others]
    adjusted = _holm([effect.p_value if effect else 1.0 for effect in effects])
    standings = compare_with_best(table, plan.margin_percent) if table else [(Standing.UNDECIDED, None)] * len(series)

    values = [_base_value(base, rates[0], standings[0])]
    for place, other in enumerate(others):
        standing, against_best = standings[place + 1]
        rates_by_block = rates[place + 1]
        values.append(
            SweepValue(
                value=other.change.value if other.change else None,
                series=other,
                average=mean(list(rates_by_block.values())) if rates_by_block else None,
                effect=effects[place],
                # A p-value holds for the blocks that were planned.
                adjusted_p=adjusted[place] if is_complete else None,
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
        blocks=len(blocks),
        friedman_p=ranks.friedman_p(table) if has_friedman else None,
        settled=is_settled,
        default_is_as_good=values[0].on_plateau,
        smallest=min(as_good, key=partial(_size_of_value, plan)) if as_good else None,
        blocks_to_settle=blocks_to_settle,
        slots=tuple(slots),
    )


def _base_value(
    base: records.Series, rates: dict[int, float], standing: tuple[Standing, paired.PairedEffect | None]
) -> SweepValue:
    """The row of the value that the server had before: it has no effect beside itself."""
    return SweepValue(
        value=None,
        series=base,
        average=mean(list(rates.values())) if rates else None,
        effect=None,
        adjusted_p=None,
        against_best=standing[1],
        standing=standing[0],
    )


def _sweep_effect(
    base: records.Series, other: records.Series, slots: Sequence[changes.Slot]
) -> paired.PairedEffect | None:
    pairs, _ = pairs_of(base, other, slots)
    return paired.paired_effect([pair.ratio for pair in pairs], SWEEP_ALPHA) if pairs else None


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
    low, high = effect.interval_percent or _EVERYTHING
    if high < -WORSE_PERCENT:
        return Standing.WORSE
    return Standing.LEVEL if low > -margin_percent else Standing.UNDECIDED


def _blocks_to_settle(values: Sequence[SweepValue], blocks: int, margin_percent: float) -> int | None:
    undecided = [value.against_best for value in values if value.standing is Standing.UNDECIDED and value.against_best]
    intervals = [effect.interval_percent for effect in undecided if effect.interval_percent]
    if not intervals or len(intervals) < len(undecided):
        return blocks_needed(len(values) - 1)

    half_width = fmean((high - low) / 2 for low, high in intervals)
    # The width of an interval falls with the root of the number of blocks.
    times_as_wide = half_width / (SETTLING_SHARE * margin_percent)
    needed = max(blocks + 1, math.ceil(blocks * times_as_wide**2))
    return needed if needed <= MOST_BLOCKS else None


def _holm(p_values: Sequence[float]) -> list[float]:
    """The step-down p-values of Holm 1979, in the order of ``p_values``."""
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    ascending = sorted(range(len(p_values)), key=p_values.__getitem__)
    for step, place in enumerate(ascending):
        stepped = (len(p_values) - step) * p_values[place]
        highest = max(highest, min(1.0, stepped))
        adjusted[place] = highest
    return adjusted


def _size_of_value(plan: changes.TrialPlan, value: str) -> tuple[int, tuple[int, ...]]:
    """How far up a value stands among those tried of each setting, to find the smallest."""
    axes = [(axis.name, axis.values) for axis in plan.axes] or [(plan.name, plan.values)]
    arm = plan.arms[plan.values.index(value)]
    ranks = []
    for (name, values), arm_value in zip(axes, arm, strict=True):
        ascending = sorted(values, key=partial(_number_in_value, name))
        ranks.append(ascending.index(arm_value))
    return sum(ranks), tuple(ranks)


def _number_in_value(name: str, value: str) -> float:
    text = smb_conf.tidy_value(name, value.rpartition(" ")[2].rpartition("=")[2])
    return float(text) if text.isdecimal() else 0.0
