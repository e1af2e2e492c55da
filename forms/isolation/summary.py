"""An isolation computed: the layers' rates, the least of them, the server's share of it, and which layer limits."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum

from forms.stats.summary import confidence_interval, mean
from forms.tuning.differences import effective
from storage.isolation import CPUUse, Isolation, Layer, LayerRun, ProfileCounter
from storage.records import RunStatus, SeriesStatus, Spread

CLIENT_SHARE = 0.6
SOUND_SHARE = 0.5  # below it the ceiling, which was measured once and before, was disturbed
HELD_SHARE = 0.65
"""Of an operation's time spent in the clients: beyond it they are what is measured."""
LINK_SHARE = 0.85
BOTH_WAYS_SHARE = 0.9
"""Clients in step write together and read together: in and out then share a full link."""
REACHED = 0.7
"""A server this close to the least layer is held back by it; on a full link it was 0.77 and more."""
NEAR = 0.8
FILE_SYSTEM_SHARE = 0.5
THROTTLED_PERCENT = 30.0
"""Of its periods: a quota that limits smbd is used up in nearly each on an idle machine, in fewer on a busy one."""
BUSY_PERCENT = 90.0
"""What waits for a disk leaves processors idle: where they are full, dbench and smbd's calls waited for them."""
IDLE_PERCENT = 60.0
IDLE_DISK_PERCENT = 5.0
OTHERS_PERCENT = 25.0
"""The kernel moves packets outside of our processes: an unknown part may be this much."""
MOST_OTHERS_PERCENT = 50.0
"""Of full processors: where others had more than half, nobody knows what the server would do with them."""
OTHERS_COST = 4.0
FASTER_THAN_SERVER = 5.0
"""A disk that does this many times what the server does is not what the server's calls wait for."""
FASTER_THAN_PART = 2.0
"""Caches let a server beat dbench by itself; beyond this dbench, or the run of one part alone, was disturbed."""


class Cause(StrEnum):
    SAMBA = "samba"
    DISK = "disk"
    NETWORK = "network"
    PROCESSOR = "processor"
    CLIENT = "client"
    UNKNOWN = "unknown"


class IsolationDoubt(StrEnum):
    NO_SERVER = "the server was not measured"
    NO_LEAST = "there is nothing to compare the server with"
    WAKE_UP = "one client and an idle processor: the time to wake up decides"
    CLOSE = "no layer stands out"
    DISTURBED = "the server was much faster than the disk by itself, so that run was disturbed"  # as VARYING
    SLOWER_ALONE = "a part alone was much slower than with the other, so that run was disturbed"
    VARYING = "the rounds scatter too much"  # in documents; people read forms/isolation/report.py
    LOOPBACK = "no network card was on the way"
    PAGE_CACHE = "the disk hardly worked: the page cache answered"
    ONE_MACHINE = "clients and server share the processors"
    OTHERS = "others used a good part of the processors"
    ONE_ROUND = "one round has no uncertainty"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerEvidence:
    """What is known of one number of clients; unmeasured values are absent. Rates in bytes/s."""

    clients: int
    server: float | None = None
    disk: float | None = None
    network: float | None = None
    """As ``disk``: at once with the other part, where that was measured."""
    disk_alone: float | None = None
    network_alone: float | None = None
    least: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    cpu_percent: float | None = None
    cpu_percent_of_both: float | None = None
    server_percent: float | None = None
    clients_percent: float | None = None
    kernel_percent: float | None = None
    client_cpu_percent: float | None = None
    ceiling_share: float | None = None
    held_share: float | None = None
    link_share: float | None = None
    link_share_both_ways: float | None = None
    throttled_percent: float | None = None
    processor_quota: float | None = None
    disk_busy_percent: float | None = None
    file_system_share: float | None = None
    loopback: bool = False
    same_machine: bool = False
    signed: bool = True
    encrypted: bool = True
    logs: bool = True
    """Whether smbd's log level is above 0, or not known."""
    rounds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationVerdict:
    cause: Cause
    doubts: tuple[IsolationDoubt, ...] = ()
    evidence: LayerEvidence


def judge(found: LayerEvidence) -> IsolationVerdict:
    """The verdict: a full link, this client, a processor quota, the disk; what then remains is Samba's."""
    if not found.server:
        return IsolationVerdict(cause=Cause.UNKNOWN, doubts=(IsolationDoubt.NO_SERVER,), evidence=found)
    cause, why = _cause(found)
    part = {Cause.DISK: found.disk, Cause.SAMBA: found.least, Cause.PROCESSOR: found.least}.get(cause)
    if far_slower(part, found.server):
        cause, why = Cause.UNKNOWN, IsolationDoubt.DISTURBED
    reasons = (why,) if why else ()
    told = [doubt for doubt in _reservations(found, cause) if doubt is not why]
    return IsolationVerdict(cause=cause, doubts=(*reasons, *told), evidence=found)


