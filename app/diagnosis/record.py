"""Measure a diagnosis stage by stage, and store each stage as it ends."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from app.audit.engine import AuditRequest, audit_server
from app.base.child_process import ChildProcess
from app.base.errors import SharebenchError, UsageError
from app.base.targets import is_tree_folder, new_folder
from app.clients.base import Secrets, check_folder, connected_files
from app.clients.file_tree import remove_all
from app.diagnosis import spec as plan
from app.recording.process import SeriesControl, ServerRequest, Warned
from app.recording.rescue import notebook_to_measure_into
from app.recording.writer import Recorder, Write, add_once, recorded
from app.server.facts import collect, measurer_facts
from app.server.host_facts import client_facts
from app.server.link_facts import find_link
from app.server.smbd import profiled_conf
from forms import wording
from forms.diagnosis.report import STAGE_NAMES
from forms.wording import duration
from storage.errors import did_you_mean
from storage.json_reader import shared
from storage.looks import Diagnosis, Effort, Stage, StageName, diagnosis_of, recording_of, stages_of
from storage.records import SeriesStatus, Target, format_target, new_series_id, utc_now

_MODULE = "app.diagnosis.child"
_GRACE_SECONDS = 120.0
"""Longest time for a cancelled process to remove its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisRequest(ServerRequest):
    target: Target
    effort: Effort = Effort.USUAL
    only: tuple[StageName, ...] = ()
    folder: str | None = None
    profile: bool = False

    @property
    def stages(self) -> tuple[StageName, ...]:
        return stages_of(self.only)


