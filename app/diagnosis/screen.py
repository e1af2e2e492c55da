"""The diagnosis on the screen: what to look for, a run and its result."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from textual.content import Content

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.diagnosis import record as diagnosing
from app.diagnosis import spec
from app.recording.process import Warned
from app.server.named_servers import server_ways
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.widgets import form_lines, report_run
from app.tui.widgets.lines_screen import LinesScreen
from app.tui.widgets.reading import GoesOn
from app.tui.widgets.views import join_toned
from forms.diagnosis.report import STAGE_NAMES, diagnosis_answer, diagnosis_report
from forms.layout import hanging
from forms.wording import plain
from storage import looks
from storage.records import SeriesStatus


class DiagnosisRunScreen(report_run.MeasurementScreen):
    KEYS: ClassVar = (
        *GoesOn.KEYS,
        *report_run.run_keys("diagnosis", "Stop, remove what was created, keep what was measured."),
    )
    STOP_HEADING = "Stop the diagnosis?"
    STOP_TEXT = "It is not done. Finished stages are kept and the rest can be resumed; what was created is removed."
    QUIT_TEXT = "A diagnosis is running. Finished stages are kept, and what was created on the share is removed."

    HEADING = "Diagnosis"
    doing = "Connecting …"
    report_of = staticmethod(diagnosis_report)

    @staticmethod
    def to_resume(record: looks.Diagnosis, secrets: Secrets, _typed: Mapping[str, Any], /) -> spec.DiagnosisRequest:
        return spec.request_of(record, secrets)

    def steps(self) -> Iterator[Any]:
        return diagnosing.record_diagnosis(self.request, self.context.notebook_path, self.control, self.resumed)

    def take_event(self, index: int, event: Any) -> None:
        match event:
            case diagnosing.StageBegan(progress_text=text):
                self.doing = f"Stage {text}"
            case diagnosing.DiagnosisOpened(diagnosis=diagnosis) | diagnosing.DiagnosisChanged(diagnosis=diagnosis):
                self.record = diagnosis
            case Warned(text=text):
                self.problems.append(text)
            case diagnosing.DiagnosisClosed(diagnosis=diagnosis):
                self.record = diagnosis
                self.is_closed = True

    def headline(self) -> Content:
        return join_toned([diagnosis_answer(self.record)], "")

    def warnings(self) -> str:
        return "\n".join(map(plain, self.problems))

    def draw_heard(self, width: int) -> str:
        lines: list[str] = []
        for stage in reversed(self.record.stages if self.record else ()):
            sign = "✓" if stage.status is SeriesStatus.COMPLETE else "!"
            outcome = plain(stage.error or "measured")
            lines += hanging(f"{sign} {STAGE_NAMES[stage.name]}: {outcome}, {stage.seconds:.0f} s", width)
        return "\n".join(lines)


_ABOUT_STAGES = f"Stages: {', '.join(looks.StageName)}; empty: all of them."


class DiagnosisScreen(LinesScreen):
    NAME = "diagnosis"
    HEADING = "Diagnosis"
    BUTTON = "Diagnose"
    STORED = "diagnoses"
    LINES = (
        form_lines.TARGET,
        form_lines.FormLine("only", "Stages", "such as connect,folders; empty: all", about=_ABOUT_STAGES),
        form_lines.FormLine("effort", "Effort", "quick, usual or thorough", looks.Effort.USUAL.value),
        form_lines.FormLine("folder", "Large folder", "an existing one on the share, read only; empty: new ones"),
        form_lines.SSH,
        form_lines.CONF,
    )
    RUN = DiagnosisRunScreen

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> spec.DiagnosisRequest:
        values = form_lines.typed_values(cls.LINES, typed)
        target = form_lines.typed_target(values["target"])
        if values["effort"] not in {"", *looks.Effort}:
            raise UsageError(f"effort is {', '.join(looks.Effort)}; not {values['effort']!r}")

        stages = spec.parse_stages(values["only"])
        ways = server_ways(target, values["ssh"], values["conf"])
        request = spec.DiagnosisRequest(
            target=target,
            effort=looks.Effort(values["effort"] or looks.Effort.USUAL),
            only=stages,
            folder=values["folder"] or None,
            server_ssh=ways.server_ssh,
            smb_conf=ways.smb_conf,
        )
        spec.check_request(request)
        return request

    def begin(self, request: spec.DiagnosisRequest) -> None:
        amount = spec.amount_text(request)
        if not amount:
            super().begin(request)
            return

        def begin(_is_wanted: bool) -> None:
            super(DiagnosisScreen, self).begin(request)

        self.ask(ConfirmDialog("Begin the diagnosis?", amount, yes="Begin", no="Back"), begin)
