"""A trial or sweep as the notebook has it."""

from collections.abc import Iterator, Sequence
from itertools import islice

from forms.findings.series_warnings import short_runs
from forms.layout import Tone, Toned
from forms.report import Bar, Chart, Field, Level, Report, ReportKind, Table, table_of
from forms.trials.report import about_plan, generator_advice, rate_unit, sweep_document, trial_report, verdict_field
from forms.trials.summary import TrialSummary, trial_summary
from forms.trials.sweep import Standing, SweepSummary, SweepValue, sweep_summary
from storage.changes import Slot, TrialPlan
from storage.records import Experiment, ExperimentKind, Series

_STANDING = {Standing.WORSE: "slower", Standing.LEVEL: "as good", Standing.UNDECIDED: "undecided"}


def sweep_report(found: SweepSummary) -> Report:
    """A sweep: the answer, then a row and a bar per value."""
    plan = found.plan
    base = found.values[0].series
    weak = () if plan.load else (said.text for one in found.values for said in short_runs(one.series))
    tone = Tone.PLAIN if found.complete and found.settled else Tone.CAUTION
    return Report(
        form="sweep",
        title=f"Sweep of {plan.name}",
        name="Sweep",
        fields=(
            Field(name="Answer", text=" ".join([sweep_sentence(found), *islice(weak, 1)]), tone=tone),
            *about_plan(plan, base),
        ),
        tables=(_value_table(found),),
        results=tuple(_sweep_figures(found)),
        advice=tuple(generator_advice(found.slots)),
        drawn=(_chart(found),),
        document=lambda: sweep_document(found),
    )


def sweep_sentence(found: SweepSummary) -> str:
    """The answer in one sentence, its basis in a second one."""
    name, previous = found.plan.name, found.plan.previous or "empty"
    if not found.complete:
        return f"Not finished: {found.blocks} of {found.plan.looks[-1]} blocks are complete. Resume the sweep."
    if not found.settled:
        return f"Inconclusive after {found.blocks} blocks{_worse(found)}. {_remedy(found)}"
    within = f"at most {found.largest_loss_percent:.1f} % slower than the best"
    if found.default_is_as_good:
        answer = f"Leave {name} at {previous}: no value tried is faster"
        return (
            f"{answer}. {found.smallest} is the smallest that is as good ({within})."
            if found.smallest
            else f"{answer}."
        )
    return f"Set {name} = {found.smallest}: the smallest value as good as the best tried ({within})."


def _worse(found: SweepSummary) -> str:
    worse = [_value_name(found, one) for one in found.values if one.standing is Standing.WORSE]
    return f", but slower than the best: {', '.join(worse)}" if worse else ""


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
        (f"Average, {rate_unit(found.plan)}", ReportKind.WHOLE, lambda one: one.average),
        ("Change in %", ReportKind.SIGNED, lambda one: one.effect.change_percent if one.effect else None),
        ("From %", ReportKind.SIGNED, lambda one: interval(one)[0]),
        ("To %", ReportKind.SIGNED, lambda one: interval(one)[1]),
        ("p (Holm)", ReportKind.TEXT, lambda one: "" if one.adjusted_p is None else f"{one.adjusted_p:.3f}"),
        ("Beside the best", ReportKind.TEXT, lambda one: _STANDING[one.standing] if found.blocks else ""),
        entry="value",
    )


def _value_name(found: SweepSummary, one: SweepValue) -> str:
    return f"{found.plan.previous or 'empty'} (as it was)" if one.value is None else one.value or "empty"


def _sweep_figures(found: SweepSummary) -> Iterator[Field]:
    yield Field(name="Blocks", text=f"{found.blocks}, each value once in each, in a new order", number=found.blocks)
    if found.friedman_p is not None:
        text = f"{found.friedman_p:.4f}, the probability of such differences between equal values"
        yield Field(name="p (Friedman)", text=text, number=found.friedman_p, is_detail=True)


def _chart(found: SweepSummary) -> Chart | None:
    base, *tried = found.values
    bars = tuple(Bar(name=one.short_name, value=one.average, interval=found.interval_of(one)) for one in tried)
    if found.plan.axes:
        return None
    return Chart(
        title=f"Average at each value of {found.plan.name}",
        unit=rate_unit(found.plan),
        bars=bars,
        levels=(Level(name="as it was", value=base.average),) if base.average else (),
        is_curve=True,
        source=(0, 1),
        rows_before=1,
        in_text=True,
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
    """The report of a trial or sweep."""
    return trial_report(found) if isinstance(found, TrialSummary) else sweep_report(found)


def answer_of(found: ChangeSummary) -> Toned:
    """The result in a sentence."""
    if isinstance(found, TrialSummary):
        field = verdict_field(found)
        return Toned(field.text, field.tone)
    return Toned(sweep_sentence(found))
