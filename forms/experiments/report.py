"""An experiment on paper and as JSON: its steps, what each was worth, and what they gained together."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from forms import layout, report, wording
from forms.comparison import wording as comparison_wording
from forms.comparison.comparison import Comparison
from forms.comparison.report import verdict_document
from forms.comparison.settling import SettlingStep
from forms.experiments.repeats import repeats, selftest
from forms.experiments.repeats_report import repeats_report, selftest_report
from forms.experiments.summary import ExperimentStep, ExperimentSummary, Gain, experiment_summary
from forms.experiments.survey import survey_of
from forms.experiments.survey_report import survey_report
from forms.series.origin import origin_fields
from forms.series.report import resumed_text
from forms.series.summary import run_form
from forms.tuning.change_evidence import SettingState
from storage import records
from storage.json_reader import named

SCHEMA = "sharebench/experiment/1"
FORM = "ladder"  # in CSV and JSON files since version 0.1

Document = dict[str, Any]

_COLUMNS = report.columns_of(
    "No",
    "Change",
    "Series",
    ("Average, bytes/sec", report.ReportKind.WHOLE),
    "From",
    ("Change in %", report.ReportKind.SIGNED),
    "Verdict",
    "Decision",
)
_SERIES = 2
_AVERAGE = 3
_MARKS: Mapping[records.Decision | None, report.Mark] = {records.Decision.REVERTED: report.Mark.RESTORED}
_NO_GAIN = "nothing yet, since no change is in force"


def experiment_report(
    name: str, series: Sequence[records.Series], kind: records.ExperimentKind = records.ExperimentKind.STEPS
) -> report.Report:
    """The report of that kind, series in the order measured. Raises ValueError for half a self-test."""
    match kind:
        case records.ExperimentKind.STEPS:
            return steps_report(experiment_summary(name, series))
        case records.ExperimentKind.SURVEY:
            return survey_report(survey_of(name, series))
        case records.ExperimentKind.SELFTEST:
            first, second = series
            return selftest_report(selftest(first, second))
        case records.ExperimentKind.REPEATS:
            return repeats_report(repeats(series))
        case _:
            raise ValueError(f"a {kind} needs its plan: forms.trial")


def steps_report(experiment: ExperimentSummary) -> report.Report:
    """An experiment; restored changes are struck out."""
    steps = experiment.steps
    paths = dict.fromkeys(
        f"{step.series.command} {records.format_target(step.series.target, escaped=False)}" for step in steps
    )
    answers = [report.answer_field(headline.text, headline.tone) for headline in gain_headlines(experiment)]

    remarks: list[str] = []
    for step in steps:
        remarks += (f"{step.number}, {remark}" for remark in _remarks_on_step(step, with_resumed=True))

    settling = []
    for step, way in open_steps(experiment):
        commands = comparison_wording.settling_commands(way)
        text = f"{comparison_wording.settling_sentence(way)} Command: {commands}"
        settling.append((f"To settle {step.number}", text))

    return report.Report(
        form=FORM,
        title=f"Experiment {experiment.name}",
        name=experiment.name,
        fields=(
            # The first headline is the answer: what the others say stands among the results.
            *report.fields_of(*answers[:1]),
            *report.fields_of(report.measured_field(", ".join(paths))),
            *origin_fields([step.series for step in steps]),
        ),
        tables=(steps_table(experiment),),
        results=(
            *(_verdict_field(step, step.comparison) for step in steps if step.comparison),
            *gain_fields(experiment),
            *report.fields_of(*settling),
        ),
        advice=(*_joint_intervals_remark(experiment), *remarks),
        drawn=(_steps_chart(experiment),),
        document=partial(steps_document, experiment),
    )


def _joint_intervals_remark(experiment: ExperimentSummary) -> Iterator[str]:
    judged = [step for step in experiment.steps if step.comparison and step.change is not None]
    changes = max(Counter(step.series.command for step in judged).values(), default=0)
    if changes > 1:
        yield f"{changes} changes are judged at once, so each interval is wider than in a comparison of two."


def steps_table(experiment: ExperimentSummary) -> report.Table:
    numbers = {step.series.id: step.number for step in experiment.steps}
    return report.Table(columns=_COLUMNS, rows=tuple(_step_row(step, numbers) for step in experiment.steps))


def short_steps_table(experiment: ExperimentSummary) -> report.Table:
    """The same without ids, for a small screen that shows the step beside it."""
    rows = [
        replace(row, cells=(*row.cells[:_SERIES], *row.cells[_SERIES + 1 :])) for row in steps_table(experiment).rows
    ]
    return report.Table(columns=(*_COLUMNS[:_SERIES], *_COLUMNS[_SERIES + 1 :]), rows=tuple(rows))


def step_report(step: ExperimentStep) -> report.Report:
    series = step.series
    fields = [report.Field(name="Series", text=" · ".join(text for text in (series.id, series.label) if text))]
    if step.comparison:
        fields.append(_verdict_field(step, step.comparison))
    if step.change:
        fields.append(report.Field(name="Decision", text=_state_text(step)))
    fields += report.fields_of(("Resumed", resumed_text(series) if series.resumed_at else ""))

    return report.Report(
        form="step",
        title=_change_text(step),
        name=series.id,
        fields=tuple(fields),
        advice=tuple(_remarks_on_step(step)),
    )


def gain_fields(experiment: ExperimentSummary) -> Iterator[report.Field]:
    """What was gained in all, in each direction."""
    has_both_directions = len(experiment.gains) > 1
    for gain in experiment.gains:
        name = f"Gained in all, {gain.command}" if has_both_directions else "Gained in all"
        yield report.Field(name=name, text=_gain_text(gain))
    if not experiment.gains:
        yield report.Field(name="Gained in all", text=_NO_GAIN)


def gain_headlines(experiment: ExperimentSummary) -> Iterator[layout.Toned]:
    """What is measured; ``▲ Faster by 43 % (…) in all: 0 → 1 → 2 → 4.`` per direction; and the cheapest open step."""
    for step in experiment.steps:
        if step.series.running_by is not None:
            yield layout.Toned(
                f"{layout.Sign.RUNNING} Step {step.number} is being measured: {_change_text(step)}.",
                layout.Tone.CAUTION,
            )

    gains = [(gain, gain.comparison) for gain in experiment.gains if gain.comparison is not None and gain.counted]
    for gain, comparison in gains:
        direction = f"{gain.command}: " if len(experiment.gains) > 1 else ""
        verdict = comparison_wording.comparison_clause(comparison)
        text = f"{comparison.sign} {direction}{verdict} in all: {_path_text(gain)}."
        yield layout.Toned(text, comparison.tone)
    if not gains:
        yield layout.Toned(f"{_NO_GAIN.capitalize()}.", layout.Tone.FAINT)

    still_open = open_steps(experiment)
    if still_open:
        step, way = still_open[0]
        judged = [step.comparison for step in experiment.steps if step.change is not None and step.comparison]
        decided = sum(comparison.known for comparison in judged)
        steps = wording.count(len(judged), "step")
        next_step = f"Step {step.number}: {comparison_wording.settling_sentence(way)}"
        yield layout.Toned(f"{decided} of {steps} decided. {next_step}", layout.Tone.FAINT)


def open_steps(experiment: ExperimentSummary) -> list[tuple[ExperimentStep, SettlingStep]]:
    """The undecided steps with what would settle each, the cheapest first."""
    still_open = []
    for step in experiment.steps:
        if step.comparison and step.comparison.settle is not None:
            still_open.append((step, step.comparison.settle))

    def seconds_to_settle(pair: tuple[ExperimentStep, SettlingStep]) -> float:
        _, way = pair
        return way.seconds

    return sorted(still_open, key=seconds_to_settle)


def blank_experiment_report() -> report.Report:
    return report.blank_form(FORM, "Experiment", ("Experiment", "Measured", "Note"), _COLUMNS, map(str, range(8)))


def _path_text(gain: Gain) -> str:
    return " → ".join(str(step.number) for step in gain.path)


def _step_row(step: ExperimentStep, numbers: Mapping[str, int]) -> report.Row:
    comparison = step.comparison
    change = None
    bases: list[int] = []
    formula = None
    verdict = ""

    if comparison:
        change = comparison.change_percent
        bases = [numbers[series_id] for series_id in comparison.base_ids if series_id in numbers]
        others = [numbers[series_id] for series_id in comparison.other_ids if series_id in numbers]
        formula = _change_formula(bases, others) if change is not None else None
        verdict = f"{comparison.sign} {comparison_wording.verdict_word(comparison)}"

    # A step whose bases are not in this experiment still says which one it was made from.
    made_from = "" if step.base_number is None else ", ".join(map(str, bases or [step.base_number]))
    return report.row_of(
        str(step.number),
        _change_text(step),
        step.series.id,
        step.average_bytes_per_second,
        made_from,
        report.Cell(value=change, formula=formula),
        verdict,
        _state_text(step),
        mark=_MARKS.get(step.decision, report.Mark.NONE),
    )


def _change_text(step: ExperimentStep) -> str:
    if step.change is None:
        return "measured again" if step.base_number is not None else "base"
    return wording.changed(step.change)


def _state_text(step: ExperimentStep) -> str:
    """How the series ended where it is not complete, and what was decided."""
    if step.series.running_by is not None:
        return "being measured"
    parts = []
    if step.series.status is not records.SeriesStatus.COMPLETE:
        parts.append(step.series.status.value)
    if step.change is not None or step.decision is not None:
        parts.append(wording.decided(step.decision))
    return ", ".join(parts)


def _verdict_field(step: ExperimentStep, comparison: Comparison) -> report.Field:
    text = f"{comparison.sign} {comparison_wording.comparison_headline(comparison)}"
    return report.Field(name=f"{step.number} from {step.base_number}", text=text, tone=comparison.tone)


def _gain_text(gain: Gain) -> str:
    comparison = gain.comparison
    changes = [_counted_change_text(step) for step in gain.counted]
    if comparison is None or not changes:
        return _NO_GAIN
    verdict = f"{comparison.sign} {comparison_wording.comparison_headline(comparison)}"
    basis = comparison_wording.basis_sentence(comparison) or ""
    return f"{_path_text(gain)}, by {wording.listed(changes)}: {verdict} {basis}".rstrip()


def _counted_change_text(step: ExperimentStep) -> str:
    assert step.change is not None, "only steps with a change are counted"
    text = f"{step.change.name} = {step.change.value or 'empty'}"
    return text if step.standing is SettingState.PROVEN else f"{text} ({step.standing})"


def _change_formula(bases: Sequence[int], others: Sequence[int]) -> report.Formula | None:
    """The change by the averages in these rows; None where a side has none."""
    if not bases or not others:
        return None
    if len(bases) == len(others) == 1:
        return report.change_formula(_AVERAGE, bases[0], others[0])
    references = tuple(report.cell_at(_AVERAGE, number) for number in (*bases, *others))

    # Several series of a side count as one: the mean of their averages.
    names = [f"{{{place}}}" for place in range(len(references))]
    base = f"AVERAGE({','.join(names[: len(bases)])})"
    other = f"AVERAGE({','.join(names[len(bases) :])})"
    return report.Formula(template=f"100*({other}/{base}-1)", references=references)


def _remarks_on_step(step: ExperimentStep, *, with_resumed: bool = False) -> Iterator[str]:
    if step.base_number is None and step.change is not None:
        yield "no verdict: the series that it was made from is not in this experiment"
    sign = f"{step.mark} " if step.mark.strip() else ""
    standing = f"{step.standing}: " if step.standing else ""
    for text in (step.proof, *step.doubts):
        if text:
            yield f"{sign}{standing}{text}"
    if with_resumed and step.series.resumed_at:
        yield f"resumed: {resumed_text(step.series)}"


def _steps_chart(experiment: ExperimentSummary) -> report.Chart:
    bars = tuple(
        report.Bar(
            name=str(step.number),
            value=step.average_bytes_per_second,
            mark=_MARKS.get(step.decision, report.Mark.NONE),
            interval=_interval(step),
            tone=step.comparison.tone if step.comparison else layout.Tone.FAINT,
        )
        for step in experiment.steps
    )
    title = "Average of each step, with the 95 % interval of its change"
    return report.Chart(title=title, unit="bytes/sec", bars=bars, source=(0, _AVERAGE))


def _interval(step: ExperimentStep) -> tuple[float, float] | None:
    """In bytes per second: of the step's change, from the average it was made from; of a base by its runs."""
    comparison = step.comparison
    if comparison is None:
        return run_form(step.series).confidence
    base_average = comparison.base_bytes_per_second
    if comparison.interval_percent is None or base_average is None:
        return None
    low, high = (base_average * (1 + end / 100) for end in comparison.interval_percent)
    return max(0.0, low), high


