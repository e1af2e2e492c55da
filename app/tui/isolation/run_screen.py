"""An isolation while it is measured, and what it found."""

from collections.abc import Iterator
from typing import Any, ClassVar

from app.isolation.request import IsolationRequest
from app.isolation.rounds import IsolationClosed, IsolationOpened, IsolationProblem, LayerRunEnded, LayerRunStarted
from app.tui.frame.commands import KeyCommand
from app.tui.widgets.report_run_screen import ReportRunScreen
from app.workflows.isolate import record_isolation
from forms.isolation.report import isolation_report
from forms.isolation.words import clients_text
from forms.numbers import byte_rate
from forms.wording import place, plain
from storage.isolations import Isolation

REDRAW_SECONDS = 1.0
"""The screen is drawn no more often while a run is timed."""


class IsolationRunScreen(ReportRunScreen):
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
    STOP_TEXT = (
        "It is not done. What was measured is kept and can be completed later; the server is put back as it was."
    )
    QUIT_TEXT = "An isolation is under way. What was measured is kept, and the server is put back as it was."

    def __init__(self, request: IsolationRequest) -> None:
        super().__init__(f"Isolation · {place(request.target)}")
        self.request = request
        self.isolation: Isolation | None = None
        self._now = "Looking at the server …"
        self._lines: list[str] = []
        self._runs = 0

    def events(self) -> Iterator[tuple[int, Any]]:
        for event in record_isolation(self.request, self.context.notebook_path, self.control):
            yield 0, event

    def heard(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one isolation
        match event:
            case IsolationOpened(runs=runs):
                self._runs = runs
            case LayerRunStarted(layer=layer, clients=clients, number=number):
                self._now = f"Run {number} of {max(number, self._runs)}: {layer}, {clients_text(clients)} …"
            case LayerRunEnded(run=run):
                told = plain(run.error) if run.error else byte_rate(run.bytes_per_second)
                self._lines.append(f"{run.layer}, {clients_text(run.clients)}, round {run.round}: {told}")
            case IsolationProblem(text=text):
                self._lines.append(plain(text))
            case IsolationClosed(isolation=isolation):
                self.isolation = isolation

    def now(self) -> str:
        return self._now

    def heard_text(self, width: int) -> str:  # noqa: ARG002  its lines are short
        return "\n".join(reversed(self._lines))

    def ended(self, error: Exception | None) -> None:
        if error is not None:
            self.work_failed(error)
        if self.isolation is None:
            return
        report = isolation_report(self.isolation)
        verdict = next(field.text for field in report.results if field.name == "Verdict")
        self.show_report(report, f"{self.isolation.error}. {verdict}" if self.isolation.error else verdict)
