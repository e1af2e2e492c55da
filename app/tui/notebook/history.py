"""The history of one path: its curve, its levels, and where a person says that a new normal begins."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from app.charts.series_charts import curve_chart as drawn
from app.tui.frame.commands import KeyCommand, keys
from app.tui.frame.dialogs import PickDialog
from app.tui.frame.parts import KeyBar
from app.tui.widgets.reading import ReportScreen
from app.tui.widgets.views import ZOOM, AnsiView, ChartView, ZoomsCharts, content_of
from app.workflows.watch import MOST_SHOWN, history_of_recording
from forms import wording
from forms.layout import Toned
from forms.report import Report
from forms.watch.history import History, history_chart, history_report, history_sentence
from storage.notebook import Notebook
from storage.records import to_minute

_LISTED = 50


class HistoryScreen(ReportScreen, ZoomsCharts):
    """All recordings of one path over time."""

    KEYS: ClassVar[tuple[KeyCommand, ...]] = (*keys("history.normal history.line"), ZOOM)
    DEFAULT_CSS = """
    HistoryScreen #curve { height: 1fr; min-height: 8; }
    HistoryScreen #report-box { height: 1fr; }
    """

    def __init__(self, reference: str) -> None:
        super().__init__("History", self._read)
        self.reference = reference
        self.history: History | None = None
        self._line = -1

    def compose(self) -> ComposeResult:
        yield Static(id="headline")
        yield ChartView(id="curve")
        with VerticalScroll(id="report-box", classes="pane"):
            yield AnsiView(id="report")
        yield KeyBar()

    def _read(self, notebook: Notebook) -> Report:
        self.history = history_of_recording(notebook, self.reference, most=MOST_SHOWN)
        return history_report(self.history)

    def show(self, report: Report) -> None:
        super().show(report)
        history = self.history
        assert history is not None
        self.heading = f"History · {history.command or 'loads'} {history.subject}"
        self.title_is(self.heading)
        headline = self.query_one("#headline", Static)
        headline.update(content_of(Toned(history_sentence(history), report.fields[0].tone)))
        headline.display = True
        self._draw()

    def _draw(self) -> None:
        history = self.history
        assert history is not None
        chart = history_chart(history.lines[self._line % len(history.lines)], history)
        self.query_one("#curve", ChartView).show_chart(
            lambda width, height, zoomed: drawn(chart, width, height, zoomed=zoomed)
        )

    def text_of(self, report: Report, width: int) -> str:  # noqa: ARG002  it lists fewer than an export
        assert self.history is not None
        return super().text_of(history_report(self.history, newest=_LISTED), width)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"line", "normal"}:
            return self.history is not None and (action == "normal" or len(self.history.lines) > 1)
        return super().check_action(action, parameters)

    def action_line(self) -> None:
        self._line += 1
        self._draw()

    def action_normal(self) -> None:
        history = self.history
        assert history is not None
        points = {one.recording: one for line in history.lines for one in line.points}
        rows = []
        for one in sorted(points.values(), key=lambda one: one.created_at, reverse=True):
            said = f"{one.average:,.1f} requests/s" if history.of_loads else wording.rate(one.average)
            rows.append((one.recording, f"{'●' if one.new_normal else ' '} {to_minute(one.created_at)}  {said}"))

        def chosen(recording: str | None) -> None:
            if recording is not None:
                on = not points[recording].new_normal
                self.with_notebook(
                    lambda notebook: notebook.set_new_normal(recording, on=on),
                    lambda _: self.with_notebook(self.read, self.show),
                )

        about = "From this recording on the level is the usual one. Enter sets or removes the mark."
        self.app.push_screen(PickDialog("New normal", rows, about=about), chosen)
