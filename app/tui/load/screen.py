"""The lines to fill in before a load."""

from dataclasses import replace
from typing import ClassVar

from app.clients.base import Secrets
from app.errors import UsageError
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import MessageDialog
from app.tui.load.fields import LINES, MEMORY_KEY, first_values, read_request
from app.tui.load.run_screen import LoadRunScreen
from app.tui.load.stored_screen import StoredLoadScreen, load_line
from app.tui.widgets.lines_screen import LinesScreen, hints_of
from app.tui.widgets.login import log_in
from app.tui.widgets.stored import StoredDialog
from app.workflows.load import LoadRequest, check_limits


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
            "load.stored",
            "ctrl+l",
            "Stored loads",
            "List the loads of the notebook: to read, label and export one, or to go on with one that stopped.",
            footer="Stored",
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
        typed = self.typed()
        try:
            request = read_request(typed, Secrets())
            check_limits(request.choices, request.targets)
        except UsageError as error:
            self.app.push_screen(MessageDialog("Not understood", str(error)))
            return
        self.remember()
        log_in(self, request.targets[0], lambda secrets: self._begin(replace(request, secrets=secrets)))

    def _begin(self, request: LoadRequest) -> None:
        self.app.push_screen(LoadRunScreen(request))

    def action_stored(self) -> None:
        self.with_notebook(lambda notebook: [(load.id, load_line(load)) for load in notebook.loads()], self._choose)

    def _choose(self, found: list[tuple[str, str]]) -> None:

        def answered(load_id: str | None) -> None:
            if load_id is not None:
                self.app.push_screen(StoredLoadScreen(load_id))

        if found:
            self.app.push_screen(StoredDialog("Loads", found), answered)
        else:
            self.app.push_screen(MessageDialog("Loads", "There is none yet; F9 begins one."))
