"""The progress of series on stderr: one redrawn line on a terminal, else a line for each run; warnings in between.

``watch`` shows one series to its end, ``watch_turns`` interleaved ones, ``watch_to_end`` any other measurement and
``watch_places`` one from several machines. The measurement advances only while they read its events.
"""

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from app.base import errors
from app.cli import console
from app.cli.cancelling import cancel_on_signals
from app.cli.moved import answer_from_elsewhere
from app.recording import process
from app.recording.told_estimate import ToldEstimate
from app.series import events as series_events
from app.series import pace as series_pace
from app.series import progress as series_progress
from app.server.elsewhere.place import problem_beside_host
from forms import wording
from forms.layout import visible
from forms.series.progress import run_progress

REDRAW_SECONDS = 0.5
"""Drawing more often would take time from what is measured."""
_Closed = TypeVar("_Closed")


class StatusLine:
    """A line on stderr that is redrawn on a terminal, and messages above it."""

    def __init__(self, *, redraws: bool = True) -> None:
        self.is_on = redraws and sys.stderr.isatty()
        """Whether the line is drawn at all; messages are said in any case."""
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
    """Which of several series is meant, in front of every line; who shows their events sets it before each."""
    _run_text = ""
    """Which run is under way, such as ``run 2 of 5``."""
    _drawn_at = 0.0

    def __init__(
        self,
        *,
        redraws: bool = True,
        prospect: series_pace.Prospect | None = None,
        pace: series_pace.RunPace | None = None,
    ) -> None:
        """``prospect`` is told once, before the first run; ``pace`` tells the time left of interleaved series."""
        super().__init__(redraws=redraws)
        self._prospect = prospect
        self._pace = pace
        self._series = (
            series_progress.SeriesProgress.of_order(prospect.order) if prospect else series_progress.SeriesProgress()
        )

    def show(self, event: series_events.RecorderEvent) -> None:
        self._series = self._series.with_event(event)
        if isinstance(event, process.Started):
            self.announce(event.size_bytes)

        match event:
            case process.Warned(text=text):
                self.say(f"sharebench: {self.about}{visible(text)}")
            case process.HookStarted(number=number, phase=phase):
                self._run_text = series_events.run_name(number, phase, None)
                self._draw_about(series_events.words(event))
            case process.RunStarted():
                self._run_text = series_events.words(event)
                self._draw_about(self._run_text)
            case process.Progressed():
                self._show_run_progress(event)
            case process.RunFinished():
                self._draw_about(f"{self._run_text}  {series_events.words(event)}")
                if not self.is_on:
                    console.say(f"sharebench: {self.about}{self._run_text}: {series_events.words(event)}")
            case series_events.ProgramCarried():
                self.say(f"sharebench: {self.about}{event.place.carried_text}")
            case series_events.BeginWait():
                self.say(f"sharebench: {self.about}{series_events.words(event)}")
            case series_events.SeriesOpened() | series_events.QuietWait() | process.ScratchMade() | process.Paused():
                self._draw_about(series_events.words(event))

    def _show_run_progress(self, event: process.Progressed) -> None:
        if time.monotonic() - self._drawn_at < REDRAW_SECONDS:
            return

        progress = run_progress(event.seconds, event.moved_bytes, event.size_bytes)
        percent = "" if progress.percent is None else f"{progress.percent:3.0f} %"
        series_seconds_left = self._pace.seconds_left if self._pace else self._series.seconds_left
        time_left = series_progress.left_text(progress, series_seconds_left, is_open=self._series.open_ended)
        amount = f"{wording.binary_size(event.moved_bytes)} of {wording.binary_size(event.size_bytes)}"
        rate = wording.byte_rate(progress.bytes_per_second)
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
    events: Iterable[Any],
    control: process.SeriesControl,
    closed: type[_Closed],
    show: Callable[[Any], None],
    line: StatusLine,
) -> _Closed:
    """Show a measurement to its end; Ctrl-C cancels it, and it cleans up. Raises CancelledError if it never began.

    ``closed`` is the class of the event that ends it, which is returned; each other event is given to ``show``.
    """
    last_event: _Closed | None = None
    with answer_from_elsewhere(), cancel_on_signals(control):
        for event in events:
            if isinstance(event, closed):
                last_event = event
            else:
                show(event)
    line.clear()

    if last_event is None:
        raise errors.CancelledError("cancelled before anything was measured")
    return last_event


def watch_places(
    events: Iterable[tuple[int, Any]],
    control: process.SeriesControl,
    hosts: Sequence[str],
    closed: type[_Closed],
    show: Callable[[str, Any], None],
    line: StatusLine,
) -> dict[str, _Closed | errors.SharebenchError]:
    """Show the recordings from several machines to their ends; Ctrl-C cancels all of them, and they clean up.

    ``events`` are those of `app.recording.turns.in_turns`. Returns how each ended, by its host: with an event of the
    class ``closed``, or with the error that kept it from being recorded. Each other event is given to ``show``, with
    the host.
    """
    ends: dict[str, _Closed | errors.SharebenchError] = {}
    with answer_from_elsewhere(), cancel_on_signals(control):
        for index, event in events:
            host = hosts[index]
            if isinstance(event, errors.SharebenchError):
                ends[host] = event
                line.say(f"sharebench: {host}: {problem_beside_host(host, str(event))}")
            elif isinstance(event, closed):
                ends[host] = event
            else:
                show(host, event)
    line.clear()
    return ends


def watch(
    events: Iterable[series_events.RecorderEvent],
    control: process.SeriesControl,
    *,
    redraws: bool = True,
    prospect: series_pace.Prospect | None = None,
) -> series_events.SeriesClosed:
    progress = ProgressLine(redraws=redraws, prospect=prospect)
    progress.announce()
    return watch_to_end(events, control, series_events.SeriesClosed, progress.show, progress)


def watch_turns(
    events: Iterable[tuple[int, series_events.RecorderEvent]],
    control: process.SeriesControl,
    names: Sequence[str],
    runs_to_come: Sequence[int],
    prospect: series_pace.Prospect | None = None,
    estimated_seconds: float = 0.0,
) -> dict[int, series_events.SeriesClosed]:
    """Show interleaved series to their end, ``names`` in front of their lines; Ctrl-C cancels all of them.

    Where ``estimated_seconds`` was told and turns out wrong, the new estimate is told.

    Returns how each ended, by its index and in that order; series that never began are left out.
    """
    pace = series_pace.RunPace(runs_to_come)
    progress = ProgressLine(prospect=prospect, pace=pace)
    progress.announce()

    estimate = ToldEstimate(estimated_seconds) if estimated_seconds else None
    closed: dict[int, series_events.SeriesClosed] = {}
    with answer_from_elsewhere(), cancel_on_signals(control):
        for index, event in events:
            pace.take_event(index, event)
            if isinstance(event, series_events.SeriesClosed):
                closed[index] = event
            elif not isinstance(event, series_events.SeriesOpened | series_events.SeriesStored):
                progress.about = f"{names[index]}: "
                progress.show(event)
            if estimate is not None and isinstance(event, process.RunFinished):
                _correct_estimate(estimate, pace, progress)
    progress.clear()
    return {index: closed[index] for index in sorted(closed)}


def _correct_estimate(estimate: ToldEstimate, pace: series_pace.RunPace, progress: ProgressLine) -> None:
    """Tell the new estimate where the runs that have ended show that the last one is wrong."""
    seconds_left = pace.seconds_left
    correction = estimate.correction(seconds_left) if seconds_left is not None else ""
    if correction:
        progress.say(f"sharebench: {correction}")
