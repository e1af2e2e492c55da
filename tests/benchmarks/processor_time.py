"""The processor time of all processes of one side of a comparison, counted by the kernel to the nanosecond."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from pathlib import Path
from typing import Self

import psutil

from tests.servers.process import program

_CPUACCT = Path("/sys/fs/cgroup/cpuacct")
"""Of cgroup v1; where it is missing, all controllers are in the folder above."""
_PREFIX = "sharebench-bench-"
"""Of the name of a group, before the id of the process that made it."""
_numbers = itertools.count(1)
"""Of the groups of this process."""
_END_SECONDS = 5.0
"""How long a killed process may stay in its group."""


class ProcessorGroup:
    """A cgroup: what its processes and all that they start use, those that have ended too. Needs root."""

    def __init__(self, name: str) -> None:
        self._is_v1 = _CPUACCT.is_dir()
        parent = _CPUACCT if self._is_v1 else _CPUACCT.parent
        _remove_abandoned(parent)
        self.folder = parent / f"{_PREFIX}{os.getpid()}-{next(_numbers)}-{name}"
        self.folder.mkdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        deadline = time.monotonic() + _END_SECONDS
        while self.folder.is_dir() and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.05)

    def join(self, pid: int) -> None:
        """Count a process from now on, and those that it has started."""
        for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            with contextlib.suppress(OSError):
                (self.folder / "cgroup.procs").write_text(str(process.pid))

    @property
    def prefix(self) -> list[str]:
        """What a command begins with to be counted from its start."""
        return [program("sh"), "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs")]

    def seconds(self) -> float:
        """User and system time together, so far."""
        if self._is_v1:
            return int((self.folder / "cpuacct.usage").read_text()) / 1e9

        figures = dict(line.split() for line in (self.folder / "cpu.stat").read_text().splitlines())
        return int(figures["usage_usec"]) / 1e6


def _remove_abandoned(parent: Path) -> None:
    """Remove empty groups of processes that have ended: a server may have stayed longer than it was waited for."""
    for folder in parent.glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            with contextlib.suppress(OSError):
                folder.rmdir()
