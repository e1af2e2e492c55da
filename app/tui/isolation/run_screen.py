"""An isolation while it is measured, and what it found."""

from collections.abc import Iterator
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Label, Static

from app.isolation.request import IsolationRequest
from app.isolation.rounds import IsolationClosed, IsolationOpened, IsolationProblem, LayerRunEnded, LayerRunStarted
from app.measure.control import SeriesControl
from app.tui.export import ExportScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.recording_screen import RecordingScreen
from app.workflows.isolate import record_isolation
from forms.exporters.text import report_text
from forms.isolation.report import isolation_report
from forms.numbers import byte_rate
from forms.wording import place, plain
from storage.isolations import Isolation

REDRAW_SECONDS = 1.0
"""The screen is drawn no more often while a run is timed."""


class IsolationRunScreen(RecordingScreen):
    """Measures an isolation, a line a run, then shows its form."""

    ABOUT = (
        "The layers take turns, and each run is kept the moment it ends. At the end come the table of rates, the"
        " processors, smbd's profile, where one operation's time goes, and the verdict. Up and down scroll."
    )
    KEYS: ClassVar = (
        KeyCommand(
            "isolation.stop", "s", "Stop", "Stop, put everything back, and keep what was measured.", footer="Stop"
        ),
        KeyCommand("isolation.export", "x", "Export", "Write the isolation to a file.", footer="Export"),
    )
    STOP_HEADING = "Stop the isolation?"
    STOP_TEXT = "It is not done. What was measured is kept, the server is put back as it was; --resume completes it."
    GO_ON = "Go on"
    QUIT_TEXT = "An isolation is under way. What was measured is kept, and the server is put back as it was."
    DEFAULT_CSS = """
    IsolationRunScreen #isolation-now { height: auto; padding: 0 1; text-style: bold; }
    IsolationRunScreen #isolation-box { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def __init__(self, request: IsolationRequest) -> None:
        super().__init__(SeriesControl())
        self.request = request
        self.isolation: Isolation | None = None
        self._now = "Looking at the server …"
        self._lines: list[str] = []
        self._runs = 0

    def compose(self) -> ComposeResult:
        """What happens now, and a line a run; at the end the form."""
        yield Label(Content(f"sharebench · Isolation · {place(self.request.target)}"), classes="title-line")
        yield Static(id="isolation-now")
        with VerticalScroll(id="isolation-box"):
            yield AnsiView(id="isolation-text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#isolation-box").focus()
        self.listen(self._events, every_seconds=REDRAW_SECONDS)
        self.draw()

    def _events(self) -> Iterator[tuple[int, Any]]:
        for event in record_isolation(self.request, self.context.notebook_path, self.control):
            yield 0, event

    def heard(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one isolation
        match event:
            case IsolationOpened(runs=runs):
                self._runs = runs
            case LayerRunStarted(layer=layer, clients=clients, number=number):
                self._now = f"Run {number} of {self._runs}: {layer}, {clients} clients …"
            case LayerRunEnded(run=run):
                told = plain(run.error) if run.error else byte_rate(run.bytes_per_second)
                self._lines.append(f"{run.layer}, {run.clients} clients, round {run.round}: {told}")
            case IsolationProblem(text=text):
                self._lines.append(plain(text))
            case IsolationClosed(isolation=isolation):
                self.isolation = isolation

    def ended(self, error: Exception | None) -> None:
        if error is not None:
            self.work_failed(error)
        if self.isolation is None:
            return
        report = isolation_report(self.isolation)
        verdict = next(field.text for field in report.results if field.name == "Verdict")
        self._show_now(f"{self.isolation.error}. {verdict}" if self.isolation.error else verdict)
        self.query_one("#isolation-text", AnsiView).show(
            lambda width, _height: report_text(report, width=width, ansi=True)
        )
        self.query_one("#isolation-box").scroll_home(animate=False)
        self.refresh_bindings()

    def tick(self) -> None:
        """Show what has been heard, where it can be seen."""
        self.catch_up()
        if not self.is_covered:
            self.draw()

    def draw(self) -> None:
        """Show what has been heard, until the form itself is shown."""
        if self.isolation is not None:
            return
        self._show_now("Stopping …" if self.control.cancelled.is_set() else self._now)
        text = "\n".join(reversed(self._lines))
        self.query_one("#isolation-text", AnsiView).show(lambda _width, _height: text)

    def _show_now(self, text: str) -> None:
        line = self.query_one("#isolation-now", Static)
        if str(line.content) != text:
            line.update(Content(plain(text)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002  Textual's
        return not (self.is_over if action == "stop" else action == "export" and self.isolation is None)

    def action_export(self) -> None:
        if self.isolation is not None:
            report = isolation_report(self.isolation)
            self.sharebench_app.push_screen(ExportScreen(gather=lambda _: [report], name=report.name))
