"""The lines to fill in before a load."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Button, Input, Label

from app.clients.base import Secrets
from app.errors import UsageError
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import AskDialog, MessageDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.load.fields import LINES, MEMORY_KEY, first_values, read_request, read_target
from app.tui.load.run_screen import LoadRunScreen
from app.tui.widgets.inputs import LineInput
from app.workflows.guide.state.backend import PasswordNeededError
from app.workflows.load import check_limits


class LoadScreen(BaseScreen):
    """Asks what the users shall do; what is typed is kept in the notebook."""

    ABOUT = (
        "How many users does a server carry? A load has them work at once, each with a login of its own, on files that"
        " it makes and removes, and measures each number of users. Fill in the lines, Enter goes to the next one."
    )
    HINTS: ClassVar = {line.key: f"{line.name}: {line.hint}." for line in LINES}
    KEYS: ClassVar = (
        KeyCommand("load.start", "f9", "Load", "Begin with what the lines say.", footer="Start", priority=True),
    )
    DEFAULT_CSS = """
    LoadScreen #load-lines { height: 1fr; padding: 1 1 0 1; }
    LoadScreen .load-line { height: 1; margin-bottom: 1; }
    LoadScreen .load-line > Label { width: 15; }
    LoadScreen .load-line > Input { width: 1fr; background: $surface; }
    """

    def compose(self) -> ComposeResult:
        yield Label("sharebench · Load", classes="title-line")
        with VerticalScroll(id="load-lines", can_focus=False):
            for line in LINES:
                with Horizontal(classes="load-line"):
                    yield Label(line.name)
                    box = LineInput(id=line.key, placeholder=line.hint)
                    box.cursor_blink = False
                    yield box
            yield Button("Load", id="load-start", variant="primary")
        yield KeyBar()

    def on_mount(self) -> None:
        practice = self.context.practice
        self.with_notebook(lambda notebook: first_values(notebook.remembered(MEMORY_KEY), practice), self._fill)

    def _fill(self, values: dict[str, str]) -> None:
        for key, value in values.items():
            self.query_one(f"#{key}", Input).value = value
        self.query_one("#target").focus()

    def _typed(self) -> dict[str, str]:
        return {line.key: self.query_one(f"#{line.key}", Input).value for line in LINES}

    @on(Input.Submitted)
    def _next_line(self) -> None:
        self.focus_next()

    @on(Button.Pressed)
    def _pressed(self) -> None:
        self.action_start()

    def action_start(self) -> None:
        typed, logins = self._typed(), self.context.logins
        try:
            target = read_target(typed)
            try:
                secrets = logins.find(target)
            except PasswordNeededError:
                self._ask_password()
                return
            request = read_request(typed, secrets)
            check_limits(request.choices, request.targets)
        except UsageError as error:
            self.app.push_screen(MessageDialog("Not understood", str(error)))
            return
        self.with_notebook(lambda notebook: notebook.remember(MEMORY_KEY, dict(typed)), lambda _: None)
        self.app.push_screen(LoadRunScreen(request))

    def _ask_password(self) -> None:
        target = read_target(self._typed())

        def answered(password: str | None) -> None:
            if password is not None:
                self.context.logins.keep(target, Secrets(password=password))
                self.action_start()

        text = f"Password of {target.user} on {target.host}; Escape gives up."
        self.app.push_screen(AskDialog("Log in", text, password=True), answered)
