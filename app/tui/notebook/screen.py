"""The notebook: all recordings, sorted, filtered and grouped; the one pointed at beside them."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import events, on, widgets
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets.option_list import Option

from app.tui.frame import base, parts, screens
from app.tui.frame.commands import keys
from app.tui.frame.key_bar import KeyBar
from app.tui.notebook import readings, series_actions, series_list
from app.tui.notebook.deleting import DeletesRecordings
from app.tui.notebook.left_changes import LeftChanges
from app.tui.notebook.sorting import SortsRecordings
from app.tui.widgets import following
from storage import queries

if TYPE_CHECKING:
    from app.recording.listing import ListedRecordings
    from app.tui.notebook.series_view import SeriesView
    from forms.series.listing import RecordingLine

# The first paint does not wait for what comes after it, so forms and dialogs are imported in the functions below.

_TYPING_SECONDS = 0.15
_POINTING_SECONDS = 0.1
"""Until what was typed or pointed at is read: who types on or goes on does not wait for it."""
_LEAST_LISTED = 5
"""Rows that the list has at least, however few recordings there are."""
_AROUND_LIST = 5
"""Rows of the list's pane beside those of recordings: its frame, the filter and what is below the list."""
_ALL_KEYS_FIT = 150
"""Columns from which one row has room for the foremost keys."""
_LEAST_DETAIL = 8
"""Rows from which the detail shows at any size."""

# Actions, by their names: the first three lists order the footer, the other two say what an action needs.

_FOREMOST = ("new", "open", "compare", "filter", "export", "hand_over", "edit", "baseline", "delete", "try", "mark")
"""Those that the footer shows first, in this order."""
_MEASURING = ("app.visit('load')", "app.visit('isolation')")
"""Those that it shows after these."""
_OF_MARKED = ("compare", "export", "hand_over", "delete")
"""Those that come first of all where recordings are marked."""
_OF_ALL = {"filter", "sort", "group"}
"""Those that need a recording in the notebook."""
_OF_TARGETS = {*_FOREMOST, "again", "versus", "history"} - _OF_ALL - {"new"}
"""Those that need a recording that is marked, or that the cursor points at."""

TITLE = "sharebench · Notebook"
EMPTY = "Nothing measured yet. Choose where to start. To practise first, without a network: sharebench demo."
STARTS = ("guide", "quick", "diagnosis", "survey", "load", "isolation", "audit")

READING = "Reading the notebook …"

NONE_FOUND = "No recording has all of these words. Escape lists all again."


