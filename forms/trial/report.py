"""A trial on paper: its verdict with what to do, a row for each pair, and the figures behind the verdict.

A trial measures a setting's previous value (A) and the one that is tried (B) in pairs of runs. Its *control* is a fixed
computation before each run, which the setting cannot touch.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from forms import layout, report, verdict_wording, wording
from forms.stats import decision
from forms.stats.paired import PairedEffect
from forms.trial.document import trial_document
from forms.trial.plan_fields import generator_advice, leave_as_it_is, plan_fields, rate_unit
from forms.trial.summary import TrialSummary
from forms.tuning.catalogue import acts_on
from forms.verdict_wording import VERDICT_SIGNS
from storage import changes


def trial_report(trial: TrialSummary) -> report.Report:
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


def effect_sentence(trial: TrialSummary) -> str:
    effect = trial.effect
    if effect is None:
        return "Not finished: no pair is complete yet"
    return verdict_wording.verdict_sentence(trial.verdict, effect.change_percent, effect.interval_percent)


def verdict_field(trial: TrialSummary) -> report.Field:
    """The answer of a trial, with its sign where it has one."""
    verdict_sign = VERDICT_SIGNS[trial.verdict]
    has_verdict = trial.effect is not None and trial.doubt is not decision.Doubt.FEW_PAIRS
    sentence = verdict_sentence(trial)
    text = f"{verdict_sign} {sentence}" if has_verdict else sentence
    return report.verdict_field(text, verdict_sign.tone)


def tried_lines(trial: TrialSummary | None, lead: str = "sharebench tried it: ") -> list[layout.Toned]:
    """What the form of a comparison says of a trial of the same change; nothing without one."""
    if trial is None:
        return []
    field = verdict_field(trial)
    return [layout.Toned(f"{lead}{field.text}", field.tone)]


def verdict_sentence(trial: TrialSummary) -> str:
    """The verdict, what to do, and what makes it weaker than it looks."""
    if trial.effect is None:
        return f"{effect_sentence(trial)}. Resume the trial."
    if trial.doubt is decision.Doubt.FEW_PAIRS:
        most = trial.plan.looks[-1]
        return f"Not finished: {len(trial.pairs)} of at most {most} pairs{trial.so_far}. Resume the trial."

    next_step = _why_inconclusive(trial) if trial.verdict is decision.Verdict.UNKNOWN else _recommendation(trial)
    pairs = wording.count(trial.effect.pairs, "pair")
    sentences = [f"{effect_sentence(trial)} in {pairs}.", next_step]

    weakness = " ".join(reservation.text for reservation in trial.reservations)
    if weakness and trial.verdict in {decision.Verdict.FASTER, decision.Verdict.SLOWER}:
        weakness = f"By how much is less sure: {weakness[0].lower()}{weakness[1:]}"
    if weakness:
        sentences.append(weakness)
    return " ".join(sentences)


def _recommendation(trial: TrialSummary) -> str:
    """What to do by the verdict, as a sentence."""
    plan = trial.plan
    is_faster = trial.verdict is decision.Verdict.FASTER
    if plan.kind is changes.ChangeKind.HOOK:
        return f"Keep {plan.name}." if is_faster else f"Leave {plan.name} out."

    value = trial.value or "empty"
    if is_faster:
        return f"Set `{plan.name} = {value}`."
    result = "slower" if trial.verdict is decision.Verdict.SLOWER else "no faster"
    return f"{leave_as_it_is(plan)}: `{value}` is {result} here."


def _why_inconclusive(trial: TrialSummary) -> str:
    if trial.doubt is decision.Doubt.DRIFT:
        return "What the setting cannot touch changed as well (the fixed work): try again at a quieter time."
    return "The pairs vary too much: use longer runs (a larger file) or a quieter time."


def _pairs_table(trial: TrialSummary) -> report.Table:
    unit = rate_unit(trial.plan, trial.base)
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
    """The figures behind the verdict."""
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
    yield from generator_advice(trial.slots)

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
