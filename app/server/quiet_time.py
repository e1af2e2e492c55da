"""Quiet time: whether other activity before or during a series could bias it, judged from samples.

The thresholds are ours. *Typical*: activity is visible. *Busy*: it can change a result by percents.
"""

import math
import os
import threading
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Self

from app.server.host_activity import Reading, Sample, Wire, between, samples_of_run, take_reading
from app.server.host_facts import Ours, servers_here
from app.server.link_facts import Link, is_this_machine
from app.server.samples import spread_of
from storage.records import Command, Facts, Quiet, QuietVerdict, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """From where on a figure is typical, and from where on busy."""

    typical: float
    busy: float


OTHERS_CPU_PERCENT = Threshold(typical=5, busy=20)
"""Of the whole machine: one busy loop takes 50 on 2 CPUs, 12.5 on 8."""
STOLEN_PERCENT = Threshold(typical=5, busy=15)
RUN_QUEUE_PER_CPU = Threshold(typical=1, busy=2)
"""Judged only before a series: during it our own threads are counted too."""
LINK_PERCENT = Threshold(typical=0.5, busy=5)
"""Of the link speed, or of our own rate if that is higher or the link's is unknown."""
DISK_PERCENT = Threshold(typical=20, busy=60)
"""Of the busiest disk's time, if the transfer uses no disk of this machine."""
SERVER_CPU_PERCENT = Threshold(typical=20, busy=60)
TYPICAL_RETRANSMIT_PERCENT = 1.0
"""Of the TCP segments sent."""
TYPICAL_RETRANSMIT_LEAST = 20
"""Number of TCP retransmissions below which their share means nothing."""
LASTING_SHARE = 0.2
"""A figure counts if it holds on average or in this share of the seconds."""
UNKNOWN_LINK_BYTES_PER_SECOND = 125e6
LEAST_SECONDS = 0.25
"""CPU time is counted in hundredths of a second; shorter periods are too coarse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLoad:
    """What was at work on the server before the series; None for what is unknown."""

    cpu_percent: float | None = None
    other_sessions: int | None = None
    """Of SMB, from machines other than this one."""


def server_load(facts: Facts) -> ServerLoad | None:
    cpu = facts.get("cpu.busy_percent_before")
    sessions = facts.get("server.sessions.other_machines")
    if cpu is None and sessions is None:
        return None
    return ServerLoad(
        cpu_percent=float(cpu) if cpu is not None else None,
        other_sessions=int(sessions) if sessions is not None else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietContext:
    cpus: int = 1
    wire: Wire = field(default_factory=Wire)
    own_disk: bool = False
    """A local path, or a server on this machine."""


def assess(
    before: Sequence[Sample],
    during: Sequence[Sample] = (),
    around: QuietContext | None = None,
    server: ServerLoad | None = None,
) -> Quiet:
    """The worst verdict of any figure, before and during a series."""
    context = around or QuietContext()
    reasons: list[tuple[QuietVerdict, str]] = []
    if _long_enough(before):
        reasons += _phase_reasons(before, context, running=False)
    if _long_enough(during):
        reasons += _phase_reasons(during, context, running=True)

    figures = _figures(before, "before") | _figures(during, "during")
    if server:
        reasons += _server_reasons(server)
        figures["server_cpu_percent_before"] = _rounded(server.cpu_percent)
        figures["server_other_sessions_before"] = server.other_sessions
    if not figures:
        return Quiet(verdict=QuietVerdict.UNKNOWN, reasons=("this system does not say what it is busy with",))

    verdicts = {verdict for verdict, _ in reasons}
    worst = QuietVerdict.QUIET
    if QuietVerdict.BUSY in verdicts:
        worst = QuietVerdict.BUSY
    elif QuietVerdict.TYPICAL in verdicts:
        worst = QuietVerdict.TYPICAL
    return Quiet(verdict=worst, reasons=tuple(text for verdict, text in reasons if verdict is worst), figures=figures)


def _phase_reasons(
    samples: Sequence[Sample], context: QuietContext, *, running: bool
) -> Iterator[tuple[QuietVerdict, str]]:
    when = "during the runs" if running else "before the series"

    others = _judge(samples, [sample.others_cpu_percent for sample in samples], OTHERS_CPU_PERCENT)
    if others:
        yield others.reason(f"other programs took {others.value:.0f} % of this machine's CPUs {when}")

    stolen = _judge(samples, [sample.stolen_percent for sample in samples], STOLEN_PERCENT)
    if stolen:
        yield stolen.reason(f"the hypervisor took {stolen.value:.0f} % of the CPU time for other machines {when}")

    link = _judge(samples, [_link_percent(sample, context.wire) for sample in samples], LINK_PERCENT)
    if link:
        megabytes = _mean(samples, [_link_rate(sample) for sample in samples]) / 1e6
        yield link.reason(f"others moved {megabytes:.1f} MB/s over {context.wire.interface} {when}")

    queue = _judge(samples, [sample.run_queue / context.cpus for sample in samples], RUN_QUEUE_PER_CPU)
    if queue and not running:
        load = queue.value * context.cpus
        yield queue.reason(f"the CPU load was {load:.1f} on {context.cpus} CPUs {when}")

    disk = _judge(samples, [sample.disk_percent for sample in samples], DISK_PERCENT)
    if disk and not (running and context.own_disk):
        yield disk.reason(f"a disk of this machine was at work {disk.value:.0f} % of the time {when}")

    sent = sum(sample.segments_sent for sample in samples)
    retransmitted = sum(sample.retransmitted for sample in samples)
    is_lossy = 100 * retransmitted >= TYPICAL_RETRANSMIT_PERCENT * sent
    if retransmitted >= TYPICAL_RETRANSMIT_LEAST and is_lossy:
        yield QuietVerdict.TYPICAL, f"{retransmitted} of {sent} TCP segments were retransmitted {when}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _BusyFigure:
    """A figure beyond a threshold, on average or in enough of the seconds."""

    verdict: QuietVerdict
    value: float
    """The average, of the worse seconds alone if only those are beyond the threshold."""
    duration: str = ""

    def reason(self, text: str) -> tuple[QuietVerdict, str]:
        return self.verdict, f"{text}{self.duration}"


def _judge(samples: Sequence[Sample], figures: Sequence[float], limit: Threshold) -> _BusyFigure | None:
    """``figures`` are the samples' in their order; None where all of them are quiet."""
    average = _mean(samples, figures)
    full_seconds = [
        (sample, figure) for sample, figure in zip(samples, figures, strict=True) if sample.seconds >= LEAST_SECONDS
    ]
    for verdict, edge in ((QuietVerdict.BUSY, limit.busy), (QuietVerdict.TYPICAL, limit.typical)):
        if average >= edge:
            return _BusyFigure(verdict=verdict, value=average)

        worse = [(sample, figure) for sample, figure in full_seconds if figure >= edge]
        if len(worse) >= 2 and len(worse) >= LASTING_SHARE * len(full_seconds):
            value = _mean([sample for sample, _ in worse], [figure for _, figure in worse])
            duration = f", for {len(worse)} of {len(full_seconds)} seconds"
            return _BusyFigure(verdict=verdict, value=value, duration=duration)
    return None


