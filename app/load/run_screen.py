"""The screen of a load under way: what happens now, its seconds and points, and its form when it has ended."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.base import errors
from app.load.beginning import request_to_resume
from app.load.measurement import LoadStep
from app.load.progress_view import LoadProgressView
from app.load.spec import LoadRequest
from app.recording import process
from app.series.progress import prepare
from app.tui.frame.commands import keys
from app.tui.widgets.report_run import MeasurementScreen
from app.tui.widgets.views import join_toned
from forms.load.report import load_report
from forms.load.wording import load_headline
from forms.report import Report
from forms.series.wording import GAP
from storage import records
from storage.load.records import Load

PART_SECONDS = 3.0
"""What was heard is drawn again no sooner, so that drawing takes little of a processor from the users."""


class LoadRunScreen(MeasurementScreen):
    """What `MeasurementScreen` asks of a screen (its docstring says when); what the events say so far is in ``view``.

    ``now``, ``headline`` and ``result`` are answered from ``view``, so that ``doing``, ``problems`` and ``is_closed``
    are not kept. Unlike other measurements, a load has a report as soon as its first point is measured, which can be
    exported while the next is measured; only when all is over does the screen show it (``result``).
    """

    KEYS: ClassVar = keys("screen.next load.finish load.export")
    STOP_HEADING = "Stop the load?"
    STOP_TEXT = "The load is not done. Finished points are kept, and the scenario's files are removed."
    QUIT_TEXT = "A load is under way. Finished points are kept, and the scenario's files are removed."

    def __init__(self, request: LoadRequest, resumed: Load | None = None) -> None:
        super().__init__(request, resumed)
        self.view = LoadProgressView()
        self._is_last_point = False
        """Whether the user asked to end after the point that is being measured."""
        self._drawn_text = ""
        self._drawn_at = -PART_SECONDS
        self._drawn_for: object = None
        """The size, the phase and whether a second of it is known, as of the drawn text."""

    to_resume = staticmethod(request_to_resume)

    @classmethod
    def heading_of(cls, request: LoadRequest) -> str:
        return f"Load {request.scenario.name}"

    def targets(self) -> Sequence[records.Target]:
        return self.request.targets  # type: ignore[no-any-return]

    def steps(self) -> Iterator[LoadStep]:
        prepare()
        self.watch_machine(self.request.target)
        yield from self.context.backend.load(self.request, self.context.notebook_path, self.control, self.resumed)

    def take_event(self, index: int, event: Any) -> None:
        self.view = self.view.after(event)
        self.record = self.view.load
        if self.view.load is not None and self.view.load.points:
            closed = self.view.closed
            self.report = load_report(self.view.load, closed.prediction if closed else None)

    def now(self) -> str:
        closed = self.view.closed
        if closed is not None and not closed.stored:
            return "Nothing was measured."
        if closed is not None or self.is_broken_off:
            return "The load has ended."
        return self.view.now(monotonic(), is_last=self._is_last_point)

    def headline(self) -> Content:
        load = self.view.load
        return super().headline() if load is None else join_toned(load_headline(load), GAP)

    def warnings(self) -> str:
        closed = self.view.closed
        problem = self.view.problem_text()
        if closed is None or not closed.stored or closed.load.status is records.SeriesStatus.COMPLETE:
            return problem

        advice = "It stopped early. To resume it, go back and press Ctrl+L."
        return f"{problem}. {advice}" if problem else advice

    def draw_heard(self, width: int) -> str:
        height = self.query_one("#run-box").size.height
        drawn_for = (width, height, self.view.phase, self.view.latest is None)
        is_due = monotonic() >= self._drawn_at + PART_SECONDS
        if self.is_over or self._drawn_for != drawn_for or is_due:
            self._drawn_text = self.view.draw(width, height)
            self._drawn_for = drawn_for
            self._drawn_at = monotonic()
        return self._drawn_text

    def refusal(self, error: Exception | None) -> str:
        """Why the login was refused, which the screen then asks for anew; empty where it was not."""
        closed = self.view.closed
        if closed is None or closed.failure is None or closed.failure.kind is not errors.LoginError:
            return super().refusal(error)
        if closed.stored:
            # After the new login this load is completed, in place of another that would be begun.
            self.resumed = closed.load
        return closed.failure.text

    def measurement_ended(self, error: Exception | None) -> None:
        if error:
            self.view = replace(self.view, seconds=())

        closed = self.view.closed
        if closed is not None and not closed.stored and self.report is None:
            # There is nothing to see here. Without a record the screen closes, and the error is told on the form that
            # it was begun on.
            self.record = None
            if error is None and closed.failure:
                error = closed.failure.error
        super().measurement_ended(error)

    def result(self) -> Report | None:
        return self.report if self.view.closed is not None else None

    def action_finish(self) -> None:
        self._is_last_point = True
        self.control.tell(process.ControlMessage.FINISH)
        self.draw()

    def export_name(self, report: Report) -> str:
        return f"load-{report.name}"
