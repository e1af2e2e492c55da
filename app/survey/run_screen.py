"""The screen of a survey that is measured: the progress of each station, and then the report of the survey.

The survey's form opens it. A station is one protocol, in one direction, by one address of the server.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from app.base.errors import LoginError
from app.method import next_steps
from app.recording.process import Failed
from app.series.events import RecorderEvent
from app.series.pace import RunPace
from app.survey import progress
from app.survey import record as survey_record
from app.survey.planning import SurveyRound
from app.tui.widgets import logins, report_run
from app.tui.widgets.reading import GoesOn
from forms import wording
from forms.experiments import survey, survey_report
from storage.records import Target


class SurveyRunScreen(report_run.ReportRunScreen, GoesOn):
    """Measures in a thread (``events``), shows the progress meanwhile (``take_event``), and the report at the end.

    The public methods are hooks of the base classes. ReportRunScreen calls ``events`` once, in the measuring thread,
    and the others in the screen's: ``take_event`` for each event; ``now``, ``warnings`` and ``draw_heard``, the three
    parts of what is shown, each second until ``show_report`` was called; ``measurement_ended`` once. GoesOn calls
    ``next_steps`` when its key is pressed.

    Where a server refuses a login, the other series are measured to their end first; then each refused password is
    asked for again, and a new screen measures what is left.
    """

    KEYS = (*GoesOn.KEYS, *report_run.run_keys("survey", "Stop at once; what was measured is kept and can be resumed."))
    STOP_HEADING = "Stop the survey?"
    STOP_TEXT = "The survey is not complete. What was measured is kept, and the survey can be resumed."
    QUIT_TEXT = "A survey is running. What was measured is kept, and the survey can be resumed."

    def __init__(self, planned: SurveyRound, targets: Sequence[Target], measure_rest: Callable[[], None]) -> None:
        """``measure_rest`` plans and measures what is left, once passwords that were refused have been typed again."""
        super().__init__(planned.experiment.name)
        self.planned = planned
        self.targets = targets
        """All targets of the survey, with the users that log in."""
        self.measure_rest = measure_rest
        self.progress = progress.begin(planned.stations)
        self.survey: survey.Survey | None = None
        """What was found; None while it is measured."""
        self._refusals: list[tuple[list[Target], str]] = []
        """The targets of a login that was refused, and why; a password is asked for when all has ended."""
        self._pace = RunPace(planned.runs_to_come)

    def events(self) -> Iterator[tuple[int, RecorderEvent]]:
        return survey_record.measure_round(self.planned, self.context.notebook_path, self.control)

    def take_event(self, index: int, event: RecorderEvent) -> None:
        """``index`` is the place of the event's station."""
        self.progress = self.progress.after(index, event)
        self._pace.take_event(index, event)
        if isinstance(event, Failed) and event.kind is LoginError:
            self._refuse(self.planned.stations[index], event.text)

    def _refuse(self, station: survey.Station, reason: str) -> None:
        """Note that the login of the station was refused; several stations with one login count once."""
        refused_targets = survey_record.targets_like(station, self.planned, self.targets)
        for target in refused_targets:
            self.context.logins.refuse(target)

        # A guest has no password that could be typed again.
        is_guest = not refused_targets or not refused_targets[0].user
        is_asked_already = any(targets == refused_targets for targets, _ in self._refusals)
        if not is_guest and not is_asked_already:
            self._refusals.append((refused_targets, reason))

    def now(self) -> str:
        """The line on top: how long it will take, and after the end what to do next."""
        if self.survey is not None:
            return survey_report.next_step_sentence(self.survey)

        seconds_left = self._pace.seconds_left
        time_left = self.planned.time_text if seconds_left is None else f"about {wording.duration(seconds_left)} left"
        return f"Measuring, interleaved, {time_left} …"

    def warnings(self) -> str:
        newest_warnings = self.progress.warnings[-2:]
        return " ".join(newest_warnings)

    def draw_heard(self, width: int) -> str:
        return self.progress.draw(width)

    def next_steps(self) -> Iterable[next_steps.NextStep]:
        return next_steps.after_survey(self.survey) if self.survey is not None else ()

    def measurement_ended(self, error: Exception | None) -> None:
        """Show the report of what was measured, also where an error broke it off."""
        if error is not None:
            self.work_failed(error)
        self.with_notebook(partial(survey_record.result, self.planned), self._show_survey)

    def _show_survey(self, result: survey.Survey) -> None:
        self.survey = result
        self.show_report(survey_report.survey_report(result))
        if self._refusals:
            self._log_in_again()

    def _log_in_again(self, _secrets: object = None) -> None:
        """Ask for one password after the other, then measure what is left with all of them.

        Called again after each password, which ``logins.log_in_again`` has kept by then.
        """
        if self._refusals:
            targets, reason = self._refusals.pop(0)
            logins.log_in_again(self, targets, reason, self._log_in_again)
            return

        if not self.is_covered:
            self.action_back()
        self.measure_rest()