def _server_reasons(server: ServerLoad) -> Iterator[tuple[QuietVerdict, str]]:
    cpu = server.cpu_percent or 0.0
    if cpu >= SERVER_CPU_PERCENT.typical:
        verdict = QuietVerdict.BUSY if cpu >= SERVER_CPU_PERCENT.busy else QuietVerdict.TYPICAL
        yield verdict, f"the server's CPUs were {cpu:.0f} % busy before the series"
    if server.other_sessions:
        noun = "session" if server.other_sessions == 1 else "sessions"
        yield QuietVerdict.TYPICAL, f"the server had {server.other_sessions} {noun} of other machines"


def _link_percent(sample: Sample, wire: Wire) -> float:
    our_rate = sample.our_bytes / sample.seconds
    nominal_rate = max(UNKNOWN_LINK_BYTES_PER_SECOND, our_rate)
    if wire.bits_per_second:
        nominal_rate = wire.bits_per_second / 8
    return 100 * _link_rate(sample) / nominal_rate


def _link_rate(sample: Sample) -> float:
    return sample.others_link_bytes / sample.seconds


def _mean(samples: Sequence[Sample], figures: Sequence[float]) -> float:
    """The average figure of the samples, each weighted by its time."""
    weighted = [figure * sample.seconds for sample, figure in zip(samples, figures, strict=True)]
    return sum(weighted) / sum(sample.seconds for sample in samples)


