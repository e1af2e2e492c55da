"""The export of forms: which format, to which file; a file that is there is asked about."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from app import kinds
from app.base.output import (
    CannotWriteError,
    is_missing,
    is_there,
    make_folder,
    output_file,
    print_document,
    printers,
    shown_destination,
)
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import ConfirmDialog, PickDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Choices, LineInput, Pane
from forms.exporters import FORMATS, PAPERS, export_reports, format_of, times_for
from forms.report import Report
from forms.wording import plain, short_place
from storage.notebook import Notebook
from storage.recordings import SERIES
from storage.records import JSONValue, with_zone

MEMORY_KEY = "export"
_NO_NAME = "Name a file."
Gather = Callable[[Notebook], Sequence[Report]]


class ExportScreen(BaseScreen):
    KEYS = keys("export.mark export.print export.paper")

    def __init__(self, ids: Sequence[str] = (), *, gather: Gather | None = None, name: str = "") -> None:
        super().__init__()
        self.ids = tuple(ids)
        self.gather: Gather = gather or (lambda notebook: kinds.forms(notebook, self.ids))
        self.file_name = _file_name(name)
        self.format = FORMATS["html"]
        self.paper = PAPERS[0]
        self.marked: list[str] = []
        self.folder = Path()
        self._own_path = False

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Export", id="formats-pane"):
            yield Static(id="what")
            yield Choices(id="formats")
        with Pane("File", id="file-pane"):
            with Horizontal(classes="line"):
                yield LineInput(id="path", compact=True)
                yield Button("Write", id="write", variant="primary")
            yield Static(id="folder")
            yield Static(id="paper")
        yield KeyBar()

    def on_mount(self) -> None:
        self._show_formats(list(FORMATS).index(self.format.name))
        self.query_one("#formats").focus()
        self._show_paper()
        self.with_notebook(lambda notebook: notebook.remembered(MEMORY_KEY), self._recalled)
        if self.ids:
            self.with_notebook(lambda notebook: _called(notebook, self.ids), lambda found: self._named(*found))
        else:
            self._named([self.file_name], self.file_name)

    def _named(self, names: list[str], file_name: str) -> None:
        self.query_one("#what", Static).update(Content(f"{len(names)} to export: {', '.join(map(plain, names))}"))
        self.file_name = _file_name(file_name)
        self._propose()

    def _recalled(self, remembered: Mapping[str, JSONValue] | None) -> None:
        folder, formats = (remembered or {}).get("folder"), (remembered or {}).get("formats")
        known = [name for name in FORMATS if isinstance(formats, list) and name in formats]
        if known and not self.marked:
            self.marked = known if len(known) > 1 else []
            self._show_formats(list(FORMATS).index(known[0]))
            self._propose()
        if isinstance(folder, str) and folder != str(Path.cwd()) and Path(folder).is_dir():
            self.folder = Path(folder)
            self._propose()

    def _show_formats(self, at: int) -> None:
        formats = self.query_one("#formats", OptionList)
        formats.clear_options()
        mark = {name: "*" if name in self.marked else " " for name in FORMATS}
        lines = (f"{mark[one.name]} {one.name:<9} {one.suffix:<6} {one.what}" for one in FORMATS.values())
        formats.add_options(Option(Content(line), id=name) for line, name in zip(lines, FORMATS, strict=True))
        formats.highlighted = at

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "mark":
            return any(one.has_focus for one in self.query("#formats"))
        return super().check_action(action, parameters)

    def action_mark(self) -> None:
        at = self.query_one("#formats", OptionList).highlighted
        if at is None:
            return
        name = list(FORMATS)[at]
        self.marked = [one for one in self.marked if one != name] if name in self.marked else [*self.marked, name]
        self._show_formats(min(at + 1, len(FORMATS) - 1))
        self._propose()

    def key_up(self, event: events.Key) -> None:
        if self.focused is self.query_one("#path"):
            event.stop()  # or the list would move as well
            self.query_one("#formats").focus()

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.key not in self.active_bindings:
            self._type(event)

    def on_paste(self, event: events.Paste) -> None:
        self._type(event)

    def _type(self, event: events.Event) -> None:
        """Text for the list goes to the file line, in place of the proposed name."""
        event.stop()
        self.set_focus(self.query_one("#path"))
        self.query_one("#path").post_message(event)

    def enter_now(self) -> str:
        return "Write" if self.query_one("#file-pane").has_focus_within else ""

    def _paths(self) -> dict[str, Path]:
        typed = self.query_one("#path", Input).value.strip()
        path = Path(typed)
        with suppress(RuntimeError):  # no such user, or one that is typed halfway
            path = path.expanduser()
        if typed.endswith("/"):
            path /= self.file_name + self.format.suffix
        by_name = format_of(path.name)
        if not self.marked:
            return {by_name or self.format.name: path}
        if not path.name:
            path /= self.file_name
        stem = path.with_suffix("") if by_name else path
        return {name: stem.with_name(stem.name + FORMATS[name].suffix) for name in self.marked}

    def _propose(self) -> None:
        if not self._own_path:
            with self.prevent(Input.Changed):
                first = FORMATS[self.marked[0]] if self.marked else self.format
                self.query_one("#path", Input).value = str(self.folder / (self.file_name + first.suffix))
        self._show_folder()

    def _show_folder(self) -> None:
        paths = self._paths() if self.query_one("#path", Input).value.strip() else {}
        names = ", ".join(path.name if self.marked else f"{path.name} ({name})" for name, path in paths.items())
        folder = next(iter(paths.values())).absolute().parent if paths else Path()
        said = f"Writes {names} into {folder}" if paths else _NO_NAME

        def told() -> str:
            if is_missing(folder):
                return f"there is no folder {folder}; Enter asks to make it"
            try:
                for path in paths.values():
                    is_there(path)
            except CannotWriteError as error:
                return str(error)
            return said

        line = self.query_one("#folder", Static)
        self.in_background(told, lambda text: line.update(Content(plain(text))), group="folder")

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

    def action_print(self) -> None:
        def ask(names: Sequence[str]) -> None:
            about = "The printers of this machine, the usual one first. Enter prints, Escape does not."
            rows = [(name, plain(name)) for name in names]
            self.ask(PickDialog("Print on", rows, about=about), self._print)

        self.in_background(printers, ask)

    def _print(self, printer: str) -> None:
        gather, paper, title = self.gather, self.paper, self.file_name

        def hand_over(notebook: Notebook) -> str:
            pdf = export_reports(gather(notebook), "pdf", paper=paper)
            return print_document(pdf, printer, title=title, paper=paper)

        self.with_notebook(hand_over, lambda said: self.notify(said, title=f"Printing on {printer}"))

    @on(Input.Submitted, "#path")
    @on(Button.Pressed, "#write")
    def _write(self) -> None:
        if not self.query_one("#path", Input).value.strip():
            self.notify(_NO_NAME, severity="warning")
            return
        paths = self._paths()
        folder = next(iter(paths.values())).absolute().parent

        def make(_: bool) -> None:
            self.in_background(lambda: make_folder(folder), lambda _: self._export(paths))

        def look() -> list[str] | None:
            if is_missing(folder):
                return None
            return [shown_destination(path) for path in paths.values() if is_there(path)]

        def looked(there: list[str] | None) -> None:
            if there is None:
                text = f"There is no folder {folder}."
                self.ask(ConfirmDialog("Make the folder?", text, yes="Make", prefer_yes=True), make)
            else:
                self._ask(paths, there)

        self.in_background(look, looked)

    def _ask(self, paths: Mapping[str, Path], there: Sequence[str]) -> None:
        if there:
            named = ", ".join(there)
            text = f"{named} {'is' if len(there) == 1 else 'are'} there already."
            question = ConfirmDialog("Replace the file?", text, yes="Replace", no="Keep it")
            self.ask(question, lambda _: self._export(paths))
        else:
            self._export(paths)

    def _export(self, paths: Mapping[str, Path]) -> None:
        gather, paper = self.gather, self.paper

        def write(notebook: Notebook) -> list[Path]:
            for name, path in paths.items():
                with output_file(path) as file, times_for(name):
                    file.write(export_reports(gather(notebook), name, paper=paper))
            written = [path.absolute() for path in paths.values()]
            notebook.remember(MEMORY_KEY, {"folder": str(written[0].parent), "formats": list(paths)})
            return written

        self.with_notebook(write, self._done)

    def _done(self, written: Sequence[Path]) -> None:
        text = f"Written: {written[0]}"
        if len(written) > 1:
            text = f"Written: {', '.join(path.name for path in written)} into {written[0].parent}"
        self.notify(text, title="Export", markup=False)
        self.sharebench_app.go_back()


class Exports(BaseScreen):
    report: Report | None = None

    def export_name(self, report: Report) -> str:
        return report.name

    def action_export(self) -> None:
        if (report := self.report) is not None:
            self.app.push_screen(ExportScreen(gather=lambda _: [report], name=self.export_name(report)))


_NOT_IN_NAMES = re.compile(r"[^\w.-]+")
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""What Windows takes for a device, whatever its ending."""


