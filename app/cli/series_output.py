"""A series shown on stdout, as its form or its document."""

from __future__ import annotations

import shutil

import click

from app.cli import common
from storage.records import Series

CHART_COLUMNS = 80
CHART_LINES = 16


def show_series(context: click.Context, reference: str, *, as_json: bool, chart: bool = False) -> None:
    """Print a stored series: the filled form, or the series document."""
    show(common.series(context, reference), as_json=as_json, chart=chart)


def show(series: Series, *, as_json: bool, chart: bool = False) -> None:
    """Print a series: the filled form or the series document."""
    from forms.series.summary import run_form  # noqa: PLC0415  keeps `--help` light

    if as_json:
        from forms.series.document import series_document  # noqa: PLC0415

        common.answer_json(series_document(series))
        return
    from forms.exporters.text import run_form_text  # noqa: PLC0415

    form = run_form(series)
    common.answer(run_form_text(form, ansi=common.draws_colour()))
    if chart and form.rows:
        from app.charts.rates import rates_chart  # noqa: PLC0415  plotext is slow to load

        width = min(shutil.get_terminal_size().columns, CHART_COLUMNS)
        common.answer(rates_chart(form, width, CHART_LINES, colour=common.draws_colour()))
