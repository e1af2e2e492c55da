"""The progress of a series on a terminal: one line that is drawn over, and warnings above it."""

from __future__ import annotations

import shutil
import sys
import time

from app.measure.events import Paused, Progressed, RunFinished, RunStarted, ScratchMade, Warned
from app.recorder.recording import RecorderEvent, SeriesOpened
from forms.layout import visible
from forms.numbers import byte_rate, size
from forms.series.progress import standing
from storage.records import Phase, RunStatus

REDRAW_SECONDS = 0.5


class ProgressLine:
    """Draws on stderr, at most twice a second, and only on a terminal; warnings are printed wherever it is."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()
        self._what = ""
        self._drawn_at = 0.0
        self._long = False
        self.about = ""
        """Stands before everything, where several series take turns."""

    def show(self, event: RecorderEvent) -> None:
        """Draw what the event says."""
        match event:
            case Warned(text=text):
                self.clear()
                print(f"sharebench: {self.about}{visible(text)}", file=sys.stderr)  # noqa: T201  stderr is for people
            case SeriesOpened():
                self._draw("looking around", force=True)
            case ScratchMade():
                self._draw("making the file", force=True)
            case RunStarted(number=number, phase=phase, of=of):
                name = "warm-up" if phase is Phase.WARM_UP else "run"
                self._what = f"{name} {number}" + (f" of {of}" if of else "")
                self._draw(self._what, force=True)
            case Progressed(seconds=seconds, moved_bytes=moved, size_bytes=total):
                now = standing(seconds, moved, total)
                share = "" if now.percent is None else f"{now.percent:3.0f} %"
                left = "" if now.seconds_left is None else f"{now.seconds_left:.0f} s left"
                rate = byte_rate(now.bytes_per_second)
                self._draw(f"{self._what}  {share}  {size(moved)} of {size(total)}  {rate}  {left}")
            case RunFinished(run=run):
                if run.status is RunStatus.FAILED:
                    self._draw(f"{self._what}  failed", force=True)
                else:
                    self._draw(f"{self._what}  {byte_rate(run.bytes_per_second)}", force=True)
            case Paused():
                self._draw("waiting", force=True)
            case _:
                pass

    def _draw(self, text: str, *, force: bool = False) -> None:
        now = time.monotonic()
        if not self._on or (not force and now - self._drawn_at < REDRAW_SECONDS):
            return
        self._drawn_at = now
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write("\r\x1b[K" + f"{self.about}{text}"[:width])
        sys.stderr.flush()
        self._long = True

    def clear(self) -> None:
        """Take the line away."""
        if self._on and self._long:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._long = False
