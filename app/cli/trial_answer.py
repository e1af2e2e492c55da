"""How the command line answers with the result of a trial, a sweep, or an experiment of another kind."""

from dataclasses import replace

from app.cli import console
from forms.report import Report
from forms.trial.changes_report import ChangeSummary


def answer_trial(summary: ChangeSummary | None, report: Report, *, as_json: bool) -> None:
    """Print the report; for a terminal, the curve of a sweep is drawn as large as the terminal is wide.

    ``summary`` is None for an experiment that is neither a trial nor a sweep. JSON has no drawings, and the averages of
    a sweep that measures a load stay bars of the report.
    """
    chart = report.chart
    curve = None
    if chart is not None and chart.is_curve and summary and not summary.plan.load and not as_json:
        curve = chart
        # It follows the report, so the report draws no charts (``drawn``) itself.
        report = replace(report, drawn=())

    console.answer_report(report, as_json=as_json)
    if summary and not summary.complete:
        console.say(f"Recommendation: sharebench try --resume '{summary.experiment.name}'")
    if curve:
        from app.charts.series_charts import curve_chart

        console.answer(curve_chart(curve, console.chart_columns(), console.CHART_LINES, colour=console.draws_colour()))
