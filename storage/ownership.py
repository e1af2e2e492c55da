"""Who measures a series right now: a process of some host, told apart from every other one before and after it."""

import os
import socket
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from storage.records import Owner, utc_now

LEASE_SECONDS = 600.0
"""For so long after its last sign of life a process of another host, which cannot be looked at, counts as alive."""


@dataclass(frozen=True, slots=True)
class _ProcessIdentity:
    boot_id: str
    started: str
    """In ticks since the boot."""


def this_process() -> Owner:
    """The process that asks, as an owner from now on."""
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
    """The owner as one that is over with it, although its process may go on."""
    return replace(owner, process_started="", renewed_at="")


def is_alive(owner: Owner) -> bool:
    """Whether the process goes on, as far as can be told from here."""
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
    """Whether a file is this user's, or that of who became root by sudo; also one that is not there yet."""
    if not hasattr(os, "geteuid"):
        return True
    mine = {os.geteuid(), int(os.environ.get("SUDO_UID", os.geteuid()))}
    return not path.exists() or path.stat().st_uid in mine
