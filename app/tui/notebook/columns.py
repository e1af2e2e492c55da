"""The columns of the notebook's list: what each says, and how the width of the terminal is shared among them.

``fit_columns`` does that in three steps. It chooses the columns that have room, the most important (lowest ``rank``)
first. Where a column stands beside another that says the same, its text becomes shorter. Then the cells that are left
go one by one to the columns whose texts are still cut.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size

from forms import layout
from storage.queries import SortKey

if TYPE_CHECKING:
    from forms.series.listing import RecordingLine

MARKS = 4
"""Cells before the columns: cursor, mark, baseline, and a gap."""


def _plain(_line: "RecordingLine") -> layout.Tone:
    return layout.Tone.PLAIN


def _faint(_line: "RecordingLine") -> layout.Tone:
    return layout.Tone.FAINT


def _tone_of_answer(line: "RecordingLine") -> layout.Tone:
    return line.answer.tone


def _tone_of_runs(line: "RecordingLine") -> layout.Tone:
    return line.done_tone


def _when_text(line: "RecordingLine") -> str:
    return line.when


def _kind_text(line: "RecordingLine") -> str:
    return line.kind


def _name_text(line: "RecordingLine") -> str:
    return line.name


def _name_or_baseline_text(line: "RecordingLine") -> str:
    """What tells series of one file apart: a baseline without a label is called by its name, with what it measured."""
    if line.label or not line.baselines:
        return line.name
    return f"{line.baseline_text} · {line.name}"


def _label_text(line: "RecordingLine") -> str:
    return line.label


def _answer_text(line: "RecordingLine") -> str:
    return line.answer.text


def _answer_and_state_text(line: "RecordingLine") -> str:
    """A series' with the state that no column of runs tells; any other answer begins with its own sign."""
    return f"{line.state} {line.answer.text}" if line.state else line.answer.text


def _target_text(line: "RecordingLine") -> str:
    return line.what


def _runs_text(line: "RecordingLine") -> str:
    return line.done


def _baseline_text(line: "RecordingLine") -> str:
    return line.baseline_text


def _experiment_text(line: "RecordingLine") -> str:
    return line.experiment


def _machine_text(line: "RecordingLine") -> str:
    return line.machine


class ListColumn(NamedTuple):
    """One column of the list; a tuple, since the first paint waits until it is made."""

    order: SortKey
    heading: str
    text: "Callable[[RecordingLine], str]"
    width: int
    """The most that it takes where another column is still to have its place."""
    rank: int
    """Columns of a higher rank are left out first where the width is short."""
    grows: int = 0
    """Its share of the cells that are left, 0 for a column of fixed width."""
    uncut: int = 0
    """The most that it takes before a column that can be done without."""
    right: bool = False
    """Whether its texts stand at the right."""
    cut_inside: bool = False
    """Whether a text that is too long loses its middle, and not its end."""
    tone: "Callable[[RecordingLine], layout.Tone]" = _plain

    def needed(self, lines: "Sequence[RecordingLine]") -> int:
        """The cells of the longest text of these lines and of the heading with its arrow; 0 where all are empty."""
        if not lines:
            return self.width
        longest = max(cell_len(self.text(line)) for line in lines)
        return max(longest, cell_len(self.heading) + 1) if longest else 0


# Those of ``sharebench list``: ``ListedColumn`` in app/cli/recording_table.py. Both show values of a RecordingLine.
COLUMNS = (
    ListColumn(SortKey.WHEN, f"When ({layout.local_zones()})", _when_text, 16, 3, tone=_faint),
    ListColumn(SortKey.KIND, "Kind", _kind_text, 9, 2),
    ListColumn(SortKey.LABEL, "Label", _name_or_baseline_text, 16, 1, grows=2, uncut=20, cut_inside=True),
    ListColumn(SortKey.AVERAGE, "Answer", _answer_and_state_text, 24, 0, grows=4, uncut=66, tone=_tone_of_answer),
    ListColumn(SortKey.TARGET, "Target", _target_text, 17, 7, grows=2, uncut=26, cut_inside=True),
    ListColumn(SortKey.RUNS, "Runs", _runs_text, 6, 4, right=True, tone=_tone_of_runs),
    ListColumn(SortKey.BASELINE, "Baseline", _baseline_text, 10, 5, grows=1, uncut=24),
    ListColumn(SortKey.EXPERIMENT, "Experiment", _experiment_text, 11, 6, grows=1, tone=_faint),
    ListColumn(SortKey.MACHINE, "Measured on", _machine_text, 11, 5, grows=1, tone=_faint),
)