def _cause(found: LayerEvidence) -> tuple[Cause, IsolationDoubt | None]:
    named = _plain_cause(found)
    others_here = found.same_machine and _others_worked(found)
    if named is Cause.CLIENT and others_here and not _at_least(found.ceiling_share, CLIENT_SHARE):
        return Cause.UNKNOWN, IsolationDoubt.OTHERS  # what waited for a processor here waited for theirs
    if named is not None:
        return named, None
    if found.ratio is None:
        return Cause.UNKNOWN, IsolationDoubt.NO_LEAST

    is_idle = found.cpu_percent is not None and found.cpu_percent < IDLE_PERCENT
    if found.clients == 1 and is_idle:
        return Cause.UNKNOWN, IsolationDoubt.WAKE_UP

    if (found.ratio_high or found.ratio) < REACHED:
        return _of_the_server(found)
    if found.ratio < REACHED:
        return Cause.UNKNOWN, IsolationDoubt.VARYING
    return _of_the_machine(found)


def _of_the_server(found: LayerEvidence) -> tuple[Cause, IsolationDoubt | None]:
    """What holds back a server that does not reach what the layers carry."""
    ratio = found.ratio_high or found.ratio or 0.0
    with_its_share = _without_contention(ratio, found)
    if _others_worked(found) and _waits_for_files(found) and with_its_share < REACHED:
        return Cause.DISK, None  # others cannot have closed the gap, and half of the waiting is the disk's

    others_had_most = _at_least(found.cpu_percent, BUSY_PERCENT) and _at_least(
        others_percent(found), MOST_OTHERS_PERCENT
    )
    # Several rounds in which others worked alike show the server; a single one may have met them alone.
    met_others_once = found.ratio_high is None and _without_others(ratio, found) >= REACHED
    if others_had_most or with_its_share >= REACHED or met_others_once:
        return Cause.UNKNOWN, IsolationDoubt.OTHERS
    return Cause.SAMBA, None


def _plain_cause(found: LayerEvidence) -> Cause | None:
    if _at_least(found.link_share, LINK_SHARE) or _fills_both_ways(found):
        return Cause.NETWORK
    busy_here = found.ceiling_share is None and _at_least(found.client_cpu_percent, BUSY_PERCENT)
    is_ceiling_sound = found.held_share is None or found.held_share >= SOUND_SHARE
    at_ceiling = is_ceiling_sound and _at_least(found.ceiling_share, CLIENT_SHARE)
    if busy_here or at_ceiling or _at_least(found.held_share, HELD_SHARE):
        return Cause.CLIENT
    if _at_least(found.throttled_percent, THROTTLED_PERCENT):
        return Cause.PROCESSOR
    if _waits_for_files(found) and not _at_least(found.cpu_percent, BUSY_PERCENT):
        return Cause.DISK
    return None


def _waits_for_files(found: LayerEvidence) -> bool:
    """Whether operations wait in calls of the file system, and dbench finds the disk slow too."""
    return _at_least(found.file_system_share, FILE_SYSTEM_SHARE) and not disk_is_fast(found)


def disk_is_fast(found: LayerEvidence) -> bool:
    """Whether the disk, with the network or alone, does many times what the server does."""
    disk = max(found.disk or 0.0, found.disk_alone or 0.0)
    return bool(found.server) and disk >= FASTER_THAN_SERVER * (found.server or 0.0)


def _of_the_machine(found: LayerEvidence) -> tuple[Cause, IsolationDoubt | None]:
    disk, network = found.disk, found.network
    if disk and network and _without_others(network, found) < NEAR * disk and not found.loopback:
        return Cause.NETWORK, None
    # Others who only take processors slow the calls as much as the rest: half of the waiting is the disk's.
    if disk and network and _without_others(disk, found) < NEAR * network and _waits_for_files(found):
        return Cause.DISK, None
    if _others_worked(found):
        return Cause.UNKNOWN, IsolationDoubt.OTHERS
    if _at_least(found.cpu_percent, BUSY_PERCENT):
        return Cause.PROCESSOR, None
    if disk and (not network or disk < NEAR * network):
        return Cause.DISK, None
    return Cause.UNKNOWN, IsolationDoubt.CLOSE


