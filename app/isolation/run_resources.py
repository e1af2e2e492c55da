"""What a run of a layer takes of the server and of this machine: processors, disks, network cards."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from operator import attrgetter

from app.isolation.places import Places
from app.isolation.spec import IsolationRequest
from app.server import resources
from app.server.processes import servers_here
from app.server.samples import ResourceSampler, SampledSides
from storage import isolation

_NEVER_SECONDS = 86_400
"""Between samples of the memory, which no layer needs."""
_SAMPLES = 5
"""Samples in a short run; time before the first and after the last is not seen."""


class ResourceWatch(SampledSides):
    """Samples the server, where it can be reached, and this machine, as long as a layer is measured.

    From `SampledSides` come the samplers ``server`` and ``own``, which run while the ``with`` block lasts.
    """

    def run_with_use(self, run: isolation.LayerRun, began: float, ended: float) -> isolation.LayerRun:
        """The run with what it took between these moments (monotonic clock)."""
        if self.own:
            run = replace(run, client_cpu=cpu_use(self.own.samples(began, ended)))
        return with_resources(run, self.server.samples(began, ended)) if self.server else run


def watch_of_run(places: Places, request: IsolationRequest, *names: str) -> ResourceWatch:
    """What samples the processes of these names on the server, and this machine where it is another one."""
    sampler_of = partial(
        ResourceSampler,
        memory_interval_seconds=_NEVER_SECONDS,
        interval_seconds=min(1.0, request.seconds / _SAMPLES),
    )

    server = None
    shell = places.shell
    if shell:
        is_local_smbd = names == ("smbd",) and not shell.ssh
        roots = servers_here(request.target.port_number) if is_local_smbd else ()
        server = sampler_of(shell.ssh, names=names, roots=roots)
    this_machine = None if places.same_machine else sampler_of(None, names=("tbench",))
    return ResourceWatch(server, this_machine)


def with_resources(run: isolation.LayerRun, samples: Sequence[resources.ResourceSample]) -> isolation.LayerRun:
    """The run with what the server used; as it is where the samples are too few."""
    if len(samples) < 2:
        return run

    first = samples[0]
    last = samples[-1]
    shares = {
        "server": resources.percents([(first, last)], attrgetter("server_ticks")),
        "kernel": resources.percents([(first, last)], attrgetter("kernel_part")),
    }
    # Of several cards the busiest one, which carried the clients.
    card_rates = resources.card_rates(first, last).values()
    in_rate, out_rate = max(card_rates, key=sum, default=(None, None))
    return replace(
        run,
        server_cpu=cpu_use(samples),
        processes={name: max(0.0, *percents) for name, percents in shares.items() if percents},
        disk_busy_percent=max(resources.disk_percents(first, last).values(), default=None),
        in_bytes_per_second=in_rate,
        out_bytes_per_second=out_rate,
    )


def cpu_use(samples: Sequence[resources.ResourceSample]) -> isolation.CPUUse | None:
    """How busy the processors were from one sample to the next; None for too few samples."""
    pairs = list(pairwise(samples))
    user_percents = resources.percents(pairs, attrgetter("processors.user"))
    if not user_percents:
        return None

    system_percents = resources.percents(pairs, attrgetter("processors.system"))
    totals = [user + system for user, system in zip(user_percents, system_percents, strict=True)]
    return isolation.CPUUse(
        user=resources.spread_of(user_percents),
        system=resources.spread_of(system_percents),
        total=resources.spread_of(totals),
        samples=len(user_percents),
    )
