"""Progress of a load on a terminal: one line that is redrawn, with finished points above it."""

import sys
import time
from collections.abc import Iterable

from app.cli import output
from app.cli.progress import cancel_on_signals
from app.load.events import FilesMade, JobsWait, LoadPhase, PhaseBegan, SecondPassed
from app.measure.control import SeriesControl
from app.measure.events import Warned
from app.workflows.load import LoadClosed, LoadStep, PointStored
from forms.layout import visible
from forms.load import headline
from forms.wording import byte_rate
from storage.loads.records import LoadPoint, PointStatus


class LoadProgress:
    """Draws on stderr; the redrawn line appears only on a terminal."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()
        self._phase = PhaseBegan(phase=LoadPhase.FILES)
        self._until = 0.0

    def show(self, step: LoadStep) -> None:
        match step:
            case Warned(text=text):
                self._say(text)
            case PhaseBegan():
                self._phase, self._until = step, time.monotonic() + step.seconds
                self._draw(step.phase.value)
            case FilesMade(files=made, of_files=wanted):
                what = "removed" if self._phase.phase is LoadPhase.CLEANING else "made"
                self._draw(f"{self._phase.phase.value}: {made:,} of {wanted:,} {what}")
            case JobsWait():
                self._draw(f"{self._phase.phase.value}: {step.jobs:,} of {step.of_jobs:,} jobs wait; Ctrl-C ends it")
            case SecondPassed():
                self._draw(second_text(step, self._phase, self._until - time.monotonic()))
            case PointStored(point=point):
                self._say(point_text(point))
            case _:
                pass

    def _draw(self, text: str) -> None:
        if self._on:
            output.draw(text)

    def _say(self, text: str) -> None:
        self.clear()
        output.say(f"sharebench: {visible(text)}")

    def clear(self) -> None:
        if self._on:
            output.draw()


def second_text(now: SecondPassed, phase: PhaseBegan, left_seconds: float) -> str:
    """One second of a load."""
    left = f" {left_seconds:.0f} s left" if phase.seconds and left_seconds > 0 else ""
    p95 = "" if now.p95_seconds is None else f"  p95 {1000 * now.p95_seconds:.1f} ms"
    errors = f"  {now.errors} errors" if now.errors else ""
    return (
        f"{now.users} users, {phase.phase.value}{left}: {now.connected} connected  "
        f"{now.requests_per_second:,.0f} requests/s{p95}  {byte_rate(now.read_bytes_per_second)} read  "
        f"{byte_rate(now.write_bytes_per_second)} written{errors}  CPU here {now.cpu_percent:.0f} %"
    )


def point_text(point: LoadPoint) -> str:
    """The result of a point."""
    if point.status is not PointStatus.VALID:
        return f"{point.users} users: {point.status.value}: {point.reason}"
    errors = f", {sum(point.errors.values())} errors" if point.errors else ""
    return f"{headline.point_text(point)}{errors}"


def watch_load(steps: Iterable[LoadStep], control: SeriesControl) -> LoadClosed:
    """Show a load to its end; Ctrl-C cancels it, and it cleans up."""
    progress = LoadProgress()
    closed: LoadClosed | None = None
    with cancel_on_signals(control):
        for step in steps:
            if isinstance(step, LoadClosed):
                closed = step
            progress.show(step)
    progress.clear()
    assert closed
    return closed