def _reservations(found: LayerEvidence, cause: Cause) -> list[IsolationDoubt]:
    rested = found.disk_busy_percent is not None and found.disk_busy_percent < IDLE_DISK_PERCENT
    told = {
        IsolationDoubt.SLOWER_ALONE: far_slower(found.disk_alone, found.disk)
        or far_slower(found.network_alone, found.network),
        IsolationDoubt.LOOPBACK: found.loopback,
        IsolationDoubt.PAGE_CACHE: rested and cause is not Cause.DISK and bool(found.disk or found.disk_alone),
        IsolationDoubt.ONE_MACHINE: found.same_machine,
        IsolationDoubt.OTHERS: _others_worked(found),
        IsolationDoubt.ONE_ROUND: found.rounds == 1,
    }
    return [doubt for doubt, holds in told.items() if holds]


def far_slower(rate: float | None, other: float | None) -> bool:
    return rate is not None and _at_least(other, FASTER_THAN_PART * rate)


def others_percent(found: LayerEvidence) -> float | None:
    """Percent of all processors used by programs other than smbd, clients and kernel, or None."""
    if found.cpu_percent is None or found.server_percent is None:
        return None
    ours = found.server_percent + (found.clients_percent or 0.0) + (found.kernel_percent or 0.0)
    return max(0.0, found.cpu_percent - ours)


def _others_worked(found: LayerEvidence) -> bool:
    return _at_least(others_percent(found), OTHERS_PERCENT)


def _without_others(figure: float, found: LayerEvidence) -> float:
    return OTHERS_COST * figure if _others_worked(found) else figure


def _without_contention(ratio: float, found: LayerEvidence) -> float:
    others = others_percent(found)
    if others is None or not _others_worked(found) or not _at_least(found.cpu_percent, BUSY_PERCENT):
        return ratio
    return ratio * 100 / max(1.0, 100 - others)


def _fills_both_ways(found: LayerEvidence) -> bool:
    slow = found.network is None or (found.server or 0.0) >= REACHED * found.network
    return slow and _at_least(found.link_share_both_ways, BOTH_WAYS_SHARE)


def _at_least(value: float | None, limit: float) -> bool:
    return value is not None and value >= limit


SHOWN = 10
REQUESTS, _CALL = ("smb2_", "SMB", "Trans2_"), "syscall_"
_SESSION = frozenset({"smb2_negprot", "smb2_sesssetup", "smb2_logoff", "smb2_tcon", "smb2_tdis", "smb2_cancel"})
_WAITS = frozenset({"smb2_notify", "smb2_break"})


@dataclass(frozen=True, slots=True)
class DearCall:
    name: str
    calls: int
    microseconds_a_call: float
    share: float
    """Of all requests' time, 0 to 1, calls included in their request; without requests, of all calls' time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSummary:
    dearest: tuple[DearCall, ...]
    waits: tuple[DearCall, ...]
    stat_cache_lookups: int
    stat_cache_hits: int
    read_bytes: int
    written_bytes: int
    cpu_user_microseconds: int
    cpu_system_microseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """Where an operation's time goes, in microseconds; the parts add up to the whole."""

    whole: float
    client: float
    network: float
    """The rest: the way there and back, and the wait for smbd's processor."""
    protocol: float
    threads: float
    file_system: float

    @property
    def not_explained(self) -> float:
        left = self.whole - self.client - self.network - self.protocol - self.threads - self.file_system
        return left if abs(left) > 1e-6 * self.whole else 0.0

    @property
    def file_system_share(self) -> float:
        """Of the clients' waiting; smbd's calls of different clients overlap, so that it could be more than all."""
        wait = self.whole - self.client
        return min(1.0, self.file_system / wait) if wait > 0 else 0.0

    def parts(self) -> Mapping[str, float]:
        return {
            "this client": self.client,
            "network, and smbd's turn": self.network,
            "protocol": self.protocol,
            "hand-over to threads": self.threads,
            "file system and disk": self.file_system,
            "not explained": self.not_explained,
        }


def summed(runs: Sequence[LayerRun]) -> dict[str, ProfileCounter]:
    found: dict[str, ProfileCounter] = {}
    for run in runs:
        for name, counter in run.profile.items():
            before = astuple(found.get(name, ProfileCounter()))
            found[name] = ProfileCounter(*(a + b for a, b in zip(before, astuple(counter), strict=True)))
    return found


