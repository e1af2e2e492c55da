"""Restores what interrupted trials and isolations left changed on servers: ``sharebench restore``, and the screens."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.base.errors import NotebookError, SharebenchError, UsageError
from app.isolation.record import restored_isolations
from app.server.changes.script import ChangeFailedError
from app.trial.change_journal import leave, server_of
from app.trial.restored_change import Restored, restore_change, restored_text
from storage.changes import ChangeState, JournalEntry
from storage.notebook import Notebook
from storage.paths import is_own_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoration:
    """What became of the changes that interrupted trials and isolations left."""

    at_work: list[JournalEntry]
    """The changes of trials whose process is still at work on them: they are left alone."""
    to_restore: list[JournalEntry]
    """The changes that were to be restored, whether that succeeded or not."""
    restored: list[Restored] = field(default_factory=list)
    of_isolations: list[str] = field(default_factory=list)
    """What was restored of isolations, a line each."""
    problems: list[SharebenchError] = field(default_factory=list)

    def lines(self) -> list[str]:
        """All of it in words."""
        lines = [f"{owner_text(entry)}: left alone" for entry in self.at_work]
        lines += [*self.of_isolations, *map(restored_text, self.restored), *map(str, self.problems)]
        return lines or ["nothing to restore"]


def check_own(path: Path) -> None:
    """Raises UsageError where the notebook belongs to another user."""
    if not is_own_file(path):
        raise UsageError(
            f"{path} belongs to somebody else, and what it says would be run as root on the server: restore"
            " from a notebook of your own, or there by hand"
        )


def restore(notebook: Notebook, ssh: str | None = None, tell: Callable[[str], object] | None = None) -> Restoration:
    """Restore every change whose process is no longer at work on it, and what isolations left.

    ``ssh`` replaces the stored way to the servers; ``tell`` is called with each line about an isolation. What goes
    wrong is a problem of the result. Raises UsageError for a notebook of another user.
    """
    check_own(notebook.path)

    standing = notebook.journal(ChangeState.OPEN)
    at_work = [entry for entry in standing if entry.at_work]
    to_restore = [entry for entry in standing if entry not in at_work]
    restoration = Restoration(at_work=at_work, to_restore=to_restore)
    for entry in tuple(to_restore):
        if _take_entry(entry, notebook):
            _restore_into(restoration, entry, notebook, ssh)
        else:
            to_restore.remove(entry)
            at_work += [current for current in notebook.journal(ChangeState.OPEN) if current.id == entry.id]

    try:
        for line in restored_isolations(notebook):
            if tell is not None:
                tell(line)
            restoration.of_isolations.append(line)
    except NotebookError as error:
        restoration.problems.append(error)
    return restoration


def _take_entry(entry: JournalEntry, notebook: Notebook) -> bool:
    """Whether the change is ours to restore; False where somebody else restored it since, or is restoring it."""
    # Also if the notebook cannot store that we are at work on it: restoring matters more.
    is_taken = True
    with suppress(sqlite3.Error):
        is_taken = notebook.take_journal(entry.id)
    return is_taken


def _restore_into(restoration: Restoration, entry: JournalEntry, notebook: Notebook, ssh: str | None) -> None:
    try:
        restoration.restored.append(restore_change(entry, notebook, ssh))
    except ChangeFailedError as error:
        restoration.problems.append(error)
    except sqlite3.Error as error:
        sentence = f"was restored, but the notebook could not record it ({error}): restoring it again is safe"
        restoration.problems.append(ChangeFailedError(f"{entry.name} on {server_of(entry)} {sentence}"))
    finally:
        leave(entry, notebook)


def owner_text(entry: JournalEntry) -> str:
    return f"process {entry.owner.process_id} on {entry.owner.host} is at work on {entry.name}"
