"""The export of forms: which format, to which file; a file that is there is asked about."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from app.base import output, printing
from app.recording.kind import kind_of
from app.recording.listing import recording_lines
from app.recording.several import forms_of
from app.tui.frame import dialogs, parts
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import keys
from app.tui.frame.key_bar import KeyBar
from forms import wording
from forms.exporters import DEFAULT_PAPER, FORMATS, PAPERS, export_reports, format_of, times_for
from forms.report import Report
from forms.series.listing import RecordingLine
from storage import records
from storage.notebook import Notebook

MEMORY_KEY = "export"
"""Under which the notebook keeps the folder and the formats of the last export."""

_NO_NAME = "Name a file."
Gather = Callable[[Notebook], Sequence[Report]]


class ExportScreen(BaseScreen):
    KEYS = keys("export.mark export.print export.paper")

    def __init__(self, ids: Sequence[str] = (), *, gather: Gather | None = None, name: str = "") -> None:
        super().__init__()
        self.ids = tuple(ids)
        self.gather: Gather = gather or self._gather_recordings
        self.file_name = _file_name(name)
        self.format = FORMATS["html"]
        self.paper = DEFAULT_PAPER
        self.marked: list[str] = []
        self.folder = Path()
        self._path_was_typed = False

    def _gather_recordings(self, notebook: Notebook) -> Sequence[Report]:
        return forms_of(notebook, self.ids)

    def compose(self) -> ComposeResult:
        with parts.Pane("sharebench · Export", id="formats-pane"):
            yield Static(id="what")
            yield parts.Choices(id="formats")
        with parts.Pane("File", id="file-pane"):
            with Horizontal(classes="line"):
                yield parts.LineInput(id="path", compact=True)
                yield Button("Write", id="write", variant="primary")
            yield Static(id="folder")
            yield Static(id="paper")
        yield KeyBar()

    def on_mount(self) -> None:
        self._show_formats(list(FORMATS).index(self.format.name))
        self.query_one("#formats").focus()
        self._show_paper()

        self.with_notebook(_read_last_export, self._take_last_export)
        if self.ids:
            self.with_notebook(partial(_names_of, ids=self.ids), self._show_names)
        else:
            self._show_names(([self.file_name], self.file_name))

    def _show_names(self, names_and_file_name: tuple[list[str], str]) -> None:
        names, file_name = names_and_file_name
        self.query_one("#what", Static).update(
            Content(f"{len(names)} to export: {', '.join(map(wording.plain, names))}")
        )
        self.file_name = _file_name(file_name)
        self._propose_path()

    def _take_last_export(self, last: Mapping[str, records.JSONValue]) -> None:
        formats = last.get("formats")
        names = [name for name in FORMATS if isinstance(formats, list) and name in formats]
        if names and not self.marked:
            self.marked = names if len(names) > 1 else []
            self._show_formats(list(FORMATS).index(names[0]))
            self._propose_path()

        folder = last.get("folder")
        if isinstance(folder, str) and folder != str(Path.cwd()) and Path(folder).is_dir():
            self.folder = Path(folder)
            self._propose_path()

    # Formats

    def _show_formats(self, row: int) -> None:
        formats = self.query_one("#formats", OptionList)
        formats.clear_options()
        for file_format in FORMATS.values():
            mark = "*" if file_format.name in self.marked else " "
            line = f"{mark} {file_format.name:<9} {file_format.suffix:<6} {file_format.what}"
            formats.add_option(Option(Content(line), id=file_format.name))
        formats.highlighted = row

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "mark":
            return any(formats.has_focus for formats in self.query("#formats"))
        return super().check_action(action, parameters)

    def action_mark(self) -> None:
        row = self.query_one("#formats", OptionList).highlighted
        if row is None:
            return

        name = list(FORMATS)[row]
        if name in self.marked:
            self.marked.remove(name)
        else:
            self.marked.append(name)
        self._show_formats(min(row + 1, len(FORMATS) - 1))
        self._propose_path()

    @on(OptionList.OptionHighlighted, "#formats")
    def _point(self, event: OptionList.OptionHighlighted) -> None:
        self.format = FORMATS[event.option.id or "html"]
        self._propose_path()

    @on(OptionList.OptionSelected, "#formats")
    def _go_to_path(self) -> None:
        self.query_one("#path").focus()

    # Typing

    def key_up(self, event: events.Key) -> None:
        if self.focused is self.query_one("#path"):
            event.stop()  # or the list would move as well
            self.query_one("#formats").focus()

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.key not in self.active_bindings:
            self._hand_to_path(event)

    def on_paste(self, event: events.Paste) -> None:
        self._hand_to_path(event)

    def _hand_to_path(self, event: events.Event) -> None:
        """Text for the list goes to the file line, in place of the proposed name."""
        event.stop()
        self.set_focus(self.query_one("#path"))
        self.query_one("#path").post_message(event)

    def enter_now(self) -> str:
        return "Write" if self.query_one("#file-pane").has_focus_within else ""

    # The path

    @property
    def _typed_path(self) -> str:
        return self.query_one("#path", Input).value.strip()

    def _paths(self) -> dict[str, Path]:
        """The file of each format that is to be written."""
        typed = self._typed_path
        path = Path(typed)
        with suppress(RuntimeError):  # no such user, or one that is typed halfway
            path = path.expanduser()
        if typed.endswith("/"):
            path /= self.file_name + self.format.suffix

        format_by_name = format_of(path.name)
        if not self.marked:
            return {format_by_name or self.format.name: path}

        if not path.name:
            path /= self.file_name
        stem = path.with_suffix("") if format_by_name else path
        return {name: stem.with_name(stem.name + FORMATS[name].suffix) for name in self.marked}

    def _propose_path(self) -> None:
        if not self._path_was_typed:
            first_format = FORMATS[self.marked[0]] if self.marked else self.format
            with self.prevent(Input.Changed):
                self.query_one("#path", Input).value = str(self.folder / (self.file_name + first_format.suffix))
        self._show_folder()

    @on(Input.Changed, "#path")
    def _path_typed(self) -> None:
        self._path_was_typed = True
        self._show_folder()

    def _show_folder(self) -> None:
        paths = self._paths() if self._typed_path else {}
        describe = partial(_describe_paths, paths, names_tell_formats=bool(self.marked))
        self.in_background(describe, self._show_folder_text, group="folder")

    def _show_folder_text(self, text: str) -> None:
        self.query_one("#folder", Static).update(Content(wording.plain(text)))

    # Paper and printers

    def action_paper(self) -> None:
        self.paper = PAPERS[(PAPERS.index(self.paper) + 1) % len(PAPERS)]
        self._show_paper()

    def _show_paper(self) -> None:
        self.query_one("#paper", Static).update(f"Paper: {self.paper} (Ctrl+L changes it)")

    def action_print(self) -> None:
        self.in_background(printing.printers, self._choose_printer)

    def _choose_printer(self, printers: Sequence[str]) -> None:
        about = "The printers of this machine, the usual one first. Enter prints, Escape does not."
        rows = [(name, wording.plain(name)) for name in printers]
        self.ask(dialogs.PickDialog("Print on", rows, about=about), self._print)

    def _print(self, printer: str) -> None:
        gather = self.gather
        paper = self.paper
        title = self.file_name

        def hand_over(notebook: Notebook) -> str:
            pdf = export_reports(gather(notebook), "pdf", paper=paper)
            return printing.print_document(pdf, printer, title=title, paper=paper)

        def tell(answer: str) -> None:
            self.notify(answer, title=f"Printing on {printer}")

        self.with_notebook(hand_over, tell)

    # Writing: to a folder that may have to be made, over files that may be there

    @on(Input.Submitted, "#path")
    @on(Button.Pressed, "#write")
    def _write(self) -> None:
        if not self._typed_path:
            self.notify(_NO_NAME, severity="warning")
            return

        paths = self._paths()

        def go_on(existing_files: list[str] | None) -> None:
            if existing_files is None:
                self._ask_for_folder(paths)
            elif existing_files:
                self._ask_to_replace(paths, existing_files)
            else:
                self._export(paths)

        self.in_background(partial(_existing_files, paths), go_on)

    def _ask_for_folder(self, paths: Mapping[str, Path]) -> None:
        folder = _folder_of(paths)

        def export(_result: object) -> None:
            self._export(paths)

        def make(_is_wanted: bool) -> None:
            self.in_background(partial(output.make_folder, folder), export)

        text = f"There is no folder {folder}."
        self.ask(dialogs.ConfirmDialog("Make the folder?", text, yes="Make", prefer_yes=True), make)

    def _ask_to_replace(self, paths: Mapping[str, Path], existing_files: Sequence[str]) -> None:
        def export(_is_wanted: bool) -> None:
            self._export(paths)

        verb = "is" if len(existing_files) == 1 else "are"
        text = f"{', '.join(existing_files)} {verb} there already."
        self.ask(dialogs.ConfirmDialog("Replace the file?", text, yes="Replace", no="Keep it"), export)

    def _export(self, paths: Mapping[str, Path]) -> None:
        gather = self.gather
        paper = self.paper

        def write(notebook: Notebook) -> list[Path]:
            for name, path in paths.items():
                with output.output_file(path) as file, times_for(name):
                    file.write(export_reports(gather(notebook), name, paper=paper))

            written = [path.absolute() for path in paths.values()]
            notebook.remember(MEMORY_KEY, {"folder": str(written[0].parent), "formats": list(paths)})
            return written

        self.with_notebook(write, self._tell_written)

    def _tell_written(self, paths: Sequence[Path]) -> None:
        text = f"Written: {paths[0]}"
        if len(paths) > 1:
            names = ", ".join(path.name for path in paths)
            text = f"Written: {names} into {paths[0].parent}"
        self.notify(text, title="Export", markup=False)
        self.sharebench_app.go_back()


class Exports(BaseScreen):
    """A screen whose report can be exported."""

    report: Report | None = None

    def export_name(self, report: Report) -> str:
        return report.name

    def action_export(self) -> None:
        report = self.report
        if report is None:
            return

        def gather(_notebook: Notebook) -> Sequence[Report]:
            return [report]

        self.app.push_screen(ExportScreen(gather=gather, name=self.export_name(report)))


def _read_last_export(notebook: Notebook) -> Mapping[str, records.JSONValue]:
    return notebook.remembered(MEMORY_KEY) or {}


def _folder_of(paths: Mapping[str, Path]) -> Path:
    return next(iter(paths.values())).absolute().parent


def _describe_paths(paths: Mapping[str, Path], *, names_tell_formats: bool) -> str:
    """What is written where, or why it cannot be."""
    if not paths:
        return _NO_NAME

    folder = _folder_of(paths)
    if output.is_missing(folder):
        return f"there is no folder {folder}; Enter asks to make it"
    try:
        for path in paths.values():
            output.is_there(path)
    except output.CannotWriteError as error:
        return str(error)

    names = [path.name if names_tell_formats else f"{path.name} ({name})" for name, path in paths.items()]
    return f"Writes {', '.join(names)} into {folder}"


def _existing_files(paths: Mapping[str, Path]) -> list[str] | None:
    """The files that are there already; None where there is no folder for them."""
    if output.is_missing(_folder_of(paths)):
        return None
    return [output.shown_destination(path) for path in paths.values() if output.is_there(path)]


_NOT_IN_NAMES = re.compile(r"[^\w.-]+")
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""What Windows takes for a device, whatever its ending."""
_LONGEST_NAME = 60