def _requests(profile: Mapping[str, ProfileCounter]) -> dict[str, ProfileCounter]:
    left_out = _SESSION | _WAITS
    return {name: one for name, one in profile.items() if name.startswith(REQUESTS) and name not in left_out}


def profile_summary(runs: Sequence[LayerRun]) -> ProfileSummary | None:
    profile = summed(runs)
    requests = _requests(profile)
    calls = requests | {name: one for name, one in profile.items() if name.startswith(_CALL)}
    if not calls:
        return None
    whole = max(1, sum(one.microseconds for one in (requests or calls).values()))
    work = [_call(name, one, one.microseconds - one.idle_microseconds, whole) for name, one in calls.items()]
    waits = [_call(name, profile[name], profile[name].microseconds, whole) for name in _WAITS & profile.keys()]
    waits += [_call(name, one, one.idle_microseconds, whole) for name, one in calls.items() if one.idle_microseconds]
    none = ProfileCounter()
    return ProfileSummary(
        dearest=tuple(sorted(work, key=lambda one: -one.share)[:SHOWN]),
        waits=tuple(sorted(waits, key=lambda one: -one.share)),
        stat_cache_lookups=profile.get("statcache_lookups", none).calls,
        stat_cache_hits=profile.get("statcache_hits", none).calls, read_bytes=profile.get("smb2_read", none).out_bytes,
        written_bytes=profile.get("smb2_write", none).in_bytes,
        cpu_user_microseconds=profile.get("cpu_user", none).microseconds,
        cpu_system_microseconds=profile.get("cpu_system", none).microseconds,
    )  # fmt: skip


def profiled_rounds(summary: "IsolationSummary") -> list[Mapping[str, ProfileCounter]]:
    """The server layer's profiles at the number of clients whose profile stands on the form."""
    return [
        run.profile for run in summary.isolation.runs
        if run.layer is Layer.SERVER and run.clients == summary.profile_clients and run.status is RunStatus.VALID
    ]  # fmt: skip


def _call(name: str, counter: ProfileCounter, microseconds: int, whole: int) -> DearCall:
    return DearCall(name, counter.calls, microseconds / max(1, counter.calls), microseconds / whole)


def waterfall(runs: Sequence[LayerRun]) -> Waterfall | None:
    """One operation's time; None without smbd's times, which are scaled by requests per operation."""
    timed = [run for run in runs if run.profile and run.operations and run.window_requests]
    profile = summed(timed)
    requests = _requests(profile)
    operations = sum(sum(run.operations.values()) for run in timed)
    counted = sum(one.calls for one in requests.values())
    served = sum(one.microseconds for one in requests.values())
    if not operations or not counted or not served:
        return None
    each = sum(run.window_requests for run in timed) / operations / counted
    calls = [one for name, one in profile.items() if name.startswith(_CALL)]
    in_files = sum(one.microseconds - one.idle_microseconds for one in calls)
    in_threads = sum(one.idle_microseconds for one in calls)
    whole = 1e6 * sum(run.clients * run.seconds for run in timed) / operations
    wait = 1e6 * sum(run.wait_seconds for run in timed) / operations
    client = max(whole - wait, 1e6 * sum(run.client_held_seconds for run in timed) / operations)
    return Waterfall(
        whole=whole, client=client, network=max(0.0, whole - client - served * each),
        protocol=max(0.0, (served - in_files - in_threads) * each), threads=in_threads * each,
        file_system=in_files * each,
    )  # fmt: skip


_AT_ONCE = (Layer.DISK_WITH_NETWORK, Layer.NETWORK_WITH_DISK)


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
    """Of disk and network at once, as in 2003; else of each alone."""
    ratio: MeasuredRatio | None
    price: MeasuredRatio | None

    @property
    def server(self) -> float | None:
        return self.rates.get(Layer.SERVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationSummary:
    isolation: Isolation
    points: tuple[IsolationPoint, ...]
    cpu: Mapping[tuple[Layer, int], CPUUse]
    verdict: IsolationVerdict
    profile: ProfileSummary | None
    profile_clients: int
    waterfall: Waterfall | None
    profiling_cost: MeasuredRatio | None


def isolation_summary(isolation: Isolation) -> IsolationSummary:
    valid = [run for run in isolation.runs if run.status is RunStatus.VALID]
    runs = [run for run in valid if run.round <= isolation.rounds]
    counts = sorted({run.clients for run in runs})
    both_tried = any(run.layer in _AT_ONCE for run in isolation.runs)
    alone_tells = isolation.status is not SeriesStatus.INTERRUPTED and not both_tried
    points = tuple(_point(clients, runs, valid, alone_tells) for clients in counts)
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
        isolation=isolation, points=points, cpu=cpu, verdict=judge(_evidence(isolation, judged, served, cpu, fall)),
        profile=profile_summary(counted), profile_clients=profiled, waterfall=waterfall(counted),
        profiling_cost=ratio_over_rounds(
            _of(runs, Layer.SERVER_UNPROFILED, most), _of(runs, Layer.SERVER, most), lambda run: run.bytes_per_second
        ),
    )  # fmt: skip


