"""The stages of a diagnosis under way, most of them in a process of their own."""

from collections.abc import Iterator
from dataclasses import replace

from app.base import own_names
from app.base.child_process import ChildProcess, Elsewhere
from app.base.errors import ChildDiedError
from app.diagnosis import events, own_folder, plan
from app.diagnosis.settings_stage import with_audit
from app.diagnosis.spec import DiagnosisRequest
from app.diagnosis.stage_times import StageTimes, pace_of_this_machine
from app.recording import process, recycle_bin
from app.server import facts
from app.server.link_facts import find_link
from app.server.smbd import profiled_conf
from storage import looks, records

_MODULE = "app.diagnosis.child"


_GRACE_SECONDS = 120.0
"""Longest time for a cancelled process to remove its files."""


class StagesUnderWay:
    """The stages of a diagnosis under way, most of them in a process of their own, and what they have found."""

    def __init__(
        self,
        request: DiagnosisRequest,
        diagnosis: looks.Diagnosis,
        elsewhere: Elsewhere | None = None,
        side: facts.ClientSide | None = None,
    ) -> None:
        """``elsewhere``: the machine that measures, and ``side`` what it says of itself; None for this one."""
        self.request = request
        self._side = side
        self.diagnosis = diagnosis
        """With the stages that have ended."""
        self.removal_problem = ""
        """Why the measuring process could not remove our folder, if it made one; empty where it could."""
        self._is_opened = False
        """Whether the diagnosis was told, so that it is stored."""
        self._is_end_told = False
        """Whether a stage says how the measuring process ended, which was before its time."""
        self._is_share_prepared = False
        """Whether `_prepare_share` was called: it does its work once."""
        self._earlier_folder = diagnosis.leftover
        """What an attempt before this one left on the share, where one is resumed that was killed."""

        # How busy another machine is that measures, nobody knows here.
        pace = 1.0 if elsewhere is not None else pace_of_this_machine()
        self._times = StageTimes(request.effort, request.complaint, pace)
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
            sizes=plan.sizes_of(request.effort, request.complaint),
            stages=tuple(self._stages_to_come),
            own_folder=own_names.new_folder("diagnose"),
            folder=request.folder,
            profile_ssh=request.server_ssh,
            profile_conf=profile_conf,
        )

    def stages(self, control: process.SeriesControl) -> Iterator[events.MeasurementEvent]:
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

    def _prepare_share(self) -> Iterator[events.MeasurementEvent]:
        """Once: look at the share and the link to it, and remove what an attempt before left there.

        Raises an error, with nothing recorded, where nothing can be measured on that share.
        """
        if self._is_share_prepared:
            return
        self._is_share_prepared = True
        self._check_share()
        self._note_link()

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

    def _note_link(self) -> None:
        """Note the link before anything is held against it: what was shown once must not change later."""
        target = self.request.target
        link = self._side.link if self._side is not None else find_link(target.host, target.port_number)
        bits_per_second = self.request.link_bits_per_second or (link.bits_per_second if link else None)
        self.diagnosis = replace(
            self.diagnosis,
            loopback=bool(link and link.loopback),
            link_bits_per_second=float(bits_per_second) if bits_per_second else None,
        )

    def _beginning_of(self, name: looks.StageName, number: int) -> events.StageBegan:
        stages_left = tuple(self._stages_to_come[number - 1 :])
        return events.StageBegan(
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

    def _measure_in_process(self, name: looks.StageName) -> Iterator[events.MeasurementEvent]:
        """Have the process measure a stage; it fails if the process ends before it tells one."""
        self.process.say(plan.MeasureStage(name=name))
        stage = None
        for event in self._events:
            if isinstance(event, plan.FolderMade):
                self.diagnosis = replace(self.diagnosis, leftover=event.path)
                yield from self._tell_change()
                server = self.diagnosis.audit.facts if self.diagnosis.audit else {}
                yield from recycle_bin.kept_warning(self.request.target, event.path, server)
            elif isinstance(event, plan.StageMeasured):
                stage = event.stage
                self.diagnosis = replace(self.diagnosis, client=event.client or self.diagnosis.client)
                break

        if stage is None:
            stage = looks.Stage(name=name, status=records.SeriesStatus.FAILED, error=self._why_it_ended())
        self.diagnosis = self.diagnosis.with_stage(stage)

    def _why_it_ended(self) -> str:
        """How the process ended, told once: of the stages after that, that they were not begun."""
        if self._is_end_told:
            return "not begun: the measuring process had ended"
        self._is_end_told = True
        return f"the measuring process {self.process.how_it_ended()}"

    def _tell_change(self, stage: looks.Stage | None = None) -> Iterator[events.MeasurementEvent]:
        """Have the diagnosis stored as it is now, the first time as a new one; ``stage`` is the one that has ended."""
        if not self._is_opened:
            self._is_opened = True
            yield events.DiagnosisOpened(diagnosis=self.diagnosis)
        yield events.DiagnosisChanged(diagnosis=self.diagnosis, stage=stage)

    def status(self, control: process.SeriesControl) -> records.SeriesStatus:
        if control.cancelled.is_set():
            return records.SeriesStatus.INTERRUPTED
        return records.SeriesStatus.FAILED if self._failed_stages() else records.SeriesStatus.COMPLETE

    def error_text(self, control: process.SeriesControl) -> str | None:
        if control.cancelled.is_set():
            return control.why_cancelled
        # One reason, such as a read-only share, may stop several stages: it is told once.
        names_by_reason: dict[str, list[str]] = {}
        for stage in self._failed_stages():
            names_by_reason.setdefault(str(stage.error), []).append(stage.name)
        texts = [f"{', '.join(names)}: {reason}" for reason, names in names_by_reason.items()]
        return "; ".join(texts) or None

    def _failed_stages(self) -> list[looks.Stage]:
        return [stage for stage in self.diagnosis.stages if stage.status is not records.SeriesStatus.COMPLETE]
