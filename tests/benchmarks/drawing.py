"""What drawing costs: the same series measured with the TUI's run screen in a terminal, and without any, in turns.

``python -m tests.benchmarks.drawing NOTEBOOK`` is the drawing side: it takes its plan from the environment.
"""

from __future__ import annotations

import os
import pty
import struct
import sys
import tempfile
import termios
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fcntl import ioctl
from pathlib import Path

from app.measure.control import SeriesControl
from app.measure.plan import MeasurementPlan
from app.recorder.recording import record
from app.recorder.request import SeriesRequest
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from tests.benchmarks.pairs import Orders, PeakMemory, Result

ROOT = Path(__file__).resolve().parents[2]
PLAN = "SHAREBENCH_BENCH_PLAN"
RUNS_A_SERIES = 5
WARMUPS = 6
"""By then the TUI has opened and loaded what it draws with, as it has long before a user starts a series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingRow:
    """The TUI drawing against headless; a row of the table like the others."""

    pairs: int
    set_up: Callable[[], AbstractContextManager[Orders]]
    name: str = "SMB get, TUI drawing"
    at_least: float = 0.97
    aim: float = 0.99

    def measure(self) -> Result:
        """Series in turns: drawn, headless, headless, drawn …"""
        drawn: list[float] = []
        headless: list[float] = []
        with self.set_up() as (ours, _), tempfile.TemporaryDirectory() as folder, PeakMemory() as memory:
            order = replace(
                ours,
                plan=replace(ours.plan, runs=RUNS_A_SERIES, warmups=WARMUPS),
                quiet_time=QuietTime.SKIP,
                ceiling=CeilingPolicy.SKIP,
            )
            for pair in range(self.pairs):
                turns = [(_drawn, drawn), (_headless, headless)]
                for measure, rates in turns if pair % 2 == 0 else reversed(turns):
                    path = Path(folder) / f"{len(drawn)}-{len(headless)}-{measure.__name__}.db"
                    measure(order, path)
                    with Notebook(path) as notebook:
                        rates += [run.bytes_per_second or 0.0 for run in notebook.series("last").measured()]
        return Result(
            name=self.name,
            ours="sharebench",
            theirs="headless",
            our_rates=tuple(drawn),
            their_rates=tuple(headless),
            at_least=self.at_least,
            aim=self.aim,
            our_peak_bytes=memory.peak_bytes,
        )


def _headless(order: SeriesRequest, path: Path) -> None:
    for _ in record(order, path, SeriesControl()):
        pass


def _drawn(order: SeriesRequest, path: Path) -> None:
    """Run the drawing side in a terminal of 120 columns, and take in what it draws."""
    os.environ[PLAN] = order.plan.to_json()
    child, terminal = pty.fork()
    if not child:
        os.environ["TERM"] = "xterm-256color"
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmarks.drawing", str(path)])
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


def main() -> int:
    """Measure one series on the run screen, and leave."""
    from app.tui.start import answer_keys_soon

    answer_keys_soon()
    from textual.pilot import Pilot

    from app.tui.frame.app import SharebenchApp
    from app.tui.frame.context import Context
    from app.tui.guide.run_screen import RunScreen
    from app.tui.widgets.recording_screen import MeasurementEnded
    from app.workflows.guide.state.backend import SystemBackend
    from app.workflows.guide.state.job import MeasurementJob

    path = Path(sys.argv[1])
    plan = MeasurementPlan.from_json(os.environ.pop(PLAN))
    order = SeriesRequest(plan=plan, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP)

    class Screen(RunScreen):
        def on_measurement_ended(self, message: MeasurementEnded) -> None:
            self.app.exit(0)

    async def begin(pilot: Pilot[object]) -> None:
        measurement = MeasurementJob(backend=SystemBackend(), notebook_path=path, title="bench", request=order)
        await pilot.app.push_screen(Screen(measurement))

    return SharebenchApp(Context(notebook_path=path)).run(auto_pilot=begin) or 0


if __name__ == "__main__":
    sys.exit(main())
