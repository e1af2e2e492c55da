"""The diagnosis on the screen: what to look for, a run and its result."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from textual.content import Content

from app.base.errors import UsageError
from app.diagnosis import record as diagnosing
from app.diagnosis.spec import DiagnosisRequest, amount_text, check_request, parse_stages, request_of
from app.guide.known import server_ways
from app.recording.process import Warned
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.widgets import asking
from app.tui.widgets.reading import GoesOn
from app.tui.widgets.recording import MeasurementScreen, run_keys
from app.tui.widgets.views import join_toned
from forms.diagnosis.report import STAGE_NAMES, diagnosis_answer, diagnosis_report
from forms.layout import hanging
from forms.wording import plain
from storage.looks import Effort, StageName
from storage.records import SeriesStatus


class DiagnosisRunScreen(MeasurementScreen):
    KEYS: ClassVar = (*GoesOn.KEYS, *run_keys("diagnosis", "Stop, remove what was created, keep what was measured."))
    STOP_HEADING = "Stop the diagnosis?"
    STOP_TEXT = "It is not done. Finished stages are kept and the rest can be resumed; what was created is removed."
    QUIT_TEXT = "A diagnosis is running. Finished stages are kept, and what was created on the share is removed."

    HEADING = "Diagnosis"
    doing = "Connecting …"
    to_resume = staticmethod(lambda record, secrets, _typed: request_of(record, secrets))
    report_of = staticmethod(diagnosis_report)

    def steps(self) -> Iterator[Any]:
        return diagnosing.record_diagnosis(self.request, self.context.notebook_path, self.control, self.resumed)

    def take_event(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one diagnosis
        match event:
            case diagnosing.StageBegan(text=text):
                self.doing = f"Stage {text}"
            case diagnosing.DiagnosisOpened(diagnosis=diagnosis) | diagnosing.DiagnosisChanged(diagnosis=diagnosis):
                self.record = diagnosis
            case Warned(text=text):
                self.problems.append(text)
            case diagnosing.DiagnosisClosed(diagnosis=diagnosis):
                self.record, self.is_closed = diagnosis, True

    def headline(self) -> Content:
        return join_toned([diagnosis_answer(self.record)], "")

    def warnings(self) -> str:
        return "\n".join(map(plain, self.problems))

    def heard_text(self, width: int) -> str:
        lines: list[str] = []
        for stage in reversed(self.record.stages if self.record else ()):
            sign, said = "✓" if stage.status is SeriesStatus.COMPLETE else "!", plain(stage.error or "measured")
            lines += hanging(f"{sign} {STAGE_NAMES[stage.name]}: {said}, {stage.seconds:.0f} s", width)
        return "\n".join(lines)


_STAGES = f"Stages: {', '.join(StageName)}; empty: all of them."


class DiagnosisScreen(asking.LinesScreen):
    NAME, HEADING, BUTTON, STORED = "diagnosis", "Diagnosis", "Diagnose", "diagnoses"
    LINES = (
        asking.TARGET,
        asking.FormLine("only", "Stages", "such as connect,folders; empty: all", about=_STAGES),
        asking.FormLine("effort", "Effort", "quick, usual or thorough", Effort.USUAL.value),
        asking.FormLine("folder", "Large folder", "an existing one on the share, read only; empty: new ones"),
        asking.SSH,
        asking.CONF,
    )
    RUN = DiagnosisRunScreen

    @classmethod
    def read(cls, typed: Mapping[str, str]) -> DiagnosisRequest:
        text = asking.typed_values(cls.LINES, typed)
        target = asking.typed_target(text["target"])
        if text["effort"] not in {"", *Effort}:
            raise UsageError(f"effort is {', '.join(Effort)}; not {text['effort']!r}")
        effort, only = Effort(text["effort"] or Effort.USUAL), parse_stages(text["only"])
        folder, ways = text["folder"] or None, server_ways(target, text["ssh"], text["conf"])
        request = DiagnosisRequest(target=target, effort=effort, only=only, folder=folder, **ways)
        check_request(request)
        return request

    def begin(self, request: DiagnosisRequest) -> None:
        if text := amount_text(request):
            question = ConfirmDialog("Begin the diagnosis?", text, yes="Begin", no="Back")
            self.ask(question, lambda _: super(DiagnosisScreen, self).begin(request))
        else:
            super().begin(request)
