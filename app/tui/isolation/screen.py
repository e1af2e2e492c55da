"""The lines to fill in before an isolation."""

from typing import ClassVar

from app.errors import UsageError
from app.isolation.request import IsolationRequest
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import MessageDialog
from app.tui.isolation.fields import LINES, MEMORY_KEY, first_values, read_request, target_of
from app.tui.isolation.run_screen import IsolationRunScreen
from app.tui.report_screen import ReportScreen
from app.tui.widgets.lines_screen import LinesScreen, hints_of
from app.workflows.guide.state.backend import PasswordNeededError
from app.workflows.isolate import isolation_called
from forms.isolation.report import isolation_report
from storage.notebook import LAST


class IsolationScreen(LinesScreen):
    """Asks what the isolation shall measure; what is typed is kept in the notebook, but for the password."""

    ABOUT = (
        "Is it Samba, the disk, or the network? One script of operations is asked of the server's disk, of the network,"
        " of both at once and of the server, by several clients, in turns. Disk and network need root and the package"
        " dbench on the server; without them the rest is measured. Fill in the lines, Enter goes to the next one."
    )
    HINTS: ClassVar = hints_of(LINES)
    KEYS: ClassVar = (
        KeyCommand("isolation.start", "f9", "Isolate", "Measure what the lines say.", footer="Start", priority=True),
        KeyCommand(
            "isolation.last", "ctrl+l", "Last isolation", "Show the one measured last.", footer="Last", priority=True
        ),
    )
    DEFAULT_CSS = """
    IsolationScreen .form-line > Label { width: 14; }
    """
    HEADING, BUTTON = "Isolation", "Isolate"
    LINES = LINES
    MEMORY_KEY = MEMORY_KEY
    first_values = staticmethod(first_values)

    def action_start(self) -> None:
        typed = self.typed()
        try:
            target = target_of(typed)
            try:
                secrets = self.context.logins.find(target)
            except PasswordNeededError:
                self.log_in(target)
                return
        except UsageError as error:
            self.app.push_screen(MessageDialog("Not understood", str(error)))
            return
        self.remember()
        self.in_background(lambda: read_request(typed, target, secrets), self._measure)

    def _measure(self, request: IsolationRequest) -> None:
        self.app.push_screen(IsolationRunScreen(request))

    def action_last(self) -> None:
        self.app.push_screen(
            ReportScreen("Isolation", lambda notebook: isolation_report(isolation_called(notebook, LAST)))
        )
