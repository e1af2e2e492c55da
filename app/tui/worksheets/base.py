"""What the worksheets' screens share: lines to fill in, the calculation below, saving, opening, export."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Label, Static

from app.errors import UsageError
from app.tui.export import ExportScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import AskDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.clipboard import Copies
from app.tui.widgets.inputs import LineInput
from app.tui.widgets.pane import Pane
from app.tui.worksheets.picking import MeasuredComponent, PickDialog, WorksheetChoice, measured, of_measured, of_tables
from forms.exporters.text import report_text
from forms.report import Report
from forms.wording import plain
from forms.worksheets.bottleneck import BottleneckCalculation
from forms.worksheets.reference import ReferenceKind
from forms.worksheets.report import from_record, to_record, worksheet_report
from forms.worksheets.users import UsersCalculation
from storage.records import Worksheet

Filled = BottleneckCalculation | UsersCalculation


@dataclass(frozen=True, slots=True, kw_only=True)
class InputBox:
    """One input of a worksheet."""

    id: str
    placeholder: str
    hint: str
    """What F1 says of it."""
    value: str = ""
    short: bool = False
    choice: str = ""
    """The heading of what Enter lists: what was measured, and what the tables have of a kind; empty for nothing."""
    kind: ReferenceKind | None = None


class WorksheetScreen(Copies):
    """A worksheet that calculates as one types."""

    KIND = ""
    """``bottleneck`` or ``clients``, as the notebook calls it."""
    HEADING = ""
    LINES: ClassVar[dict[str, tuple[InputBox, ...]]] = {}
    """The inputs of each line, by its label."""
    KEYS = (
        KeyCommand(
            "worksheet.save",
            "ctrl+s",
            "Save",
            "Keep the worksheet in the notebook under a name.",
            footer="Save",
            priority=True,
        ),
        KeyCommand(
            "worksheet.open", "ctrl+o", "Open", "Go on with a worksheet that was saved.", footer="Open", priority=True
        ),
        KeyCommand(
            "worksheet.export", "ctrl+t", "Export", "Write the worksheet to a file.", footer="Export", priority=True
        ),
    )
    SCOPED_CSS = False
    DEFAULT_CSS = """
    WorksheetScreen #filling-pane { height: auto; }
    WorksheetScreen .filling { height: 1; }
    WorksheetScreen .filling > Label { width: 9; }
    WorksheetScreen .filling > Input { background: $panel; margin-right: 1; width: 1fr; }
    WorksheetScreen .filling > Input.short { width: 12; }
    WorksheetScreen .filling > Input:focus { text-style: bold; background: $primary 30%; }
    WorksheetScreen .hint { height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    WorksheetScreen #result-box { height: 1fr; scrollbar-size-vertical: 1; }
    """

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.worksheet_name = name
        self.filled: Filled | None = None
        self.measured: dict[str, MeasuredComponent] = {}
        """Where an input stands for a series, or for a part of a saved worksheet."""

    def read(self) -> Filled | None:
        """What the lines say; None while too little is filled in. Raises UsageError for what cannot be read."""
        raise NotImplementedError

    def write(self, filled: Any) -> None:
        """Fill in the lines from a saved worksheet."""
        raise NotImplementedError

    def report(self, filled: Any) -> Report:
        return worksheet_report(to_record(filled, self.worksheet_name))

    def compose(self) -> ComposeResult:
        with Pane(f"sharebench · {self.HEADING}", id="filling-pane"):
            for label, boxes in self.LINES.items():
                with Horizontal(classes="filling"):
                    yield Label(label)
                    for box in boxes:
                        yield _input(box)
            yield Static(id="hint", classes="hint")
        with VerticalScroll(id="result-box", can_focus=True, classes="pane") as result:
            result.border_title = "Result"
            yield AnsiView(id="result")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query(Input).first().focus()
        self.calculate()

    @on(Input.Changed)
    def calculate(self) -> None:
        """Calculate again; what cannot be read yet is said, and the last result stays."""
        try:
            self.filled = self.read()
        except UsageError as error:
            self._say(f"! {error}")
            return
        self._say("" if self.filled else "Fill in what is known; Enter on a line lists what there is.")
        filled = self.filled
        shown = self.query_one("#result", AnsiView)
        shown.show(None if filled is None else lambda width, _height: _text(self.report(filled), width))

    def values(self) -> dict[str, str]:
        return {box.id or "": box.value for box in self.query(Input)}

    def fill(self, name: str, value: str | MeasuredComponent) -> None:
        if isinstance(value, MeasuredComponent):
            self.measured[name] = value
        self.query_one(f"#{name}", Input).value = value if isinstance(value, str) else value.shown

    def known(self, name: str) -> MeasuredComponent | None:
        """What an input stands for; None where something was typed over it."""
        found = self.measured.get(name)
        return found if found is not None and found.shown == self.query_one(f"#{name}", Input).value else None

    @on(Input.Submitted)
    def _choose(self, event: Input.Submitted) -> None:
        box = next(box for boxes in self.LINES.values() for box in boxes if box.id == event.input.id)
        if box.choice:
            self.with_notebook(measured, lambda found: self._ask(box, found))
        else:
            self.focus_next()

    def _ask(self, box: InputBox, found: list[MeasuredComponent]) -> None:
        choices = [*(of_tables(box.kind) if box.kind else []), *of_measured(found)]
        if not choices:
            self.notify("No series has an average yet: type bytes a second.", severity="warning")
            return

        def answered(chosen: str | MeasuredComponent | None) -> None:
            if chosen is not None:
                self.fill(box.id, chosen)

        self.app.push_screen(PickDialog(box.choice, choices), answered)

    def _say(self, text: str) -> None:
        self.query_one("#hint", Static).update(Content(plain(text)))

    def key_down(self) -> None:
        self.focus_next()

    def key_up(self) -> None:
        self.focus_previous()

    def text_to_copy(self) -> str:
        """The worksheet as the command line prints it."""
        return report_text(self.report(self.filled)) if self.filled else ""

    # The notebook

    def action_save(self) -> None:
        filled = self.filled
        if filled is None:
            self.notify("There is nothing to save yet.", severity="warning")
            return

        def answered(name: str | None) -> None:
            if name and name.strip():
                self._named(name.strip())
                record = to_record(filled, self.worksheet_name)
                self.with_notebook(lambda notebook: notebook.save_worksheet(record), lambda _: self._saved())

        text = "A name for the worksheet; one of the same name is replaced."
        self.app.push_screen(AskDialog("Save", text, value=self.worksheet_name, needed=True), answered)

    def _saved(self) -> None:
        self.notify(f"{self.worksheet_name} is in the notebook.", title="Saved", markup=False)

    def _named(self, name: str) -> None:
        self.worksheet_name = name
        self.query_one("#filling-pane", Pane).called(f"sharebench · {self.HEADING} · {name}")
        self.calculate()

    def action_open(self) -> None:
        self.with_notebook(lambda notebook: notebook.worksheets(self.KIND), self._offer)

    def _offer(self, found: list[Worksheet]) -> None:
        if not found:
            self.notify("No worksheet of this kind was saved yet.", severity="warning")
            return
        choices = [WorksheetChoice(f"{each.saved_at[:10]}  {plain(each.name)}", each) for each in found]

        def answered(record: Worksheet | None) -> None:
            if record is not None:
                with self.prevent(Input.Changed):
                    self.write(from_record(record))
                self._named(record.name)

        self.app.push_screen(PickDialog("Saved worksheets", choices), answered)

    def action_export(self) -> None:
        if self.filled is not None:
            report = self.report(self.filled)
            self.app.push_screen(ExportScreen(gather=lambda _: [report], name=self.worksheet_name or self.KIND))


def _text(report: Report, width: int) -> str:
    """The result and its picture first, then how it came about."""
    answer = report_text(replace(report, fields=(), tables=()), width=width, ansi=True)
    way = report_text(replace(report, title="", results=(), advice=(), chart=None), width=width, ansi=True)
    return f"{answer}\n{way.lstrip()}"


def hints_of(lines: dict[str, tuple[InputBox, ...]]) -> dict[str, str]:
    """What F1 says of each input."""
    return {box.id: box.hint for boxes in lines.values() for box in boxes}


def _input(box: InputBox) -> Input:
    line = LineInput(
        box.value, placeholder=box.placeholder, id=box.id, compact=True, classes="short" if box.short else None
    )
    line.cursor_blink = False
    return line