def _long_enough(samples: Sequence[Sample]) -> bool:
    return sum(sample.seconds for sample in samples) >= LEAST_SECONDS


def _figures(samples: Sequence[Sample], when: str) -> dict[str, float | None]:
    if not _long_enough(samples):
        return {}

    full_samples = [sample for sample in samples if sample.seconds >= LEAST_SECONDS]
    cpu_samples = full_samples or samples
    cpu_figures = {
        "cpu_user_percent": [sample.user_percent for sample in cpu_samples],
        "cpu_system_percent": [sample.cpu_percent - sample.user_percent for sample in cpu_samples],
        "cpu_percent": [sample.cpu_percent for sample in cpu_samples],
    }
    spreads = {name: spread_of(figures) for name, figures in cpu_figures.items()} if full_samples else {}

    figures: dict[str, float | None] = {f"seconds_{when}": _rounded(sum(sample.seconds for sample in samples))}
    for name, values in cpu_figures.items():
        figures[f"{name}_{when}"] = _rounded(_mean(cpu_samples, values))
    for name, spread in spreads.items():
        figures[f"{name}_median_{when}"] = _rounded(spread.median)
    for name, spread in spreads.items():
        figures[f"{name}_deviation_{when}"] = _rounded(spread.deviation)

    figures |= {
        f"others_cpu_percent_{when}": _rounded(_mean(samples, [sample.others_cpu_percent for sample in samples])),
        f"stolen_percent_{when}": _rounded(_mean(samples, [sample.stolen_percent for sample in samples])),
        f"run_queue_{when}": _rounded(_mean(samples, [sample.run_queue for sample in samples])),
        f"others_link_bytes_per_second_{when}": round(_mean(samples, [_link_rate(sample) for sample in samples])),
        f"disk_percent_{when}": _rounded(_mean(samples, [sample.disk_percent for sample in samples])),
        f"segments_sent_{when}": sum(sample.segments_sent for sample in samples),
        f"retransmitted_{when}": sum(sample.retransmitted for sample in samples),
    }
    return figures


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


_AT_ONCE_SECONDS = 1e-3
"""How long what came without a time of its own is taken to have lasted."""


class OwnTraffic:
    """One run's bytes over time, interpolated; the report that arrived fastest dates the run's first request."""

    def __init__(self) -> None:
        self._points: list[tuple[float, int]] = [(0.0, 0)]
        self._began = math.inf

    def add(self, arrived_at: float, seconds: float, moved_bytes: int) -> None:
        """Seconds; ``arrived_at`` by the clock of :meth:`at`."""
        self._began = min(self._began, arrived_at - seconds)
        last_seconds, last_bytes = self._points[-1]
        if seconds > last_seconds:
            self._points.append((seconds, moved_bytes))
        elif moved_bytes > last_bytes:
            # A program's own time for the whole run begins later than our watching it.
            self._points.append((last_seconds + _AT_ONCE_SECONDS, moved_bytes))

    def at(self, moment: float) -> float:
        """Bytes moved until that moment of the monotonic clock."""
        seconds = moment - self._began
        index = bisect_right(self._points, seconds, key=itemgetter(0))
        if index == 0:
            return 0.0
        if index == len(self._points):
            return float(self._points[-1][1])

        first_seconds, first_bytes = self._points[index - 1]
        last_seconds, last_bytes = self._points[index]
        share = (seconds - first_seconds) / (last_seconds - first_seconds)
        return first_bytes + (last_bytes - first_bytes) * share


LOOK_SECONDS = 2.0
INTERVAL_SECONDS = 1.0
COST_SHARE = 0.01
"""Readings are taken less often if they would cost more than this share of a CPU."""


