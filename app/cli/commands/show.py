"""``sharebench show``: one filled form."""

from __future__ import annotations

import click

from app.cli import common
from app.cli.series_output import show_series


@click.command("show", short_help="one filled form")
@click.argument("series")
@click.option("--json", "as_json", is_flag=True, help="The series document instead of the form.")
@click.option("--chart", is_flag=True, help="The rate of each run as a chart below the form.")
@common.options_of_all
@click.pass_context
def show_command(context: click.Context, series: str, as_json: bool, chart: bool) -> None:
    """Prints the filled form of SERIES."""
    show_series(context, series, as_json=as_json, chart=chart)
