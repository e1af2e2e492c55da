"""A setting of a server that can be changed and put back, whatever holds it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.changes.script import ServerChange
from app.changes.smb_conf import SambaPlace
from app.server.shell import Answer
from storage.changes import ChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeableSetting:
    """One setting of one server, found and checked; nothing is written yet."""

    kind: ChangeKind
    name: str
    """The canonical name."""
    section: str
    """``[global]`` or ``[SHARE]`` of smb.conf, a network card; empty elsewhere."""
    previous: str | None
    """The effective value now."""
    configuration: str = ""
    """SHA-256 of the whole effective configuration; empty where there is none."""
    machine: str
    ssh: str | None
    values: tuple[str, ...]
    """What is to be tried."""
    managers: tuple[str, ...] = ()
    """What else sets the same things, in words."""
    writes: tuple[str, ...]
    """What will be written and where, a line each, for consent."""
    undo_path: str
    risks: tuple[str, ...] = ()
    """Risks that were accepted, a sentence each."""
    place: SambaPlace | None = None
    """Where in smb.conf it stands; None for what is not Samba's."""
    plan: Callable[[str, Sequence[str]], ServerChange]
    """Makes the scripts of a change of that id for those values."""
    effective: Callable[[Answer], str | None]
    """Reads the effective value in what a script's look printed."""
    same: Callable[[str, str], bool]
    """Whether an effective value is the one that was asked for."""
    live: Callable[[str], str | None] | None = None
    """Asked while a new session is open: what shows there that the value acts; None where nothing can.

    Raises ChangeFailedError where the session denies it.
    """
