"""``sharebench note``: words kept with a series."""

from __future__ import annotations

from dataclasses import replace

import click

from app.cli import common


@click.command("note", short_help="annotates a series")
@click.argument("series")
@click.argument("text")
@common.options_of_all
@click.pass_context
def note_command(context: click.Context, series: str, text: str) -> None:
    """Keeps TEXT with SERIES, in place of an earlier note; an empty TEXT removes it."""
    with common.notebook(context) as notebook:
        found = notebook.series(series)
        notebook.annotate(replace(found, note=text))
    common.say(f"noted with series {found.id}" if text else f"note of series {found.id} removed")
