"""The table that ``list`` prints: its columns, how wide they are, and which texts are truncated on a terminal."""

import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from enum import IntEnum, auto

from app.cli import console
from forms import layout
from forms.layout import Tone
from forms.series.listing import RecordingLine


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
_LEAST_CELLS = {ListedColumn.ANSWER: 15, ListedColumn.WHAT: 12, ListedColumn.LABEL: 14}
"""By column that may be truncated, what is still of use: ``get 118.0 MB/s…``, and two words of a label."""
_GAP = "  "


def answer_table(lines: Sequence[RecordingLine], count: int) -> None:
    """Print the lines as a table; ``count`` recordings were found, of which these are listed."""
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


def _cells(line: RecordingLine) -> dict[ListedColumn, str]:
    sign_of_leftovers = "+" if line.left_behind else ""
    runs = f"{line.done}{sign_of_leftovers}"
    # Behind the label, which is what somebody typed to find it again.
    baseline = f" [{line.baseline_text}]" if line.baselines else ""
    label = f"{line.label}{baseline}".strip()
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

    # Cell by cell from the column that has most beyond what is still of use.
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
        shorten = layout.cut_inside if column == ListedColumn.WHAT else layout.cut_between_words
        cell = layout.pad(shorten(row[column], width), width, right=column == ListedColumn.RUNS)
        cells.append(console.toned(cell, tones.get(column, Tone.PLAIN)))
    return _GAP.join(cells).rstrip()
