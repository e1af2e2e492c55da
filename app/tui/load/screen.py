"""The lines to fill in before a load."""

from typing import ClassVar

from app.clients.base import Secrets
from app.errors import UsageError
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import ConfirmDialog, MessageDialog
from app.tui.load.fields import LINES, MEMORY_KEY, first_values, read_request, read_target, request_to_resume
from app.tui.load.run_screen import LoadRunScreen
from app.tui.widgets.lines_screen import LinesScreen, hints_of
from app.workflows.guide.state.backend import PasswordNeededError
from app.workflows.load import check_limits
from forms.wording import count, plain
from storage.loads.records import Load
from storage.records import SeriesStatus
from storage.target_url import format_target


class LoadScreen(LinesScreen):
    """Asks what the users shall do; what is typed is kept in the notebook."""

    ABOUT = (
        "How many users does a server carry? A load has them work at once, each with a login of its own, on files that"
        " it makes and removes, and measures each number of users. Fill in the lines, Enter goes to the next one."
    )
    HINTS: ClassVar = hints_of(LINES)
    KEYS: ClassVar = (
        KeyCommand("load.start", "f9", "Load", "Begin with what the lines say.", footer="Start", priority=True),
        KeyCommand(
            "load.resume",
            "ctrl+l",
            "Go on with the last load",
            "Go on where the last load stopped, with what it was asked for.",
            footer="Go on",
            priority=True,
        ),
    )
    DEFAULT_CSS = """
    LoadScreen .form-line > Label { width: 15; }
    """
    HEADING = BUTTON = "Load"
    LINES = LINES
    MEMORY_KEY = MEMORY_KEY
    first_values = staticmethod(first_values)

    def __init__(self, target: str = "", ssh: str = "") -> None:
        """``target`` and the ``ssh`` of its server stand in their lines at first, where they are known."""
        super().__init__()
        self._known = {"target": target, "ssh": ssh} if target else {}

    def _fill(self, values: dict[str, str]) -> None:
        super()._fill(values | self._known)

    def action_start(self) -> None:
        typed, logins = self.typed(), self.context.logins
        try:
            target = read_target(typed)
            try:
                secrets = logins.find(target)
            except PasswordNeededError:
                self.log_in(target)
                return
            request = read_request(typed, secrets)
            check_limits(request.choices, request.targets)
        except UsageError as error:
            self.app.push_screen(MessageDialog("Not understood", str(error)))
            return
        self.remember()
        self.app.push_screen(LoadRunScreen(request))

    def action_resume(self) -> None:
        self.with_notebook(lambda notebook: notebook.last_load(), self._ask_to_resume)

    def _ask_to_resume(self, load: Load | None) -> None:
        if load is None or load.status is SeriesStatus.COMPLETE or load.imported_at is not None:
            why = "There is none." if load is None else "It was imported." if load.imported_at else "It is complete."
            self.app.push_screen(MessageDialog("The last load cannot go on", f"{why} F9 begins a new one."))
            return

        def answered(go_on: bool | None) -> None:
            if go_on:
                self._resume(load)

        text = (
            f"{load.label or load.id} on {format_target(load.targets[0], escaped=False)} stopped after"
            f" {count(len(load.points), 'point')}, which {'is' if len(load.points) == 1 else 'are'} kept."
        )
        self.app.push_screen(ConfirmDialog("Go on with it?", plain(text), yes="Go on", prefer_yes=True), answered)

    def _resume(self, load: Load) -> None:
        target, logins = load.targets[0], self.context.logins

        def said(secrets: Secrets) -> None:
            logins.keep(target, secrets)
            self._resume(load)

        try:
            secrets = logins.find(target)
        except PasswordNeededError:
            self.ask_password(target, said)
            return
        self.app.push_screen(LoadRunScreen(request_to_resume(load, secrets, self.typed()), load))
