"""What drawing costs: the same series measured with the TUI's run screen in a terminal, and without any, in turns.

``python -m tests.benchmarks.drawing NOTEBOOK [in-turns]`` is the drawing side: it takes its plan from the environment.
"""

from __future__ import annotations

import asyncio
import os
import pty
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from threading import Event

from app.base.messages import line_of, message_of
from app.recording.process import MeasuringOrder, RunFinished, RunStarted, SeriesControl
from app.recording.spec import SeriesRequest
from app.series.events import RecorderEvent, SeriesClosed
from app.series.interleaved import record_interleaved
from app.series.record import record
from forms.stats.summary import median
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from tests.benchmarks.pairs import Orders, PeakMemory, Result
from tests.benchmarks.times import TimesResult
from tests.specs import request_with, varied

ROOT = Path(__file__).resolve().parents[2]
PLAN = "SHAREBENCH_BENCH_PLAN"
SHARE_SUFFIX = ".share"
RUNS_A_PAIR = 5
IN_TURNS, HEADLESS = "in-turns", "headless"
RUNS_FOR_PROCESSOR_TIME = 30
WARMUPS = 6
"""By then the TUI has opened and loaded what it draws with, as it has long before a user starts a series."""


SetUp = Callable[[], AbstractContextManager[Orders]]


@contextmanager
def _series(set_up: SetUp, runs: int) -> Iterator[tuple[SeriesRequest, Path]]:
    """A series of so many runs that measures its transfers alone, and a folder for its notebooks."""
    with set_up() as (ours, _), tempfile.TemporaryDirectory() as folder:
        quick = varied(ours, runs=runs, warmups=WARMUPS, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP)
        yield quick, Path(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingRow:
    """The TUI drawing against headless; a row of the table like the others."""

    pairs: int
    set_up: SetUp
    name: str = "SMB get (TUI drawing)"
    long: bool = True
    needs: tuple[str, ...] = ("smbd",)
    at_least: float = 0.98
    aim: float = 0.99

    def measure(self) -> Result:
        """Runs in turns, of two series of one process: the screen stands still while one of the second is measured."""
        with _series(self.set_up, RUNS_A_PAIR * self.pairs) as (order, folder), PeakMemory() as memory:
            path = folder / "in-turns.db"
            _drawn(order, path, IN_TURNS)
            with Notebook(path) as notebook:
                rates = {
                    series.label: tuple(run.bytes_per_second or 0.0 for run in series.measured())
                    for series in (notebook.series(head.id) for head in notebook.heads())
                }
        return Result(
            name=self.name,
            ours="sharebench",
            theirs=HEADLESS,
            our_rates=rates[""],
            their_rates=rates[HEADLESS],
            at_least=self.at_least,
            aim=self.aim,
            our_peak_bytes=memory.peak_bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingProcessorRow:
    """The processor time that drawing takes while a file is fetched as fast as it can be.

    Where client and server use every processor, what drawing takes is what they lose, and it scatters less.
    """

    pairs: int
    set_up: SetUp
    name: str = "processor time of drawing per second"
    long: bool = True
    needs: tuple[str, ...] = ("smbd",)
    share: float = 0.02

    def measure(self) -> TimesResult:
        """What each drawn series takes over the median of those without."""
        drawn: list[float] = []
        headless: list[float] = []
        with _series(self.set_up, RUNS_FOR_PROCESSOR_TIME) as (order, folder):
            for pair in range(self.pairs):
                headless.append(_headless(order, folder / f"headless-{pair}.db"))
                drawn.append(_drawn(order, folder / f"drawn-{pair}.db"))
        without = median(headless) or 0.0
        processors = os.cpu_count() or 1
        return TimesResult(
            name=self.name,
            milliseconds=tuple(1000 * (taken - without) for taken in drawn),
            at_most=1000 * self.share * processors,
            what=f"{self.share:.0%} of {processors} processors",
        )


class ProcessorTime:
    """What this process alone takes of a processor once the warm-ups are over, and with them all loading."""

    def __init__(self) -> None:
        self._runs = 0
        self._began = self._taken = 0.0

    def run_ended(self) -> None:
        """Count it; the last warm-up begins the time."""
        self._runs += 1
        if self._runs == WARMUPS:
            self._began, self._taken = time.monotonic(), time.process_time()

    def share(self) -> float:
        """Seconds of processor time in a second."""
        return (time.process_time() - self._taken) / (time.monotonic() - self._began)


def _headless(order: SeriesRequest, path: Path) -> float:
    taken = ProcessorTime()
    for event in record(order, path, SeriesControl()):
        if isinstance(event, RunFinished):
            taken.run_ended()
    return taken.share()


def _drawn(order: SeriesRequest, path: Path, *more: str) -> float:
    """Run the drawing side in a terminal of 120 columns, and take in what it draws."""
    os.environ[PLAN] = line_of(MeasuringOrder.of_request(order))
    child, terminal = pty.fork()
    if not child:
        os.environ["TERM"] = "xterm-256color"
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmarks.drawing", str(path), *more])
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    del os.environ[PLAN]
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:  # a terminal ends so when nobody holds its other side any more
        pass
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"the drawing side ended with {status}")
    return float(path.with_suffix(SHARE_SUFFIX).read_text())


def main() -> int:
    """Measure one series on the run screen, and leave."""
    from app.tui.start import answer_keys_soon

    answer_keys_soon()
    from textual.pilot import Pilot

    from app.backend import Backend
    from app.guide.needs import MeasurementJob
    from app.guide.run_screen import RunScreen
    from app.tui.frame.app import SharebenchApp
    from app.tui.frame.context import Context
    from app.tui.widgets.recording import MeasurementEnded

    path, in_turns = Path(sys.argv[1]), IN_TURNS in sys.argv
    plan = message_of(os.environ.pop(PLAN), [MeasuringOrder])
    order = request_with(order=plan, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP)

    loop: asyncio.AbstractEventLoop

    class Screen(RunScreen):
        taken = ProcessorTime()

        def take_event(self, index: int, event: RecorderEvent) -> None:
            super().take_event(index, event)
            if isinstance(event, RunFinished):
                self.taken.run_ended()

        def on_measurement_ended(self, message: MeasurementEnded) -> None:
            path.with_suffix(SHARE_SUFFIX).write_text(str(self.taken.share()))
            self.app.exit(0)

    class Turns(Backend):
        """Each run once more without drawing: nothing of the screen moves until it has ended."""

        @staticmethod
        def record(request: SeriesRequest, path: Path, control: SeriesControl) -> Iterator[RecorderEvent]:
            still = Event()
            orders = [request, varied(request, label=HEADLESS)]
            for index, event in record_interleaved(orders, path, control):
                if index == 0:
                    yield event
                elif isinstance(event, RunStarted):
                    still = Event()
                    loop.call_soon_threadsafe(still.wait)
                elif isinstance(event, RunFinished | SeriesClosed):
                    still.set()

    async def begin(pilot: Pilot[object]) -> None:
        nonlocal loop
        loop = asyncio.get_running_loop()
        measurement = MeasurementJob(
            backend=Turns() if in_turns else Backend(), notebook_path=path, title="bench", request=order
        )
        await pilot.app.push_screen(Screen(measurement))

    return SharebenchApp(Context(notebook_path=path)).run(auto_pilot=begin) or 0


if __name__ == "__main__":
    sys.exit(main())
