"""A survey while it is measured, and what it found."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar

from app.errors import LoginError
from app.measure.events import Failed
from app.recorder.recording import RecorderEvent
from app.tui.frame.commands import KeyCommand
from app.tui.survey.progress import begin
from app.tui.widgets.login import log_in_again
from app.tui.widgets.next_dialog import GoesOn
from app.tui.widgets.report_run_screen import ReportRunScreen
from app.workflows.next_steps import NextStep, after_survey
from app.workflows.survey import SurveyRound, measure_round, result, targets_like
from forms.experiments.report import survey_report
from forms.experiments.survey import Station, Survey
from storage.records import Target

REDRAW_SECONDS = 1.0
"""The screen is drawn no more often while a run is timed."""


class SurveyRunScreen(GoesOn, ReportRunScreen):
    """Measures a planned survey in turns, then shows table, findings and the next step."""

    ABOUT = (
        "The survey's series take turns, run by run; a run that ended is kept, whatever happens. At the end come the"
        " table, the findings and the one thing to look at first. Up and down scroll; Enter lists what can be done"
        " next."
    )
    KEYS: ClassVar = (
        *GoesOn.KEYS,
        KeyCommand(
            "survey.stop",
            "s",
            "Stop",
            "Stop at once; what was measured is kept, and the same survey goes on later.",
            footer="Stop",
        ),
        KeyCommand("survey.export", "x", "Export", "Write the survey to a file.", footer="Export"),
    )
    STOP_HEADING = "Stop the survey?"
    STOP_TEXT = "The survey is not done. What was measured is kept, and the same survey goes on where it was."
    QUIT_TEXT = "A survey is under way. What was measured is kept; the rest can be done later."

    def __init__(self, planned: SurveyRound, targets: Sequence[Target], again: Callable[[], None]) -> None:
        """``again`` goes on with it from the screen below, where what is missing can be measured now."""
        super().__init__(planned.experiment.name)
        self.planned, self.targets, self.again = planned, targets, again
        self._refused: list[tuple[list[Target], str]] = []
        """Each login that a server refused, by the targets that it goes for, and what was said."""
        self.surveying = begin(planned.stations)
        self.survey: Survey | None = None

    def events(self) -> Iterator[tuple[int, RecorderEvent]]:
        return measure_round(self.planned, self.context.notebook_path, self.control)

    def heard(self, index: int, event: RecorderEvent) -> None:
        self.surveying = self.surveying.heard(index, event)
        if isinstance(event, Failed) and event.kind == LoginError.__name__:
            self._refuse(self.planned.stations[index], event.text)

    def _refuse(self, station: Station, why: str) -> None:
        """Have the password not sent again: it was a wrong one."""
        refused = targets_like(station, self.planned, self.targets)
        for target in refused:
            self.context.logins.refuse(target)
        if refused and refused[0].user and refused not in [targets for targets, _ in self._refused]:
            self._refused.append((refused, why))

    def now(self) -> str:
        return "Measuring in turns …" if self.survey is None else self.survey.next_step

    def warnings(self) -> str:
        return " ".join(self.surveying.warnings[-2:])

    def heard_text(self, width: int) -> str:
        return self.surveying.text(width)

    def next_steps(self) -> Iterable[NextStep]:
        return after_survey(self.survey) if self.survey is not None else ()

    def ended(self, error: Exception | None) -> None:
        if error is not None:
            self.work_failed(error)
        self.with_notebook(lambda notebook: result(self.planned, notebook), self._show)

    def _show(self, filled: Survey) -> None:
        self.survey = filled
        self.show_report(survey_report(filled))
        if self._refused:
            self._log_in_again()

    def _log_in_again(self) -> None:
        """Ask for each password that was refused, then go on with what is missing."""
        if self._refused:
            targets, why = self._refused.pop(0)
            log_in_again(self, targets, why, lambda _: self._log_in_again())
        else:
            if not self.is_covered:
                self.action_back()
            self.again()