_TEXTS_BESIDE: "tuple[tuple[SortKey, SortKey, Callable[[RecordingLine], str]], ...]" = (
    (SortKey.LABEL, SortKey.BASELINE, _name_text),
    (SortKey.LABEL, SortKey.TARGET, _label_text),
    (SortKey.AVERAGE, SortKey.RUNS, _answer_text),
)
"""A column, another one beside it that tells the rest, and what the first then says; the last of these holds."""

_NAME_BEFORE_TARGET = 44
"""Cells that a name takes before a target, and before an answer that has its ``uncut``."""
_GROW_LAST = (SortKey.TARGET, SortKey.AVERAGE)
_LAST_KEPT = 3
"""The rank up to which columns are there before the answer is shown whole."""
_WITH_YEARS_FROM = 100
"""Columns from which a date has its year in each line, and a baseline claims room for its name."""


class PlacedColumn(NamedTuple):
    """A column in a list of some width, with the cells that it has there."""

    column: ListColumn
    width: int

    def cell(self, text: str, *, least: float = 2 / 3) -> str:
        """Cut at the end of a clause, if that leaves ``least`` of the width filled."""
        if self.column.cut_inside:
            text = layout.cut_inside(text, self.width)

        length = cell_len(text)
        if length > self.width:
            return self._cut_at_clause(text, least=least)
        space = " " * (self.width - length)
        return space + text if self.column.right else text + space

    def _cut_at_clause(self, text: str, *, least: float) -> str:
        start = set_cell_size(text, self.width + 1)
        end_of_clause = max(start.rfind("; "), start.rfind(", "))
        if end_of_clause > least * self.width:
            text = text[:end_of_clause]
        else:
            text = set_cell_size(text, self.width - 1).rstrip()
        return set_cell_size(f"{text}…", self.width)

    def used_width(self, lines: "Sequence[RecordingLine]") -> int:
        """The width that shows as much of these lines: a text that is cut at a clause leaves cells empty."""
        if self.column.right or not lines:
            return self.width

        texts = [self.cell(self.column.text(line), least=1 / 3).rstrip() for line in lines]
        longest = max(cell_len(text) for text in texts)
        return min(self.width, max(longest, cell_len(self.column.heading) + 1))

    def heading(self, order: SortKey, *, descending: bool) -> str:
        arrow = ""
        if order is self.column.order:
            arrow = "▼" if descending else "▲"
        return self.cell(self.column.heading[: self.width - len(arrow)] + arrow)


def fit_columns(width: int, lines: "Sequence[RecordingLine]" = (), *, imported: bool = False) -> list[PlacedColumn]:
    """The columns that fit ``width`` cells; the room of one without a text goes to what is cut in most lines."""
    fitting = _Fitting(width, lines)
    fitting.choose_columns(with_machine=imported)
    fitting.say_less_beside_others()
    fitting.grow_what_is_cut()
    return fitting.placed_columns()


