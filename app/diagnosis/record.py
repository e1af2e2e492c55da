"""Measure a diagnosis stage by stage, and store each stage as it ends."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from app.audit.engine import AuditRequest, audit_server
from app.base.child_process import ChildProcess
from app.base.errors import SharebenchError
from app.base.targets import is_tree_folder, new_folder
from app.clients.base import check_folder, connected_files
from app.clients.file_tree import remove_all
from app.diagnosis import plan
from app.diagnosis.spec import DiagnosisRequest
from app.recording.process import SeriesControl, Warned
from app.recording.rescue import notebook_to_measure_into
from app.recording.writer import Recorder, Write, add_once, recorded
from app.server.facts import collect, measurer_facts
from app.server.host_facts import client_facts
from app.server.link_facts import find_link
from app.server.smbd import profiled_conf
from forms.diagnosis.report import STAGE_NAMES
from forms.wording import duration
from storage.looks import Diagnosis, Stage, StageName, diagnosis_of, recording_of
from storage.records import SeriesStatus, format_target, new_series_id, utc_now

_MODULE = "app.diagnosis.child"
_GRACE_SECONDS = 120.0
"""Longest time for a cancelled process to remove its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisOpened:
    diagnosis: Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class StageBegan:
    name: StageName
    number: int
    of: int
    seconds: float
    """That this stage and those after it take at most, on a local network."""

    @property
    def text(self) -> str:
        return f"{self.number} of {self.of}: {STAGE_NAMES[self.name]}; about {duration(self.seconds)} left at most"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisChanged:
    diagnosis: Diagnosis
    stage: Stage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisClosed:
    diagnosis: Diagnosis


DiagnosisEvent = DiagnosisOpened | StageBegan | DiagnosisChanged | Warned | DiagnosisClosed


def record_diagnosis(
    request: DiagnosisRequest, notebook_path: Path, control: SeriesControl, resumed: Diagnosis | None = None
) -> Iterator[DiagnosisEvent]:
    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = Recorder(notebook, control)
        if resumed:
            recorder.begin(resumed.id, stored=True)
        steps = _measure(request, control, resumed)
        closed = yield from recorded(recorder, steps, partial(_writes_of, recorder))
        yield replace(closed, diagnosis=diagnosis_of(notebook.recording(closed.diagnosis.id)))


def _writes_of(recorder: Recorder, event: DiagnosisEvent) -> Iterator[Write]:
    match event:
        case DiagnosisOpened(diagnosis=diagnosis):
            if not recorder.leases:
                recorder.begin(diagnosis.id, stored=False)
            new = recording_of(diagnosis)
            yield lambda notebook: add_once(notebook, diagnosis.id, lambda: notebook.add_recording(new))
        case DiagnosisChanged(diagnosis=diagnosis) | DiagnosisClosed(diagnosis=diagnosis):
            yield lambda notebook: notebook.update_recording(recording_of(diagnosis))


def _measure(
    request: DiagnosisRequest, control: SeriesControl, resumed: Diagnosis | None
) -> Generator[DiagnosisEvent, None, DiagnosisClosed]:
    measurement = _DiagnosisMeasurement(request, resumed or _new_diagnosis(request))
    control.attach(lambda _word: None, measurement.process.cancel)
    try:
        yield from measurement.stages(control)
    finally:
        control.detach()
        measurement.process.close()

    diagnosis = measurement.diagnosis
    problem = measurement.problem
    if problem and diagnosis.leftover:
        problem = _remove_after_all(request, diagnosis.leftover)
    if problem and diagnosis.leftover:
        yield Warned(text=problem)
    else:
        diagnosis = replace(diagnosis, leftover=None)

    link = find_link(request.target.host, request.target.port_number)
    diagnosis = replace(
        diagnosis,
        loopback=bool(link and link.loopback),
        link_bits_per_second=float(link.bits_per_second) if link and link.bits_per_second else None,
        status=measurement.status(control),
        error=measurement.error_text(control),
    )
    return DiagnosisClosed(diagnosis=diagnosis)


