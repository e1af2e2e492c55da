"""Screens that show a measurement under way without taking from it: events wait until the clock fetches them.

A thread takes the events of the measurement and puts them into a queue; the screen's own thread empties the queue at
each tick of a clock, or at once when the thread says that something rare has happened.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from time import monotonic
from typing import ClassVar

from textual import on
from textual.message import Message
from textual.worker import get_current_worker

from app.recording import process
from app.series.events import RecorderEvent
from app.server.machine_meter import MachineNow
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand, keys
from app.tui.frame.dialogs import ConfirmDialog
from forms.layout import cut
from forms.wording import byte_rate, count

_ROUTINE = (process.Progressed, process.RunStarted, process.RunFinished)
"""What comes many times a second. A message of each would wake the screen, and have it drawn again under a dialog.

RunFinished is an exception: it is told at once where the last one told is long enough ago.
"""

REDRAW_SECONDS = 1.0
"""Between two ticks (``every_seconds``), where a screen has no reason for another time."""
PART_SECONDS = 5.0
"""Between two drawings of a chart while a run is timed: it costs ten times as much as the line of what happens now."""
TOLD_APART_SECONDS = 2.0
"""The end of a run is told at once, but no more often than that."""

PlacedEvents = Iterable[tuple[int, RecorderEvent]]
"""Events, each with the place of its series."""


class EventsHeard(Message):
    """Something rare has happened: look at once."""


@dataclass
class MeasurementEnded(Message):
    """The thread has come to its end; everything is stored."""

    error: Exception | None
    """What broke the measurement off; None where nothing did."""


class RecordingScreen(BaseScreen):
    """The base of screens that record: a subclass calls ``listen`` with what yields the events.

    Hooks of a subclass, all called in the screen's own thread:

    - ``tick``: by the clock, and when something rare has happened; it calls ``catch_up``, and draws;
    - ``take_event``: by ``catch_up``, for each event that waits;
    - ``measurement_ended``: once, after the last event, unless sharebench is left;
    - ``keeps_from_leaving``: in its place where sharebench is about to be left; ``measurement_ended`` follows if it
      says yes.
    """

    KEYS: ClassVar[tuple[KeyCommand, ...]] = keys("recording.interrupt recording.cancel screen.back")
    STOP_HEADING: ClassVar[str]
    STOP_TEXT: ClassVar[str]
    """What stopping keeps and loses; asked before it is done."""
    KEEP_ON: ClassVar[str]
    """The button of that question that does not stop."""
    QUIT_TEXT: ClassVar[str]
    """What is asked before sharebench is left meanwhile."""

    def __init__(self, control: process.SeriesControl) -> None:
        """``control`` is what the measurement is told by; it is cancelled when the screen is closed."""
        super().__init__()
        self.control = control
        self._waiting: SimpleQueue[tuple[int, RecorderEvent]] = SimpleQueue()
        """What the thread has put in and ``catch_up`` has not fetched yet: (place of the series, event)."""
        self._recording = True
        """Until the screen has heard that the thread came to its end."""
        self._leave: Callable[[], None] | None = None
        """What leaves sharebench, once that was asked for and the measurement has ended."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is measured any more; a subclass may know it before the thread has ended."""
        return not self._recording

    @property
    def is_covered(self) -> bool:
        """Whether another screen or a dialog lies on top."""
        return self.app.screen is not self

    def listen(self, events: Callable[[], PlacedEvents], *, every_seconds: float) -> None:
        """Take the events of the measurement in a thread, and have the clock call ``tick``."""
        record = partial(self._record, events)
        self.run_worker(record, thread=True, group="measure", exit_on_error=False)
        self.set_interval(every_seconds, self.tick)

    def _record(self, events: Callable[[], PlacedEvents]) -> None:
        """In the thread: all events of the measurement, one after the other, until its end."""
        worker = get_current_worker()
        error: Exception | None = None
        try:
            told_at = 0.0
            for index, event in events():
                self._waiting.put((index, event))

                # Only what is rare wakes the screen, and the end of a run now and then; the clock fetches the rest.
                is_rare = not isinstance(event, _ROUTINE)
                is_end_to_tell = isinstance(event, process.RunFinished) and monotonic() >= told_at + TOLD_APART_SECONDS
                if is_end_to_tell:
                    told_at = monotonic()
                if (is_rare or is_end_to_tell) and not worker.is_cancelled:
                    self.post_message(EventsHeard())
        except Exception as fault:  # noqa: BLE001  told in the one dialog, by the screen's thread
            error = fault

        if not worker.is_cancelled:
            self.post_message(MeasurementEnded(error))

    def on_unmount(self) -> None:
        self.control.cancel()

    def catch_up(self) -> None:
        """Take all events in that wait."""
        while not self._waiting.empty():  # nobody else takes from it
            index, event = self._waiting.get_nowait()
            self.take_event(index, event)

    @on(EventsHeard)
    def _rare_event(self, message: EventsHeard) -> None:
        message.stop()
        self.tick()

    @on(MeasurementEnded)
    def _take_end(self, message: MeasurementEnded) -> None:
        message.stop()
        self._recording = False
        self.refresh_bindings()
        self.tick()

        # A question of this screen, such as whether to stop, is about what is over now.
        if self.is_covered and isinstance(self.app.screen, ConfirmDialog):
            self.app.screen.withdraw("It has ended by itself meanwhile; everything is stored.")
        if self._leave is not None and not self.keeps_from_leaving(message.error):
            self._leave()
        else:
            self.measurement_ended(message.error)

    # Hooks of a subclass: the docstring of the class says who calls them, and when

    def keeps_from_leaving(self, error: Exception | None) -> bool:
        """Whether sharebench is not left after all, since there is something to be told first.

        Asked once the measurement has ended; ``error`` is what broke it off, if anything did.
        """
        return False

    def take_event(self, index: int, event: RecorderEvent) -> None:
        """Take an event of the series at this place in."""

    def tick(self) -> None:
        """Catch up, and draw what the clock allows."""

    def measurement_ended(self, error: Exception | None) -> None:
        """Everything is stored; show what came of it."""

    # Stopping and leaving

    def action_stop(self) -> None:
        text = f"{self.STOP_TEXT} It goes on until you answer."
        dialog = ConfirmDialog(self.STOP_HEADING, text, yes="Stop", no=self.KEEP_ON)
        self.ask(dialog, self._stop)

    action_cancel = action_stop

    def _stop(self, _answer: bool) -> None:
        """After the answer yes; `ask` does not come here after no."""
        self.control.cancel()
        self.tick()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "back":
            return self.is_over
        if action == "cancel":
            return not self.is_over
        return super().check_action(action, parameters)

    def quit_question(self) -> str | None:
        return None if self.is_over else self.QUIT_TEXT

    def leave(self, then: Callable[[], None]) -> None:
        """Stop, and leave sharebench (``then``) once the measurement has ended (`_take_end`)."""
        self._leave = then
        self.control.cancel()


def machine_words(machine: MachineNow) -> str:
    """This machine in a few words: ``CPU 34 %  eth0 in 118 MB/s, out 1.2 MB/s  0 retransmissions``."""
    card = ""
    if machine.interface is not None:
        received = byte_rate(machine.received_bytes_per_second)
        sent = byte_rate(machine.sent_bytes_per_second)
        card = f"  {machine.interface} in {received}, out {sent}"
    return f"CPU {machine.cpu_percent:.0f} %{card}  {count(machine.retransmitted, 'retransmission')}"


def machine_line(machine: MachineNow, width: int) -> str:
    words = machine_words(machine)
    line = f"this machine: {words}"
    return line if len(line) <= width else cut(words, width)
