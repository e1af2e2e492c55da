"""A setting of a server that a trial can change, of whatever kind, and what a user named and agreed to for it.

`find_setting` finds one by its name. A trial then calls ``plan`` for the shell text of the change (`ServerChange`), and
runs that by `script`: begin, set the values one after another, and undo.
"""

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
    """The names of settings whose risks the user accepts."""
    apply: str | None = None
    """A command of the user that makes the change, in place of a value."""
    revert: str | None = None
    """A command that restores what ``apply`` changed; both are given, or neither."""
    restart: bool = False
    """Whether smbd may be restarted, which ends all its sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeableSetting(GridAxis):
    """One setting of one server, found and checked; nothing is written yet.

    Its name, its section, the value that was there and the values to try are fields of `GridAxis`.
    """

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
    """Where the undo script will lie on the server."""
    risks: tuple[str, ...] = ()
    """Those that were accepted, a line each."""
    place: SambaPlace | None = None
    """Where a parameter of Samba is changed; None for what is not Samba's."""

    plan: Callable[[str, Sequence[str]], ServerChange]
    """Makes the change from its id and the values to try, in this order."""
    effective: Callable[[Answer], str | None]
    """The value in effect, from the answer to a change's ``look``; None where it could not be read."""
    same: Callable[[str, str], bool]
    """Whether a value in effect is the one that was written, however either is spelled."""
    live: Callable[[str], str | None] | None = None
    """Called while a new session is open: evidence that the value acts, or None. Raises ChangeFailedError."""
