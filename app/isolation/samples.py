"""Resource use of a run from samples of a machine: processors, disk, network."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

from app.environment.resources import ResourceSample, ResourceSampler, spread_of
from storage.isolations import CPUUse, LayerRun


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcesUsed:
    """How busy a machine was during a run; None where not seen."""

    cpu: CPUUse | None = None
    program_percent: float | None = None
    """By the watched programs, of the whole machine."""
    kernel_percent: float | None = None
    """By kernel threads and interrupts, of the whole machine."""
    disk_busy_percent: float | None = None
    in_bytes_per_second: float | None = None
    out_bytes_per_second: float | None = None

    def into(self, run: LayerRun) -> LayerRun:
        parts = {"server": self.program_percent, "kernel": self.kernel_percent}
        processes = {name: percent for name, percent in parts.items() if percent is not None}
        return replace(
            run,
            server_cpu=self.cpu,
            processes=processes,
            disk_busy_percent=self.disk_busy_percent,
            in_bytes_per_second=self.in_bytes_per_second,
            out_bytes_per_second=self.out_bytes_per_second,
        )


class ResourceWatch:
    """Samplers of the server and of this machine; either may be missing."""

    def __init__(self, server: ResourceSampler | None, here: ResourceSampler | None) -> None:
        self._server, self._here = server, here

    def __enter__(self) -> Self:
        for sampler in filter(None, (self._server, self._here)):
            sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        for sampler in filter(None, (self._server, self._here)):
            sampler.stop()

    def into(self, run: LayerRun, began: float, ended: float) -> LayerRun:
        """The run with the resources used between two monotonic times."""
        if self._here:
            run = replace(run, client_cpu=cpu_use(self._here.samples(began, ended)))
        return resources_used(self._server.samples(began, ended)).into(run) if self._server else run


def resources_used(samples: Sequence[ResourceSample]) -> ResourcesUsed:
    """Use between the first and last sample; empty for fewer than two."""
    if len(samples) < 2:
        return ResourcesUsed()
    first, last = samples[0], samples[-1]
    seconds = max(last.uptime_seconds - first.uptime_seconds, 1e-6)
    ticks = max(1, last.processors.total - first.processors.total)
    ours = None
    if first.server_ticks is not None and last.server_ticks is not None:
        ours = 100 * max(0, last.server_ticks - first.server_ticks) / ticks
    kernel = None
    if first.kernel_ticks is not None and last.kernel_ticks is not None:
        served = last.processors.interrupts - first.processors.interrupts
        kernel = 100 * max(0, last.kernel_ticks - first.kernel_ticks + served) / ticks
    disks = [
        busy - first.disk_busy_seconds[name]
        for name, busy in last.disk_busy_seconds.items()
        if name in first.disk_busy_seconds
    ]
    cards = [
        (counts[0] - first.interfaces[name][0], counts[1] - first.interfaces[name][1])
        for name, counts in last.interfaces.items()
        if name in first.interfaces
    ]
    came, went = max(cards, key=sum, default=(0, 0))
    return ResourcesUsed(
        cpu=cpu_use(samples),
        program_percent=ours,
        kernel_percent=kernel,
        disk_busy_percent=min(100.0, 100 * max(disks) / seconds) if disks else None,
        in_bytes_per_second=came / seconds if cards else None,
        out_bytes_per_second=went / seconds if cards else None,
    )


def cpu_use(samples: Sequence[ResourceSample]) -> CPUUse | None:
    """User, system and total of each interval; None for fewer than two samples."""
    users, systems = [], []
    for before, now in pairwise(samples):
        ticks = now.processors.total - before.processors.total
        if ticks > 0:
            users.append(100 * (now.processors.user - before.processors.user) / ticks)
            systems.append(100 * (now.processors.system - before.processors.system) / ticks)
    if not users:
        return None
    totals = [user + system for user, system in zip(users, systems, strict=True)]
    return CPUUse(user=spread_of(users), system=spread_of(systems), total=spread_of(totals), samples=len(users))
