"""Reports on stdout: laid out for the terminal, or as documents."""

import shutil

from app.cli import output
from forms.exporters.text import report_text
from forms.findings.series_warnings import advice
from forms.report import Report
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.wording import plain
from storage.records import Series, format_target

CHART_COLUMNS = 80
CHART_LINES = 16


def answer_report(report: Report, *, as_json: bool = False) -> None:
    """A terminal report or a JSON document."""
    if as_json:
        output.answer_json(report.document())
        return

    output.answer(report_text(report, ansi=output.draws_colour()).rstrip("\n"))


def show(series: Series, *, as_json: bool = False, chart: bool = False) -> None:
    """The filled form or the series document."""
    form = run_form(series)
    answer_report(series_report(form), as_json=as_json)
    if not as_json:
        for said in advice(series):
            if said.options:
                output.say(f"sharebench: what to do ({said.key}): {said.options}")
        if series.scratch_path and not series.running_by:
            output.say(f"sharebench: what to do (left behind): sharebench clean {plain(format_target(series.target))}")
    if chart and form.rows and not as_json:
        from app.charts.series_charts import rates_chart  # noqa: PLC0415  plotext is slow to load

        width = min(shutil.get_terminal_size().columns, CHART_COLUMNS)
        output.answer(rates_chart(form, width, CHART_LINES, colour=output.draws_colour()))
