"""Turns what the workers counted into a load point, and judges whether its figures can be trusted.

A point is valid, or it is FAILED (it was not measured as asked), GENERATOR (this machine, which made the load, was too
slow to judge the server) or REJECTED (its numbers contradict one another).
"""

from collections.abc import Sequence
from dataclasses import replace

from app.load.events import PointMeasured
from app.load.worker_figures import WorkerFigures, sum_counts
from forms import wording
from forms.load import lateness
from forms.load.summary import MOST_CPU_PERCENT
from forms.load.wording import CANNOT_BE_JUDGED
from storage.load import records

JUDGED_SHARE = 0.95
"""The percentile of the response that decides whether users are carried, as a share: p95."""
_TOLD_WAIT_PERCENT = 25.0
"""From this share of the time on, waiting for a processor is told as the cause of lateness."""
LITTLE_PERCENT = 1.0
"""How far Little's law (`_little_percent`) may be off."""
MOST_SILENT_SECONDS = 5.0
MOST_SILENT_SHARE = 0.1
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
    """The point, judged; ``idle`` users make no requests, users who are paced make them on a schedule.

    ``server`` is what the server did meanwhile, ``client_interfaces`` what went in and out of each card here.
    The first judgement that applies decides: that it was not measured, then that this machine was too slow to measure
    it, then that its numbers do not agree. Idle users have no times that could be judged.
    """
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

    # Of the process that was held up most: its users' figures are as wrong as that.
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
    service = records.merge_histograms(worker.service for worker in workers)
    slices_of_workers = [worker.slices for worker in workers]
    first_errors = (worker.first_error for worker in workers if worker.first_error)

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
        # The server was silent towards all of them for as long as towards the one that was answered most.
        silent_seconds=min(worker.silent_seconds for worker in workers),
        slices=tuple(map(sum, zip(*slices_of_workers, strict=False))),
        # Where users are missing, those of the ramp say why.
        errors=sum_counts(worker.errors for worker in workers) if is_everybody_there else dict(measured.errors),
        first_error=next(first_errors, measured.first_error),
        response=records.merge_histograms(worker.response for worker in workers),
        service=service,
        operations=_operations_of(workers),
        logins=records.merge_histograms(worker.logins for worker in workers),
        think_seconds=think_seconds / pauses if pauses else None,
        little_percent=_little_percent(workers, service, measured.users),
        generator_cpu_percent=tuple(worker.cpu_percent for worker in workers),
        generator_lateness=records.merge_histograms(worker.lateness for worker in workers),
    )


def _operations_of(workers: Sequence[WorkerFigures]) -> dict[str, records.Histogram]:
    """The times of each kind of request that any worker made."""
    parts: dict[records.RequestKind, list[records.Histogram]] = {}
    for worker in workers:
        for kind, histogram in worker.operations.items():
            parts.setdefault(kind, []).append(histogram)
    return {kind.value: records.merge_histograms(parts[kind]) for kind in sorted(parts)}


def _little_percent(workers: Sequence[WorkerFigures], service: records.Histogram, users: int) -> float | None:
    """How far users = requests/s x (answer + pause) is off, in percent, corrected for the window's edges.

    None without users or answers. Source: J. D. C. Little, Operations Research 9 (1961), 383.
    """
    if not users or not any(worker.answers for worker in workers):
        return None
    seconds = sum(worker.seconds for worker in workers) / len(workers)
    requests = sum(worker.requests for worker in workers)

    # On average over the window, users that wait for an answer, by Little's law; and those that pause, or wait for an
    # answer that is an error. Without the edges a pause that the window's end cut off would count as no user at all.
    answering_users = requests / seconds * (service.mean_seconds or 0.0)
    other_users = sum(
        (worker.failed_seconds + worker.think_seconds + worker.edge_seconds) / worker.seconds for worker in workers
    )
    return float(100 * ((answering_users + other_users) / users - 1))


