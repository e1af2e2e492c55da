"""The list of series: a window on any number of them, which asks for the lines that come into view."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from app.tui.frame.commands import Commanded, keys
from forms import layout
from forms.layout import Tone, visible
from storage.queries import Found, SeriesQuery, SortKey

if TYPE_CHECKING:
    from forms.series.listing import RecordingLine

Group = tuple[str | None, int]
"""An experiment and how many of its series are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRows:
    query: SeriesQuery = field(default_factory=SeriesQuery)
    rows: Sequence[Found | Group] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    imported: bool = False

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


def listing(found: Sequence[Found], query: SeriesQuery, *, imported: bool = False) -> ListRows:
    """The rows for what was found; ``imported``: whether the notebook has anything from elsewhere."""
    rows = list(_with_headings(found)) if query.grouped else list(found)
    places = {row.series_id: index for index, row in enumerate(rows) if isinstance(row, Found)}
    return ListRows(query=query, rows=rows, places=places, imported=imported)


def _with_headings(found: Sequence[Found]) -> Iterator[Found | Group]:
    for experiment, members in groupby(found, key=lambda f: f.experiment):
        inside = list(members)
        yield experiment, len(inside)
        yield from inside


MARKS = 4


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
    cut_inside: bool = False
    tone: "Callable[[RecordingLine], Tone]" = lambda _line: Tone.PLAIN

    def needed(self, lines: "Sequence[RecordingLine]") -> int:
        """The cells of the longest text of these lines and of the heading with its arrow; 0 where all are empty."""
        if not lines:
            return self.width
        longest = max(cell_len(self.text(line)) for line in lines)
        return max(longest, cell_len(self.heading) + 1) if longest else 0


def _faint(_line: "RecordingLine") -> Tone:
    return Tone.FAINT


def _answer(line: "RecordingLine") -> str:
    """A series' with the state that no column of runs tells; any other answer begins with its own sign."""
    return line.answer.text if line.kind != "series" or line.done.isdecimal() else f"{line.done} {line.answer.text}"


_BESIDE: "Mapping[SortKey, tuple[SortKey, Callable[[RecordingLine], str]]]" = {
    SortKey.LABEL: (SortKey.TARGET, lambda s: s.label),
    SortKey.AVERAGE: (SortKey.RUNS, lambda s: s.answer.text),
}
"""What a column says beside another one, which tells the rest."""


_NAME = 44
"""Cells that a name takes before a target, and before an answer that has its ``uncut``."""
COLUMNS = (
    ListColumn(SortKey.WHEN, f"When ({layout.local_zones()})", lambda s: s.when, 16, 3, tone=_faint),
    ListColumn(SortKey.KIND, "Kind", lambda s: s.kind, 9, 2),
    ListColumn(SortKey.LABEL, "Label", lambda s: s.name, 16, 1, grows=2, uncut=20, cut_inside=True),
    ListColumn(SortKey.AVERAGE, "Answer", _answer, 24, 0, grows=4, uncut=66, tone=lambda s: s.answer.tone),
    ListColumn(SortKey.TARGET, "Target", lambda s: s.what, 17, 7, grows=2, uncut=26, cut_inside=True),
    ListColumn(SortKey.RUNS, "Runs", lambda s: s.done, 6, 4, right=True, tone=lambda s: s.done_tone),
    ListColumn(SortKey.BASELINE, "Baseline", lambda s: s.baseline_text, 10, 5, grows=1, uncut=24),
    ListColumn(SortKey.EXPERIMENT, "Experiment", lambda s: s.experiment, 11, 6, grows=1, tone=_faint),
    ListColumn(SortKey.MACHINE, "Measured on", lambda s: s.machine, 11, 5, grows=1, tone=_faint),
)


_GROW_LAST = (SortKey.TARGET, SortKey.AVERAGE)
_LAST_KEPT = 3
"""The rank up to which columns are there before the answer is shown whole."""
_WITH_YEARS_FROM = 100
"""Columns from which a date has its year in each line, and a baseline claims room for its name."""


