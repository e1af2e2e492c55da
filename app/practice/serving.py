"""What both practice servers need: their orders, the practice rate, and an end when their parent ends."""

import os
import shutil
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

from app.base.messages import send
from forms.findings.path import PRACTICE_BYTES_PER_SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOrders:
    """What the parent tells a practice server on its stdin."""

    folder: str
    user: str
    password: str
    share: str = "practice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What a practice server tells its parent on stdout, once it listens."""

    port: int


_CATCH_UP_SECONDS = 0.05
"""Within a transfer, this much lost time may be made up for by going faster than the rate.

A busy machine wakes a thread some milliseconds late, and a put over SMB takes as long to decode a request as the link
would take to carry it. Before a transfer nothing is made up for, or a short file would show more than the link has."""


class Pace:
    """Holds all transfers of a server to the practice rate. A delay within a transfer is made up for."""

    def __init__(self, least_seconds: float, clock: Any = time) -> None:
        """``least_seconds``: what the smallest transfer takes; ``clock``: ``monotonic`` and ``sleep``, as of `time`."""
        self._least_seconds = least_seconds
        self._clock = clock
        self._free_at = 0.0
        """By the clock: when what was moved so far has taken its time."""
        self._is_first = True
        """Whether the next bytes are the first of a transfer."""
        self._lock = threading.Lock()

    def begin_transfer(self) -> None:
        """Called when a file is opened: the time before its first bytes counts for nothing."""
        with self._lock:
            self._is_first = True

    def wait(self, size_bytes: int) -> None:
        """Called after that many bytes were moved: sleeps for as long as the rate says that they take."""
        with self._lock:
            catch_up_seconds = 0.0 if self._is_first else _CATCH_UP_SECONDS
            self._is_first = False
            begins_at = max(self._free_at, self._clock.monotonic() - catch_up_seconds)
            self._free_at = begins_at + max(self._least_seconds, size_bytes / PRACTICE_BYTES_PER_SECOND)
            seconds_to_wait = self._free_at - self._clock.monotonic()

        if seconds_to_wait > 0:
            self._clock.sleep(seconds_to_wait)


def report_port(port: int) -> None:
    """Tell the parent the port. Later output of libraries is discarded: it would grow with whatever somebody sends."""
    send(sys.stdout, Serving(port=port))
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  open until the process ends


def end_with_parent(orders: ServerOrders) -> None:
    """Remove the folder and exit when the parent closes stdin, as it does even when killed."""

    def watch() -> None:
        sys.stdin.read()
        shutil.rmtree(orders.folder, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=watch, daemon=True, name="lifeline").start()
