"""All recordings of one path over time."""

from functools import partial
from typing import ClassVar

from textual.widgets import Static

from app.charts import series_charts
from app.tui.frame import commands
from app.tui.frame.dialogs import PickDialog
from app.tui.widgets import views
from app.tui.widgets.report_screen import ReportScreen
from app.watch import history as path_history
from forms import layout, wording
from forms.report import Report
from forms.watch import history as watch_history
from forms.watch import history_chart
from forms.watch import history_report as watch_history_report
from storage.notebook import Notebook
from storage.records import to_minute

_LISTED = 50
"""Rows of a history on the screen, the newest."""


class HistoryScreen(ReportScreen, views.ZoomsCharts):
    """The curve of one line of the history above its tables.

    ReportScreen calls ``_read_history`` in a thread, then ``show`` with what it returned, and ``draw_report`` each time
    that the window has another size.
    """

    history: watch_history.History
    """Of the path; filled in by ``_read_history``, in its thread, before anything is shown."""
    KEYS: ClassVar[tuple[commands.KeyCommand, ...]] = commands.keys("history.normal history.line chart.zoom")

    def __init__(self, reference: str) -> None:
        super().__init__("History", self._read_history)
        self.reference = reference
        self._line = -1
        """Which line of the history the chart shows, counted on beyond their number; at first the last one."""

    def on_mount(self) -> None:
        self.mount(views.ChartView(id="curve"), before="#report-box")

    def _read_history(self, notebook: Notebook) -> Report:
        self.history = path_history.history_of_recording(notebook, self.reference, most=path_history.MOST_SHOWN)
        return watch_history_report.history_report(self.history)

    def show(self, report: Report) -> None:
        super().show(report)
        history = self.history
        self.heading = f"History · {watch_history_report.history_name(history)}"
        self.set_pane_title(self.heading)

        headline = self.query_one("#headline", Static)
        headline.update(
            views.content_of(layout.Toned(watch_history_report.history_sentence(history), report.fields[0].tone))
        )
        headline.display = True
        self._draw_curve()

    def _draw_curve(self) -> None:
        lines = self.history.lines
        chart = history_chart.history_chart(lines[self._line % len(lines)], self.history)
        self.query_one("#curve", views.ChartView).show_chart(partial(series_charts.curve_chart, chart))

    def draw_report(self, report: Report, width: int, height: int, zoomed: bool) -> str:
        # The report itself has all rows, for exports.
        newest = watch_history_report.history_report(self.history, newest=_LISTED)
        return self.query_one(views.FiguresView).figures(newest, width, height, zoomed)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "normal":
            return self.report is not None
        if action == "line":
            return self.report is not None and len(self.history.lines) > 1
        return super().check_action(action, parameters)

    def action_line(self) -> None:
        self._line += 1
        self._draw_curve()

    def action_normal(self) -> None:
        """Ask for the recording from which on another level is the usual one, and turn its mark.

        A recording that is a point of several lines is offered once.
        """
        points: dict[str, watch_history.HistoryPoint] = {}
        for line in self.history.lines:
            points.update({point.recording: point for point in line.points})
        newest_first = sorted(points.values(), key=_created_at, reverse=True)
        rows = [(point.recording, self._describe_point(point)) for point in newest_first]

        def turn_mark(recording_id: str) -> None:
            is_new_normal = not points[recording_id].new_normal
            write = partial(_write_new_normal, recording_id=recording_id, on=is_new_normal)
            self.with_notebook(write, self._look_at_normal)

        about = "From this recording on the level is the usual one. Enter sets or removes the mark."
        self.ask(PickDialog("New normal", rows, about=about), turn_mark)

    def _look_at_normal(self, _result: None) -> None:
        self.look()

    def _describe_point(self, point: watch_history.HistoryPoint) -> str:
        mark = "●" if point.new_normal else " "
        work = self.history.counted_work
        average = wording.rate(point.average) if work == "bytes" else f"{point.average:,.1f} {work}/s"
        return f"{mark} {to_minute(point.created_at)}  {average}"


def _created_at(point: watch_history.HistoryPoint) -> str:
    return point.created_at


def _write_new_normal(notebook: Notebook, recording_id: str, *, on: bool) -> None:
    notebook.set_new_normal(recording_id, on=on)
