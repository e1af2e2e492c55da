"""Turn the workers' counts into a load point, check it, and choose the next point."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from app.load.events import PointMeasured
from app.load.window import WorkerFigures, counted
from forms.load.summary import overload, tells_of_server
from storage.loads.records import (
    MOST_USERS,
    Histogram,
    Limit,
    LoadChoices,
    LoadPoint,
    PointServer,
    PointStatus,
    Scenario,
    added,
)

MOST_GENERATOR_PERCENT = 70.0
MOST_LATENESS_SECONDS = 0.005
MOST_LATENESS_SHARE = 0.1
"""Timers later than this share of the response's p95 show that the load generator is at its limit."""
LITTLE_PERCENT = 1.0
MOST_SILENT_SECONDS, MOST_SILENT_SHARE = 5.0, 0.1
"""A window silent for longer than both (seconds, share of the window) is invalid."""
_LATE_SHARE, _SLOW_SHARE = 0.99, 0.95


def load_point(
    measured: PointMeasured,
    server: PointServer | None = None,
    client_interfaces: dict[str, tuple[float, float]] | None = None,
    *,
    idle: bool = False,
    started_at: str = "",
) -> LoadPoint:
    """The point, valid or not; ``idle`` users make no requests."""
    parts = measured.workers

    def total(name: str) -> Any:
        return sum(getattr(each, name) for each in parts)

    service = added(each.service for each in parts)
    everybody = bool(parts) and total("connected") >= measured.users
    names = sorted({name for each in parts for name in each.operations})
    point = LoadPoint(
        number=measured.point,
        users=measured.users,
        connected=total("connected"),
        started_at=started_at,
        ramp_seconds=measured.ramp_seconds,
        seconds=sum(each.seconds for each in parts) / len(parts) if parts else 0.0,
        **{name: total(name) for name in ("requests", "reads", "writes", "read_bytes", "write_bytes", "late_starts")},
        slices=tuple(map(sum, zip(*(each.slices for each in parts), strict=False))),
        errors=counted(each.errors for each in parts) if everybody else dict(measured.errors),
        first_error=next((each.first_error for each in parts if each.first_error), "") or measured.first_error,
        response=added(each.response for each in parts),
        service=service,
        operations={
            name.value: added(each.operations[name] for each in parts if name in each.operations) for name in names
        },
        logins=added(each.logins for each in parts),
        think_seconds=total("think_seconds") / total("pauses") if parts and total("pauses") else None,
        little_percent=_little_percent(parts, service, measured.users),
        generator_cpu_percent=tuple(each.cpu_percent for each in parts),
        generator_lateness=added(each.lateness for each in parts),
        client_interfaces=client_interfaces or {},
        server=server,
        limit=None if measured.failure is None else Limit.GENERATOR,
    )
    held = max((each.held_percent for each in parts), default=0.0)
    silent = max((each.silent_seconds for each in parts), default=0.0)
    point = replace(point, silent_seconds=min((each.silent_seconds for each in parts), default=0.0))
    failure = measured.failure or _silence(silent, point.seconds)
    untrue = None if idle else _contradiction(point, total("answers"), total("failures"), total("pauses"))
    absent = next((each.absent for each in parts if each.absent), "its worker processes do not say why")
    status, reason = _judged(point, failure, held, untrue, absent, idle=idle)
    return replace(point, status=status, reason=reason)


def _little_percent(parts: Sequence[WorkerFigures], service: Histogram, users: int) -> float | None:
    """How far users = requests/s x (answer + pause) is off, in percent, corrected for the window's edges.
    Source: J. D. C. Little, Operations Research 9 (1961), 383.
    """
    if not users or not any(each.answers for each in parts):
        return None
    seconds = sum(each.seconds for each in parts) / len(parts)
    answering = sum(each.requests for each in parts) / seconds * (service.mean_seconds or 0.0)
    names = ("failed_seconds", "think_seconds", "edge_seconds")
    present = answering + sum(sum(getattr(each, name) for name in names) / each.seconds for each in parts)
    return float(100 * (present / users - 1))


def _silence(silent_seconds: float, seconds: float) -> str | None:
    if silent_seconds < max(MOST_SILENT_SECONDS, MOST_SILENT_SHARE * seconds):
        return None
    return (
        f"for {silent_seconds:.0f} of {seconds:.0f} s users waited and nothing moved at all; see that the link and the "
        "server are there, and measure it again"
    )


