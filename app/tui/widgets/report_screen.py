"""A screen that shows one report of the notebook, to be read, copied and exported; the base of some others."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual import containers
from textual.app import ComposeResult
from textual.widgets import Static

from app.tui.frame import commands
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.widgets import views
from app.tui.widgets.reading import Copies
from forms.exporters.text import report_text
from forms.report import Report
from forms.wording import plain
from storage.notebook import Notebook


class ReportScreen(Copies):
    """Shows one report that is read from the notebook, in columns where there is room.

    A subclass may write ``draw_report``, called when the report is shown or the window has another size, and
    ``export_name``, called when it is exported.
    """

    KEYS: ClassVar[tuple[commands.KeyCommand, ...]] = commands.keys("report.export")

    def __init__(self, heading: str, read: Callable[[Notebook], Report]) -> None:
        super().__init__()
        self.heading = heading
        self.read = read

    def compose(self) -> ComposeResult:
        with Pane(f"sharebench · {plain(self.heading)}"):
            yield Static(id="headline", classes="answer")
            with containers.VerticalScroll(id="report-box"):
                yield views.FiguresView(id="report")
        yield KeyBar()

    def set_pane_title(self, title: str) -> None:
        self.query_one(Pane).set_title(f"sharebench · {plain(title)}")

    def on_mount(self) -> None:
        self.query_one("#report-box").focus()
        self.look()

    def look(self) -> None:
        self.with_notebook(self.read, self.show)

    def show(self, report: Report) -> None:
        self.report = report
        self.query_one("#report", views.FiguresView).show_chart(partial(self.draw_report, report))
        self.refresh_bindings()

    def draw_report(self, report: Report, width: int, height: int, zoomed: bool) -> str:
        return views.in_columns(partial(_draw_text, report), width, height)

    def export_name(self, report: Report) -> str:
        return self.heading


def _draw_text(report: Report, width: int) -> str:
    return report_text(report, width=width, ansi=True)
