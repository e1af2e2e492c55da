"""Screens that show a measurement under way without taking from it: events wait until the clock fetches them."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread
from time import monotonic
from types import FrameType
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from app.base.errors import CancelledError, LoginError
from app.clients.base import Secrets
from app.recording.process import Progressed, RunFinished, RunStarted, SeriesControl
from app.series.record import RecorderEvent
from app.server.host_activity import MachineNow
from app.tui.export import Exports
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand, keys
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.widgets.asking import log_in_again
from app.tui.widgets.reading import RecordingGoesOn
from app.tui.widgets.views import FiguresView, ShowsMore, ZoomsCharts
from forms.layout import cut, visible
from forms.report import Report
from forms.wording import byte_rate, count, place
from storage.records import Target

_ROUTINE = (Progressed, RunStarted, RunFinished)
"""What comes many times a second. A message of each would wake the screen, and have it drawn again under a dialog."""

PART_SECONDS = 5.0
"""A chart costs ten times as much as the line of what happens now, and is drawn no more often."""
TOLD_APART_SECONDS = 2.0
"""The end of a run is told at once, but no more often than that."""


class EventsHeard(Message):
    """Something rare has happened: look at once."""


@dataclass
class MeasurementEnded(Message):
    error: Exception | None


class RecordingScreen(BaseScreen):
    """Records in a thread; ``take_event`` gets each event in the screen's own thread, when ``catch_up`` fetches it."""

    KEYS: ClassVar[tuple[KeyCommand, ...]] = keys("recording.interrupt recording.cancel screen.back")
    STOP_HEADING: ClassVar[str]
    STOP_TEXT: ClassVar[str]
    KEEP_ON: ClassVar[str]
    QUIT_TEXT: ClassVar[str]

    def __init__(self, control: SeriesControl) -> None:
        super().__init__()
        self.control = control
        self._waiting: SimpleQueue[tuple[int, RecorderEvent]] = SimpleQueue()
        self._recording = True
        self._leave: Callable[[], None] | None = None

    @property
    def is_over(self) -> bool:
        return not self._recording

    def listen(self, events: Callable[[], Iterable[tuple[int, RecorderEvent]]], *, every_seconds: float) -> None:
        """Take the events, each with the place of its series, from a thread; ``tick`` comes by the clock."""

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
        while not self._waiting.empty():  # nobody else takes from it
            self.take_event(*self._waiting.get_nowait())

    @on(EventsHeard)
    def _rare_event(self, message: EventsHeard) -> None:
        message.stop()
        self.tick()

    @property
    def is_covered(self) -> bool:
        return self.app.screen is not self

    @on(MeasurementEnded)
    def _ended(self, message: MeasurementEnded) -> None:
        message.stop()
        self._recording = False
        self.refresh_bindings()
        self.tick()
        if self.is_covered and isinstance(self.app.screen, ConfirmDialog):
            self.app.screen.withdraw("It has ended by itself meanwhile; everything is stored.")
        if self._leave is not None and not self.keeps_from_leaving(message.error):
            self._leave()
        else:
            self.measurement_ended(message.error)

    def keeps_from_leaving(self, error: Exception | None) -> bool:  # noqa: ARG002  most screens lose nothing
        return False

    def take_event(self, index: int, event: RecorderEvent) -> None:
        """Take an event of the series at this place in."""

    def tick(self) -> None:
        """Catch up, and draw what the clock allows."""

    def measurement_ended(self, error: Exception | None) -> None:
        """Everything is stored; show what came of it."""

    def action_stop(self) -> None:
        def answered(_: bool) -> None:
            self.control.cancel()
            self.tick()

        text = f"{self.STOP_TEXT} It goes on until you answer."
        self.ask(ConfirmDialog(self.STOP_HEADING, text, yes="Stop", no=self.KEEP_ON), answered)

    action_cancel = action_stop

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"back", "cancel"}:
            return self.is_over is (action == "back")
        return super().check_action(action, parameters)

    def quit_question(self) -> str | None:
        return None if self.is_over else self.QUIT_TEXT

    def leave(self, then: Callable[[], None]) -> None:
        self._leave = then
        self.control.cancel()


