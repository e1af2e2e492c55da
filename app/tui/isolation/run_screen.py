"""An isolation while it is measured, and what it found."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.errors import LoginError
from app.isolation.request import IsolationRequest
from app.isolation.rounds import IsolationClosed, IsolationOpened, IsolationProblem, LayerRunEnded, LayerRunStarted
from app.tui.frame.commands import KeyCommand
from app.tui.widgets.login import log_in_again
from app.tui.widgets.report_run_screen import ReportRunScreen
from app.tui.widgets.toned import joined
from app.workflows.isolate import record_isolation
from forms.exporters.text import table_lines
from forms.isolation.report import isolation_report, layers_table
from forms.isolation.summary import isolation_summary
from forms.isolation.words import clients_text, verdict_sentence
from forms.layout import Tone, Toned, hanging
from forms.series.progress import duration
from forms.wording import byte_rate, place, plain
from storage.isolations import Isolation
from storage.records import RunStatus, SeriesStatus

_WITH_WARM_UP = 1.2
"""Of a run's seconds, so many until the next one: what is expected before the first has ended."""


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

    def __init__(self, request: IsolationRequest, resumed_id: str | None = None) -> None:
        """``resumed_id`` is the stored isolation to complete; None for a new one."""
        super().__init__(f"Isolation · {place(request.target)}")
        self.request = request
        self.resumed_id = resumed_id
        self.isolation: Isolation | None = None
        """As it was opened, with the runs that ended since; at the end as it is stored."""
        self.is_closed = False
        """Whether that is its end."""
        self._now = "Looking at the server …"
        self._problems: list[str] = []
        self._runs = 0
        self._begun = 0
        """How many runs have begun."""
        self._run_seconds: list[float] = []
        """What each run took, beginning to beginning."""
        self._began_at = 0.0

    def events(self) -> Iterator[tuple[int, Any]]:
        self.watch_machine(self.request.target)
        path = self.context.notebook_path
        for event in record_isolation(self.request, path, self.control, self.resumed_id):
            yield 0, event

    def heard(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one isolation
        match event:
            case IsolationOpened(isolation=isolation, runs=runs):
                self.isolation, self._runs = isolation, runs
            case LayerRunStarted(layer=layer, clients=clients, number=number):
                if self._begun:
                    self._run_seconds.append(monotonic() - self._began_at)
                self._begun, self._began_at = number, monotonic()
                self._now = f"Run {number} of {max(number, self._runs)}: {layer}, {clients_text(clients)}"
            case LayerRunEnded(run=run):
                if self.isolation is not None:
                    self.isolation = replace(self.isolation, runs=(*self.isolation.runs, run))
                if run.error:
                    self._problems.append(f"{run.layer}, {clients_text(run.clients)}, round {run.round}: {run.error}")
            case IsolationProblem(text=text):
                self._problems.append(text)
            case IsolationClosed(isolation=isolation):
                self.isolation, self.is_closed = isolation, True

    def now(self) -> str:
        if self.is_over and not self.is_closed:
            return "Nothing was measured."
        to_come = max(0, self._runs - self._begun)
        each = fmean(self._run_seconds) if self._run_seconds else _WITH_WARM_UP * self.request.seconds
        left = each * (to_come + 1) - (monotonic() - self._began_at) if self._begun else 0.0
        return f"{self._now}, about {duration(left)} left" if left > 0 else self._now

    def headline(self) -> Content:
        """The verdict, after what ended it early."""
        assert self.isolation is not None
        return isolation_headline(self.isolation)

    def heard_text(self, width: int) -> str:
        """The table so far, as it will stand on the form, the runs that ended, and what is to be known."""
        if self.isolation is None:
            return ""
        lines: list[str] = []
        if any(run.status is RunStatus.VALID for run in self.isolation.runs):
            lines += [*table_lines(layers_table(isolation_summary(self.isolation)), width, ansi=True), ""]
        lines += [line for text in self._problems for line in hanging(f"! {plain(text)}", width)]
        ended = [run for run in reversed(self.isolation.runs) if run.status is RunStatus.VALID]
        lines += ["", "Runs, the newest first"] if ended else []
        lines += [
            f"{run.layer}, {clients_text(run.clients)}, round {run.round}: {byte_rate(run.bytes_per_second)}"
            for run in ended
        ]
        return "\n".join(lines).lstrip("\n")

    def ended(self, error: Exception | None) -> None:
        if error is not None and not (isinstance(error, LoginError) and self._log_in_again(error)):
            self.work_failed(error)
        if self.isolation is not None and self.is_closed:
            self.show_report(isolation_report(self.isolation))
        else:
            self.draw()
            self.refresh_bindings()

    def _log_in_again(self, error: LoginError) -> bool:
        return log_in_again(
            self, [self.request.target], str(error),
            lambda secrets: self.begin_again(
                IsolationRunScreen(replace(self.request, secrets=secrets), self.resumed_id)
            ),
        )  # fmt: skip


def isolation_headline(isolation: Isolation) -> Content:
    """What it is, after what ended it early."""
    verdict = verdict_sentence(isolation_summary(isolation).verdict)
    ended = f"! {isolation.status}{f': {isolation.error}' if isolation.error else ''}. "
    return joined([Toned("" if isolation.status is SeriesStatus.COMPLETE else plain(ended), Tone.CAUTION), verdict], "")
