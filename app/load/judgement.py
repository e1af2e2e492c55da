"""Turn the workers' counts and the server's counters into a load point, check it, and choose the next point."""

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from app.load.events import PointMeasured, WorkerFigures, counted
from app.recording.process import Warned
from app.server import samples as resources
from app.server.host_facts import servers_here
from app.server.link_facts import is_this_machine
from app.server.shell import ServerShell, script_file
from forms import wording
from forms.load import lateness
from forms.load.summary import MOST_CPU_PERCENT, fewest_users, is_judged, overload
from forms.load.wording import CANNOT_BE_JUDGED
from storage.load import records
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


def with_jobs_refused(point: records.LoadPoint, taken: int | None) -> records.LoadPoint:
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

    def drained(self, since_seconds: float, enough: Callable[[], bool]) -> Iterator[records.PrintQueue]:
        """Looks until the queue is as short as before, the user has had ``enough``, or nobody answers."""
        at_first = None
        while (now := self.waiting()) is not None:
            passed = time.monotonic() - since_seconds
            left = max(0, now - self._waited_before)
            at_first = left if at_first is None else at_first
            yield records.PrintQueue(waiting=at_first, left=left, drained_seconds=None if left else passed)
            if not left or enough():
                return
            time.sleep(_BETWEEN_SECONDS)


_TICKS_A_SECOND = 100
"""USER_HZ, the same on every common Linux (proc(5))."""


def server_view(samples: Sequence[resources.ResourceSample]) -> records.PointServer | None:
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

    def percent(ticks: Callable[[resources.ResourceSample], int | None], least: float = -math.inf) -> Spread | None:
        found = resources.percents(pairs, ticks)
        return resources.spread_of([max(least, value) for value in found]) if len(found) == len(pairs) else None

    def busy_percent(ticks: Callable[[resources.ResourceSample], int]) -> Spread:
        return resources.spread_of(resources.percents(pairs, ticks))

    first, last = pairs[0][0], pairs[-1][1]
    seconds = last.uptime_seconds - first.uptime_seconds
    memory = next((each.memory for each in reversed(samples) if each.memory is not None), None)
    return records.PointServer(
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
        interfaces=resources.card_rates(first, last),
        disk_busy_percent=resources.disk_percents(first, last),
        throttled_percent=_throttled(first, last),
    )


def _others_ticks(sample: resources.ResourceSample) -> int | None:
    if sample.kernel_part is None or sample.server_ticks is None:
        return None
    return sample.processors.busy - sample.kernel_part - sample.server_ticks - sample.own_ticks


def _throttled(first: resources.ResourceSample, last: resources.ResourceSample) -> float | None:
    if first.periods is None or last.periods is None:
        return None
    all_, held = (last.periods[i] - first.periods[i] for i in (0, 1))
    return 100 * held / all_ if all_ > 0 else 0.0


Cards = dict[str, tuple[float, float]]
_OTHER_NAMES = {"smbd": ("cleanupd",)}
"""Server processes whose names do not begin with the server's."""


class LoadSamplers(resources.SampledSides):
    def __init__(self, load: records.Load, ssh: str | None) -> None:
        target = load.targets[0]
        is_here = target.abilities.is_local or (ssh is None and is_this_machine(target.host))
        names = [name for server in target.abilities.servers for name in (server, *_OTHER_NAMES.get(server, ()))]
        every = max(1, min(resources.MEMORY_INTERVAL_SECONDS, int(load.scenario.duration_seconds / 3)))
        server = None
        if is_here or ssh is not None:
            serves = is_here and not target.abilities.is_local
            roots = servers_here(target.port_number) if serves else frozenset()
            server = resources.ResourceSampler(ssh, names=names or ["smbd"], roots=roots, memory_interval_seconds=every)
        super().__init__(server, server if is_here else resources.ResourceSampler())

    def warnings(self) -> Iterator[Warned]:
        if self.server and self.server.problem:
            yield Warned(text=self.server.problem)

    def between(self, began_seconds: float, ended_seconds: float) -> tuple[records.PointServer | None, Cards]:
        server = server_view(self.server.samples(began_seconds, ended_seconds)) if self.server else None
        own = self.own.samples(began_seconds, ended_seconds) if self.own else []
        return server, resources.card_rates(own[0], own[-1]) if len(own) > 1 else {}


JUDGED_SHARE = 0.95
"""The percentile that decides whether users are carried."""
_TOLD_WAIT_PERCENT = 25.0
LITTLE_PERCENT = 1.0
MOST_SILENT_SECONDS, MOST_SILENT_SHARE = 5.0, 0.1
"""A window silent for longer than both (seconds, share of the window) is invalid."""


