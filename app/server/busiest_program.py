"""Which program kept this machine busiest over a time, beside our own and the servers on it."""

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

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
        ours = processes.process_tree(now, [os.getpid(), os.getppid()])
        return next(iter(self._busiest_first(_programs_of_others(now, ours))), None)

    def programs(self, most: int) -> list[BusyProgram]:
        """The busiest ones, ``most`` at most, but this very program: what runs beside it in a shell counts."""
        now = processes.all_processes()
        ours = processes.process_tree(now, [os.getpid()])
        return self._busiest_first(_programs_of_others(now, ours))[:most]

    def _busiest_first(self, others: Iterable[tuple[int, processes.Process]]) -> list[BusyProgram]:
        seconds = max(time.monotonic() - self._began_at, 1e-3)
        ticks_by_name: defaultdict[str, int] = defaultdict(int)
        for pid, process in others:
            earlier = self._before.get(pid)
            is_same = earlier is not None and earlier.started_ticks == process.started_ticks
            ticks_by_name[process.name] += process.ticks - (earlier.ticks if earlier is not None and is_same else 0)

        ticks_per_percent = os.sysconf("SC_CLK_TCK") * seconds / 100
        programs = [BusyProgram(name=name, percent=ticks / ticks_per_percent) for name, ticks in ticks_by_name.items()]
        busy_programs = [program for program in programs if program.percent >= _LEAST_PERCENT]
        return sorted(busy_programs, key=attrgetter("percent"), reverse=True)


def _programs_of_others(
    now: Mapping[int, processes.Process], ours: set[int]
) -> Iterator[tuple[int, processes.Process]]:
    """All but our own, the kernel's threads, and servers, which work for us where they are on this machine."""
    for pid, process in now.items():
        is_kernel = process.parent == _KERNEL_THREADS
        is_server = process.name.startswith(processes.SERVER_NAMES)
        if pid not in ours and not is_kernel and not is_server:
            yield pid, process
