"""The lines to fill in before an isolation."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Button, Input, Label

from app.clients.base import Secrets
from app.errors import UsageError
from app.isolation.request import IsolationRequest
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import AskDialog, MessageDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.isolation.fields import LINES, MEMORY_KEY, first_values, read_request, target_of
from app.tui.isolation.run_screen import IsolationRunScreen
from app.tui.report_screen import ReportScreen
from app.tui.widgets.inputs import LineInput
from app.workflows.guide.state.backend import PasswordNeededError
from app.workflows.isolate import isolation_called
from forms.isolation.report import isolation_report
from storage.notebook import LAST


class IsolationScreen(BaseScreen):
    """Asks what the isolation shall measure; what is typed is kept in the notebook, but for the password."""

    ABOUT = (
        "Is it Samba, the disk, or the network? One script of operations is asked of the server's disk, of the network,"
        " of both at once and of the server, by several clients, in turns. Disk and network need root and the package"
        " dbench on the server; without them the rest is measured. Fill in the lines, Enter goes to the next one."
    )
    HINTS: ClassVar = {line.key: f"{line.name}: {line.hint}." for line in LINES}
    KEYS: ClassVar = (
        KeyCommand("isolation.start", "f9", "Isolate", "Measure what the lines say.", footer="Start", priority=True),
        KeyCommand(
            "isolation.last", "f8", "Last isolation", "Show the one measured last.", footer="Last", priority=True
        ),
    )
    DEFAULT_CSS = """
    IsolationScreen #isolation-lines { height: 1fr; padding: 1 1 0 1; }
    IsolationScreen .isolation-line { height: 1; margin-bottom: 1; }
    IsolationScreen .isolation-line > Label { width: 14; }
    IsolationScreen .isolation-line > Input { width: 1fr; background: $surface; }
    """

    def compose(self) -> ComposeResult:
        yield Label("sharebench · Isolation", classes="title-line")
        with VerticalScroll(id="isolation-lines", can_focus=False):
            for line in LINES:
                with Horizontal(classes="isolation-line"):
                    yield Label(line.name)
                    box = LineInput(id=line.key, placeholder=line.hint)
                    box.cursor_blink = False
                    yield box
            yield Button("Isolate", id="isolation-start", variant="primary")
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
        typed = self._typed()
        try:
            target = target_of(typed)
            secrets = self.context.logins.find(target)
        except PasswordNeededError:
            self._ask_password()
            return
        except UsageError as error:
            self.app.push_screen(MessageDialog("Not understood", str(error)))
            return
        self.with_notebook(lambda notebook: notebook.remember(MEMORY_KEY, dict(typed)))
        self.in_background(lambda: read_request(typed, target, secrets), self._measure)

    def _measure(self, request: IsolationRequest) -> None:
        self.app.push_screen(IsolationRunScreen(request))

    def _ask_password(self) -> None:
        target = target_of(self._typed())

        def answered(password: str | None) -> None:
            if password is not None:
                self.context.logins.keep(target, Secrets(password=password))
                self.action_start()

        text = f"Password of {target.user} on {target.host}; Escape gives up."
        self.app.push_screen(AskDialog("Log in", text, password=True), answered)

    def action_last(self) -> None:
        self.app.push_screen(
            ReportScreen("Isolation", lambda notebook: isolation_report(isolation_called(notebook, LAST)))
        )
