"""A report to read, copy and export."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from app.tui.export import ExportScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.clipboard import Copies
from app.tui.widgets.columns import in_columns
from forms.exporters.text import report_text
from forms.report import Report
from forms.wording import plain
from storage.notebook import Notebook


class ReportScreen(Copies):
    """One report, as the command line prints it."""

    ABOUT = "A report from the notebook. Up and down scroll."
    KEYS: ClassVar[tuple[KeyCommand, ...]] = (
        KeyCommand("report.export", "x", "Export", "Write it to a file.", footer="Export"),
    )
    DEFAULT_CSS = """
    ReportScreen #headline { height: auto; max-height: 3; padding: 0 1; text-style: bold; display: none; }
    ReportScreen VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
    ReportScreen.-narrow VerticalScroll { scrollbar-size-vertical: 0; }
    """

    def __init__(self, heading: str, read: Callable[[Notebook], Report]) -> None:
        """``heading`` is what the title line says; ``read`` gives the report."""
        super().__init__()
        self.heading, self.read = heading, read
        self.report: Report | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="headline")
        with VerticalScroll(id="report-box", classes="pane") as box:
            box.border_title = Content(f"sharebench · {plain(self.heading)}")
            yield AnsiView(id="report")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#report-box").focus()
        self.with_notebook(self.read, self.show)

    def show(self, report: Report) -> None:
        """Show it from now on."""
        self.report = report
        box = self.query_one("#report-box")
        self.query_one("#report", AnsiView).show(
            lambda width, _height: in_columns(lambda column: self.text_of(report, column), width, box.size.height)
        )

    def text_of(self, report: Report, width: int) -> str:
        """How it is written for a width."""
        return report_text(report, width=width, ansi=True)

    def text_to_copy(self) -> str:
        return report_text(self.report) if self.report else ""

    def action_export(self) -> None:
        if self.report is not None:
            report = self.report
            self.app.push_screen(ExportScreen(gather=lambda _: [report], name=self.heading))
