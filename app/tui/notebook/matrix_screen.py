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
from app.workflows.compare import sides_to_compare
from forms.comparison.matrix import protocol_matrix
from forms.comparison.matrix_text import table_b1_text
from forms.comparison.summary import comparison_forms
from forms.comparison.text import verdict_lines
from forms.reports import comparison_reports
from storage.notebook import Notebook
from storage.records import Series

EXPORT = KeyCommand(
    id="table.export", keys="x", action="export", name="Export", footer="Export", help="Write the comparison to a file."
)


class TableScreen(Copies):
    """More than two series, in the layout of table B-1 (Using Samba)."""

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
        self.text = ""

    def compose(self) -> ComposeResult:
        """The table and the verdicts."""
        yield Label("sharebench · Compare", classes="title-line")
        with VerticalScroll(id="table-box"):
            yield AnsiView(id="table")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the series."""
        self.query_one("#table-box").focus()
        self.with_notebook(lambda notebook: _text(notebook, self.ids), self._show)

    def _show(self, text: str) -> None:
        self.text = text
        self.query_one("#table", AnsiView).show(lambda _width, _height: text)

    def text_to_copy(self) -> str:
        """The comparison as the command line prints it."""
        return self.text

    def action_export(self) -> None:
        """Write it to a file."""
        ids = self.ids
        self.bench.push_screen(
            ExportScreen(
                gather=lambda notebook: comparison_reports(_read(notebook, ids), sides_to_compare(notebook, ids)),
                name="comparison",
            )
        )


def _read(notebook: Notebook, ids: Sequence[str]) -> list[Series]:
    return [notebook.series(series_id) for series_id in ids]


def _text(notebook: Notebook, ids: Sequence[str]) -> str:
    forms = comparison_forms(sides_to_compare(notebook, ids))
    return f"{table_b1_text(protocol_matrix(_read(notebook, ids)))}\n{verdict_lines(forms)}"
