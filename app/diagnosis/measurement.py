"""A diagnosis under way: its stages, one after the other, and what is left on the share at the end.

The stages are measured in a child process (`app.diagnosis.child`), but for the audit of the settings, which reads the
server's files. `app.diagnosis.record` stores the diagnosis at each event before the event is told.
"""

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from app.base import own_names
from app.base.child_process import ChildProcess, Elsewhere
from app.base.errors import ChildDiedError
from app.diagnosis import own_folder, plan
from app.diagnosis.settings_stage import with_audit
from app.diagnosis.spec import DiagnosisRequest
from app.diagnosis.stage_times import StageTimes
from app.recording import process
from app.recording.reaching import reach
from app.series.observer import ObserverElsewhere
from app.server import facts
from app.server.elsewhere.place import MeasuringPlace
from app.server.link_facts import find_link
from app.server.smbd import profiled_conf
from forms.diagnosis.report import STAGE_NAMES
from forms.wording import duration
from storage import looks, records

_MODULE = "app.diagnosis.child"
_GRACE_SECONDS = 120.0
"""Longest time for a cancelled process to remove its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisOpened:
    """The diagnosis is to be stored: our folder is about to be made, or the first stage has ended."""

    diagnosis: looks.Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class StageBegan:
    name: looks.StageName
    number: int
    """Its place in this attempt, from 1."""
    of: int
    """Stages of this attempt: a resumed diagnosis measures only those that are missing."""

    # How long it will take.
    seconds: float
    """How long this stage and those after it will probably take."""
    later_seconds: float
    """The same of those after it."""
    most_seconds: float
    """How long this stage and those after it take at most, on a local network."""

    @property
    def progress_text(self) -> str:
        return f"{self.place_text}; about {duration(self.seconds)} left, {duration(self.most_seconds)} at most"

    @property
    def place_text(self) -> str:
        return f"{self.number} of {self.of}: {STAGE_NAMES[self.name]}"

    def seconds_left(self, passed_seconds: float) -> float:
        """What is left that many seconds after the beginning of the stage: at least the stages after it."""
        return max(self.later_seconds, self.seconds - passed_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisChanged:
    """The diagnosis is to be stored anew."""

    diagnosis: looks.Diagnosis
    stage: looks.Stage | None = None
    """The stage that has ended; None where only our folder was noted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisClosed:
    """The diagnosis has ended, well or not; always the last event."""

    diagnosis: looks.Diagnosis


MeasurementEvent = DiagnosisOpened | StageBegan | DiagnosisChanged | process.Warned
"""What a diagnosis under way tells; it returns DiagnosisClosed."""
DiagnosisEvent = MeasurementEvent | DiagnosisClosed
"""What the recorder of a diagnosis tells."""


def _ignore_message(_message: process.ControlMessage) -> None:
    """A stage is measured to its end, or cancelled: nothing else is said to it."""


