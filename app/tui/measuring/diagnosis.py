"""A diagnosis on the screen: the lines to fill in, the stages as they are measured, and the report."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from textual.content import Content

from app.clients.base import Secrets
from app.errors import UsageError
from app.measure.process import Warned
from app.subjects.diagnosis import run as diagnosing
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.widgets.asking import TARGET, FormLine, LinesScreen, typed_target, typed_values
from app.tui.widgets.recording import MeasurementScreen, run_keys
from app.tui.widgets.views import joined
from app.workflows.guide.known import server_ways
from forms.diagnosis.report import STAGE_NAMES, diagnosis_answer, diagnosis_report
from forms.layout import hanging
from forms.report import Report
from forms.wording import place, plain
from storage.looks import Diagnosis, Effort
from storage.records import SeriesStatus

LINES = (
    TARGET,
    FormLine(key="only", name="Stages", hint="such as connect,folders; empty: all"),
    FormLine(key="effort", name="Effort", hint="quick, usual or thorough", usual=Effort.USUAL.value),
    FormLine(key="folder", name="Large folder", hint="an existing one on the share, read only; empty: new ones"),
    FormLine(key="ssh", name="Server by ssh", hint="[USER@]HOST; empty: the server is this machine"),
    FormLine(key="conf", name="smb.conf", hint="its path on the server; empty: the path of its smbd"),
)


def diagnosis_request(typed: Mapping[str, str]) -> diagnosing.DiagnosisRequest:
    """What the lines ask for, without a login. Raises UsageError with what is wrong."""
    text = typed_values(LINES, typed)
    target = typed_target(text["target"])
    if text["effort"] not in {"", *Effort}:
        raise UsageError(f"effort is {', '.join(Effort)}; not {text['effort']!r}")
    request = diagnosing.DiagnosisRequest(
        target=target,
        effort=Effort(text["effort"] or Effort.USUAL),
        only=diagnosing.parse_stages(text["only"]),
        folder=text["folder"] or None,
        **server_ways(target, text["ssh"], text["conf"]),
    )
    diagnosing.check_request(request)
    return request


class DiagnosisRunScreen(MeasurementScreen):
    """Measures a diagnosis, a line a stage, then shows its report."""

    KEYS: ClassVar = run_keys("diagnosis", "Stop, remove what was created, keep what was measured.")
    STOP_HEADING = "Stop the diagnosis?"
    STOP_TEXT = "It is not done. Finished stages are kept and the rest can be resumed; what was created is removed."
    QUIT_TEXT = "A diagnosis is running. Finished stages are kept, and what was created on the share is removed."

    def __init__(self, request: diagnosing.DiagnosisRequest, resumed: Diagnosis | None = None) -> None:
        super().__init__(request, resumed)
        self.diagnosis: Diagnosis | None = None
        self.is_closed = False
        self._now = "Connecting …"
        self._problems: list[str] = []

    @staticmethod
    def heading_of(request: diagnosing.DiagnosisRequest) -> str:
        return f"Diagnosis · {place(request.target)}"

    @staticmethod
    def to_resume(record: Diagnosis, secrets: Secrets, typed: Mapping[str, Any]) -> diagnosing.DiagnosisRequest:  # noqa: ARG004
        return diagnosing.request_of(record, secrets)

    def steps(self) -> Iterator[Any]:
        return diagnosing.record_diagnosis(self.request, self.context.notebook_path, self.control, self.resumed)

    def heard(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one diagnosis
        match event:
            case diagnosing.StageBegan(name=name, number=number, of=of):
                self._now = f"Stage {number} of {of}: {STAGE_NAMES[name]}"
            case diagnosing.DiagnosisOpened(diagnosis=diagnosis) | diagnosing.DiagnosisChanged(diagnosis=diagnosis):
                self.diagnosis = diagnosis
            case Warned(text=text):
                self._problems.append(text)
            case diagnosing.DiagnosisClosed(diagnosis=diagnosis):
                self.diagnosis, self.is_closed = diagnosis, True

    def now(self) -> str:
        return "Nothing was measured." if self.is_over and not self.is_closed else self._now

    def headline(self) -> Content:
        assert self.diagnosis is not None
        return joined([diagnosis_answer(self.diagnosis)], "")

    def warnings(self) -> str:
        return "\n".join(map(plain, self._problems))

    def heard_text(self, width: int) -> str:
        stages = self.diagnosis.stages if self.diagnosis else ()
        lines = [
            line
            for stage in reversed(stages)
            for line in hanging(
                f"{'✓' if stage.status is SeriesStatus.COMPLETE else '!'} {STAGE_NAMES[stage.name]}:"
                f" {plain(stage.error or 'measured')}, {stage.seconds:.0f} s",
                width,
            )
        ]
        return "\n".join(lines)

    def result(self) -> Report | None:
        return diagnosis_report(self.diagnosis) if self.diagnosis is not None and self.is_closed else None


class DiagnosisScreen(LinesScreen):
    """Asks what to diagnose."""

    NAME, HEADING, BUTTON, STORED = "diagnosis", "Diagnosis", "Diagnose", "diagnoses"
    LINES = LINES
    RUN = DiagnosisRunScreen

    def read(self, typed: Mapping[str, str]) -> diagnosing.DiagnosisRequest:
        return diagnosis_request(typed)

    def begin(self, request: diagnosing.DiagnosisRequest) -> None:
        def agreed(yes: bool | None) -> None:
            if yes:
                super(DiagnosisScreen, self).begin(request)

        if text := diagnosing.amount_text(request):
            self.app.push_screen(ConfirmDialog("Begin the diagnosis?", text, yes="Begin", no="Back"), agreed)
        else:
            super().begin(request)
