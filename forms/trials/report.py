"""Trials, sweeps and tunings on paper."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from forms import wording
from forms.findings.series_warnings import short_runs
from forms.layout import Sign, Tone, Toned
from forms.report import Bar, Chart, Field, Level, Report, ReportKind, Table, columns_of, fields_of, row_of, table_of
from forms.series.report import client_text, origin_fields, series_document
from forms.stats.decision import Doubt, Verdict
from forms.trials.summary import Standing, SweepSummary, SweepValue, TrialSummary, sweep_summary, trial_summary
from forms.tuning.catalogue import acts_on
from forms.tuning.smb_conf import follows
from forms.wording import VERDICT_SIGNS, VERDICT_WORDS
from storage.changes import ChangeKind, ChangeState, JournalEntry, Slot, TrialPlan
from storage.records import Command, Experiment, ExperimentKind, Series, format_target, with_zone

TRIAL_SCHEMA = "sharebench/trial/1"
SWEEP_SCHEMA = "sharebench/sweep/1"

Document = dict[str, Any]


def trial_document(found: TrialSummary) -> Document:
    unit = "requests" if found.plan.load else "bytes"
    return {
        "schema": TRIAL_SCHEMA,
        "experiment": found.experiment.name,
        "created_at": found.experiment.created_at,
        "complete": found.complete,
        "verdict": found.verdict.value,
        "doubt": found.doubt.value if found.doubt else None,
        "reservations": [one.key for one in found.reservations],
        "plan": plan_document(found.plan),
        "looked_at_pairs": found.looked_at,
        "rejected_pairs": found.rejected_pairs,
        "effect": found.effect and asdict(found.effect),
        "slot_effect_percent": found.slot_effect_percent,
        "control": found.control and asdict(found.control),
        "pairs": [
            {
                "number": pair.number,
                "base_first": pair.base_first,
                f"base_{unit}_per_second": pair.base_rate,
                f"other_{unit}_per_second": pair.other_rate,
                "change_percent": 100 * (pair.ratio - 1),
                "control_ratio": pair.control_ratio,
            }
            for pair in found.pairs
        ],
        "slots": [asdict(slot) for slot in found.slots],
        "series": [series_document(found.base), series_document(found.other)],
    }


def _sweep_document(found: SweepSummary) -> Document:
    return {
        "schema": SWEEP_SCHEMA,
        "experiment": found.experiment.name,
        "created_at": found.experiment.created_at,
        "complete": found.complete,
        "plan": plan_document(found.plan),
        "blocks": found.blocks,
        "friedman_p_value": found.friedman_p,
        "settled": found.settled,
        "default_is_as_good": found.default_is_as_good,
        "smallest_on_plateau": found.smallest,
        "blocks_to_settle": found.blocks_to_settle,
        "values": [
            {
                "value": one.value,
                "series": one.series.id,
                "effect": one.effect and asdict(one.effect),
                "adjusted_p_value": one.adjusted_p,
                "against_best": one.against_best and asdict(one.against_best),
                "on_plateau": bool(found.blocks) and one.on_plateau,
                "standing": one.standing.value,
            }
            for one in found.values
        ],
        "slots": [asdict(slot) for slot in found.slots],
        "series": [series_document(one.series) for one in found.values],
    }


def plan_document(plan: TrialPlan) -> Document:
    """The plan without what leads to a server or runs commands there."""
    hidden = {"server_ssh", "smb_conf", "apply", "revert"}
    return {name: value for name, value in plan.to_json().items() if name not in hidden}


def _trial_report(found: TrialSummary) -> Report:
    plan = found.plan
    return Report(
        form="trial", title=f"Trial: {plan.name} = {found.value or 'empty'} against {found.plan.previous or 'empty'}",
        name="Trial", fields=(verdict_field(found), *about_plan(plan, found.base)), tables=(_pairs(found),),
        results=tuple(replace(one, is_detail=True) for one in _figures(found)), advice=tuple(_advice(found)),
        drawn=(_changes(found),), document=lambda: trial_document(found),
    )  # fmt: skip


def _changes(found: TrialSummary) -> Chart | None:
    if (effect := found.effect) is None:
        return None
    bars = [Bar(name=str(place), value=100 * (pair.ratio - 1)) for place, pair in enumerate(found.pairs, 1)]
    tone = VERDICT_SIGNS[found.verdict].tone
    bars.append(Bar(name="All", value=effect.change_percent, interval=effect.interval_percent, tone=tone))
    return Chart(
        title="Change in each pair, and in all (95 % interval, each order counts half)", unit="%", bars=tuple(bars),
        levels=(Level(name="no change", value=0.0),), is_dots=True, source=(0, 4), in_text=True,
    )  # fmt: skip


def _seen(found: TrialSummary) -> str:
    effect = found.effect
    if effect is None:
        return "Not finished: no pair is complete yet"
    return wording.verdict_sentence(found.verdict, effect.change_percent, effect.interval_percent)


_DEFAULT = "default"
"""What testparm prints for a setting of several defaults."""


def verdict_field(found: TrialSummary) -> Field:
    sign = "" if found.effect is None or found.doubt is Doubt.FEW_PAIRS else f"{VERDICT_SIGNS[found.verdict]} "
    return Field(name=wording.VERDICT, text=f"{sign}{verdict_sentence(found)}", tone=VERDICT_SIGNS[found.verdict].tone)


def tried_lines(found: TrialSummary | None, lead: str = "sharebench tried it: ") -> list[Toned]:
    field = verdict_field(found) if found else None
    return [Toned(f"{lead}{field.text}", field.tone)] if field else []


def verdict_sentence(found: TrialSummary) -> str:
    if found.effect is None:
        return f"{_seen(found)}. Resume the trial."
    if found.doubt is Doubt.FEW_PAIRS:
        return (
            f"Not finished: {len(found.pairs)} of at most {found.plan.looks[-1]} pairs{found.so_far}. Resume the trial."
        )
    what_to_do = _why_unknown(found) if found.verdict is Verdict.UNKNOWN else _recommendation(found)
    said = [f"{_seen(found)} in {wording.count(found.effect.pairs, 'pair')}.", what_to_do]
    weak = " ".join(one.text for one in found.reservations)
    lead = "By how much is less sure: " if weak and found.verdict in {Verdict.FASTER, Verdict.SLOWER} else ""
    return " ".join([*said, lead + (weak[0].lower() + weak[1:] if lead else weak)]).strip()


def _recommendation(found: TrialSummary) -> str:
    plan, faster = found.plan, found.verdict is Verdict.FASTER
    if plan.kind is ChangeKind.HOOK:
        return f"Keep {plan.name}." if faster else f"Leave {plan.name} out."
    value = found.value or "empty"
    if faster:
        return f"Set `{plan.name} = {value}`."
    return f"{_leave(plan)}: `{value}` is {'slower' if found.verdict is Verdict.SLOWER else 'no faster'} here."


def _leave(plan: TrialPlan) -> str:
    value = "its default" if plan.previous == _DEFAULT else f"`{plan.previous}`"
    return f"Leave `{plan.name}` {f'at {value}' if plan.previous else 'empty'}"


def _why_unknown(found: TrialSummary) -> str:
    if found.doubt is Doubt.DRIFT:
        return "What the setting cannot touch changed as well (the fixed work): try again at a quieter time."
    return "The pairs vary too much: use longer runs (a larger file) or a quieter time."


def about_plan(plan: TrialPlan, base: Series) -> Iterator[Field]:
    yield Field(name="Measured", text=f"{_what(plan, base)} {format_target(base.target, escaped=False)}")
    signing = None if follows("client.signing", plan.name) else base.client.signing
    encryption = None if follows("client.encryption", plan.name) else base.client.encryption
    yield Field(name="Client", text=client_text(replace(base.client, signing=signing, encryption=encryption)))
    yield from origin_fields([base])
    for one in plan.axes or (plan,):
        where = " ".join(filter(None, (one.section, f"({one.kind})")))
        text = f"{one.name} {where}: {one.previous or 'empty'} before, tried {wording.listed([*one.values])}"
        yield Field(name="Setting", text=text)
    for proof in plan.proofs:
        yield Field(name="Proven", text=proof)


def server_fields(journal: Sequence[JournalEntry]) -> Iterator[Field]:
    """Whether what a trial changed was restored; nothing while it is at work, or where its journal is not."""
    standing = [entry for entry in journal if entry.state is ChangeState.OPEN]
    if left := [entry.name for entry in standing if not entry.at_work]:
        names = wording.listed([*dict.fromkeys(left)])
        text = f"still changed ({names}): restore it with R in the notebook, or with `sharebench restore`"
        yield Field(name="Server", text=text, tone=Tone.BAD)
    elif journal and not standing:
        yield Field(name="Server", text=f"restored {with_zone(max(entry.ended_at or '' for entry in journal))}")


def _what(plan: TrialPlan, base: Series) -> str:
    if plan.load is None and base.command is Command.GET and base.plan and base.plan.make_file:
        return "get of a file that was made anew for each run, under the value that is measured, in"
    if plan.load is None:
        return base.command
    users = wording.count(plan.load.users, "user")
    scenario = plan.load.scenario
    return f"requests of {users} ({scenario.name}), in windows of {scenario.duration_seconds:g} s:"


def _rate_unit(plan: TrialPlan) -> str:
    return "requests/sec" if plan.load else "bytes/sec"


def _pairs(found: TrialSummary) -> Table:
    unit = _rate_unit(found.plan)
    return table_of(
        [*enumerate(found.pairs, 1)],
        ("Pair", ReportKind.TEXT, lambda pair: str(pair[0])),
        ("Order", ReportKind.TEXT, lambda pair: "A B" if pair[1].base_first else "B A"),
        (f"As it was, {unit}", ReportKind.WHOLE, lambda pair: pair[1].base_rate),
        (f"Tried, {unit}", ReportKind.WHOLE, lambda pair: pair[1].other_rate),
        ("Change in %", ReportKind.SIGNED, lambda pair: 100 * (pair[1].ratio - 1)),
        caption="A: as it was; B: tried",
    )


def _figures(found: TrialSummary) -> Iterator[Field]:
    effect = found.effect
    if effect is None:
        return
    can_tell = effect.pairs >= found.plan.looks[0]  # fewer pairs never have a small p
    if can_tell:
        what = "the probability of such a difference between equal settings (exact rank-sum test)"
        yield Field(name="p-value", text=f"{effect.p_value:.4f}, {what}", number=effect.p_value)
    if (varied := effect.deviation_percent) is not None:
        text = f"{wording.cell_percent(varied)} %"
        yield Field(name="Deviation of the pairs", text=text, number=varied, unit="%")
    if found.slot_effect_percent is not None:
        seen = wording.signed_percent(found.slot_effect_percent)
        text = f"{seen} for the second of a pair{'; the order of the pairs balances it' * found.complete}"
        yield Field(name="Order effect", text=text, number=found.slot_effect_percent, unit="%")
    if found.control:
        change = found.control.change_percent
        seen = f"took {wording.percent(abs(change))} {'less' if change < 0 else 'more'} time with what was tried"
        chance = f" (p {found.control.p_value:.3f})" if can_tell else ""
        text = f"{seen}{chance}: a computation beside each run, which the setting cannot touch"
        if not found.control_counts:
            text += ", not counted: the processor of this machine did not limit the runs"
        elif found.doubt is Doubt.DRIFT:
            text += ", so the processors may have changed, not the setting"
        yield Field(name="Fixed work", text=text, number=found.control.change_percent, unit="%")
    if found.rejected_pairs:
        yield Field(name="Pairs left out", text=f"{found.rejected_pairs}, a run of each is rejected, failed or missing")


def _advice(found: TrialSummary) -> Iterator[str]:
    yield from _generator_advice(found.slots)
    section = found.plan.section and f"in {found.plan.section} "
    other = None if found.plan.load else acts_on(found.plan.name)
    if other not in {None, found.base.command}:
        yield f"{found.plan.name} is known to act on a {other} alone: try it on a {other} before you rely on this"
    elif found.verdict is Verdict.FASTER:
        change = f"write {found.plan.name} = {found.value} {section}yourself; sharebench has restored what was there"
        again = "try it again without these weaknesses, then" if found.reservations else "worth keeping:"
        yield f"{again} {change}"


def _generator_advice(slots: Sequence[Slot]) -> Iterator[str]:
    limited = sum(slot.generator_limited for slot in slots)
    if limited:
        yield (
            f"in {limited} of {len(slots)} windows the machine that made the load was the limit, not the server: what"
            " the setting does is more than what is seen here; make the load on another machine"
        )


_STANDING = {Standing.WORSE: "slower", Standing.LEVEL: "as good", Standing.UNDECIDED: "undecided"}


def _sweep_report(found: SweepSummary) -> Report:
    plan = found.plan
    base = found.values[0].series
    weak = () if plan.load else (said.text for one in found.values for said in short_runs(one.series))
    tone = Tone.PLAIN if found.complete and found.settled else Tone.CAUTION
    return Report(
        form="sweep", title=f"Sweep of {plan.name}", name="Sweep",
        fields=(
            Field(name="Answer", text=" ".join([_sweep_sentence(found), *islice(weak, 1)]), tone=tone),
            *about_plan(plan, base),
        ),
        tables=(_value_table(found),), results=tuple(_sweep_figures(found)),
        advice=tuple(_generator_advice(found.slots)), drawn=(_chart(found),), document=lambda: _sweep_document(found),
    )  # fmt: skip


def _sweep_sentence(found: SweepSummary) -> str:
    if not found.complete:
        return f"Not finished: {found.blocks} of {found.plan.looks[-1]} blocks are complete. Resume the sweep."
    if not found.settled:
        worse = [_value_name(found, one) for one in found.values if one.standing is Standing.WORSE]
        slower = f", but slower than the best: {', '.join(worse)}" if worse else ""
        return f"Inconclusive after {found.blocks} blocks{slower}. {_remedy(found)}"
    near = (one.against_best.interval_percent for one in found.values if one.against_best and one.on_plateau)
    loss = max((-interval[0] for interval in near if interval), default=0.0)
    within = f"at most {wording.percent(max(0.0, loss))} slower than the best"
    if found.default_is_as_good:
        least = f" {found.smallest} is the smallest that is as good ({within})." if found.smallest else ""
        return f"{_leave(found.plan)}: no value tried is faster.{least}"
    return f"Set `{found.plan.name} = {found.smallest}`: the smallest value as good as the best tried ({within})."


def _remedy(found: SweepSummary) -> str:
    if found.blocks_to_settle is None:
        return "Use longer runs (a larger file) or a quieter time: the runs vary too much."
    return f"About {found.blocks_to_settle} blocks would settle it (--blocks {found.blocks_to_settle})."


def _value_table(found: SweepSummary) -> Table:
    def interval(one: SweepValue) -> tuple[float | None, float | None]:
        return (one.effect and one.effect.interval_percent) or (None, None)

    return table_of(
        found.values,
        (found.plan.name, ReportKind.TEXT, lambda one: _value_name(found, one)),
        (f"Average, {_rate_unit(found.plan)}", ReportKind.WHOLE, lambda one: one.average),
        ("Change in %", ReportKind.SIGNED, lambda one: one.effect.change_percent if one.effect else None),
        ("From %", ReportKind.SIGNED, lambda one: interval(one)[0]),
        ("To %", ReportKind.SIGNED, lambda one: interval(one)[1]),
        ("p (Holm)", ReportKind.TEXT, lambda one: "" if one.adjusted_p is None else f"{one.adjusted_p:.3f}"),
        ("Beside the best", ReportKind.TEXT, lambda one: _STANDING[one.standing] if found.blocks else ""),
    )


def _value_name(found: SweepSummary, one: SweepValue) -> str:
    return f"{found.plan.previous or 'empty'} (present value)" if one.value is None else one.value or "empty"


def _sweep_figures(found: SweepSummary) -> Iterator[Field]:
    yield Field(name="Blocks", text=f"{found.blocks}, each value once in each, in a new order", number=found.blocks)
    if found.friedman_p is not None:
        text = f"{found.friedman_p:.4f}, the probability of such differences between equal values"
        yield Field(name="p (Friedman)", text=text, number=found.friedman_p, is_detail=True)


def _chart(found: SweepSummary) -> Chart | None:
    if found.plan.axes:
        return None
    base, *tried = found.values
    title, unit = f"Average at each value of {found.plan.name}", _rate_unit(found.plan)
    names = (((one.value or "").split()[-1:] or ["empty"])[0].rpartition("=")[2] for one in tried)
    each = zip(tried, names, strict=True)
    bars = tuple(Bar(name=name, value=one.average, interval=found.interval_of(one)) for one, name in each)
    levels = (Level(name="present value", value=base.average),) if base.average else ()
    return Chart(
        title=title, unit=unit, bars=bars, levels=levels, is_curve=True, source=(0, 1), rows_before=1, in_text=True
    )


ChangeSummary = TrialSummary | SweepSummary
KINDS = (ExperimentKind.TRIAL, ExperimentKind.SWEEP)


def judged(experiment: Experiment, plan: TrialPlan, series: Sequence[Series], slots: Sequence[Slot]) -> ChangeSummary:
    """The trial or sweep of series in any order. Raises ValueError where one is missing."""
    by_value = {one.change.value if one.change else None: one for one in series}
    if by_value.keys() != {None, *plan.values}:
        raise ValueError("a series is missing")
    ordered = [by_value[value] for value in (None, *plan.values)]
    if experiment.kind is ExperimentKind.SWEEP:
        return sweep_summary(experiment, plan, ordered, slots)
    return trial_summary(experiment, plan, ordered, slots)


def report_of(found: ChangeSummary) -> Report:
    return _trial_report(found) if isinstance(found, TrialSummary) else _sweep_report(found)


def answer_of(found: ChangeSummary) -> Toned:
    if isinstance(found, SweepSummary):
        return Toned(_sweep_sentence(found))
    if found.doubt is Doubt.FEW_PAIRS:
        return Toned(verdict_sentence(found), Sign.STOPPED.tone)
    tried = f", with {found.value}" if found.value else ""
    return Toned(f"{VERDICT_SIGNS[found.verdict]} {_seen(found)}{tried}.", VERDICT_SIGNS[found.verdict].tone)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTried:
    name: str
    value: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneSummary:
    """The trials of a tuning in order, each on top of what was found before."""

    base: Series | None
    trials: tuple[TrialSummary, ...]
    not_tried: tuple[NotTried, ...] = ()
    stopped: bool = False

    @property
    def found(self) -> tuple[TrialSummary, ...]:
        return tuple(one for one in self.trials if one.verdict is Verdict.FASTER)

    @property
    def worth_percent(self) -> float:
        changes = (one.effect.change_percent if one.effect else 0.0 for one in self.found)
        return 100 * (math.prod((1 + change / 100 for change in changes), start=1.0) - 1)


_WEAKNESSES = {"short": "short runs", "scatter": "pairs vary"}
TUNE_SCHEMA = "sharebench/tune/1"


def tune_report(found: TuneSummary) -> Report:
    rows = tuple(row_of(f"{one.name} = {one.value or 'empty'}", one.why) for one in found.not_tried)
    passed_over = Table(columns=columns_of("Setting", "Why not"), rows=rows, caption="Not tried", sentences=True)
    gains = ((f"Write into {one.plan.section}", f"{one.plan.name} = {one.value}") for one in found.found)
    return Report(
        form="tune",
        title="Tuning",
        name="Tuning",
        fields=tuple(_about(found)),
        tables=(_trials(found), *([passed_over] if found.not_tried else [])),
        results=fields_of(*gains),
        advice=tuple(_tune_advice(found)),
        document=lambda: _tune_document(found),
    )


def _about(found: TuneSummary) -> Iterator[Field]:
    worth = wording.signed_percent(found.worth_percent)
    answer = f"{wording.count(len(found.found), 'setting')} found, worth {worth} together."
    known = "known to be " if any(one.verdict is Verdict.UNKNOWN for one in found.trials) else ""
    rest = ", and not everything was tried" if found.stopped else ""
    nothing = f"Nothing that was tried is {known}faster than the present settings{rest}."
    yield Field(name="Answer", text=answer if found.found else nothing)
    if found.base:
        yield Field(name="Measured", text=f"{found.base.command} {format_target(found.base.target, escaped=False)}")
        yield from origin_fields([found.base])


def _tune_advice(found: TuneSummary) -> Iterator[str]:
    if found.found:
        yield "everything was restored: write the lines above into smb.conf yourself, and reload it"
        yield "the best of many is lucky too: try each once more before it stays"
    if found.stopped:
        yield "Not all settings of the catalogue were tried: too many in a row gained nothing, or the time was over."


def _trials(found: TuneSummary) -> Table:
    return table_of(
        found.trials,
        ("Setting", ReportKind.TEXT, lambda one: f"{one.plan.name} = {one.value or 'empty'}"),
        ("Was", ReportKind.TEXT, lambda one: one.plan.previous or "empty"),
        ("Change in %", ReportKind.SIGNED, lambda one: one.effect.change_percent if one.effect else None),
        ("Pairs", ReportKind.WHOLE, lambda one: len(one.pairs)),
        ("Verdict", ReportKind.TEXT, _verdict_with_weakness),
        look=lambda one: {"tone": VERDICT_SIGNS[one.verdict].tone},
        caption="Tried, each on top of what was found before it",
    )


def _verdict_with_weakness(one: TrialSummary) -> str:
    weaknesses = [_WEAKNESSES[said.key] for said in one.reservations]
    verdict = f"{VERDICT_SIGNS[one.verdict]} {VERDICT_WORDS[one.verdict]}"
    return f"{verdict} ({', '.join(weaknesses)})" if weaknesses else verdict


def _tune_document(found: TuneSummary) -> dict[str, Any]:
    return {
        "schema": TUNE_SCHEMA,
        "worth_percent": found.worth_percent,
        "stopped": found.stopped,
        "write": [{"section": one.plan.section, "name": one.plan.name, "value": one.value} for one in found.found],
        "trials": [
            {
                "experiment": one.experiment.name,
                "name": one.plan.name,
                "value": one.value,
                "previous": one.plan.previous,
                "verdict": one.verdict.value,
                "pairs": len(one.pairs),
                "effect": one.effect and asdict(one.effect),
            }
            for one in found.trials
        ],
        "not_tried": [asdict(one) for one in found.not_tried],
    }
