"""The export of forms: which format, to which file; a file that is there is asked about."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from app import kinds
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.frame.parts import KeyBar, LineInput, Pane
from app.whole_file import is_there, output_file
from forms.exporters import FORMATS, PAPERS, export_reports, times_for
from forms.report import Report
from forms.wording import plain
from storage.notebook import Notebook
from storage.records import JSONValue

MEMORY_KEY = "export"
Gather = Callable[[Notebook], Sequence[Report]]


class ExportScreen(BaseScreen):
    """A document of one or several forms."""

    HINTS: ClassVar[dict[str, str]] = {
        "formats": "The formats. Enter leads to the file.",
        "path": "Where to write, a file or a folder/. Enter writes; the folder is remembered.",
    }
    KEYS = keys("export.paper")
    DEFAULT_CSS = """
    ExportScreen #formats-pane, ExportScreen #file-pane { height: auto; }
    ExportScreen #what { height: auto; max-height: 4; width: 100%; color: $text-muted; }
    ExportScreen #formats { height: auto; border: none; margin-top: 1; padding: 0;
        text-wrap: nowrap; text-overflow: ellipsis; }
    ExportScreen .line { height: 1; }
    ExportScreen #path { width: 1fr; background: $panel; }
    ExportScreen #path:focus { text-style: bold; }
    ExportScreen #folder, ExportScreen #paper { width: 100%; color: $text-muted; }
    """

    def __init__(self, ids: Sequence[str] = (), *, gather: Gather | None = None, name: str = "") -> None:
        """``ids`` are series; for other forms ``gather`` reads them and ``name`` is what to call the file."""
        super().__init__()
        self.ids = tuple(ids)
        self.gather: Gather = gather or (lambda notebook: kinds.forms(notebook, self.ids))
        self.file_name = _file_name(name)
        self.format = FORMATS["html"]
        self.paper = PAPERS[0]
        self.folder = Path()
        self._own_path = False

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Export", id="formats-pane"):
            yield Static(id="what")
            yield OptionList(id="formats")
        with Pane("File", id="file-pane"):
            with Horizontal(classes="line"):
                yield LineInput(id="path", compact=True)
                yield Button("Write", id="write", variant="primary")
            yield Static(id="folder")
            yield Static(id="paper")
        yield KeyBar()

    def on_mount(self) -> None:
        formats = self.query_one("#formats", OptionList)
        formats.add_options(
            Option(f"  {each.name:<9} {each.suffix:<6} {each.what}", id=each.name) for each in FORMATS.values()
        )
        formats.highlighted = list(FORMATS).index(self.format.name)
        formats.focus()
        self._show_paper()
        self.with_notebook(lambda notebook: notebook.remembered(MEMORY_KEY), self._recalled)
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

    def _recalled(self, remembered: Mapping[str, JSONValue] | None) -> None:
        folder, formats = (remembered or {}).get("folder"), (remembered or {}).get("formats")
        for at, name in enumerate(FORMATS):
            if formats == [name]:
                self.query_one("#formats", OptionList).highlighted = at
        if isinstance(folder, str) and folder != str(Path.cwd()) and Path(folder).is_dir():
            self.folder = Path(folder)
            self._propose()

    def _path(self) -> Path:
        typed = self.query_one("#path", Input).value.strip()
        path = Path(typed)
        with suppress(RuntimeError):  # no such user, or one that is typed halfway
            path = path.expanduser()
        return path / (self.file_name + self.format.suffix) if typed.endswith("/") else path

    def _propose(self) -> None:
        if not self._own_path:
            with self.prevent(Input.Changed):
                self.query_one("#path", Input).value = str(self.folder / (self.file_name + self.format.suffix))
        self._show_folder()

    def _show_folder(self) -> None:
        path = self._path()
        self.query_one("#folder", Static).update(Content(plain(f"Writes {path.name} into {path.absolute().parent}")))

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
        self._show_folder()

    def action_paper(self) -> None:
        self.paper = PAPERS[(PAPERS.index(self.paper) + 1) % len(PAPERS)]
        self._show_paper()

    def _show_paper(self) -> None:
        self.query_one("#paper", Static).update(f"Paper: {self.paper} (Ctrl+L changes it)")

    @on(Input.Submitted, "#path")
    @on(Button.Pressed, "#write")
    def _write(self) -> None:
        if not self.query_one("#path", Input).value.strip():
            self.notify("Name a file.", severity="warning")
            return
        path = self._path()

        def ask(there: bool) -> None:
            question = ConfirmDialog("Replace the file?", f"{path} is there already.", yes="Replace", no="Keep it")
            if there:
                self.app.push_screen(question, lambda yes: self._export(path) if yes else None)
            else:
                self._export(path)

        self.in_background(lambda: is_there(path), ask)

    def _export(self, path: Path) -> None:
        gather, paper, name = self.gather, self.paper, self.format.name

        def write(notebook: Notebook) -> None:
            with output_file(path) as file, times_for(name):
                file.write(export_reports(gather(notebook), name, paper=paper))
            notebook.remember(MEMORY_KEY, {"folder": str(path.absolute().parent), "formats": [name]})

        def done(_: None) -> None:
            self.notify(f"Written: {path.absolute()}", title="Export")
            self.sharebench_app.go_back()

        self.with_notebook(write, done)


class Exports(BaseScreen):
    """A screen of one report, once there is one."""

    report: Report | None = None

    def export_name(self, report: Report) -> str:
        return report.name

    def action_export(self) -> None:
        if (report := self.report) is not None:
            self.app.push_screen(ExportScreen(gather=lambda _: [report], name=self.export_name(report)))


def _file_name(name: str) -> str:
    kept = "".join(c if c.isalnum() or c in "-_." else "-" for c in name.strip())
    return kept.strip(".-")[:60] or "sharebench"


def _called(notebook: Notebook, ids: Sequence[str]) -> list[str]:
    titles = {series.id: series.title for series in notebook.heads_of(list(ids))}
    names = [head.label or titles.get(head.id) or head.id for head in notebook.recordings_of(list(ids))]
    return names or ["no recording any more"]