def parse_stages(text: str) -> tuple[StageName, ...]:
    """Comma-separated names in measured order; none for an empty text. Raises UsageError."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in tuple(StageName):
            meant = did_you_mean(word, tuple(StageName))
            raise UsageError(f"there is no stage {word!r}; {meant}there are {', '.join(StageName)}")
    return stages_of([StageName(word) for word in words]) if words else ()


def check_request(request: DiagnosisRequest) -> None:
    """Raises UsageError."""
    if not request.target.abilities.has_share or not request.target.share:
        raise UsageError("diagnose needs a share: smb://HOST/SHARE, or smb://HOST/SHARE/FOLDER")
    if request.folder is not None and StageName.FOLDERS not in request.stages:
        raise UsageError("--folder is for the stage folders: name that stage with --only, or leave --folder out")


def amount_text(request: DiagnosisRequest) -> str:
    sizes = plan.SIZES[request.effort]
    files, size = sizes.amount(request.stages, own_folders=request.folder is None)
    if not files:
        return ""
    return (
        f"Creates at most {wording.count(files, 'file')} of {wording.binary_size(size)} together, never more than"
        f" {100 * plan.SHARE_OF_FREE:.0f} % of the free space, in a folder of its own in"
        f" {format_target(request.target)}, and removes them at the end."
        f" Takes about {duration(sizes.seconds(request.stages))} at most on a local network."
    )


def request_of(diagnosis: Diagnosis, secrets: Secrets) -> DiagnosisRequest:
    return DiagnosisRequest(secrets=secrets, **shared(diagnosis, DiagnosisRequest))


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
        closed = yield from recorded(recorder, _measure(request, control, resumed), lambda e: _writes(recorder, e))
        yield replace(closed, diagnosis=diagnosis_of(notebook.recording(closed.diagnosis.id)))


def _writes(recorder: Recorder, event: DiagnosisEvent) -> Iterator[Write]:
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
    measuring = _Measuring(request, resumed or _new(request))
    control.attach(lambda _word: None, measuring.process.cancel)
    try:
        yield from measuring.stages(control)
    finally:
        control.detach()
        measuring.process.close()
    diagnosis = measuring.diagnosis
    if measuring.problem and diagnosis.leftover:
        measuring.problem = _removed_after_all(request, diagnosis.leftover)
    if measuring.problem and diagnosis.leftover:
        yield Warned(text=measuring.problem)
    else:
        diagnosis = replace(diagnosis, leftover=None)
    status, why = measuring.standing(control)
    link = find_link(request.target.host, request.target.port_number)
    rate = float(link.bits_per_second) if link and link.bits_per_second else None
    diagnosis = replace(diagnosis, loopback=bool(link and link.loopback), link_bits_per_second=rate)
    return DiagnosisClosed(diagnosis=replace(diagnosis, status=status, error=why or None))


class _Measuring:
    def __init__(self, request: DiagnosisRequest, diagnosis: Diagnosis) -> None:
        self.request, self.diagnosis = request, diagnosis
        self.problem = ""
        self._is_stored = False
        self._to_do = [name for name in diagnosis.planned if diagnosis.stage(name) is None]
        # the first login of a process is the cold one, and the audit logs in too
        self._to_do.sort(key=lambda name: name is not StageName.CONNECT)
        self.process = ChildProcess(_MODULE, grace_seconds=_GRACE_SECONDS)
        self._events = self.process.events(plan.CHILD_EVENTS)
        profile_conf = None
        if request.profile:
            server = collect(request.target, ssh=request.server_ssh, smb_conf=request.smb_conf).server
            profile_conf = profiled_conf(server, request.smb_conf, request.target)
        order = plan.DiagnosisPlan(
            **shared(request, plan.DiagnosisPlan) | {"stages": tuple(self._to_do)},
            sizes=plan.SIZES[request.effort],
            own_folder=new_folder("diagnose"),
            profile_ssh=request.server_ssh,
            profile_conf=profile_conf,
        )
        self.process.say(order)

    def stages(self, control: SeriesControl) -> Iterator[DiagnosisEvent]:
        if self._to_do[:1] != [StageName.CONNECT]:
            _look_at(self.request)
        for number, name in enumerate(self._to_do, start=1):
            if not control.limit.allows():
                control.end_in_time()
            if control.cancelled.is_set():
                break
            control.limit.began()
            seconds = plan.SIZES[self.request.effort].seconds(tuple(self._to_do[number - 1 :]))
            yield StageBegan(name=name, number=number, of=len(self._to_do), seconds=seconds)
            if name is StageName.SETTINGS:
                self.diagnosis = _with_audit(self.diagnosis, self.request)
            else:
                yield from self._by_process(name)
            stage = self.diagnosis.stages[-1]
            control.limit.ended()
            if not self._is_stored:  # not before, as the first login of all is measured
                _look_at(self.request)
            yield from self._stored(stage)
        if not control.cancelled.is_set():
            self.process.say(plan.FinishDiagnosis())
        ended = [event for event in self._events if isinstance(event, plan.Ended)]
        self.problem = ended[-1].problem if ended else f"the measuring process {self.process.how_it_ended()}"

    def _by_process(self, name: StageName) -> Iterator[DiagnosisEvent]:
        self.process.say(plan.MeasureStage(name=name))
        stage = Stage(name=name, status=SeriesStatus.FAILED, error="the measuring process ended")
        for event in self._events:
            if isinstance(event, plan.FolderMade):
                self.diagnosis = replace(self.diagnosis, leftover=event.path)
                yield from self._stored()
            elif isinstance(event, plan.StageMeasured):
                stage = event.stage
                self.diagnosis = replace(self.diagnosis, client=event.client or self.diagnosis.client)
                break
        self.diagnosis = self.diagnosis.with_stage(stage)

    def _stored(self, stage: Stage | None = None) -> Iterator[DiagnosisEvent]:
        if not self._is_stored:
            self._is_stored = True
            yield DiagnosisOpened(diagnosis=self.diagnosis)
        yield DiagnosisChanged(diagnosis=self.diagnosis, stage=stage)

    def standing(self, control: SeriesControl) -> tuple[SeriesStatus, str]:
        if control.cancelled.is_set():
            return SeriesStatus.INTERRUPTED, "cancelled"
        failed = [stage for stage in self.diagnosis.stages if stage.status is not SeriesStatus.COMPLETE]
        why = "; ".join(f"{stage.name}: {stage.error}" for stage in failed)
        return (SeriesStatus.FAILED, why) if failed else (SeriesStatus.COMPLETE, "")


def _new(request: DiagnosisRequest) -> Diagnosis:
    return Diagnosis(
        id=new_series_id(),
        created_at=utc_now(),
        environment={"client": {**client_facts(), **measurer_facts()}},
        **shared(request, Diagnosis) | {"stages": ()},
    )


def _with_audit(diagnosis: Diagnosis, request: DiagnosisRequest) -> Diagnosis:
    asked = AuditRequest(
        target=request.target, ssh=request.server_ssh, smb_conf=request.smb_conf, settings=request.settings,
        secrets=lambda: request.secrets,
    )  # fmt: skip
    try:
        audit, stage = audit_server(asked).audit, Stage(name=StageName.SETTINGS)
    except SharebenchError as error:
        audit, stage = None, Stage(name=StageName.SETTINGS, status=SeriesStatus.FAILED, error=str(error))
    return replace(diagnosis.with_stage(stage), audit=audit)


def _look_at(request: DiagnosisRequest) -> None:
    """Raises an error, with nothing recorded, if the login fails, the folder is missing or the share is a printer."""
    with connected_files(request.target, request.secrets, request.settings) as files:
        check_folder(files)


def _removed_after_all(request: DiagnosisRequest, folder: str) -> str:
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
