"""What surveys, loads and isolations share while they are measured: what happens now, then the report."""

from collections.abc import Iterator
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from app.measure.control import SeriesControl
from app.tui.export import ExportScreen
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.recording_screen import RecordingScreen
from forms.exporters.text import report_text
from forms.layout import visible
from forms.report import Report

REDRAW_SECONDS = 1.0
"""The screen is drawn no more often while a run is timed."""


class ReportRunScreen(RecordingScreen):
    """Draws what is heard once a second until there is a report, which ``s`` stops and ``x`` exports."""

    GO_ON: ClassVar = "Go on"
    DEFAULT_CSS = """
    ReportRunScreen #now { height: auto; padding: 0 1; text-style: bold; }
    ReportRunScreen #warnings { height: auto; max-height: 4; padding: 0 1; color: $text-warning; }
    ReportRunScreen #run-box { height: 1fr; scrollbar-size-vertical: 1; }
    """

    def __init__(self, heading: str) -> None:
        super().__init__(SeriesControl())
        self.heading = heading
        self.report: Report | None = None
        """What can be exported."""
        self._is_report_shown = False

    def compose(self) -> ComposeResult:
        """What happens now, warnings, and what was heard; at the end the report."""
        yield Static(id="now")
        yield Static(id="warnings")
        with VerticalScroll(id="run-box", classes="pane") as box:
            box.border_title = Content(f"sharebench · {visible(self.heading)}")
            yield AnsiView(id="run-text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#run-box").focus()
        self.listen(self.events, every_seconds=REDRAW_SECONDS)
        self.draw()

    def events(self) -> Iterator[tuple[int, Any]]:
        """Measure: events, each with the place of its series. In a thread of its own."""
        raise NotImplementedError

    def now(self) -> str:
        """What happens now, in a line."""
        raise NotImplementedError

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
        self._say("Stopping …" if self.control.cancelled.is_set() and not self.is_over else self.now(), self.warnings())
        self.query_one("#run-text", AnsiView).show(lambda width, _height: self.heard_text(width))

    def _say(self, now: str, warnings: str) -> None:
        for place, text in (("#now", now), ("#warnings", warnings)):
            line = self.query_one(place, Static)
            if str(line.content) != visible(text):
                line.update(Content(visible(text)))

    def show_report(self, report: Report, now: str, warnings: str = "") -> None:
        """In place of what was heard."""
        self.report = report
        self._is_report_shown = True
        self._say(now, warnings)
        self.query_one("#run-text", AnsiView).show(lambda width, _height: report_text(report, width=width, ansi=True))
        self.query_one("#run-box").scroll_home(animate=False)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002  Textual's
        if action in {"stop", "finish"}:
            return not self.is_over
        return action not in {"export", "next"} or self.report is not None

    def action_export(self) -> None:
        report = self.report
        if report is not None:
            self.sharebench_app.push_screen(ExportScreen(gather=lambda _: [report], name=self.export_name(report)))

    def export_name(self, report: Report) -> str:
        """What its file is called."""
        return report.name
