"""Screens that measure what a form asks for: what is heard meanwhile, and then the report."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from app.base import errors
from app.clients.base import Secrets
from app.recording.process import SeriesControl
from app.server.machine_meter import MachineNow
from app.tui.frame import commands
from app.tui.frame.base import BaseScreen
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.widgets import recording, views
from app.tui.widgets.exports import Exports
from app.tui.widgets.hang_up import HangUp
from app.tui.widgets.logins import log_in_again
from app.tui.widgets.reading import RecordingGoesOn
from forms.layout import visible
from forms.report import Report
from forms.wording import place
from storage.records import Target


def run_keys(name: str, stop: str, *, noun: str = "") -> tuple[commands.KeyCommand, commands.KeyCommand]:
    """The keys that stop a measurement and export its report; ``stop`` is what F1 help says of the first.

    ``name`` begins the ids of both; ``noun`` is what people call the measurement, where that is another word.
    """
    return (
        commands.KeyCommand(f"{name}.stop", "s", "Stop", stop),
        commands.KeyCommand(f"{name}.export", "x", "Export", f"Write the {noun or name} to a file."),
    )


def _no_machine() -> MachineNow | None:
    return None


class ReportRunScreen(recording.RecordingScreen, Exports, views.ShowsMore, views.ZoomsCharts):
    """The base of screens that measure and then show a report; ``s`` stops it, ``x`` exports the report.

    Hooks of a subclass:

    - ``events``: called once, in the thread that measures (see :class:`~app.tui.widgets.recording.RecordingScreen`);
    - ``now``, ``warnings``, ``draw_heard``: called once a second until ``show_report`` is;
    - ``headline``: called by ``show_report``, which the subclass calls when the measurement has ended.

    All but ``events`` are called in the screen's own thread. Those of the base are hooks too: ``take_event``,
    ``measurement_ended``. After ``show_report``, ``draw`` does nothing more.
    """

    KEEP_ON: ClassVar = "Continue"
    KEYS: ClassVar[tuple[commands.KeyCommand, ...]] = commands.keys("report.more report.less chart.zoom")

    def __init__(self, heading: str) -> None:
        super().__init__(SeriesControl())
        self.heading = heading
        self._is_report_shown = False
        # What says how busy this machine is; nothing until ``watch_machine``.
        self._meter: Callable[[], MachineNow | None] = _no_machine
        self._hang_up = HangUp(self.control.cancel)
        """Cancels where the terminal is closed, and lets the measurement clean up before sharebench ends."""

    def compose(self) -> ComposeResult:
        with Pane(f"sharebench · {self.heading}"):
            yield Static(id="now", classes="answer")
            yield Static(id="machine")
            yield Static(id="warnings")
            with VerticalScroll(id="run-box"):
                yield views.FiguresView(id="run-text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#run-box").focus()
        self.begin()

    def begin(self) -> None:
        """Called when the screen is shown: measure at once; a subclass may ask for something first."""
        self.listen(self.events, every_seconds=recording.REDRAW_SECONDS)
        self.draw()

    def listen(self, events: Callable[[], Iterable[tuple[int, Any]]], *, every_seconds: float) -> None:
        """As every recording screen; where the terminal is closed meanwhile, what is on the server is cleaned first."""
        self._hang_up.watch()
        super().listen(partial(self._hang_up.to_the_end, events), every_seconds=every_seconds)

    @on(recording.MeasurementEnded)
    def _nothing_to_clean(self) -> None:
        self._hang_up.unwatch()

    def on_unmount(self) -> None:
        self._hang_up.unwatch()

    def events(self) -> Iterator[tuple[int, Any]]:
        """What happens, each event with the place of its series, while it is measured."""
        raise NotImplementedError

    def watch_machine(self, target: Target) -> None:
        """Show from now on how busy this machine is, and the card by which the target is reached."""
        self._meter = self.context.backend.meter(target)

    def now(self) -> str:
        """What happens now, in one line."""
        raise NotImplementedError

    def headline(self) -> Content:
        """What stands above the report."""
        return Content(visible(self.now()))

    def warnings(self) -> str:
        """What may spoil the measurement, in one line; empty where nothing does."""
        return ""

    def draw_heard(self, width: int) -> str:
        """What was heard so far, in lines of this width."""
        raise NotImplementedError

    def tick(self) -> None:
        """Take the events that wait, and draw, unless a dialog covers it."""
        self.catch_up()
        if not self.is_covered:
            self.draw()

    def draw(self) -> None:
        if self._is_report_shown:
            return

        is_stopping = self.control.cancelled.is_set() and not self.is_over
        self._show_line("#now", Content("Stopping …" if is_stopping else visible(self.now())))
        self._show_line("#warnings", Content(visible(self.warnings())))

        machine = None if self.is_over else self._meter()
        machine_text = "" if machine is None else recording.machine_line(machine, self.size.width)
        self._show_line("#machine", Content(machine_text))

        def draw_heard(width: int, _height: int) -> str:
            return self.draw_heard(width)

        self.query_one("#run-text", views.FiguresView).show(draw_heard)

    def _show_line(self, selector: str, content: Content) -> None:
        line = self.query_one(selector, Static)
        if line.content != content:
            line.update(content)
            line.display = bool(content.plain)

    def show_report(self, report: Report) -> None:
        self.report = report
        self._is_report_shown = True
        self._show_line("#now", self.headline())
        self._show_line("#warnings", Content(visible(self.warnings())))
        self._show_line("#machine", Content(""))
        self.show_again()
        self.query_one("#run-box").scroll_home(animate=False)
        self.refresh_bindings()

    def show_again(self) -> None:
        """Draw the report as the keys say now: with or without its statistics."""
        assert self.report is not None
        view = self.query_one("#run-text", views.FiguresView)
        view.show_chart(partial(view.figures, self.of_now(self.report)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"stop", "finish"}:
            return not self.is_over
        if action == "export":
            return self.report is not None
        if action == "next":
            return self._is_report_shown
        if action == "more" and not self._has_more_to_show():
            return False
        return super().check_action(action, parameters)

    def _has_more_to_show(self) -> bool:
        """Whether the report has statistics that its brief form leaves out."""
        return self._is_report_shown and self.report is not None and self.report.brief != self.report


class MeasurementScreen(ReportRunScreen, RecordingGoesOn):
    """Measures what a form asks for, or resumes a record; a refused login is asked for again.

    A subclass writes HEADING, ``to_resume``, ``report_of``, ``steps`` and ``take_event``. ``take_event`` keeps
    ``record``, ``doing``, ``problems`` and ``is_closed`` up to date: there is a report only once ``is_closed`` is set.
    """

    HEADING: ClassVar[str]
    doing = "Looking at the server …"
    """What happens now, in one line."""

    def __init__(self, request: Any, resumed: Any = None) -> None:
        super().__init__(self.heading_of(request))
        self.request = request
        self.resumed = resumed
        """The stored record that is completed; None for a new one."""
        self.record: Any = None
        """As it is stored so far; None before it is opened."""
        self.is_closed = False
        """Whether the record has come to its end, and is stored so."""
        self.is_broken_off = False
        """Whether an error ended the measurement."""
        self.problems: list[str] = []
        """What the recorder has warned of, for people."""

    @staticmethod
    def to_resume(record: Any, secrets: Secrets, typed: Mapping[str, Any], /) -> Any:
        """The request that completes a stored recording; ``typed`` is what stands in the form. Raises UsageError."""
        raise NotImplementedError

    @staticmethod
    def report_of(record: Any, /) -> Report:
        """Called once, when the record is closed."""
        raise NotImplementedError

    @classmethod
    def heading_of(cls, request: Any) -> str:
        return f"{cls.HEADING} · {place(request.target)}"

    def now(self) -> str:
        return "Nothing was measured." if self.is_over and not self.is_closed else self.doing

    def targets(self) -> Sequence[Target]:
        return [self.request.target]

    def steps(self) -> Iterator[Any]:
        """Measure: called once, in the thread; yields the events of the recorder."""
        raise NotImplementedError

    def events(self) -> Iterator[tuple[int, Any]]:
        return ((0, step) for step in self.steps())

    def refusal(self, error: Exception | None) -> str:
        """Why the server refused the login; empty where it did not."""
        return str(error) if isinstance(error, errors.LoginError) else ""

    def result(self) -> Report | None:
        """The report; None where the record did not come to its end."""
        return self.report_of(self.record) if self.is_closed else None

    def measurement_ended(self, error: Exception | None) -> None:
        self.is_broken_off = error is not None
        refusal = self.refusal(error)
        is_asked_again = bool(refusal) and log_in_again(self, self.targets(), refusal, self._measure_again)
        if error is not None and not is_asked_again:
            self._tell_failure(error)

        report = self.result()
        if report is not None:
            self.recorded = (self.record.id,)
            self.show_report(report)
        else:
            self.draw()
            self.refresh_bindings()

    def _measure_again(self, secrets: Secrets) -> None:
        show = self.app.push_screen if self.is_covered else self.app.switch_screen
        show(type(self)(replace(self.request, secrets=secrets), self.resumed))

    def _tell_failure(self, error: Exception) -> None:
        """Tell the error above this screen; above the one below where nothing was begun here."""
        self.draw()
        teller: BaseScreen = self
        screen_below = self.app.screen_stack[-2]
        if self.record is None and not self.is_covered and isinstance(screen_below, BaseScreen):
            self.dismiss()  # there is nothing to see here, and what was typed is below
            teller = screen_below

        if not isinstance(error, errors.CancelledError):
            teller.work_failed(error)
        elif self.record is None:
            self.app.notify("Nothing was measured.", title="Stopped")
