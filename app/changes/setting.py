"""A changeable setting of a server, wherever it is stored."""

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
    section: str
    """``[global]`` or ``[SHARE]`` of smb.conf, or a network card; else empty."""
    previous: str | None
    configuration: str = ""
    """SHA-256 of the effective configuration, or empty."""
    machine: str
    ssh: str | None
    values: tuple[str, ...]
    managers: tuple[str, ...] = ()
    writes: tuple[str, ...]
    """What will be written and where, a line each, for consent."""
    undo_path: str
    risks: tuple[str, ...] = ()
    place: SambaPlace | None = None
    plan: Callable[[str, Sequence[str]], ServerChange]
    effective: Callable[[Answer], str | None]
    same: Callable[[str, str], bool]
    live: Callable[[str], str | None] | None = None
    """Called while a new session is open: evidence that the value acts, or None. Raises ChangeFailedError."""
