"""The export of forms, or of a report for somebody else: which format, to which file; a file there is asked about."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from textual import containers, events, on, widgets
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets.option_list import Option

from app.base import output, printing
from app.tui import export_files, export_names
from app.tui.frame import dialogs, parts
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import keys
from app.tui.frame.key_bar import KeyBar
from forms import exporters, wording
from forms.cover import Cover
from storage.records import utc_now

_COVER_LINES = (
    ("customer", "Prepared for", "customer and site"),
    ("author", "Prepared by", "your name and company"),
)
"""(id, name, hint) of the lines that stand above a report; both are remembered."""

_WRITTEN_SECONDS = 15


class ExportScreen(BaseScreen):
    """A list of formats above a line for the file; for a report also lines for whom and by whom it is.

    With some formats marked each is written to a file of its own, beside the one that is named: the line then proposes
    a name without an ending. It proposes one until something is typed there.
    """

    KEYS = keys("export.mark export.print export.paper export.page export.forms")

    def __init__(
        self,
        ids: Sequence[str] = (),
        *,
        gather: export_files.Gather | None = None,
        gather_page: export_files.Gather | None = None,
        report_name: str = "",
        is_page: bool = False,
    ) -> None:
        """Export the recordings with these ids; without ids what ``gather`` reads, which is called
        ``report_name``.

        ``gather_page`` reads the report for somebody else; None where there is none. Both are called in a thread, with
        a notebook, when a file is written or printed. ``is_page``: whether the report is offered first.
        """
        super().__init__()
        self.ids = tuple(ids)
        self.gather_forms: export_files.Gather = gather or partial(export_files.gather_forms, ids=self.ids)
        self.gather_page = gather_page
        if self.ids:
            self.gather_page = partial(export_files.gather_page, ids=self.ids)
        self.is_page = is_page and self.gather_page is not None
        """Whether the report for somebody else is written, and not the forms."""
        self.what_name = report_name
        """What people call the report that is exported without ids."""
        self.file_name = export_names.safe_file_name(report_name)
        """Proposed for the file, without its ending."""
        self.format = exporters.FORMATS["pdf" if self.is_page else "html"]
        """The one that the cursor points at."""
        self.paper = exporters.DEFAULT_PAPER
        self.marked: list[str] = []
        """Names of the formats that are marked."""
        self.folder = Path()
        """Proposed for the file: that of the last export, once it was read."""
        self._last: export_files.LastExport | None = None
        """What was chosen last; None until it was read."""
        self._path_was_typed = False
        """Whether somebody has changed the line of the file: then nothing is proposed there any more."""
        self._awaited = {"names", "last export"}
        """What the path is proposed by and was not read yet; until then keys wait."""

    def compose(self) -> ComposeResult:
        with parts.Pane("sharebench · Export", id="formats-pane"):
            yield widgets.Static(id="what")
            yield widgets.Static(id="kind")
            yield parts.Choices(id="formats")
        with parts.Pane("On the report", id="cover-pane"):
            for line_id, name, hint in _COVER_LINES:
                with containers.Horizontal(classes="line"):
                    yield widgets.Label(name, classes="cover-name")
                    yield parts.LineInput(placeholder=hint, id=line_id, classes="cover-line", compact=True)
        with parts.Pane("File", id="file-pane"):
            with containers.Horizontal(classes="line"):
                yield parts.LineInput(id="path", compact=True)
                yield widgets.Button("Write", id="write", variant="primary")
            yield widgets.Static(id="folder")
            yield widgets.Static(id="paper")
        yield KeyBar()

    @property
    def does_take_keys(self) -> bool:
        return not self._awaited

    # What was awaited and failed is not read any more, so that keys need not wait for it.
    def work_failed(self, error: Exception) -> None:
        self._awaited.clear()
        self.query_one("#write", widgets.Button).disabled = False
        self._show_folder()
        super().work_failed(error)

    def on_mount(self) -> None:
        self._show_kind()
        self.query_one("#formats").focus()
        self._show_paper()
        self.query_one(KeyBar).put_first("mark")

        self.with_notebook(export_files.read_last_export, self._take_last_export)
        if self.ids:
            self.with_notebook(partial(export_names.names_to_export, ids=self.ids), self._show_names)
        else:
            self._show_names(([self.what_name], self.what_name))

    def _show_names(self, names_and_file_name: tuple[list[str], str]) -> None:
        names, file_name = names_and_file_name
        self.query_one("#what", widgets.Static).update(
            Content(f"{len(names)} to export: {', '.join(map(wording.plain, names))}")
        )
        self.file_name = export_names.safe_file_name(file_name)
        self._propose_path()
        self._awaited.discard("names")

    def _take_last_export(self, last: export_files.LastExport) -> None:
        self._last = last
        for line_id, text in (("#customer", last.customer), ("#author", last.author)):
            line = self.query_one(line_id, widgets.Input)
            line.value = line.value or text

        self._take_last_formats()
        if last.folder is not None:
            self.folder = last.folder
            self._propose_path()
        self._awaited.discard("last export")

    # The report for somebody else, or the forms

    @property
    def _format_names(self) -> list[str]:
        """Those that are listed."""
        return list(export_files.PAGE_FORMATS if self.is_page else exporters.FORMATS)

    @property
    def _gather(self) -> export_files.Gather:
        return self.gather_page if self.is_page and self.gather_page is not None else self.gather_forms

    def _typed_cover(self) -> Cover | None:
        """What stands above the report; None for forms, which say who measured."""
        if not self.is_page:
            return None
        customer = self.query_one("#customer", widgets.Input).value
        author = self.query_one("#author", widgets.Input).value
        return Cover(customer=customer, author=author, made_at=utc_now())

    def _show_kind(self) -> None:
        """Show whether it is the report, and what can be chosen for it."""
        self.set_class(self.is_page, "-page")
        text = "Forms: all that was measured"
        if self.is_page:
            text = "Report: one page for somebody else (Ctrl+O: the whole form)"
        elif self.gather_page is not None:
            text += " (Ctrl+O: a report, one page for somebody else)"
        self.query_one("#kind", widgets.Static).update(text)
        self._show_formats(self._format_names.index(self.format.name))
        self.refresh_bindings()

    def action_page(self) -> None:
        self._change_kind(is_page=True)

    def action_forms(self) -> None:
        self._change_kind(is_page=False)

    def _change_kind(self, *, is_page: bool) -> None:
        self.is_page = is_page
        self.marked = []
        if self.format.name not in self._format_names:
            self.format = exporters.FORMATS[self._format_names[0]]
        if self.focused is None or self.focused.id in {line_id for line_id, *_ in _COVER_LINES}:
            self.query_one("#formats").focus()
        self._show_kind()
        self._take_last_formats()
        self._propose_path()

    # Formats

    def _take_last_formats(self) -> None:
        """Propose the formats of the last export of this kind, unless some are marked already."""
        if self._last is None or self.marked:
            return
        names = self._last.page_formats if self.is_page else self._last.formats
        if names:
            self.marked = names if len(names) > 1 else []
            self._show_formats(self._format_names.index(names[0]))
            self._propose_path()

    def _show_formats(self, row: int) -> None:
        formats = self.query_one("#formats", widgets.OptionList)
        formats.clear_options()
        for name in self._format_names:
            file_format = exporters.FORMATS[name]
            mark = "*" if file_format.name in self.marked else " "
            line = f"{mark} {file_format.name:<9} {file_format.suffix:<6} {file_format.what}"
            formats.add_option(Option(Content(line), id=file_format.name))
        formats.highlighted = row

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "mark":
            return any(formats.has_focus for formats in self.query("#formats"))
        if action in {"page", "forms"}:
            return self.gather_page is not None and self.is_page == (action == "forms")
        return super().check_action(action, parameters)

    def action_mark(self) -> None:
        row = self.query_one("#formats", widgets.OptionList).highlighted
        if row is None:
            return

        name = self._format_names[row]
        if name in self.marked:
            self.marked.remove(name)
        else:
            self.marked.append(name)
        self._show_formats(row)
        self._propose_path()

    @on(widgets.OptionList.OptionHighlighted, "#formats")
    def _point(self, event: widgets.OptionList.OptionHighlighted) -> None:
        self.format = exporters.FORMATS[event.option.id or "html"]
        self._propose_path()

    @on(widgets.OptionList.OptionSelected, "#formats")
    def _go_on_from_formats(self) -> None:
        self.query_one("#customer" if self.is_page else "#path").focus()

    @on(widgets.Input.Submitted, ".cover-line")
    def _go_on_from_cover(self, event: widgets.Input.Submitted) -> None:
        self.query_one("#author" if event.input.id == "customer" else "#path").focus()

    # Typing

    def key_up(self, event: events.Key) -> None:
        line_above = {"path": "#author" if self.is_page else "#formats", "author": "#customer", "customer": "#formats"}
        if self.focused is not None and self.focused.id in line_above:
            event.stop()  # or the list would move as well
            self.query_one(line_above[self.focused.id]).focus()

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
        if self.query_one("#file-pane").has_focus_within:
            return "Write"
        if self.is_page and self.query_one("#formats").has_focus:
            return "To the names on the report"
        if self.query_one("#customer").has_focus:
            return "Next line"
        is_above_file = self.query_one("#formats").has_focus or self.query_one("#author").has_focus
        return "To the file name" if is_above_file else ""

    # The path

    @property
    def _typed_path(self) -> str:
        """What stands in the line of the file, typed or proposed."""
        return self.query_one("#path", widgets.Input).value.strip()

    def _paths(self) -> dict[str, Path]:
        """The file of each format that is to be written."""
        return export_files.paths_to_write(self._typed_path, self.file_name, self.format.name, self.marked)

    def _propose_path(self) -> None:
        if not self._path_was_typed:
            formats = [exporters.FORMATS[name] for name in self.marked] or [self.format]
            # Of several files the line has what their names share.
            suffix = formats[0].suffix if len(formats) == 1 else ""
            with self.prevent(widgets.Input.Changed):  # or `_path_typed` would take it for typed
                self.query_one("#path", widgets.Input).value = str(self.folder / f"{self.file_name}{suffix}")
        self._show_folder()

    @on(widgets.Input.Changed, "#path")
    def _path_typed(self) -> None:
        self._path_was_typed = True
        self._show_folder()

    def _show_folder(self) -> None:
        """Tell below the line what is written where. A thread looks: a folder on a share may answer late or never."""
        paths = self._paths() if self._typed_path else {}
        describe = partial(export_files.describe_paths, paths, names_tell_formats=bool(self.marked))
        self.in_background(describe, self._show_folder_text, group="folder")

    def _show_folder_text(self, text: str) -> None:
        self.query_one("#folder", widgets.Static).update(Content(wording.plain(text)))

    # Paper and printers

    def action_paper(self) -> None:
        """Go on to the next size of paper, after the last one to the first."""
        next_place = (exporters.PAPERS.index(self.paper) + 1) % len(exporters.PAPERS)
        self.paper = exporters.PAPERS[next_place]
        self._show_paper()

    def _show_paper(self) -> None:
        self.query_one("#paper", widgets.Static).update(f"Paper: {self.paper} (Ctrl+L changes it)")

    def action_print(self) -> None:
        self.in_background(printing.printers, self._choose_printer)

    def _choose_printer(self, printers: Sequence[str]) -> None:
        about = "The printers of this machine, the usual one first. Enter prints, Escape does not."
        rows = [(name, wording.plain(name)) for name in printers]
        self.ask(dialogs.PickDialog("Print on", rows, about=about), self._print)

    def _print(self, printer: str) -> None:
        hand_over = partial(
            export_files.print_reports,
            gather=self._gather,
            printer=printer,
            title=self.file_name,
            paper=self.paper,
            cover=self._typed_cover(),
        )

        def tell(answer: str) -> None:
            self.notify(answer, title=f"Printing on {printer}")

        self.with_notebook(hand_over, tell)

    # Writing: to a folder that may have to be made, over files that may be there

    @on(widgets.Input.Submitted, "#path")
    @on(widgets.Button.Pressed, "#write")
    def _write(self) -> None:
        if not self._typed_path:
            self.notify(export_files.NO_NAME, severity="warning")
            return

        paths = self._paths()

        def go_on(existing_files: list[str] | None) -> None:
            if existing_files is None:  # there is no folder for them
                self._ask_for_folder(paths)
            elif existing_files:
                self._ask_to_replace(paths, existing_files)
            else:
                self._export(paths)

        self.in_background(partial(export_files.existing_files, paths), go_on)

    def _ask_for_folder(self, paths: Mapping[str, Path]) -> None:
        """Make the folder and write there, after the answer yes; `ask` does nothing after no."""
        folder = export_files.folder_of(paths)

        def export(_result: object) -> None:
            self._export(paths)

        def make(_is_wanted: bool) -> None:
            self.in_background(partial(output.make_folder, folder), export)

        text = f"There is no folder {folder}."
        self.ask(dialogs.ConfirmDialog("Make the folder?", text, yes="Make", prefer_yes=True), make)

    def _ask_to_replace(self, paths: Mapping[str, Path], existing_files: Sequence[str]) -> None:
        """Write over the files, after the answer yes."""

        def export(_is_wanted: bool) -> None:
            self._export(paths)

        verb = "is" if len(existing_files) == 1 else "are"
        text = f"{', '.join(existing_files)} {verb} there already."
        self.ask(dialogs.ConfirmDialog("Replace the file?", text, yes="Replace", no="Keep it"), export)

    def _export(self, paths: Mapping[str, Path]) -> None:
        # A PDF of many series takes seconds on a busy machine.
        self._show_folder_text("Writing …")
        self.query_one("#write", widgets.Button).disabled = True
        write = partial(
            export_files.write_files, gather=self._gather, paths=paths, paper=self.paper, cover=self._typed_cover()
        )
        self.with_notebook(write, self._tell_written)

    def _tell_written(self, paths: Sequence[Path]) -> None:
        text = f"Written: {paths[0]}"
        if len(paths) > 1:
            names = ", ".join(path.name for path in paths)
            text = f"Written: {names} into {paths[0].parent}"
        # Where the file is is what people look for next: they need time to read it.
        title = "Report" if self.is_page else "Export"
        self.notify(text, title=title, markup=False, timeout=_WRITTEN_SECONDS)
        self.sharebench_app.go_back()
