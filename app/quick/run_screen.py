"""The screen of a quick test under way: its table, which fills line by line, and the form at the end."""

from collections.abc import Iterator
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.quick import measurement, plan, record, spec
from app.recording.process import Warned
from app.tui.widgets import report_run
from app.tui.widgets.reading import GoesOn
from app.tui.widgets.views import join_toned
from forms import layout, wording
from forms.quick import report, summary
from forms.report import Report
from storage.quick import records as quick_records
from storage.records import Command

_NAME_CELLS = 11
_CELLS = 34
"""Of the figures of one direction, so that two stand side by side in 80."""
_HEADINGS = f"{'MB/s':>10} {'IOPS':>12} {'ms':>10}"


class QuickRunScreen(report_run.MeasurementScreen):
    """The hooks of `MeasurementScreen`, for a quick test: that class says when each is called, and what it keeps.

    ``steps`` runs in the thread that measures, all others in the screen's own.
    """

    KEYS: ClassVar = (
        *GoesOn.KEYS,
        *report_run.run_keys(
            "quick", "Stop, remove the file that was made, keep the lines that were measured.", noun="quick test"
        ),
    )
    STOP_HEADING = "Stop the quick test?"
    STOP_TEXT = "It is not done. The lines that were measured are kept, and the file that was made is removed."
    QUIT_TEXT = "A quick test is running. Its measured lines are kept, and the file that was made is removed."

    HEADING = "Quick test"
    doing = "Connecting …"
    report_of = staticmethod(report.quick_report)

    def __init__(self, request: spec.QuickRequest, resumed: quick_records.Quick | None = None) -> None:
        super().__init__(request, resumed)
        self.line_began: plan.LineBegan | None = None
        """The line that is measured; None before the first."""
        self.line_began_at = 0.0
        """When it began (monotonic clock)."""
        self.closed: measurement.QuickClosed | None = None
        """How it ended; None before."""

    def steps(self) -> Iterator[Any]:
        return record.record_quick(self.request, self.context.notebook_path, self.control)

    def take_event(self, index: int, event: Any) -> None:
        match event:
            case plan.LineBegan():
                self.line_began = event
                self.line_began_at = monotonic()
                self.doing = f"{event.number} of {event.of}: {event.line.quoted_name}"
            case measurement.QuickOpened(quick=quick):
                self.record = quick
                self.doing = "Making the file …"
            case measurement.QuickChanged(quick=quick):
                self.record = quick
            case Warned(text=text):
                self.problems.append(text)
            case measurement.QuickClosed():
                self.record = event.quick
                self.closed = event
                self.is_closed = True

    def now(self) -> str:
        """What is measured, and how long the rest will take at most, counted down."""
        if self.line_began is None or self.is_over:
            return super().now()
        line_seconds = spec.RUNS * self.request.run_seconds
        later_lines = self.line_began.of - self.line_began.number
        passed_seconds = min(line_seconds, monotonic() - self.line_began_at)
        seconds_left = line_seconds * (later_lines + 1) - passed_seconds
        return f"{super().now()}; {wording.duration(seconds_left)} left at most"

    def result(self) -> Report | None:
        return report.quick_report(self.record, self.closed.since) if self.closed else None

    def headline(self) -> Content:
        answer = self.report.answer if self.report else None
        return join_toned([layout.Toned(answer.text, answer.tone)], "") if answer else Content("")

    def warnings(self) -> str:
        return "\n".join(map(wording.plain, self.problems))

    def draw_heard(self, width: int) -> str:
        """The table of the four lines, reads beside writes, as far as they are measured."""
        quick: quick_records.Quick | None = self.record
        if quick is None:
            return ""

        lines = layout.hanging(f"File: {report.file_text(quick)}", width) if quick.file_bytes else []
        lines += ["", f"{'':{_NAME_CELLS}}{'Read':>{_CELLS}} {'Write':>{_CELLS}}"]
        lines.append(f"{'':{_NAME_CELLS}}{_HEADINGS} {_HEADINGS}")
        for access in quick_records.ACCESSES:
            cells = [_cells(quick, quick.line(access, command)) for command in Command]
            lines.append(f"{access.quoted_name:{_NAME_CELLS}}{' '.join(cells)}")
        return "\n".join(lines)


def _cells(quick: quick_records.Quick, line: quick_records.QuickLine | None) -> str:
    figures = summary.line_figures(quick, line) if line else None
    if figures is None:
        return f"{'·':>10} {'':>12} {'':>10}"
    rate = wording.megabytes(figures.bytes_per_second)
    request_milliseconds = 1000 * (figures.request_seconds or 0.0)
    return (
        f"{rate:>10,.1f} {figures.operations_per_second:>12,.0f} {wording.cell_milliseconds(request_milliseconds):>10}"
    )
