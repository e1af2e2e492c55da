"""The screen of an isolation under way: the run that is measured, those that are, and the report at the end."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from textual.content import Content

from app.clients.base import Secrets
from app.isolation import rounds, run_lines, spec
from app.isolation.record import record_isolation
from app.isolation.run_times import RunTimes
from app.recording.process import Warned
from app.tui.widgets import report_run, views
from app.tui.widgets.reading import GoesOn
from forms import wording
from forms.isolation.report import isolation_report
from storage.isolation import Isolation


class IsolationRunScreen(report_run.MeasurementScreen):
    """The hooks of `MeasurementScreen`, for an isolation: that class says when each is called, and what it keeps.

    ``steps`` runs in the thread that measures, all others in the screen's own.
    """

    KEYS: ClassVar = (
        *GoesOn.KEYS,
        *report_run.run_keys("isolation", "Stop, remove the set-up on the server, and keep what was measured."),
    )
    STOP_HEADING = "Stop the isolation?"
    STOP_TEXT = "What was measured is kept, what was set up on the server is removed, and the isolation can be resumed."
    QUIT_TEXT = "An isolation is running. What was measured is kept, and its set-up on the server is removed."

    HEADING = "Isolation"
    report_of = staticmethod(isolation_report)

    def __init__(self, request: spec.IsolationRequest, resumed: Isolation | None = None) -> None:
        super().__init__(request, resumed)
        # What it took so far, from which the time that is left is estimated.
        self._times = RunTimes(request.rounds, request.seconds, request.within_seconds)

    @staticmethod
    def to_resume(record: Isolation, secrets: Secrets, _typed: Mapping[str, Any], /) -> spec.IsolationRequest:
        return spec.request_to_resume(record, secrets)

    def steps(self) -> Iterator[Any]:
        self.watch_machine(self.request.target)
        resumed_id = self.resumed.id if self.resumed else None
        yield from record_isolation(self.request, self.context.notebook_path, self.control, resumed_id)

    def take_event(self, index: int, event: Any) -> None:
        match event:
            case rounds.IsolationOpened(isolation=isolation, runs=runs):
                self.record = isolation
                self._times.planned = runs
            case rounds.LayerRunStarted(number=number, layer=layer, clients=clients):
                self._times.begin_run(number)
                # More than the planned runs are measured where the price of operations is not known closely yet.
                all_runs = max(number, self._times.planned)
                self.doing = f"Run {number} of {all_runs}: {layer}, {wording.count(clients, 'client')}"
            case rounds.LayerRunEnded(run=run):
                # The same run as the recorder stores; the isolation itself is told again only at its end.
                if self.record is not None:
                    self.record = replace(self.record, runs=(*self.record.runs, run))
                if run.error:
                    self.problems.append(f"{run_lines.run_name(run)}: {run.error}")
            case Warned(text=text):
                self.problems.append(text)
            case rounds.IsolationClosed(isolation=isolation):
                self.record = isolation
                self.is_closed = True

    def now(self) -> str:
        seconds_left = self._times.seconds_left()
        if self._times.begun and not self.is_over and seconds_left > 0:
            return f"{super().now()}, about {wording.duration(seconds_left)} left"
        return super().now()

    def headline(self) -> Content:
        """Why it stopped, where it did not come to its end, and the answer."""
        return views.join_toned([views.stop_reason(self.record), run_lines.answer_of(self.record)], "")

    def draw_heard(self, width: int) -> str:
        if self.record is None:
            return ""
        return "\n".join(run_lines.isolation_lines(self.record, self.problems, width))
