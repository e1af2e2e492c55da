"""The watch kept for quiet time: a look before a series, and a reading a second while its runs move bytes."""

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
from storage.quiet import Quiet, QuietVerdict
from storage.records import Command, Target

_AT_ONCE_SECONDS = 1e-3


class OwnTraffic:
    """The course of one run: bytes over the run's own seconds, placed on this process's clock.

    A report says how many seconds after the run's first request it was made. The report that took the least time to
    arrive tells when that first request was; between two reports bytes are taken to move evenly.
    """

    def __init__(self) -> None:
        self._points: list[tuple[float, int]] = [(0.0, 0)]
        self._began: float | None = None

    def add(self, arrived_at: float, seconds: float, moved_bytes: int) -> None:
        """Take in a report; times in seconds, ``arrived_at`` by the clock that :meth:`at` is asked by."""
        began = arrived_at - seconds
        self._began = began if self._began is None else min(self._began, began)
        last_seconds, last_bytes = self._points[-1]
        if seconds > last_seconds:
            self._points.append((seconds, moved_bytes))
        elif moved_bytes > last_bytes:  # a program's own time for the whole run begins later than our watching it
            self._points.append((last_seconds + _AT_ONCE_SECONDS, moved_bytes))

    def at(self, moment: float) -> float:
        """Bytes that had moved at a moment: none before the run began, all after its last report."""
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
"""A reading that takes long, on a machine with very many processes, is taken less often: it may cost one percent."""


class QuietWatch:
    """Watches this machine for others' work around one series; every method returns at once but :meth:`look`.

    The measuring process and a server on this machine, with all their children, and this program itself are ours.
    Runs are told by :meth:`run_started`, :meth:`moved` and :meth:`run_finished`; nothing is read in between, so that
    making and removing files, or other, interleaved series, are not taken for others' work.
    """

    def __init__(self, target: Target, command: Command, link: Link | None = None) -> None:
        """Prepare to watch; ``link`` is the way to the target, absent for a local path."""
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
        """Watch for so long, or until ``stop`` is set, and say how quiet it is now; replaces an earlier look."""
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
        """Look again and again until it is not busy, or the limit has passed, or ``stop`` is set; the last look."""
        end = time.monotonic() + limit_seconds
        quiet = self.look(seconds, stop)
        while quiet.verdict is QuietVerdict.BUSY and time.monotonic() < end and not (stop and stop.is_set()):
            quiet = self.look(seconds, stop)
        return quiet

    def set_server(self, load: ServerLoad | None) -> None:
        self._server = load

    def set_child(self, pid: int) -> None:
        """The measuring process: its work, and that of the programs which it starts, is ours."""
        self._ours = Ours(trees=self._ours.trees | {pid}, single=self._ours.single)

    def session_is(self, *, block_bytes: int | None, timestamps: bool) -> None:
        """What the transfers' own packets look like, once they are connected."""
        self._wire = replace(self._wire, block_bytes=block_bytes, timestamps=timestamps)

    def run_started(self) -> None:
        """A run begins to move bytes: read now, and every second until it ends."""
        self._end_run()
        self._own = OwnTraffic()
        self._readings = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_reading, args=(self._stop,), daemon=True)
        self._thread.start()

    def moved(self, seconds: float, run_bytes: int) -> None:
        """Bytes of the current run that had moved, and the seconds since its first request."""
        self._own.add(time.monotonic(), seconds, run_bytes)

    def run_finished(self, seconds: float | None, run_bytes: int) -> None:
        """The run has ended, well or not; with its seconds, where it tells them, and its bytes."""
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
