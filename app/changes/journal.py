"""Records a change in the notebook and on the server before it is made."""

import sqlite3
from contextlib import suppress

from app.changes import server
from app.changes.server import ChangeFailedError, ConflictError, ServerChange, undo_command, undo_script
from app.changes.smb_conf import ChangeableSetting
from app.server.shell import Answer
from storage.changes import JournalEntry
from storage.json_reader import named
from storage.notebook import Notebook
from storage.records import this_process, utc_now


def begin_change(change: ServerChange, setting: ChangeableSetting, experiment: str, notebook: Notebook) -> JournalEntry:
    """Record the change, then prepare it. Raises ChangeFailedError, with everything restored."""
    entry = JournalEntry(
        **named(setting, "kind", "name", "machine", "ssh"),
        id=change.id,
        created_at=utc_now(),
        experiment=experiment,
        undo_path=change.undo_path,
        undo_script=undo_script(change),
        effective_before=setting.previous,
        configuration_before=setting.configuration,
        owner=this_process(),
    )
    notebook.open_journal(entry)
    try:
        server.begin(change, setting.ssh)
    except server.ChangeRefusedError:
        notebook.close_journal(entry.id)  # somebody else's change stands there: sharebench wrote nothing
        raise
    except ChangeFailedError:
        restore_entry(entry, notebook)
        raise
    return entry


def restore_entry(entry: JournalEntry, notebook: Notebook) -> Answer:
    """As :func:`undo_entry`, and record it."""
    try:
        answer = undo_entry(entry)
    except ChangeFailedError:
        leave(entry, notebook)
        raise
    notebook.close_journal(entry.id)
    return answer


def undo_entry(entry: JournalEntry) -> Answer:
    """Restore all that the change wrote; may be called again. Raises ChangeFailedError and its kinds."""
    try:
        return server.undo(entry.undo_script, entry.ssh)
    except server.StepRunningError as error:
        text = (
            f"a step is still running on {where(entry)} since {error.since} (pid {error.process_id}), so {entry.name}"
            " was not restored: run `sharebench restore` when it has ended"
        )
        error.args = (text,)
        raise
    except ConflictError as error:
        text = (
            f"{error}; make it as it was, or take the lines of sharebench out of it, then run `sharebench restore`"
            f" again (the undo script is {entry.undo_path} on {where(entry)})"
        )
        raise ConflictError(text, error.now) from error
    except ChangeFailedError as error:
        raise ChangeFailedError(
            f"{entry.name} on {where(entry)} could not be restored ({error}): run `sharebench restore` when the server"
            f" can be reached, or there as root: {undo_command(entry.undo_path)}"
        ) from error


def leave(entry: JournalEntry, notebook: Notebook) -> None:
    """Release our lease. Database errors are ignored so that the original error is reported."""
    with suppress(sqlite3.Error):
        notebook.leave_journal(entry)


def where(entry: JournalEntry) -> str:
    return entry.ssh or "this machine"
