"""The lines to fill in before a survey."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Button, Input, Label

from app.clients.base import Secrets
from app.errors import UsageError
from app.logins import same_login
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import AskDialog, ConfirmDialog, MessageDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.survey.fields import LINES, MEMORY_KEY, first_values, read_choices
from app.tui.survey.run_screen import SurveyRunScreen
from app.tui.widgets.inputs import LineInput
from app.workflows.guide.state.backend import PasswordNeededError
from app.workflows.survey import SurveyChoices, SurveyRound, plan_round, targets_of
from storage.notebook import Notebook
from storage.records import Target


class SurveyScreen(BaseScreen):
    """Asks what the survey shall measure; what is typed is kept in the notebook, but for the password."""

    ABOUT = (
        "The survey measures a server from every side: FTP, SMB and bare TCP, get and put, on the loopback and over"
        " the network, in turns; then it says what to look at first. Fill in the lines, Enter goes to the next one."
    )
    HINTS: ClassVar = {line.key: f"{line.name}: {line.hint}." for line in LINES}
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
            "f8",
            "Begin a new survey",
            "Measure everything again, although an interrupted survey of the same could go on.",
            priority=True,
        ),
    )
    DEFAULT_CSS = """
    SurveyScreen #survey-lines { height: 1fr; padding: 1 1 0 1; }
    SurveyScreen .survey-line { height: 1; margin-bottom: 1; }
    SurveyScreen .survey-line > Label { width: 12; }
    SurveyScreen .survey-line > Input { width: 1fr; background: $surface; }
    """

    def compose(self) -> ComposeResult:
        yield Label("sharebench · Survey", classes="title-line")
        with VerticalScroll(id="survey-lines", can_focus=False):
            for line in LINES:
                with Horizontal(classes="survey-line"):
                    yield Label(line.name)
                    box = LineInput(id=line.key, placeholder=line.hint)
                    box.cursor_blink = False
                    yield box
            yield Button("Survey", id="survey-start", variant="primary")
        yield KeyBar()

    def on_mount(self) -> None:
        practice = self.context.practice
        self.with_notebook(lambda notebook: first_values(notebook.remembered(MEMORY_KEY), practice), self._fill)

    def _fill(self, values: dict[str, str]) -> None:
        for key, value in values.items():
            self.query_one(f"#{key}", Input).value = value
        self.query_one("#hosts").focus()

    def _typed(self) -> dict[str, str]:
        return {line.key: self.query_one(f"#{line.key}", Input).value for line in LINES}

    @on(Input.Submitted)
    def _next_line(self) -> None:
        self.focus_next()

    @on(Button.Pressed)
    def _pressed(self) -> None:
        self.action_start()

    def action_start(self) -> None:
        self._begin(again=False)

    def action_restart(self) -> None:
        self._begin(again=True)

    def _begin(self, *, again: bool) -> None:
        """Read the lines, ask for the password if there is a user, and plan."""
        try:
            choices = read_choices(self._typed())
            targets = targets_of(choices)
        except UsageError as error:
            self.app.push_screen(MessageDialog("Not understood", str(error)))
            return
        unknown = self._without_password(targets)
        if unknown is not None:
            self._ask_password(targets, unknown, again=again)
            return
        self._plan(choices, again=again)

    def _without_password(self, targets: list[Target]) -> Target | None:
        """The first target whose user's password nobody has said; one that is known for a host goes for all."""
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
            if said is None:
                return target
            logins.keep(target, said)
        return None

    def _ask_password(self, targets: list[Target], unknown: Target, *, again: bool) -> None:
        """One password for all targets of that user and protocol."""

        def answered(password: str | None) -> None:
            if password is None:
                return
            for target in targets:
                if same_login(target, unknown):
                    self.context.logins.keep(target, Secrets(password=password))
            self._begin(again=again)

        text = f"Password of {unknown.user} on {unknown.host}, by {unknown.abilities.label}; Escape gives up."
        self.app.push_screen(AskDialog("Log in", text, password=True), answered)

    def _plan(self, choices: SurveyChoices, *, again: bool) -> None:
        typed, logins = self._typed(), self.context.logins

        def plan(notebook: Notebook) -> SurveyRound:
            notebook.remember(MEMORY_KEY, dict(typed))
            return plan_round(choices, notebook, lambda target: (target, logins.find(target)), again=again)

        self.query_one("#survey-start", Button).disabled = True
        self.with_notebook(plan, self._planned, group="plan", exclusive=True)

    def work_failed(self, error: Exception) -> None:
        self.query_one("#survey-start", Button).disabled = False
        super().work_failed(error)

    def _planned(self, planned: SurveyRound) -> None:
        self.query_one("#survey-start", Button).disabled = False
        if not planned.continued:
            self.app.push_screen(SurveyRunScreen(planned))
            return

        def answered(go_on: bool | None) -> None:
            if go_on:
                self.app.push_screen(SurveyRunScreen(planned))

        text = (
            f"{planned.experiment.name} is not complete:"
            f" {len(planned.todo)} of {len(planned.stations)} series are to do. F8 begins a new one instead."
        )
        self.app.push_screen(ConfirmDialog("Go on with it?", text, yes="Go on", prefer_yes=True), answered)
