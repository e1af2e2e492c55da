"""Progress of series: one redrawn line on a terminal, else a line for each run; warnings in between."""

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from app.base.errors import CancelledError, MeasurementError
from app.cli import common
from app.recording.process import (
    Paused,
    Progressed,
    RunFinished,
    RunStarted,
    ScratchMade,
    SeriesControl,
    Started,
    Warned,
)
from app.series.events import QuietWait, RecorderEvent, SeriesClosed, SeriesOpened, SeriesStored, words
from app.series.pace import Prospect, RunPace
from app.series.progress import SeriesProgress, left_text
from forms.layout import visible
from forms.series.progress import run_progress
from forms.wording import binary_size, byte_rate
from storage.isolation import Isolation
from storage.looks import Diagnosis
from storage.records import SeriesStatus

REDRAW_SECONDS = 0.5
_Closed = TypeVar("_Closed")


class StatusLine:
    """A line on stderr that is redrawn on a terminal, and messages above it."""

    def __init__(self, *, redraws: bool = True) -> None:
        self.is_on = redraws and sys.stderr.isatty()
        self._is_drawn = False

    def draw(self, text: str) -> None:
        if self.is_on:
            common.draw(text)
            self._is_drawn = True

    def say(self, text: str) -> None:
        self.clear()
        common.say(text)

    def clear(self) -> None:
        if self._is_drawn:
            common.draw()
            self._is_drawn = False


class ProgressLine(StatusLine):
    """The progress of series, drawn at most twice a second."""

    _what = ""
    _drawn_at = 0.0
    about = ""

    def __init__(self, *, redraws: bool = True, prospect: Prospect | None = None, pace: RunPace | None = None) -> None:
        """``pace`` tells the time left where several series are interleaved."""
        super().__init__(redraws=redraws)
        self._prospect, self._pace = prospect, pace
        self._series = SeriesProgress.of_order(prospect.order) if prospect else SeriesProgress()

    def show(self, event: RecorderEvent) -> None:
        self._series = self._series.heard(event)
        if isinstance(event, Started):
            self.announce(event.size_bytes)
        match event:
            case Warned(text=text):
                self.say(f"sharebench: {self.about}{visible(text)}")
            case RunStarted():
                self._what = words(event)
                self._draw(self._what, force=True)
            case Progressed(seconds=seconds, moved_bytes=moved, size_bytes=total):
                now = run_progress(seconds, moved, total)
                share = "" if now.percent is None else f"{now.percent:3.0f} %"
                whole = self._pace.seconds_left if self._pace else self._series.seconds_left
                left = left_text(now, whole, is_open=self._series.open_ended)
                rate = byte_rate(now.bytes_per_second)
                self._draw(f"{self._what}  {share}  {binary_size(moved)} of {binary_size(total)}  {rate}  {left}")
            case RunFinished():
                self._draw(f"{self._what}  {words(event)}", force=True)
                if not self.is_on:
                    common.say(f"sharebench: {self.about}{self._what}: {words(event)}")
            case SeriesOpened() | QuietWait() | ScratchMade() | Paused():
                self._draw(words(event), force=True)

    def announce(self, size_bytes: int = 0) -> None:
        """Say once how long it will take: before it connects, unless the size is that of a file there."""
        prospect = self._prospect
        if prospect is None:
            return
        counts = prospect.order.spec.counts
        size = (counts.size_bytes or 0) * (counts.files or 1) or size_bytes
        if size:
            self._prospect = None
            self.say(f"sharebench: {prospect.text(size)}")

    def _draw(self, text: str, *, force: bool = False) -> None:
        now = time.monotonic()
        if force or now - self._drawn_at >= REDRAW_SECONDS:
            self._drawn_at = now
            self.draw(f"{self.about}{text}")


def watch_to_end(
    events: Iterable[Any], control: SeriesControl, closed: type[_Closed], show: Callable[[Any], None], line: StatusLine
) -> _Closed:
    """Show a measurement to its end; Ctrl-C cancels it, and it cleans up. Raises CancelledError if it never began."""
    found: _Closed | None = None
    with cancel_on_signals(control):
        for event in events:
            if isinstance(event, closed):
                found = event
            else:
                show(event)
    line.clear()
    if found is None:
        raise CancelledError("cancelled before anything was measured")
    return found


def watch(
    events: Iterable[RecorderEvent], control: SeriesControl, *, redraws: bool = True, prospect: Prospect | None = None
) -> SeriesClosed:
    progress = ProgressLine(redraws=redraws, prospect=prospect)
    progress.announce()
    return watch_to_end(events, control, SeriesClosed, progress.show, progress)


def watch_turns(
    events: Iterable[tuple[int, RecorderEvent]],
    control: SeriesControl,
    names: Sequence[str],
    runs_to_come: Sequence[int],
    prospect: Prospect | None = None,
) -> list[SeriesClosed]:
    """Show interleaved series to their end; Ctrl-C cancels all. Series that never began are left out."""
    pace = RunPace(runs_to_come)
    progress = ProgressLine(prospect=prospect, pace=pace)
    progress.announce()
    closed: dict[int, SeriesClosed] = {}
    with cancel_on_signals(control):
        for index, event in events:
            pace.heard(index, event)
            if isinstance(event, SeriesClosed):
                closed[index] = event
            elif not isinstance(event, SeriesOpened | SeriesStored):
                progress.about = f"{names[index]}: "
                progress.show(event)
    progress.clear()
    return [closed[index] for index in sorted(closed)]


@contextmanager
def cancel_on_signals(control: SeriesControl, still: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Cancel on a signal and when time is over; a second signal kills, unless ``still()`` has to restore a setting."""

    def cancel(_number: int, _frame: FrameType | None) -> None:
        if control.cancelled.is_set():
            if still():
                return
            raise KeyboardInterrupt
        control.cancel()

    caught = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        caught.append(signal.SIGHUP)
    before = {number: signal.signal(number, cancel) for number in caught}
    control.limit.start()
    timer = threading.Timer(min(control.limit.seconds_left, threading.TIMEOUT_MAX), control.end_in_time)
    timer.daemon = True
    if control.limit.seconds < math.inf:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_code_when_complete(record: Isolation | Diagnosis, control: SeriesControl, command: str, what: str) -> int:
    """0. Raises CancelledError or MeasurementError of a recording that is not complete, with how to complete it."""
    if control.cancelled.is_set():
        raise CancelledError(f"{control.why_cancelled}; `sharebench {command} --resume {record.id}` completes it")
    if record.status is not SeriesStatus.COMPLETE:
        raise MeasurementError(record.error or f"the {what} did not end")
    return 0
