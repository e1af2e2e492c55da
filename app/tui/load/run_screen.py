"""A load while it runs, and its form at the end."""

from collections.abc import Iterator
from dataclasses import replace
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.errors import LoginError
from app.tui.frame.commands import KeyCommand
from app.tui.load.progress import LoadProgressState
from app.tui.widgets.login import log_in_again
from app.tui.widgets.report_run_screen import ReportRunScreen
from app.tui.widgets.toned import joined
from app.workflows.load import LoadRequest, LoadStep
from forms.load.headline import load_headline
from forms.load.report import load_report
from forms.report import Report
from forms.series.summary import GAP
from storage.loads.records import Load
from storage.records import SeriesStatus


class LoadRunScreen(ReportRunScreen):
    """Runs a load point by point, then shows its form."""

    ABOUT = (
        "Users log in (ramp), work a while (settle), and then what they do counts (steady). Each point that ended is"
        " kept. At the end stand the form, the capacity and what stood in the way. Up and down scroll."
    )
    KEYS: ClassVar = (
        KeyCommand(
            "load.finish", "s", "End after this point", "Measure this number of users and no further one.",
            footer="End after point",
        ),
        KeyCommand("load.export", "x", "Export", "Write the load's form to a file.", footer="Export"),
    )  # fmt: skip
    STOP_HEADING = "Stop the load?"
    STOP_TEXT = "The load is not done. Finished points are kept, and the scenario's files are removed."
    QUIT_TEXT = "A load is under way. Finished points are kept, and the scenario's files are removed."

    def __init__(self, request: LoadRequest, resumed: Load | None = None) -> None:
        """``resumed`` is the stored load to go on with; None for a new one."""
        super().__init__(f"Load {request.scenario.name}")
        self.request = request
        self.resumed = resumed
        self.state = LoadProgressState()
        self._finishing = False
        self._is_broken_off = False
        """Whether an error ended it before it could be closed."""

    def events(self) -> Iterator[tuple[int, LoadStep]]:
        self.watch_machine(self.request.targets[0])
        for step in self.context.backend.load(self.request, self.context.notebook_path, self.control, self.resumed):
            yield 0, step

    def heard(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one load
        """Keep what the step says."""
        self.state = self.state.heard(event)
        if self.state.load is not None and self.state.load.points:
            closed = self.state.closed
            self.report = load_report(self.state.load, closed.prediction if closed else None)

    def now(self) -> str:
        closed = self.state.closed
        if closed is not None and not closed.stored:
            return "Nothing was measured."
        if closed is not None or self._is_broken_off:
            return "The load has ended."
        return self.state.now(monotonic(), is_last=self._finishing)

    def headline(self) -> Content:
        """What the points come to, and whether that is all of them."""
        return joined(load_headline(self.state.load), GAP) if self.state.load is not None else super().headline()

    def warnings(self) -> str:
        closed, told = self.state.closed, self.state.told()
        if closed is not None and closed.stored and closed.load.status is not SeriesStatus.COMPLETE:
            return f"{told}{'. ' if told else ''}It stopped early: go back, and Ctrl+L lists it to be gone on with."
        return told

    def heard_text(self, width: int) -> str:
        return self.state.text(width)

    def ended(self, error: Exception | None) -> None:
        """Show the form, whatever became of it."""
        if error is not None:
            self._is_broken_off = True
            self.draw()
            self.work_failed(error)
        closed = self.state.closed
        if closed is not None and closed.failure is not None and closed.failure.kind == LoginError.__name__:
            stopped = closed.load if closed.stored else self.resumed
            log_in_again(
                self, self.request.targets, closed.failure.text,
                lambda secrets: self.begin_again(LoadRunScreen(replace(self.request, secrets=secrets), stopped)),
            )  # fmt: skip
        if self.report is not None and closed is not None:
            self.show_report(self.report)
        else:
            self.refresh_bindings()

    def action_finish(self) -> None:
        self._finishing = True
        self.control.finish_after_run()
        self.draw()

    def export_name(self, report: Report) -> str:
        return f"load-{report.name}"