def load_point(
    measured: PointMeasured,
    server: records.PointServer | None = None,
    client_interfaces: dict[str, tuple[float, float]] | None = None,
    *,
    idle: bool = False,
    is_paced: bool = False,
    started_at: str = "",
    window_started_at: str = "",
) -> records.LoadPoint:
    """The point, valid or not; ``idle`` users make no requests, users who are paced make them on a schedule."""
    workers = measured.workers
    point = _add_workers(measured)
    point = replace(
        point,
        started_at=started_at,
        window_started_at=window_started_at,
        server=server,
        client_interfaces=client_interfaces or {},
    )
    if measured.failure is not None:
        return replace(point, status=records.PointStatus.FAILED, reason=measured.failure, limit=records.Limit.GENERATOR)
    if failure := _silence(workers, point.seconds) or _missing_users(point, workers):
        return replace(point, status=records.PointStatus.FAILED, reason=failure)
    if idle:
        return point
    if not point.requests:
        advice = point.first_error or "measure for longer, or take smaller files"
        failure = f"no request was completed in {point.seconds:.0f} s: {advice}"
        return replace(point, status=records.PointStatus.FAILED, reason=failure)

    held_percent = max(worker.held_percent for worker in workers)
    if limit := generator_limit(point, held_percent, is_paced=is_paced):
        return replace(point, status=records.PointStatus.GENERATOR, reason=f"{CANNOT_BE_JUDGED}{limit}")
    if contradiction := _contradiction(point, workers):
        reason = f"its numbers contradict one another: {contradiction}"
        return replace(point, status=records.PointStatus.REJECTED, reason=reason)
    return point


def _add_workers(measured: PointMeasured) -> records.LoadPoint:
    """What all worker processes did in the measured window, added up and not yet judged."""
    workers = measured.workers
    point = records.LoadPoint(
        number=measured.point,
        users=measured.users,
        ramp_seconds=measured.ramp_seconds,
        errors=dict(measured.errors),
        first_error=measured.first_error,
    )
    if not workers:
        return point

    connected = sum(worker.connected for worker in workers)
    is_everybody_there = connected >= measured.users
    pauses = sum(worker.pauses for worker in workers)
    think_seconds = sum(worker.think_seconds for worker in workers)
    service = records.added(worker.service for worker in workers)
    first_errors = (worker.first_error for worker in workers if worker.first_error)
    kinds = sorted({kind for worker in workers for kind in worker.operations})
    return replace(
        point,
        connected=connected,
        seconds=sum(worker.seconds for worker in workers) / len(workers),
        requests=sum(worker.requests for worker in workers),
        reads=sum(worker.reads for worker in workers),
        writes=sum(worker.writes for worker in workers),
        read_bytes=sum(worker.read_bytes for worker in workers),
        write_bytes=sum(worker.write_bytes for worker in workers),
        late_starts=sum(worker.late_starts for worker in workers),
        silent_seconds=min(worker.silent_seconds for worker in workers),
        slices=tuple(map(sum, zip(*(worker.slices for worker in workers), strict=False))),
        # Where users are missing, those of the ramp say why.
        errors=counted(worker.errors for worker in workers) if is_everybody_there else dict(measured.errors),
        first_error=next(first_errors, measured.first_error),
        response=records.added(worker.response for worker in workers),
        service=service,
        operations={
            kind.value: records.added(worker.operations[kind] for worker in workers if kind in worker.operations)
            for kind in kinds
        },
        logins=records.added(worker.logins for worker in workers),
        think_seconds=think_seconds / pauses if pauses else None,
        little_percent=_little_percent(workers, service, measured.users),
        generator_cpu_percent=tuple(worker.cpu_percent for worker in workers),
        generator_lateness=records.added(worker.lateness for worker in workers),
    )


def _little_percent(workers: Sequence[WorkerFigures], service: records.Histogram, users: int) -> float | None:
    """How far users = requests/s x (answer + pause) is off, in percent, corrected for the window's edges.
    Source: J. D. C. Little, Operations Research 9 (1961), 383.
    """
    if not users or not any(worker.answers for worker in workers):
        return None
    seconds = sum(worker.seconds for worker in workers) / len(workers)
    requests = sum(worker.requests for worker in workers)
    answering_users = requests / seconds * (service.mean_seconds or 0.0)
    other_users = sum(
        (worker.failed_seconds + worker.think_seconds + worker.edge_seconds) / worker.seconds for worker in workers
    )
    return float(100 * ((answering_users + other_users) / users - 1))


def _silence(workers: Sequence[WorkerFigures], seconds: float) -> str | None:
    """Why the point failed if users waited for the server, not for this machine, for too long."""
    silent_seconds = max((_server_silence(worker) for worker in workers), default=0.0)
    if silent_seconds < max(MOST_SILENT_SECONDS, MOST_SILENT_SHARE * seconds):
        return None
    return (
        f"for {silent_seconds:.0f} of {seconds:.0f} s users waited and nothing moved at all; see that the link and the "
        "server are there, and measure it again"
    )


