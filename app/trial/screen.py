"""A trial on the screen: it shows what would be written, asks, measures while it shows how far it is, and then the
result.

Until the user consents with y, nothing is written: `_prepare_order` finds the setting on the server and what is to be
measured, and `_show_order` shows that. Where the setting has a risk, or needs a restart of smbd, there is no order yet;
y accepts that first, and the order is prepared anew.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.base.errors import CancelledError, LoginError, UsageError
from app.base.limits import MOST_MINUTES
from app.clients.session_logins import PasswordNeededError
from app.method.choices import GuideChoices, MethodStep, choices_of, with_made_file
from app.method.improvements import LARGER_FILE
from app.method.known_ways import keep_typed_ways, with_known_ways
from app.method.next_steps import NextStep
from app.method.proof import proof_of_round
from app.method.round_requests import request_of
from app.method.rounds import recall_choices, remember, repeat_of, series_of_round
from app.method.server_question import SERVER_QUESTION, SERVER_QUESTION_TEXT, typed_server, with_typed_server
from app.recording.process import RunStarted, ScratchMade, Started
from app.series.events import words
from app.server.changes.script import ChangeFailedError, ConsentNeededError
from app.trial.consent import consent_lines, restore_lines, state_before_consent, state_before_risk
from app.trial.resume import stored_trial
from app.trial.slot_clock import SlotClock
from app.trial.spec import Judged, SettingRestored, TrialOrder, ValueSet
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import AskDialog
from app.tui.frame.error_texts import describe_error
from app.tui.widgets import logins
from app.tui.widgets.reading import RecordingGoesOn
from app.tui.widgets.recording import REDRAW_SECONDS
from app.tui.widgets.report_run import ReportRunScreen
from app.tui.widgets.views import FiguresView, join_toned
from forms.layout import Toned, hanging, visible
from forms.report import Report
from forms.stats.decision import Doubt
from forms.trial.changes_report import ChangeSummary, change_report
from forms.trial.report import verdict_field
from forms.trial.summary import TrialSummary
from storage.notebook import Notebook
from storage.records import Command, Decision, Target

_LOOKING = "Looking at the server …"
"""What is shown while the order is prepared."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What the user accepts before there is an order: names whose risks are taken, and whether smbd may restart."""

    risks_of: tuple[str, ...] = ()
    restart: bool = False