def steps_document(experiment: ExperimentSummary) -> Document:
    return {
        "schema": SCHEMA,
        "experiment": experiment.name,
        "rungs": [_step_document(step) for step in experiment.steps],
        "gains": [_gain_document(gain) for gain in experiment.gains],
    }


def _gain_document(gain: Gain) -> Document:
    return {
        "command": gain.command.value,
        "kept_path": [step.series.id for step in gain.path],
        "base": gain.path[0].series.id,
        "other": gain.path[-1].series.id,
        "counted": [step.series.id for step in gain.counted],
        **verdict_document(gain.comparison),
    }


def _step_document(step: ExperimentStep) -> Document:
    comparison = step.comparison
    series = step.series
    change = step.change

    return {
        "number": step.number,
        "series": series.id,
        "created_at": series.created_at,
        "status": series.status.value,
        "resumed_at": list(series.resumed_at),
        "command": series.command.value,
        "base": comparison.base_id if comparison else series.base_id,
        "base_number": step.base_number,
        "change": {**asdict(change), "also_changed": list(change.also_changed)} if change else None,
        "standing": step.standing,
        "doubts": list(step.doubts),
        "average_bytes_per_second": step.average_bytes_per_second,
        "valid_runs": len(series.measured()),
        **verdict_document(comparison),
        "doubt": comparison and comparison.doubt,
        "needed_runs": comparison and comparison.needed_runs,
        **named(step, "decision", "on_kept_path"),
    }
