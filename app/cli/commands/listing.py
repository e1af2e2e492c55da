"""``list``: the recordings of the notebook, a line each."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from app.base.errors import NotebookError, UsageError
from app.cli import console, declare, notebooks
from app.cli.recording_table import answer_table
from app.recording.kind import kind_of
from app.recording.listing import readable_lines
from forms import layout
from storage.errors import DamagedNotebookError
from storage.notebook import Notebook
from storage.queries import SeriesQuery
from storage.recordings import ISOLATION

SHOWN = 50
"""Recordings that are listed without --limit or --all."""


@declare.command("list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@declare.option("--limit", "N", f"Number of recordings to list ({SHOWN}).", declare.Count(1))
@click.option(
    "--all", "everything", is_flag=True, help="List all recordings, and the series inside trials and surveys."
)
@declare.option("--experiment", "NAME", "List only the series of this experiment.")
@click.option("--isolations", is_flag=True, hidden=True)
@declare.answering_options("Print all recordings as a JSON array.")
def list_command(
    context: click.Context, /, words: Sequence[str], limit: int | None, *, as_json: bool, **choices: Any
) -> None:
    """List the recordings of the notebook, newest first.

    With WORDs only those with these words in their kind, label, target, note, setting or baseline name.

    Beside the number of runs, ‖ means interrupted, ✗ failed, ● running, and + leftovers on the server.
    """
    if limit is None and not choices["everything"] and not as_json:
        limit = SHOWN

    with notebooks.open_notebook(context) as notebook, notebook.snapshot():
        ids = _ids_asked_for(notebook, words, choices, as_json=as_json)
        if as_json:
            _print_documents(notebook, ids[:limit])
            return
        readable = readable_lines(notebook, ids[:limit])

    console.say(*(f"sharebench: {problem}" for problem in readable.problems.values()))
    if readable.lines:
        answer_table(readable.lines, len(ids) - len(readable.problems))
    elif readable.problems:
        raise NotebookError("nothing of what was asked for can be read")
    else:
        console.say(_text_of_none(words, choices))


def _ids_asked_for(notebook: Notebook, words: Sequence[str], choices: Mapping[str, Any], *, as_json: bool) -> list[str]:
    experiment = choices["experiment"]
    kind = ISOLATION if choices["isolations"] else None
    with_parts = (choices["everything"] and not as_json) or experiment is not None
    query = SeriesQuery(text=" ".join(words), parts=with_parts)
    return [
        recording.recording_id
        for recording in notebook.find(query)
        if experiment in {None, recording.experiment} and kind in {None, recording.kind}
    ]


def _print_documents(notebook: Notebook, ids: Sequence[str]) -> None:
    """One at a time: all of a large notebook would take too much memory."""
    with console.writing_to_stdout():
        for part in _parts_of_array(notebook, ids):
            click.echo(layout.for_terminal(part), nl=False)


def _parts_of_array(notebook: Notebook, ids: Sequence[str]) -> Iterator[str]:
    separator = "[\n"
    for recording_id in ids:
        try:
            documents = _documents_of(notebook, recording_id)
        except (DamagedNotebookError, UsageError) as error:
            console.say(f"sharebench: {error}")
            continue

        for document in documents:
            yield separator + textwrap.indent(console.json_text(document), "  ")
            separator = ",\n"

    is_empty = separator.startswith("[")
    yield "[]\n" if is_empty else "\n]\n"


def _documents_of(notebook: Notebook, recording_id: str) -> list[Any]:
    documents: list[Any] = []
    for head in notebook.recordings_of([recording_id]):
        documents += kind_of(head).documents(notebook, head)
    return documents


def _text_of_none(words: Sequence[str], choices: Mapping[str, Any]) -> str:
    if words:
        phrase = " and ".join(map(repr, words))
        return f"no recording has {phrase} in its kind, label, target, note, setting or baseline name"
    if choices["experiment"] is not None:
        name = choices["experiment"]
        return f"no series belongs to an experiment {name!r}; `sharebench experiment list` shows what there is"
    if choices["isolations"]:
        return "no isolation yet; measure one with: sharebench isolate smb://HOST/SHARE"
    return "the notebook is empty; measure something with: sharebench run TARGET"