class TrialScreen(ReportRunScreen, RecordingGoesOn):
    """One trial, new or resumed.

    Methods without an underscore are hooks: of `ReportRunScreen` (`begin`, which is called when the screen is shown,
    `events`, `take_event`, `now`, `headline`, `draw_heard`, `measurement_ended`, `keeps_from_leaving`), of
    `RecordingGoesOn` (`offer`, by the key of the next step), of `Exports` (`export_name`), and of every screen
    (`work_failed`, `check_action`).
    """

    KEYS: ClassVar = (
        *keys("screen.next trial.accept trial.anew trial.consent trial.put trial.get trial.server trial.within"),
        *keys("trial.stop trial.export"),
    )
    STOP_HEADING = "Stop the trial?"
    STOP_TEXT = "Every setting is restored, and complete pairs are kept."
    QUIT_TEXT = "A trial is running. Quitting stops it and restores every setting."

    def __init__(self, setting: str, experiment: str = "") -> None:
        """``setting`` is NAME = VALUE; ``experiment`` the stored trial to resume, empty for a new one."""
        super().__init__(f"Trial · {setting}")
        self.setting = setting
        self.experiment = experiment
        self.order: TrialOrder | None = None
        """What would be carried out, or is; None until it is prepared, and while something is to be accepted first."""
        self.summary: ChangeSummary | None = None
        """The result so far; None before the first pair was judged."""

        # Until the user consents
        self._choices = GuideChoices()
        """What the user chose in the guide: the target, the file, and how it is measured."""
        self._command: Command | None = None
        """What is measured in place of what was chosen there; None for that."""
        self._target: Target | None = None
        """None until it is known what is measured."""
        self._to_accept: Acceptance | None = None
        """What y consents to before there is an order."""
        self._accepted = Acceptance()
        """What was accepted so far."""
        self._is_prepared = False
        """Whether there is an order, or it is said why there is none."""
        self._within_minutes = 0
        """The time limit; 0 for none."""

        # From then on
        self._begun = False
        """Whether the user has consented, and it measures."""
        self._clock = SlotClock()
        """What the slots took so far; in a slot one value is measured."""

        # What is shown
        self._now = _LOOKING
        """The line that says what happens."""
        self._lines: list[str] = []
        """What is shown below it until there is a result."""
        self._doing = ""
        """What a run does before it moves its first byte."""
        self._restored = ""
        """That all is restored, or why not; empty until that is known."""

    @property
    def is_over(self) -> bool:
        return not self._begun or not self._recording

    # Preparing: nothing is written yet

    def begin(self) -> None:
        """Prepare the order, anew where something was accepted or chosen; the base class would measure at once."""
        self._now = _LOOKING
        self._lines = []
        self._to_accept = None
        self._is_prepared = False
        self.order = None
        self.refresh_bindings()
        self.draw()
        self.with_notebook(self._prepare_order, self._show_order)

    # By its key where the server had the value already that is to be tried: it may be another one by now.
    action_anew = begin

    def _begin_logged_in(self, _secrets: object) -> None:
        self.begin()

    def _prepare_order(self, notebook: Notebook) -> TrialOrder | None:
        """The trial as it would be carried out; None where target and file are not chosen yet. Takes seconds."""
        if self.experiment:
            return self._order_to_resume(notebook)

        choices = with_known_ways(notebook, recall_choices(notebook, self.context.practice))
        if choices.target is None or choices.run_bytes is None:
            return None
        self._choices = choices
        self._target = choices.target

        measured = self._with_settings_of_base(notebook, choices)
        if self._command not in {None, choices.spec.command}:
            measured = with_made_file(measured, self._command, choices.run_bytes)

        secrets = self.context.logins.find(choices.target, kerberos=choices.kerberos)
        return self.context.backend.order_trial(
            request_of(measured, secrets),
            self.setting,
            accepted=self._accepted.risks_of,
            restart=self._accepted.restart,
            keeps_size=choices.makes_file,
        )

    def _with_settings_of_base(self, notebook: Notebook, choices: GuideChoices) -> GuideChoices:
        """The choices, with the requests' size and number of the base where a change is tried that is not decided on.

        The guide's own choices may be those of the change.
        """
        series = series_of_round(notebook, choices)
        proof = proof_of_round(notebook, choices)
        is_undecided = series and series.change and series.decision is not Decision.KEPT
        if not proof or not is_undecided or choices.step is MethodStep.CHANGE:
            return choices

        of_base = choices_of(proof.base[0]).spec.settings
        settings = replace(choices.spec.settings, in_flight=of_base.in_flight, block_bytes=of_base.block_bytes)
        return replace(choices, spec=replace(choices.spec, settings=settings))

    def _order_to_resume(self, notebook: Notebook) -> TrialOrder:
        stored = stored_trial(notebook, self.experiment)
        self._target = stored.base.target

        plan = replace(
            stored.plan,
            accepted_risks=(*stored.plan.accepted_risks, *self._accepted.risks_of),
            allow_restart=stored.plan.allow_restart or self._accepted.restart,
        )
        secrets = self.context.logins.find(self._target)
        return self.context.backend.resume_trial(replace(stored, plan=plan), secrets)

    def work_failed(self, error: Exception) -> None:
        """Say why there is no order: ask for a login or a consent first, where that is all that is missing."""
        if self._begun:
            super().work_failed(error)
            return

        # With Kerberos there is no password to ask for. Behind the dialog stands why the trial is not prepared.
        if isinstance(error, LoginError) and self._target is not None and not self._choices.kerberos:
            self._log_in(self._target, error)

        self._is_prepared = True
        self._now = "Nothing was written."
        self._lines = []
        if not isinstance(error, PasswordNeededError):
            _, text = describe_error(error)
            self._lines = [text]
        if isinstance(error, ConsentNeededError):
            self._to_accept = self._acceptance_of(error)
            self._now = state_before_risk(error.risk_of)
        self.refresh_bindings()
        self.draw()

    def _log_in(self, target: Target, error: LoginError) -> None:
        if isinstance(error, PasswordNeededError):
            logins.log_in(self, target, self._begin_logged_in)
        else:
            logins.log_in_again(self, [target], str(error), self._begin_logged_in)

    def _acceptance_of(self, error: ConsentNeededError) -> Acceptance:
        """What is to be accepted besides what was."""
        if error.risk_of is None:
            return replace(self._accepted, restart=True)
        return replace(self._accepted, risks_of=(*self._accepted.risks_of, error.risk_of))

    def _show_order(self, order: TrialOrder | None) -> None:
        if order is None:
            self._choose_target()
            return

        if self._within_minutes:
            order = replace(order, within_seconds=60.0 * self._within_minutes)
        self.order = order
        self._is_prepared = True
        self._now = state_before_consent(order)
        self._lines = list(consent_lines(order))
        self.refresh_bindings()
        self.draw()

    def _choose_target(self) -> None:
        self._now = "Nothing was written."
        self._lines = ["No target and file are chosen: F3 chooses them."]
        self.draw()

        self.choose_measurement(f"Choose what the trial of {visible(self.setting)} is to measure.", self.begin)

    def _begin_chosen(self, _answer: object) -> None:
        self.begin()

    def action_accept(self) -> None:
        assert self._to_accept is not None
        self._accepted = self._to_accept
        self.begin()

    def action_measure(self, command: str) -> None:
        self._command = Command(command)
        self.begin()

    def action_within(self) -> None:
        order = self.order
        assert order is not None

        def take_limit(text: str) -> None:
            minutes = text.strip()
            if minutes and not (minutes.isdecimal() and 1 <= int(minutes) <= MOST_MINUTES):
                error = UsageError(f"not a number of minutes: {text!r}; 1 to {MOST_MINUTES}, or nothing for no limit")
                self.sharebench_app.tell_error(error)
                return
            self._within_minutes = int(minutes or 0)
            self._show_order(replace(order, within_seconds=math.inf))

        about = "Longest time in minutes, or nothing for no limit. What is undecided then can be resumed."
        self.ask(AskDialog("Time limit", about, value=str(self._within_minutes or "")), take_limit)

    def action_server(self) -> None:
        def take_server(text: str) -> None:
            try:
                choices = with_typed_server(self._choices, text)
            except UsageError as error:
                self.sharebench_app.tell_error(error)
                return
            self.order = None
            self._to_accept = None
            self._accepted = Acceptance()
            self.with_notebook(partial(_keep_server, choices=choices), self._begin_chosen)

        self.ask(AskDialog(SERVER_QUESTION, SERVER_QUESTION_TEXT, value=typed_server(self._choices)), take_server)

    # Measuring

    def action_consent(self) -> None:
        # From here on the server is changed: what is needed to restore it is stored first.
        self._begun = True
        self._now = "Recording how to restore the setting"
        self._lines = list(restore_lines(self.order)) if self.order else []
        self.refresh_bindings()
        self.listen(self.events, every_seconds=REDRAW_SECONDS)

    def events(self) -> Iterator[tuple[int, Any]]:
        assert self.order
        self.watch_machine(self.order.request.target)
        for event in self.context.backend.carry_out(self.order, self.context.notebook_path, self.control):
            yield 0, event

    def take_event(self, index: int, event: Any) -> None:
        match event:
            case ValueSet():
                self._take_value(event)
            case RunStarted():
                self._doing = ""
            case Started() | ScratchMade():
                self._doing = f", {words(event)}"

            case Judged(summary=summary):
                self.summary = summary
                # Who has scrolled to the end goes on seeing it.
                box = self.query_one("#run-box")
                if box.scroll_y >= box.max_scroll_y:
                    self.call_after_refresh(self._scroll_to_end)

            case SettingRestored(text=text):
                self._now = self._restored = text

    def _take_value(self, event: ValueSet) -> None:
        assert self.order
        # A trial ends at one of its looks, each after a number of pairs: at the last one at the latest.
        most_pairs = self.order.plan.looks[-1]
        self._clock.begin_slot(most_pairs - event.block, monotonic())

        value = "as it is" if event.value is None else event.value
        self._now = f"Pair {event.block} of at most {most_pairs}: {self.order.setting.name} {value}"
        self._doing = ""

    def _scroll_to_end(self) -> None:
        if not self._is_report_shown:
            self.query_one("#run-box").scroll_end(animate=False)

    def now(self) -> str:
        if self.is_over or self.order is None:
            return self._now
        if self._restored:
            return f"{self._restored}. Working out the result …"

        verdict_so_far = self.summary.so_far if isinstance(self.summary, TrialSummary) else ""
        time_left = self._clock.time_left(self.order, monotonic())
        return f"{self._now}{self._doing}{verdict_so_far}{time_left}"

    def headline(self) -> Content:
        if not isinstance(self.summary, TrialSummary):
            return Content(visible(self._now))
        verdict = verdict_field(self.summary)
        return join_toned([Toned(visible(verdict.text), verdict.tone), visible(self._restored)], "\n")

    def draw_heard(self, width: int) -> str:
        if self.summary is not None:
            view = self.query_one(FiguresView)
            _, height = view.room
            return view.figures(change_report(self.summary).brief, width, height, view.zoomed)

        lines: list[str] = []
        for text in self._lines:
            indent = "    " if text.startswith(" ") else ""
            lines += hanging(visible(text), width, indent)
        return "\n".join(lines)

    # The end

    def measurement_ended(self, error: Exception | None) -> None:
        """Show the result, if a pair was judged, or what was shown last; an error is told above either."""
        assert self.order
        request = self.order.request
        if isinstance(error, LoginError) and not self._clock.slots and not request.secrets.kerberos:
            self.context.logins.refuse(request.target)  # once a value is set, it may be the setting that refuses

        failure = None if isinstance(error, CancelledError) else error
        if failure is not None and not self._restored:
            _, text = describe_error(failure)
            self._now = self._restored = text  # it stays when the dialog is gone

        if self.summary is not None:
            self.recorded = (self.order.experiment.name, self.order.experiment.kind)
            self.show_report(change_report(self.summary))
        else:
            self.draw()
        self.refresh_bindings()
        if failure is not None:
            self.sharebench_app.tell_error(failure)

    def keeps_from_leaving(self, error: Exception | None) -> bool:
        """Where something may be left on the server, whoever leaves is told first."""
        if error is None or isinstance(error, CancelledError) or self._restored:
            return False
        return self._clock.slots > 0 or isinstance(error, ChangeFailedError)

    def offer(self, steps: list[NextStep]) -> None:
        if self.order is not None and self.summary is not None and not self.summary.complete:
            arguments = {"setting": self.setting, "experiment": self.order.experiment.name}
            steps = [NextStep(name="Resume it", screen="trial", arguments=arguments), *steps]
        elif isinstance(self.summary, TrialSummary) and _wants_larger_files(self.summary):
            larger_file = LARGER_FILE
            repeat = partial(repeat_of, series_id=self.summary.base.id, better=larger_file)
            steps = [NextStep(name=larger_file.name, choices=repeat), *steps]
        super().offer(steps)

    def export_name(self, report: Report) -> str:
        return self.order.experiment.name if self.order else report.name

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        order = self.order
        if action == "accept":
            return self._to_accept is not None and not self._begun
        if action == "anew":
            return order is not None and not self._begun and order.compares_equals
        if action == "consent":
            return order is not None and not self._begun and not order.compares_equals
        if action == "within":
            return order is not None and not self._begun

        if action == "server":
            return self._can_choose_again()
        if action == "measure":
            return self._can_choose_again() and self._can_measure(parameters)

        return super().check_action(action, parameters)

    def _can_choose_again(self) -> bool:
        return self._is_prepared and not self._begun and not self.experiment and self._target is not None

    def _can_measure(self, parameters: tuple[object, ...]) -> bool:
        """Whether the target can do the command of these parameters, and it is not what is measured already."""
        assert self._target is not None
        chosen_command = self._command or self._choices.spec.command
        return self._target.abilities.moves_files and parameters != (chosen_command,)


def _keep_server(notebook: Notebook, choices: GuideChoices) -> None:
    """Keep how the server is reached, as it was just typed, for the guide and for every form."""
    remember(notebook, choices)
    keep_typed_ways(notebook, choices)


def _wants_larger_files(summary: TrialSummary) -> bool:
    """Whether its runs were too short or varied too much for a verdict; a load has no file to be larger."""
    return (summary.doubt is Doubt.VARYING or bool(summary.reservations)) and not summary.plan.load
