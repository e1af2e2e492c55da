"""Resource counters of the server and of this machine for each load point."""

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from app.environment.host.processes import servers_here
from app.environment.link.facts import is_this_machine
from app.environment.resources import (
    MEMORY_INTERVAL_SECONDS,
    ResourceSample,
    ResourceSampler,
    SampledSides,
    card_rates,
    disk_percents,
    percents,
    spread_of,
)
from app.measure.process import Warned
from app.server.shell import ServerShell, script_file
from storage.loads.records import Load, LoadPoint, PointServer, PrintQueue
from storage.records import Spread

_BETWEEN_SECONDS = 0.5
_JOB = re.compile(r"(active\b|\d+(st|nd|rd|th)?\s|\S+-\d+\s)")
"""Start of a job's line: ``active`` or its rank (lpq), ``printer-12`` (lpstat)."""
_NUMBER = re.compile(r"\S+-(\d+)\s")
NOT_TAKEN = "not taken by CUPS"
"""Error name for jobs that smbd accepted and CUPS refused; smbd does not tell the user."""


def jobs_in(printed: str) -> int:
    """Number of jobs in the output of lpq or ``lpstat -o``."""
    return sum(bool(_JOB.match(line)) for line in printed.splitlines())


def newest_job_in(printed: str) -> int | None:
    """Number of the newest job in the output of ``lpstat -o``; None without any."""
    return max((int(found[1]) for line in printed.splitlines() if (found := _NUMBER.match(line))), default=None)


def with_jobs_refused(point: LoadPoint, taken: int | None) -> LoadPoint:
    """The point with the jobs that CUPS refused counted as errors."""
    refused = 0 if taken is None else point.requests - taken
    if refused <= 0:
        return point
    why = (
        f"CUPS took {taken} of {point.requests} jobs and refused the others: more wait than its MaxJobs (500 unless "
        "set), or the printer accepts none (`lpstat -a` on the server)"
    )
    return replace(point, errors={**point.errors, NOT_TAKEN: refused}, first_error=point.first_error or why)


class PrinterShare:
    """A printer share whose server can be asked, locally or through ssh."""

    def __init__(self, share: str, smb_conf: str, ssh: str | None) -> None:
        self._share = share
        self._smb_conf = smb_conf
        self._shell = ServerShell(ssh)
        self._waited_before = 0
        self._newest_before: int | None = None

    def begin(self) -> bool:
        """Whether it can be asked; jobs already waiting are not counted."""
        found = self.waiting()
        self._waited_before = found or 0
        return found is not None

    def waiting(self) -> int | None:
        """Jobs that wait or print; None if the server does not say."""
        printed = self._told("not-completed")
        return None if printed is None else jobs_in(printed)

    def count_from_here(self) -> None:
        self._newest_before = self._newest()

    def taken(self) -> int | None:
        """Jobs that CUPS accepted since, of all users; None if it does not say."""
        before, now = self._newest_before, self._newest()
        return None if before is None or now is None else now - before

    def _newest(self) -> int | None:
        return newest_job_in(self._told("all") or "")

    def _told(self, which: str) -> str | None:
        variables = {"conf": self._smb_conf, "share": self._share, "which": which}
        said = self._shell.script(script_file("app.load", "print_queue.sh"), variables)
        return said.out if said.code == 0 else None

    def drained(self, since_seconds: float, enough: Callable[[], bool]) -> Iterator[PrintQueue]:
        """Wait until the queue is as short as before the load (monotonic clock); yields each look.
        The last one is drained, unless the user has had ``enough`` or the server stops answering.
        """
        at_first = None
        while (now := self.waiting()) is not None:
            passed = time.monotonic() - since_seconds
            left = max(0, now - self._waited_before)
            at_first = left if at_first is None else at_first
            yield PrintQueue(waiting=at_first, left=left, drained_seconds=None if left else passed)
            if not left or enough():
                return
            time.sleep(_BETWEEN_SECONDS)


_TICKS_A_SECOND = 100
"""USER_HZ, the same on every common Linux (proc(5))."""


