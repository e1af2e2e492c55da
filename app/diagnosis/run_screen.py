"""The screen of a diagnosis under way: the stage that is measured, those that are, and the report at the end."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from textual.content import Content

from app.clients.base import Secrets
from app.diagnosis import measurement
from app.diagnosis.record import record_diagnosis
from app.diagnosis.spec import DiagnosisRequest, request_of
from app.recording.process import Warned
from app.tui.widgets import report_run
from app.tui.widgets.reading import GoesOn
from app.tui.widgets.views import join_toned
from forms.diagnosis import report
from forms.layout import hanging
from forms.wording import plain
from storage.looks import Diagnosis
from storage.records import SeriesStatus


class DiagnosisRunScreen(report_run.MeasurementScreen):
    """The hooks of `MeasurementScreen`, for a diagnosis."""

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

    @staticmethod
    def to_resume(record: Diagnosis, secrets: Secrets, _typed: Mapping[str, Any], /) -> DiagnosisRequest:
        return request_of(record, secrets)

    def steps(self) -> Iterator[Any]:
        return record_diagnosis(self.request, self.context.notebook_path, self.control, self.resumed)

    def take_event(self, index: int, event: Any) -> None:
        match event:
            case measurement.StageBegan(progress_text=text):
                self.doing = f"Stage {text}"
            case measurement.DiagnosisOpened(diagnosis=diagnosis) | measurement.DiagnosisChanged(diagnosis=diagnosis):
                self.record = diagnosis
            case Warned(text=text):
                self.problems.append(text)
            case measurement.DiagnosisClosed(diagnosis=diagnosis):
                self.record = diagnosis
                self.is_closed = True

    def headline(self) -> Content:
        return join_toned([report.diagnosis_answer(self.record)], "")

    def warnings(self) -> str:
        return "\n".join(map(plain, self.problems))

    def draw_heard(self, width: int) -> str:
        lines: list[str] = []
        for stage in reversed(self.record.stages if self.record else ()):
            sign = "✓" if stage.status is SeriesStatus.COMPLETE else "!"
            outcome = plain(stage.error or "measured")
            lines += hanging(f"{sign} {report.STAGE_NAMES[stage.name]}: {outcome}, {stage.seconds:.0f} s", width)
        return "\n".join(lines)
