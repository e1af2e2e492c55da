"""Screens that show a measurement under way without taking from it: events wait until the clock fetches them."""

from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from time import monotonic
from typing import ClassVar

from textual import on
from textual.message import Message
from textual.worker import get_current_worker

from app.measure.control import SeriesControl
from app.measure.events import Progressed, RunFinished, RunStarted
from app.recorder.recording import RecorderEvent
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import ConfirmDialog

_ROUTINE = (Progressed, RunStarted, RunFinished)
"""What comes many times a second. A message of each would wake the screen, and have it drawn again under a dialog."""

TOLD_APART_SECONDS = 0.5
"""The end of a run is told at once, but no more often than that."""


class EventsHeard(Message):
    """Something rare has happened: look at once."""


class MeasurementEnded(Message):
    """The recording thread has nothing more to do."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__()
        self.error = error


class RecordingScreen(BaseScreen):
    """Records in a thread; ``heard`` is told the events in the screen's own thread, when ``catch_up`` fetches them.

    It is left only after a question while something is measured, and then once everything is stored.
    """

    KEYS: ClassVar[tuple[KeyCommand, ...]] = (
        KeyCommand("recording.interrupt", "ctrl+c", "Interrupt", "Ask whether to stop.", action="stop"),
    )
    STOP_HEADING: ClassVar[str]
    STOP_TEXT: ClassVar[str]
    """What becomes of what was measured, for whoever is asked about stopping."""
    GO_ON: ClassVar[str]
    """The answer that does not stop."""
    QUIT_TEXT: ClassVar[str]
    """The same, for whoever leaves the program."""

    def __init__(self, control: SeriesControl) -> None:
        super().__init__()
        self.control = control
        """What says words to the series."""
        self._waiting: SimpleQueue[tuple[int, RecorderEvent]] = SimpleQueue()
        self._recording = True
        self._leave: Callable[[], None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to stop."""
        return not self._recording

    def listen(self, events: Callable[[], Iterable[tuple[int, RecorderEvent]]], *, every_seconds: float) -> None:
        """Take the events, each with the place of its series, from a thread; ``tick`` comes by the clock from now on.

        When there are no more, ``ended`` is told the error that ended them. When the screen goes, they are ended, so
        that nothing is left running.
        """

        def record() -> None:
            worker = get_current_worker()
            error: Exception | None = None
            try:
                told_at = 0.0
                for index, event in events():
                    self._waiting.put((index, event))
                    ended = isinstance(event, RunFinished) and monotonic() >= told_at + TOLD_APART_SECONDS
                    if ended:
                        told_at = monotonic()
                    if not worker.is_cancelled and (ended or not isinstance(event, _ROUTINE)):
                        self.post_message(EventsHeard())
            except Exception as fault:  # noqa: BLE001  told in the one dialog, by the screen's thread
                error = fault
            if not worker.is_cancelled:
                self.post_message(MeasurementEnded(error))

        self.run_worker(record, thread=True, group="measure", exit_on_error=False)
        self.set_interval(every_seconds, self.tick)

    def on_unmount(self) -> None:
        self.control.cancel()

    def catch_up(self) -> None:
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

    @on(MeasurementEnded)
    def _ended(self, message: MeasurementEnded) -> None:
        message.stop()
        self._recording = False
        self.tick()
        if self.is_covered and isinstance(self.app.screen, ConfirmDialog):
            self.app.screen.withdraw("It has ended by itself meanwhile; everything is stored.")
        if self._leave is not None and not self.keeps_from_leaving(message.error):
            self._leave()
        else:
            self.ended(message.error)

    def keeps_from_leaving(self, error: Exception | None) -> bool:  # noqa: ARG002  most screens lose nothing
        """Whether the end has to be told to who is leaving the program."""
        return False

    def heard(self, index: int, event: RecorderEvent) -> None:
        """Take an event of the series at this place in."""

    def tick(self) -> None:
        """Catch up, and draw what the clock allows."""

    def ended(self, error: Exception | None) -> None:
        """Everything is stored; show what came of it."""

    def action_stop(self) -> None:
        """Stop at once, if that is meant."""

        def answered(yes: bool | None) -> None:
            if yes:
                self.control.cancel()
                self.tick()

        self.app.push_screen(ConfirmDialog(self.STOP_HEADING, self.STOP_TEXT, yes="Stop", no=self.GO_ON), answered)

    def action_back(self) -> None:
        """Leave what is over; ask about stopping what is not."""
        if self.is_over:
            super().action_back()
        else:
            self.action_stop()

    def quit_question(self) -> str | None:
        """Asked before the program is left."""
        return None if self.is_over else self.QUIT_TEXT

    def leave(self, then: Callable[[], None]) -> None:
        """Stop, and leave once everything is stored."""
        self._leave = then
        self.control.cancel()
