"""What the server and this machine did during a load point: processors, memory, disks and network cards.

Both are sampled as long as a load is measured; a point's part is the samples of its measured window.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter

from app.recording.process import Warned
from app.server import resources
from app.server.processes import servers_here
from app.server.routes import is_this_machine
from app.server.samples import MEMORY_INTERVAL_SECONDS, ResourceSampler, SampledSides
from storage.load import records
from storage.records import Spread

_TICKS_A_SECOND = 100
"""USER_HZ, the same on every common Linux (proc(5))."""
_OTHER_NAMES = {"smbd": ("cleanupd",)}
"""Server processes whose names do not begin with the server's."""

Cards = dict[str, tuple[float, float]]
"""Bytes a second in and out of each network card."""
SamplePairs = list[tuple[resources.ResourceSample, resources.ResourceSample]]


class LoadSamplers(SampledSides):
    """Samples the server, where it can be reached, and the machine that makes the load, as long as it is measured.

    From `SampledSides` come the samplers ``server`` and ``own``, which run while the ``with`` block lasts. Where the
    machine that makes the load is the server, or the path is its own, they are one.
    """

    def __init__(self, load: records.Load, ssh: str | None) -> None:
        target = load.targets[0]
        from_host = load.choices.from_host
        if target.abilities.is_local:
            # The path is one of the machine that makes the load.
            ssh = from_host
        is_here = ssh is None and (target.abilities.is_local or is_this_machine(target.host))
        server = _server_sampler(load, ssh, is_here=is_here) if is_here or ssh is not None else None

        is_one_machine = target.abilities.is_local or (is_here and from_host is None)
        of_load_maker = server if is_one_machine else ResourceSampler(from_host)
        super().__init__(server, of_load_maker)

    def warnings(self) -> Iterator[Warned]:
        if self.server and self.server.problem:
            yield Warned(text=self.server.problem)

    def between(self, began_seconds: float, ended_seconds: float) -> tuple[records.PointServer | None, Cards]:
        """What the server did in that time, None where it is not sampled, and this machine's network cards."""
        server = server_view(self.server.samples(began_seconds, ended_seconds)) if self.server else None
        own_samples = self.own.samples(began_seconds, ended_seconds) if self.own else []
        if len(own_samples) < 2:
            return server, {}
        return server, resources.card_rates(own_samples[0], own_samples[-1])


def _server_sampler(load: records.Load, ssh: str | None, *, is_here: bool) -> ResourceSampler:
    target = load.targets[0]
    names: list[str] = []
    for server in target.abilities.servers:
        names += [server, *_OTHER_NAMES.get(server, ())]

    # At least three looks at the memory in the measured window, however short that is.
    interval_seconds = max(1, min(MEMORY_INTERVAL_SECONDS, int(load.scenario.duration_seconds / 3)))
    serves_here = is_here and not target.abilities.is_local
    roots = servers_here(target.port_number) if serves_here else frozenset[int]()
    return ResourceSampler(ssh, names=names or ["smbd"], roots=roots, memory_interval_seconds=interval_seconds)


def server_view(samples: Sequence[resources.ResourceSample]) -> records.PointServer | None:
    """What the samples say of the server; None where they are too few to compare one with the next."""
    pairs = _comparable_pairs(samples)
    if not pairs:
        return None

    first = pairs[0][0]
    last = pairs[-1][1]
    seconds = last.uptime_seconds - first.uptime_seconds
    ticks = last.processors.total - first.processors.total
    memory = next((sample.memory for sample in reversed(samples) if sample.memory is not None), None)
    return records.PointServer(
        samples=len(pairs),
        processors=max(1, round(ticks / seconds / _TICKS_A_SECOND)),
        user_percent=_processor_spread(pairs, attrgetter("processors.user")),
        system_percent=_processor_spread(pairs, attrgetter("processors.system")),
        total_percent=_processor_spread(pairs, attrgetter("processors.busy")),
        smbd_percent=_spread_where_known(pairs, attrgetter("server_ticks")),
        kernel_percent=_spread_where_known(pairs, _kernel_ticks),
        others_percent=_spread_where_known(pairs, _others_ticks, least=0.0),
        processes=last.server_processes,
        smbd_uss_bytes=memory.uss_bytes if memory else None,
        smbd_pss_bytes=memory.pss_bytes if memory else None,
        interfaces=resources.card_rates(first, last),
        disk_busy_percent=resources.disk_percents(first, last),
        throttled_percent=_throttled_percent(first, last),
    )


def _comparable_pairs(samples: Sequence[resources.ResourceSample]) -> SamplePairs:
    pairs = list(pairwise(samples))
    if len(pairs) > 3:
        # The first and the last hold the beginning and the end of the measured window.
        pairs = pairs[1:-1]
    return [
        (earlier, later)
        for earlier, later in pairs
        if later.uptime_seconds > earlier.uptime_seconds and later.processors.total > earlier.processors.total
    ]


def _processor_spread(pairs: SamplePairs, ticks: Callable[[resources.ResourceSample], int]) -> Spread:
    return resources.spread_of(resources.percents(pairs, ticks))


def _spread_where_known(
    pairs: SamplePairs, ticks: Callable[[resources.ResourceSample], int | None], least: float = -math.inf
) -> Spread | None:
    """None unless every sample has that number."""
    percents = resources.percents(pairs, ticks)
    if len(percents) != len(pairs):
        return None
    return resources.spread_of([max(least, percent) for percent in percents])


def _kernel_ticks(sample: resources.ResourceSample) -> int | None:
    """What the kernel itself used; only where the server's processes are known, too."""
    return None if sample.server_ticks is None else sample.kernel_part


def _others_ticks(sample: resources.ResourceSample) -> int | None:
    """What neither the kernel, nor the server's processes, nor sharebench used; None where one is unknown."""
    if sample.kernel_part is None or sample.server_ticks is None:
        return None
    return sample.processors.busy - sample.kernel_part - sample.server_ticks - sample.own_ticks


def _throttled_percent(first: resources.ResourceSample, last: resources.ResourceSample) -> float | None:
    """Share of the periods in which a container's quota held the server up; None without a quota."""
    if first.periods is None or last.periods is None:
        return None
    all_periods = last.periods[0] - first.periods[0]
    throttled_periods = last.periods[1] - first.periods[1]
    return 100 * throttled_periods / all_periods if all_periods > 0 else 0.0