def _of(runs: Sequence[LayerRun], layer: Layer, clients: int) -> list[LayerRun]:
    return [run for run in runs if run.layer is layer and run.clients == clients]


def _point(clients: int, runs: Sequence[LayerRun], with_extra: Sequence[LayerRun], alone_tells: bool) -> IsolationPoint:
    by_layer = {layer: _of(runs, layer, clients) for layer in Layer}
    means = {layer: mean([run.bytes_per_second for run in found]) for layer, found in by_layer.items()}
    rates = {layer: rate for layer, rate in means.items() if rate}
    least_layer = _least_layer(rates, alone_tells)
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
            lambda run: run.passes / run.seconds if run.seconds else 0.0,
        ),
    )


def _least_layer(rates: Mapping[Layer, float], alone_tells: bool) -> Layer | None:
    """Of both at once; of each alone only where both at once were never to be measured, nor failed."""
    at_once, alone = ([layer for layer in both if layer in rates] for both in (_AT_ONCE, (Layer.DISK, Layer.NETWORK)))
    known = at_once if len(at_once) == 2 else alone if alone_tells else []
    return min(known, key=lambda layer: rates[layer], default=None)


def ratio_over_rounds(
    upper: Sequence[LayerRun], lower: Sequence[LayerRun], value: Callable[[LayerRun], float]
) -> MeasuredRatio | None:
    """The ratio of the means; its interval is Student's t over the logarithms of the rounds' ratios."""
    below = {run.round: value(run) for run in lower}
    pairs = [(value(run), below[run.round]) for run in upper if below.get(run.round)]
    pairs = [(one, other) for one, other in pairs if one > 0 and other > 0]
    if not pairs:
        return None
    ratio = sum(one for one, _ in pairs) / sum(other for _, other in pairs)
    if len(pairs) < 2:
        return MeasuredRatio(value=ratio)
    low, high = confidence_interval([math.log(one / other) for one, other in pairs]) or (0.0, 0.0)
    return MeasuredRatio(value=ratio, low=math.exp(low), high=math.exp(high))


def pooled_cpu(uses: Sequence[CPUUse]) -> CPUUse | None:
    """CPU use over runs: means weighted by samples, the median of medians, deviations pooled."""
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
        clients=point.clients, server=point.server,
        disk=point.rates.get(Layer.DISK_WITH_NETWORK) or point.rates.get(Layer.DISK),
        network=point.rates.get(Layer.NETWORK_WITH_DISK) or point.rates.get(Layer.NETWORK), least=point.least,
        disk_alone=point.rates.get(Layer.DISK), network_alone=point.rates.get(Layer.NETWORK),
        ratio=ratio.value if ratio else None, ratio_low=ratio.low if ratio else None,
        ratio_high=ratio.high if ratio else None, cpu_percent=use.total.mean if use else None,
        cpu_percent_of_both=both_cpu.total.mean if both_cpu else None, server_percent=processes.get("server"),
        clients_percent=processes.get("clients"), kernel_percent=processes.get("kernel"), client_cpu_percent=mean(own),
        ceiling_share=operations / seconds / ceiling if ceiling and seconds else None,
        held_share=held / (point.clients * seconds) if held and seconds else None,
        link_share=8 * statistics.fmean(map(max, carried)) / link if link else None,
        link_share_both_ways=8 * statistics.fmean(map(sum, carried)) / link if link else None,
        throttled_percent=mean([r.throttled_percent for r in served if r.throttled_percent is not None]),
        processor_quota=isolation.processor_quota,
        disk_busy_percent=mean([r.disk_busy_percent for r in served if r.disk_busy_percent is not None]),
        file_system_share=fall.file_system_share if fall else None,
        loopback=isolation.loopback or isolation.same_machine, same_machine=isolation.same_machine,
        signed=isolation.client is None or isolation.client.signing != "none",
        encrypted=isolation.client is None or isolation.client.encryption != "none", rounds=len(served),
        logs=effective(isolation.environment.get("server", {}), "log level") != "0",
    )  # fmt: skip
