"""smbd's count of creates over time, read as often as it can be, and the rate between two moments."""

import re
import subprocess
import threading
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Self

from tests.servers.process import program

_CREATES = re.compile(r"smb2_create_count:\s+(\d+)")
_EVERY_SECONDS = 0.2
AVERAGED_SECONDS = 3.15
"""Three times what passes between two writings of a process's counters, a second and until its next request."""


class Reading(NamedTuple):
    """What the counter said, in the middle of the reading."""

    at_seconds: float
    creates: int


def rate_of(readings: Sequence[Reading], began: float, ended: float, averaged: float = AVERAGED_SECONDS) -> float:
    """Creates a second between two moments.

    Each smbd writes what it counted once a second, so that a single reading is up to a second late for each process:
    two of them are off by several percent for few users. The mean of the readings over whole such periods is late by
    half a period, whatever the phase, at the beginning as at the end.
    """
    averaged = min(averaged, (ended - began) / 3)
    first, last = (_mean(readings, start, start + averaged) for start in (began, ended - averaged))
    return (last - first) / (ended - began - averaged)


def _mean(readings: Sequence[Reading], began: float, ended: float) -> float:
    """The mean of the counter over that time, each reading standing until the next one."""
    area = 0.0
    for one, other in pairwise(readings):
        overlap = min(other.at_seconds, ended) - max(one.at_seconds, began)
        area += max(0.0, overlap) * (one.creates + other.creates) / 2
    return area / (ended - began)


class CreateCounter:
    """Reads ``smbstatus -P`` again and again, inside ``with``."""

    def __init__(self, conf: Path) -> None:
        self._words = [program("smbstatus"), "-s", str(conf), "-P"]
        self._readings: list[Reading] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def rate(self, began: float, ended: float) -> float:
        """As :func:`rate_of`."""
        return rate_of(self._readings, began, ended)

    def _read(self) -> None:
        while not self._ended.wait(_EVERY_SECONDS):
            before = time.monotonic()
            said = subprocess.run(self._words, capture_output=True, text=True, check=False).stdout
            if found := _CREATES.search(said):
                self._readings.append(Reading((before + time.monotonic()) / 2, int(found[1])))