def _server_silence(worker: WorkerFigures) -> float:
    return worker.silent_seconds - worker.lateness.max_microseconds / 1e6


def _missing_users(point: records.LoadPoint, workers: Sequence[WorkerFigures]) -> str | None:
    """Why the point failed if some of its users have no session at its end."""
    if point.connected >= point.users:
        return None
    absent = next((worker.absent for worker in workers if worker.absent), "its worker processes do not say why")
    at_the_end = " at the end" if point.requests else ""
    advice = "; look how many connections the server takes at most" if point.connected else ""
    why = point.first_error or absent
    return f"{point.connected} of {point.users} users had a session{at_the_end}: {why}{advice}"


def generator_limit(point: records.LoadPoint, held_percent: float, *, is_paced: bool) -> str | None:
    """Why the point cannot be judged because of the machine that made the load; None if its figures are true.

    ``held_percent`` is the time in which the busiest process worked or waited for a processor.
    """
    busiest = max(point.generator_cpu_percent, default=0.0)
    if busiest > MOST_CPU_PERCENT:
        return f"one process that made the load used {busiest:.0f} % of a processor"

    lost = 0.0 if is_paced else lateness.lost_share(point)  # a late request of a schedule is made all the same
    is_rate_true = lost <= lateness.MOST_LOST_SHARE
    if is_rate_true and not lateness.changes_percentile(point, JUDGED_SHARE):
        return None

    if standstill := lateness.standstill_seconds(point):
        return f"this machine stood still for {standstill:.1f} s"
    waited = held_percent - busiest
    why = f", waiting for a processor {waited:.0f} % of the time" if waited >= _TOLD_WAIT_PERCENT else ""
    if not is_rate_true:
        return f"this machine was late{why}, which took {100 * lost:.0f} % of the users' time"
    added = lateness.added_to_percentile(point, JUDGED_SHARE)
    return f"this machine was late{why}, which adds about {1000 * added:.1f} ms to p95"


def _contradiction(point: records.LoadPoint, workers: Sequence[WorkerFigures]) -> str | None:
    """Which of the point's numbers cannot be true together; None if they agree."""
    answers = sum(worker.answers for worker in workers)
    failures = sum(worker.failures for worker in workers)
    pauses = sum(worker.pauses for worker in workers)
    if point.requests + failures != answers:
        return f"{answers:,} answers are not {point.requests:,} requests and {failures:,} errors"
    if not point.requests == point.service.count == point.response.count:
        return f"{point.requests:,} requests, but {point.service.count:,} times of answers"
    if abs(answers - pauses) > point.users:
        return "the users did not pause once an answer"
    percent = point.little_percent
    if percent is not None and abs(percent) > LITTLE_PERCENT:
        return f"requests/s x (answer + pause) is {wording.with_minus(f'{percent:+.1f}')} % off the users"
    return None


FIRST_USERS = 25
MOST_TRIES = 3
"""Attempts at a point while the load generator is disturbed."""
BRACKET_SHARE = 0.0625
"""Final gap between carried and not carried, as a share of carried: 640 and 680."""


class NextPoint(NamedTuple):
    users: int
    size_bytes: int | None = None


def next_point(
    points: Sequence[records.LoadPoint], choices: records.LoadChoices, scenario: records.Scenario
) -> NextPoint | None:
    if choices.find_capacity:
        users = _next_of_search(points, choices, scenario)
        return None if users is None else NextPoint(users)
    sizes = [each.size_bytes for each in scenario.sizes]
    each_size = sizes if choices.by_size and sizes else (None,)
    done = {(point.users, point.size_bytes) for point in points}
    wanted = (NextPoint(users, size) for users in choices.users for size in each_size)
    return next((each for each in wanted if each not in done), None)


def _next_of_search(
    points: Sequence[records.LoadPoint], choices: records.LoadChoices, scenario: records.Scenario
) -> int | None:
    """The users of the next point: twice as many until some are not carried, then halfway between; None at the end."""
    first = choices.users[0] if choices.users else FIRST_USERS
    if not points:
        return first

    fewest = fewest_users(points)
    judged = [point for point in points if is_judged(point, choices, scenario, fewest)]
    last = points[-1]
    if last not in judged:
        tries = sum(point.users == last.users for point in points)
        may_try_again = last.status is not records.PointStatus.FAILED and tries < MOST_TRIES
        return last.users if may_try_again else None

    broken = [point.users for point in judged if overload(point, choices, scenario, fewest) is not None]
    carried = [point.users for point in judged if overload(point, choices, scenario, fewest) is None]
    if not broken:
        return max(carried) * 2 if max(carried) * 2 <= records.MOST_USERS else None
    high = min(broken)
    low = max((users for users in carried if users < high), default=0)
    return (low + high) // 2 if high - low > max(1, round(BRACKET_SHARE * low)) else None