def _file_name(name: str) -> str:
    kept = _NOT_IN_NAMES.sub("-", name.strip()).strip(".-")[:60].strip(".-") or "sharebench"
    return f"sharebench-{kept}" if _DEVICE.fullmatch(kept) else kept


def _called(notebook: Notebook, ids: Sequence[str]) -> tuple[list[str], str]:
    """The recordings' names, and one for a file: the label, else the day, the server and share, and what was done."""
    series = {one.id: one for one in notebook.heads_of(list(ids))}
    heads = notebook.recordings_of(list(ids))
    lines = kinds.lines(notebook, heads)
    dated = (f"{one.name}{'' if one.label else f' of {one.when}'}" for one in lines)
    names = [name if one.kind == SERIES else f"{one.kind} {one.name}" for one, name in zip(lines, dated, strict=True)]
    if len(heads) != 1:
        what = "series" if series.keys() >= {*ids} else "recordings"
        return names or ["no recording any more"], f"{len(heads)} {what}"
    head, target = heads[0], kinds.kind_of(heads[0]).target(notebook, heads[0])
    done = series[head.id].command if head.id in series else head.kind if target else f"{head.kind} {lines[0].name}"
    place = short_place(target) if target else ""
    return names, head.label or f"{with_zone(head.created_at)[:10]} {place} {done}"