class PlacedColumn(NamedTuple):
    column: ListColumn
    width: int

    def cell(self, text: str, *, least: float = 2 / 3) -> str:
        """Cut at the end of a clause, if that leaves ``least`` of the width filled."""
        if self.column.cut_inside:
            text = layout.cut_inside(text, self.width)
        length = cell_len(text)
        if length > self.width:
            clause = max(set_cell_size(text, self.width + 1).rfind(end) for end in ("; ", ", "))
            text = text[:clause] if clause > least * self.width else set_cell_size(text, self.width - 1).rstrip()
            return set_cell_size(f"{text}…", self.width)
        space = " " * (self.width - length)
        return space + text if self.column.right else text + space

    def used(self, lines: "Sequence[RecordingLine]") -> int:
        """The width that shows as much of these lines: a text that is cut at a clause leaves cells empty."""
        texts = (self.cell(self.column.text(line), least=1 / 3).rstrip() for line in lines)
        room = [cell_len(text) for text in texts] or [self.width]
        return self.width if self.column.right else min(self.width, max(*room, cell_len(self.column.heading) + 1))

    def heading(self, order: SortKey, *, descending: bool) -> str:
        arrow = ("▼" if descending else "▲") if order is self.column.order else ""
        return self.cell(self.column.heading[: self.width - len(arrow)] + arrow)


