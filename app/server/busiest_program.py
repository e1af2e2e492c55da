"""Which program kept this machine busiest over a time, beside our own and the servers on it."""

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.server import processes

_LEAST_PERCENT = 10.0
"""Of one processor: less keeps nobody busy."""

_KERNEL_THREADS = 2
"""The process whose children are the kernel's own threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyProgram:
    """A program, all its processes together."""

    name: str
    percent: float
    """Of one processor: 200 where it kept two busy."""


class BusiestProgram:
    """Begins to watch when it is made; :meth:`program` says what worked most since then."""

    def __init__(self) -> None:
        self._began_at = time.monotonic()
        self._before = processes.all_processes()

    def program(self) -> BusyProgram | None:
        """None where none worked much, or this system has no /proc."""
        now = processes.all_processes()
        seconds = max(time.monotonic() - self._began_at, 1e-3)
        ours = processes.process_tree(now, [os.getpid(), os.getppid()])

        ticks_by_name: defaultdict[str, int] = defaultdict(int)
        for pid, process in _programs_of_others(now, ours):
            earlier = self._before.get(pid)
            is_same = earlier is not None and earlier.started_ticks == process.started_ticks
            ticks_by_name[process.name] += process.ticks - (earlier.ticks if earlier is not None and is_same else 0)
        if not ticks_by_name:
            return None

        name = max(ticks_by_name, key=ticks_by_name.__getitem__)
        percent = 100 * ticks_by_name[name] / os.sysconf("SC_CLK_TCK") / seconds
        return BusyProgram(name=name, percent=percent) if percent >= _LEAST_PERCENT else None


def _programs_of_others(
    now: Mapping[int, processes.Process], ours: set[int]
) -> Iterator[tuple[int, processes.Process]]:
    """All but our own, the kernel's threads, and servers, which work for us where they are on this machine."""
    for pid, process in now.items():
        is_kernel = process.parent == _KERNEL_THREADS
        is_server = process.name.startswith(processes.SERVER_NAMES)
        if pid not in ours and not is_kernel and not is_server:
            yield pid, process
