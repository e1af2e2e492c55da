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
from app.cli import console
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
"""Drawing more often would take time from what is measured."""
_Closed = TypeVar("_Closed")


class StatusLine:
    """A line on stderr that is redrawn on a terminal, and messages above it."""

    def __init__(self, *, redraws: bool = True) -> None:
        self.is_on = redraws and sys.stderr.isatty()
        self._is_drawn = False

    def draw(self, text: str) -> None:
        if self.is_on:
            console.draw(text)
            self._is_drawn = True

    def say(self, text: str) -> None:
        self.clear()
        console.say(text)

    def clear(self) -> None:
        if self._is_drawn:
            console.draw()
            self._is_drawn = False


class ProgressLine(StatusLine):
    """The progress of series, drawn at most twice a second."""

    about = ""
    """Which of several series is meant, in front of every line."""
    _run_text = ""
    _drawn_at = 0.0

    def __init__(self, *, redraws: bool = True, prospect: Prospect | None = None, pace: RunPace | None = None) -> None:
        """``pace`` tells the time left where several series are interleaved."""
        super().__init__(redraws=redraws)
        self._prospect = prospect
        self._pace = pace
        self._series = SeriesProgress.of_order(prospect.order) if prospect else SeriesProgress()

    def show(self, event: RecorderEvent) -> None:
        self._series = self._series.with_event(event)
        if isinstance(event, Started):
            self.announce(event.size_bytes)

        match event:
            case Warned(text=text):
                self.say(f"sharebench: {self.about}{visible(text)}")
            case RunStarted():
                self._run_text = words(event)
                self._draw_about(self._run_text)
            case Progressed():
                self._show_run_progress(event)
            case RunFinished():
                self._draw_about(f"{self._run_text}  {words(event)}")
                if not self.is_on:
                    console.say(f"sharebench: {self.about}{self._run_text}: {words(event)}")
            case SeriesOpened() | QuietWait() | ScratchMade() | Paused():
                self._draw_about(words(event))

    def _show_run_progress(self, event: Progressed) -> None:
        if time.monotonic() - self._drawn_at < REDRAW_SECONDS:
            return

        progress = run_progress(event.seconds, event.moved_bytes, event.size_bytes)
        percent = "" if progress.percent is None else f"{progress.percent:3.0f} %"
        series_seconds_left = self._pace.seconds_left if self._pace else self._series.seconds_left
        time_left = left_text(progress, series_seconds_left, is_open=self._series.open_ended)
        amount = f"{binary_size(event.moved_bytes)} of {binary_size(event.size_bytes)}"
        rate = byte_rate(progress.bytes_per_second)
        self._draw_about(f"{self._run_text}  {percent}  {amount}  {rate}  {time_left}")

    def announce(self, size_bytes: int = 0) -> None:
        """Say once how long it will take: before it connects, unless the size is that of a file there."""
        prospect = self._prospect
        if prospect is None:
            return

        counts = prospect.order.spec.counts
        size_of_new_files = (counts.size_bytes or 0) * (counts.files or 1)
        size = size_of_new_files or size_bytes
        if size:
            self._prospect = None
            self.say(f"sharebench: {prospect.estimate(size)}")

    def _draw_about(self, text: str) -> None:
        self._drawn_at = time.monotonic()
        self.draw(f"{self.about}{text}")


def watch_to_end(
    events: Iterable[Any], control: SeriesControl, closed: type[_Closed], show: Callable[[Any], None], line: StatusLine
) -> _Closed:
    """Show a measurement to its end; Ctrl-C cancels it, and it cleans up. Raises CancelledError if it never began."""
    last_event: _Closed | None = None
    with cancel_on_signals(control):
        for event in events:
            if isinstance(event, closed):
                last_event = event
            else:
                show(event)
    line.clear()

    if last_event is None:
        raise CancelledError("cancelled before anything was measured")
    return last_event


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
            pace.take_event(index, event)
            if isinstance(event, SeriesClosed):
                closed[index] = event
            elif not isinstance(event, SeriesOpened | SeriesStored):
                progress.about = f"{names[index]}: "
                progress.show(event)
    progress.clear()
    return [closed[index] for index in sorted(closed)]


def _never() -> bool:
    return False


@contextmanager
def cancel_on_signals(control: SeriesControl, must_go_on: Callable[[], bool] = _never) -> Iterator[None]:
    """Cancel on a signal and when time is over; a second signal kills, unless a setting has to be restored yet."""

    def cancel(_number: int, _frame: FrameType | None) -> None:
        if not control.cancelled.is_set():
            control.cancel()
        elif not must_go_on():
            raise KeyboardInterrupt

    numbers = [signal.SIGINT, signal.SIGTERM]
    # Under nohup it goes on when its terminal is closed.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    handlers_before = {number: signal.signal(number, cancel) for number in numbers}

    control.limit.start()
    timer = threading.Timer(min(control.limit.seconds_left, threading.TIMEOUT_MAX), control.end_in_time)
    timer.daemon = True
    if control.limit.seconds < math.inf:
        timer.start()

    try:
        yield
    finally:
        timer.cancel()
        for number, handler in handlers_before.items():
            signal.signal(number, handler)


def exit_code_when_complete(record: Isolation | Diagnosis, control: SeriesControl, command: str, noun: str) -> int:
    """0. Raises CancelledError or MeasurementError of a recording that is not complete, with how to complete it."""
    if control.cancelled.is_set():
        raise CancelledError(f"{control.why_cancelled}; `sharebench {command} --resume {record.id}` completes it")
    if record.status is not SeriesStatus.COMPLETE:
        raise MeasurementError(record.error or f"the {noun} did not end")
    return 0
