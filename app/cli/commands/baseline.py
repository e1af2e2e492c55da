"""``sharebench baseline``: names for series that others are compared with."""

import re
from collections.abc import Sequence

import click

from app import kinds
from app.cli import common, output
from app.errors import UsageError
from forms.comparison.differences import same_path
from forms.layout import visible
from storage.notebook import Notebook
from storage.recordings import LAST, SERIES

ENOUGH_SERIES = 3
"""Number of repeats from which a change of five standard deviations is significant."""


@click.group("baseline", cls=common.Group)
def baseline_command() -> None:
    """Name recordings that others are compared with."""


@baseline_command.command("set")
@click.argument("name")
@click.argument("series", nargs=-1, required=True, metavar="RECORDING...")
@common.options_of_all
def set_baseline(context: click.Context, name: str, series: tuple[str, ...]) -> None:
    """Call RECORDING the baseline NAME; a NAME already in use moves to it.

    With several series of equal settings, sharebench knows their variation and can judge smaller changes.
    """
    if not name.strip() or name != name.strip() or name == LAST:
        raise UsageError(f"a baseline cannot be called {name!r}; choose a word such as before-tuning")
    if re.fullmatch(r"[0-9a-f]{12}", name):
        raise UsageError(f"{name} looks like a series id; choose a word such as before-tuning")
    with common.notebook(context) as notebook:
        heads = kinds.alike(notebook, series)
        if heads[0].kind != SERIES:
            notebook.set_baseline(name, *(head.id for head in heads))
            output.say(f"{visible(name)} is {heads[0].kind} {', '.join(head.id for head in heads)}")
            return
        ids = _alike(notebook, series)
        notebook.set_baseline(name, *ids)
    _say_what_it_holds(name, ids)


@baseline_command.command("add")
@click.argument("name")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@common.options_of_all
def add_to_baseline(context: click.Context, name: str, series: tuple[str, ...]) -> None:
    """Add SERIES, measured with the same settings, to the baseline NAME."""
    with common.notebook(context) as notebook:
        known = notebook.baseline_ids(name, SERIES)
        if not known:
            raise UsageError(f"no baseline is called {name!r}; give it first: sharebench baseline set NAME SERIES")
        ids = _alike(notebook, (*known, *series))
        notebook.set_baseline(name, *ids, keep=True)
    _say_what_it_holds(name, ids)


def _alike(notebook: Notebook, references: Sequence[str]) -> list[str]:
    """Unique ids of the series. Raises UsageError unless they took the same path."""
    found = {one.id: one for one in map(notebook.series, references)}
    first, *others = found.values()
    for one in others:
        if not same_path(first, one):
            raise UsageError(
                f"series {one.id} and {first.id} differ in command, target or client: a baseline holds repeats of the"
                " same settings"
            )
    return list(found)


def _say_what_it_holds(name: str, ids: Sequence[str]) -> None:
    output.say(f"{visible(name)} is series {', '.join(ids)}")
    if len(ids) < ENOUGH_SERIES:
        output.say(
            f"measure it again and add it (sharebench baseline add {visible(name)} SERIES): {ENOUGH_SERIES} series say"
            " how far equal ones lie apart, without which a later difference proves nothing"
        )


@baseline_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
@common.options_of_all
def list_baselines(context: click.Context, as_json: bool) -> None:
    """List the baselines and their series."""
    with common.notebook(context) as notebook:
        found = notebook.baselines()
        kinds = {one.id: one.kind for one in notebook.recordings_of([one.recording_id for one in found])}
    found = [one for one in found if one.recording_id in kinds]  # an index of a damaged file may name others
    if as_json:
        output.answer_json(
            [{"name": one.name, kinds[one.recording_id]: one.recording_id, "set_at": one.set_at} for one in found]
        )
        return
    if not found:
        output.say("no baselines yet; give one with: sharebench baseline set NAME SERIES")
    for baseline in found:
        when, kind = baseline.set_at[:16].replace("T", " "), kinds[baseline.recording_id]
        output.answer(f"{baseline.recording_id}  {when}  {kind:<9}  {visible(baseline.name)}")


@baseline_command.command("remove")
@click.argument("name")
@common.options_of_all
def remove_baseline(context: click.Context, name: str) -> None:
    """Remove the baseline NAME; its series stay."""
    with common.notebook(context) as notebook:
        notebook.remove_baseline(name)
    output.say(f"{visible(name)} is forgotten; what it named is kept")
