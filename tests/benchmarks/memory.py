"""The memory that must not grow: with the size of a transfer, an hour on the screen, users, the runs of a notebook.

``python -m tests.benchmarks.memory`` is the hour on the screen, with a clock that is made up.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from app.recording.process import Progressed, RunFinished, SeriesControl
from app.recording.spec import SeriesRequest
from app.series.events import RecorderEvent, SeriesClosed
from app.series.record import record
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from storage.records import Command, Target, format_target
from tests import builders
from tests.benchmarks.pairs import PeakMemory
from tests.command_line import ROOT, Sharebench
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd
from tests.specs import order_with, request_with, varied

MEMORY_HEAD = "| peak memory | MB | seconds | at most MB |\n| --- | ---: | ---: | ---: |"
_SERIES, _RUNS, _AT_ONCE = 20_000, 50, 500
_MOST_MEGABYTES = 300
_SMALL_BYTES, _SLACK_BYTES = 1 << 30, 10_000_000
_MOST_LOAD_BYTES = 300e6
_EARLY_RUNS, _HOUR_RUNS, _ROW_BYTES = 36, 360, 50_000
_FIRST = datetime(2020, 1, 1, tzinfo=UTC)


@cache
def _notebook() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    folder = tempfile.TemporaryDirectory(prefix="sharebench-bench-")
    path = Path(folder.name) / "notebook.db"
    with Notebook(path) as notebook:
        for first in range(0, _SERIES, _AT_ONCE):
            notebook.add_all([_series(number) for number in range(first, first + _AT_ONCE)])
    return folder, path


def _series(number: int) -> Any:
    created = (_FIRST + timedelta(hours=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    rates = [100e6 + (number * 7919 + run * 104729) % 2_000_000 for run in range(_RUNS)]
    return builders.series(rates, warmups=0, id=f"{number:012x}", created_at=created)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryResult:
    """The peak memory and the time of one command."""

    name: str
    peak_bytes: int
    seconds: float
    most_bytes: float = 1e6 * _MOST_MEGABYTES

    def as_document(self) -> dict[str, Any]:
        """For the JSON file."""
        return {
            "name": self.name, "peak_memory_bytes": self.peak_bytes, "at_most_bytes": self.most_bytes,
            "seconds": self.seconds,
        }  # fmt: skip


def memory_line(result: MemoryResult) -> str:
    """The row of one command."""
    mark = ", **too much**" if result.peak_bytes > result.most_bytes else ""
    return (
        f"| {result.name} | {result.peak_bytes / 1e6:,.0f}{mark} | {result.seconds:.1f} "
        f"| {result.most_bytes / 1e6:,.0f} |"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRow:
    """One command on the large notebook."""

    words: tuple[str, ...]
    long: bool = True
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"memory: {self.words[0]} with 1,000,000 runs"

    def measure(self) -> MemoryResult:
        """Run it once, in a process of its own."""
        _folder, path = _notebook()
        words = [sys.executable, "-m", "app", *self.words, "--db", str(path)]
        began = time.monotonic()
        with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            assert process.stderr
            errors = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1, 3):
            raise RuntimeError(errors.decode(errors="replace"))
        return MemoryResult(name=self.name, peak_bytes=1024 * used.ru_maxrss, seconds=time.monotonic() - began)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferRow:
    """A transfer a hundred times as large must take the memory of the small one."""

    server: type[Smbd | Vsftpd]
    command: Command
    long: bool = True

    @property
    def name(self) -> str:
        return f"memory: {'SMB' if self.server is Smbd else 'FTP'} {self.command.value} of 100 GiB beside 1 GiB"

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.server.__name__.lower(),)

    def measure(self) -> MemoryResult:
        """The small one, then the large one; the file has no blocks, or loses them as it grows."""
        server, began = self.server(), time.monotonic()
        with ExitStack() as stack:
            stack.callback(server.stop)
            server.start()
            peaks = [self._peak(server, size) for size in (_SMALL_BYTES, 100 * _SMALL_BYTES)]
        took = time.monotonic() - began
        return MemoryResult(name=self.name, peak_bytes=peaks[1], seconds=took, most_bytes=peaks[0] + _SLACK_BYTES)

    def _peak(self, server: Smbd | Vsftpd, size: int) -> int:
        path = ""
        if self.command is Command.GET:
            os.truncate(server.make_file("big", b""), size)
            path = "big"
        target = server.target(path if isinstance(server, Smbd) else f"/{path}")
        plan = order_with(
            command=self.command, target=target, secrets=server.secrets(), runs=1, warmups=0, size_bytes=size
        )
        order = request_with(order=plan, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP)
        with (
            tempfile.TemporaryDirectory() as folder,
            _without_blocks(server.folder),
            PeakMemory() as memory,
        ):
            for event in record(order, Path(folder) / "notebook.db", SeriesControl()):
                if isinstance(event, SeriesClosed) and event.failure:
                    raise RuntimeError(event.failure.text)
        return memory.peak_bytes


@contextmanager
def _without_blocks(folder: Path) -> Iterator[None]:
    """Take from the files of a folder what was written into them; their sizes stay."""
    over = threading.Event()

    def punch() -> None:
        while not over.wait(0.2):
            for path in folder.rglob("*"):
                if path.is_file() and path.stat().st_blocks:
                    size = str(path.stat().st_size)
                    subprocess.run(["fallocate", "-p", "-l", size, path], stderr=subprocess.DEVNULL, check=False)

    punching = threading.Thread(target=punch)
    punching.start()
    try:
        yield
    finally:
        over.set()
        punching.join()


@dataclass(frozen=True, slots=True, kw_only=True)
class HourRow:
    """The screen of a series after an hour of runs of ten seconds, beside the first six minutes."""

    name: str = "memory: the screen after an hour of measuring, beside 6 minutes"
    long: bool = True
    needs: tuple[str, ...] = ()

    def measure(self) -> MemoryResult:
        """In a process of its own."""
        began = time.monotonic()
        words = [sys.executable, "-m", "tests.benchmarks.memory"]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        early, late = json.loads(done.stdout.splitlines()[-1])
        most = early + (_HOUR_RUNS - _EARLY_RUNS) * _ROW_BYTES
        return MemoryResult(name=self.name, peak_bytes=late, seconds=time.monotonic() - began, most_bytes=most)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRow:
    """The process of a load that does the work of a thousand users."""

    name: str = "memory: a load of 1,000 users in one process"
    long: bool = True
    needs: tuple[str, ...] = ("smbd",)

    def measure(self) -> MemoryResult:
        """The largest process of the load."""
        server, began = Smbd({"max smbd processes": "0"}), time.monotonic()
        words = (
            "--users", "1000", "--processes", "1", "--files", "100", "--sizes", "4K:1", "--think", "5", "--ramp", "100",
            "--settle", "5", "--duration", "20", "--json",
        )  # fmt: skip
        with ExitStack() as stack:
            stack.callback(server.stop)
            server.start()
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            process = Sharebench(Path(folder) / "n.db", server.password).start(
                "load", format_target(server.target()), *words
            )
            memory = stack.enter_context(PeakMemory(process.pid))
            out, err = process.communicate()
        if process.returncode not in (0, 3) or not json.loads(out)["points"]:
            raise RuntimeError(err)
        return MemoryResult(
            name=self.name, peak_bytes=memory.peak_bytes, seconds=time.monotonic() - began, most_bytes=_MOST_LOAD_BYTES
        )


def memory_rows() -> Iterator[CommandRow | TransferRow | HourRow | LoadRow]:
    """Transfers, the screen, users; then lists, a comparison, and the curve."""
    yield from (TransferRow(server=server, command=command) for server in (Smbd, Vsftpd) for command in Command)
    yield HourRow()
    yield LoadRow()
    yield CommandRow(words=("list",))
    yield CommandRow(words=("compare", f"{_SERIES - 2:012x}", f"{_SERIES - 1:012x}"))
    yield CommandRow(words=("history", "smb://nas/data/big.bin"))


def main() -> int:
    """Measure an hour of made-up runs on the run screen, headless, and print the memory early and late."""
    from app.guide.needs import MeasurementJob
    from app.guide.run_screen import RunScreen
    from app.tui.frame.app import SharebenchApp
    from app.tui.frame.context import Context
    from tests.tui import FakeBackend, measured

    found: list[int] = []

    class Hour(FakeBackend):
        """Runs of ten seconds, told ten times a second."""

        def record(
            self, request: SeriesRequest, notebook_path: Path, control: SeriesControl
        ) -> Iterator[RecorderEvent]:
            runs = 0
            for event in super().record(request, notebook_path, control):
                if isinstance(event, RunFinished):
                    for tick in range(1, 101):
                        yield Progressed(seconds=tick / 10, moved_bytes=tick * 10**7, size_bytes=10**9)
                        time.sleep(0.001)  # or more would wait to be drawn than ever does
                    runs += 1
                yield event
                if runs in (_EARLY_RUNS, _HOUR_RUNS) and isinstance(event, RunFinished):
                    time.sleep(1.0)
                    found.append(_resident_bytes())

    async def hour(path: Path) -> None:
        plan = varied(
            order_with(command=Command.GET, target=Target(protocol="file", path="/big"), runs=_HOUR_RUNS),
            warmups=0,
        )
        job = MeasurementJob(backend=Hour(), notebook_path=path, title="hour", request=request_with(order=plan))
        app = SharebenchApp(Context(notebook_path=path))
        async with app.run_test(size=(120, 36)) as pilot:
            await app.push_screen(RunScreen(job))
            await measured(app, pilot)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(hour(Path(folder) / "notebook.db"))
    print(json.dumps(found))
    return 0


def _resident_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS:"))


if __name__ == "__main__":
    sys.exit(main())
