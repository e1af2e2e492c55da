"""The list of the notebook: a window on any number of recordings, which asks for the lines that come into view.

A row is all that a query gives: the id of a recording, or a heading above a group of them (``list_rows``). A line is
what is shown of a recording, and is read only when its row is in view:

1. the screen calls ``show`` with the rows of a query;
2. the list posts ``Wanted`` with the ids whose lines it has not asked for;
3. the screen reads them in a thread and calls ``fill`` with the lines and the ``edition`` of the message.

``ask_again`` has lines read again that may have changed. It raises the edition, so that an answer to an older question
does not take the place of a newer one. Here and in the names of keys and classes "series" stands for a recording of any
kind.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events, geometry
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from app.tui.frame import commands
from app.tui.notebook import columns, list_rows
from forms import layout
from storage import queries

if TYPE_CHECKING:
    from forms.series.listing import RecordingLine


_AHEAD = 20
"""Rows around those in view whose lines are read as well."""
_MOST_LINES_KEPT = 5000


class SeriesList(ScrollView, commands.Commanded, can_focus=True, inherit_bindings=False):
    """The rows and their lines, below a heading that takes the first line of the widget.

    Textual calls ``render_line`` for each line that is to be drawn, and the methods ``on_…`` and ``watch_…``.
    """

    KEYS = commands.keys("list.up list.down list.open list.mark list.mark-shown list.invert")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"series-list--{part}" for part in ("heading", "cursor", "group", "marked", "waiting", *layout.Tone)
    }
    cursor: reactive[int] = reactive(0, repaint=False)
    """The row with the cursor, which is one of a recording where there is any; ``watch_cursor`` draws it anew."""

    @dataclass
    class Wanted(Message):
        """Lines are needed: ``ids`` of the series in view and around it, to be given to ``fill`` with ``edition``."""

        ids: list[str]
        edition: int

    class Pointed(Message):
        """The cursor is on another series, or on none."""

    @dataclass
    class Opened(Message):
        """A series is to be opened; empty where none is listed."""

        series_id: str

    class MarksChanged(Message):
        """Other series are marked than before."""

    @dataclass
    class HeadingClicked(Message):
        """The rows are to be sorted by this."""

        order: queries.SortKey

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self.listing = list_rows.ListRows()
        self.lines: dict[str, RecordingLine] = {}
        """Those that were read, by the id of the recording."""
        self.problems: dict[str, str] = {}
        """Why a recording cannot be read, by its id."""
        self.marked: dict[str, None] = {}
        """The ids that are marked, in the order in which they were."""

        self.edition = 0
        """Raised when lines have changed: what was asked for before that may be old when it comes."""
        self._editions: dict[str, int] = {}
        """In which edition each line was asked for that is shown."""
        self._asked_for: set[str] = set()
        """The ids whose lines were asked for, or are shown and still true: they are not asked for again."""

        self._columns: list[columns.PlacedColumn] = []
        self._told_pointed: str | None = None
        """The recording of the last ``Pointed``."""

    @property
    def rows(self) -> Sequence[queries.Found | list_rows.Group]:
        return self.listing.rows

    @property
    def pointed(self) -> str | None:
        row = self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None
        return row.recording_id if isinstance(row, queries.Found) else None

    # What is listed

    def show(self, listing: list_rows.ListRows) -> None:
        """List these rows; the cursor stays on its recording where that is still listed."""
        pointed_before = self.pointed
        self.listing = listing
        self._fit_columns()
        self._asked_for &= self.lines.keys()  # an answer that has not come is asked for again
        self.virtual_size = geometry.Size(self.size.width, len(self.rows) + 1)
        self.cursor = listing.places.get(pointed_before or "", listing.landing(self.cursor, 1))
        self._scroll_to_cursor()
        self._ask()
        self._tell_pointed()
        self.refresh()

    def fill(self, lines: "Iterable[RecordingLine]", edition: int, problems: Mapping[str, str] | None = None) -> None:
        """Take lines that were asked for, but none that is older than the one shown."""
        if len(self.lines) > _MOST_LINES_KEPT:
            self._forget_lines_out_of_view()

        for line in lines:
            if self._is_news(line.id, edition):
                self.lines[line.id] = line
                self.problems.pop(line.id, None)
        for series_id, problem in (problems or {}).items():
            if self._is_news(series_id, edition):
                self.problems[series_id] = problem
                self.lines.pop(series_id, None)
        self._fit_columns()
        self.refresh()

    def _forget_lines_out_of_view(self) -> None:
        """Memory is limited: whoever scrolls through very many has them read again.

        The editions stay, so that no older answer to come takes the place of what is read again.
        """
        ids_in_view = {row.recording_id for row in self._rows_around_view() if isinstance(row, queries.Found)}
        self.lines = {series_id: line for series_id, line in self.lines.items() if series_id in ids_in_view}
        self._asked_for &= ids_in_view

    def _is_news(self, series_id: str, edition: int) -> bool:
        """Whether an answer of that edition is not older than what is shown; it then counts as what is shown."""
        if self._editions.get(series_id, 0) > edition:
            return False
        self._editions[series_id] = edition
        return True

    def _fit_columns(self) -> None:
        lines = [self.lines[series_id] for series_id in self.listing.places if series_id in self.lines]
        self._columns = columns.fit_columns(self.size.width, lines, imported=self.listing.imported)

    def ask_again(self, *series_ids: str) -> None:
        """Read the lines of these anew, of all where none is named.

        What is shown stays until the answer comes, which may take long while another process writes.
        """
        self.edition += 1
        self._asked_for.difference_update(series_ids or [*self._asked_for])
        self._ask()

    def names(self, ids: Sequence[str], more: "Iterable[RecordingLine]" = ()) -> dict[str, str]:
        """What to call each of these in a sentence, by id; ``more``: lines that the list has not read yet."""
        lines = self.lines | {line.id: line for line in more}
        return list_rows.unique_names(ids, lines, self.listing)

    # Moving

    def point(self, series_id: str) -> None:
        """Put the cursor on this recording, where it is listed."""
        row = self.listing.places.get(series_id)
        if row is not None:
            self._go(row, 1)

    def action_move(self, by: int) -> None:
        self._go(self.cursor + by, by)

    def on_key(self, event: events.Key) -> None:
        page = max(1, self.size.height - 2)
        all_rows = len(self.rows)
        distances = {"pageup": -page, "pagedown": page, "home": -all_rows, "end": all_rows}
        distance = distances.get(event.key, 0)
        if distance:
            self.action_move(distance)

    def _go(self, row: int, direction: int) -> None:
        """Put the cursor on the row, or on the next one of a recording in that direction (1 is down)."""
        self.cursor = self.listing.landing(row, 1 if direction >= 0 else -1)
        self._scroll_to_cursor()
        self._tell_pointed()

    def _scroll_to_cursor(self) -> None:
        """Scroll so far that the cursor is in view, with the headings just above it."""
        top = self.scroll_offset.y
        first_row = self.cursor
        while first_row > 0 and not isinstance(self.rows[first_row - 1], queries.Found):
            first_row -= 1

        rows_in_view = max(1, self.size.height - 1)
        if first_row < top:
            self.scroll_to(y=first_row, animate=False, force=True)
        elif self.cursor >= top + rows_in_view:
            self.scroll_to(y=self.cursor - rows_in_view + 1, animate=False, force=True)
        self.refresh()

    def _tell_pointed(self) -> None:
        if self.pointed != self._told_pointed:
            self._told_pointed = self.pointed
            self.post_message(self.Pointed())

    def action_open(self) -> None:
        self.post_message(self.Opened(self.pointed or ""))

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            column = columns.column_at(self._columns, event.x)
            if column is not None:
                self.post_message(self.HeadingClicked(column.order))
            return

        row = self.scroll_offset.y + event.y - 1
        if row < len(self.rows):
            self._go(row, 1)
            if event.chain > 1:
                self.action_open()

    # Marking

    def action_mark(self) -> None:
        series_id = self.pointed
        if series_id is None:
            return
        self._turn_mark(series_id)
        self._marks_changed()

    def action_mark_shown(self) -> None:
        self.marked.update(dict.fromkeys(self.listing.places))
        self._marks_changed()

    def action_invert(self) -> None:
        for series_id in self.listing.places:
            self._turn_mark(series_id)
        self._marks_changed()

    def unmark(self, *series_ids: str) -> None:
        """Unmark these; all where none is named."""
        for series_id in series_ids or list(self.marked):
            self.marked.pop(series_id, None)
        self._marks_changed()

    def _turn_mark(self, series_id: str) -> None:
        if series_id in self.marked:
            del self.marked[series_id]
        else:
            self.marked[series_id] = None

    def _marks_changed(self) -> None:
        self.post_message(self.MarksChanged())
        self.refresh()

    # Asking for lines

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._ask()

    def on_resize(self) -> None:
        self._fit_columns()
        self.virtual_size = geometry.Size(self.size.width, len(self.rows) + 1)
        self._scroll_to_cursor()
        self._ask()

    def _ask(self) -> None:
        """Ask for the lines in view that were not asked for, and then for those around them too."""
        if not self._missing_ids(self._rows_around_view(0)):
            return

        ids = self._missing_ids(self._rows_around_view())
        self._asked_for.update(ids)
        self.post_message(self.Wanted(ids, self.edition))

    def _rows_around_view(self, ahead: int = _AHEAD) -> Sequence[queries.Found | list_rows.Group]:
        """The rows in view, and ``ahead`` above and below them."""
        top = self.scroll_offset.y
        return self.rows[max(0, top - ahead) : top + max(self.size.height, 1) + ahead]

    def _missing_ids(self, rows: Sequence[queries.Found | list_rows.Group]) -> list[str]:
        """Of these rows, the recordings whose lines were not asked for yet."""
        return [
            row.recording_id
            for row in rows
            if isinstance(row, queries.Found) and row.recording_id not in self._asked_for
        ]

    # Drawing

    def render_line(self, y: int) -> Strip:
        if y == 0:
            return self._draw_heading()

        index = self.scroll_offset.y + y - 1
        if index >= len(self.rows):
            return Strip.blank(self.size.width, self.rich_style)

        row = self.rows[index]
        if isinstance(row, queries.Found):
            return self._draw_series(row.recording_id, has_cursor=index == self.cursor)
        return self._draw_group(row)

    def _draw_heading(self) -> Strip:
        query = self.listing.query
        names = [placed.heading(query.order, descending=query.descending) for placed in self._columns]
        style = self.get_component_rich_style("series-list--heading")
        return self._draw_text(" " * columns.MARKS + " ".join(names), style)

    def _draw_group(self, group: list_rows.Group) -> Strip:
        name, count = group
        heading = layout.visible(name) if name is not None else "No experiment"
        plural = "s" if count != 1 else ""
        style = self.get_component_rich_style("series-list--group")
        return self._draw_text(f"─ {heading} ({count} recording{plural})", style)

    def _draw_series(self, series_id: str, *, has_cursor: bool) -> Strip:
        line = self.lines.get(series_id)
        style = self._style_of_row(series_id, has_cursor=has_cursor)
        marks = self._marks_of(series_id, has_cursor=has_cursor)
        if line is None:
            is_unreadable = series_id in self.problems
            return self._draw_text(f"{marks}! {series_id} cannot be read" if is_unreadable else f"{marks}…", style)

        segments = [Segment(marks, style)]
        for placed in self._columns:
            tone = layout.Tone.PLAIN if has_cursor else placed.column.tone(line)
            cell_style = style
            if tone is not layout.Tone.PLAIN:
                cell_style = style + self.get_component_rich_style(f"series-list--{tone}", partial=True)
            segments.append(Segment(placed.cell(placed.column.text(line)), cell_style))
            segments.append(Segment(" ", style))
        return Strip(segments).adjust_cell_length(self.size.width, style)

    def _style_of_row(self, series_id: str, *, has_cursor: bool) -> Style:
        if has_cursor:
            return self.get_component_rich_style("series-list--cursor")

        style = self.rich_style
        if series_id in self.marked:
            style += self.get_component_rich_style("series-list--marked", partial=True)
        if series_id in self.problems:
            style += self.get_component_rich_style(f"series-list--{layout.Tone.CAUTION}", partial=True)
        elif series_id not in self.lines:
            style += self.get_component_rich_style("series-list--waiting", partial=True)
        return style

    def _marks_of(self, series_id: str, *, has_cursor: bool) -> str:
        line = self.lines.get(series_id)
        cursor = ">" if has_cursor else " "
        mark = "*" if series_id in self.marked else " "
        baseline = "B" if line is not None and line.baselines else " "
        return f"{cursor}{mark}{baseline} "

    def _draw_text(self, text: str, style: Style) -> Strip:
        return Strip([Segment(text, style)]).adjust_cell_length(self.size.width, style)

    def watch_cursor(self, old: int, new: int) -> None:
        for row in (old, new):
            self.refresh(geometry.Region(0, row - self.scroll_offset.y + 1, self.size.width, 1))