class HangUp:
    """Whether the terminal was closed since ``watch``; to be made and watched in the main thread."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._happened = False
        self._before: signal._HANDLER | None = None

    def watch(self) -> None:
        if current_thread() is main_thread():
            self._before = signal.signal(signal.SIGHUP, self._heard)

    def unwatch(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGHUP, self._before)
            self._before = None

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if not self._happened:
            self._happened = True
            Thread(target=self._cancel, daemon=True).start()

    def to_the_end(self, events: Callable[[], Iterable[tuple[int, Any]]]) -> Iterator[tuple[int, Any]]:
        """Ends the program after what must be complete; in any thread, as the screen's may wait for the terminal."""
        try:
            yield from events()
        finally:
            if self._happened:
                os._exit(128 + signal.SIGHUP)


def machine_words(machine: MachineNow) -> str:
    """This machine in a few words: ``CPU 34 %  eth0 in 118 MB/s, out 1.2 MB/s  0 retransmissions``."""
    card = ""
    if machine.interface is not None:
        received, sent = machine.received_bytes_per_second, machine.sent_bytes_per_second
        card = f"  {machine.interface} in {byte_rate(received)}, out {byte_rate(sent)}"
    return f"CPU {machine.cpu_percent:.0f} %{card}  {count(machine.retransmitted, 'retransmission')}"


def machine_line(machine: MachineNow, width: int) -> str:
    said = f"this machine: {machine_words(machine)}"
    return said if len(said) <= width else cut(machine_words(machine), width)


REDRAW_SECONDS = 1.0


def run_keys(name: str, stop: str) -> tuple[KeyCommand, KeyCommand]:
    export = KeyCommand(f"{name}.export", "x", "Export", f"Write the {name} to a file.")
    return KeyCommand(f"{name}.stop", "s", "Stop", stop), export


