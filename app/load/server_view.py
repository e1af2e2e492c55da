"""Resource counters of the server and of this machine for each load point."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Self

from app.environment.host.processes import servers_here
from app.environment.link.route import is_this_machine
from app.environment.resources import MEMORY_INTERVAL_SECONDS, ResourceSample, ResourceSampler, spread_of
from app.measure.events import Warned
from storage.loads.records import Load, PointServer
from storage.records import Spread

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
    """Of programs that are neither the server's nor ours."""
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
    """Percent of the control group's periods that ended throttled."""
    if first.periods is None or last.periods is None:
        return None
    all_, held = (last.periods[i] - first.periods[i] for i in (0, 1))
    return 100 * held / all_ if all_ > 0 else 0.0


Cards = dict[str, tuple[float, float]]
_OTHER_NAMES = {"smbd": ("cleanupd",)}
"""Server processes whose names do not begin with the server's."""


class LoadSamplers:
    """Resource samplers of both sides."""

    def __init__(self, load: Load, ssh: str | None) -> None:
        target = load.targets[0]
        is_here = target.abilities.is_local or (ssh is None and is_this_machine(target.host))
        names = [name for server in target.abilities.servers for name in (server, *_OTHER_NAMES.get(server, ()))]
        every = max(1, min(MEMORY_INTERVAL_SECONDS, int(load.scenario.duration_seconds / 3)))
        self._server: ResourceSampler | None = None
        if is_here or ssh is not None:
            serves = is_here and not target.abilities.is_local
            roots = servers_here(target.port_number) if serves else frozenset()
            self._server = ResourceSampler(ssh, names=names or ["smbd"], roots=roots, memory_interval_seconds=every)
        self._own = self._server if is_here and self._server else ResourceSampler()

    def __enter__(self) -> Self:
        for sampler in self._all():
            sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        for sampler in self._all():
            sampler.stop()

    def warnings(self) -> Iterator[Warned]:
        if self._server and self._server.problem:
            yield Warned(text=self._server.problem)

    def between(self, began_seconds: float, ended_seconds: float) -> tuple[PointServer | None, Cards]:
        """The server and this machine's cards between two monotonic times."""
        server = server_view(self._server.samples(began_seconds, ended_seconds)) if self._server else None
        own = self._own.samples(began_seconds, ended_seconds)
        return server, card_rates(own[0], own[-1]) if len(own) > 1 else {}

    def _all(self) -> set[ResourceSampler]:
        return {self._own, *([self._server] if self._server else [])}
