"""The rows and columns of the notebook's list: what stands in each, and which columns fit a width."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size

from forms import layout
from forms.layout import Tone
from storage.queries import Found, SeriesQuery, SortKey

if TYPE_CHECKING:
    from forms.series.listing import RecordingLine


Group = tuple[str | None, int]
"""An experiment and how many of its series are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRows:
    """What was found, row by row."""

    query: SeriesQuery = field(default_factory=SeriesQuery)
    rows: Sequence[Found | Group] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    unused: frozenset[SortKey] = frozenset()

    def landing(self, row: int, direction: int) -> int:
        last = len(self.rows) - 1
        row = max(0, min(row, last))
        for step in (direction, -direction):
            at = row
            while 0 <= at <= last:
                if isinstance(self.rows[at], Found):
                    return at
                at += step
        return 0

    def series_at(self, row: int) -> str | None:
        found = self.rows[row] if 0 <= row < len(self.rows) else None
        return found.series_id if isinstance(found, Found) else None


def listing(found: Sequence[Found], query: SeriesQuery, *, baselines: bool = True, imported: bool = False) -> ListRows:
    """The rows for what was found; ``baselines``: whether any is one; ``imported``: whether any was imported."""
    rows = list(_with_headings(found)) if query.grouped else list(found)
    places = {row.series_id: index for index, row in enumerate(rows) if isinstance(row, Found)}
    unused = set() if baselines else {SortKey.BASELINE}
    if not imported:
        unused.add(SortKey.MACHINE)
    if all(one.experiment is None for one in found):
        unused.add(SortKey.EXPERIMENT)
    return ListRows(query=query, rows=rows, places=places, unused=frozenset(unused))


def _with_headings(found: Sequence[Found]) -> Iterator[Found | Group]:
    for experiment, members in groupby(found, key=lambda f: f.experiment):
        inside = list(members)
        yield experiment, len(inside)
        yield from inside


MARKS = 4
"""Cells before the first column: where the cursor is, what is marked, what is a baseline."""


class ListColumn(NamedTuple):
    """One column of the list; a tuple, since the first paint waits until it is made."""

    order: SortKey
    """What a click on its heading sorts by."""
    heading: str
    text: "Callable[[RecordingLine], str]"
    width: int
    rank: int
    """Columns of a higher rank are left out first where the width is short."""
    grows: int = 0
    """Its share of the cells that are left, 0 for a column of fixed width."""
    right: bool = False
    cut_inside: bool = False
    tone: "Callable[[RecordingLine], Tone]" = lambda _line: Tone.PLAIN


def _faint(_line: "RecordingLine") -> Tone:
    return Tone.FAINT


def _answer(line: "RecordingLine") -> str:
    return line.answer.text if line.done.isdecimal() else f"{line.done} {line.answer.text}".strip()


COLUMNS = (
    ListColumn(SortKey.WHEN, f"When ({layout.local_zones()})", lambda s: s.when, 16, 3, tone=_faint),
    ListColumn(SortKey.KIND, "Kind", lambda s: s.kind, 9, 2),
    ListColumn(
        SortKey.LABEL, "Label", lambda s: s.label or s.what.removeprefix(f"{s.kind} "), 19, 1, grows=2, cut_inside=True
    ),
    ListColumn(SortKey.AVERAGE, "Answer", _answer, 24, 0, grows=4, tone=lambda s: s.answer.tone),
    ListColumn(SortKey.TARGET, "Target", lambda s: s.what, 17, 7, grows=2, cut_inside=True),
    ListColumn(SortKey.RUNS, "Runs", lambda s: s.done, 5, 4, right=True, tone=lambda s: s.done_tone),
    ListColumn(SortKey.BASELINE, "Baseline", lambda s: s.baseline_text, 10, 5, grows=1),
    ListColumn(SortKey.EXPERIMENT, "Experiment", lambda s: s.experiment, 11, 6, grows=1, tone=_faint),
    ListColumn(SortKey.MACHINE, "Measured on", lambda s: s.machine, 11, 5, grows=1, tone=_faint),
)


class PlacedColumn(NamedTuple):
    """A column and the cells that it has now."""

    column: ListColumn
    width: int

    def cell(self, text: str) -> str:
        if self.column.cut_inside:
            text = layout.cut_inside(text, self.width)
        length = cell_len(text)
        if length > self.width:
            return set_cell_size(set_cell_size(text, self.width - 1).rstrip() + "…", self.width)
        space = " " * (self.width - length)
        return space + text if self.column.right else text + space

    def heading(self, order: SortKey, *, descending: bool) -> str:
        arrow = ("▼" if descending else "▲") if order is self.column.order else ""
        return self.cell(self.column.heading[: self.width - len(arrow)] + arrow)


def fitted(width: int, unused: Collection[SortKey] = ()) -> list[PlacedColumn]:
    """The columns that fit ``width`` cells with a space between them, none of ``unused``; some share what is left."""
    chosen: list[ListColumn] = []
    left = width - MARKS
    for column in sorted((c for c in COLUMNS if c.order not in unused), key=lambda c: c.rank):
        if not chosen or column.width + 1 <= left:
            chosen.append(column)
            left -= column.width + 1
    left = max(left, 0)
    shares = sum(column.grows for column in chosen) or 1
    has_target = any(column.order is SortKey.TARGET for column in chosen)
    return [
        PlacedColumn(
            column._replace(text=lambda s: s.label) if has_target and column.order is SortKey.LABEL else column,
            column.width + left * column.grows // shares,
        )
        for column in COLUMNS
        if column in chosen
    ]


def column_at(columns: list[PlacedColumn], x: int) -> ListColumn | None:
    """The column under a cell of the list."""
    for start, placed in _starts(columns):
        if start <= x < start + placed.width + 1:
            return placed.column
    return None


def _starts(columns: list[PlacedColumn]) -> Iterator[tuple[int, PlacedColumn]]:
    start = MARKS
    for placed in columns:
        yield start, placed
        start += placed.width + 1
