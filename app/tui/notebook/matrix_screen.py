"""Several series against the first of them: the verdicts, and the table of protocols and commands."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Label

from app.tui.export import ExportScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.clipboard import Copies
from forms.comparison.report import comparison_report
from forms.exporters.text import WIDTH, report_text
from forms.report import Report

EXPORT = KeyCommand(
    id="table.export", keys="x", action="export", name="Export", footer="Export", help="Write the comparison to a file."
)


class TableScreen(Copies):
    """More than two series as a matrix of commands and protocols, and the verdict on each."""

    ABOUT = (
        "Several series: get and put down, the protocols across, each with its share of FTP; then a verdict for each:"
        " gets against the first get marked, puts against the first put. Up and down scroll."
    )
    KEYS = (EXPORT,)
    DEFAULT_CSS = """
    TableScreen VerticalScroll { height: 1fr; padding-left: 1; scrollbar-size-vertical: 1; }
    TableScreen.-narrow VerticalScroll { padding: 0; scrollbar-size-vertical: 0; }
    """

    def __init__(self, ids: Sequence[str]) -> None:
        """``ids`` are the series, the base first."""
        super().__init__()
        self.ids = tuple(ids)
        self.report: Report | None = None

    def compose(self) -> ComposeResult:
        """The table and the verdicts."""
        yield Label("sharebench · Compare", classes="title-line")
        with VerticalScroll(id="table-box"):
            yield AnsiView(id="table")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the series."""
        self.query_one("#table-box").focus()
        ids = self.ids
        self.with_notebook(lambda notebook: comparison_report([notebook.series(each) for each in ids]), self._show)

    def _show(self, report: Report) -> None:
        self.report = report
        self.query_one("#table", AnsiView).show(
            lambda width, _height: report_text(report, width=min(width, WIDTH), ansi=True)
        )

    def text_to_copy(self) -> str:
        """The comparison as the command line prints it."""
        return report_text(self.report) if self.report else ""

    def action_export(self) -> None:
        """Write it to a file."""
        if self.report is not None:
            report = self.report
            self.bench.push_screen(ExportScreen(gather=lambda _: [report], name="comparison"))
