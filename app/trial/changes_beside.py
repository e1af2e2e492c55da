"""What a running trial has changed on a server just now, as far as a measurement beside it includes that."""

import socket
from contextlib import suppress

from app.server.routes import is_this_machine
from storage.changes import ChangeKind, GridAxis, JournalEntry
from storage.notebook import Notebook
from storage.records import Target

_WHOLE_SERVER = "[global]"


def changes_beside(notebook: Notebook, target: Target) -> list[str]:
    """Each change as people are told of it; those of another server, or of another share alone, are left out."""
    texts = []
    for entry in notebook.changes_at_work():
        # Where the trial is not stored, nobody knows what its change touches.
        series = notebook.experiment(entry.experiment)
        if series and not _is_same_machine(series[0].target, target):
            continue

        section = _share_section(notebook, entry)
        if section and section.strip("[]").casefold() != (target.share or "").casefold():
            continue
        texts.append(f"{section} {entry.description}".strip())
    return texts


def _share_section(notebook: Notebook, entry: JournalEntry) -> str:
    """The section of the one share that the change touches, ``[photos]``; empty where it touches the whole server."""
    plan = notebook.trial(entry.experiment)
    if plan is None or entry.kind is not ChangeKind.SMB_CONF:
        return ""

    axes: tuple[GridAxis, ...] = plan.axes or (plan,)
    sections = [axis.section for axis in axes if axis.name == entry.name]
    section = sections[0] if sections else ""
    return "" if section.casefold() == _WHOLE_SERVER else section


def _is_same_machine(target: Target, other: Target) -> bool:
    """Whether both are on one machine; names that no address is found for are compared as they are written."""
    if target.host.casefold() == other.host.casefold():
        return True
    if _is_here(target) or _is_here(other):
        return _is_here(target) and _is_here(other)
    return bool(_addresses(target.host) & _addresses(other.host))


def _is_here(target: Target) -> bool:
    return target.abilities.is_local or is_this_machine(target.host)


def _addresses(host: str) -> set[str]:
    with suppress(OSError, UnicodeError):
        return {str(answer[4][0]) for answer in socket.getaddrinfo(host, None, type=socket.SOCK_DGRAM)}
    return set()
