"""The steps of an experiment as a table and as bars: what each one is, and what its change was worth."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forms import layout, report, wording
from forms.comparison import wording as comparison_wording
from forms.experiments.summary import ExperimentStep, ExperimentSummary
from forms.series.summary import run_form
from storage import records

STEP_COLUMNS = report.columns_of(
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
"""The columns of the series' ids and of the averages, from 0."""

_MARKS: Mapping[records.Decision | None, report.Mark] = {records.Decision.REVERTED: report.Mark.RESTORED}
"""The mark of a row by what was decided on its change: a restored one is struck out."""


def steps_table(experiment: ExperimentSummary) -> report.Table:
    """A row a step, numbered from 0."""
    numbers = {step.series.id: step.number for step in experiment.steps}
    return report.Table(columns=STEP_COLUMNS, rows=tuple(_step_row(step, numbers) for step in experiment.steps))


def short_steps_table(experiment: ExperimentSummary) -> report.Table:
    """The same without ids, for a small screen that shows the step beside it."""
    rows = [
        replace(row, cells=(*row.cells[:_SERIES], *row.cells[_SERIES + 1 :])) for row in steps_table(experiment).rows
    ]
    return report.Table(columns=(*STEP_COLUMNS[:_SERIES], *STEP_COLUMNS[_SERIES + 1 :]), rows=tuple(rows))


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
        change_text(step),
        step.series.id,
        step.average_bytes_per_second,
        made_from,
        report.Cell(value=change, formula=formula),
        verdict,
        state_text(step),
        mark=_MARKS.get(step.decision, report.Mark.NONE),
    )


def change_text(step: ExperimentStep) -> str:
    """The change of a step, or what it is without one."""
    if step.change is None:
        return "measured again" if step.base_number is not None else "base"
    return wording.changed(step.change)


def state_text(step: ExperimentStep) -> str:
    """How the series ended where it is not complete, and what was decided."""
    if step.series.running_by is not None:
        return "being measured"
    parts = []
    if step.series.status is not records.SeriesStatus.COMPLETE:
        parts.append(step.series.status.value)
    if step.change is not None or step.decision is not None:
        parts.append(wording.decided(step.decision))
    return ", ".join(parts)


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


def steps_chart(experiment: ExperimentSummary) -> report.Chart:
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
