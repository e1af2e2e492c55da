"""One entry of the catalogue: what it does and risks, and a value of it on its way into the next series."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from app.tui.frame.base import BaseDialog
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.clipboard import Copies
from app.tui.widgets.inputs import LineInput
from app.tui.widgets.measure_mixin import MeasureMixin
from app.workflows.guide.state.rounds import measured_share, take_change
from forms.tuning.catalogue import CatalogueEntry, Status, find
from forms.tuning.catalogue_text import entry_text, suggested_value
from forms.tuning.instructions import Instructions, advise


class EntryScreen(Copies, MeasureMixin):
    """An entry with the line for smb.conf, the commands to check and reload, and how to put it back."""

    ABOUT = (
        "One thing that can be changed. Up and down scroll; v chooses the value; t takes it into the next series, which"
        " is then measured and compared with the one before."
    )
    KEYS = (
        KeyCommand(
            "entry.value", "v", "Value", "Choose the value to try; the lines and commands follow it.", footer="Value"
        ),
        KeyCommand(
            "entry.take",
            "t",
            "Take into the next series",
            "Make this the one change of the next series, and go on to measure it.",
            footer="Take",
        ),
        KeyCommand(
            "entry.try",
            "s",
            "Let sharebench do it",
            "Have sharebench change it, measure in turns, and put it back; what it would write is shown first.",
            action="try_it",
            footer="Try it",
        ),
    )
    DEFAULT_CSS = """
    EntryScreen #entry-box { height: 1fr; scrollbar-size-vertical: 1; }
    EntryScreen.-narrow #entry-box { scrollbar-size-vertical: 0; }
    EntryScreen #chosen { height: auto; padding: 0 1; text-style: bold; width: 100%; }
    """

    def __init__(self, entry: str, share: str | None = None) -> None:
        """``entry`` is its name; ``share`` the one that is measured."""
        super().__init__()
        self.entry = find(entry)
        self.value = suggested_value(self.entry)
        self.share = share

    def compose(self) -> ComposeResult:
        yield Label(id="chosen")
        with VerticalScroll(id="entry-box", classes="pane") as box:
            box.border_title = Content(f"sharebench · Catalogue · {self.entry.name}")
            yield AnsiView(id="entry")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#entry-box").focus()
        self._show()
        if self.share is None:
            practice = self.context.practice
            self.with_notebook(lambda notebook: measured_share(notebook, practice), self._of_share)

    def _of_share(self, share: str | None) -> None:
        self.share = share
        self._show()

    @property
    def advice(self) -> Instructions:
        return advise(self.entry, self.value, share=self.share)

    def text_to_copy(self) -> str:
        return entry_text(self.entry, value=self.value, share=self.share)

    def _show(self) -> None:
        text = entry_text(self.entry, value=self.value, share=self.share, ansi=True)
        self.query_one("#chosen", Label).update(Content(self._chosen()))
        self.query_one("#entry", AnsiView).show(lambda _width, _height: text)

    def _chosen(self) -> str:
        if self.entry.status is Status.REMOVED:
            return "Removed: there is nothing to try."
        advice = self.advice
        said = f"{advice.section} {advice.line}".strip() or f"{advice.name} = {advice.value}"
        return "\n".join([said, *(f"! {text}" for text in advice.warnings if text != self.entry.risk)])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"take", "value", "try_it"} and self.entry.status is Status.REMOVED:
            return False
        return super().check_action(action, parameters)

    def action_take(self) -> None:
        advice, practice = self.advice, self.context.practice
        self.with_notebook(
            lambda notebook: take_change(notebook, practice, advice.name, advice.value), self.measure_with
        )

    def action_try_it(self) -> None:
        self.sharebench_app.visit("trial", setting=f"{self.advice.name} = {self.advice.value}")

    def action_value(self) -> None:

        def answered(value: str | None) -> None:
            if value is not None:
                self.value = value
                self._show()

        self.app.push_screen(ValueDialog(self.entry, self.value), answered)


class ValueDialog(BaseDialog[str]):
    """The values of an entry, and a line for another one."""

    ABOUT = "The value to try. Enter takes the one chosen, or what is typed."

    def __init__(self, entry: CatalogueEntry, value: str) -> None:
        super().__init__(classes="dialog")
        self.entry, self.value = entry, value

    def compose(self) -> ComposeResult:
        """The values to try, the default named as such; an input."""
        with Vertical(classes="dialog-box"):
            yield Label(Content(f"Value of {self.entry.parameter}"), classes="dialog-heading")
            yield OptionList(*(Option(Content(self._named(value))) for value in self.entry.values), id="values")
            yield Static("Or another one:")
            yield LineInput(placeholder=self.value, id="value")

    def _named(self, value: str) -> str:
        said = value or "(empty)"
        return f"{said}  (the default)" if value == self.entry.default else said

    def on_mount(self) -> None:
        if self.value in self.entry.values:
            self.query_one(OptionList).highlighted = self.entry.values.index(self.value)

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.entry.values[event.option_index])

    @on(Input.Submitted)
    def _type(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value.strip())
