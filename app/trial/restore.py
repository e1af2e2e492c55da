"""Records a change before it is made, and restores what interrupted trials and isolations changed on servers."""

import shlex
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base.errors import NotebookError, SharebenchError, UsageError
from app.isolation.record import restored_isolations
from app.server.changes import script as server
from app.server.changes.samba_place import effective_value, writable_text
from app.server.changes.script import (
    ChangeFailedError,
    ConflictError,
    ServerChange,
    read_there,
    undo_command,
    undo_script,
)
from app.server.changes.setting import ChangeableSetting
from app.server.shell import Answer
from storage.changes import ChangeKind, ChangeState, JournalEntry
from storage.notebook import Notebook
from storage.owners import this_process
from storage.paths import is_own_file
from storage.records import utc_now

_WHO = 'section machine\necho "$(uname -n) $(cat /etc/machine-id 2>/dev/null)"\nsection uid\nid -u'


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    entry: JournalEntry
    effective: str | None
    reloaded: bool
    same_configuration: bool | None
    """None if the configurations cannot be compared."""
    writable: tuple[str, ...] = ()


def restore_change(entry: JournalEntry, notebook: Notebook, ssh: str | None = None) -> Restored:
    """``ssh`` replaces the stored host if the notebook was moved. Raises ConflictError, ChangeFailedError."""
    entry = replace(entry, ssh=ssh) if ssh else entry
    who = read_there(_WHO, entry.ssh)
    if who.problem:
        text = f"{entry.name} could not be restored: {who.problem}; or there as root: {undo_command(entry.undo_path)}"
        raise ChangeFailedError(text)
    machine = " ".join((who.text("machine") or "").split())
    if machine != entry.machine:
        changed_name = entry.machine.partition(" ")[0]
        this_name = machine.partition(" ")[0]
        raise ChangeFailedError(
            f"{entry.name} was changed on {changed_name}, and this is {this_name}: name the way there by ssh,"
            " root@HOST",
            options="--server-ssh root@HOST",
        )
    if who.text("uid") != "0":
        raise ChangeFailedError(f"only root can restore {entry.name} on {server_of(entry)}: start sharebench as root")

    answer = restore_entry(entry, notebook)
    configuration = (answer.text("configuration") or "").strip()
    is_same = None
    if configuration and entry.configuration_before:
        is_same = configuration == entry.configuration_before
    values = filter(None, (effective_value(answer), answer.text("1.effective")))
    return Restored(
        entry=entry,
        effective=", ".join(values) or None,
        reloaded="not_reloaded" not in answer.sections,
        same_configuration=is_same,
        writable=_writable_files(entry),
    )


def _writable_files(entry: JournalEntry) -> tuple[str, ...]:
    """The files beside smb.conf that everybody can write to."""
    if entry.kind is not ChangeKind.SMB_CONF:
        return ()
    folder = shlex.quote(entry.undo_path.rpartition("/")[0] or "/")
    answer = read_there(f"section writable\nfind -L {folder} -maxdepth 1 -name '*.conf' -type f -perm -2", entry.ssh)
    return tuple((answer.text("writable") or "").splitlines())


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoration:
    """What became of the changes that interrupted trials and isolations left."""

    at_work: list[JournalEntry]
    left: list[JournalEntry]
    restored: list[Restored] = field(default_factory=list)
    of_isolations: list[str] = field(default_factory=list)
    problems: list[SharebenchError] = field(default_factory=list)

    def lines(self) -> list[str]:
        lines = [f"{owner_text(entry)}: left alone" for entry in self.at_work]
        lines += [*self.of_isolations, *map(restored_text, self.restored), *map(str, self.problems)]
        return lines or ["nothing to restore"]


def check_own(path: Path) -> None:
    if not is_own_file(path):
        raise UsageError(
            f"{path} belongs to somebody else, and what it says would be run as root on the server: restore"
            " from a notebook of your own, or there by hand"
        )


def restore(notebook: Notebook, ssh: str | None = None, tell: Callable[[str], object] | None = None) -> Restoration:
    """Restore every change without a lease, over ``ssh`` if given; ``tell`` hears of isolations. Raises UsageError."""
    check_own(notebook.path)

    standing = notebook.journal(ChangeState.OPEN)
    at_work = [entry for entry in standing if entry.at_work]
    left = [entry for entry in standing if entry not in at_work]
    restoration = Restoration(at_work=at_work, left=left)
    for entry in tuple(left):
        # Also if the notebook cannot store the lease: restoring matters more.
        is_taken = True
        with suppress(sqlite3.Error):
            is_taken = notebook.take_journal(entry.id)
        if not is_taken:
            # Somebody else restored it since, or is restoring it.
            left.remove(entry)
            at_work += [current for current in notebook.journal(ChangeState.OPEN) if current.id == entry.id]
            continue
        _restore_into(restoration, entry, notebook, ssh)

    try:
        for line in restored_isolations(notebook):
            if tell is not None:
                tell(line)
            restoration.of_isolations.append(line)
    except NotebookError as error:
        restoration.problems.append(error)
    return restoration


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


def restored_text(restored: Restored) -> str:
    entry = restored.entry
    again = "" if restored.effective is None else f"{restored.effective or 'empty'} again, "
    sentence = f"{entry.name} on {server_of(entry)} is {again}as before"
    if restored.same_configuration is False:
        sentence += "; the configuration differs from what it was, by what somebody else changed meanwhile"
    if not restored.reloaded:
        sentence += "; no smbd took it in: reload or restart it"
    return "; beware: ".join([sentence, *map(writable_text, restored.writable)])


def begin_change(change: ServerChange, setting: ChangeableSetting, experiment: str, notebook: Notebook) -> JournalEntry:
    """Record the change, then prepare it. Raises ChangeFailedError, with everything restored."""
    entry = JournalEntry(
        id=change.id,
        created_at=utc_now(),
        experiment=experiment,
        kind=setting.kind,
        name=setting.name,
        machine=setting.machine,
        ssh=setting.ssh,
        undo_path=change.undo_path,
        undo_script=undo_script(change),
        effective_before=setting.previous,
        configuration_before=setting.configuration,
        owner=this_process(),
    )

    # First of all, so that a crash in the middle of the change leaves how to restore it.
    notebook.open_journal(entry)
    try:
        server.begin(change, setting.ssh)
    except server.ChangeRefusedError:
        # Somebody else's change stands there: sharebench wrote nothing.
        notebook.close_journal(entry.id)
        raise
    except ChangeFailedError:
        restore_entry(entry, notebook)
        raise
    return entry


def restore_entry(entry: JournalEntry, notebook: Notebook) -> Answer:
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
            f" server can be reached, or there as root: {undo_command(entry.undo_path)}"
        ) from error


def leave(entry: JournalEntry, notebook: Notebook) -> None:
    """Release our lease. Database errors are ignored so that the original error is reported."""
    with suppress(sqlite3.Error):
        notebook.leave_journal(entry)


def server_of(entry: JournalEntry) -> str:
    """Where the change was made, in words."""
    return entry.ssh or "this machine"