def server_view(samples: Sequence[ResourceSample]) -> PointServer | None:
    """The server's use of resources; None for fewer than two samples."""
    pairs = list(pairwise(samples))
    if len(pairs) > 3:
        pairs = pairs[1:-1]
    pairs = [
        (one, other)
        for one, other in pairs
        if other.uptime_seconds > one.uptime_seconds and other.processors.total > one.processors.total
    ]
    if not pairs:
        return None

    def percent(ticks: Callable[[ResourceSample], int | None], least: float = -math.inf) -> Spread | None:
        found = percents(pairs, ticks)
        return spread_of([max(least, value) for value in found]) if len(found) == len(pairs) else None

    def busy_percent(ticks: Callable[[ResourceSample], int]) -> Spread:
        return spread_of(percents(pairs, ticks))

    first, last = pairs[0][0], pairs[-1][1]
    seconds = last.uptime_seconds - first.uptime_seconds
    memory = next((each.memory for each in reversed(samples) if each.memory is not None), None)
    return PointServer(
        samples=len(pairs),
        processors=max(1, round((last.processors.total - first.processors.total) / seconds / _TICKS_A_SECOND)),
        user_percent=busy_percent(lambda each: each.processors.user),
        system_percent=busy_percent(lambda each: each.processors.system),
        total_percent=busy_percent(lambda each: each.processors.busy),
        smbd_percent=percent(lambda each: each.server_ticks),
        kernel_percent=percent(lambda each: None if each.server_ticks is None else each.kernel_part),
        others_percent=percent(_others_ticks, least=0.0),
        processes=last.server_processes,
        smbd_uss_bytes=memory.uss_bytes if memory else None,
        smbd_pss_bytes=memory.pss_bytes if memory else None,
        interfaces=card_rates(first, last),
        disk_busy_percent=disk_percents(first, last),
        throttled_percent=_throttled(first, last),
    )


def _others_ticks(sample: ResourceSample) -> int | None:
    """Of programs that are neither the server's nor ours."""
    if sample.kernel_part is None or sample.server_ticks is None:
        return None
    return sample.processors.busy - sample.kernel_part - sample.server_ticks - sample.own_ticks


def _throttled(first: ResourceSample, last: ResourceSample) -> float | None:
    """Percent of the control group's periods that ended throttled."""
    if first.periods is None or last.periods is None:
        return None
    all_, held = (last.periods[i] - first.periods[i] for i in (0, 1))
    return 100 * held / all_ if all_ > 0 else 0.0


Cards = dict[str, tuple[float, float]]
_OTHER_NAMES = {"smbd": ("cleanupd",)}
"""Server processes whose names do not begin with the server's."""


class LoadSamplers(SampledSides):
    """Resource samplers of both sides of a load."""

    def __init__(self, load: Load, ssh: str | None) -> None:
        target = load.targets[0]
        is_here = target.abilities.is_local or (ssh is None and is_this_machine(target.host))
        names = [name for server in target.abilities.servers for name in (server, *_OTHER_NAMES.get(server, ()))]
        every = max(1, min(MEMORY_INTERVAL_SECONDS, int(load.scenario.duration_seconds / 3)))
        server = None
        if is_here or ssh is not None:
            serves = is_here and not target.abilities.is_local
            roots = servers_here(target.port_number) if serves else frozenset()
            server = ResourceSampler(ssh, names=names or ["smbd"], roots=roots, memory_interval_seconds=every)
        super().__init__(server, server if is_here else ResourceSampler())

    def warnings(self) -> Iterator[Warned]:
        if self.server and self.server.problem:
            yield Warned(text=self.server.problem)

    def between(self, began_seconds: float, ended_seconds: float) -> tuple[PointServer | None, Cards]:
        """The server and this machine's cards between two monotonic times."""
        server = server_view(self.server.samples(began_seconds, ended_seconds)) if self.server else None
        own = self.own.samples(began_seconds, ended_seconds) if self.own else []
        return server, card_rates(own[0], own[-1]) if len(own) > 1 else {}
