"""The small dialogs: an error or a message, a question with two answers, a question with a line of text."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Label, Static

from app.tui.frame.base import BaseDialog
from app.tui.widgets.inputs import LineInput
from forms.layout import visible


class MessageDialog(BaseDialog[None]):
    """Something the admin must read; Enter or Escape closes it."""

    ABOUT = "A message. Enter closes it."

    def __init__(self, heading: str, text: str) -> None:
        super().__init__(classes="dialog")
        self.heading = heading
        self.text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label(Content(visible(self.heading)), classes="dialog-heading")
            yield Static(Content(visible(self.text)), classes="dialog-text")
            yield Button("OK", id="ok", variant="primary")

    @on(Button.Pressed)
    def _ok(self) -> None:
        self.dismiss(None)


class ConfirmDialog(BaseDialog[bool]):
    """A question with two answers; Escape means no."""

    ABOUT = "A question. Left and right choose, Enter answers, Escape means no."

    def __init__(self, heading: str, text: str, *, yes: str, no: str = "Cancel", prefer_yes: bool = False) -> None:
        super().__init__(classes="dialog")
        self.heading, self.text, self.yes, self.no = heading, text, yes, no
        self.prefer_yes = prefer_yes

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label(Content(visible(self.heading)), classes="dialog-heading")
            yield Static(Content(visible(self.text)), classes="dialog-text")
            with Horizontal(classes="dialog-buttons"):
                yield Button(Content(self.yes), id="yes", variant="primary")
                yield Button(Content(self.no), id="no")

    def on_mount(self) -> None:
        self.query_one("#yes" if self.prefer_yes else "#no", Button).focus()

    def key_left(self) -> None:
        self.query_one("#yes", Button).focus()

    def key_right(self) -> None:
        self.query_one("#no", Button).focus()

    def action_close(self) -> None:
        self.dismiss(result=False)

    def withdraw(self, text: str) -> None:
        """There is nothing to decide any more: say so, and wait for the key that was meant for the question."""
        self.query_one(".dialog-text", Static).update(Content(visible(text)))
        self.query_one("#yes", Button).display = False
        self.query_one("#no", Button).label = "OK"
        self.query_one("#no", Button).focus()

    @on(Button.Pressed)
    def _answer(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")


class AskDialog(BaseDialog[str]):
    """A question for one line of text, or for a password; Escape answers None."""

    ABOUT = "A question. Type, then Enter. Escape leaves without an answer."

    def __init__(
        self, heading: str, text: str, *, value: str = "", password: bool = False, needed: bool = False
    ) -> None:
        super().__init__(classes="dialog")
        self.heading, self.text, self.value = heading, text, value
        self.password, self.needed = password, needed

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label(Content(visible(self.heading)), classes="dialog-heading")
            yield Static(Content(visible(self.text)), classes="dialog-text")
            box = LineInput(self.value, password=self.password, id="answer")
            box.cursor_blink = False
            yield box

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        if event.value or not self.needed:
            self.dismiss(event.value)