def _file_name(name: str) -> str:
    """A name that every system takes for a file, without its ending."""
    stem = _NOT_IN_NAMES.sub("-", name.strip()).strip(".-")
    stem = stem[:_LONGEST_NAME].strip(".-") or "sharebench"
    return f"sharebench-{stem}" if _DEVICE.fullmatch(stem) else stem


def _names_of(notebook: Notebook, ids: Sequence[str]) -> tuple[list[str], str]:
    """The recordings' names, and one for a file: the label, else the day, the server and share, and what was done."""
    heads = notebook.recordings_of(list(ids))
    lines = recording_lines(notebook, heads)
    series = {head.id: head for head in notebook.heads_of(list(ids))}

    names = [_name_of(line) for line in lines] or ["no recording any more"]
    if len(heads) != 1:
        kind = "series" if series.keys() >= {*ids} else "recordings"
        return names, f"{len(heads)} {kind}"

    head = heads[0]
    if head.label:
        return names, head.label

    day = records.with_zone(head.created_at)[:10]
    target = kind_of(head).target(notebook, head)
    place = wording.short_place(target) if target else ""
    action: str = head.kind
    if head.id in series:
        action = series[head.id].command
    elif target is None:
        action = f"{head.kind} {lines[0].name}"
    return names, f"{day} {place} {action}"


def _name_of(line: RecordingLine) -> str:
    dated_name = line.name if line.label else f"{line.name} of {line.when}"
    return f"{line.kind} {dated_name}" if line.names_its_kind else dated_name
