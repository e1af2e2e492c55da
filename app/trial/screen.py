"""A trial on the screen: what would be written is shown first, and only with consent sharebench changes it itself."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.base.errors import CancelledError, LoginError, UsageError
from app.guide.after_run import ask_server
from app.guide.backend import PasswordNeededError
from app.guide.before_run import BETTER
from app.guide.choices import MEMORY_KEY, Go, GuideChoices, MethodStep, choices_of, with_made_file
from app.guide.known import recall
from app.guide.rounds import NextStep, repeat_of
from app.guide.session import request_of
from app.recording.process import RunStarted, ScratchMade, Started
from app.series.record import words
from app.series.requests import MOST_MINUTES
from app.server.changes.script import ChangeFailedError, ConsentNeededError
from app.trial.spec import (
    Judged,
    SettingRestored,
    TrialOrder,
    ValueSet,
    consent_lines,
    restore_lines,
    stored_trial,
)
from app.tui.frame.base import describe_error
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import AskDialog
from app.tui.widgets.asking import log_in, log_in_again
from app.tui.widgets.reading import RecordingGoesOn
from app.tui.widgets.recording import REDRAW_SECONDS, ReportRunScreen
from app.tui.widgets.views import FiguresView, join_toned
from forms.layout import Toned, hanging, visible
from forms.report import Report
from forms.stats.decision import Doubt
from forms.stats.settle import slot_seconds
from forms.trial.report import ChangeSummary, change_report, verdict_field
from forms.trial.summary import TrialSummary
from forms.wording import duration
from storage.notebook import Notebook
from storage.records import Command, Decision, Target


class TrialScreen(ReportRunScreen, RecordingGoesOn):
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
        self.setting, self.experiment = setting, experiment
        self.order: TrialOrder | None = None
        self.summary: ChangeSummary | None = None
        self._choices = GuideChoices()
        self._command: Command | None = None
        """What is measured in place of what was chosen."""
        self._target: Target | None = None
        self._begun = False
        self._now = "Looking at the server …"
        self._lines: list[str] = []
        self._to_accept: tuple[tuple[str, ...], bool] | None = None
        """What y consents to before there is an order: names whose risks are accepted, and whether smbd may restart."""
        self._accepted: tuple[tuple[str, ...], bool] = ((), False)
        self._is_prepared = False
        self._within_minutes = 0
        self._slots = 0
        self._pairs_to_come = 0
        self._began_at = 0.0
        self._restored = self._doing = ""

    @property
    def is_over(self) -> bool:
        return not self._begun or not self._recording

    def begin(self) -> None:
        self._now, self._lines, self._to_accept, self._is_prepared = "Looking at the server …", [], None, False
        self.order = None
        self.refresh_bindings()
        self.draw()
        self.with_notebook(self._prepared, self._ask)

    action_anew = begin

    def _prepared(self, notebook: Notebook) -> Any:
        if self.experiment:
            stored = stored_trial(notebook, self.experiment)
            self._target, plan = stored.base.target, stored.plan
            names, restart = self._accepted
            risks, restart = (*plan.accepted_risks, *names), plan.allow_restart or restart
            plan = replace(plan, accepted_risks=risks, allow_restart=restart)
            secrets = self.context.logins.find(self._target)
            return self.context.backend.resume_trial(replace(stored, plan=plan), secrets)
        choices, known = recall(notebook, self.context.practice)
        if choices.target is None or choices.run_bytes is None:
            return None
        self._choices, self._target = choices, choices.target
        measured, series, is_taken = choices, known.series, choices.step is MethodStep.CHANGE
        if known.proof and series and series.change and series.decision is not Decision.KEPT and not is_taken:
            of_base = choices_of(known.proof.base[0]).spec.settings
            settings = replace(choices.spec.settings, in_flight=of_base.in_flight, block_bytes=of_base.block_bytes)
            measured = replace(choices, spec=replace(choices.spec, settings=settings))
        if self._command not in {None, choices.spec.command}:
            measured = with_made_file(measured, self._command, choices.run_bytes)
        request = request_of(measured, self.context.logins.find(choices.target, kerberos=choices.kerberos))
        accepted, restart = self._accepted
        return self.context.backend.order_trial(
            request, self.setting, accepted=accepted, restart=restart, keeps_size=choices.makes_file
        )

    def work_failed(self, error: Exception) -> None:
        if self._begun:
            super().work_failed(error)
            return
        target = self._target
        if isinstance(error, LoginError) and target is not None and not self._choices.kerberos:
            if isinstance(error, PasswordNeededError):
                log_in(self, target, lambda _: self.begin())
            else:
                log_in_again(self, [target], str(error), lambda _: self.begin())
        self._is_prepared = True
        self._now = "Nothing was written."
        self._lines = [] if isinstance(error, PasswordNeededError) else [describe_error(error)[1]]
        if isinstance(error, ConsentNeededError):
            names, restart = self._accepted
            more = () if error.risk_of is None else (error.risk_of,)
            self._to_accept = ((*names, *more), restart or error.risk_of is None)
            self._now = "Nothing is written yet: y accepts this, Escape leaves."
        self.refresh_bindings()
        self.draw()

    def _ask(self, order: TrialOrder | None) -> None:
        if order is None:
            self._choose_target()
            return
        if self._within_minutes:
            order = replace(order, within_seconds=60.0 * self._within_minutes)
        self.order, self._is_prepared = order, True
        does = "looks again" if order.compares_equals else "starts"
        self._now = f"Nothing is written yet: y {does}, Escape leaves."
        self._lines = list(consent_lines(order))
        self.refresh_bindings()
        self.draw()

    def _choose_target(self) -> None:
        from app.guide.screen import GuideScreen  # noqa: PLC0415  loaded when it is first gone to

        self._now, self._lines = "Nothing was written.", ["No target and file are chosen: F3 chooses them."]
        self.draw()
        guide = GuideScreen()
        guide.purpose = f"Choose what the trial of {visible(self.setting)} is to measure."
        self.ask(guide, lambda _: self.begin())

    def action_accept(self) -> None:
        assert self._to_accept is not None
        self._accepted = self._to_accept
        self.begin()

    def action_measure(self, command: str) -> None:
        self._command = Command(command)
        self.begin()

    def action_consent(self) -> None:
        self._begun = True
        self._now = "Recording how to restore the setting"
        self._lines = list(restore_lines(self.order)) if self.order else []
        self.refresh_bindings()
        self.listen(self.events, every_seconds=REDRAW_SECONDS)

    def action_within(self) -> None:
        order = self.order
        assert order is not None

        def answered(text: str) -> None:
            if text.strip() and not (text.strip().isdecimal() and 1 <= int(text) <= MOST_MINUTES):
                error = UsageError(f"not a number of minutes: {text!r}; 1 to {MOST_MINUTES}, or nothing for no limit")
                self.sharebench_app.tell_error(error)
                return
            self._within_minutes = int(text.strip() or 0)
            self._ask(replace(order, within_seconds=math.inf))

        about = "Longest time in minutes, or nothing for no limit. What is undecided then can be resumed."
        self.ask(AskDialog("Time limit", about, value=str(self._within_minutes or "")), answered)

    def action_server(self) -> None:
        asked = ask_server(self._choices)

        def answered(text: str) -> None:
            try:
                act = asked.then(text)
            except UsageError as error:
                self.sharebench_app.tell_error(error)
                return
            if isinstance(act, Go):
                self.order, self._to_accept, self._accepted = None, None, ((), False)
                choices = replace(act.choices, step=self._choices.step).to_memory()
                self.with_notebook(lambda notebook: notebook.remember(MEMORY_KEY, choices), lambda _: self.begin())

        self.ask(AskDialog(asked.heading, asked.text, value=asked.value), answered)

    def events(self) -> Iterator[tuple[int, Any]]:
        assert self.order
        self.watch_machine(self.order.request.target)
        for event in self.context.backend.carry_out(self.order, self.context.notebook_path, self.control):
            yield 0, event

    def take_event(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one trial
        assert self.order
        match event:
            case ValueSet(value=value, block=block):
                if not self._slots:
                    self._began_at = monotonic()
                self._slots += 1
                self._pairs_to_come = self.order.plan.looks[-1] - block
                most, name = self.order.plan.looks[-1], self.order.setting.name
                self._now = f"Pair {block} of at most {most}: {name} {'as it is' if value is None else value}"
                self._doing = ""
            case Started() | ScratchMade() | RunStarted():
                self._doing = "" if isinstance(event, RunStarted) else f", {words(event)}"
            case Judged(summary=summary):
                self.summary = summary
                box = self.query_one("#run-box")
                if box.scroll_y >= box.max_scroll_y:
                    self.call_after_refresh(self._follow)
            case SettingRestored(text=text):
                self._now = self._restored = text

    def _follow(self) -> None:
        if not self._is_report_shown:
            self.query_one("#run-box").scroll_end(animate=False)

    def now(self) -> str:
        trial = self.summary if isinstance(self.summary, TrialSummary) else None
        if self.is_over or self.order is None or self._restored:
            return self._now if self.is_over or not self._restored else f"{self._restored}. Working out the result …"
        done = self._slots - 1
        passed = monotonic() - self._began_at
        planned = self.order.run_seconds and slot_seconds(self.order.run_seconds)
        each = passed / done if done > 0 else planned or 0.0
        most = each * (2 * self._pairs_to_come + 2 - done % 2) - (0.0 if done > 0 else passed)
        left = max(0.0, min(most, self.order.within_seconds - passed)) if each else 0.0
        rest = f"; up to about {duration(left)} left" if left else ""
        rest = "; the time is over, this pair is the last" if passed > self.order.within_seconds else rest
        return f"{self._now}{self._doing}{trial.so_far if trial else ''}{rest}"

    def headline(self) -> Content:
        if not isinstance(self.summary, TrialSummary):
            return Content(visible(self._now))
        verdict = verdict_field(self.summary)
        return join_toned([Toned(visible(verdict.text), verdict.tone), visible(self._restored)], "\n")

    def heard_text(self, width: int) -> str:
        if self.summary is not None:
            view = self.query_one(FiguresView)
            return view.figures(change_report(self.summary).brief, width, view.room[1], view.zoomed)
        lines = (hanging(visible(text), width, "    " if text.startswith(" ") else "") for text in self._lines)
        return "\n".join(line for part in lines for line in part)

    def measurement_ended(self, error: Exception | None) -> None:
        assert self.order
        request = self.order.request
        if isinstance(error, LoginError) and not self._slots and not request.secrets.kerberos:
            self.context.logins.refuse(request.target)  # once a value is set, it may be the setting that refuses
        if error is not None and not isinstance(error, CancelledError) and not self._restored:
            self._now = self._restored = describe_error(error)[1]  # it stays when the dialog is gone
        if self.summary is not None:
            self.recorded = (self.order.experiment.name, self.order.experiment.kind)
            self.show_report(change_report(self.summary))
        else:
            self.draw()
        self.refresh_bindings()
        if error is not None and not isinstance(error, CancelledError):
            self.sharebench_app.tell_error(error)

    def keeps_from_leaving(self, error: Exception | None) -> bool:
        """Where something may be left on the server, whoever leaves is told first."""
        if error is None or isinstance(error, CancelledError) or self._restored:
            return False
        return self._slots > 0 or isinstance(error, ChangeFailedError)

    def offer(self, steps: list[NextStep]) -> None:
        if self.order is not None and self.summary is not None and not self.summary.complete:
            again = {"setting": self.setting, "experiment": self.order.experiment.name}
            steps = [NextStep(name="Resume it", screen="trial", arguments=again), *steps]
        elif (
            isinstance(self.summary, TrialSummary)
            and (self.summary.doubt is Doubt.VARYING or self.summary.reservations)
            and not self.summary.plan.load
        ):
            name, better = BETTER["short"]
            larger = partial(repeat_of, series_id=self.summary.base.id, better=better)
            steps = [NextStep(name=name, choices=larger), *steps]
        super().offer(steps)

    def export_name(self, report: Report) -> str:
        return self.order.experiment.name if self.order else report.name

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "accept":
            return self._to_accept is not None and not self._begun
        if action in {"anew", "consent"}:
            return self.order is not None and not self._begun and self.order.compares_equals is (action == "anew")
        if action == "measure":
            if self._target is None or not self._is_prepared or self._begun or self.experiment:
                return False
            return self._target.abilities.moves_files and parameters != (self._command or self._choices.spec.command,)
        if action == "within":
            return self.order is not None and not self._begun
        if action == "server":
            return self._is_prepared and not self._begun and not self.experiment and self._target is not None
        return super().check_action(action, parameters)