class NotebookScreen(DeletesRecordings, SortsRecordings, following.FollowsNotebook):
    """The list of recordings, and beside it the detail of the one that the cursor points at.

    ``look`` reads what the query asks for, in a thread (``app.tui.notebook.readings``); the list then asks for the
    lines in view, which ``_read_wanted_lines`` reads. What is done with recordings is in the base classes:

    - SeriesActions (base of DeletesRecordings) calls ``pointed_id``, ``marked_ids`` and ``changed`` here, in the
      screen's thread, as all methods here are;
    - DeletesRecordings and SortsRecordings call ``look`` when the list is to be another;
    - FollowsNotebook calls ``look`` when another program has written to the notebook.
    """

    KEYS = (
        *keys("notebook.restore notebook.new notebook.filter"),
        *series_actions.ACTING_KEYS,
        *keys("notebook.sort notebook.group notebook.delete notebook.undo"),
        *keys("notebook.clear notebook.clear-filter screen.back"),
    )
    AUTO_FOCUS = "SeriesList"

    def __init__(self) -> None:
        super().__init__()
        self._searched_texts: dict[str, str] = {}
        """What the lines show, by id: a filter looks into it too, as `query_asked` refers to this very dict."""
        self._up_to_date: set[str] = set()
        """The ids of which that text is still what would be shown."""
        self._searched_state: tuple[int, ...] | None = None
        """The state of the notebook's files in which the texts were read; after a change they are read again."""
        self.query_asked = queries.SeriesQuery(shown=self._searched_texts)

        self._listed = 0
        """How many recordings the query has."""
        self._total = 0
        """How many the notebook has."""
        self._is_read = False
        """Whether the two were read at all."""
        self._newest_id: str | None = None
        """The newest recording when the rows were read last."""
        self._opened_too_early = False
        """Whether Enter was pressed before the rows were there: it opens the first one then."""
        self._came_from_elsewhere = True
        """Whether another screen lay on top, where something may have been measured, and not just a dialog."""
        self._points_to_newest = False
        """Whether the cursor goes to the newest recording, if that is new, when the rows are there."""

        self.detail: SeriesView | None = None
        """None until it is mounted, after the first paint."""
        # `_show_count` orders the footer's keys as well: restoring comes first where something is left.
        self._left_changes = LeftChanges(self, self._show_count)
        self._typing: Timer | None = None
        """Runs while somebody types a filter."""
        self._pointing: Timer | None = None
        """Runs while the cursor moves."""

    def compose(self) -> ComposeResult:
        if self.context.notebook_path.exists():
            # Nobody knows yet whether anything was measured. Later a class would have the whole screen styled again.
            self.add_class("-reading", update=False)

        with parts.Pane(TITLE, id="all-series"):
            yield parts.FilterLine(
                placeholder="f or / filters by any words; space marks a line", id="filter", compact=True
            )
            yield widgets.Static(READING if self.has_class("-reading") else EMPTY, id="empty")
            yield parts.Choices(*map(_option_of_start, STARTS), id="starts")
            yield series_list.SeriesList(id="series")
            yield widgets.Static(id="whole")
        yield Vertical(id="detail")
        yield KeyBar()

    def on_mount(self) -> None:
        self.rows.marked = self.context.marked
        self.removed = self.context.removed
        if self.has_class("-reading"):
            self.rows.focus()
        else:
            # Where to start is shown at once: what reads a notebook takes long to load, and nothing can be in this one.
            self._show_whether_empty()
            self._focus_starts(opens=False)
        self.call_after_refresh(self._mount_detail)

    async def _mount_detail(self) -> None:
        """After the first paint, as the module of the detail takes long to load."""
        from app.tui.notebook.series_view import SeriesView

        places = self.query("#detail")
        if not places or not places.first().is_attached:  # where the program is left at once
            return
        detail = SeriesView()
        await places.first().mount(detail)
        if detail.children:  # none where the program is left meanwhile
            self.detail = detail
            self._read_pointed()

    def action_restore(self) -> None:
        self._left_changes.ask()

    def work_failed(self, error: Exception) -> None:
        self.remove_class("-reading")
        self._left_changes.failed()
        super().work_failed(error)

    @property
    def rows(self) -> series_list.SeriesList:
        return self.query_one(series_list.SeriesList)

    def pointed_id(self) -> str | None:
        return self.rows.pointed

    def marked_ids(self) -> list[str]:
        return [*self.rows.marked]

    @property
    def _pointed_line(self) -> "RecordingLine | None":
        return self.rows.lines.get(self.pointed_id() or "")

    # Reading

    def on_screen_resume(self) -> None:
        """Something may have been measured meanwhile; painted first, as what reads a notebook takes long to load."""
        self._points_to_newest |= self._came_from_elsewhere
        self.rows.ask_again()
        self.call_after_refresh(self.look)
        self.call_after_refresh(self._left_changes.look)

    def on_screen_suspend(self) -> None:
        """Only after another screen the cursor goes to what was measured there: a dialog measures nothing."""
        self._came_from_elsewhere = not self.app.screen.is_modal

    def look(self) -> None:
        """Read anew which recordings the query has; their lines too, where the notebook's files have changed."""
        state_before = self._seen_state
        self._seen_state = following.file_state(self.context.notebook_path)
        if state_before != self._seen_state:
            self.rows.ask_again()
        self.with_notebook(
            partial(readings.find, query=self.query_asked), self._take_found, group="find", exclusive=True
        )

    def _take_found(self, recordings: readings.FoundRecordings) -> None:
        was_empty = self._total == 0
        self._listed = len(recordings.rows.places)
        self._total = recordings.total
        self._show_whether_empty()
        if self.query_asked.text:
            self._read_more_to_search()

        self.rows.show(recordings.rows)
        self._point_to_news(recordings.newest_id)
        self.refresh_bindings()
        self._share_room()

        opened_before_rows_arrived = self._opened_too_early
        self._opened_too_early = False
        self._is_read = True
        if not self._total:
            self._focus_starts(opens=opened_before_rows_arrived)
        elif opened_before_rows_arrived:
            self.rows.action_open()
        elif self.focused is None or was_empty:
            self.call_after_refresh(self.rows.focus)

        self._show_count()
        self.call_after_refresh(self._read_pointed)

    def _show_whether_empty(self) -> None:
        is_empty = self._total == 0
        self.query_one("#filter").disabled = is_empty

        # Nothing matched before either: what is told of that (`_search_in`) stays.
        is_told_already = not is_empty and self.has_class("-unmatched")
        if not is_told_already:
            self.query_one("#empty", widgets.Static).update(EMPTY if is_empty else "Searching …")

        is_unmatched = not is_empty and self._listed == 0
        self.update_classes({"-reading": False, "-empty": is_empty, "-unmatched": is_unmatched})

    def _point_to_news(self, newest_id: str | None) -> None:
        """Go to what was measured on another screen, or to what was deleted and is back."""
        if newest_id and newest_id != self._newest_id:
            self._newest_id = newest_id
            if self._points_to_newest:
                self.rows.point(newest_id)
        self._points_to_newest = False

        if self.restored_id:
            self.rows.point(self.restored_id)
            self.restored_id = ""

    def _focus_starts(self, *, opens: bool) -> None:
        starts = self.query_one("#starts", widgets.OptionList)
        starts.focus()
        starts.highlighted = starts.highlighted or 0
        if opens:
            starts.action_select()

    def _read_more_to_search(self) -> None:
        """Read some more of what lines show, for the filter; `_search_in` then looks again, until all is read."""
        read = partial(readings.read_texts_to_search, known_ids=frozenset(self._up_to_date))
        self.with_notebook(read, self._search_in, group="shown", exclusive=True)

    def _search_in(self, texts: dict[str, str]) -> None:
        """Seek in these as well, and so read the next ones; with none left, the notebook has been searched whole."""
        if texts:
            self._searched_texts |= texts
            self._up_to_date.update(texts)
            self.look()
        elif self._total:
            self.query_one("#empty", widgets.Static).update(NONE_FOUND)

    @on(series_list.SeriesList.Wanted)
    def _read_wanted_lines(self, message: series_list.SeriesList.Wanted) -> None:
        fill = partial(self._fill, edition=message.edition)
        self.with_notebook(partial(readings.read_lines, ids=message.ids), fill, group="lines")

    def _fill(self, listed: "ListedRecordings", edition: int) -> None:
        self.rows.fill(listed.lines, edition, listed.problems)
        self._show_whole_line()
        self.refresh_bindings()

    def changed(self, *series_ids: str) -> None:
        """Show these recordings anew: something was written about them."""
        self.rows.ask_again(*series_ids)
        self._up_to_date.difference_update(series_ids)
        self.look()

    # Showing

    def on_resize(self) -> None:
        self._share_room()
        self._point()

    def _share_room(self) -> None:
        """Give the rows that the list does not need to the detail."""
        key_rows = 2 if self._total and self.size.width < _ALL_KEYS_FIT else 1
        self.query_one(KeyBar).styles.height = key_rows

        list_rows = max(len(self.rows.rows), self._total, _LEAST_LISTED)
        room = max(0, self.size.height - list_rows - _AROUND_LIST - key_rows)
        self.query_one("#detail").styles.min_height = room
        self.set_class(bool(self._total) and room >= _LEAST_DETAIL, "-roomy")

    @on(series_list.SeriesList.MarksChanged)
    @on(events.DescendantFocus)
    def _show_count(self) -> None:
        self._order_keys()
        title = [TITLE, self._describe_marks(), self._describe_count() if self._is_read else ""]
        self.query_one("#all-series", parts.Pane).set_title(" · ".join(filter(None, title)))

    def _order_keys(self) -> None:
        key_bar = self.query_one(KeyBar)
        if isinstance(self.focused, parts.FilterLine):
            key_bar.put_first(*(key.action for key in parts.FilterLine.KEYS), hides_others=True)
            return

        restoring: list[str] = []
        if self._left_changes.offered:
            restoring.append("restore")
        if self.removed:
            restoring.append("undo")

        if not self.rows.marked and self.has_class("-unmatched"):
            key_bar.put_first(*restoring, "new", "filter", hides_others=True)
        else:
            of_marked = _OF_MARKED if self.rows.marked else ()
            # Who points at a baseline has most likely made the change that it was named for.
            of_baseline = ("again",) if self._pointed_line is not None and self._pointed_line.baselines else ()
            key_bar.put_first(*restoring, *of_marked, *of_baseline, *_FOREMOST, *_MEASURING)

    def _describe_marks(self) -> str:
        marked = self.rows.marked
        if not marked:
            return ""
        hidden = len(marked.keys() - self.rows.listing.places.keys()) if self.query_asked.text else 0
        hidden_text = f" ({hidden:,} hidden by the filter)" if hidden else ""
        return f"{len(marked):,} marked{hidden_text}"

    def _describe_count(self) -> str:
        of_all = "" if self._listed == self._total else f"{self._listed:,} of "
        total = "1 recording" if self._total == 1 else f"{self._total:,} recordings"
        return of_all + total

    def _show_whole_line(self) -> None:
        """Below the list, what the row of the cursor may have no room for."""
        line = self._pointed_line
        texts: list[str] = []
        if line is not None:
            baselines = [f"Baseline {name}" for name in line.baselines]
            texts = [line.label, line.answer.text, line.what, *baselines]
        elif self.rows.pointed in self.rows.problems:
            texts = [f"! {self.rows.problems[self.rows.pointed]}"]
        self.query_one("#whole", widgets.Static).update(Content("\n".join(filter(None, texts))))

    @on(series_list.SeriesList.Pointed)
    def _point(self) -> None:
        self._show_whole_line()
        self.refresh_bindings()
        if self._pointing is not None:
            self._pointing.stop()
        self._pointing = self.set_timer(_POINTING_SECONDS, self._read_pointed)

    def _read_pointed(self) -> None:
        """Read the recording with the cursor for the detail, where that shows."""
        recording_id = self.pointed_id()
        self.context.pointed = recording_id or ""
        if self.detail is None:
            return
        if recording_id is None:
            self.detail.show_report(None)
            return

        if self.query_one("#detail").display:
            line = self._pointed_line
            show = partial(self._show_detail, baselines=line.baselines if line else ())
            read = partial(readings.read_detail, recording_id=recording_id)
            self.with_notebook(read, show, group="detail", exclusive=True)

    def _show_detail(self, detail: readings.Detail, baselines: tuple[str, ...]) -> None:
        assert self.detail is not None
        if detail.series is not None:
            self.detail.show_series(detail.series, baselines, detail.power)
        else:
            self.detail.show_report(detail.report, detail.answer, baselines)

    # Filtering

    def action_filter(self) -> None:
        self.query_one("#filter").focus()

    @on(widgets.Input.Changed, "#filter")
    def _filter_typed(self, event: widgets.Input.Changed) -> None:
        self.query_asked = replace(self.query_asked, text=event.value)
        # The notebook has changed since: texts are read again, and until then those of before are searched.
        if self._searched_state != self._seen_state:
            self._searched_state = self._seen_state
            self._up_to_date.clear()

        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(_TYPING_SECONDS, self.look)

    def action_to_list(self) -> None:
        self.rows.focus()

    def action_clear_filter(self) -> None:
        self.query_one("#filter", widgets.Input).value = ""
        self.rows.focus()

    def action_clear_marks(self) -> None:
        self.rows.unmark()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "clear_marks":
            return bool(self.rows.marked) and not self.query_asked.text
        if action == "clear_filter":
            return bool(self.query_asked.text) or isinstance(self.focused, parts.FilterLine)
        if action == "undo":
            return bool(self.removed)
        if action == "back":
            return self._can_go_back()
        if action in {"again", "versus"} and self._pointed_line is not None and not self._pointed_line.can_be_repeated:
            return False
        if action in _OF_ALL and not self._total:
            return False
        if action in _OF_TARGETS and not self.target_ids():
            return False
        return super().check_action(action, parameters)

    def _can_go_back(self) -> bool:
        """Whether it is open over another notebook, a measurement, or several screens."""
        others = [
            screen for screen in self.app.screen_stack if isinstance(screen, base.BaseScreen) and screen is not self
        ]
        if len(others) > 1:
            return True
        return any(isinstance(screen, NotebookScreen) or screen.quit_question() for screen in others)

    # To other screens

    def action_new(self) -> None:
        self.begin_measurement()

    @on(widgets.OptionList.OptionSelected, "#starts")
    def _start(self, event: widgets.OptionList.OptionSelected) -> None:
        self.sharebench_app.visit(str(event.option_id))

    @on(series_list.SeriesList.Opened)
    def _open(self, message: series_list.SeriesList.Opened) -> None:
        if message.series_id:
            self.open_recording(message.series_id)
        else:  # no row was there to open
            self._opened_too_early = not self._is_read


def _option_of_start(name: str) -> Option:
    entry = screens.screen_called(name)
    # Without Shift some letters do something else: q leaves the program, where Q is the quick test.
    is_capital = len(entry.key) == 1 and entry.key.isupper()
    key = f"Shift+{entry.key}" if is_capital else entry.key[:2].upper()
    return Option(f"{key:<7}  {entry.title:<9}{entry.help}", id=entry.name)