class _Fitting:
    """The columns that were chosen for a width, and the cells of each; the steps are taken in their order here."""

    def __init__(self, width: int, lines: "Sequence[RecordingLine]") -> None:
        self.lines = lines
        self.is_wide = width >= _WITH_YEARS_FROM
        self.room = width - MARKS + 1
        self.columns = COLUMNS if self.is_wide else _columns_with_short_dates(lines)
        self.chosen: dict[SortKey, ListColumn] = {}
        self.widths: dict[SortKey, int] = {}
        self.left = 0
        """Cells that no column has yet."""

    def choose_columns(self, *, with_machine: bool) -> None:
        for column in sorted(self.columns, key=_rank):
            needed = min(column.needed(self.lines), column.width)
            room = self._room_for(column)
            has_room = not self.chosen or needed <= room
            is_wanted = with_machine or column.order is not SortKey.MACHINE
            if not needed or not is_wanted or not has_room:
                continue

            self.chosen[column.order] = column
            self.widths[column.order] = needed
            if column.rank > _LAST_KEPT and self.is_wide:
                uncut = min(column.needed(self.lines), column.uncut, room)
                self.widths[column.order] = max(needed, uncut)

    def _room_for(self, column: ListColumn) -> int:
        """The cells that those chosen before leave; to one that can be done without, only what they leave uncut."""
        room = self.room - sum(self.widths.values()) - len(self.widths) - 1
        if column.rank > _LAST_KEPT:
            for earlier in self.chosen.values():
                uncut = min(earlier.needed(self.lines), earlier.uncut)
                room -= max(0, uncut - self.widths[earlier.order])
        return room

    def say_less_beside_others(self) -> None:
        for order, other, text in _TEXTS_BESIDE:
            if other in self.chosen and order in self.chosen:
                self.chosen[order] = self.chosen[order]._replace(text=text)
                self.widths[order] = min(self.widths[order], self.chosen[order].needed(self.lines))

        self.chosen = {
            column.order: self.chosen[column.order] for column in self.columns if self.widths.get(column.order)
        }
        self.left = max(0, self.room - sum(self.widths.values()) - len(self.chosen))

    def grow_what_is_cut(self) -> None:
        """Give the cells that are left one after the other to the column that needs it most.

        A text that is cut at the end of a clause leaves cells empty, which its column gives back. They go to the other
        columns in a second round, as the answer could do nothing with them.
        """
        ranked = sorted(self.chosen.values(), key=_rank)
        lengths = {column.order: self._sorted_lengths(column) for column in ranked}
        used_widths: dict[SortKey, int] = {}

        all_but_answer = [column for column in ranked if column.order is not SortKey.AVERAGE]
        for growing in (ranked, all_but_answer):
            while self.left > 0:
                cut = [column for column in growing if self._is_cut(column, lengths[column.order])]
                if not cut:
                    break
                keys = {column.order: self._need_to_grow(column, lengths[column.order]) for column in cut}
                neediest = max(keys, key=keys.__getitem__)
                self.widths[neediest] += 1
                self.left -= 1

            for column in ranked:
                width = self.widths[column.order]
                if used_widths.get(column.order) != width:
                    used_widths[column.order] = PlacedColumn(column, width).used_width(self.lines)
                    self.left += width - used_widths[column.order]
                    self.widths[column.order] = used_widths[column.order]

    def _sorted_lengths(self, column: ListColumn) -> list[int]:
        return sorted(cell_len(column.text(line)) for line in self.lines)

    def _is_cut(self, column: ListColumn, lengths: Sequence[int]) -> bool:
        return bool(lengths) and lengths[-1] > self.widths[column.order]

    def _need_to_grow(self, column: ListColumn, lengths: Sequence[int]) -> tuple[bool, int, bool, int, SortKey]:
        """A key: the column of the greatest grows. What is below its least width comes before all others, then what is
        cut in most lines; of equal ones the target comes last, and the narrowest first.
        """
        width = self.widths[column.order]
        least_width = column.uncut if column.order in _GROW_LAST else _NAME_BEFORE_TARGET
        is_below_least = width < least_width
        cut_lines = len(lengths) - bisect_right(lengths, width)
        is_not_target = column.order is not SortKey.TARGET
        return is_below_least, cut_lines, is_not_target, -width, column.order

    def placed_columns(self) -> list[PlacedColumn]:
        """With the cells that nothing needs shared among the columns that grow."""
        shares = sum(column.grows for column in self.chosen.values()) or 1
        return [
            PlacedColumn(column, self.widths[column.order] + self.left * column.grows // shares)
            for column in self.chosen.values()
        ]


def _rank(column: ListColumn) -> int:
    return column.rank


def _columns_with_short_dates(lines: "Sequence[RecordingLine]") -> tuple[ListColumn, ...]:
    newest_year = max((line.when[:4] for line in lines), default="")

    def short_date(line: "RecordingLine") -> str:
        return _short_date(line.when, newest_year)

    when, *others = COLUMNS
    return (when._replace(text=short_date), *others)


def _short_date(when: str, year: str) -> str:
    """``31 Jan 10:00``, in another year ``31 Jan 2025``; what is no moment, in a damaged notebook, as it is."""
    try:
        day = f"{date.fromisoformat(when[:10]):%e %b}"
    except ValueError:
        return when
    time_or_year = when[11:] if when.startswith(year) else when[:4]
    return f"{day} {time_or_year}"


def text_to_search(line: "RecordingLine") -> str:
    """All that a line may show."""
    return "\n".join([_short_date(line.when, line.when[:4]), *(column.text(line) for column in COLUMNS)])


def column_at(columns: Sequence[PlacedColumn], x: int) -> ListColumn | None:
    if x < MARKS:
        return None

    end = MARKS
    for placed in columns:
        end += placed.width + 1
        if x < end:
            return placed.column
    return None
