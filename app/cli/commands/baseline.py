"""``sharebench baseline``: names of recordings that others are compared with."""

from collections.abc import Sequence

import click

from app.base.errors import UsageError
from app.cli import console, declare, notebooks
from app.cli.commands.notebook import name_of
from app.recording.kind import KINDS, kind_of
from app.recording.several import recordings_of_one_kind
from forms import layout
from forms.layout import visible
from storage.notebook import Notebook
from storage.recordings import SERIES, Recording
from storage.records import to_minute


@click.group("baseline", cls=declare.Group)
def baseline_command() -> None:
    """Name recordings that others are compared with."""


@baseline_command.command("set")
@click.argument("name")
@click.argument("series", nargs=-1, required=True, metavar="RECORDING...")
@declare.options_of_all
def set_baseline(context: click.Context, name: str, series: tuple[str, ...]) -> None:
    """Name RECORDING as a baseline, to compare with.

    With several series of equal settings, sharebench knows their variation and can judge smaller changes.
    """
    with notebooks.open_notebook(context) as notebook:
        head_by_id = {head.id: head for head in recordings_of_one_kind(notebook, series)}
        heads = list(head_by_id.values())
        kind_of(heads[0]).check_repeats(notebook, list(head_by_id))
        notebook.set_baseline(name, *head_by_id)
        _say_what_it_holds(notebook, name, heads)


@baseline_command.command("add")
@click.argument("name")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@declare.options_of_all
def add_to_baseline(context: click.Context, name: str, series: tuple[str, ...]) -> None:
    """Add SERIES, measured with the same settings, to the baseline NAME."""
    with notebooks.open_notebook(context) as notebook:
        ids_before = notebook.baseline_ids(name, SERIES)
        if not ids_before:
            raise UsageError(f"no baseline is called {name!r}; give it first: sharebench baseline set NAME SERIES")

        head_by_id: dict[str, Recording] = {}
        for reference in (*ids_before, *series):
            head = notebook.recording(reference, SERIES)
            head_by_id[head.id] = head
        KINDS[SERIES].check_repeats(notebook, list(head_by_id))
        # ``keep``: beside what the baseline holds, not in its place.
        notebook.set_baseline(name, *head_by_id, keep=True)
        _say_what_it_holds(notebook, name, list(head_by_id.values()))


def _say_what_it_holds(notebook: Notebook, name: str, heads: Sequence[Recording]) -> None:
    console.say(f"{visible(name)} is {', '.join(map(name_of, heads))}")
    for sentence in kind_of(heads[0]).baseline_advice(notebook, [head.id for head in heads], name):
        console.say(visible(sentence))


@baseline_command.command("list")
@declare.answering_options("Print a JSON array.")
def list_baselines(context: click.Context, as_json: bool) -> None:
    """List the baselines and their series."""
    with notebooks.open_notebook(context) as notebook:
        baselines = notebook.baselines()
        kinds = notebook.kinds_of([baseline.recording_id for baseline in baselines])

    # An index of a damaged file may name recordings that are none.
    baselines = [baseline for baseline in baselines if baseline.recording_id in kinds]
    if as_json:
        documents = []
        for baseline in baselines:
            key_of_id = kinds[baseline.recording_id]
            documents.append({"name": baseline.name, key_of_id: baseline.recording_id, "set_at": baseline.set_at})
        console.answer_json(documents)
        return

    if not baselines:
        console.say("no baselines yet; give one with: sharebench baseline set NAME SERIES")
        return
    when_heading = f"named ({layout.local_zones()})"
    console.answer(f"{'id':<12}  {when_heading:<16}  {'kind':<9}  baseline")
    for baseline in baselines:
        kind = kinds[baseline.recording_id]
        console.answer(f"{baseline.recording_id}  {to_minute(baseline.set_at)}  {kind:<9}  {visible(baseline.name)}")


@baseline_command.command("remove")
@click.argument("name")
@declare.options_of_all
def remove_baseline(context: click.Context, name: str) -> None:
    """Remove the baseline NAME; its series stay."""
    with notebooks.open_notebook(context) as notebook:
        notebook.remove_baseline(name)
    console.say(f"{visible(name)} is forgotten; what it named is kept")