def _judged(
    point: LoadPoint, failure: str | None, held_percent: float, untrue: str | None, absent: str, *, idle: bool
) -> tuple[PointStatus, str | None]:
    if failure is not None:
        return PointStatus.FAILED, failure
    if point.connected < point.users:
        missing = f"{point.connected} of {point.users} users had a session" + (" at the end" if point.requests else "")
        more = "; look how many connections the server takes at most" if point.connected else ""
        return PointStatus.FAILED, f"{missing}: {point.first_error or absent}{more}"
    if not idle and not point.requests:
        why = point.first_error or "measure for longer, or take smaller files"
        return PointStatus.FAILED, f"no request was completed in {point.seconds:.0f} s: {why}"
    if not idle and (limit := _generator_limit(point, held_percent)) is not None:
        return PointStatus.GENERATOR, f"the generator, not the server: {limit}"
    if untrue is not None:
        return PointStatus.REJECTED, f"its numbers contradict one another: {untrue}"
    return PointStatus.VALID, None


def _generator_limit(point: LoadPoint, held_percent: float) -> str | None:
    busiest = max(point.generator_cpu_percent, default=0.0)
    if busiest > MOST_GENERATOR_PERCENT:
        return f"one of its processes used {busiest:.0f} % of a processor"
    if held_percent > MOST_GENERATOR_PERCENT:
        return f"one of its processes worked or waited for a processor {held_percent:.0f} % of the time"
    late = point.generator_lateness.quantile_seconds(_LATE_SHARE) or 0.0
    slow = point.response.quantile_seconds(_SLOW_SHARE) or 0.0
    if late > max(MOST_LATENESS_SECONDS, MOST_LATENESS_SHARE * slow):
        return f"its timers fired {1000 * late:.1f} ms late (p99)"
    return None


def _contradiction(point: LoadPoint, answers: int, failures: int, pauses: int) -> str | None:
    if point.requests + failures != answers:
        return f"{answers:,} answers are not {point.requests:,} requests and {failures:,} errors"
    if not point.requests == point.service.count == point.response.count:
        return f"{point.requests:,} requests, but {point.service.count:,} times of answers"
    if abs(answers - pauses) > point.users:
        return "the users did not pause once an answer"
    off = point.little_percent
    if off is not None and abs(off) > LITTLE_PERCENT:
        return f"requests/s x (answer + pause) is {off:+.1f} % off the users"
    return None


FIRST_USERS = 25
MOST_TRIES = 3
"""Attempts at a point while the load generator is disturbed."""
BRACKET_SHARE = 0.0625
"""Final gap between carried and not carried, as a share of carried: 640 and 680."""


class NextPoint(NamedTuple):
    """The next point to measure."""

    users: int
    size_bytes: int | None = None
    """The only file size to use; None for all."""


def next_point(points: Sequence[LoadPoint], choices: LoadChoices, scenario: Scenario) -> NextPoint | None:
    """The next point to measure; None at the end."""
    if choices.find_capacity:
        users = _next_of_search(points, choices, scenario)
        return None if users is None else NextPoint(users)
    sizes = [each.size_bytes for each in scenario.sizes]
    each_size = sizes if choices.by_size and sizes else (None,)
    done = {(point.users, point.size_bytes) for point in points}
    wanted = (NextPoint(users, size) for users in choices.users for size in each_size)
    return next((each for each in wanted if each not in done), None)


def _next_of_search(points: Sequence[LoadPoint], choices: LoadChoices, scenario: Scenario) -> int | None:
    first = choices.users[0] if choices.users else FIRST_USERS
    if not points:
        return first
    last = points[-1]
    if not tells_of_server(last):
        tries = sum(point.users == last.users for point in points)
        again = last.status is not PointStatus.FAILED and tries < MOST_TRIES
        return last.users if again else None
    judged = [(point, overload(point, choices, scenario)) for point in points if tells_of_server(point)]
    broken = [point.users for point, why in judged if why is not None]
    carried = [point.users for point, why in judged if why is None]
    if not broken:
        return max(carried) * 2 if max(carried) * 2 <= MOST_USERS else None
    low = max((users for users in carried if users < min(broken)), default=0)
    high = min(broken)
    if high - low <= max(1, round(BRACKET_SHARE * low)):
        return None
    return (low + high) // 2
