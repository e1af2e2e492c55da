"""How the command line answers with the result of a trial, a sweep, or an experiment of another kind."""

from dataclasses import replace

from app.cli import console
from forms.report import Report
from forms.trial.changes_report import ChangeSummary


def answer_trial(summary: ChangeSummary | None, report: Report, *, as_json: bool) -> None:
    """Print the report; for a terminal, the curve of a sweep is drawn as large as the terminal is wide.

    ``summary`` is None for an experiment that is neither a trial nor a sweep.
    """
    chart = report.chart
    has_curve = chart is not None and chart.is_curve
    curve = chart if summary and has_curve and not (as_json or summary.plan.load) else None

    console.answer_report(replace(report, drawn=()) if curve else report, as_json=as_json)
    if summary and not summary.complete:
        console.say(f"Recommendation: sharebench try --resume '{summary.experiment.name}'")
    if curve:
        from app.charts.series_charts import curve_chart

        console.answer(curve_chart(curve, console.chart_columns(), console.CHART_LINES, colour=console.draws_colour()))
