"""Records a change in the notebook before it is made on a server, and undoes it by that record.

The record is an entry of the journal of changes (`JournalEntry`). It holds the undo script, so that a change can be
undone after a crash, and from a notebook that was moved. It is opened before anything is written on the server, and
closed once everything is restored; to *leave* it means that this process gives it up, and another one may restore it.
"""

import sqlite3
from contextlib import suppress

from app.server.changes import script
from app.server.changes.script import ChangeFailedError, ConflictError, ServerChange
from app.server.changes.setting import ChangeableSetting
from app.server.shell import Answer
from storage.changes import JournalEntry
from storage.notebook import Notebook
from storage.owners import this_process
from storage.records import utc_now


def begin_change(change: ServerChange, setting: ChangeableSetting, experiment: str, notebook: Notebook) -> JournalEntry:
    """Record the change, then prepare the server for it; returns the open entry.

    Raises ChangeRefusedError where somebody else's change stands there, ChangeFailedError with everything restored.
    """
    entry = JournalEntry(
        id=change.id,
        created_at=utc_now(),
        experiment=experiment,
        kind=setting.kind,
        name=setting.name,
        machine=setting.machine,
        ssh=setting.ssh,
        undo_path=change.undo_path,
        undo_script=script.undo_script(change),
        effective_before=setting.previous,
        configuration_before=setting.configuration,
        owner=this_process(),
    )

    # First of all, so that a crash in the middle of the change leaves how to restore it.
    notebook.open_journal(entry)
    try:
        script.begin(change, setting.ssh)
    except script.ChangeRefusedError:
        # Somebody else's change stands there: sharebench wrote nothing.
        notebook.close_journal(entry.id)
        raise
    except ChangeFailedError:
        restore_entry(entry, notebook)
        raise
    return entry


def restore_entry(entry: JournalEntry, notebook: Notebook) -> Answer:
    """Undo the change and close its entry, or leave it where that fails. Raises ChangeFailedError and its kinds."""
    try:
        answer = undo_entry(entry)
    except ChangeFailedError:
        leave(entry, notebook)
        raise
    notebook.close_journal(entry.id)
    return answer


def undo_entry(entry: JournalEntry) -> Answer:
    """Restore all that the change wrote; may be called again. Returns what the undo script printed.

    Raises StepRunningError, ConflictError or ChangeFailedError, whose texts say what to do.
    """
    try:
        return script.undo(entry.undo_script, entry.ssh)
    except script.StepRunningError as error:
        text = (
            f"a step is still running on {server_of(entry)} since {error.since} (pid {error.process_id}), so"
            f" {entry.name} was not restored: run `sharebench restore` when it has ended"
        )
        error.args = (text,)
        raise

    except ConflictError as error:
        text = (
            f"{error}; make it as it was, or take the lines of sharebench out of it, then run `sharebench restore`"
            f" again (the undo script is {entry.undo_path} on {server_of(entry)})"
        )
        raise ConflictError(text, error.now) from error

    except ChangeFailedError as error:
        raise ChangeFailedError(
            f"{entry.name} on {server_of(entry)} could not be restored ({error}): run `sharebench restore` when the"
            f" server can be reached, or there as root: {script.undo_command(entry.undo_path)}"
        ) from error


def leave(entry: JournalEntry, notebook: Notebook) -> None:
    """Give the entry up. Errors of the database are ignored, so that the original error is reported."""
    with suppress(sqlite3.Error):
        notebook.leave_journal(entry)


def server_of(entry: JournalEntry) -> str:
    """Where the change was made, in words."""
    return entry.ssh or "this machine"
