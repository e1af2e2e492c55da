"""``sharebench baseline``: names for series that others are compared with."""

from __future__ import annotations

import re

import click

from app.cli import common, diagnostics, output
from app.errors import UsageError
from forms.layout import visible
from storage.notebook import LAST


@click.group("baseline")
def baseline_command() -> None:
    """Names for series that others are compared with."""


@baseline_command.command("set")
@click.argument("name")
@click.argument("series")
@common.options_of_all
@click.pass_context
def set_baseline(context: click.Context, name: str, series: str) -> None:
    """Gives SERIES the NAME; a NAME that was given before moves."""
    if not name.strip() or name != name.strip() or name == LAST:
        raise UsageError(f"a baseline cannot be called {name!r}; choose a word such as before-tuning")
    if re.fullmatch(r"[0-9a-f]{12}", name):
        raise UsageError(f"{name} looks like a series id; choose a word such as before-tuning")
    with common.notebook(context) as notebook:
        series_id = notebook.resolve(series)
        notebook.set_baseline(name, series_id)
    diagnostics.say(f"{visible(name)} is series {series_id}")


@baseline_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="An array of objects.")
@common.options_of_all
@click.pass_context
def list_baselines(context: click.Context, as_json: bool) -> None:
    """Lists the names and their series."""
    with common.notebook(context) as notebook:
        found = notebook.baselines()
    if as_json:
        output.answer_json([{"name": b.name, "series": b.series_id, "set_at": b.set_at} for b in found])
        return
    if not found:
        diagnostics.say("no baselines yet; give one with: sharebench baseline set NAME SERIES")
    for baseline in found:
        output.answer(f"{baseline.series_id}  {baseline.set_at[:16].replace('T', ' ')}  {visible(baseline.name)}")


@baseline_command.command("remove")
@click.argument("name")
@common.options_of_all
@click.pass_context
def remove_baseline(context: click.Context, name: str) -> None:
    """Forgets NAME; the series stays."""
    with common.notebook(context) as notebook:
        notebook.remove_baseline(name)
    diagnostics.say(f"{visible(name)} is forgotten; its series is kept")
