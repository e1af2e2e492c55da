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


_CATCH_UP_SECONDS = 0.004
"""After an idle time or a late thread, this much of it may be made up for by going faster than the rate.

Each run may begin with as much: of the 0.84 s of the demo's runs it is 0.5 %, and a block that FTP sends ahead 0.4 %,
so these show at most 101 % of the link. Files of 2 MiB, which take 0.1 s, reached 105 %. A put over SMB pays
for it, as its requests take time to decode: 16 MiB reached 89 to 96 % of the link, and 97 to 102 % with 0.05 s."""


class Pace:
    """Holds all transfers of a server to the practice rate, catching up after a short delay."""

    def __init__(self, least_seconds: float, clock: Any = time) -> None:
        """``least_seconds``: what the smallest transfer takes; ``clock``: ``monotonic`` and ``sleep``, as of `time`."""
        self._least_seconds = least_seconds
        self._clock = clock
        self._free_at = 0.0
        """By the clock: when what was moved so far has taken its time."""
        self._lock = threading.Lock()

    def wait(self, size_bytes: int) -> None:
        """Called after that many bytes were moved: sleeps for as long as the rate says that they take."""
        with self._lock:
            begins_at = max(self._free_at, self._clock.monotonic() - _CATCH_UP_SECONDS)
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
