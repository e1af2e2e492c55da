"""Two ways to move the same file, in turns: medians, their ratio, and the memory of the measuring processes."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psutil

from app.recording.process import RunFinished, RunStarted, SeriesControl
from app.recording.spec import SeriesRequest
from app.series.events import SeriesClosed
from app.series.interleaved import record_interleaved
from forms.stats.decision import ChangeDecision
from forms.stats.summary import median
from forms.stats.verdict_rule import decide_interleaved
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from tests.specs import varied

_SERVERS = {"smbd", "vsftpd"}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One comparison: how to set it up, and what its ratio should be."""

    name: str
    ours: str
    theirs: str
    at_least: float
    aim: float
    needs: tuple[str, ...]
    set_up: Callable[[], AbstractContextManager[Orders]]

    def measure(self) -> Result:
        """Run the pair in turns."""
        with self.set_up() as (ours, theirs), tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "notebook.db"
            quick = [_quick(ours), _quick(theirs)]
            shares: tuple[list[float], list[float]] = ([], [])
            before: tuple[dict[int, float], dict[int, float]] = ({}, {})
            with PeakMemory() as memory:
                for index, event in record_interleaved(quick, path, SeriesControl()):
                    if isinstance(event, RunStarted):
                        before = _processor_seconds()
                    elif isinstance(event, RunFinished) and index == 0 and event.run.seconds:
                        for share, then, now in zip(shares, before, _processor_seconds(), strict=True):
                            taken = sum(used - then.get(process, 0.0) for process, used in now.items())
                            share.append(taken / event.run.seconds)
                    if isinstance(event, SeriesClosed) and event.failure:
                        raise RuntimeError(f"{self.name}: {event.failure.text}")
            with Notebook(path) as notebook:
                found = {head.label: notebook.series(head.id) for head in notebook.heads()}
        rates = {
            label: tuple(run.bytes_per_second or 0.0 for run in series.measured()) for label, series in found.items()
        }
        return Result(
            name=self.name,
            ours=self.ours,
            theirs=self.theirs,
            our_rates=rates["ours"],
            their_rates=rates["theirs"],
            at_least=self.at_least,
            aim=self.aim,
            our_peak_bytes=memory.peak_bytes,
            client_share=median(shares[0]),
            server_share=median(shares[1]),
        )


def _processor_seconds() -> tuple[dict[int, float], dict[int, float]]:
    """Processor time of each measuring process and each server process that the bench has started, by process id."""
    clients, servers = dict[int, float](), dict[int, float]()
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            times = process.cpu_times()
            if process.name() in _SERVERS:
                servers[process.pid] = times.user + times.system
            elif "app.recording.child" in process.cmdline():
                clients[process.pid] = times.user + times.system
    return clients, servers


def _quick(order: SeriesRequest) -> SeriesRequest:
    return varied(order, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP)


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
