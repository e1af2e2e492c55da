"""Small dialogs: message, question, list, line of text."""

from collections.abc import Sequence
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from textual import containers, events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Button, Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from app.tui.frame.base import BaseDialog
from app.tui.frame.commands import keys
from app.tui.frame.parts import LineInput
from forms import layout

CLOSES = "esc Close"

_T = TypeVar("_T")


class BoxDialog(BaseDialog[_T], Generic[_T]):
    """A heading, a text, and below them what the subclass yields in ``answers``."""

    def __init__(self, heading: str, text: str) -> None:
        super().__init__()
        self.heading = heading
        self.text = text

    def compose(self) -> ComposeResult:
        with containers.Vertical(classes="dialog-box"):
            yield Label(Content(layout.visible(self.heading)), classes="dialog-heading")
            yield Static(Content("\n".join(layout.lines_of(self.text))), classes="dialog-text")
            yield from self.answers()

    def answers(self) -> ComposeResult:
        raise NotImplementedError


class MessageDialog(BoxDialog[None]):
    """A message to be closed with Enter."""

    UNREAD_SECONDS: ClassVar = 0.6
    """An Enter within this time was meant for the screen below."""

    def on_screen_resume(self) -> None:
        self._shown_at = monotonic()

    def answers(self) -> ComposeResult:
        yield Button("OK", id="ok", variant="primary")

    @on(Button.Pressed)
    def _ok(self) -> None:
        if monotonic() - self._shown_at >= self.UNREAD_SECONDS:
            self.dismiss(None)


class ConfirmDialog(BoxDialog[bool]):
    """A question with two buttons; answers True for ``yes``, and False for ``no`` and Escape."""

    def __init__(self, heading: str, text: str, *, yes: str, no: str = "Cancel", prefer_yes: bool = False) -> None:
        super().__init__(heading, text)
        self.yes = yes
        self.no = no
        self.prefer_yes = prefer_yes

    def answers(self) -> ComposeResult:
        with containers.Horizontal(classes="dialog-buttons"):
            yield Button(Content(f"{self.yes} (y)"), id="yes", variant="primary" if self.prefer_yes else "default")
            yield Button(Content(f"{self.no} (n)"), id="no", variant="default" if self.prefer_yes else "primary")

    def on_mount(self) -> None:
        self.query_one("#yes" if self.prefer_yes else "#no", Button).focus()

    def enter_now(self) -> str:
        return self.yes if self.query_one("#yes").has_focus else self.no

    def on_key(self, event: events.Key) -> None:
        if event.key in {"left", "right"}:
            self.query_one("#yes" if event.key == "left" else "#no").focus()
        elif event.key in {"y", "n"}:
            event.stop()  # or it would be a key of the screen below as well
            self.dismiss(event.key == "y" and self.query_one("#yes", Button).display)

    def action_close(self) -> None:
        self.dismiss(result=False)

    def withdraw(self, text: str) -> None:
        """Ask no more: what was asked for has happened by itself."""
        self.query_one(".dialog-text", Static).update(Content(layout.visible(text)))
        self.query_one("#yes", Button).display = False

        self.no = "OK"
        no_button = self.query_one("#no", Button)
        no_button.label = self.no
        no_button.focus()

    @on(Button.Pressed)
    def _answer(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")


class PickDialog(BaseDialog[_T], Generic[_T]):
    """A list to choose from; answers with the value of the row taken. Rows without a value are headings."""

    def __init__(
        self,
        heading: str,
        rows: Sequence[tuple[_T | None, str]],
        *,
        about: str,
        text: str = "",
        at: int | None = None,
        wide: bool = False,
    ) -> None:
        """``about`` is what F1 says; ``text`` stands above the list."""
        super().__init__()
        self.heading = heading
        self.rows = rows
        self.about = about
        self.text = text
        self.at = at
        self.wide = wide

    def about_now(self) -> str:
        return self.about

    def compose(self) -> ComposeResult:
        with containers.Vertical(classes="dialog-box list-box" if self.wide else "dialog-box"):
            yield Label(Content(layout.visible(self.heading)), classes="dialog-heading")
            if self.text:
                yield Static(Content(layout.visible(self.text)), classes="dialog-text")
            yield OptionList(
                *(Option(Content(layout.visible(line)), disabled=value is None) for value, line in self.rows)
            )

    def on_mount(self) -> None:
        if self.at is not None:
            self.query_one(OptionList).highlighted = self.at

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        value, _ = self.rows[event.option_index]
        self.dismiss(value)


class AskDialog(BoxDialog[str]):
    """Asks for a line of text; with ``needed`` it takes no empty one."""

    def __init__(
        self,
        heading: str,
        text: str,
        *,
        value: str = "",
        password: bool = False,
        needed: bool = False,
        problem: str = "",
    ) -> None:
        super().__init__(heading, text)
        self.needed = needed
        self.problem = problem
        """Why what was typed before was not taken; it stands below the line."""
        self.box = LineInput(value, password=password, id="answer")

    def answers(self) -> ComposeResult:
        yield self.box
        if self.problem:
            yield Static(Content("\n".join(layout.lines_of(f"! {self.problem}"))), classes="dialog-problem")

    def type_on(self, text: str) -> None:
        """Append what was typed while another widget of the dialog had the focus."""
        self.box.select_on_focus = False
        self.box.value += text
        self.box.cursor_position = len(self.box.value)
        self.box.focus()

    def on_key(self, event: events.Key) -> None:
        if event.character and event.is_printable:
            event.stop()
            self.type_on(event.character)

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        if event.value.strip() or not self.needed:
            self.dismiss(event.value)
        else:
            self.box.placeholder = "empty: type it here, or leave with Escape"


class TextDialog(BoxDialog[None]):
    """A long text to scroll through."""

    KEYS: ClassVar = keys("help.close")

    def compose(self) -> ComposeResult:
        with containers.VerticalScroll(classes="dialog-box wide-box") as box:
            box.border_title = Content(layout.visible(self.heading))
            box.border_subtitle = CLOSES
            yield Static(Content("\n".join(layout.lines_of(self.text))), classes="dialog-text")
