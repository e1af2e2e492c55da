"""The keys of the notebook's list that delete recordings and restore them."""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from app.base.errors import UsageError
from app.tui.notebook import readings, series_actions, series_list

if TYPE_CHECKING:
    from app.tui.notebook.deletion import Deletion
    from storage.notebook import Notebook
    from storage.recordings import Removed

# The first paint does not wait for what comes after it, so dialogs are imported in the functions below.


class DeletesRecordings(series_actions.SeriesActions):
    """Deletes what is marked or pointed at: ``action_delete``, the question if there is one, ``_delete``.

    What was deleted can be restored until sharebench is left. The screen writes ``rows`` and ``look``; ``look`` is
    called when something was deleted or restored.
    """

    removed: "list[tuple[str, list[Removed]]]"
    """What ``u`` restores, the newest last: the name of what was deleted, and its recordings."""
    restored_id = ""
    """What was restored just now, to which the cursor goes; empty where nothing was."""

    @property
    def rows(self) -> series_list.SeriesList:
        raise NotImplementedError

    def look(self) -> None:
        raise NotImplementedError

    def action_delete(self) -> None:
        ids = self.target_ids()
        if ids:
            names = self.rows.names(ids)  # before they are gone from the list
            self.with_notebook(partial(self._name_and_question, names=names), partial(self._ask_to_delete, names))

    def _name_and_question(self, notebook: "Notebook", names: dict[str, str]) -> str:
        """In a thread: the question, or empty; first gives ``names`` those of the recordings not read yet, too.

        What cannot be read is deleted all the same.
        """
        from app.tui.notebook.deletion import MOST_NAMED, question_before
        from storage.errors import NotebookFileError

        ids = list(names)
        unread_ids = [recording_id for recording_id in ids[:MOST_NAMED] if recording_id not in self.rows.lines]
        with suppress(UsageError, NotebookFileError, TypeError, ValueError):
            names.update(self.rows.names(ids, readings.read_lines(notebook, unread_ids).lines))
        return question_before(notebook, names)

    def _ask_to_delete(self, names: dict[str, str], question: str) -> None:
        from app.tui.frame.dialogs import ConfirmDialog

        if not question:
            self._delete(names)
            return

        def delete(_answer: bool) -> None:
            # `ask` comes here only after yes.
            self._delete(names)

        self.ask(ConfirmDialog("Delete?", question, yes="Delete"), delete)

    def _delete(self, names: dict[str, str]) -> None:
        from app.tui.notebook.deletion import remove_all

        self.with_notebook(partial(remove_all, ids=list(names)), partial(self._take_deletion, names))

    def _take_deletion(self, names: dict[str, str], deletion: "Deletion") -> None:
        removed_ids = [removed.recording.id for removed in deletion.removed]
        if removed_ids:
            name = names[removed_ids[0]] if len(removed_ids) == 1 else f"{len(removed_ids):,} recordings"
            self.removed.append((name, deletion.removed))
            self.notify(f"{name}. Press u in this list to undo, until you quit.", title="Deleted")
        elif deletion.unreadable:
            self.notify(f"{', '.join(deletion.unreadable)}, for good.", title="Deleted")

        gone_ids = [*removed_ids, *deletion.unreadable]
        if gone_ids:
            self.rows.unmark(*gone_ids)
        self.look()
        if deletion.refusal is not None:
            self.sharebench_app.tell_error(deletion.refusal)

    def action_undo(self) -> None:
        name, removed = self.removed.pop()
        self.with_notebook(
            partial(self._restore_removed, name=name, removed=removed), partial(self._tell_restored, name, removed)
        )

    def _restore_removed(self, notebook: "Notebook", name: str, removed: "list[Removed]") -> None:
        missing = list(removed)
        try:
            while missing:
                notebook.restore(missing[-1])  # a base is there before the series made from it
                missing.pop()
        finally:
            if missing:
                self.removed.append((name, missing))

    def _tell_restored(self, name: str, removed: "list[Removed]", _result: None) -> None:
        self.notify(f"{name}.", title="Restored")
        self.restored_id = removed[0].recording.id
        self.look()