def _wire_of(link: Link | None) -> Wire:
    if link is None:
        return Wire()
    return Wire(
        interface=link.interface,
        loopback=link.loopback,
        mtu_bytes=link.mtu_bytes or 1500,
        bits_per_second=link.bits_per_second,
        ip_version=link.ip_version,
    )


class QuietWatch:
    """Reads only in runs: file handling and interleaved series are not others' activity. :meth:`look` alone blocks."""

    def __init__(self, target: Target, command: Command, link: Link | None = None) -> None:
        is_here = target.abilities.is_local or (link.loopback if link else is_this_machine(target.host))
        self._receiving = command is Command.GET
        self._wire = _wire_of(link)
        self._around = QuietContext(cpus=os.cpu_count() or 1, wire=self._wire, own_disk=is_here)

        has_server_here = is_here and not target.abilities.is_local
        servers = servers_here(target.port_number) if has_server_here else frozenset()
        self._ours = Ours(trees=servers, single=frozenset({os.getpid()}))
        self._bystander = Ours(single=self._ours.single)

        self._before: list[Sample] = []
        self._during: list[Sample] = []
        self.server: ServerLoad | None = None
        self._own = OwnTraffic()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._readings: list[Reading] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_run()

    def look(self, seconds: float = LOOK_SECONDS, stop: threading.Event | None = None) -> Quiet:
        self._before = []
        stop = stop or threading.Event()
        end = time.monotonic() + seconds

        last = take_reading(self._wire, self._bystander)
        while last is not None:
            pause_seconds = max(0.0, min(INTERVAL_SECONDS, end - time.monotonic()))
            if stop.wait(pause_seconds):
                break
            now = take_reading(self._wire, self._bystander)
            if now is None:
                break
            self._before.append(between(last, now, self._wire, receiving=self._receiving))
            last = now
            if now.at_seconds >= end:
                break
        return self.verdict()

    def until_quiet(
        self, quiet: Quiet, limit_seconds: float, seconds: float = LOOK_SECONDS, stop: threading.Event | None = None
    ) -> Iterator[tuple[float, str]]:
        """While it is busy: the seconds that are left, and what keeps it so; after each of them it looks again."""
        end = time.monotonic() + limit_seconds
        while quiet.verdict is QuietVerdict.BUSY and not (stop and stop.is_set()):
            yield max(0.0, end - time.monotonic()), next(iter(quiet.reasons), "")
            quiet = self.look(seconds, stop)
            if time.monotonic() >= end:
                return

    def set_child(self, pid: int) -> None:
        self._ours = Ours(trees=self._ours.trees | {pid}, single=self._ours.single)

    def session_is(self, *, block_bytes: int | None, timestamps: bool) -> None:
        self._wire = replace(self._wire, block_bytes=block_bytes, timestamps=timestamps)

    def run_started(self) -> None:
        self._end_run()
        self._own = OwnTraffic()
        self._readings = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_reading, args=(self._stop,), daemon=True)
        self._thread.start()

    def moved(self, seconds: float, run_bytes: int) -> None:
        """Take note of the bytes that the run has moved until now, and of its own time for them."""
        self._own.add(time.monotonic(), seconds, run_bytes)

    def run_finished(self, seconds: float | None, run_bytes: int) -> None:
        if seconds is not None:
            self._own.add(time.monotonic(), seconds, run_bytes)
        self._end_run()

    def verdict(self) -> Quiet:
        return assess(self._before, self._during, self._around, self.server)

    def _end_run(self) -> None:
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join()
        self._thread = None
        readings = [replace(reading, moved_bytes=self._own.at(reading.at_seconds)) for reading in self._readings]
        self._during += samples_of_run(readings, self._wire, receiving=self._receiving)

    def _keep_reading(self, stop: threading.Event) -> None:
        """Read until the run is over, and once more then."""
        is_over = False
        while True:
            began = time.thread_time()
            reading = take_reading(self._wire, self._ours)
            if reading is None:
                return
            self._readings.append(reading)
            if is_over:
                return

            cost = time.thread_time() - began
            is_over = stop.wait(max(INTERVAL_SECONDS, cost / COST_SHARE))
