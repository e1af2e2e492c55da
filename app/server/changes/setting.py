"""A setting of a server that can be changed, of whatever kind, and what a user named and agreed to for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.server.changes.samba_place import SambaPlace
from app.server.changes.script import ServerChange
from app.server.shell import Answer
from storage.changes import GridAxis


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How a server may be reached and changed: what the user named, and agreed to."""

    ssh: str | None = None
    """None for this machine."""
    smb_conf: str | None = None
    """On the server; None for the one that its smbd runs with."""
    accepted: tuple[str, ...] = ()
    """Settings whose risks are."""
    apply: str | None = None
    """A command that makes the change, in place of a value."""
    revert: str | None = None
    restart: bool = False
    """Whether smbd may be restarted, which ends all its sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeableSetting(GridAxis):
    """One setting of one server, found and checked; nothing is written yet."""

    configuration: str = ""
    """SHA-256 of the effective configuration, or empty."""
    machine: str
    """The server's own name."""
    ssh: str | None
    managers: tuple[str, ...] = ()
    """What on the server may write its settings anew, a line each."""
    writes: tuple[str, ...]
    """What will be written and where, a line each, for consent."""
    undo_path: str
    risks: tuple[str, ...] = ()
    """Those that were accepted, a line each."""
    place: SambaPlace | None = None
    """None for what is not Samba's."""
    plan: Callable[[str, Sequence[str]], ServerChange]
    """From the change's id and the values to try, in this order."""
    effective: Callable[[Answer], str | None]
    """The value in effect, from the answer to a change's ``look``; None where it could not be read."""
    same: Callable[[str, str], bool]
    """Whether a value in effect is the one that was written, however either is spelled."""
    live: Callable[[str], str | None] | None = None
    """Called while a new session is open: evidence that the value acts, or None. Raises ChangeFailedError."""
