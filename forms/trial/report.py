"""Trials and sweeps on paper."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from typing import Any

from forms import layout, report, wording
from forms.findings.series_warnings import short_runs
from forms.series.document import series_document
from forms.series.origin import origin_fields
from forms.series.report import client_text
from forms.stats import decision
from forms.stats.paired import PairedEffect
from forms.trial.summary import Pair, Standing, SweepSummary, SweepValue, TrialSummary, sweep_summary, trial_summary
from forms.tuning.catalogue import acts_on
from forms.tuning.smb_conf import follows
from forms.wording import VERDICT_SIGNS
from storage import changes, records

TRIAL_SCHEMA = "sharebench/trial/1"
SWEEP_SCHEMA = "sharebench/sweep/1"

Document = dict[str, Any]


def trial_document(trial: TrialSummary) -> Document:
    unit = "requests" if trial.plan.load else "bytes"
    return {
        "schema": TRIAL_SCHEMA,
        "experiment": trial.experiment.name,
        "created_at": trial.experiment.created_at,
        "complete": trial.complete,
        "verdict": trial.verdict.value,
        "doubt": trial.doubt.value if trial.doubt else None,
        "reservations": [reservation.key for reservation in trial.reservations],
        "plan": plan_document(trial.plan),
        "looked_at_pairs": trial.looked_at,
        "rejected_pairs": trial.rejected_pairs,
        "effect": trial.effect and asdict(trial.effect),
        "slot_effect_percent": trial.slot_effect_percent,
        "control": trial.control and asdict(trial.control),
        "pairs": [_pair_document(pair, unit) for pair in trial.pairs],
        "slots": [asdict(slot) for slot in trial.slots],
        "series": [series_document(trial.base), series_document(trial.other)],
    }


def _pair_document(pair: Pair, unit: str) -> Document:
    return {
        "number": pair.number,
        "base_first": pair.base_first,
        f"base_{unit}_per_second": pair.base_rate,
        f"other_{unit}_per_second": pair.other_rate,
        "change_percent": 100 * (pair.ratio - 1),
        "control_ratio": pair.control_ratio,
    }


def _sweep_document(sweep: SweepSummary) -> Document:
    return {
        "schema": SWEEP_SCHEMA,
        "experiment": sweep.experiment.name,
        "created_at": sweep.experiment.created_at,
        "complete": sweep.complete,
        "plan": plan_document(sweep.plan),
        "blocks": sweep.blocks,
        "friedman_p_value": sweep.friedman_p,
        "settled": sweep.settled,
        "default_is_as_good": sweep.default_is_as_good,
        "smallest_on_plateau": sweep.smallest,
        "blocks_to_settle": sweep.blocks_to_settle,
        "values": [_value_document(value, has_blocks=bool(sweep.blocks)) for value in sweep.values],
        "slots": [asdict(slot) for slot in sweep.slots],
        "series": [series_document(value.series) for value in sweep.values],
    }


def _value_document(value: SweepValue, *, has_blocks: bool) -> Document:
    return {
        "value": value.value,
        "series": value.series.id,
        "effect": value.effect and asdict(value.effect),
        "adjusted_p_value": value.adjusted_p,
        "against_best": value.against_best and asdict(value.against_best),
        # Without a whole block no value is known to be as good as another.
        "on_plateau": has_blocks and value.on_plateau,
        "standing": value.standing.value,
    }


def plan_document(plan: changes.TrialPlan) -> Document:
    """The plan without what leads to a server or runs commands there."""
    hidden = {"server_ssh", "smb_conf", "apply", "revert"}
    return {name: value for name, value in plan.to_json().items() if name not in hidden}


def _trial_report(trial: TrialSummary) -> report.Report:
    plan = trial.plan
    value = trial.value or "empty"
    previous = plan.previous or "empty"

    return report.Report(
        form="trial",
        title=f"Trial: {plan.name} = {value} against {previous}",
        name="Trial",
        fields=(verdict_field(trial), *plan_fields(plan, trial.base)),
        tables=(_pairs_table(trial),),
        results=tuple(replace(field, is_detail=True) for field in _trial_figures(trial)),
        advice=tuple(_trial_advice(trial)),
        drawn=(_pairs_chart(trial),),
        document=partial(trial_document, trial),
    )


def _pairs_chart(trial: TrialSummary) -> report.Chart | None:
    effect = trial.effect
    if effect is None:
        return None

    bars = [report.Bar(name=str(place), value=100 * (pair.ratio - 1)) for place, pair in enumerate(trial.pairs, 1)]
    tone = VERDICT_SIGNS[trial.verdict].tone
    bars.append(report.Bar(name="All", value=effect.change_percent, interval=effect.interval_percent, tone=tone))
    return report.Chart(
        title="Change in each pair, and in all (95 % interval, each order counts half)",
        unit="%",
        bars=tuple(bars),
        levels=(report.Level(name="no change", value=0.0),),
        is_dots=True,
        source=(0, 4),
        in_text=True,
    )


def _effect_sentence(trial: TrialSummary) -> str:
    effect = trial.effect
    if effect is None:
        return "Not finished: no pair is complete yet"
    return wording.verdict_sentence(trial.verdict, effect.change_percent, effect.interval_percent)


_DEFAULT = "default"
"""What testparm prints for a setting of several defaults."""


def verdict_field(trial: TrialSummary) -> report.Field:
    verdict_sign = VERDICT_SIGNS[trial.verdict]
    has_verdict = trial.effect is not None and trial.doubt is not decision.Doubt.FEW_PAIRS
    sentence = verdict_sentence(trial)
    text = f"{verdict_sign} {sentence}" if has_verdict else sentence
    return report.verdict_field(text, verdict_sign.tone)


def tried_lines(trial: TrialSummary | None, lead: str = "sharebench tried it: ") -> list[layout.Toned]:
    if trial is None:
        return []
    field = verdict_field(trial)
    return [layout.Toned(f"{lead}{field.text}", field.tone)]


def verdict_sentence(trial: TrialSummary) -> str:
    if trial.effect is None:
        return f"{_effect_sentence(trial)}. Resume the trial."
    if trial.doubt is decision.Doubt.FEW_PAIRS:
        most = trial.plan.looks[-1]
        return f"Not finished: {len(trial.pairs)} of at most {most} pairs{trial.so_far}. Resume the trial."

    next_step = _why_inconclusive(trial) if trial.verdict is decision.Verdict.UNKNOWN else _recommendation(trial)
    pairs = wording.count(trial.effect.pairs, "pair")
    sentences = [f"{_effect_sentence(trial)} in {pairs}.", next_step]

    weakness = " ".join(reservation.text for reservation in trial.reservations)
    if weakness and trial.verdict in {decision.Verdict.FASTER, decision.Verdict.SLOWER}:
        weakness = f"By how much is less sure: {weakness[0].lower()}{weakness[1:]}"
    if weakness:
        sentences.append(weakness)
    return " ".join(sentences)


def _recommendation(trial: TrialSummary) -> str:
    plan = trial.plan
    is_faster = trial.verdict is decision.Verdict.FASTER
    if plan.kind is changes.ChangeKind.HOOK:
        return f"Keep {plan.name}." if is_faster else f"Leave {plan.name} out."

    value = trial.value or "empty"
    if is_faster:
        return f"Set `{plan.name} = {value}`."
    result = "slower" if trial.verdict is decision.Verdict.SLOWER else "no faster"
    return f"{_leave_as_it_is(plan)}: `{value}` is {result} here."


def _leave_as_it_is(plan: changes.TrialPlan) -> str:
    if not plan.previous:
        return f"Leave `{plan.name}` empty"
    value = "its default" if plan.previous == _DEFAULT else f"`{plan.previous}`"
    return f"Leave `{plan.name}` at {value}"


def _why_inconclusive(trial: TrialSummary) -> str:
    if trial.doubt is decision.Doubt.DRIFT:
        return "What the setting cannot touch changed as well (the fixed work): try again at a quieter time."
    return "The pairs vary too much: use longer runs (a larger file) or a quieter time."


def plan_fields(plan: changes.TrialPlan, base: records.Series) -> Iterator[report.Field]:
    """What was measured, by which client, and which settings were tried from which value."""
    target = records.format_target(base.target, escaped=False)
    yield report.measured_field(f"{_what_was_measured(plan, base)} {target}")

    # What the trial itself changes is told with the setting, not as a property of the client.
    signing = None if follows("client.signing", plan.name) else base.client.signing
    encryption = None if follows("client.encryption", plan.name) else base.client.encryption
    yield report.Field(name="Client", text=client_text(replace(base.client, signing=signing, encryption=encryption)))
    yield from origin_fields([base])

    for axis in plan.axes or (plan,):
        place = " ".join(filter(None, (axis.section, f"({axis.kind})")))
        previous = axis.previous or "empty"
        yield report.Field(
            name="Setting", text=f"{axis.name} {place}: {previous} before, tried {wording.listed([*axis.values])}"
        )
    for proof in plan.proofs:
        yield report.Field(name="Proven", text=proof)


def server_fields(journal: Sequence[changes.JournalEntry]) -> Iterator[report.Field]:
    """Whether what a trial changed was restored; nothing while it is at work, or where its journal is not."""
    open_entries = [entry for entry in journal if entry.state is changes.ChangeState.OPEN]
    still_changed = [entry.name for entry in open_entries if not entry.at_work]
    if still_changed:
        names = wording.listed([*dict.fromkeys(still_changed)])
        text = f"still changed ({names}): restore it with R in the notebook, or with `sharebench restore`"
        yield report.Field(name="Server", text=text, tone=layout.Tone.BAD)
    elif journal and not open_entries:
        restored_at = max(entry.ended_at or "" for entry in journal)
        yield report.Field(name="Server", text=f"restored {records.with_zone(restored_at)}")


def _what_was_measured(plan: changes.TrialPlan, base: records.Series) -> str:
    if plan.load is not None:
        users = wording.count(plan.load.users, "user")
        scenario = plan.load.scenario
        return f"requests of {users} ({scenario.name}), in windows of {scenario.duration_seconds:g} s:"
    if base.command is records.Command.GET and base.plan and base.plan.counts.make_file:
        return "get of a file that was made anew for each run, under the value that is measured, in"
    return base.command


def _rate_unit(plan: changes.TrialPlan) -> str:
    return "requests/sec" if plan.load else "bytes/sec"


def _pairs_table(trial: TrialSummary) -> report.Table:
    unit = _rate_unit(trial.plan)
    headings = report.columns_of(
        "Pair",
        "Order",
        (f"As it was, {unit}", report.ReportKind.WHOLE),
        (f"Tried, {unit}", report.ReportKind.WHOLE),
        ("Change in %", report.ReportKind.SIGNED),
    )
    rows = []
    for place, pair in enumerate(trial.pairs, 1):
        order = "A B" if pair.base_first else "B A"
        rows.append(report.row_of(str(place), order, pair.base_rate, pair.other_rate, 100 * (pair.ratio - 1)))
    return report.Table(columns=headings, rows=tuple(rows), caption="A: as it was; B: tried")


def _trial_figures(trial: TrialSummary) -> Iterator[report.Field]:
    effect = trial.effect
    if effect is None:
        return

    has_enough_pairs = _has_enough_pairs_for_p(trial, effect)
    if has_enough_pairs:
        meaning = "the probability of such a difference between equal settings (exact rank-sum test)"
        yield report.Field(name="p-value", text=f"{effect.p_value:.4f}, {meaning}", number=effect.p_value)

    deviation = effect.deviation_percent
    if deviation is not None:
        text = f"{wording.cell_percent(deviation)} %"
        yield report.Field(name="Deviation of the pairs", text=text, number=deviation, unit="%")

    if trial.slot_effect_percent is not None:
        text = f"{wording.signed_percent(trial.slot_effect_percent)} for the second of a pair"
        if trial.complete:
            text += "; the order of the pairs balances it"
        yield report.Field(name="Order effect", text=text, number=trial.slot_effect_percent, unit="%")

    if trial.control:
        text = _fixed_work_text(trial, trial.control)
        yield report.Field(name="Fixed work", text=text, number=trial.control.change_percent, unit="%")
    if trial.rejected_pairs:
        yield report.Field(
            name="Pairs left out", text=f"{trial.rejected_pairs}, a run of each is rejected, failed or missing"
        )


def _has_enough_pairs_for_p(trial: TrialSummary, effect: PairedEffect) -> bool:
    """Fewer pairs than those of the first look never have a small p."""
    return effect.pairs >= trial.plan.looks[0]


def _fixed_work_text(trial: TrialSummary, control: PairedEffect) -> str:
    change = control.change_percent
    direction = "less" if change < 0 else "more"
    text = f"took {wording.percent(abs(change))} {direction} time with what was tried"
    if trial.effect and _has_enough_pairs_for_p(trial, trial.effect):
        text += f" (p {control.p_value:.3f})"
    text += ": a computation beside each run, which the setting cannot touch"

    if not trial.control_counts:
        return f"{text}, not counted: the processor of this machine did not limit the runs"
    if trial.doubt is decision.Doubt.DRIFT:
        return f"{text}, so the processors may have changed, not the setting"
    return text


def _trial_advice(trial: TrialSummary) -> Iterator[str]:
    yield from _generator_advice(trial.slots)

    plan = trial.plan
    only_command = None if plan.load else acts_on(plan.name)
    if only_command not in {None, trial.base.command}:
        advice = f"try it on a {only_command} before you rely on this"
        yield f"{plan.name} is known to act on a {only_command} alone: {advice}"
    elif trial.verdict is decision.Verdict.FASTER:
        section = f"in {plan.section} " if plan.section else ""
        change = f"write {plan.name} = {trial.value} {section}yourself; sharebench has restored what was there"
        lead = "try it again without these weaknesses, then" if trial.reservations else "worth keeping:"
        yield f"{lead} {change}"


def _generator_advice(slots: Sequence[changes.Slot]) -> Iterator[str]:
    limited = sum(slot.generator_limited for slot in slots)
    if limited:
        yield (
            f"in {limited} of {len(slots)} windows the machine that made the load was the limit, not the server: what"
            " the setting does is more than what is seen here; make the load on another machine"
        )


_STANDING_WORDS = {Standing.WORSE: "slower", Standing.LEVEL: "as good", Standing.UNDECIDED: "undecided"}


def _sweep_report(sweep: SweepSummary) -> report.Report:
    plan = sweep.plan
    is_settled = sweep.complete and sweep.settled
    sentences = [_sweep_sentence(sweep)]
    if plan.load is None:
        # All values are measured with one file, so that one warning of its size is enough.
        warnings = list(chain.from_iterable(short_runs(value.series) for value in sweep.values))
        sentences += [warning.text for warning in warnings[:1]]
    tone = layout.Tone.PLAIN if is_settled else layout.Tone.CAUTION
    answer = report.answer_field(" ".join(sentences), tone)

    return report.Report(
        form="sweep",
        title=f"Sweep of {plan.name}",
        name="Sweep",
        fields=(answer, *plan_fields(plan, sweep.values[0].series)),
        tables=(_value_table(sweep),),
        results=tuple(_sweep_figures(sweep)),
        advice=tuple(_generator_advice(sweep.slots)),
        drawn=(_sweep_chart(sweep),),
        document=partial(_sweep_document, sweep),
    )


def _sweep_sentence(sweep: SweepSummary) -> str:
    if not sweep.complete:
        return f"Not finished: {sweep.blocks} of {sweep.plan.looks[-1]} blocks are complete. Resume the sweep."
    if not sweep.settled:
        return f"Inconclusive after {sweep.blocks} blocks{_slower_values(sweep)}. {_remedy(sweep)}"

    within = f"at most {wording.percent(_largest_loss_percent(sweep))} slower than the best"
    if not sweep.default_is_as_good:
        return f"Set `{sweep.plan.name} = {sweep.smallest}`: the smallest value as good as the best tried ({within})."
    answer = f"{_leave_as_it_is(sweep.plan)}: no value tried is faster."
    if sweep.smallest:
        answer += f" {sweep.smallest} is the smallest that is as good ({within})."
    return answer


def _slower_values(sweep: SweepSummary) -> str:
    slower = [_value_name(sweep, value) for value in sweep.values if value.standing is Standing.WORSE]
    return f", but slower than the best: {', '.join(slower)}" if slower else ""


def _largest_loss_percent(sweep: SweepSummary) -> float:
    """How much slower than the best a value that counts as good may be, by the low ends of the intervals."""
    effects = [value.against_best for value in sweep.values if value.on_plateau and value.against_best]
    losses = [-effect.interval_percent[0] for effect in effects if effect.interval_percent]
    return max([0.0, *losses])


def _remedy(sweep: SweepSummary) -> str:
    if sweep.blocks_to_settle is None:
        return "Use longer runs (a larger file) or a quieter time: the runs vary too much."
    return f"About {sweep.blocks_to_settle} blocks would settle it (--blocks {sweep.blocks_to_settle})."


def _value_table(sweep: SweepSummary) -> report.Table:
    headings = report.columns_of(
        sweep.plan.name,
        (f"Average, {_rate_unit(sweep.plan)}", report.ReportKind.WHOLE),
        ("Change in %", report.ReportKind.SIGNED),
        ("From %", report.ReportKind.SIGNED),
        ("To %", report.ReportKind.SIGNED),
        "p (Holm)",
        "Beside the best",
    )
    return report.Table(columns=headings, rows=tuple(_value_row(sweep, value) for value in sweep.values))


def _value_row(sweep: SweepSummary, value: SweepValue) -> report.Row:
    effect = value.effect
    low, high = (effect and effect.interval_percent) or (None, None)
    return report.row_of(
        _value_name(sweep, value),
        value.average,
        effect.change_percent if effect else None,
        low,
        high,
        "" if value.adjusted_p is None else f"{value.adjusted_p:.3f}",
        _STANDING_WORDS[value.standing] if sweep.blocks else "",
    )


def _value_name(sweep: SweepSummary, value: SweepValue) -> str:
    if value.value is None:
        previous = sweep.plan.previous or "empty"
        return f"{previous} (present value)"
    return value.value or "empty"


def _sweep_figures(sweep: SweepSummary) -> Iterator[report.Field]:
    yield report.Field(
        name="Blocks", text=f"{sweep.blocks}, each value once in each, in a new order", number=sweep.blocks
    )
    if sweep.friedman_p is not None:
        text = f"{sweep.friedman_p:.4f}, the probability of such differences between equal values"
        yield report.Field(name="p (Friedman)", text=text, number=sweep.friedman_p, is_detail=True)


def _sweep_chart(sweep: SweepSummary) -> report.Chart | None:
    if sweep.plan.axes:
        return None

    base, *other_values = sweep.values
    bars = [
        report.Bar(name=_short_value(value), value=value.average, interval=sweep.interval_of(value))
        for value in other_values
    ]
    levels = (report.Level(name="present value", value=base.average),) if base.average else ()
    return report.Chart(
        title=f"Average at each value of {sweep.plan.name}",
        unit=_rate_unit(sweep.plan),
        bars=tuple(bars),
        levels=levels,
        is_curve=True,
        source=(0, 1),
        rows_before=1,
        in_text=True,
    )


def _short_value(value: SweepValue) -> str:
    """The last word of a value, and of that what follows "=": `SO_SNDBUF=65536` is 65536."""
    words = (value.value or "").split() or ["empty"]
    return words[-1].rpartition("=")[2]


ChangeSummary = TrialSummary | SweepSummary
KINDS = (records.ExperimentKind.TRIAL, records.ExperimentKind.SWEEP)


def judge_change(
    experiment: records.Experiment,
    plan: changes.TrialPlan,
    series: Sequence[records.Series],
    slots: Sequence[changes.Slot],
) -> ChangeSummary:
    """The trial or sweep of series in any order. Raises ValueError where one is missing."""
    by_value = {value_series.change.value if value_series.change else None: value_series for value_series in series}
    if by_value.keys() != {None, *plan.values}:
        raise ValueError("a series is missing")

    ordered = [by_value[value] for value in (None, *plan.values)]
    if experiment.kind is records.ExperimentKind.SWEEP:
        return sweep_summary(experiment, plan, ordered, slots)
    return trial_summary(experiment, plan, ordered, slots)


def change_report(summary: ChangeSummary) -> report.Report:
    return _trial_report(summary) if isinstance(summary, TrialSummary) else _sweep_report(summary)


def change_answer(summary: ChangeSummary) -> layout.Toned:
    if isinstance(summary, SweepSummary):
        return layout.Toned(_sweep_sentence(summary))
    if summary.doubt is decision.Doubt.FEW_PAIRS:
        return layout.Toned(verdict_sentence(summary), layout.Sign.STOPPED.tone)
    value = f", with {summary.value}" if summary.value else ""
    verdict_sign = VERDICT_SIGNS[summary.verdict]
    return layout.Toned(f"{verdict_sign} {_effect_sentence(summary)}{value}.", verdict_sign.tone)
