"""Computes what an isolation shows: each layer's rate, the server's share of the slowest, processors, and the verdict.

The *layers* are the server's disk, the network, both at once, and the server itself. The *least* is the slower of disk
and network, which the server cannot exceed; the *ratio* is the server's rate divided by it.

A run replays a script of operations over and over; once through it is a *pass*. Operations can be left out of the
script (``--without``). What these cost is their *price*: it is measured by further runs of the whole script, of which
there is one round more than of all else.
"""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forms.isolation import profile as isolation_profile
from forms.isolation.verdict import IsolationVerdict, LayerEvidence, judge
from forms.stats import summary as stats_summary
from forms.tuning.differences import effective
from storage import records
from storage.isolation import CPUUse, Isolation, Layer, LayerRun

# Disk and network, measured at once and each alone.
_AT_ONCE = (Layer.DISK_WITH_NETWORK, Layer.NETWORK_WITH_DISK)
_ALONE = (Layer.DISK, Layer.NETWORK)

CPUUses = Mapping[tuple[Layer, int], CPUUse]
"""How busy the server's processors were, by layer and number of clients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRatio:
    """A ratio of rates over the rounds, with its 95 % interval where there are several."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationPoint:
    """All layers with one number of clients; mean bytes/s over the valid rounds."""

    clients: int
    rates: Mapping[Layer, float]
    least: float | None
    """Of disk and network at once, as in the paper of 2003; else of each alone. None where neither is known."""
    ratio: MeasuredRatio | None
    """The server's rate divided by the least."""
    price: MeasuredRatio | None
    """Passes a second of the script as it was run, divided by those of the whole one; None where all of it was run."""

    @property
    def server(self) -> float | None:
        return self.rates.get(Layer.SERVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationSummary:
    """What the form of an isolation shows."""

    isolation: Isolation
    points: tuple[IsolationPoint, ...]
    cpu: CPUUses
    verdict: IsolationVerdict
    """Of the largest number of clients with which the server was measured."""
    profile: isolation_profile.ProfileSummary | None
    profile_clients: int
    """The number of clients of the profile, the largest with one; 0 without any."""
    waterfall: isolation_profile.Waterfall | None
    """Where an operation's time goes, with as many clients."""
    profiling_cost: MeasuredRatio | None
    """The server's rate while smbd counts nothing, divided by that while it counts."""


def isolation_summary(isolation: Isolation) -> IsolationSummary:
    valid = [run for run in isolation.runs if run.status is records.RunStatus.VALID]
    # The round that was measured for the price alone has a number above those that were asked for.
    runs = [run for run in valid if run.round <= isolation.rounds]
    client_counts = sorted({run.clients for run in runs})

    # Disk and network alone are a bound only where both at once were never to be measured: in an isolation that was
    # interrupted they may have been still to come.
    were_both_tried = any(run.layer in _AT_ONCE for run in isolation.runs)
    alone_tells = isolation.status is not records.SeriesStatus.INTERRUPTED and not were_both_tried
    points = tuple(_point(clients, runs, valid, alone_tells=alone_tells) for clients in client_counts)

    # The verdict is that of the most clients with which the server was measured.
    judged_point = next((point for point in reversed(points) if point.server), None)
    judged_runs = _runs_of(runs, Layer.SERVER, judged_point.clients) if judged_point else []

    profiled = [run.clients for run in runs if run.layer is Layer.SERVER and run.profile]
    profile_clients = max(profiled, default=0)
    profiled_runs = _runs_of(runs, Layer.SERVER, profile_clients)

    cpu = _cpu_uses(runs, client_counts)
    most_clients = max(client_counts, default=0)
    return IsolationSummary(
        isolation=isolation,
        points=points,
        cpu=cpu,
        verdict=judge(_evidence(isolation, judged_point, judged_runs, cpu)),
        profile=isolation_profile.profile_summary(profiled_runs),
        profile_clients=profile_clients,
        waterfall=isolation_profile.waterfall(profiled_runs),
        profiling_cost=ratio_over_rounds(
            _runs_of(runs, Layer.SERVER_UNPROFILED, most_clients),
            _runs_of(runs, Layer.SERVER, most_clients),
            _bytes_per_second,
        ),
    )


def profiled_rounds(summary: IsolationSummary) -> list[isolation_profile.Profile]:
    """The server layer's profiles at the number of clients whose profile stands on the form."""
    valid = [run for run in summary.isolation.runs if run.status is records.RunStatus.VALID]
    return [run.profile for run in _runs_of(valid, Layer.SERVER, summary.profile_clients)]


def _runs_of(runs: Sequence[LayerRun], layer: Layer, clients: int) -> list[LayerRun]:
    return [run for run in runs if run.layer is layer and run.clients == clients]


def _bytes_per_second(run: LayerRun) -> float:
    return run.bytes_per_second


def _passes_per_second(run: LayerRun) -> float:
    return run.passes / run.seconds if run.seconds else 0.0


def _point(
    clients: int, runs: Sequence[LayerRun], runs_with_price: Sequence[LayerRun], *, alone_tells: bool
) -> IsolationPoint:
    runs_of_layer = {layer: _runs_of(runs, layer, clients) for layer in Layer}
    rates = {}
    for layer, layer_runs in runs_of_layer.items():
        rate = stats_summary.mean([run.bytes_per_second for run in layer_runs])
        if rate:
            rates[layer] = rate

    least_layer = _least_layer(rates, alone_tells=alone_tells)
    least = None
    ratio = None
    if least_layer:
        least = rates[least_layer]
        ratio = ratio_over_rounds(runs_of_layer[Layer.SERVER], runs_of_layer[least_layer], _bytes_per_second)

    return IsolationPoint(
        clients=clients,
        rates=rates,
        least=least,
        ratio=ratio,
        price=ratio_over_rounds(
            _runs_of(runs_with_price, Layer.SERVER, clients),
            _runs_of(runs_with_price, Layer.SERVER_WHOLE_SCRIPT, clients),
            _passes_per_second,
        ),
    )


def _least_layer(rates: Mapping[Layer, float], *, alone_tells: bool) -> Layer | None:
    """The slower of disk and network: of both at once, else, if that tells anything, of each alone; None without
    any.
    """
    if all(layer in rates for layer in _AT_ONCE):
        return min(_AT_ONCE, key=rates.__getitem__)
    if not alone_tells:
        return None

    measured_alone = [layer for layer in _ALONE if layer in rates]
    return min(measured_alone, key=rates.__getitem__, default=None)


def ratio_over_rounds(
    upper: Sequence[LayerRun], lower: Sequence[LayerRun], value_of: Callable[[LayerRun], float]
) -> MeasuredRatio | None:
    """The ratio of two layers' mean rates, over the rounds in which both were measured; None where there are none.

    Its 95 % interval is exp(mean ± t·s/√n) of the logarithms of the n rounds' ratios, t by Student with n - 1
    degrees of freedom; the ratio itself is that of the means.
    """
    lower_by_round = {run.round: value_of(run) for run in lower}
    pairs = [(value_of(run), lower_by_round.get(run.round, 0.0)) for run in upper]
    pairs = [(above, below) for above, below in pairs if above > 0 and below > 0]
    if not pairs:
        return None

    ratio = sum(above for above, _ in pairs) / sum(below for _, below in pairs)
    if len(pairs) < 2:
        return MeasuredRatio(value=ratio)

    low, high = stats_summary.confidence_interval([math.log(above / below) for above, below in pairs]) or (0.0, 0.0)
    return MeasuredRatio(value=ratio, low=math.exp(low), high=math.exp(high))


def _cpu_uses(runs: Sequence[LayerRun], client_counts: Sequence[int]) -> dict[tuple[Layer, int], CPUUse]:
    uses = {}
    for clients in client_counts:
        for layer in Layer:
            use = pooled_cpu([run.server_cpu for run in _runs_of(runs, layer, clients) if run.server_cpu])
            if use:
                uses[layer, clients] = use
    return uses


def pooled_cpu(uses: Sequence[CPUUse]) -> CPUUse | None:
    """CPU use over runs: means weighted by samples, the median of medians, deviations pooled."""
    if not uses:
        return None

    samples = [max(1, use.samples) for use in uses]
    return CPUUse(
        user=_pooled_spread([use.user for use in uses], samples),
        system=_pooled_spread([use.system for use in uses], samples),
        total=_pooled_spread([use.total for use in uses], samples),
        samples=sum(use.samples for use in uses),
    )


def _pooled_spread(spreads: Sequence[records.Spread], samples: Sequence[int]) -> records.Spread:
    """One spread of those of several runs: deviation = √(Σ (nᵢ - 1) sᵢ² / Σ (nᵢ - 1))."""
    total = 0.0
    squares = 0.0
    freedom = 0
    for spread, count in zip(spreads, samples, strict=True):
        total += spread.mean * count
        if spread.deviation is not None:
            degrees = max(1, count - 1)
            squares += spread.deviation * spread.deviation * degrees
            freedom += degrees

    return records.Spread(
        mean=total / sum(samples),
        median=statistics.median(spread.median for spread in spreads),
        deviation=math.sqrt(squares / freedom) if freedom else None,
    )


def _evidence(
    isolation: Isolation, point: IsolationPoint | None, runs: Sequence[LayerRun], cpu: CPUUses
) -> LayerEvidence:
    """What is known of the number of clients that is judged, from the runs against the server.

    ``isolation.ceilings`` are the operations a second that the clients' machine can ask for, by number of clients.
    """
    if point is None:
        return LayerEvidence(clients=0)

    seconds = sum(run.seconds for run in runs)
    operations = sum(sum(run.operations.values()) for run in runs)
    ceiling = isolation.ceilings.get(point.clients)
    held_seconds = sum(run.client_held_seconds for run in runs)

    server_cpu = cpu.get((Layer.SERVER, point.clients))
    both_cpu = cpu.get((Layer.DISK_WITH_NETWORK, point.clients))
    process_percents = _mean_processes(runs)
    link_share, link_share_both_ways = _link_shares(isolation, runs)
    waterfall = isolation_profile.waterfall(runs)
    client = isolation.client
    return LayerEvidence(
        clients=point.clients,
        server=point.server,
        disk=point.rates.get(Layer.DISK_WITH_NETWORK) or point.rates.get(Layer.DISK),
        network=point.rates.get(Layer.NETWORK_WITH_DISK) or point.rates.get(Layer.NETWORK),
        disk_alone=point.rates.get(Layer.DISK),
        network_alone=point.rates.get(Layer.NETWORK),
        least=point.least,
        ratio=point.ratio.value if point.ratio else None,
        ratio_low=point.ratio.low if point.ratio else None,
        ratio_high=point.ratio.high if point.ratio else None,
        cpu_percent=server_cpu.total.mean if server_cpu else None,
        cpu_percent_of_both=both_cpu.total.mean if both_cpu else None,
        server_percent=process_percents.get("server"),
        clients_percent=process_percents.get("clients"),
        kernel_percent=process_percents.get("kernel"),
        client_cpu_percent=stats_summary.mean([run.client_cpu.total.mean for run in runs if run.client_cpu]),
        ceiling_share=operations / seconds / ceiling if ceiling and seconds else None,
        held_share=held_seconds / (point.clients * seconds) if held_seconds and seconds else None,
        link_share=link_share,
        link_share_both_ways=link_share_both_ways,
        throttled_percent=stats_summary.mean(
            [run.throttled_percent for run in runs if run.throttled_percent is not None]
        ),
        processor_quota=isolation.processor_quota,
        disk_busy_percent=stats_summary.mean(
            [run.disk_busy_percent for run in runs if run.disk_busy_percent is not None]
        ),
        file_system_share=waterfall.file_system_share if waterfall else None,
        loopback=isolation.loopback or isolation.same_machine,
        same_machine=isolation.same_machine,
        signed=client is None or client.signing != "none",
        encrypted=client is None or client.encryption != "none",
        logs=effective(isolation.environment.get("server", {}), "log level") != "0",
        rounds=len(runs),
    )


def _mean_processes(runs: Sequence[LayerRun]) -> Mapping[str, float]:
    """Percent of all processors by kind of process, on average over the runs."""
    percents: Counter[str] = Counter()
    for run in runs:
        for kind, percent in run.processes.items():
            percents[kind] += percent / len(runs)  # type: ignore[assignment]
    return percents


def _link_shares(isolation: Isolation, runs: Sequence[LayerRun]) -> tuple[float | None, float | None]:
    """Of the link's speed: the busier direction, and both together; None without a link, or its counters."""
    carried = [(run.in_bytes_per_second or 0.0, run.out_bytes_per_second or 0.0) for run in runs]
    link = isolation.link_bits_per_second
    if not link or isolation.loopback or not any(map(any, carried)):
        return None, None

    busier = statistics.fmean(map(max, carried))
    total = statistics.fmean(map(sum, carried))
    return 8 * busier / link, 8 * total / link
