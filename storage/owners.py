"""Which process measures a recording, or restores a setting of a server, and whether that process is still alive.

A process writes itself down as the owner while it is at work, and renews the time as a sign of life. So no other one
resumes or deletes what it measures; and where it was killed, another can tell, and takes over what it left.
"""

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from storage.json_reader import moment_text

LEASE_SECONDS = 600.0
"""A process of another host counts as alive this long after its last sign of life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A process that is at work on a recording or a change, as the notebook stores it."""

    host: str
    boot_id: str
    """The kernel's for this boot: after another one a process of the same number is another."""
    process_id: int
    process_started: str
    """In the kernel's ticks since the boot; empty for one that has ended."""
    since: str
    """When it began with this work."""
    renewed_at: str
    """Its last sign of life."""

    @property
    def is_alive(self) -> bool:
        """Whether the process is alive, as far as can be known from here."""
        if self.host == _host_name():
            started = _start_of_process(self.process_id)
            return started != "" and (_boot_id(), started) == (self.boot_id, self.process_started)

        # Of a process on another host only its last sign of life is known.
        try:
            age = datetime.now(UTC) - datetime.fromisoformat(self.renewed_at)
        except (ValueError, TypeError):
            return False
        return abs(age.total_seconds()) < LEASE_SECONDS

    def as_ended(self) -> "Owner":
        """The owner as one that is not alive, though its process may continue: others can take its work over."""
        return replace(self, process_started="", renewed_at="")


def this_process() -> Owner:
    """This process as an owner whose work begins now."""
    process_id = os.getpid()
    now = moment_text(datetime.now(UTC))
    return Owner(
        host=_host_name(),
        boot_id=_boot_id(),
        process_id=process_id,
        process_started=_start_of_process(process_id),
        since=now,
        renewed_at=now,
    )


def _host_name() -> str:
    import socket  # loads several others, and mostly nobody measures

    return socket.gethostname()


_STATE = 0
_START_TIME = 19
"""Places in /proc/PID/stat after the program's name (proc(5): fields 3 and 22)."""


def _start_of_process(process_id: int) -> str:
    """When a process started, in the kernel's ticks since the boot; empty where it has ended."""
    try:
        status = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

    # The name stands in parentheses and may hold any character, also a parenthesis.
    fields = status.rpartition(")")[2].split()
    has_ended = fields[_STATE : _STATE + 1] in (["Z"], ["X"])
    return "" if has_ended or len(fields) <= _START_TIME else fields[_START_TIME]


@cache
def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