class ReportRunScreen(RecordingScreen, Exports, ShowsMore, ZoomsCharts):
    """Draws what is heard once a second until there is a report, which ``s`` stops and ``x`` exports."""

    KEEP_ON: ClassVar = "Continue"
    KEYS: ClassVar[tuple[KeyCommand, ...]] = keys("report.more report.less chart.zoom")

    def __init__(self, heading: str) -> None:
        super().__init__(SeriesControl())
        self.heading = heading
        self._is_report_shown = False
        self._meter: Callable[[], MachineNow | None] = lambda: None
        self._hang_up = HangUp(self.control.cancel)

    def compose(self) -> ComposeResult:
        with Pane(f"sharebench · {self.heading}"):
            yield Static(id="now", classes="answer")
            yield Static(id="machine")
            yield Static(id="warnings")
            with VerticalScroll(id="run-box"):
                yield FiguresView(id="run-text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#run-box").focus()
        self.begin()

    def begin(self) -> None:
        self.listen(self.events, every_seconds=REDRAW_SECONDS)
        self.draw()

    def listen(self, events: Callable[[], Iterable[tuple[int, Any]]], *, every_seconds: float) -> None:
        """As every recording screen; where the terminal is closed meanwhile, what is on the server is cleaned first."""
        self._hang_up.watch()
        super().listen(partial(self._hang_up.to_the_end, events), every_seconds=every_seconds)

    @on(MeasurementEnded)
    def _nothing_to_clean(self) -> None:
        self._hang_up.unwatch()

    def on_unmount(self) -> None:
        self._hang_up.unwatch()

    def events(self) -> Iterator[tuple[int, Any]]:
        raise NotImplementedError

    def watch_machine(self, target: Target) -> None:
        self._meter = self.context.backend.meter(target)

    def now(self) -> str:
        raise NotImplementedError

    def headline(self) -> Content:
        return Content(visible(self.now()))

    def warnings(self) -> str:
        return ""

    def heard_text(self, width: int) -> str:
        raise NotImplementedError

    def tick(self) -> None:
        self.catch_up()
        if not self.is_covered:
            self.draw()

    def draw(self) -> None:
        if self._is_report_shown:
            return
        stopping = self.control.cancelled.is_set() and not self.is_over
        self._say("#now", Content("Stopping …" if stopping else visible(self.now())))
        self._say("#warnings", Content(visible(self.warnings())))
        machine = None if self.is_over else self._meter()
        self._say("#machine", Content("" if machine is None else machine_line(machine, self.size.width)))
        self.query_one("#run-text", FiguresView).show(lambda width, _height: self.heard_text(width))

    def _say(self, place: str, said: Content) -> None:
        line = self.query_one(place, Static)
        if line.content != said:
            line.update(said)
            line.display = bool(said.plain)

    def show_report(self, report: Report) -> None:
        self.report = report
        self._is_report_shown = True
        self._say("#now", self.headline())
        self._say("#warnings", Content(visible(self.warnings())))
        self._say("#machine", Content(""))
        self.show_again()
        self.query_one("#run-box").scroll_home(animate=False)
        self.refresh_bindings()

    def show_again(self) -> None:
        assert self.report is not None
        view = self.query_one("#run-text", FiguresView)
        view.show_chart(partial(view.figures, self.of_now(self.report)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"stop", "finish"}:
            return not self.is_over
        is_detailed = self._is_report_shown and self.report is not None and self.report.brief != self.report
        if action == "more" and not is_detailed:
            return False
        if action == "export":
            return self.report is not None
        return self._is_report_shown if action == "next" else super().check_action(action, parameters)


class MeasurementScreen(ReportRunScreen, RecordingGoesOn):
    """Measures what a form asks for; a refused login is asked for again, and the report takes the events' place."""

    HEADING: ClassVar[str]
    doing = "Looking at the server …"

    def __init__(self, request: Any, resumed: Any = None) -> None:
        super().__init__(self.heading_of(request))
        self.request, self.resumed = request, resumed
        self.record: Any = None
        self.is_closed = False
        self.is_broken_off = False
        self.problems: list[str] = []

    @staticmethod
    def to_resume(record: Any, secrets: Secrets, typed: Mapping[str, Any], /) -> Any:
        """The request that completes a stored recording; ``typed`` is what stands in the form. Raises UsageError."""
        raise NotImplementedError

    @staticmethod
    def report_of(record: Any, /) -> Report:
        raise NotImplementedError

    @classmethod
    def heading_of(cls, request: Any) -> str:
        return f"{cls.HEADING} · {place(request.target)}"

    def now(self) -> str:
        return "Nothing was measured." if self.is_over and not self.is_closed else self.doing

    def targets(self) -> Sequence[Target]:
        return [self.request.target]

    def steps(self) -> Iterator[Any]:
        raise NotImplementedError

    def events(self) -> Iterator[tuple[int, Any]]:
        return ((0, step) for step in self.steps())

    def refusal(self, error: Exception | None) -> str:
        return str(error) if isinstance(error, LoginError) else ""

    def result(self) -> Report | None:
        return self.report_of(self.record) if self.is_closed else None

    def measurement_ended(self, error: Exception | None) -> None:
        def again(secrets: Secrets) -> None:
            show = self.app.push_screen if self.is_covered else self.app.switch_screen
            show(type(self)(replace(self.request, secrets=secrets), self.resumed))

        self.is_broken_off = error is not None
        why = self.refusal(error)
        if not (why and log_in_again(self, self.targets(), why, again)) and error is not None:
            self.draw()
            below = self.app.screen_stack[-2]
            tells: BaseScreen = self
            if self.record is None and not self.is_covered and isinstance(below, BaseScreen):
                self.dismiss()  # there is nothing to see here, and what was typed is below
                tells = below
            if not isinstance(error, CancelledError):
                tells.work_failed(error)
            elif self.record is None:
                self.app.notify("Nothing was measured.", title="Stopped")
        if (report := self.result()) is not None:
            self.recorded = (self.record.id,)
            self.show_report(report)
        else:
            self.draw()
            self.refresh_bindings()
