"""A diagnosis on the screen: the lines to fill in, the stages as they are measured, and the report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual.content import Content

from app.clients.base import Secrets
from app.errors import LoginError, UsageError
from app.measure.events import Warned
from app.subjects.diagnosis.run import (
    DiagnosisChanged,
    DiagnosisClosed,
    DiagnosisOpened,
    DiagnosisRequest,
    StageBegan,
    amount_text,
    check_request,
    parse_stages,
    record_diagnosis,
)
from app.targets import parse_typed_target
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.measuring.isolation import first_values as remembered_or_practice
from app.tui.widgets.asking import TARGET, FormLine, LinesScreen, log_in, log_in_again, remembered_values, typed_values
from app.tui.widgets.recording import ReportRunScreen
from app.tui.widgets.views import joined
from app.workflows.guide.known import server_of
from forms.diagnosis.report import STAGE_NAMES, diagnosis_answer, diagnosis_report
from forms.layout import hanging
from forms.wording import place, plain
from storage.diagnoses import Diagnosis, Effort
from storage.records import JSONValue, SeriesStatus, Target

LINES = (
    TARGET,
    FormLine(key="only", name="Stages", hint="such as connect,folders; empty: all"),
    FormLine(key="effort", name="Effort", hint="quick, usual or thorough", usual=Effort.USUAL.value),
    FormLine(key="folder", name="Large folder", hint="an existing one on the share, read only; empty: new ones"),
    FormLine(key="ssh", name="Server by ssh", hint="[USER@]HOST; empty: the server is this machine"),
    FormLine(key="conf", name="smb.conf", hint="its path on the server; empty: the path of its smbd"),
)


def diagnosis_request(typed: Mapping[str, str]) -> DiagnosisRequest:
    """What the lines ask for, without a login. Raises UsageError with what is wrong."""
    text = typed_values(LINES, typed)
    if not text["target"]:
        raise UsageError("which share? type [USER@]HOST/SHARE, or smb://USER@HOST/SHARE")
    if text["effort"] not in {"", *Effort}:
        raise UsageError(f"effort is {', '.join(Effort)}; not {text['effort']!r}")
    target = parse_typed_target(text["target"])
    server = server_of(target)
    request = DiagnosisRequest(
        target=target,
        effort=Effort(text["effort"] or Effort.USUAL),
        only=parse_stages(text["only"]),
        folder=text["folder"] or None,
        server_ssh=text["ssh"] or (server.ssh if server else "") or None,
        smb_conf=text["conf"] or (server.smb_conf if server else "") or None,
    )
    check_request(request)
    return request


class DiagnosisRunScreen(ReportRunScreen):
    """Measures a diagnosis, a line a stage, then shows its report."""

    ABOUT = (
        "Each stage is kept the moment it ends. At the end come the answer, what is wrong with the one change to try,"
        " and the figures. Everything created on the share is removed. Up and down scroll."
    )
    KEYS: ClassVar = (
        KeyCommand("diagnosis.stop", "s", "Stop", "Stop, remove what was created, keep what was measured."),
        KeyCommand("diagnosis.export", "x", "Export", "Write the diagnosis to a file."),
    )
    STOP_HEADING = "Stop the diagnosis?"
    STOP_TEXT = "It is not done. Finished stages are kept and the rest can be resumed; what was created is removed."
    QUIT_TEXT = "A diagnosis is running. Finished stages are kept, and what was created on the share is removed."

    def __init__(self, request: DiagnosisRequest, resumed: Diagnosis | None = None) -> None:
        super().__init__(f"Diagnosis · {place(request.target)}")
        self.request, self.resumed = request, resumed
        self.diagnosis: Diagnosis | None = None
        self.is_closed = False
        self._now = "Connecting …"
        self._problems: list[str] = []

    def events(self) -> Iterator[tuple[int, Any]]:
        for event in record_diagnosis(self.request, self.context.notebook_path, self.control, self.resumed):
            yield 0, event

    def heard(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one diagnosis
        match event:
            case StageBegan(name=name, number=number, of=of):
                self._now = f"Stage {number} of {of}: {STAGE_NAMES[name]}"
            case DiagnosisOpened(diagnosis=diagnosis) | DiagnosisChanged(diagnosis=diagnosis):
                self.diagnosis = diagnosis
            case Warned(text=text):
                self._problems.append(text)
            case DiagnosisClosed(diagnosis=diagnosis):
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

    def ended(self, error: Exception | None) -> None:
        if error is not None and not (isinstance(error, LoginError) and self._log_in_again(error)):
            self.work_failed(error)
        if self.diagnosis is not None and self.is_closed:
            self.show_report(diagnosis_report(self.diagnosis))
        else:
            self.draw()
            self.refresh_bindings()

    def _log_in_again(self, error: LoginError) -> bool:
        def again(secrets: Secrets) -> None:
            self.begin_again(DiagnosisRunScreen(replace(self.request, secrets=secrets), self.resumed))

        return log_in_again(self, [self.request.target], str(error), again)


class DiagnosisScreen(LinesScreen):
    """Asks what to diagnose."""

    ABOUT = (
        "Why do users complain? Audits the server, then measures the first connect, distance, many small files, large"
        " folders, signing and encryption, a long run and several connections. Fill in the lines; Enter moves to the"
        " next one."
    )
    KEYS: ClassVar = (
        KeyCommand("diagnosis.start", "f9", "Diagnose", "Measure what the lines say.", footer="Start", priority=True),
        KeyCommand(
            "diagnosis.stored",
            "ctrl+l",
            "Stored diagnoses",
            "List the diagnoses of the notebook.",
            footer="Stored",
            priority=True,
        ),
    )
    HEADING, BUTTON, STORED = "Diagnosis", "Diagnose", "diagnosis"
    LINES = LINES
    MEMORY_KEY = "diagnosis"

    @staticmethod
    def first_values(remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
        share = remembered_or_practice(remembered, practice)["target"]
        return remembered_values(LINES, {**(remembered or {}), "target": share})

    def read(self, typed: Mapping[str, str]) -> DiagnosisRequest:
        return diagnosis_request(typed)

    def begin(self, request: DiagnosisRequest) -> None:
        def agreed(yes: bool | None) -> None:
            if yes:
                begin()

        def begin() -> None:
            log_in(self, request.target, measure)

        def measure(secrets: Secrets) -> None:
            self.app.push_screen(DiagnosisRunScreen(replace(request, secrets=secrets)))

        if text := amount_text(request):
            self.app.push_screen(ConfirmDialog("Begin the diagnosis?", text, yes="Begin", no="Back"), agreed)
        else:
            begin()
