"""An isolation computed: each layer's rate, the least of them, how much of it the server reaches, and why."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forms.isolation.profile import ProfileSummary, Waterfall, profile_summary, waterfall
from forms.isolation.verdict import IsolationVerdict, LayerEvidence, judge
from forms.stats.distributions import student_t
from forms.stats.summary import mean
from storage.isolations import CPUUse, Isolation, Layer, LayerRun
from storage.records import RunStatus, Spread

_AT_ONCE = (Layer.DISK_WITH_NETWORK, Layer.NETWORK_WITH_DISK)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRatio:
    """One rate over another, over the rounds, with the interval of 95 % where there are several."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationPoint:
    """All layers with one number of clients; rates are means over the valid rounds, in bytes per second."""

    clients: int
    rates: Mapping[Layer, float]
    least: float | None
    """Of the disk and the network at once, as in 2003; of each alone where they were not measured at once."""
    ratio: MeasuredRatio | None
    price: MeasuredRatio | None
    """Passes a second without the operations that are left out, over those of the whole script."""

    @property
    def server(self) -> float | None:
        return self.rates.get(Layer.SERVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationSummary:
    """The whole isolation, computed."""

    isolation: Isolation
    points: tuple[IsolationPoint, ...]
    cpu: Mapping[tuple[Layer, int], CPUUse]
    verdict: IsolationVerdict
    profile: ProfileSummary | None
    """Of the server layer, with the most clients that it was counted for."""
    profile_clients: int
    waterfall: Waterfall | None
    profiling_cost: MeasuredRatio | None
    """The rate while smbd does not count, over that while it does."""


def isolation_summary(isolation: Isolation) -> IsolationSummary:
    """What the runs of an isolation say together."""
    valid = [run for run in isolation.runs if run.status is RunStatus.VALID]
    runs = [run for run in valid if run.round <= isolation.rounds]
    counts = sorted({run.clients for run in runs})
    points = tuple(_point(clients, runs, valid) for clients in counts)
    judged = next((point for point in reversed(points) if point.server), None)
    cpu = {
        (layer, clients): use
        for clients in counts
        for layer in Layer
        if (use := pooled_cpu([r.server_cpu for r in _of(runs, layer, clients) if r.server_cpu]))
    }
    served = _of(runs, Layer.SERVER, judged.clients) if judged else []
    profiled = max((run.clients for run in runs if run.layer is Layer.SERVER and run.profile), default=0)
    counted = _of(runs, Layer.SERVER, profiled)
    fall = waterfall(served)
    most = max(counts, default=0)
    return IsolationSummary(
        isolation=isolation,
        points=points,
        cpu=cpu,
        verdict=judge(_evidence(isolation, judged, served, cpu, fall)),
        profile=profile_summary(counted),
        profile_clients=profiled,
        waterfall=waterfall(counted),
        profiling_cost=ratio_over_rounds(
            _of(runs, Layer.SERVER_UNPROFILED, most), _of(runs, Layer.SERVER, most), lambda run: run.bytes_per_second
        ),
    )


def _of(runs: Sequence[LayerRun], layer: Layer, clients: int) -> list[LayerRun]:
    return [run for run in runs if run.layer is layer and run.clients == clients]


def _point(clients: int, runs: Sequence[LayerRun], with_extra: Sequence[LayerRun]) -> IsolationPoint:
    """One number of clients; ``with_extra`` has the rounds of a price's two layers alone as well."""
    by_layer = {layer: _of(runs, layer, clients) for layer in Layer}
    rates = {
        layer: rate for layer, found in by_layer.items() if (rate := mean([run.bytes_per_second for run in found]))
    }
    least_layer = _least_layer(rates)
    return IsolationPoint(
        clients=clients,
        rates=rates,
        least=rates[least_layer] if least_layer else None,
        ratio=ratio_over_rounds(by_layer[Layer.SERVER], by_layer[least_layer], lambda run: run.bytes_per_second)
        if least_layer
        else None,
        price=ratio_over_rounds(
            _of(with_extra, Layer.SERVER, clients),
            _of(with_extra, Layer.SERVER_WHOLE_SCRIPT, clients),
            _passes_per_second,
        ),
    )


def _least_layer(rates: Mapping[Layer, float]) -> Layer | None:
    """The layer that carries least when all work at once, or alone where only that is known."""
    for layers in (_AT_ONCE, (Layer.DISK, Layer.NETWORK)):
        known = [layer for layer in layers if layer in rates]
        if len(known) == 2 or (known and layers != _AT_ONCE):
            return min(known, key=lambda layer: rates[layer])
    return None


def _passes_per_second(run: LayerRun) -> float:
    return run.passes / run.seconds if run.seconds else 0.0


def ratio_over_rounds(
    upper: Sequence[LayerRun], lower: Sequence[LayerRun], value: Callable[[LayerRun], float]
) -> MeasuredRatio | None:
    """The ratio of the means; its interval is Student's t over the logarithms of each round's own ratio."""
    below = {run.round: value(run) for run in lower}
    pairs = [(value(run), below[run.round]) for run in upper if below.get(run.round)]
    pairs = [(one, other) for one, other in pairs if one > 0 and other > 0]
    if not pairs:
        return None
    ratio = sum(one for one, _ in pairs) / sum(other for _, other in pairs)
    if len(pairs) < 2:
        return MeasuredRatio(value=ratio)
    logs = [math.log(one / other) for one, other in pairs]
    half = student_t(0.95, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    middle = statistics.fmean(logs)
    return MeasuredRatio(value=ratio, low=math.exp(middle - half), high=math.exp(middle + half))


def pooled_cpu(uses: Sequence[CPUUse]) -> CPUUse | None:
    """CPU use over several runs: means weighted by samples, the median of medians, deviations pooled."""
    if not uses:
        return None
    kinds = {
        name: _pooled([getattr(use, name) for use in uses], [max(1, use.samples) for use in uses])
        for name in ("user", "system", "total")
    }
    return CPUUse(**kinds, samples=sum(use.samples for use in uses))


def _pooled(spreads: Sequence[Spread], weights: Sequence[int]) -> Spread:
    known = [
        (spread.deviation, max(1, weight - 1))
        for spread, weight in zip(spreads, weights, strict=True)
        if spread.deviation is not None
    ]
    squares, freedom = sum(d * d * w for d, w in known), sum(w for _, w in known)
    return Spread(
        mean=sum(s.mean * w for s, w in zip(spreads, weights, strict=True)) / sum(weights),
        median=statistics.median(s.median for s in spreads),
        deviation=math.sqrt(squares / freedom) if known else None,
    )


def _evidence(
    isolation: Isolation,
    point: IsolationPoint | None,
    served: Sequence[LayerRun],
    cpu: Mapping[tuple[Layer, int], CPUUse],
    fall: Waterfall | None,
) -> LayerEvidence:
    if point is None:
        return LayerEvidence(clients=0)
    seconds = sum(run.seconds for run in served)
    operations = sum(sum(run.operations.values()) for run in served)
    ceiling = isolation.ceilings.get(point.clients)
    ratio, use = point.ratio, cpu.get((Layer.SERVER, point.clients))
    processes: Counter[str] = Counter()
    for run in served:
        processes.update({name: percent / len(served) for name, percent in run.processes.items()})
    held = sum(run.client_held_seconds for run in served)
    carried = [(run.in_bytes_per_second or 0.0, run.out_bytes_per_second or 0.0) for run in served]
    link = isolation.link_bits_per_second if not isolation.loopback and any(map(any, carried)) else None
    both_cpu = cpu.get((Layer.DISK_WITH_NETWORK, point.clients))
    own = [run.client_cpu.total.mean for run in served if run.client_cpu]
    return LayerEvidence(
        clients=point.clients,
        server=point.server,
        disk=point.rates.get(Layer.DISK_WITH_NETWORK) or point.rates.get(Layer.DISK),
        network=point.rates.get(Layer.NETWORK_WITH_DISK) or point.rates.get(Layer.NETWORK),
        least=point.least,
        ratio=ratio.value if ratio else None,
        ratio_low=ratio.low if ratio else None,
        ratio_high=ratio.high if ratio else None,
        cpu_percent=use.total.mean if use else None,
        cpu_percent_of_both=both_cpu.total.mean if both_cpu else None,
        server_percent=processes.get("server"),
        clients_percent=processes.get("clients"),
        kernel_percent=processes.get("kernel"),
        client_cpu_percent=mean(own),
        ceiling_share=operations / seconds / ceiling if ceiling and seconds else None,
        held_share=held / (point.clients * seconds) if held and seconds else None,
        link_share=8 * statistics.fmean(map(max, carried)) / link if link else None,
        link_share_both_ways=8 * statistics.fmean(map(sum, carried)) / link if link else None,
        throttled_percent=mean([r.throttled_percent for r in served if r.throttled_percent is not None]),
        processor_quota=isolation.processor_quota,
        disk_busy_percent=mean([r.disk_busy_percent for r in served if r.disk_busy_percent is not None]),
        file_system_share=fall.file_system_share if fall else None,
        loopback=isolation.loopback or isolation.same_machine,
        same_machine=isolation.same_machine,
        rounds=len(served),
    )
