"""What interrupted trials left changed on a server, and measurements there: told once, and restored by a key.

The notebook's screen has one LeftChanges. It calls ``look`` each time that it comes to the front, ``ask`` when the key
is pressed, and ``failed`` when a job of it ended with an error.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.tui.frame.base import BaseScreen

if TYPE_CHECKING:
    from app.trial.restore import Restoration
    from storage.changes import JournalEntry
    from storage.notebook import Notebook

_NOTE_SECONDS = 30


@dataclass(frozen=True)
class LeftOnServers:
    """What the notebook says is left: changed settings, and files of measurements."""

    changes: "list[JournalEntry]" = field(default_factory=list)
    """Settings that a trial has changed and not restored."""
    leftovers: dict[str, str] = field(default_factory=dict)
    """What a measurement may have left on its target, and how it is removed, by the recording's id."""


class LeftChanges:
    """What is left on servers now, which of it was told already, and the question whether it is restored."""

    def __init__(self, screen: BaseScreen, changed: Callable[[], None]) -> None:
        """``changed`` is called where other keys may be offered than before."""
        self.screen = screen
        self.changed = changed
        self._left = LeftOnServers()
        self._told_ids: set[str] = set()
        """Of the entries and recordings of which a note was shown: each has one, however often they are read."""
        self._has_failed = False
        """Whether the notebook could not be read: that is told once, not each time that the screen looks."""
        self._is_restoring = False
        """From the answer yes until it is told what came of it, or that it failed."""

    @property
    def offered(self) -> bool:
        """Whether there is something to restore."""
        return bool(self._left.changes or self._left.leftovers) and not self._is_restoring

    def look(self) -> None:
        self.screen.with_notebook(_read_left_behind, self._take, group="left behind", exclusive=True)

    def _take(self, answer: LeftOnServers | Exception) -> None:
        if not isinstance(answer, Exception):
            self._tell(answer)
        elif not self._has_failed:
            self._has_failed = True
            self.screen.work_failed(answer)

    def _tell(self, left: LeftOnServers) -> None:
        self._left = left
        self.changed()

        texts = {entry.id: f"An interrupted trial left {entry.description}: R restores it." for entry in left.changes}
        for recording_id in left.leftovers:
            texts[recording_id] = f"Leftovers of {recording_id} may still be on its target: R names them."
        for left_id, text in texts.items():
            if left_id not in self._told_ids:
                self._told_ids.add(left_id)
                self.screen.notify(text, severity="warning", timeout=_NOTE_SECONDS, markup=False)

    def ask(self) -> None:
        if not self._is_restoring:
            self.screen.with_notebook(_read_left_behind, self._ask_to_restore)

    def _ask_to_restore(self, answer: LeftOnServers | Exception) -> None:
        from app.tui.frame.dialogs import ConfirmDialog

        if isinstance(answer, Exception):
            self.screen.work_failed(answer)
            return

        self._tell(answer)
        self.screen.app.clear_notifications()
        if not self.offered:
            self.screen.notify("There is nothing to restore.")
        elif not answer.changes:
            self.screen.sharebench_app.tell_text("Leftovers", "\n\n".join(answer.leftovers.values()))
        else:
            changes = ", ".join(map(_describe_change, answer.changes))
            text = f"Sets {changes}, as before the trial."
            self.screen.ask(ConfirmDialog("Restore it?", text, yes="Restore", prefer_yes=True), self._restore)

    def _restore(self, _is_wanted: bool) -> None:
        self._is_restoring = True
        self.changed()
        self.screen.notify("Restoring …", markup=False)
        self.screen.with_notebook(_restore_changes, self._tell_restored, group="restore")

    def _tell_restored(self, restoration: "Restoration") -> None:
        self._is_restoring = False
        self.screen.app.clear_notifications()
        heading = "Not everything was restored" if restoration.problems else "Restored"
        text = "\n\n".join((*restoration.lines(), *self._left.leftovers.values()))
        self.screen.sharebench_app.tell_text(heading, text)

    def failed(self) -> None:
        """Take note that work of the screen has failed, which may have been the restoring."""
        self._is_restoring = False


def _describe_change(entry: "JournalEntry") -> str:
    place = entry.ssh or "this machine"
    value = entry.effective_before or "what it was"
    return f"{entry.name} on {place} to {value} with {entry.undo_path}"


def _restore_changes(notebook: "Notebook") -> "Restoration":
    from app.trial.restore import restore

    return restore(notebook)


def _read_left_behind(notebook: "Notebook") -> LeftOnServers | Exception:
    """What is left, or why it cannot be told: closing the dialog of an error has the screen look again."""
    import sqlite3

    from storage.errors import DamagedNotebookError

    try:
        return LeftOnServers(notebook.abandoned_changes(), _read_leftovers(notebook))
    except (sqlite3.Error, DamagedNotebookError, TypeError, ValueError) as error:
        return error


def _read_leftovers(notebook: "Notebook") -> dict[str, str]:
    from storage.errors import UnreadableRecordingError

    try:
        heads = notebook.recordings_with_leftovers()
    except UnreadableRecordingError:
        return {}  # the list names the recording that cannot be read
    if not heads:
        return {}

    from app.recording.kind import kind_of

    return {head.id: kind_of(head).leftover_text(notebook, head) for head in heads}