def measure(
    request: DiagnosisRequest, control: process.SeriesControl, resumed: looks.Diagnosis | None
) -> Generator[MeasurementEvent, None, DiagnosisClosed]:
    """Measure the stages that are missing, and remove what was made on the share.

    ``resumed`` is the diagnosis as its earlier attempt left it; None for a new one.
    """
    place: MeasuringPlace | None = None
    side: facts.ClientSide | None = None
    if request.from_host is not None:
        place = reach(request.from_host, control)
        if place.carried_bytes:
            yield process.Warned(text=place.carried_text)
        with closing(ObserverElsewhere(place, request.target, records.Command.GET)) as observer:
            side = observer.side

    measurement = _DiagnosisMeasurement(request, resumed or _new_diagnosis(request, side), place)
    control.attach(_ignore_message, measurement.process.cancel)
    try:
        yield from measurement.stages(control)
    finally:
        control.detach()
        measurement.process.close()

    diagnosis = measurement.diagnosis
    problem = own_folder.reason_folder_is_left(request, diagnosis, measurement.removal_problem)
    if problem:
        yield process.Warned(text=problem)
    else:
        diagnosis = replace(diagnosis, leftover=None)

    link = side.link if side else find_link(request.target.host, request.target.port_number)
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

    def __init__(
        self, request: DiagnosisRequest, diagnosis: looks.Diagnosis, elsewhere: Elsewhere | None = None
    ) -> None:
        """``elsewhere``: the machine that measures; None for this one."""
        self.request = request
        self.diagnosis = diagnosis
        """With the stages that have ended."""
        self.removal_problem = ""
        """Why the measuring process could not remove our folder, if it made one; empty where it could."""
        self._is_opened = False
        """Whether the diagnosis was told, so that it is stored."""
        self._is_share_prepared = False
        """Whether `_prepare_share` was called: it does its work once."""
        self._earlier_folder = diagnosis.leftover
        """What an attempt before this one left on the share, where one is resumed that was killed."""

        self._times = StageTimes(request.effort)
        """How long stages will take, by those that have ended."""
        self._stages_to_come = [name for name in diagnosis.planned if diagnosis.stage(name) is None]
        # The first login of a process is the cold one, and the audit logs in too.
        if looks.StageName.CONNECT in self._stages_to_come:
            self._stages_to_come.remove(looks.StageName.CONNECT)
            self._stages_to_come.insert(0, looks.StageName.CONNECT)

        self._is_elsewhere = elsewhere is not None
        self.process = ChildProcess(_MODULE, grace_seconds=_GRACE_SECONDS, elsewhere=elsewhere)
        self._events = self.process.events(plan.CHILD_EVENTS)
        self.process.say(self._plan())

    def _plan(self) -> plan.DiagnosisPlan:
        """What the measuring process is told at first; it then waits for each stage to be asked for."""
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
        """Measure one stage after the other; each is in ``diagnosis`` before its event is told."""
        # The share is looked at only after the first connect, where that is measured: it must be the first login.
        if self._stages_to_come[:1] != [looks.StageName.CONNECT]:
            yield from self._prepare_share()

        for number, name in enumerate(self._stages_to_come, start=1):
            if not control.limit.has_time_for_another():
                control.end_in_time()
            if control.cancelled.is_set():
                break

            control.limit.begin_timing()
            yield self._beginning_of(name, number)
            if name is looks.StageName.SETTINGS:
                self.diagnosis = with_audit(self.diagnosis, self.request)
            else:
                yield from self._measure_in_process(name)
            control.limit.end_timing()
            stage = self.diagnosis.stage(name)
            if stage is not None:
                self._times.end_stage(name, stage.seconds)

            yield from self._prepare_share()
            yield from self._tell_change(self.diagnosis.stages[-1])

        if not control.cancelled.is_set():
            self.process.say(plan.FinishDiagnosis())
        self.removal_problem = self._wait_for_removal()

    def _prepare_share(self) -> Iterator[MeasurementEvent]:
        """Once: look at the share, and remove what an attempt before left there.

        Raises an error, with nothing recorded, where nothing can be measured on that share.
        """
        if self._is_share_prepared:
            return
        self._is_share_prepared = True
        self._check_share()

        # Before this attempt makes its own folder, whose name then takes the place of the earlier one.
        if self._earlier_folder is None:
            return
        problem = own_folder.remove_after_all(self.request, self._earlier_folder)
        if problem:
            yield process.Warned(text=problem)
        elif self.diagnosis.leftover == self._earlier_folder:
            self.diagnosis = replace(self.diagnosis, leftover=None)

    def _check_share(self) -> None:
        request = self.request
        if not self._is_elsewhere:
            own_folder.check_share(request.target, request.secrets, request.settings)
            return

        self.process.say(plan.CheckShare())
        answer = next(self._events, None)
        if not isinstance(answer, plan.ShareChecked):
            raise ChildDiedError(f"the measuring process {self.process.how_it_ended()}")
        if answer.failure is not None:
            raise answer.failure.error

    def _beginning_of(self, name: looks.StageName, number: int) -> StageBegan:
        stages_left = tuple(self._stages_to_come[number - 1 :])
        return StageBegan(
            name=name,
            number=number,
            of=len(self._stages_to_come),
            seconds=self._times.seconds(stages_left),
            later_seconds=self._times.seconds(stages_left[1:]),
            most_seconds=plan.SIZES[self.request.effort].seconds(stages_left),
        )

    def _wait_for_removal(self) -> str:
        """Read the process's events to its end; returns why it could not remove our folder, or empty."""
        last_events = [event for event in self._events if isinstance(event, plan.Ended)]
        if not last_events:
            return f"the measuring process {self.process.how_it_ended()}"
        return last_events[-1].problem

    def _measure_in_process(self, name: looks.StageName) -> Iterator[MeasurementEvent]:
        """Have the process measure a stage; it fails if the process ends before it tells one."""
        self.process.say(plan.MeasureStage(name=name))
        stage = looks.Stage(name=name, status=records.SeriesStatus.FAILED, error="the measuring process ended")
        for event in self._events:
            if isinstance(event, plan.FolderMade):
                self.diagnosis = replace(self.diagnosis, leftover=event.path)
                yield from self._tell_change()
            elif isinstance(event, plan.StageMeasured):
                stage = event.stage
                self.diagnosis = replace(self.diagnosis, client=event.client or self.diagnosis.client)
                break

        self.diagnosis = self.diagnosis.with_stage(stage)

    def _tell_change(self, stage: looks.Stage | None = None) -> Iterator[MeasurementEvent]:
        """Have the diagnosis stored as it is now, the first time as a new one; ``stage`` is the one that has ended."""
        if not self._is_opened:
            self._is_opened = True
            yield DiagnosisOpened(diagnosis=self.diagnosis)
        yield DiagnosisChanged(diagnosis=self.diagnosis, stage=stage)

    def status(self, control: process.SeriesControl) -> records.SeriesStatus:
        if control.cancelled.is_set():
            return records.SeriesStatus.INTERRUPTED
        return records.SeriesStatus.FAILED if self._failed_stages() else records.SeriesStatus.COMPLETE

    def error_text(self, control: process.SeriesControl) -> str | None:
        if control.cancelled.is_set():
            return control.why_cancelled
        return "; ".join(f"{stage.name}: {stage.error}" for stage in self._failed_stages()) or None

    def _failed_stages(self) -> list[looks.Stage]:
        return [stage for stage in self.diagnosis.stages if stage.status is not records.SeriesStatus.COMPLETE]


def _new_diagnosis(request: DiagnosisRequest, side: facts.ClientSide | None) -> looks.Diagnosis:
    """``side``: what another machine that measures says of itself; None for this one."""
    client = facts.client_facts_of(side, request.from_host)

    return looks.Diagnosis(
        id=records.new_series_id(),
        created_at=records.utc_now(),
        label=request.label,
        question=request.question,
        target=request.target,
        settings=request.settings,
        effort=request.effort,
        only=request.only,
        complaint=request.complaint,
        folder=request.folder,
        server_ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        profile=request.profile,
        from_host=request.from_host,
        environment={"client": client},
    )
