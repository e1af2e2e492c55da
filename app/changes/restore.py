"""Restores changes that an interrupted trial left, from any machine that has the notebook."""

import shlex
from dataclasses import dataclass, replace

from app.changes.journal import restore_entry, where
from app.changes.server import ChangeFailedError, read_there
from storage.changes import ChangeKind, JournalEntry
from storage.notebook import Notebook

_WHO = 'section machine\necho "$(uname -n) $(cat /etc/machine-id 2>/dev/null)"\nsection uid\nid -u'


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """Result of restoring a change."""

    entry: JournalEntry
    effective: str | None
    """Current value; None if the server does not say."""
    reloaded: bool
    same_configuration: bool | None
    """None if the configurations cannot be compared."""
    writable: tuple[str, ...] = ()
    """Configuration files writable by every user of the server."""


def restore_change(entry: JournalEntry, notebook: Notebook, ssh: str | None = None) -> Restored:
    """``ssh`` replaces the stored host if the notebook was moved. Raises ConflictError, ChangeFailedError."""
    entry = replace(entry, ssh=ssh) if ssh else entry
    who = read_there(_WHO, entry.ssh)
    if who.problem:
        text = who.problem.replace("no facts of the server", f"{entry.name} could not be restored")
        raise ChangeFailedError(f"{text}; or there as root: sh {entry.undo_path}")
    here = " ".join((who.text("machine") or "").split())
    if here != entry.machine:
        raise ChangeFailedError(
            f"{entry.name} was changed on {entry.machine.partition(' ')[0]}, and this is {here.partition(' ')[0]}: name"
            " the way there by ssh, root@HOST",
            options="--server-ssh root@HOST",
        )
    if who.text("uid") != "0":
        raise ChangeFailedError(f"only root can restore {entry.name} on {where(entry)}: start sharebench as root")
    answer = restore_entry(entry, notebook)
    now = (answer.text("configuration") or "").strip()
    return Restored(
        entry=entry,
        effective=", ".join(filter(None, (answer.text("effective"), answer.text("1.effective")))) or None,
        reloaded="reloaded" in answer.sections,
        same_configuration=now == entry.configuration_before if now and entry.configuration_before else None,
        writable=_writable(entry),
    )


def _writable(entry: JournalEntry) -> tuple[str, ...]:
    if entry.kind is not ChangeKind.SMB_CONF:
        return ()
    folder = shlex.quote(entry.undo_path.rpartition("/")[0] or "/")
    answer = read_there(f"section writable\nfind -L {folder} -maxdepth 1 -name '*.conf' -type f -perm -2", entry.ssh)
    return tuple((answer.text("writable") or "").splitlines())
