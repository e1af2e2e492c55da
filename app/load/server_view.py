"""The server's side of a load point, from samples of one second, the first and the last of them dropped."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from app.environment.resources import ResourceSample, spread_of
from storage.loads.records import PointServer
from storage.records import Spread

_TICKS_A_SECOND = 100
"""USER_HZ, on every Linux that is met (proc(5))."""


def server_view(samples: Sequence[ResourceSample]) -> PointServer | None:
    """What the server did; None for fewer than two samples."""
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

    def percent(ticks: Callable[[ResourceSample], int], least: float | None = None) -> Spread:
        found = [100 * (ticks(b) - ticks(a)) / (b.processors.total - a.processors.total) for a, b in pairs]
        return spread_of(found if least is None else [max(least, value) for value in found])

    first, last = pairs[0][0], pairs[-1][1]
    seconds = last.uptime_seconds - first.uptime_seconds
    memory = next((each.memory for each in reversed(samples) if each.memory is not None), None)
    own = all(each.server_ticks is not None for pair in pairs for each in pair)
    whole = own and all(each.kernel_ticks is not None for pair in pairs for each in pair)
    return PointServer(
        samples=len(pairs),
        processors=max(1, round((last.processors.total - first.processors.total) / seconds / _TICKS_A_SECOND)),
        user_percent=percent(lambda each: each.processors.user),
        system_percent=percent(lambda each: each.processors.system),
        total_percent=percent(lambda each: each.processors.user + each.processors.system),
        smbd_percent=percent(lambda each: each.server_ticks or 0) if own else None,
        kernel_percent=percent(_kernel_ticks) if whole else None,
        others_percent=percent(_others_ticks, least=0.0) if whole else None,
        processes=last.server_processes,
        smbd_uss_bytes=memory.uss_bytes if memory else None,
        smbd_pss_bytes=memory.pss_bytes if memory else None,
        interfaces=card_rates(first, last),
        disk_busy_percent={
            name: min(100.0, 100 * (busy - first.disk_busy_seconds.get(name, busy)) / seconds)
            for name, busy in last.disk_busy_seconds.items()
        },
        throttled_percent=_throttled(first, last),
    )


def _kernel_ticks(sample: ResourceSample) -> int:
    return (sample.kernel_ticks or 0) + sample.processors.interrupts


def _others_ticks(sample: ResourceSample) -> int:
    """What programs worked that are neither the server's nor ours, as quiet time reckons it."""
    busy = sample.processors.user + sample.processors.system
    return busy - _kernel_ticks(sample) - (sample.server_ticks or 0) - sample.own_ticks


def card_rates(first: ResourceSample, last: ResourceSample) -> dict[str, tuple[float, float]]:
    """Bytes a second in and out of each card between two samples."""
    seconds = last.uptime_seconds - first.uptime_seconds
    return {
        name: (
            (last.interfaces[name][0] - counted_in) / seconds,
            (last.interfaces[name][1] - counted_out) / seconds,
        )
        for name, (counted_in, counted_out) in first.interfaces.items()
        if name in last.interfaces and seconds > 0
    }


def _throttled(first: ResourceSample, last: ResourceSample) -> float | None:
    """How many of a control group's periods ended with its processes held back, in percent."""
    if first.periods is None or last.periods is None:
        return None
    all_, held = (last.periods[i] - first.periods[i] for i in (0, 1))
    return 100 * held / all_ if all_ > 0 else 0.0
