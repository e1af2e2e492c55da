"""Which process measures a series right now, told apart from all earlier and later ones."""

import os
import socket
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from storage.records import Owner, utc_now

LEASE_SECONDS = 600.0
"""A process of another host counts as alive this long after its last sign of life."""


@dataclass(frozen=True, slots=True)
class _ProcessIdentity:
    boot_id: str
    started: str


def this_process() -> Owner:
    """This process as an owner."""
    identity = _identity_of(os.getpid())
    now = utc_now()
    return Owner(
        host=socket.gethostname(),
        boot_id=identity.boot_id,
        process_id=os.getpid(),
        process_started=identity.started,
        since=now,
        renewed_at=now,
    )


def ended(owner: Owner) -> Owner:
    """The owner as one that has ended, though its process may continue."""
    return replace(owner, process_started="", renewed_at="")


def is_alive(owner: Owner) -> bool:
    """Whether the process is alive, as far as can be known from here."""
    if owner.host == socket.gethostname():
        found = _identity_of(owner.process_id)
        return bool(found.started) and (found.boot_id, found.started) == (owner.boot_id, owner.process_started)
    try:
        age = datetime.now(UTC) - datetime.fromisoformat(owner.renewed_at)
    except (ValueError, TypeError):
        return False
    return abs(age.total_seconds()) < LEASE_SECONDS


def _identity_of(process_id: int) -> _ProcessIdentity:
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
    except OSError:
        return _ProcessIdentity(_boot_id(), "")
    words = fields.split()
    gone = words[:1] in (["Z"], ["X"])
    return _ProcessIdentity(_boot_id(), "" if gone or len(words) < 20 else words[19])


@cache
def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def is_own_file(path: Path) -> bool:
    """Whether a file is this user's, the sudo caller's, or does not exist yet."""
    if not hasattr(os, "geteuid"):
        return True
    mine = {os.geteuid(), int(os.environ.get("SUDO_UID", os.geteuid()))}
    return not path.exists() or path.stat().st_uid in mine
