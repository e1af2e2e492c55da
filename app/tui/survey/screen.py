"""The lines to fill in before a survey."""

from typing import ClassVar

from textual.widgets import Button

from app.clients.base import Secrets
from app.errors import UsageError
from app.logins import same_login
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import ConfirmDialog, MessageDialog
from app.tui.survey.fields import LINES, MEMORY_KEY, first_values, read_choices
from app.tui.survey.run_screen import SurveyRunScreen
from app.tui.widgets.lines_screen import LinesScreen, hints_of
from app.tui.widgets.login import ask_password
from app.workflows.guide.state.backend import PasswordNeededError
from app.workflows.survey import SurveyChoices, SurveyRound, plan_round, targets_of
from storage.notebook import Notebook
from storage.records import Target


class SurveyScreen(LinesScreen):
    """Asks what the survey shall measure; what is typed is kept in the notebook, but for the password."""

    ABOUT = (
        "The survey measures a server from every side: FTP, SMB and bare TCP, get and put, on the loopback and over"
        " the network, in turns; then it says what to look at first. Fill in the lines, Enter goes to the next one."
    )
    HINTS: ClassVar = hints_of(LINES)
    KEYS: ClassVar = (
        KeyCommand(
            "survey.start",
            "f9",
            "Survey",
            "Measure what the lines say; an interrupted survey of the same goes on.",
            footer="Start",
            priority=True,
        ),
        KeyCommand(
            "survey.restart",
            "ctrl+r",
            "Begin a new survey",
            "Measure everything again, although an interrupted survey of the same could go on.",
            priority=True,
        ),
    )
    DEFAULT_CSS = """
    SurveyScreen .form-line > Label { width: 12; }
    """
    HEADING = BUTTON = "Survey"
    LINES = LINES
    MEMORY_KEY = MEMORY_KEY
    first_values = staticmethod(first_values)

    def action_start(self) -> None:
        self._begin(again=False)

    def action_restart(self) -> None:
        self._begin(again=True)

    def _begin(self, *, again: bool) -> None:
        """Read the lines, ask for the password if there is a user, and plan."""
        try:
            choices = read_choices(self.typed())
            targets = targets_of(choices)
        except UsageError as error:
            self.app.push_screen(MessageDialog("Not understood", str(error)))
            return
        unknown = self._without_password(targets)
        if unknown is not None:
            self._ask_password(targets, unknown, again=again)
            return
        self._plan(choices, targets, again=again)

    def _without_password(self, targets: list[Target]) -> Target | None:
        """The first target whose user's password nobody has said; one that is known for a host goes for all.

        But not for one that refused it.
        """
        logins = self.context.logins
        known: list[tuple[Target, Secrets]] = []
        unknown: list[Target] = []
        for target in targets:
            try:
                known.append((target, logins.find(target)))
            except PasswordNeededError:
                unknown.append(target)
        for target in unknown:
            said = next((secrets for other, secrets in known if same_login(other, target)), None)
            if said is None or logins.is_refused(target):
                return target
            logins.keep(target, said)
        return None

    def _ask_password(self, targets: list[Target], unknown: Target, *, again: bool) -> None:
        """One password for all targets of that user and protocol of which none is known."""
        logins = self.context.logins

        def answered(secrets: Secrets) -> None:
            for target in targets:
                if same_login(target, unknown) and not logins.knows(target):
                    logins.keep(target, secrets)
            self._begin(again=again)

        ask_password(self, unknown, answered)

    def _plan(self, choices: SurveyChoices, targets: list[Target], *, again: bool) -> None:
        logins = self.context.logins
        self.remember()

        def plan(notebook: Notebook) -> SurveyRound:
            return plan_round(choices, notebook, lambda target: (target, logins.find(target)), again=again)

        self.query_one("#start", Button).disabled = True
        self.with_notebook(plan, lambda planned: self._planned(planned, targets), group="plan", exclusive=True)

    def work_failed(self, error: Exception) -> None:
        self.query_one("#start", Button).disabled = False
        super().work_failed(error)

    def _run_screen(self, planned: SurveyRound, targets: list[Target]) -> SurveyRunScreen:
        return SurveyRunScreen(planned, targets, lambda: self._begin(again=False))

    def _planned(self, planned: SurveyRound, targets: list[Target]) -> None:
        self.query_one("#start", Button).disabled = False
        if not planned.continued:
            self.app.push_screen(self._run_screen(planned, targets))
            return

        def answered(go_on: bool | None) -> None:
            if go_on:
                self.app.push_screen(self._run_screen(planned, targets))

        text = (
            f"{planned.experiment.name} is not complete:"
            f" {len(planned.todo)} of {len(planned.stations)} series are to do. Ctrl+R begins a new one instead."
        )
        self.app.push_screen(ConfirmDialog("Go on with it?", text, yes="Go on", prefer_yes=True), answered)
