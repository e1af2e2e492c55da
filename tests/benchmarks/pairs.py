"""What a pair of ways to do the same gave, and the most memory of measuring processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psutil

from app.recording.spec import SeriesRequest
from forms.stats.decision import ChangeDecision
from forms.stats.summary import median
from forms.stats.verdict_rule import decide_interleaved

Orders = tuple[SeriesRequest, SeriesRequest]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a pair gave: bytes per second of each run, and the ratio of the medians."""

    name: str
    ours: str
    theirs: str
    our_rates: tuple[float, ...]
    their_rates: tuple[float, ...]
    at_least: float
    aim: float
    our_peak_bytes: int
    server_share: float | None = None
    """Of one core, by the server's processes in our runs; its main thread is at its limit near 1."""
    client_share: float | None = None
    """Of one core, by the measuring process in our runs."""

    @property
    def decision(self) -> ChangeDecision:
        """Ours against theirs, by the product's own verdict on interleaved runs."""
        return decide_interleaved(self.their_rates, self.our_rates)

    @property
    def ratio(self) -> float:
        change = self.decision.change_percent
        return 0.0 if change is None else 1 + change / 100

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ratio's 95 % interval."""
        ends = self.decision.interval_percent
        return ends and (1 + ends[0] / 100, 1 + ends[1] / 100)

    def as_document(self) -> dict[str, Any]:
        """For the JSON file."""
        return {
            "name": self.name,
            "ours": self.ours,
            "theirs": self.theirs,
            "our_bytes_per_second": list(self.our_rates),
            "their_bytes_per_second": list(self.their_rates),
            "ratio": self.ratio,
            "ratio_interval": self.interval,
            "verdict": self.decision.verdict,
            "server_share_of_a_core": self.server_share,
            "client_share_of_a_core": self.client_share,
            "at_least": self.at_least,
            "aim": self.aim,
            "our_peak_memory_bytes": self.our_peak_bytes,
        }

    def __str__(self) -> str:
        ours, theirs = median(self.our_rates) or 0.0, median(self.their_rates) or 0.0
        return f"{ours / 1e6:.0f} against {theirs / 1e6:.0f} MB/s, ratio {self.ratio:.2f}"


class PeakMemory:
    """The most resident memory of any measuring process of ours with our own client, looked at ten times a second.

    With a process, that of any process it has started.
    """

    def __init__(self, parent: int | None = None) -> None:
        self.peak_bytes = 0
        self._parent = parent
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            for peak in _peaks(self._parent):
                self.peak_bytes = max(self.peak_bytes, peak)


def _peaks(parent: int | None) -> Iterator[int]:
    try:
        children = psutil.Process(parent).children(recursive=True)
    except psutil.Error:
        return
    for child in children:
        try:
            if parent is not None or "app.recording.child" in child.cmdline():
                status = Path(f"/proc/{child.pid}/status").read_text()
                yield next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))
        except (psutil.Error, OSError, StopIteration):
            continue
