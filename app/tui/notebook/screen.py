"""The notebook: all recordings, sorted, filtered and grouped; the one pointed at beside them."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.base.errors import UsageError
from app.tui.frame.base import BaseScreen, screen_called
from app.tui.frame.commands import keys
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Choices, FilterLine, Pane
from app.tui.notebook.series_actions import ACTING_KEYS, SeriesActions
from app.tui.notebook.series_list import ListRows, SeriesList, listing, shown_of
from app.tui.widgets.following import FollowsNotebook, file_state
from storage.queries import SeriesQuery, SortKey

if TYPE_CHECKING:
    from app.trial.restore import Restoration
    from app.tui.notebook.dialogs import Refusal
    from app.tui.notebook.series_view import SeriesView
    from forms.layout import Toned
    from forms.report import Report
    from forms.series.listing import RecordingLine
    from forms.series.summary import SeriesSummary
    from storage.changes import JournalEntry
    from storage.notebook import Notebook
    from storage.recordings import Recording, Removed

_TYPING_SECONDS = 0.15
_LEAST_LISTED = 5
_AROUND_LIST = 5
_ALL_KEYS_FIT = 150
"""Columns from which one row has room for the foremost keys."""
_LEAST_DETAIL = 8
"""Rows from which the detail shows at any size."""
_POINTING_SECONDS = 0.1
_READ_AT_ONCE = 1000

_FOREMOST = ("new", "open", "compare", "filter", "export", "edit", "baseline", "delete", "try", "mark")
_MEASURING = ("app.visit('load')", "app.visit('isolation')")
_OF_MARKED = ("compare", "export", "delete")
_OF_ALL = {"filter", "sort", "group"}
_NEEDS_RECORDINGS = {*_FOREMOST[1:], *_OF_ALL, "again", "history"}

TITLE = "sharebench · Notebook"
EMPTY = "Nothing measured yet. Choose where to start. To practise first, without a network: sharebench demo."
STARTS = ("guide", "survey", "load", "isolation", "audit")

NONE_FOUND = "No recording has all of these words. Escape lists all again."


class NotebookScreen(SeriesActions, FollowsNotebook):
    KEYS = (
        *keys("notebook.restore notebook.new notebook.filter"),
        *ACTING_KEYS,
        *keys("notebook.sort notebook.group notebook.delete notebook.undo"),
        *keys("notebook.clear notebook.clear-filter screen.back"),
    )
    AUTO_FOCUS = "SeriesList"

    def __init__(self) -> None:
        super().__init__()
        self._shown: dict[str, str] = {}
        self._up_to_date: set[str] = set()
        self._shown_as_of: tuple[int, ...] | None = None
        self.asked = SeriesQuery(shown=self._shown)
        self.removed: list[tuple[str, list[Removed]]] = []
        self._counted = (0, 0)
        self.detail: SeriesView | None = None
        self._is_read = self._is_early = False
        self._newest: str | None = None
        self._arrives, self._was_elsewhere = False, True
        self._restored_id = ""
        self._left = LeftChanges(self, self._show_count)
        self._typing: Timer | None = None
        self._pointing: Timer | None = None

    def compose(self) -> ComposeResult:
        with Pane(TITLE, id="all-series"):
            yield FilterLine(placeholder="f or / filters by any words; space marks a line", id="filter", compact=True)
            yield Static(EMPTY, id="empty")
            starts = map(screen_called, STARTS)
            rows = [Option(f"{one.key[:2].upper()}  {one.title:<9}{one.help}", id=one.name) for one in starts]
            yield Choices(*rows, id="starts")
            yield SeriesList(id="series")
            yield Static(id="whole")
        yield Vertical(id="detail")
        yield KeyBar()

    def on_mount(self) -> None:
        self.rows.marked, self.removed = self.context.marked, self.context.removed
        self.rows.focus()
        self.call_after_refresh(self._furnish)

    async def _furnish(self) -> None:
        from app.tui.notebook.series_view import SeriesView  # noqa: PLC0415  as above

        room = self.query("#detail")
        if not room or not room.first().is_attached:  # where the program is left at once
            return
        detail = SeriesView()
        await room.first().mount(detail)
        if detail.children:  # none where the program is left meanwhile
            self.detail = detail
            self._read_pointed()

    def action_restore(self) -> None:
        self._left.ask()

    def work_failed(self, error: Exception) -> None:
        self._left.failed()
        super().work_failed(error)

    @property
    def rows(self) -> SeriesList:
        return self.query_one(SeriesList)

    def chosen(self) -> str | None:
        return self.rows.pointed

    def marked(self) -> list[str]:
        return [*self.rows.marked]

    # Reading

    def on_screen_resume(self) -> None:
        """Something may have been measured meanwhile; painted first, as what reads a notebook takes long to load."""
        self._arrives |= self._was_elsewhere
        self.rows.ask_again()
        self.call_after_refresh(self.look)
        self.call_after_refresh(self._left.look)

    def on_screen_suspend(self) -> None:
        """Only after another screen the cursor goes to what was measured there: a dialog measures nothing."""
        self._was_elsewhere = not self.app.screen.is_modal

    def look(self) -> None:
        query, before, self._seen_state = self.asked, self._seen_state, file_state(self.context.notebook_path)
        if before != self._seen_state:
            self.rows.ask_again()

        def read(notebook: "Notebook") -> "tuple[ListRows, int, list[Recording]]":
            rows = listing(notebook.find(query), query, imported=notebook.has_imported())
            return rows, notebook.count_recordings(), notebook.recordings(limit=1)

        self.with_notebook(read, self._found, group="find", exclusive=True)

    def _found(self, answer: "tuple[ListRows, int, list[Recording]]") -> None:
        found, count, newest = answer
        self.query_one("#filter").disabled = not count
        self.set_class(not count, "-empty")
        if not (count and self.has_class("-unmatched")):
            self.query_one("#empty", Static).update("Searching …" if count else EMPTY)
        self.set_class(bool(count) and not found.places, "-unmatched")
        if self.asked.text:
            more = partial(_not_shown, known=frozenset(self._up_to_date))
            self.with_notebook(more, self._show_more, group="shown", exclusive=True)
        self.rows.show(found)
        if newest and newest[0].id != self._newest:
            self._newest = newest[0].id
            if self._arrives:
                self.rows.point(newest[0].id)
        self._arrives = False
        if self._restored_id:
            self.rows.point(self._restored_id)
            self._restored_id = ""
        was_empty, self._counted = not self._counted[1], (len(found.places), count)
        self.refresh_bindings()
        self._share_room()
        early, self._is_early, self._is_read = self._is_early, False, True
        if not count:
            starts = self.query_one("#starts", OptionList)
            starts.focus().highlighted = starts.highlighted or 0
            if early:
                starts.action_select()
        elif early:
            self.rows.action_open()
        elif self.focused is None or was_empty:
            self.call_after_refresh(self.rows.focus)
        self._show_count()
        self.call_after_refresh(self._read_pointed)

    def _show_more(self, lines: dict[str, str]) -> None:
        """Seek in these as well; with none left, the notebook has been searched whole."""
        if lines:
            self._shown |= lines
            self._up_to_date.update(lines)
            self.look()
        elif self._counted[1]:
            self.query_one("#empty", Static).update(NONE_FOUND)

    def on_resize(self) -> None:
        self._share_room()
        self._point()

    def _share_room(self) -> None:
        count = self._counted[1]
        key_rows = 2 if count and self.size.width < _ALL_KEYS_FIT else 1
        self.query_one(KeyBar).styles.height = key_rows
        room = max(0, self.size.height - max(len(self.rows.rows), count, _LEAST_LISTED) - _AROUND_LIST - key_rows)
        self.query_one("#detail").styles.min_height = room
        self.set_class(bool(count) and room >= _LEAST_DETAIL, "-roomy")

    @on(SeriesList.MarksChanged)
    @on(events.DescendantFocus)
    def _show_count(self) -> None:
        restore = (*(("restore",) if self._left.offered else ()), *(("undo",) if self.removed else ()))
        marked, of_filter = len(self.rows.marked), [key.action for key in FilterLine.KEYS]
        if isinstance(self.focused, FilterLine):
            self.query_one(KeyBar).put_first(*of_filter, hides_others=True)
        elif not marked and self.has_class("-unmatched"):
            self.query_one(KeyBar).put_first(*restore, "new", "filter", hides_others=True)
        else:
            self.query_one(KeyBar).put_first(*restore, *(_OF_MARKED if marked else ()), *_FOREMOST, *_MEASURING)
        found, count = self._counted
        of = "" if found == count else f"{found:,} of "
        named = of + ("1 recording" if count == 1 else f"{count:,} recordings")
        hidden = len(self.rows.marked.keys() - self.rows.listing.places.keys()) if self.asked.text else 0
        also = f" ({hidden:,} hidden by the filter)" if hidden else ""
        parts = [TITLE, f"{marked:,} marked{also}" if marked else "", named if self._is_read else ""]
        self.query_one("#all-series", Pane).set_title(" · ".join(filter(None, parts)))

    @on(SeriesList.Wanted)
    def _read_lines(self, message: SeriesList.Wanted) -> None:
        fill = partial(self._fill, edition=message.edition)
        self.with_notebook(partial(_lines, ids=message.ids), fill, group="lines")

    def _fill(self, lines: "list[RecordingLine]", edition: int) -> None:
        self.rows.fill(lines, edition)
        self._show_whole()
        self.refresh_bindings()

    def _show_whole(self) -> None:
        line = self.rows.lines.get(self.chosen() or "")
        parts = (
            (line.label, line.answer.text, line.what, *(f"Baseline {one}" for one in line.baselines)) if line else ()
        )
        self.query_one("#whole", Static).update(Content("\n".join(filter(None, parts))))

    @on(SeriesList.Pointed)
    def _point(self) -> None:
        self._show_whole()
        self.refresh_bindings()
        if self._pointing is not None:
            self._pointing.stop()
        self._pointing = self.set_timer(_POINTING_SECONDS, self._read_pointed)

    def _read_pointed(self) -> None:
        series_id, detail = self.chosen(), self.detail
        self.context.pointed = series_id or ""
        if detail is None:
            return
        if series_id is None:
            detail.show(None)
        elif self.query_one("#detail").display:
            read, line = partial(_form, recording_id=series_id), self.rows.lines.get(series_id)
            show = partial(detail.show, baselines=line.baselines if line else ())
            self.with_notebook(read, lambda shown: show(*shown), group="detail", exclusive=True)

    def changed(self, *series_ids: str) -> None:
        self.rows.ask_again(*series_ids)
        self._up_to_date.difference_update(series_ids)
        self.look()

    # Filtering, sorting, grouping

    def action_filter(self) -> None:
        self.query_one("#filter").focus()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        self.asked = replace(self.asked, text=event.value)
        if self._shown_as_of != self._seen_state:
            self._shown_as_of = self._seen_state
            self._up_to_date.clear()
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(_TYPING_SECONDS, self.look)

    def action_to_list(self) -> None:
        self.rows.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "clear_marks":
            return bool(self.rows.marked) and not self.asked.text
        if action == "undo":
            return bool(self.removed)
        if action == "again" and (line := self.rows.lines.get(self.chosen() or "")) and line.kind != "series":
            return False
        if action == "clear_filter":
            return bool(self.asked.text) or isinstance(self.focused, FilterLine)
        if action in _NEEDS_RECORDINGS and not (self._counted[1] if action in _OF_ALL else self.meant()):
            return False
        if action == "back":
            below = [one for one in self.app.screen_stack if isinstance(one, BaseScreen) and one is not self]
            return len(below) > 1 or any(isinstance(one, NotebookScreen) or one.quit_question() for one in below)
        return super().check_action(action, parameters)

    def action_clear_marks(self) -> None:
        self.rows.unmark()

    def action_clear_filter(self) -> None:
        self.query_one("#filter", Input).value = ""
        self.rows.focus()

    def action_sort(self) -> None:
        from app.tui.frame.dialogs import PickDialog  # noqa: PLC0415  the first paint does not wait for what comes after it

        sign = "▼" if self.asked.descending else "▲"
        rows = [(order, f"  {order.value}") for order in SortKey]
        at = list(SortKey).index(self.asked.order)
        rows[at] = (self.asked.order, f"{sign} {self.asked.order.value} (again: reverse)")
        about = "What to sort by. Enter takes it; the column in use reverses the order."
        self.ask(PickDialog("Sort by", rows, about=about, at=at), self._sorted)

    @on(SeriesList.HeadingClicked)
    def _heading_clicked(self, message: SeriesList.HeadingClicked) -> None:
        self._sorted(message.order)

    def _sorted(self, order: SortKey) -> None:
        again = order is self.asked.order
        self.asked = replace(self.asked, order=order, descending=not self.asked.descending if again else True)
        self.look()

    def action_group(self) -> None:
        self.asked = replace(self.asked, grouped=not self.asked.grouped)
        self.look()

    # To other screens

    def action_new(self) -> None:
        from app.guide.screen import GuideScreen  # noqa: PLC0415  the first paint does not wait for what comes after it

        self.sharebench_app.visit("guide")
        if isinstance(guide := self.app.screen, GuideScreen):
            guide.begins_anew = True

    @on(OptionList.OptionSelected, "#starts")
    def _start(self, event: OptionList.OptionSelected) -> None:
        self.sharebench_app.visit(str(event.option_id))

    @on(SeriesList.Opened)
    def _open(self, message: SeriesList.Opened) -> None:
        if message.series_id:
            self.open_recording(message.series_id)
        else:
            self._is_early = not self._is_read

    # Marking and deleting

    def action_delete(self) -> None:
        from app.tui.frame.dialogs import ConfirmDialog  # noqa: PLC0415  the first paint does not wait for what comes after it
        from app.tui.notebook.dialogs import MOST_NAMED, question_before, remove_all  # noqa: PLC0415  as above

        def asked(notebook: "Notebook") -> str:
            """What cannot be read is deleted all the same."""
            from app.base.errors import UsageError  # noqa: PLC0415  as above
            from storage.errors import NotebookFileError  # noqa: PLC0415  as above

            with suppress(UsageError, NotebookFileError, TypeError, ValueError):
                names.update(self.rows.names(ids, _lines(notebook, unknown)))
            return question_before(notebook, names)

        def ask(question: str) -> None:
            if question:
                self.ask(ConfirmDialog("Delete?", question, yes="Delete"), lambda _: delete())
            else:
                delete()

        def delete() -> None:
            self.with_notebook(lambda notebook: remove_all(notebook, ids), partial(self._deleted, names))

        if ids := self.meant():
            names = self.rows.names(ids)  # before they are gone from the list
            unknown = [one for one in ids[:MOST_NAMED] if one not in self.rows.lines]
            self.with_notebook(asked, ask)

    def _deleted(self, names: dict[str, str], deletion: "tuple[list[Removed], Refusal]") -> None:
        removed, refusal = deletion
        if removed:
            ids = [one.recording.id for one in removed]
            self.removed.append((names[ids[0]] if len(ids) == 1 else f"{len(ids):,} recordings", removed))
            self.rows.unmark(*ids)
            self.notify(f"{self.removed[-1][0]}. Press u in this list to undo, until you quit.", title="Deleted")
        self.look()
        if refusal is not None:
            self.sharebench_app.tell_error(refusal)

    def action_undo(self) -> None:
        named, removed = self.removed.pop()

        def restore(notebook: "Notebook") -> None:
            missing = list(removed)
            try:
                while missing:
                    notebook.restore(missing[-1])  # a base is there before the series made from it
                    missing.pop()
            finally:
                if missing:
                    self.removed.append((named, missing))

        def done(_: None) -> None:
            self.notify(f"{named}.", title="Restored")
            self._restored_id = removed[0].recording.id
            self.look()

        self.with_notebook(restore, done)


def _lines(notebook: "Notebook", ids: list[str]) -> "list[RecordingLine]":
    from app.kinds import lines  # noqa: PLC0415  the first paint does not wait for what comes after it

    with notebook.snapshot():
        return lines(notebook, notebook.recordings_of(ids))


def _not_shown(notebook: "Notebook", known: frozenset[str]) -> dict[str, str]:
    """What the list shows of the newest recordings but for those known: reading the answers of all takes seconds."""
    ids = [one.series_id for one in notebook.find(SeriesQuery()) if one.series_id not in known][:_READ_AT_ONCE]
    return dict.fromkeys(ids, "") | {line.id: shown_of(line) for line in _lines(notebook, ids)}


def _form(notebook: "Notebook", recording_id: str) -> "tuple[SeriesSummary | Report | None, Toned | None]":
    from app.kinds import answer_of, kind_of  # noqa: PLC0415  the first paint does not wait for what comes after it
    from forms.series.summary import run_form  # noqa: PLC0415  as above

    with notebook.snapshot():
        for head in notebook.recordings_of([recording_id]):
            if head.kind == "series":
                return run_form(notebook.series(head.id)), None
            answer = answer_of(notebook, head)
            try:
                return kind_of(head).form(notebook, head), answer
            except UsageError:
                return None, answer  # it has no form before its series are stored
    return None, None


class LeftChanges:
    def __init__(self, screen: "BaseScreen", changed: Callable[[], None]) -> None:
        self.screen, self.changed = screen, changed
        self._left: list[JournalEntry] = []
        self._files: dict[str, str] = {}
        self._told: set[str] = set()
        self._has_failed = False
        self._is_restoring = False

    @property
    def offered(self) -> bool:
        return bool(self._left or self._files) and not self._is_restoring

    def look(self) -> None:
        self.screen.with_notebook(_left_behind, self._found, group="left behind", exclusive=True)

    def _found(self, found: "tuple[list[JournalEntry], dict[str, str]] | Exception") -> None:
        if not isinstance(found, Exception):
            self._tell(*found)
        elif not self._has_failed:
            self._has_failed = True
            self.screen.work_failed(found)

    def _tell(self, left: "list[JournalEntry]", files: "dict[str, str]") -> None:
        self._left, self._files = left, files
        self.changed()
        texts = {entry.id: f"An interrupted trial left {entry.left}: R restores it." for entry in left}
        texts |= {one: f"Leftovers of {one} may still be on its target: R names them." for one in files}
        for one, text in texts.items():
            if one not in self._told:
                self._told.add(one)
                self.screen.notify(text, severity="warning", timeout=30, markup=False)

    def ask(self) -> None:
        if not self._is_restoring:
            self.screen.with_notebook(_left_behind, self._ask)

    def _ask(self, found: "tuple[list[JournalEntry], dict[str, str]] | Exception") -> None:
        from app.tui.frame.dialogs import ConfirmDialog  # noqa: PLC0415  as below

        if isinstance(found, Exception):
            self.screen.work_failed(found)
            return
        self._tell(*found)
        self.screen.app.clear_notifications()
        if not self.offered:
            self.screen.notify("There is nothing to restore.")
            return
        if not self._left:
            self.screen.sharebench_app.tell_text("Leftovers", "\n\n".join(self._files.values()))
            return
        names = ", ".join(
            f"{one.name} on {one.ssh or 'this machine'} to {one.effective_before or 'what it was'} with {one.undo_path}"
            for one in self._left
        )
        question = ConfirmDialog("Restore it?", f"Sets {names}, as before the trial.", yes="Restore", prefer_yes=True)
        self.screen.ask(question, lambda _: self._restore())

    def _restore(self) -> None:
        def job(notebook: "Notebook") -> "Restoration":
            from app.trial.restore import restore  # noqa: PLC0415  the first paint does not wait for it

            return restore(notebook)

        self._is_restoring = True
        self.changed()
        self.screen.notify("Restoring …", markup=False)
        self.screen.with_notebook(job, self._restored, group="restore")

    def _restored(self, found: "Restoration") -> None:
        self._is_restoring = False
        self.screen.app.clear_notifications()
        heading = "Not everything was restored" if found.problems else "Restored"
        self.screen.sharebench_app.tell_text(heading, "\n\n".join((*found.lines(), *self._files.values())))

    def failed(self) -> None:
        self._is_restoring = False


def _left_behind(notebook: "Notebook") -> "tuple[list[JournalEntry], dict[str, str]] | Exception":
    """What is left, or why it cannot be told: closing the dialog of an error has the screen look again."""
    import sqlite3  # noqa: PLC0415  the first paint does not wait for it

    try:
        left, heads = notebook.left_behind(), notebook.left_over()
        if not heads:
            return left, {}
        from app.kinds import leftover_text  # noqa: PLC0415  as above

        return left, {head.id: leftover_text(notebook, head) for head in heads}
    except (sqlite3.Error, TypeError, ValueError) as error:
        return error
