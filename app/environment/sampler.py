"""Watches for other activity before a series and, once a second, during its runs."""

import os
import threading
import time
from bisect import bisect_right
from dataclasses import replace
from typing import Self

from app.environment.host.activity import Reading, Sample, Wire, between, samples_of_run, take_reading
from app.environment.host.processes import Ours, servers_here
from app.environment.link.facts import Link
from app.environment.link.route import is_this_machine
from app.environment.quiet import QuietContext, ServerLoad, assess
from storage.records import Command, Quiet, QuietVerdict, Target

_AT_ONCE_SECONDS = 1e-3


class OwnTraffic:
    """One run's bytes over time, on this process's clock.

    The report that arrived fastest dates the run's first request; between reports bytes are interpolated.
    """

    def __init__(self) -> None:
        self._points: list[tuple[float, int]] = [(0.0, 0)]
        self._began: float | None = None

    def add(self, arrived_at: float, seconds: float, moved_bytes: int) -> None:
        """Seconds; ``arrived_at`` by the clock of :meth:`at`."""
        began = arrived_at - seconds
        self._began = began if self._began is None else min(self._began, began)
        last_seconds, last_bytes = self._points[-1]
        if seconds > last_seconds:
            self._points.append((seconds, moved_bytes))
        elif moved_bytes > last_bytes:  # a program's own time for the whole run begins later than our watching it
            self._points.append((last_seconds + _AT_ONCE_SECONDS, moved_bytes))

    def at(self, moment: float) -> float:
        if self._began is None:
            return 0.0
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
    """Watches this machine for other activity around one series; only :meth:`look` blocks.

    Ours are the measuring process, a server on this machine, their children, and this program. Readings are taken only
    during runs, so that file handling and interleaved series do not count as others' activity.
    """

    def __init__(self, target: Target, command: Command, link: Link | None = None) -> None:
        here = target.abilities.is_local or (link.loopback if link else is_this_machine(target.host))
        self._receiving = command is Command.GET
        self._wire = (
            Wire(
                interface=link.interface,
                loopback=link.loopback,
                mtu_bytes=link.mtu_bytes or 1500,
                bits_per_second=link.bits_per_second,
                ip_version=link.ip_version,
            )
            if link
            else Wire()
        )
        self._around = QuietContext(cpus=os.cpu_count() or 1, wire=self._wire, own_disk=here)
        port = target.port_number
        servers = servers_here(port) if here and not target.abilities.is_local else frozenset()
        self._ours = Ours(trees=servers, single=frozenset({os.getpid()}))
        self._bystander = Ours(single=self._ours.single)
        self._before: list[Sample] = []
        self._during: list[Sample] = []
        self._server: ServerLoad | None = None
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

    def wait_until_quiet(
        self, limit_seconds: float, seconds: float = LOOK_SECONDS, stop: threading.Event | None = None
    ) -> Quiet:
        end = time.monotonic() + limit_seconds
        quiet = self.look(seconds, stop)
        while quiet.verdict is QuietVerdict.BUSY and time.monotonic() < end and not (stop and stop.is_set()):
            quiet = self.look(seconds, stop)
        return quiet

    def set_server(self, load: ServerLoad | None) -> None:
        self._server = load

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
        return assess(self._before, self._during, self._around, self._server)

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
