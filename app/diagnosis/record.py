"""Measure a diagnosis stage by stage, and store each stage as it ends."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from app.audit import engine
from app.base import own_names
from app.base.child_process import ChildProcess
from app.base.errors import SharebenchError
from app.clients import base, registry
from app.clients.file_tree import remove_all
from app.diagnosis import plan
from app.diagnosis.spec import DiagnosisRequest
from app.recording import process, writer
from app.recording.rescue import notebook_to_measure_into
from app.server import facts
from app.server.host_facts import client_facts
from app.server.link_facts import find_link
from app.server.smbd import profiled_conf
from forms.diagnosis.report import STAGE_NAMES
from forms.wording import duration
from storage import looks, records
from storage.notebook import Notebook

_MODULE = "app.diagnosis.child"
_GRACE_SECONDS = 120.0
"""Longest time for a cancelled process to remove its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisOpened:
    diagnosis: looks.Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class StageBegan:
    name: looks.StageName
    number: int
    of: int
    seconds: float
    """That this stage and those after it take at most, on a local network."""

    @property
    def progress_text(self) -> str:
        return f"{self.number} of {self.of}: {STAGE_NAMES[self.name]}; about {duration(self.seconds)} left at most"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisChanged:
    diagnosis: looks.Diagnosis
    stage: looks.Stage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisClosed:
    diagnosis: looks.Diagnosis


MeasurementEvent = DiagnosisOpened | StageBegan | DiagnosisChanged | process.Warned
"""What a diagnosis under way tells; it returns DiagnosisClosed."""
DiagnosisEvent = MeasurementEvent | DiagnosisClosed
"""What the recorder of a diagnosis tells."""


def record_diagnosis(
    request: DiagnosisRequest,
    notebook_path: Path,
    control: process.SeriesControl,
    resumed: looks.Diagnosis | None = None,
) -> Iterator[DiagnosisEvent]:
    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = writer.Recorder(notebook, control)
        if resumed:
            recorder.begin(resumed.id, stored=True)
        steps = _measure(request, control, resumed)
        closed = yield from writer.record_events(recorder, steps, partial(_writes_of_event, recorder), _writes_of_end)
        yield replace(closed, diagnosis=looks.diagnosis_of(notebook.recording(closed.diagnosis.id)))


def _writes_of_event(recorder: writer.Recorder, event: MeasurementEvent) -> Iterator[writer.Write]:
    match event:
        case DiagnosisOpened(diagnosis=diagnosis):
            is_new = not recorder.leases
            if is_new:
                recorder.begin(diagnosis.id, stored=False)
            yield partial(_add, diagnosis)

        case DiagnosisChanged(diagnosis=diagnosis):
            yield partial(_update, diagnosis)


def _writes_of_end(closed: DiagnosisClosed) -> Iterator[writer.Write]:
    yield partial(_update, closed.diagnosis)


def _add(diagnosis: looks.Diagnosis, notebook: Notebook) -> None:
    new_recording = looks.recording_of(diagnosis)
    writer.add_once(notebook, diagnosis.id, partial(notebook.add_recording, new_recording))


def _update(diagnosis: looks.Diagnosis, notebook: Notebook) -> None:
    notebook.update_recording(looks.recording_of(diagnosis))


def _ignore_word(_word: process.ControlMessage) -> None:
    """A stage is measured to its end, or cancelled: nothing else is said to it."""


