"""Leftovers of interrupted recordings on servers, changed settings and files, offered on the notebook's screen."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.tui.frame.base import BaseScreen
    from app.workflows.restore import Restoration
    from storage.changes import JournalEntry
    from storage.notebook import Notebook


class LeftChanges:
    """Those that a screen reports, each once, and offers to restore or says how to remove."""

    def __init__(self, screen: "BaseScreen") -> None:
        self.screen = screen
        self._left: list[JournalEntry] = []
        self._files: dict[str, str] = {}
        self._told: set[str] = set()
        self._looks = False
        self._has_failed = False
        self._is_restoring = False

    @property
    def offered(self) -> bool:
        return bool(self._left or self._files) and not self._is_restoring

    def look(self) -> None:
        if not self._looks:
            self._looks = True
            self.screen.with_notebook(_left_behind, self._found, group="left behind")

    def _found(self, found: "tuple[list[JournalEntry], dict[str, str]] | Exception") -> None:
        self._looks = False
        if not isinstance(found, Exception):
            self._tell(*found)
        elif not self._has_failed:
            self._has_failed = True
            self.screen.work_failed(found)

    def _tell(self, left: "list[JournalEntry]", files: "dict[str, str]") -> None:
        self._left, self._files = left, files
        self.screen.refresh_bindings()
        texts = {
            entry.id: f"An interrupted trial left {entry.name} changed on {entry.ssh or 'this machine'}: R restores it."
            for entry in left
        }
        texts |= {one: f"Leftovers of {one} may still be on its target: R names them." for one in files}
        for one, text in texts.items():
            if one not in self._told:
                self._told.add(one)
                self.screen.notify(text, severity="warning", timeout=30, markup=False)

    def ask(self) -> None:
        from app.tui.frame.dialogs import ConfirmDialog, MessageDialog  # noqa: PLC0415  as below

        if not self._left:
            self.screen.app.push_screen(MessageDialog("Leftovers", "\n\n".join(self._files.values())))
            return
        names = ", ".join(f"{entry.name} on {entry.ssh or 'this machine'}" for entry in self._left)
        question = ConfirmDialog("Restore it?", f"As it was before the trial: {names}.", yes="Restore", prefer_yes=True)
        self.screen.app.push_screen(question, lambda yes: self._restore() if yes else None)

    def _restore(self) -> None:
        def job(notebook: "Notebook") -> "Restoration":
            from app.workflows.restore import restore  # noqa: PLC0415  the first paint does not wait for it

            return restore(notebook)

        self._is_restoring = True
        self.screen.refresh_bindings()
        self.screen.notify("Restoring …", markup=False)
        self.screen.with_notebook(job, self._restored, group="restore")

    def _restored(self, found: "Restoration") -> None:
        from app.tui.frame.dialogs import MessageDialog  # noqa: PLC0415  the first paint does not wait for it

        self._is_restoring = False
        self.screen.app.clear_notifications()
        heading = "Not everything was restored" if found.problems else "Restored"
        self.screen.app.push_screen(MessageDialog(heading, "\n\n".join((*found.lines(), *self._files.values()))))

    def failed(self) -> None:
        self._is_restoring = self._looks = False


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
