"""A series shown on stdout, as its form or its document."""

from __future__ import annotations

import click

from app.cli import common
from storage.records import Series


def show_series(context: click.Context, reference: str, *, as_json: bool) -> None:
    """Print a stored series: the filled form, or the series document."""
    show(common.series(context, reference), as_json=as_json)


def show(series: Series, *, as_json: bool) -> None:
    """Print a series: the filled form or the series document."""
    from forms.run_form import run_form  # noqa: PLC0415  keeps `--help` light

    if as_json:
        from forms.series_document import series_document  # noqa: PLC0415

        common.answer_json(series_document(series))
        return
    from forms.exporters.text import run_form_text  # noqa: PLC0415

    form = run_form(series)
    common.answer(run_form_text(form, ansi=common.draws_colour()))
