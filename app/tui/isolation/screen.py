"""The lines to fill in before an isolation."""

from dataclasses import replace
from typing import ClassVar

from app.clients.base import Secrets
from app.errors import UsageError
from app.isolation.request import IsolationRequest
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import MessageDialog
from app.tui.isolation.fields import LINES, MEMORY_KEY, first_values, read_request, target_of
from app.tui.isolation.run_screen import IsolationRunScreen
from app.tui.isolation.stored_screen import StoredIsolationScreen, isolation_line
from app.tui.widgets.lines_screen import LinesScreen, hints_of
from app.tui.widgets.login import log_in
from app.tui.widgets.stored import StoredDialog


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
            "isolation.stored",
            "ctrl+l",
            "Stored isolations",
            "List the isolations of the notebook: to read, label and export one, or to complete one that stopped.",
            footer="Stored",
            priority=True,
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

        def read() -> IsolationRequest:
            return read_request(typed, target_of(typed), Secrets())

        self.in_background(read, self._log_in)

    def work_failed(self, error: Exception) -> None:
        if isinstance(error, UsageError):
            self.app.push_screen(MessageDialog("Not understood", str(error)))
        else:
            super().work_failed(error)

    def _log_in(self, request: IsolationRequest) -> None:
        self.remember()
        log_in(self, request.target, lambda secrets: self._measure(replace(request, secrets=secrets)))

    def _measure(self, request: IsolationRequest) -> None:
        self.app.push_screen(IsolationRunScreen(request))

    def action_stored(self) -> None:
        self.with_notebook(
            lambda notebook: [(one.id, isolation_line(one)) for one in notebook.isolations()], self._choose
        )

    def _choose(self, found: list[tuple[str, str]]) -> None:

        def answered(isolation_id: str | None) -> None:
            if isolation_id is not None:
                self.app.push_screen(StoredIsolationScreen(isolation_id))

        if found:
            self.app.push_screen(StoredDialog("Isolations", found), answered)
        else:
            self.app.push_screen(MessageDialog("Isolations", "There is none yet; F9 begins one."))
