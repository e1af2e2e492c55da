"""Screens that show a measurement under way without taking from it: events wait until the clock fetches them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue

from textual import on
from textual.message import Message
from textual.worker import get_current_worker

from app.measure.control import SeriesControl
from app.measure.events import Progressed, RunFinished, RunStarted
from app.recorder.recording import RecorderEvent
from app.tui.frame.base import BaseScreen

_ROUTINE = (Progressed, RunStarted, RunFinished)
"""What comes many times a second. A message of each would wake the screen, and have it drawn again under a dialog."""


class EventsHeard(Message):
    """Something rare has happened: look at once."""


class MeasurementEnded(Message):
    """The recording thread has nothing more to do."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__()
        self.error = error


class RecordingScreen(BaseScreen):
    """Records in a thread; ``heard`` is told the events in the screen's own thread, when ``catch_up`` fetches them."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: SimpleQueue[tuple[int, RecorderEvent]] = SimpleQueue()
        self._control: SeriesControl | None = None

    def listen(
        self, events: Callable[[], Iterable[tuple[int, RecorderEvent]]], control: SeriesControl, *, every_seconds: float
    ) -> None:
        """Take the events, each with the place of its series, from a thread; ``tick`` comes by the clock from now on.

        Ended is posted when there are no more, with the error that ended them. When the screen goes, ``control`` is
        told to end them, so that nothing is left running.
        """
        self._control = control

        def record() -> None:
            worker = get_current_worker()
            error: Exception | None = None
            try:
                for index, event in events():
                    self._waiting.put((index, event))
                    if not worker.is_cancelled and not isinstance(event, _ROUTINE):
                        self.post_message(EventsHeard())
            except Exception as fault:  # noqa: BLE001  told in the one dialog, by the screen's thread
                error = fault
            if not worker.is_cancelled:
                self.post_message(MeasurementEnded(error))

        self.run_worker(record, thread=True, group="measure", exit_on_error=False)
        self.set_interval(every_seconds, self.tick)

    def on_unmount(self) -> None:
        """End what still runs."""
        if self._control is not None:
            self._control.cancel()

    def catch_up(self) -> None:
        """Hear what has happened since."""
        while True:
            try:
                index, event = self._waiting.get_nowait()
            except Empty:
                return
            self.heard(index, event)

    @on(EventsHeard)
    def _rare_event(self, message: EventsHeard) -> None:
        message.stop()
        self.tick()

    @property
    def is_covered(self) -> bool:
        """Whether another screen lies over this one; what is drawn then is drawn for nobody."""
        return self.app.screen is not self

    def heard(self, index: int, event: RecorderEvent) -> None:
        """Take an event of the series at this place in."""

    def tick(self) -> None:
        """Catch up, and draw what the clock allows."""
