"""What surveys, loads and isolations share while they are measured: what happens now, then the report."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from app.measure.control import SeriesControl
from app.tui.export import ExportScreen
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.columns import in_columns
from app.tui.widgets.hang_up import HangUp
from app.tui.widgets.machine_words import machine_words
from app.tui.widgets.recording_screen import MeasurementEnded, RecordingScreen
from forms.exporters.text import figures_text
from forms.layout import cut, visible
from forms.report import Report

if TYPE_CHECKING:
    from app.environment.host.meter import MachineNow
    from storage.records import Target

REDRAW_SECONDS = 1.0
"""The screen is drawn no more often while a run is timed."""


class ReportRunScreen(RecordingScreen):
    """Draws what is heard once a second until there is a report, which ``s`` stops and ``x`` exports."""

    GO_ON: ClassVar = "Go on"
    DEFAULT_CSS = """
    ReportRunScreen #now { height: auto; padding: 0 1; text-style: bold; }
    ReportRunScreen #machine { height: 1; padding: 0 1; color: $text-muted; display: none; }
    ReportRunScreen #warnings { height: auto; max-height: 3; padding: 0 1; color: $text-warning; display: none; }
    ReportRunScreen #run-box { height: 1fr; scrollbar-size-vertical: 1; }
    """

    def __init__(self, heading: str) -> None:
        super().__init__(SeriesControl())
        self.heading = heading
        self.report: Report | None = None
        """What can be exported."""
        self._is_report_shown = False
        self._meter: Callable[[], MachineNow | None] = lambda: None
        self._hang_up = HangUp(self.control.cancel)

    def compose(self) -> ComposeResult:
        """What happens now, warnings, and what was heard; at the end the report."""
        yield Static(id="now")
        yield Static(id="machine")
        yield Static(id="warnings")
        with VerticalScroll(id="run-box", classes="pane") as box:
            box.border_title = Content(f"sharebench · {visible(self.heading)}")
            yield AnsiView(id="run-text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#run-box").focus()
        self.begin()

    def begin(self) -> None:
        """What happens as soon as the screen is there: it measures."""
        self.listen(self.events, every_seconds=REDRAW_SECONDS)
        self.draw()

    def listen(self, events: Callable[[], Iterable[tuple[int, Any]]], *, every_seconds: float) -> None:
        """As every recording screen; where the terminal is closed meanwhile, what is on the server is cleaned first."""
        self._hang_up.watch()

        def to_the_end() -> Iterator[tuple[int, Any]]:
            with self._hang_up.ends_the_program():
                yield from events()

        super().listen(to_the_end, every_seconds=every_seconds)

    @on(MeasurementEnded)
    def _nothing_to_clean(self) -> None:
        self._hang_up.unwatch()

    def on_unmount(self) -> None:
        self._hang_up.unwatch()

    def begin_again(self, screen: "ReportRunScreen") -> None:
        """Have the screen that does the same anew take the place of this one, which is over."""
        if self.is_covered:
            self.app.push_screen(screen)
        else:
            self.app.switch_screen(screen)

    def events(self) -> Iterator[tuple[int, Any]]:
        """Measure: events, each with the place of its series. In a thread of its own."""
        raise NotImplementedError

    def watch_machine(self, target: "Target") -> None:
        """Say from now on what this machine and its card on the way to the target do. In the thread of the events."""
        self._meter = self.context.backend.meter(target)

    def now(self) -> str:
        """What happens now, in a line."""
        raise NotImplementedError

    def headline(self) -> Content:
        """What stands above the report: what came of it, in a line."""
        return Content(visible(self.now()))

    def warnings(self) -> str:
        """What is to be said beside it."""
        return ""

    def heard_text(self, width: int) -> str:
        """What was heard so far."""
        raise NotImplementedError

    def tick(self) -> None:
        """Show what has been heard, where it can be seen."""
        self.catch_up()
        if not self.is_covered:
            self.draw()

    def draw(self) -> None:
        """Show what has been heard, until the report is shown."""
        if self._is_report_shown:
            return
        stopping = self.control.cancelled.is_set() and not self.is_over
        self._say("#now", Content("Stopping …" if stopping else visible(self.now())))
        self._say("#warnings", Content(visible(self.warnings())))
        machine = None if self.is_over else self._meter()
        said = "" if machine is None else f"this machine: {machine_words(machine)}"
        self._say("#machine", Content(cut(said, max(0, self.size.width - 2))))
        self.query_one("#run-text", AnsiView).show(lambda width, _height: self.heard_text(width))

    def _say(self, place: str, said: Content) -> None:
        line = self.query_one(place, Static)
        if line.content != said:
            line.update(said)
            line.display = bool(said.plain)

    def show_report(self, report: Report) -> None:
        """In place of what was heard; what came of it stands above, and the figures before what they were made from."""
        self.report = report
        self._is_report_shown = True
        self._say("#now", self.headline())
        self._say("#warnings", Content(visible(self.warnings())))
        self._say("#machine", Content(""))
        box = self.query_one("#run-box")
        self.query_one("#run-text", AnsiView).show(
            lambda width, _height: in_columns(
                lambda column: figures_text(report, width=column, ansi=True), width, box.size.height
            )
        )
        box.scroll_home(animate=False)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002  Textual's
        if action in {"stop", "finish"}:
            return not self.is_over
        return action not in {"export", "next"} or self.report is not None

    def action_export(self) -> None:
        report = self.report
        if report is not None:
            self.app.push_screen(ExportScreen(gather=lambda _: [report], name=self.export_name(report)))

    def export_name(self, report: Report) -> str:
        """What its file is called."""
        return report.name
