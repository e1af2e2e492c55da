"""Restores one change that a trial made on a server, by its entry in the notebook's journal."""

import shlex
from dataclasses import dataclass, replace

from app.server.changes.samba_place import writable_text
from app.server.changes.samba_plans import effective_value
from app.server.changes.script import ChangeFailedError, read_there, undo_command
from app.trial.change_journal import restore_entry, server_of
from storage.changes import ChangeKind, JournalEntry
from storage.notebook import Notebook

_MACHINE_AND_USER = 'section machine\necho "$(uname -n) $(cat /etc/machine-id 2>/dev/null)"\nsection uid\nid -u'
"""A script for the server: what it prints after ``section NAME`` is that section of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A change that was restored, and what the server is like now."""

    entry: JournalEntry
    """What had been changed."""
    effective: str | None
    """The value in effect now; None where it could not be read."""
    reloaded: bool
    """Whether the smbd there took in what was restored."""
    same_configuration: bool | None
    """Whether the whole configuration is as it was before; None if the two cannot be compared."""
    writable: tuple[str, ...] = ()
    """The paths of files beside smb.conf that every user there may write to."""


def restore_change(entry: JournalEntry, notebook: Notebook, ssh: str | None = None) -> Restored:
    """Undo the change on its server; ``ssh`` replaces the stored way there if the notebook was moved.

    Raises ConflictError where somebody else changed the setting, or ChangeFailedError, also on another machine than the
    one that was changed.
    """
    entry = replace(entry, ssh=ssh) if ssh else entry
    who = read_there(_MACHINE_AND_USER, entry.ssh)
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

    # An older version changed two settings at once; its undo script prints the second one's value as 1.effective.
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


def restored_text(restored: Restored) -> str:
    """What was restored, and what remains to be done there, in a line."""
    entry = restored.entry
    again = "" if restored.effective is None else f"{restored.effective or 'empty'} again, "
    sentence = f"{entry.name} on {server_of(entry)} is {again}as before"
    if restored.same_configuration is False:
        sentence += "; the configuration differs from what it was, by what somebody else changed meanwhile"
    if not restored.reloaded:
        sentence += "; no smbd took it in: reload or restart it"
    return "; beware: ".join([sentence, *map(writable_text, restored.writable)])
