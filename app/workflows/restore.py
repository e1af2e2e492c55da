"""Restore what interrupted trials and isolations changed on servers."""

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from app.changes.journal import leave, where
from app.changes.restore import Restored, restore_change
from app.changes.server import ChangeFailedError
from app.changes.smb_conf import writable_text
from app.errors import UsageError
from app.isolation.folders import put_back_after_kills
from storage.changes import ChangeState, JournalEntry
from storage.notebook import Notebook
from storage.ownership import is_own_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoration:
    """The result of restoring everything."""

    at_work: list[JournalEntry]
    """Changes under another process's lease: not touched."""
    left: list[JournalEntry]
    """Changes without a lease."""
    of_isolations: list[str]
    """Results for killed isolations, one line each."""
    done: list[Restored] = field(default_factory=list)
    problems: list[ChangeFailedError] = field(default_factory=list)

    def lines(self) -> list[str]:
        lines = [f"{owner_text(entry)}: left alone" for entry in self.at_work]
        lines += [*self.of_isolations, *map(restored_text, self.done), *map(str, self.problems)]
        return lines or ["nothing to put back"]


def check_own(path: Path) -> None:
    """Raise UsageError for another user's notebook: its commands run as root."""
    if not is_own_file(path):
        raise UsageError(
            f"{path} belongs to somebody else, and what it says would be run as root on the server: restore"
            " from a notebook of your own, or there by hand"
        )


def restore(notebook: Notebook, ssh: str | None = None) -> Restoration:
    """Restore every change without a lease; failures are in the result. Raises UsageError.
    ``ssh`` reaches the server if the notebook was moved to another machine.
    """
    check_own(notebook.path)
    standing = notebook.journal(ChangeState.OPEN)
    at_work = [entry for entry in standing if entry.at_work]
    left = [entry for entry in standing if entry not in at_work]
    found = Restoration(at_work=at_work, left=left, of_isolations=put_back_after_kills(notebook))
    for entry in tuple(left):
        if not _taken(entry, notebook):
            left.remove(entry)  # somebody else put it back since, or is at it
            at_work += [now for now in notebook.journal(ChangeState.OPEN) if now.id == entry.id]
            continue
        try:
            found.done.append(restore_change(entry, notebook, ssh))
        except ChangeFailedError as error:
            found.problems.append(error)
        finally:
            leave(entry, notebook)
    return found


def _taken(entry: JournalEntry, notebook: Notebook) -> bool:
    """True also if the notebook cannot store the lease: restoring matters more."""
    try:
        return notebook.take_journal(entry.id)
    except sqlite3.Error:
        return True


def owner_text(entry: JournalEntry) -> str:
    """Who holds the lease of a change, as the beginning of a sentence."""
    return f"process {entry.owner.process_id} on {entry.owner.host} is at work on {entry.name}"


def restored_text(one: Restored) -> str:
    """The result for one change, in a line."""
    entry = one.entry
    said = f"{entry.name} on {where(entry)} is {one.effective or 'empty'} again, as before"
    if one.effective is None:
        said = f"{entry.name} on {where(entry)} is as before"
    if one.same_configuration is False:
        said += "; the configuration differs from what it was, by what somebody else changed meanwhile"
    if not one.reloaded and one.effective is not None:
        said += "; no smbd took it in: reload or restart it"
    return "; beware: ".join([said, *map(writable_text, one.writable)])