class _DiagnosisMeasurement:
    """The stages of a diagnosis under way, most of them in a process of their own, and what they have found."""

    def __init__(self, request: DiagnosisRequest, diagnosis: Diagnosis) -> None:
        self.request = request
        self.diagnosis = diagnosis
        self.problem = ""
        """Why our folder is still on the share."""
        self._is_stored = False

        self._stages_to_come = [name for name in diagnosis.planned if diagnosis.stage(name) is None]
        # The first login of a process is the cold one, and the audit logs in too.
        self._stages_to_come.sort(key=lambda name: name is not StageName.CONNECT)

        self.process = ChildProcess(_MODULE, grace_seconds=_GRACE_SECONDS)
        self._events = self.process.events(plan.CHILD_EVENTS)
        self.process.say(self._plan())

    def _plan(self) -> plan.DiagnosisPlan:
        request = self.request
        profile_conf = None
        if request.profile:
            server = collect(request.target, ssh=request.server_ssh, smb_conf=request.smb_conf).server
            profile_conf = profiled_conf(server, request.smb_conf, request.target)

        return plan.DiagnosisPlan(
            target=request.target,
            secrets=request.secrets,
            settings=request.settings,
            sizes=plan.SIZES[request.effort],
            stages=tuple(self._stages_to_come),
            own_folder=new_folder("diagnose"),
            folder=request.folder,
            profile_ssh=request.server_ssh,
            profile_conf=profile_conf,
        )

    def stages(self, control: SeriesControl) -> Iterator[DiagnosisEvent]:
        if self._stages_to_come[:1] != [StageName.CONNECT]:
            _check_share(self.request)

        for number, name in enumerate(self._stages_to_come, start=1):
            if not control.limit.allows():
                control.end_in_time()
            if control.cancelled.is_set():
                break

            control.limit.began()
            seconds = plan.SIZES[self.request.effort].seconds(tuple(self._stages_to_come[number - 1 :]))
            yield StageBegan(name=name, number=number, of=len(self._stages_to_come), seconds=seconds)
            if name is StageName.SETTINGS:
                self.diagnosis = _with_audit(self.diagnosis, self.request)
            else:
                yield from self._measure_in_process(name)
            control.limit.ended()

            if not self._is_stored:
                # Not before, as the first login of all is measured.
                _check_share(self.request)
            yield from self._store(self.diagnosis.stages[-1])

        if not control.cancelled.is_set():
            self.process.say(plan.FinishDiagnosis())
        last_events = [event for event in self._events if isinstance(event, plan.Ended)]
        if last_events:
            self.problem = last_events[-1].problem
        else:
            self.problem = f"the measuring process {self.process.how_it_ended()}"

    def _measure_in_process(self, name: StageName) -> Iterator[DiagnosisEvent]:
        self.process.say(plan.MeasureStage(name=name))
        stage = Stage(name=name, status=SeriesStatus.FAILED, error="the measuring process ended")
        for event in self._events:
            if isinstance(event, plan.FolderMade):
                self.diagnosis = replace(self.diagnosis, leftover=event.path)
                yield from self._store()
            elif isinstance(event, plan.StageMeasured):
                stage = event.stage
                self.diagnosis = replace(self.diagnosis, client=event.client or self.diagnosis.client)
                break

        self.diagnosis = self.diagnosis.with_stage(stage)

    def _store(self, stage: Stage | None = None) -> Iterator[DiagnosisEvent]:
        if not self._is_stored:
            self._is_stored = True
            yield DiagnosisOpened(diagnosis=self.diagnosis)
        yield DiagnosisChanged(diagnosis=self.diagnosis, stage=stage)

    def status(self, control: SeriesControl) -> SeriesStatus:
        if control.cancelled.is_set():
            return SeriesStatus.INTERRUPTED
        return SeriesStatus.FAILED if self._failed_stages() else SeriesStatus.COMPLETE

    def error_text(self, control: SeriesControl) -> str | None:
        if control.cancelled.is_set():
            return "cancelled"
        return "; ".join(f"{stage.name}: {stage.error}" for stage in self._failed_stages()) or None

    def _failed_stages(self) -> list[Stage]:
        return [stage for stage in self.diagnosis.stages if stage.status is not SeriesStatus.COMPLETE]


def _new_diagnosis(request: DiagnosisRequest) -> Diagnosis:
    return Diagnosis(
        id=new_series_id(),
        created_at=utc_now(),
        label=request.label,
        question=request.question,
        target=request.target,
        settings=request.settings,
        effort=request.effort,
        only=request.only,
        folder=request.folder,
        server_ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        profile=request.profile,
        environment={"client": {**client_facts(), **measurer_facts()}},
    )


def _with_audit(diagnosis: Diagnosis, request: DiagnosisRequest) -> Diagnosis:
    audit_request = AuditRequest(
        target=request.target,
        ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        settings=request.settings,
        secrets=lambda: request.secrets,
    )
    try:
        audit = audit_server(audit_request).audit
    except SharebenchError as error:
        failed_stage = Stage(name=StageName.SETTINGS, status=SeriesStatus.FAILED, error=str(error))
        return replace(diagnosis.with_stage(failed_stage), audit=None)
    return replace(diagnosis.with_stage(Stage(name=StageName.SETTINGS)), audit=audit)


def _check_share(request: DiagnosisRequest) -> None:
    """Raises an error, with nothing recorded, if the login fails, the folder is missing or the share is a printer."""
    with connected_files(request.target, request.secrets, request.settings) as files:
        check_folder(files)


def _remove_after_all(request: DiagnosisRequest, folder: str) -> str:
    """Remove our folder where the process could not; returns why it is still there."""
    if not is_tree_folder(folder.rpartition("/")[2]):
        return ""
    try:
        with connected_files(request.target, request.secrets, request.settings) as files:
            remove_all(files, folder)
    except SharebenchError as error:
        place = format_target(request.target)
        return f"{folder} may still be on the share ({error}): `sharebench clean {place}` removes it"
    return ""
