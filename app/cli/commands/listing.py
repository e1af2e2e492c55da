"""``list``: the recordings of the notebook, a line each."""

import platform
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum, auto
from typing import Any

import click

from app.base.errors import NotebookError, UsageError
from app.cli import console, declare, notebooks
from app.recording.kind import kind_of
from app.recording.listing import readable_lines
from forms import layout
from forms.layout import Tone
from forms.series.listing import RecordingLine
from storage.errors import DamagedNotebookError
from storage.notebook import Notebook
from storage.queries import SeriesQuery
from storage.recordings import ISOLATION


class ListedColumn(IntEnum):
    """The columns in their order. Those of the screen: ``COLUMNS`` in ``app/tui/notebook/columns.py``."""

    ID = 0
    WHEN = auto()
    KIND = auto()
    RUNS = auto()
    ANSWER = auto()
    WHAT = auto()
    LABEL = auto()
    MACHINE = auto()


_HEADINGS = {
    ListedColumn.ID: "id",
    ListedColumn.WHEN: f"when ({layout.local_zones()})",
    ListedColumn.KIND: "kind",
    ListedColumn.RUNS: "runs",
    ListedColumn.ANSWER: "answer",
    ListedColumn.WHAT: "what",
    ListedColumn.LABEL: "label",
    ListedColumn.MACHINE: "measured on",
}
_LEAST_CELLS = {ListedColumn.ANSWER: 20, ListedColumn.WHAT: 12, ListedColumn.LABEL: 8}
"""By column that may be truncated, what is still of use."""
_GAP = "  "
SHOWN = 50


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
        _answer_lines(readable.lines, len(ids) - len(readable.problems))
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
        recording.series_id
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


def _answer_lines(lines: Sequence[RecordingLine], count: int) -> None:
    """``count`` recordings were found, of which these are listed."""
    rows = [_HEADINGS, *map(_cells, lines)]
    widths = _column_widths(rows)
    if all(line.machine in {"", platform.node()} for line in lines):
        widths.pop(ListedColumn.MACHINE, None)
    if sys.stdout.isatty():
        widths = fit_to(widths, shutil.get_terminal_size().columns)

    tones: list[dict[ListedColumn, Tone]] = [{}]
    tones += [{ListedColumn.RUNS: line.done_tone, ListedColumn.ANSWER: line.answer.tone} for line in lines]
    console.answer("\n".join(_padded_row(row, widths, tone) for row, tone in zip(rows, tones, strict=True)))
    if len(lines) < count:
        console.say(
            f"the newest {len(lines)} of {count} recordings; --all shows the rest, --limit N as many as you like"
        )


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


def _cells(line: RecordingLine) -> dict[ListedColumn, str]:
    sign_of_leftovers = "+" if line.left_behind else ""
    runs = f"{line.done}{sign_of_leftovers}"
    baseline = f"[{line.baseline_text}] " if line.baselines else ""
    label = f"{baseline}{line.label}".strip()
    return {
        ListedColumn.ID: line.id,
        ListedColumn.WHEN: line.when,
        ListedColumn.KIND: line.kind,
        ListedColumn.RUNS: runs,
        ListedColumn.ANSWER: line.answer.text,
        ListedColumn.WHAT: line.what,
        ListedColumn.LABEL: label,
        ListedColumn.MACHINE: line.machine,
    }


def _column_widths(rows: Sequence[Mapping[ListedColumn, str]]) -> dict[ListedColumn, int]:
    """Of the columns that have something in them; the answer's stays."""
    widths: dict[ListedColumn, int] = {}
    for column in ListedColumn:
        is_filled = any(row[column] for row in rows[1:])
        if is_filled or column == ListedColumn.ANSWER:
            widths[column] = max(layout.width(row[column]) for row in rows)
    return widths


def fit_to(widths: Mapping[ListedColumn, int], room: int) -> dict[ListedColumn, int]:
    """Columns and widths for a line of ``room`` cells; the longest texts are truncated."""
    fitted = dict(widths)
    if _line_width(fitted) > room:
        fitted.pop(ListedColumn.MACHINE, None)

    narrowest = dict(fitted)
    for column, least in _LEAST_CELLS.items():
        if column in narrowest:
            narrowest[column] = min(narrowest[column], least)
    if _line_width(narrowest) > room:
        fitted.pop(ListedColumn.WHAT, None)

    while _line_width(fitted) > room:
        longest = max(
            (column for column in _LEAST_CELLS if column in fitted),
            key=lambda column: fitted[column] - _LEAST_CELLS[column],
        )
        if fitted[longest] <= 1:
            break
        fitted[longest] -= 1
    return fitted


def _line_width(widths: Mapping[ListedColumn, int]) -> int:
    return sum(widths.values()) + len(_GAP) * (len(widths) - 1)


def _padded_row(
    row: Mapping[ListedColumn, str], widths: Mapping[ListedColumn, int], tones: Mapping[ListedColumn, Tone]
) -> str:
    cells = []
    for column, width in widths.items():
        # What a path is of stands at its end.
        shorten = layout.cut_inside if column == ListedColumn.WHAT else layout.cut
        cell = layout.pad(shorten(row[column], width), width, right=column == ListedColumn.RUNS)
        cells.append(console.toned(cell, tones.get(column, Tone.PLAIN)))
    return _GAP.join(cells).rstrip()
