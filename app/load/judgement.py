"""From what the workers counted to a load point: added up, checked against itself and this end's limits."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.load.events import PointMeasured
from app.load.window import counted, unpacked
from storage.loads.histogram import added
from storage.loads.records import LoadPoint, PointServer, PointStatus

MOST_GENERATOR_PERCENT = 70.0
MOST_LATENESS_SECONDS = 0.005
LITTLE_PERCENT = 1.0
_LATE_SHARE = 0.99
_EDGES = 3.0
"""Standard deviations of what users are in the middle of at the window's two ends."""


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
        return sum(each[name] for each in parts)

    everybody = bool(parts) and total("connected") >= measured.users
    names = sorted({name for each in parts for name in each["operations"]})
    point = LoadPoint(
        number=measured.point,
        users=measured.users,
        connected=total("connected"),
        started_at=started_at,
        ramp_seconds=measured.ramp_seconds,
        seconds=sum(each["seconds"] for each in parts) / len(parts) if parts else 0.0,
        requests=total("requests"),
        reads=total("reads"),
        writes=total("writes"),
        read_bytes=total("read_bytes"),
        write_bytes=total("write_bytes"),
        late_starts=total("late_starts"),
        errors=counted([each["errors"] for each in parts]) if everybody else dict(measured.errors),
        first_error=next((each["first_error"] for each in parts if each["first_error"]), "") or measured.first_error,
        response=added(unpacked(each["response"]) for each in parts),
        service=added(unpacked(each["service"]) for each in parts),
        operations={
            name: added(unpacked(each["operations"][name]) for each in parts if name in each["operations"])
            for name in names
        },
        logins=added(unpacked(each["logins"]) for each in parts),
        think_seconds=total("think_seconds") / total("pauses") if parts and total("pauses") else None,
        little_percent=_little_percent(parts, measured.users),
        generator_cpu_percent=tuple(each["cpu_percent"] for each in parts),
        generator_lateness=added(unpacked(each["lateness"]) for each in parts),
        client_interfaces=client_interfaces or {},
        server=server,
    )
    status, reason = _judged(point, measured.failure, _edge_percent(parts, measured.users), idle=idle)
    return replace(point, status=status, reason=reason)


def _little_percent(parts: Sequence[dict[str, Any]], users: int) -> float | None:
    """How far users = answers/s x (answer + pause) is off, in percent."""
    cycle = _cycle_seconds(parts)
    if not cycle or not users:
        return None
    rate = sum(float(each["answers"] / each["seconds"]) for each in parts)
    return 100 * (rate * cycle / users - 1)


def _cycle_seconds(parts: Sequence[dict[str, Any]]) -> float:
    """What a user takes for one pause and one answer, on average."""
    answers, pauses = (sum(each[name] for each in parts) for name in ("answers", "pauses"))
    if not answers or not pauses:
        return 0.0
    busy, think = (sum(each[name] for each in parts) for name in ("busy_seconds", "think_seconds"))
    return float(busy / answers + think / pauses)


def _edge_percent(parts: Sequence[dict[str, Any]], users: int) -> float:
    """How far Little's law may be off since each user is somewhere in a cycle as the window begins and ends."""
    seconds = sum(each["seconds"] for each in parts) / len(parts) if parts else 0.0
    return 100 * _EDGES * _cycle_seconds(parts) / seconds / math.sqrt(6 * users) if seconds and users else 0.0


def _judged(
    point: LoadPoint, failure: str | None, edge_percent: float, *, idle: bool
) -> tuple[PointStatus, str | None]:
    if failure is not None:
        return PointStatus.FAILED, failure
    if point.connected < point.users:
        missing = f"{point.connected} of {point.users} users had a session"
        return PointStatus.FAILED, f"{missing}: {point.first_error}" if point.first_error else missing
    if not idle and not point.requests:
        why = point.first_error or "allow a longer --duration, or take smaller --sizes"
        return PointStatus.FAILED, f"no request was completed in {point.seconds:.0f} s: {why}"
    busiest = max(point.generator_cpu_percent, default=0.0)
    if busiest > MOST_GENERATOR_PERCENT:
        return PointStatus.GENERATOR, (
            f"the generator, not the server: a process of this end took {busiest:.0f} % of a processor; use more "
            "--processes, or more machines with --workers-on"
        )
    late = point.generator_lateness.quantile_seconds(_LATE_SHARE) or 0.0
    if late > MOST_LATENESS_SECONDS:
        return PointStatus.GENERATOR, (
            f"the generator, not the server: timers of this end fired {1000 * late:.1f} ms late (p99); leave this "
            "machine to the load, or use more with --workers-on"
        )
    off = point.little_percent
    if not idle and off is not None and abs(off) > LITTLE_PERCENT + edge_percent:
        return PointStatus.REJECTED, (
            f"its numbers contradict one another: requests/s x (answer + pause) is {off:+.1f} % off the users"
        )
    return PointStatus.VALID, None