def _measure(
    request: DiagnosisRequest, control: process.SeriesControl, resumed: looks.Diagnosis | None
) -> Generator[MeasurementEvent, None, DiagnosisClosed]:
    measurement = _DiagnosisMeasurement(request, resumed or _new_diagnosis(request))
    control.attach(_ignore_word, measurement.process.cancel)
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
        yield process.Warned(text=problem)
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

    def __init__(self, request: DiagnosisRequest, diagnosis: looks.Diagnosis) -> None:
        self.request = request
        self.diagnosis = diagnosis
        self.problem = ""
        """Why our folder is still on the share."""
        self._is_stored = False

        self._stages_to_come = [name for name in diagnosis.planned if diagnosis.stage(name) is None]
        # The first login of a process is the cold one, and the audit logs in too.
        if looks.StageName.CONNECT in self._stages_to_come:
            self._stages_to_come.remove(looks.StageName.CONNECT)
            self._stages_to_come.insert(0, looks.StageName.CONNECT)

        self.process = ChildProcess(_MODULE, grace_seconds=_GRACE_SECONDS)
        self._events = self.process.events(plan.CHILD_EVENTS)
        self.process.say(self._plan())

    def _plan(self) -> plan.DiagnosisPlan:
        request = self.request
        profile_conf = None
        if request.profile:
            server = facts.collect(request.target, ssh=request.server_ssh, smb_conf=request.smb_conf).server
            profile_conf = profiled_conf(server, request.smb_conf, request.target)

        return plan.DiagnosisPlan(
            target=request.target,
            secrets=request.secrets,
            settings=request.settings,
            sizes=plan.SIZES[request.effort],
            stages=tuple(self._stages_to_come),
            own_folder=own_names.new_folder("diagnose"),
            folder=request.folder,
            profile_ssh=request.server_ssh,
            profile_conf=profile_conf,
        )

    def stages(self, control: process.SeriesControl) -> Iterator[MeasurementEvent]:
        if self._stages_to_come[:1] != [looks.StageName.CONNECT]:
            _check_share(self.request)

        for number, name in enumerate(self._stages_to_come, start=1):
            if not control.limit.allows():
                control.end_in_time()
            if control.cancelled.is_set():
                break

            control.limit.began()
            seconds = plan.SIZES[self.request.effort].seconds(tuple(self._stages_to_come[number - 1 :]))
            yield StageBegan(name=name, number=number, of=len(self._stages_to_come), seconds=seconds)
            if name is looks.StageName.SETTINGS:
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

    def _measure_in_process(self, name: looks.StageName) -> Iterator[MeasurementEvent]:
        self.process.say(plan.MeasureStage(name=name))
        stage = looks.Stage(name=name, status=records.SeriesStatus.FAILED, error="the measuring process ended")
        for event in self._events:
            if isinstance(event, plan.FolderMade):
                self.diagnosis = replace(self.diagnosis, leftover=event.path)
                yield from self._store()
            elif isinstance(event, plan.StageMeasured):
                stage = event.stage
                self.diagnosis = replace(self.diagnosis, client=event.client or self.diagnosis.client)
                break

        self.diagnosis = self.diagnosis.with_stage(stage)

    def _store(self, stage: looks.Stage | None = None) -> Iterator[MeasurementEvent]:
        if not self._is_stored:
            self._is_stored = True
            yield DiagnosisOpened(diagnosis=self.diagnosis)
        yield DiagnosisChanged(diagnosis=self.diagnosis, stage=stage)

    def status(self, control: process.SeriesControl) -> records.SeriesStatus:
        if control.cancelled.is_set():
            return records.SeriesStatus.INTERRUPTED
        return records.SeriesStatus.FAILED if self._failed_stages() else records.SeriesStatus.COMPLETE

    def error_text(self, control: process.SeriesControl) -> str | None:
        if control.cancelled.is_set():
            return "cancelled"
        return "; ".join(f"{stage.name}: {stage.error}" for stage in self._failed_stages()) or None

    def _failed_stages(self) -> list[looks.Stage]:
        return [stage for stage in self.diagnosis.stages if stage.status is not records.SeriesStatus.COMPLETE]


def _new_diagnosis(request: DiagnosisRequest) -> looks.Diagnosis:
    environment = {"client": {**client_facts(), **facts.measurer_facts()}}

    return looks.Diagnosis(
        id=records.new_series_id(),
        created_at=records.utc_now(),
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
        environment=environment,
    )


def _with_audit(diagnosis: looks.Diagnosis, request: DiagnosisRequest) -> looks.Diagnosis:
    def secrets() -> base.Secrets:
        return request.secrets

    audit_request = engine.AuditRequest(
        target=request.target,
        ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        settings=request.settings,
        secrets=secrets,
    )
    try:
        audit = engine.audit_server(audit_request).audit
    except SharebenchError as error:
        failed_stage = looks.Stage(name=looks.StageName.SETTINGS, status=records.SeriesStatus.FAILED, error=str(error))
        return replace(diagnosis.with_stage(failed_stage), audit=None)
    return replace(diagnosis.with_stage(looks.Stage(name=looks.StageName.SETTINGS)), audit=audit)


def _check_share(request: DiagnosisRequest) -> None:
    """Raises an error, with nothing recorded, if the login fails, the folder is missing or the share is a printer."""
    with registry.connected_files(request.target, request.secrets, request.settings) as files:
        base.check_folder(files)


def _remove_after_all(request: DiagnosisRequest, folder: str) -> str:
    """Remove our folder where the process could not; returns why it is still there."""
    if not own_names.is_tree_folder(folder.rpartition("/")[2]):
        return ""
    try:
        with registry.connected_files(request.target, request.secrets, request.settings) as files:
            remove_all(files, folder)
    except SharebenchError as error:
        place = records.format_target(request.target)
        return f"{folder} may still be on the share ({error}): `sharebench clean {place}` removes it"
    return ""
