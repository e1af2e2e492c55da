"""The lines to fill in before a load."""

from typing import ClassVar

from app.errors import UsageError
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import MessageDialog
from app.tui.load.fields import LINES, MEMORY_KEY, first_values, read_request, read_target
from app.tui.load.run_screen import LoadRunScreen
from app.tui.widgets.lines_screen import LinesScreen, hints_of
from app.workflows.guide.state.backend import PasswordNeededError
from app.workflows.load import check_limits


class LoadScreen(LinesScreen):
    """Asks what the users shall do; what is typed is kept in the notebook."""

    ABOUT = (
        "How many users does a server carry? A load has them work at once, each with a login of its own, on files that"
        " it makes and removes, and measures each number of users. Fill in the lines, Enter goes to the next one."
    )
    HINTS: ClassVar = hints_of(LINES)
    KEYS: ClassVar = (
        KeyCommand("load.start", "f9", "Load", "Begin with what the lines say.", footer="Start", priority=True),
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
