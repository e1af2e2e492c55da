"""Watches this machine before a series and in its runs, for whether others were at work.

A series calls, inside ``with``: `look` before its first run, which takes samples for some seconds; then for each run
`run_started`, `moved` as often as the run reports, and `run_finished`; and `verdict` at any time. In a run, a thread
takes the readings. Between runs nothing is read: what happens to our files then, and in another series that is measured
by turns with this one, is no activity of others.
"""

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Self

from app.server import host_activity
from app.server.link_facts import Link
from app.server.own_traffic import OwnTraffic
from app.server.processes import Ours, servers_here
from app.server.quiet_time import QuietContext, ServerLoad, assess
from app.server.routes import is_this_machine
from storage import records

LOOK_SECONDS = 2.0
"""How long `look` watches unless the caller says otherwise."""
INTERVAL_SECONDS = 1.0
"""From one reading to the next."""
COST_SHARE = 0.01
"""Readings are taken less often if they would cost more than this share of a CPU."""


def _wire_of(link: Link | None) -> host_activity.Wire:
    """What is known of the link; nothing yet of the session's headers."""
    if link is None:
        return host_activity.Wire()
    return host_activity.Wire(
        interface=link.interface,
        loopback=link.loopback,
        mtu_bytes=link.mtu_bytes or 1500,
        bits_per_second=link.bits_per_second,
        ip_version=link.ip_version,
    )


class QuietLooks(ABC):
    """Looks for a quiet time, on this machine or on another that measures."""

    server: ServerLoad | None = None
    """What the server did before the series; the caller sets it, if it is known."""

    @abstractmethod
    def look(self, seconds: float = LOOK_SECONDS, stop: threading.Event | None = None) -> records.Quiet:
        """Watch for that long, or until ``stop`` is set; the verdict. It replaces an earlier look."""

    def until_quiet(
        self,
        quiet: records.Quiet,
        limit_seconds: float,
        seconds: float = LOOK_SECONDS,
        stop: threading.Event | None = None,
    ) -> Iterator[tuple[float, str]]:
        """Look again and again while it is busy, until it is not, or the limit is reached.

        Before each look it yields the seconds that are left of the limit, and what keeps the machine busy.
        """
        end = time.monotonic() + limit_seconds
        while quiet.verdict is records.QuietVerdict.BUSY and not (stop and stop.is_set()):
            yield max(0.0, end - time.monotonic()), next(iter(quiet.reasons), "")
            quiet = self.look(seconds, stop)
            if time.monotonic() >= end:
                return


class QuietWatch(QuietLooks):
    """The samples of one series, and the verdict on them. :meth:`look` alone blocks."""

    def __init__(self, target: records.Target, command: records.Command, link: Link | None = None) -> None:
        is_here = target.abilities.is_local or (link.loopback if link else is_this_machine(target.host))
        self._receiving = command is records.Command.GET
        self._wire = _wire_of(link)
        self._context = QuietContext(cpus=os.cpu_count() or 1, wire=self._wire, own_disk=is_here)

        has_server_here = is_here and not target.abilities.is_local
        servers = servers_here(target.port_number) if has_server_here else frozenset()
        self._ours = Ours(trees=servers, single=frozenset({os.getpid()}))
        """In a run, a server on this machine works for us."""
        self._bystander = Ours(single=self._ours.single)
        """Before a run, what that server does is activity of others."""

        self._before: list[host_activity.Sample] = []
        self._during: list[host_activity.Sample] = []

        self._own = OwnTraffic()
        """The bytes of the run that is measured now, or was last; so are the next three."""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._readings: list[host_activity.Reading] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_run()

    def look(self, seconds: float = LOOK_SECONDS, stop: threading.Event | None = None) -> records.Quiet:
        self._before = []
        stop = stop or threading.Event()
        end = time.monotonic() + seconds

        last = host_activity.take_reading(self._wire, self._bystander)
        while last is not None:
            pause_seconds = max(0.0, min(INTERVAL_SECONDS, end - time.monotonic()))
            if stop.wait(pause_seconds):
                break
            now = host_activity.take_reading(self._wire, self._bystander)
            if now is None:
                break
            self._before.append(host_activity.sample_between(last, now, self._wire, receiving=self._receiving))
            last = now
            if now.at_seconds >= end:
                break
        return self.verdict()

    def count_as_ours(self, pid: int) -> None:
        """The measuring process, whose work is ours."""
        self._ours = Ours(trees=self._ours.trees | {pid}, single=self._ours.single)

    def note_session(self, *, block_bytes: int | None, timestamps: bool) -> None:
        """What lengthens the headers of the session: how much content a request has, and TCP's timestamps."""
        self._wire = replace(self._wire, block_bytes=block_bytes, timestamps=timestamps)

    def run_started(self) -> None:
        """Begin to read, in a thread."""
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
        """End the reading; ``seconds`` is None for a run that failed."""
        if seconds is not None:
            self._own.add(time.monotonic(), seconds, run_bytes)
        self._end_run()

    def verdict(self) -> records.Quiet:
        return assess(self._before, self._during, self._context, self.server)

    def _end_run(self) -> None:
        """Make samples of the run's readings, now that all of its bytes are known."""
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join()
        self._thread = None
        readings = [replace(reading, moved_bytes=self._own.at(reading.at_seconds)) for reading in self._readings]
        self._during += host_activity.samples_of_run(readings, self._wire, receiving=self._receiving)

    def _keep_reading(self, stop: threading.Event) -> None:
        """Read until the run is over, and once more then."""
        is_over = False
        while True:
            began = time.thread_time()
            reading = host_activity.take_reading(self._wire, self._ours)
            if reading is None:
                return
            self._readings.append(reading)
            if is_over:
                return

            cost = time.thread_time() - began
            is_over = stop.wait(max(INTERVAL_SECONDS, cost / COST_SHARE))
