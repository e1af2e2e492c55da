"""The export of forms: which format, to which file; a file that is there is asked about."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.inputs import LineInput
from app.whole_file import is_there, output_file
from forms.exporters import FORMATS, PAPERS, Format, export_reports
from forms.report import Report
from forms.reports import series_reports
from forms.wording import plain
from storage.notebook import Notebook

Gather = Callable[[Notebook], Sequence[Report]]
"""Reads what is exported."""


class ExportScreen(BaseScreen):
    """A document of one or several forms."""

    ABOUT = (
        "Forms as a document: choose the format (up, down, Enter), then the file (Enter writes it). A file that is"
        " there already is asked about, and never left half written."
    )
    HINTS: ClassVar[dict[str, str]] = {
        "formats": "The formats. Enter takes one and goes on to the file.",
        "path": "Where to write, from the folder that sharebench was started in. Enter writes.",
    }
    KEYS = (KeyCommand("export.paper", "ctrl+l", "Paper", "A4 or Letter, for formats with pages.", footer="Paper"),)
    DEFAULT_CSS = """
    ExportScreen #what { padding: 1 1 0 1; height: auto; width: 100%; }
    ExportScreen #formats { height: auto; border: none; margin: 1 0; padding: 0;
        text-wrap: nowrap; text-overflow: ellipsis; }
    ExportScreen .line { height: 1; padding: 0 1; }
    ExportScreen #path { width: 1fr; background: $panel; }
    ExportScreen #path:focus { text-style: bold; }
    ExportScreen #paper { padding: 1; width: 100%; }
    """

    def __init__(self, ids: Sequence[str] = (), *, gather: Gather | None = None, name: str = "") -> None:
        """``ids`` are series; for other forms ``gather`` reads them and ``name`` is what to call the file."""
        super().__init__()
        self.ids = tuple(ids)
        self.gather: Gather = gather or (lambda notebook: series_reports([notebook.series(each) for each in self.ids]))
        self.file_name = _file_name(name)
        self.format = FORMATS["html"]
        self.paper = PAPERS[0]
        self._own_path = False

    def compose(self) -> ComposeResult:
        yield Label("sharebench · Export", classes="title-line")
        yield Static(id="what")
        yield OptionList(*(Option(Content(_line(each)), id=each.name) for each in FORMATS.values()), id="formats")
        with Horizontal(classes="line"):
            yield Label("File: ")
            box = LineInput(id="path", compact=True)
            box.cursor_blink = False
            yield box
            yield Button("Write", id="write")
        yield Static(id="paper")
        yield KeyBar()

    def on_mount(self) -> None:
        formats = self.query_one("#formats", OptionList)
        formats.highlighted = list(FORMATS).index(self.format.name)
        formats.focus()
        self._show_paper()
        if self.ids:
            ids = self.ids
            self.with_notebook(lambda notebook: _called(notebook, ids), self._named)
        else:
            self._named([self.file_name])

    def _named(self, names: list[str]) -> None:
        self.query_one("#what", Static).update(Content(f"{len(names)} to export: {', '.join(map(plain, names))}"))
        if self.ids:
            self.file_name = _file_name(names[0] if len(names) == 1 else f"{len(names)} series")
        self._propose()

    def _propose(self) -> None:
        if not self._own_path:
            with self.prevent(Input.Changed):
                self.query_one("#path", Input).value = self.file_name + self.format.suffix

    @on(OptionList.OptionHighlighted, "#formats")
    def _point(self, event: OptionList.OptionHighlighted) -> None:
        self.format = FORMATS[event.option.id or "html"]
        self._propose()

    @on(OptionList.OptionSelected, "#formats")
    def _take(self) -> None:
        self.query_one("#path").focus()

    @on(Input.Changed, "#path")
    def _typed(self) -> None:
        self._own_path = True

    def action_paper(self) -> None:
        self.paper = PAPERS[(PAPERS.index(self.paper) + 1) % len(PAPERS)]
        self._show_paper()

    def _show_paper(self) -> None:
        self.query_one("#paper", Static).update(f"Paper: {self.paper} (Ctrl+L changes it)")

    @on(Input.Submitted, "#path")
    @on(Button.Pressed, "#write")
    def _write(self) -> None:
        text = self.query_one("#path", Input).value.strip()
        if not text:
            self.notify("Name a file.", severity="warning")
            return
        path = Path(text).expanduser()
        self.in_background(lambda: is_there(path), lambda there: self._ask(path, there=there))

    def _ask(self, path: Path, *, there: bool) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self._export(path)

        if there:
            question = ConfirmDialog("Replace the file?", f"{path} is there already.", yes="Replace", no="Keep it")
            self.sharebench_app.push_screen(question, answered)
        else:
            self._export(path)

    def _export(self, path: Path) -> None:
        gather, name, paper = self.gather, self.format.name, self.paper

        def write(notebook: Notebook) -> Path:
            with output_file(path) as file:
                file.write(export_reports(gather(notebook), name, paper=paper))
            return path

        self.with_notebook(write, self._done)

    def _done(self, path: Path) -> None:
        self.notify(f"Written: {path.absolute()}", title="Export", markup=False)
        self.sharebench_app.go_back()


def _line(each: Format) -> str:
    return f"{each.name:<9} {each.suffix:<6} {each.what}"


def _file_name(name: str) -> str:
    """A file name from a label: letters, digits and few signs."""
    kept = "".join(c if c.isalnum() or c in "-_." else "-" for c in name.strip())
    return kept.strip(".-")[:60] or "sharebench"


def _called(notebook: Notebook, ids: Sequence[str]) -> list[str]:
    names = [series.label or series.title or series.id for series in notebook.heads_of(list(ids))]
    return names or ["no series any more"]
