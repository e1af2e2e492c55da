"""Quiet time: whether other activity before or during a series could bias it, judged from samples.

The thresholds are ours. *Typical*: activity is visible. *Busy*: it can change a result by percents.
"""

import math
import os
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from app.server.host_activity import Reading, Sample, Wire, between, samples_of_run, take_reading
from app.server.host_facts import Ours, servers_here
from app.server.link_facts import Link, is_this_machine
from app.server.samples import spread_of
from storage.json_reader import named
from storage.records import Command, Facts, Quiet, QuietVerdict, Spread, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
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
TYPICAL_RETRANSMIT_LEAST = 20
"""Number of TCP retransmissions below which their share means nothing."""
LASTING_SHARE = 0.2
"""A figure counts if it holds on average or in this share of the seconds."""
UNKNOWN_LINK_BYTES_PER_SECOND = 125e6
LEAST_SECONDS = 0.25
"""CPU time is counted in hundredths of a second; shorter periods are too coarse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLoad:
    cpu_percent: float | None = None
    other_sessions: int | None = None


def server_load(facts: Facts) -> ServerLoad | None:
    cpu, sessions = facts.get("cpu.busy_percent_before"), facts.get("server.sessions.other_machines")
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
    around = around or QuietContext()
    found = list(_phase(before, around, running=False)) if _long_enough(before) else []
    found += list(_phase(during, around, running=True)) if _long_enough(during) else []
    figures: dict[str, float | None] = {**_figures(before, "before"), **_figures(during, "during")}
    if server:
        found += _server_reasons(server)
        figures["server_cpu_percent_before"] = _rounded(server.cpu_percent)
        figures["server_other_sessions_before"] = server.other_sessions
    if not figures:
        return Quiet(verdict=QuietVerdict.UNKNOWN, reasons=("this system does not say what it is busy with",))
    verdicts = {verdict for verdict, _ in found}
    worst = next((v for v in (QuietVerdict.BUSY, QuietVerdict.TYPICAL) if v in verdicts), QuietVerdict.QUIET)
    return Quiet(verdict=worst, reasons=tuple(why for verdict, why in found if verdict is worst), figures=figures)


def _phase(samples: Sequence[Sample], around: QuietContext, *, running: bool) -> Iterator[tuple[QuietVerdict, str]]:
    when = "during the runs" if running else "before the series"
    yield from _judged(
        samples,
        lambda one: one.others_cpu_percent,
        OTHERS_CPU_PERCENT,
        lambda value: f"other programs took {value:.0f} % of this machine's CPUs {when}",
    )
    yield from _judged(
        samples,
        lambda one: one.stolen_percent,
        STOLEN_PERCENT,
        lambda value: f"the hypervisor took {value:.0f} % of the CPU time for other machines {when}",
    )
    yield from _judged(
        samples,
        lambda one: _link_percent(one, around.wire),
        LINK_PERCENT,
        lambda _: f"others moved {_mean(samples, _link_rate) / 1e6:.1f} MB/s over {around.wire.interface} {when}",
    )
    if not running:
        yield from _judged(
            samples,
            lambda one: one.run_queue / around.cpus,
            RUN_QUEUE_PER_CPU,
            lambda value: f"the CPU load was {value * around.cpus:.1f} on {around.cpus} CPUs {when}",
        )
    if not (running and around.own_disk):
        yield from _judged(
            samples,
            lambda one: one.disk_percent,
            DISK_PERCENT,
            lambda value: f"a disk of this machine was at work {value:.0f} % of the time {when}",
        )
    sent, again = sum(one.segments_sent for one in samples), sum(one.retransmitted for one in samples)
    if again >= TYPICAL_RETRANSMIT_LEAST and 100 * again >= TYPICAL_RETRANSMIT_PERCENT * sent:
        yield QuietVerdict.TYPICAL, f"{again} of {sent} TCP segments were retransmitted {when}"


def _judged(
    samples: Sequence[Sample], figure: Callable[[Sample], float], limit: Threshold, say: Callable[[float], str]
) -> Iterator[tuple[QuietVerdict, str]]:
    mean = _mean(samples, figure)
    whole = [one for one in samples if one.seconds >= LEAST_SECONDS]
    for verdict, edge in ((QuietVerdict.BUSY, limit.busy), (QuietVerdict.TYPICAL, limit.typical)):
        worse = [one for one in whole if figure(one) >= edge]
        if mean >= edge:
            yield verdict, say(mean)
            return
        if len(worse) >= 2 and len(worse) >= LASTING_SHARE * len(whole):
            yield verdict, f"{say(_mean(worse, figure))}, for {len(worse)} of {len(whole)} seconds"
            return


def _server_reasons(server: ServerLoad) -> Iterator[tuple[QuietVerdict, str]]:
    cpu = server.cpu_percent or 0.0
    if cpu >= SERVER_CPU_PERCENT.typical:
        verdict = QuietVerdict.BUSY if cpu >= SERVER_CPU_PERCENT.busy else QuietVerdict.TYPICAL
        yield verdict, f"the server's CPUs were {cpu:.0f} % busy before the series"
    if server.other_sessions:
        noun = "session" if server.other_sessions == 1 else "sessions"
        yield QuietVerdict.TYPICAL, f"the server had {server.other_sessions} {noun} of other machines"


def _link_percent(one: Sample, wire: Wire) -> float:
    ours = one.our_bytes / one.seconds
    nominal = wire.bits_per_second / 8 if wire.bits_per_second else max(UNKNOWN_LINK_BYTES_PER_SECOND, ours)
    return 100 * _link_rate(one) / nominal


def _link_rate(one: Sample) -> float:
    return one.others_link_bytes / one.seconds


def _mean(samples: Sequence[Sample], figure: Callable[[Sample], float]) -> float:
    return sum(figure(one) * one.seconds for one in samples) / sum(one.seconds for one in samples)


def _long_enough(samples: Sequence[Sample]) -> bool:
    return sum(one.seconds for one in samples) >= LEAST_SECONDS


def _figures(samples: Sequence[Sample], when: str) -> dict[str, float | None]:
    if not _long_enough(samples):
        return {}
    kinds = {
        "cpu_user_percent": _of_each(samples, lambda one: one.user_percent),
        "cpu_system_percent": _of_each(samples, lambda one: one.cpu_percent - one.user_percent),
        "cpu_percent": _of_each(samples, lambda one: one.cpu_percent),
    }
    return {
        f"seconds_{when}": _rounded(sum(one.seconds for one in samples)),
        **{f"{name}_{when}": _rounded(mean) for name, (mean, _) in kinds.items()},
        **{f"{name}_median_{when}": _rounded(spread.median) for name, (_, spread) in kinds.items() if spread},
        **{f"{name}_deviation_{when}": _rounded(spread.deviation) for name, (_, spread) in kinds.items() if spread},
        f"others_cpu_percent_{when}": _rounded(_mean(samples, lambda one: one.others_cpu_percent)),
        f"stolen_percent_{when}": _rounded(_mean(samples, lambda one: one.stolen_percent)),
        f"run_queue_{when}": _rounded(_mean(samples, lambda one: one.run_queue)),
        f"others_link_bytes_per_second_{when}": round(_mean(samples, _link_rate)),
        f"disk_percent_{when}": _rounded(_mean(samples, lambda one: one.disk_percent)),
        f"segments_sent_{when}": sum(one.segments_sent for one in samples),
        f"retransmitted_{when}": sum(one.retransmitted for one in samples),
    }


def _of_each(samples: Sequence[Sample], figure: Callable[[Sample], float]) -> tuple[float, Spread | None]:
    whole = [one for one in samples if one.seconds >= LEAST_SECONDS]
    return _mean(whole or samples, figure), spread_of([figure(one) for one in whole]) if whole else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


_AT_ONCE_SECONDS = 1e-3


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
        elif moved_bytes > last_bytes:  # a program's own time for the whole run begins later than our watching it
            self._points.append((last_seconds + _AT_ONCE_SECONDS, moved_bytes))

    def at(self, moment: float) -> float:
        seconds = moment - self._began
        index = bisect_right(self._points, seconds, key=lambda point: point[0])
        if index == 0:
            return 0.0
        if index == len(self._points):
            return float(self._points[-1][1])
        (first, done), (last, then) = self._points[index - 1], self._points[index]
        return done + (then - done) * (seconds - first) / (last - first)


LOOK_SECONDS = 2.0
INTERVAL_SECONDS = 1.0
COST_SHARE = 0.01
"""Readings are taken less often if they would cost more than this share of a CPU."""


class QuietWatch:
    """Reads only in runs: file handling and interleaved series are not others' activity. :meth:`look` alone blocks."""

    def __init__(self, target: Target, command: Command, link: Link | None = None) -> None:
        here = target.abilities.is_local or (link.loopback if link else is_this_machine(target.host))
        self._receiving = command is Command.GET
        self._wire = Wire()
        if link:
            known = named(link, "interface", "loopback", "bits_per_second", "ip_version")
            self._wire = Wire(**known, mtu_bytes=link.mtu_bytes or 1500)
        self._around = QuietContext(cpus=os.cpu_count() or 1, wire=self._wire, own_disk=here)
        port = target.port_number
        servers = servers_here(port) if here and not target.abilities.is_local else frozenset()
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
        while last is not None and not stop.wait(max(0.0, min(INTERVAL_SECONDS, end - time.monotonic()))):
            now = take_reading(self._wire, self._bystander)
            if now is None:
                break
            self._before.append(between(last, now, self._wire, receiving=self._receiving))
            last = now
            if now.at_seconds >= end:
                break
        return self.verdict()

    def until_quiet(
        self, seen: Quiet, limit_seconds: float, seconds: float = LOOK_SECONDS, stop: threading.Event | None = None
    ) -> Iterator[tuple[float, str]]:
        """While it is busy: the seconds that are left, and what keeps it so; after each of them it looks again."""
        end = time.monotonic() + limit_seconds
        while seen.verdict is QuietVerdict.BUSY and not (stop and stop.is_set()):
            yield max(0.0, end - time.monotonic()), next(iter(seen.reasons), "")
            seen = self.look(seconds, stop)
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
        self._own.add(time.monotonic(), seconds, run_bytes)

    def run_finished(self, seconds: float | None, run_bytes: int) -> None:
        if seconds is not None:
            self._own.add(time.monotonic(), seconds, run_bytes)
        self._end_run()

    def verdict(self) -> Quiet:
        return assess(self._before, self._during, self._around, self.server)

    def _end_run(self) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._stop.set()
        thread.join()
        readings = [replace(one, moved_bytes=self._own.at(one.at_seconds)) for one in self._readings]
        self._during += samples_of_run(readings, self._wire, receiving=self._receiving)

    def _keep_reading(self, stop: threading.Event) -> None:
        over = False
        while True:
            began = time.thread_time()
            reading = take_reading(self._wire, self._ours)
            if reading is None:
                return
            self._readings.append(reading)
            if over:
                return
            cost = time.thread_time() - began
            over = stop.wait(max(INTERVAL_SECONDS, cost / COST_SHARE))
