"""The screen of a diagnosis under way: the stage that is measured, those that are, and the report at the end."""

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.audit.earlier_looks import diagnosis_before, explained_between
from app.clients.base import Secrets
from app.diagnosis import events, spec
from app.diagnosis.record import record_diagnosis
from app.recording.process import Warned
from app.tui.widgets import report_run
from app.tui.widgets.reading import GoesOn
from app.tui.widgets.views import join_toned
from forms import wording
from forms.diagnosis import answer, report, stage_names
from forms.diagnosis.answer_since import answer_since, stage_sign_since
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.layout import Sign, Toned, hanging
from forms.report import Report
from storage.looks import Diagnosis, Stage, StageName
from storage.notebook import Notebook
from storage.records import SeriesStatus


class DiagnosisRunScreen(report_run.MeasurementScreen):
    """The hooks of `MeasurementScreen`, for a diagnosis: that class says when each is called, and what it keeps.

    ``steps`` runs in the thread that measures, all others in the screen's own.
    """

    KEYS: ClassVar = (
        *GoesOn.KEYS,
        *report_run.run_keys("diagnosis", "Stop, remove what was created, keep what was measured."),
    )
    STOP_HEADING = "Stop the diagnosis?"
    STOP_TEXT = "It is not done. Finished stages are kept and the rest can be resumed; what was created is removed."
    QUIT_TEXT = "A diagnosis is running. Finished stages are kept, and what was created on the share is removed."

    HEADING = "Diagnosis"
    doing = "Connecting …"
    report_of = staticmethod(report.diagnosis_report)

    def __init__(self, request: spec.DiagnosisRequest, resumed: Diagnosis | None = None) -> None:
        super().__init__(request, resumed)
        self.stage_began: events.StageBegan | None = None
        """The stage that is measured; None before the first."""
        self.stage_began_at = 0.0
        """When it began (monotonic clock)."""
        self._answer_so_far: Toned | None = None
        self._lines_of_stages: list[str] = []
        self.before: Diagnosis | None = None
        """The last diagnosis of the same complaint, which this one is held against; None without one."""
        self.explained: ExplainedComplaint | None = None
        """What an audit since then found to fit it; None where none did."""

    @staticmethod
    def to_resume(record: Diagnosis, secrets: Secrets, _typed: Mapping[str, Any], /) -> spec.DiagnosisRequest:
        return spec.request_of(record, secrets)

    def steps(self) -> Iterator[Any]:
        for event in record_diagnosis(self.request, self.context.notebook_path, self.control, self.resumed):
            if isinstance(event, events.DiagnosisClosed):
                self._read_before(event.diagnosis)
            yield event

    def _read_before(self, diagnosis: Diagnosis) -> None:
        """Called in the thread that measures, before the report is shown."""
        with Notebook(self.context.notebook_path) as notebook:
            self.before = diagnosis_before(notebook, diagnosis)
            self.explained = explained_between(notebook, self.before, diagnosis)

    def result(self) -> Report | None:
        return report.diagnosis_report(self.record, self.before, self.explained) if self.is_closed else None

    def take_event(self, index: int, event: Any) -> None:
        match event:
            case events.StageBegan():
                self.stage_began = event
                self.stage_began_at = monotonic()
                self.doing = f"Stage {event.place_text}"
            # It is stored when it begins and after each stage, and once more, with its end, when it is closed.
            case events.DiagnosisOpened(diagnosis=diagnosis) | events.DiagnosisChanged(diagnosis=diagnosis):
                self.record = diagnosis
                self._look_at_stages(diagnosis)
            case Warned(text=text):
                self.problems.append(text)
            case events.DiagnosisClosed(diagnosis=diagnosis):
                self.record = diagnosis
                self._look_at_stages(diagnosis)
                self.is_closed = True

    def now(self) -> str:
        """What is measured since when, and how long the rest will take, counted down."""
        if self.stage_began is None or self.is_over:
            return super().now()
        passed_seconds = monotonic() - self.stage_began_at
        left = wording.duration(self.stage_began.seconds_left(passed_seconds))
        return f"{super().now()} ({passed_seconds:.0f} s so far); about {left} left"

    def headline(self) -> Content:
        return join_toned([answer_since(self.record, self.before, self.explained)], "")

    def warnings(self) -> str:
        return "\n".join(map(wording.plain, self.problems))

    def draw_heard(self, width: int) -> str:
        """The answer to the complaint as soon as it is measured; then a line for each stage that has ended.

        The newest is first; a stage that was measured may still not be judged.
        """
        lines: list[str] = []
        if self._answer_so_far is not None:
            lines += hanging(self._answer_so_far.text, width)
            lines += hanging("That is the answer so far. The other stages go on; s stops them and keeps it.", width)
            lines.append("")
        for line in self._lines_of_stages:
            lines += hanging(line, width)
        return "\n".join(lines)

    def _look_at_stages(self, diagnosis: Diagnosis) -> None:
        """Keep what is to be said of the stages that have ended."""
        self._answer_so_far = answer.answer_so_far(diagnosis)
        self._lines_of_stages = [_line_of_stage(diagnosis, stage, self.before) for stage in reversed(diagnosis.stages)]


_OUTCOMES = {
    Sign.GOOD: "as it should be",
    Sign.UNKNOWN: "measured; it could not be judged",
}
"""What is said of a stage that was measured; of any other sign the result says what is wrong."""


def _line_of_stage(diagnosis: Diagnosis, stage: Stage, before: Diagnosis | None) -> str:
    sign = stage_sign_since(diagnosis, stage.name, before)
    outcome = _OUTCOMES.get(sign, "something is wrong; the result at the end says what")
    if sign is not answer.stage_sign(diagnosis, stage.name):
        outcome = "what was wrong before is as it should be"
    if stage.name is StageName.SETTINGS and sign is Sign.UNKNOWN:
        outcome = "not read, as there is no ssh to it; the result at the end says what to ask for"
    if stage.status is not SeriesStatus.COMPLETE:
        outcome = wording.plain(stage.error or stage.status)
    return f"{sign} {stage_names.STAGE_NAMES[stage.name]}: {outcome}, {stage.seconds:.0f} s"