def _silence(workers: Sequence[WorkerFigures], seconds: float) -> str | None:
    """Why the point failed if nothing moved for too long, and this machine was not the cause; else None.

    One worker whose users waited for too long is enough: what they asked for was not answered.
    """
    silent_seconds = max((_server_silence(worker) for worker in workers), default=0.0)
    if silent_seconds < max(MOST_SILENT_SECONDS, MOST_SILENT_SHARE * seconds):
        return None
    return (
        f"for {silent_seconds:.0f} of {seconds:.0f} s users waited and nothing moved at all; see that the link and the "
        "server are there, and measure it again"
    )


def _server_silence(worker: WorkerFigures) -> float:
    """Seconds of the longest silence, less the time in which the process itself may have stood still.

    That is how late it woke at worst.
    """
    return worker.silent_seconds - worker.lateness.max_microseconds / 1e6


def _missing_users(point: records.LoadPoint, workers: Sequence[WorkerFigures]) -> str | None:
    """Why the point failed if some of its users have no session at its end; None if all have."""
    if point.connected >= point.users:
        return None
    absent = next((worker.absent for worker in workers if worker.absent), "its worker processes do not say why")
    at_the_end = " at the end" if point.requests else ""
    advice = "; look how many connections the server takes at most" if point.connected else ""
    cause = point.first_error or absent
    return f"{point.connected} of {point.users} users had a session{at_the_end}: {cause}{advice}"


def generator_limit(point: records.LoadPoint, held_percent: float, *, is_paced: bool) -> str | None:
    """Why the point cannot be judged because of the machine that made the load; None if its figures are true.

    ``held_percent`` is the time in which the busiest process worked or waited for a processor.
    """
    busiest = max(point.generator_cpu_percent, default=0.0)
    if busiest > MOST_CPU_PERCENT:
        return f"one process that made the load used {busiest:.0f} % of a processor"

    # A late request of a schedule is made all the same; without one it is lost to the rate, as its user pauses later.
    lost_share = 0.0 if is_paced else lateness.lost_share(point)
    is_rate_true = lost_share <= lateness.MOST_LOST_SHARE
    if is_rate_true and not lateness.changes_percentile(point, JUDGED_SHARE):
        return None

    # The figures are not true: tell why, the plainest cause first.
    if standstill := lateness.standstill_seconds(point):
        return f"the load generator stood still for {standstill:.1f} s"
    # Held, but not working: it waited for a processor.
    waited_percent = held_percent - busiest
    cause = ""
    if waited_percent >= _TOLD_WAIT_PERCENT:
        cause = f", waiting for a processor {waited_percent:.0f} % of the time"
    if not is_rate_true:
        return f"the load generator was late{cause}, which took {100 * lost_share:.0f} % of the users' time"
    added_seconds = lateness.added_to_percentile(point, JUDGED_SHARE)
    return f"the load generator was late{cause}, which adds about {1000 * added_seconds:.1f} ms to p95"


def _contradiction(point: records.LoadPoint, workers: Sequence[WorkerFigures]) -> str | None:
    """Which of the point's numbers cannot be true together; None if they agree."""
    answers = sum(worker.answers for worker in workers)
    failures = sum(worker.failures for worker in workers)
    pauses = sum(worker.pauses for worker in workers)

    if point.requests + failures != answers:
        return f"{answers:,} answers are not {point.requests:,} requests and {failures:,} errors"
    if not point.requests == point.service.count == point.response.count:
        return f"{point.requests:,} requests, but {point.service.count:,} times of answers"
    # Each user pauses once an answer; at each end of the window one of the two may be missing.
    if abs(answers - pauses) > point.users:
        return "the users did not pause once an answer"

    percent = point.little_percent
    if percent is not None and abs(percent) > LITTLE_PERCENT:
        percent_text = wording.with_minus(f"{percent:+.1f}")
        return f"requests/s x (answer + pause) is {percent_text} % off the users"
    return None