def fitted(width: int, lines: "Sequence[RecordingLine]" = (), *, imported: bool = False) -> list[PlacedColumn]:
    """The columns that fit ``width`` cells; the room of one without a text goes to what is cut in most lines."""
    newest = max((line.when[:4] for line in lines), default="")
    short = COLUMNS[0]._replace(text=lambda line: _short_date(line.when, newest))
    columns = (short, *COLUMNS[1:]) if width < _WITH_YEARS_FROM else COLUMNS
    whole = width - MARKS + 1
    chosen: dict[SortKey, ListColumn] = {}
    widths: dict[SortKey, int] = {}
    for column in sorted(columns, key=lambda c: c.rank):
        needed = min(column.needed(lines), column.width)
        taken = sum(widths.values()) + len(widths)
        if column.rank > _LAST_KEPT:
            taken += sum(max(0, min(each.needed(lines), each.uncut) - widths[each.order]) for each in chosen.values())
        room = whole - taken - 1
        if needed and (imported or column.order is not SortKey.MACHINE) and (not chosen or needed <= room):
            chosen[column.order], widths[column.order] = column, needed
            if column.rank > _LAST_KEPT and width >= _WITH_YEARS_FROM:
                widths[column.order] = max(needed, min(column.needed(lines), column.uncut, room))
    for order, (other, text) in _BESIDE.items():
        if other in chosen and order in chosen:
            chosen[order] = chosen[order]._replace(text=text)
            widths[order] = min(widths[order], chosen[order].needed(lines))
    chosen = {each.order: chosen[each.order] for each in columns if widths.get(each.order)}
    left = max(0, whole - sum(widths.values()) - len(chosen))
    ranked = sorted(chosen.values(), key=lambda c: c.rank)
    used: dict[SortKey, int] = {}
    lengths = {one.order: sorted(cell_len(one.text(line)) for line in lines) for one in ranked}
    for growing in (ranked, [one for one in ranked if one.order is not SortKey.AVERAGE]):
        while left > 0 and (cut := [c for c in growing if lengths[c.order][-1:] > [widths[c.order]]]):
            grown = max(
                cut,
                key=lambda c: (
                    widths[c.order] < (c.uncut if c.order in _GROW_LAST else _NAME),
                    len(lengths[c.order]) - bisect_right(lengths[c.order], widths[c.order]),  # how many are longer
                    c.order is not SortKey.TARGET,
                    -widths[c.order],
                    c.order,
                ),
            )
            widths[grown.order], left = widths[grown.order] + 1, left - 1
        for column in (one for one in ranked if used.get(one.order) != widths[one.order]):
            used[column.order] = PlacedColumn(column, widths[column.order]).used(lines)
            left += widths[column.order] - used[column.order]
            widths[column.order] = used[column.order]
    shares = sum(column.grows for column in chosen.values()) or 1
    return [PlacedColumn(one, widths[one.order] + left * one.grows // shares) for one in chosen.values()]


def _short_date(when: str, year: str) -> str:
    """``31 Jan 10:00``, in another year ``31 Jan 2025``; what is no moment, in a damaged notebook, as it is."""
    try:
        day = f"{date.fromisoformat(when[:10]):%e %b}"
    except ValueError:
        return when
    return f"{day} {when[11:] if when.startswith(year) else when[:4]}"


def shown_of(line: "RecordingLine") -> str:
    return "\n".join([_short_date(line.when, line.when[:4]), *(column.text(line) for column in COLUMNS)])


def column_at(columns: list[PlacedColumn], x: int) -> ListColumn | None:
    end = MARKS
    for placed in columns if x >= MARKS else ():
        end += placed.width + 1
        if x < end:
            return placed.column
    return None


_AHEAD = 20
_KEPT = 5000


class SeriesList(ScrollView, Commanded, can_focus=True, inherit_bindings=False):
    KEYS = keys("list.up list.down list.open list.mark list.mark-shown list.invert")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"series-list--{part}" for part in ("heading", "cursor", "group", "marked", "waiting", *Tone)
    }
    cursor: reactive[int] = reactive(0, repaint=False)

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
        order: SortKey

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self.listing = ListRows()
        self.lines: dict[str, RecordingLine] = {}
        self.marked: dict[str, None] = {}
        self.edition = 0
        """Raised when lines have changed: what was asked for before that may be old when it comes."""
        self._editions: dict[str, int] = {}
        self._asked: set[str] = set()
        self._columns: list[PlacedColumn] = []
        self._pointed: str | None = None

    def show(self, listing: ListRows) -> None:
        before = self.pointed
        self.listing = listing
        self._fit()
        self._asked &= self.lines.keys()
        self.virtual_size = Size(self.size.width, len(self.rows) + 1)
        self.cursor = listing.places.get(before or "", listing.landing(self.cursor, 1))
        self._follow()
        self._ask()
        self._tell()
        self.refresh()

    def point(self, series_id: str) -> None:
        if (row := self.listing.places.get(series_id)) is not None:
            self._go(row, 1)

    def fill(self, lines: "Iterable[RecordingLine]", edition: int) -> None:
        """Take lines that were asked for, but none that is older than the one shown."""
        if len(self.lines) > _KEPT:
            self.lines.clear()
            self._editions.clear()
            self._asked.clear()
        for line in lines:
            if self._editions.get(line.id, 0) <= edition:
                self.lines[line.id], self._editions[line.id] = line, edition
        self._fit()
        self.refresh()

    def _fit(self) -> None:
        known = [self.lines[each] for each in self.listing.places if each in self.lines]
        self._columns = fitted(self.size.width, known, imported=self.listing.imported)

    def ask_again(self, *series_ids: str) -> None:
        """What is shown stays until the answer comes, which may take long while another process writes."""
        self.edition += 1
        self._asked.difference_update(series_ids or [*self._asked])
        self._ask()

    @property
    def pointed(self) -> str | None:
        found = self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None
        return found.series_id if isinstance(found, Found) else None

    def names(self, ids: Sequence[str], more: "Iterable[RecordingLine]" = ()) -> dict[str, str]:
        """Kind (but of series), name and time of each as in the list, and the id where another has the same, by id."""
        known = self.lines | {line.id: line for line in more}

        def named(series_id: str) -> str:
            line = known.get(series_id)
            kind = f"{line.kind} " if line and line.kind != "series" else ""
            return f"{kind}{line.name} ({line.when})" if line else series_id

        alike = Counter(map(named, known.keys() & {*self.listing.places, *ids}))
        return {one: named(one) + (f" ({one})" if alike[named(one)] > 1 else "") for one in ids}

    @property
    def rows(self) -> Sequence[Found | Group]:
        return self.listing.rows

    # Moving

    def action_move(self, by: int) -> None:
        self._go(self.cursor + by, by)

    def on_key(self, event: events.Key) -> None:
        page, all_rows = max(1, self.size.height - 2), len(self.rows)
        if by := {"pageup": -page, "pagedown": page, "home": -all_rows, "end": all_rows}.get(event.key):
            self.action_move(by)

    def action_open(self) -> None:
        self.post_message(self.Opened(self.pointed or ""))

    def action_mark(self) -> None:
        series_id = self.pointed
        if series_id is None:
            return
        self._turn(series_id)
        self.action_move(1)
        self._marks_changed()

    def action_mark_shown(self) -> None:
        self.marked.update(dict.fromkeys(self.listing.places))
        self._marks_changed()

    def action_invert(self) -> None:
        for series_id in self.listing.places:
            self._turn(series_id)
        self._marks_changed()

    def unmark(self, *series_ids: str) -> None:
        for series_id in series_ids or list(self.marked):
            self.marked.pop(series_id, None)
        self._marks_changed()

    def _turn(self, series_id: str) -> None:
        if series_id in self.marked:
            del self.marked[series_id]
        else:
            self.marked[series_id] = None

    def _marks_changed(self) -> None:
        self.post_message(self.MarksChanged())
        self.refresh()

    def _go(self, row: int, direction: int) -> None:
        self.cursor = self.listing.landing(row, 1 if direction >= 0 else -1)
        self._follow()
        self._tell()

    def _follow(self) -> None:
        top = self.scroll_offset.y
        above = self.cursor
        while above > 0 and not isinstance(self.rows[above - 1], Found):
            above -= 1
        shown = max(1, self.size.height - 1)
        if above < top:
            self.scroll_to(y=above, animate=False, force=True)
        elif self.cursor >= top + shown:
            self.scroll_to(y=self.cursor - shown + 1, animate=False, force=True)
        self.refresh()

    def _tell(self) -> None:
        if self.pointed != self._pointed:
            self._pointed = self.pointed
            self.post_message(self.Pointed())

    # What is in view

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._ask()

    def on_resize(self) -> None:
        self._fit()
        self.virtual_size = Size(self.size.width, len(self.rows) + 1)
        self._follow()
        self._ask()

    def _ask(self) -> None:
        top = self.scroll_offset.y
        height = max(self.size.height, 1)
        if not any(self._missing(self.rows[top : top + height])):
            return
        ids = list(self._missing(self.rows[max(0, top - _AHEAD) : top + height + _AHEAD]))
        self._asked.update(ids)
        self.post_message(self.Wanted(ids, self.edition))

    def _missing(self, rows: Sequence[Found | Group]) -> Iterator[str]:
        return (row.series_id for row in rows if isinstance(row, Found) and row.series_id not in self._asked)

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            if (column := column_at(self._columns, event.x)) is not None:
                self.post_message(self.HeadingClicked(column.order))
            return
        row = self.scroll_offset.y + event.y - 1
        if row < len(self.rows):
            self._go(row, 1)
            if event.chain > 1:
                self.action_open()

    # Drawing

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y == 0:
            style = self.get_component_rich_style("series-list--heading")
            query = self.listing.query
            names = (placed.heading(query.order, descending=query.descending) for placed in self._columns)
            return _strip(" " * MARKS + " ".join(names), width, style)
        index = self.scroll_offset.y + y - 1
        if index >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        row = self.rows[index]
        if not isinstance(row, Found):
            name, count = row
            text = f"─ {visible(name) if name is not None else 'No experiment'} ({count} recording{'s' * (count != 1)})"
            return _strip(text, width, self.get_component_rich_style("series-list--group"))
        return self._series_strip(row.series_id, here=index == self.cursor, width=width)

    def _series_strip(self, series_id: str, *, here: bool, width: int) -> Strip:
        line = self.lines.get(series_id)
        marked = series_id in self.marked
        style = self.rich_style
        if marked:
            style += self.get_component_rich_style("series-list--marked", partial=True)
        if line is None:
            style += self.get_component_rich_style("series-list--waiting", partial=True)
        if here:
            style = self.get_component_rich_style("series-list--cursor")
        named = line is not None and bool(line.baselines)
        marks = f"{'>' if here else ' '}{'*' if marked else ' '}{'B' if named else ' '} "
        if line is None:
            return _strip(f"{marks}…", width, style)
        segments = [Segment(marks, style)]
        for placed in self._columns:
            tone = Tone.PLAIN if here else placed.column.tone(line)
            toned = style + self.get_component_rich_style(f"series-list--{tone}", partial=True)
            segments.append(Segment(placed.cell(placed.column.text(line)), toned if tone is not Tone.PLAIN else style))
            segments.append(Segment(" ", style))
        return Strip(segments).adjust_cell_length(width, style)

    def watch_cursor(self, old: int, new: int) -> None:
        for row in (old, new):
            self.refresh(Region(0, row - self.scroll_offset.y + 1, self.size.width, 1))


def _strip(text: str, width: int, style: Style) -> Strip:
    return Strip([Segment(text, style)]).adjust_cell_length(width, style)
