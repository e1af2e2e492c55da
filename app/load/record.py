"""Measure or resume a load: surroundings, engine, and each point into the notebook."""

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from operator import methodcaller
from pathlib import Path

from app.base import errors
from app.base.own_names import new_folder
from app.clients.file_tree import FileSet
from app.load import events, print_queue, spec
from app.load import next_point as load_next_point
from app.load.judgement import load_point
from app.load.server_view import LoadSamplers
from app.recording import process, writer
from app.recording.rescue import notebook_to_measure_into
from app.server import facts
from app.worksheets.prediction import prediction_of
from forms.load import summary as load_summary
from forms.load.prediction import Prediction
from storage.load import records
from storage.notebook import Notebook
from storage.records import SeriesStatus, new_series_id, utc_now

_LEAST_SHARE_CONNECTED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadChanged:
    """Stored anew: the load with its points so far, and one point of them."""

    load: records.Load
    point: records.LoadPoint | None = None
    """The point that was measured last; None where no point changed, as at the beginning."""
    done: bool = False
    """Whether the point is over: its print jobs, if it has any, have left the printer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadClosed:
    """The load is over; always the last event."""

    load: records.Load
    failure: process.Failed | None = None
    """Why it ended early; None where it ended well."""
    stored: bool = True
    """False where nothing was measured that is worth keeping: the load was taken out of the notebook."""
    prediction: Prediction | None = None
    """What the newest worksheet about its server foretells; None where there is none."""


MeasurementStep = events.LoadEvent | LoadChanged
"""What a load under way tells; it returns LoadClosed."""
LoadStep = MeasurementStep | LoadClosed
"""What the recorder of a load tells."""


def run_load(
    request: spec.LoadRequest, notebook_path: Path, control: process.SeriesControl, resumed: records.Load | None = None
) -> Iterator[LoadStep]:
    """Measure a load, or resume one; each point is stored before its event. Raises NotebookError, UsageError."""
    if resumed is not None:
        yield from resume_load(resumed, request, notebook_path, control)
        return

    spec.check_hosts(request)
    spec.check_limits(request.choices, request.targets)
    environment = facts.collect(request.targets[0], ssh=request.server_ssh, smb_conf=request.smb_conf, window_seconds=0)
    spec.check_server_limits(request.choices, environment)
    load = _new_load(request, environment)

    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = writer.Recorder(notebook, control)
        recorder.begin(load.id, stored=False)
        recorder.write(partial(_add, load))
        yield from _record_steps(recorder, notebook, LoadMeasurement(load, request, control).steps())


def _new_load(request: spec.LoadRequest, environment: facts.Environment) -> records.Load:
    link_bits_per_second = request.link_bits_per_second
    if link_bits_per_second is None and environment.link is not None and not environment.link.loopback:
        link_bits_per_second = environment.link.bits_per_second
    memory_bytes = environment.server.get("memory_bytes")

    return records.Load(
        id=new_series_id(),
        created_at=utc_now(),
        label=request.label,
        question=request.question,
        targets=request.targets,
        scenario=request.scenario,
        choices=request.choices,
        link_bits_per_second=link_bits_per_second,
        file_set_bytes=FileSet(request.scenario).size_bytes,
        server_memory_bytes=memory_bytes if isinstance(memory_bytes, int) else None,
        environment=environment.parts(),
        scratch_folder=request.reuse_folder or _new_folder(request.scenario),
    )


def resume_load(
    load: records.Load, request: spec.LoadRequest, notebook_path: Path, control: process.SeriesControl
) -> Iterator[LoadStep]:
    """Resume a load at its next point. Raises UsageError if nothing is missing."""
    spec.check_hosts(request)
    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = writer.Recorder(notebook, control)
        try:
            recorder.begin(load.id, stored=True)
            # Somebody else may have resumed it since it was read.
            current = _to_resume(notebook.load(load.id))
        except BaseException:
            recorder.let_go()
            raise

        measurement = LoadMeasurement(current, request, control, resumed=load)
        yield from _record_steps(recorder, notebook, measurement.steps())


def _to_resume(load: records.Load) -> records.Load:
    good_points = tuple(point for point in load.points if point.status is not records.PointStatus.FAILED)
    if load.status is SeriesStatus.COMPLETE or _next_point(replace(load, points=good_points)) is None:
        raise errors.UsageError(f"load {load.id} is complete; measure a new one with `sharebench load`")

    folder = load.scratch_folder or _new_folder(load.scenario)
    return replace(load, points=good_points, status=SeriesStatus.INTERRUPTED, error=None, scratch_folder=folder)


def _new_folder(scenario: records.Scenario) -> str | None:
    """Its name is stored before it is made; a load of print jobs, or of users who do nothing, makes none."""
    return new_folder("load") if scenario.needs_files else None


def _record_steps(
    recorder: writer.Recorder, notebook: Notebook, steps: Generator[MeasurementStep, None, LoadClosed]
) -> Iterator[LoadStep]:
    closed = yield from writer.record_events(recorder, steps, _writes_of_step, _writes_of_end)
    if closed.stored:
        closed = replace(closed, prediction=prediction_of(notebook, closed.load))
    yield closed


def _writes_of_step(step: MeasurementStep) -> Iterator[writer.Write]:
    if isinstance(step, LoadChanged):
        if step.point is not None:
            yield methodcaller("put_point", step.load.id, step.point)
        yield methodcaller("update_load", step.load)


def _writes_of_end(closed: LoadClosed) -> Iterator[writer.Write]:
    if closed.stored:
        yield methodcaller("update_load", closed.load)
    else:
        yield partial(writer.take_out, recording_id=closed.load.id)


def _add(load: records.Load, notebook: Notebook) -> None:
    writer.add_once(notebook, load.id, partial(notebook.add_load, load))


class LoadMeasurement:
    """A load under way: its points so far, and whether somebody or something has ended it."""

    def __init__(
        self,
        load: records.Load,
        request: spec.LoadRequest,
        control: process.SeriesControl,
        resumed: records.Load | None = None,
    ) -> None:
        self._load = load
        self._request = request
        self._control = control
        self._is_resumed = resumed is not None
        self._plan = _plan_of(load, request, resumed)
        self._is_to_finish = False
        self._has_files = False
        self._why_users_left: str | None = None

    def steps(self) -> Generator[MeasurementStep, None, LoadClosed]:
        # Its folder is stored before there is anything in it.
        yield LoadChanged(load=self._load)

        with events.EngineProcess(self._plan) as engine, LoadSamplers(self._load, self._request.server_ssh) as samplers:
            self._control.attach(self._take_message, engine.cancel)
            printer = _printer_of(self._load, self._request)
            try:
                yield from samplers.warnings()
                yield from self._prepare(engine)
                yield from self._measure_points(engine, samplers, printer)
                if engine.ended is None:
                    yield from engine.finish()
            finally:
                self._control.detach()

        ended = _failed_for_lost_users(engine.ended, self._why_users_left)
        keeps_folder = self._plan.keep or (self._plan.leftover and not self._has_files)
        return _closed_load(self._load, ended, keeps_folder=keeps_folder, is_resumed=self._is_resumed)

    def _take_message(self, message: process.ControlMessage) -> None:
        self._is_to_finish = self._is_to_finish or message is process.ControlMessage.FINISH

    def _has_enough(self) -> bool:
        return self._is_to_finish or self._control.cancelled.is_set()

    def _prepare(self, engine: events.EngineProcess) -> Iterator[MeasurementStep]:
        for event in engine.ready():
            if isinstance(event, events.WorkersReady):
                self._has_files = True
                self._load = replace(self._load, workers=event.workers)
                yield LoadChanged(load=self._load)
            yield event

    def _measure_points(
        self, engine: events.EngineProcess, samplers: LoadSamplers, printer: print_queue.PrinterShare | None
    ) -> Iterator[MeasurementStep]:
        while self._may_go_on(engine) and (following := _next_point(self._load)):
            began_at = utc_now()
            if warning := _why_no_further(self._load, following.users, self._control):
                yield warning
                return

            self._control.limit.began()
            # A failed point is measured again under its number.
            used_numbers = {point.number for point in self._load.points}
            number = next(number for number in count(1) if number not in used_numbers)
            for event in engine.point(number, following.users, following.size_bytes):
                yield event
                if printer and isinstance(event, events.PhaseBegan) and event.phase is events.LoadPhase.SETTLE:
                    printer.count_from_here()
                if isinstance(event, events.PointMeasured) and engine.ended is None:
                    point = self._point_of(event, samplers, began_at, following)
                    yield from self._close_point(event, point, engine, printer)

    def _may_go_on(self, engine: events.EngineProcess) -> bool:
        has_finished = self._is_to_finish and self._load.points
        return engine.ended is None and not has_finished and not self._why_users_left

    def _point_of(
        self,
        measured: events.PointMeasured,
        samplers: LoadSamplers,
        began_at: str,
        following: load_next_point.NextPoint,
    ) -> records.LoadPoint:
        server, cards = samplers.between(measured.began_seconds, measured.ended_seconds)

        point = load_point(
            measured,
            server,
            cards,
            idle=not self._load.scenario.requests,
            is_paced=self._load.scenario.pace_seconds is not None,
            started_at=began_at,
            window_started_at=utc_now(time.monotonic() - measured.began_seconds),
        )
        return replace(point, size_bytes=following.size_bytes)

    def _close_point(
        self,
        measured: events.PointMeasured,
        point: records.LoadPoint,
        engine: events.EngineProcess,
        printer: print_queue.PrinterShare | None,
    ) -> Iterator[MeasurementStep]:
        fewest = load_summary.fewest_users((*self._load.points, point))
        offered = load_summary.offered_per_second(self._load.scenario, point, fewest)
        point = _with_limit(replace(point, offered_per_second=offered), self._load, fewest)
        self._load = _with_point(self._load, point)
        self._why_users_left = _why_users_left(measured, point, self._load.choices)

        if printer is not None:
            # The point is stored before its jobs are waited for, which may take hours.
            yield LoadChanged(load=self._load, point=point)
            point = yield from self._wait_for_printer(point, engine, printer)
            point = _with_limit(point, self._load, fewest)
            self._load = _with_point(self._load, point)

        self._control.limit.ended()
        yield LoadChanged(load=self._load, point=point, done=True)

    def _wait_for_printer(
        self, point: records.LoadPoint, engine: events.EngineProcess, printer: print_queue.PrinterShare
    ) -> Generator[events.LoadEvent, None, records.LoadPoint]:
        for event in engine.let_users_rest():
            yield event
            if isinstance(event, events.UsersGone):
                point = print_queue.with_jobs_refused(point, printer.taken())
                for queue in printer.drained(event.at_seconds, self._has_enough):
                    point = replace(point, print_queue=queue)
                    if queue.left:
                        yield events.JobsWait(jobs=queue.left, of_jobs=queue.waiting)
        return point


def _plan_of(load: records.Load, request: spec.LoadRequest, resumed: records.Load | None) -> events.LoadPlan:
    return events.LoadPlan(
        targets=load.targets,
        secrets=request.secrets,
        settings=replace(request.settings, single_requests=load.choices.single_requests),
        scenario=load.scenario,
        folder=load.scratch_folder or new_folder("load"),
        reuse=request.reuse_folder is not None,
        keep=load.choices.keep_files,
        leftover=resumed is not None and resumed.scratch_folder is not None,
        processes=load.choices.processes,
        hosts=load.choices.hosts,
        ramp_per_second=load.choices.ramp_per_second,
    )


def _why_no_further(load: records.Load, users: int, control: process.SeriesControl) -> process.Warned | None:
    if not control.limit.allows():
        return control.finish_in_time("point")
    try:
        spec.check_limits(replace(load.choices, users=(users,)), load.targets)
    except errors.UsageError as error:
        return process.Warned(text=f"the search for capacity ends here: {error}")
    return None


def _printer_of(load: records.Load, request: spec.LoadRequest) -> print_queue.PrinterShare | None:
    """The printer share that the load prints to; None for another load, or where its queue cannot be asked for."""
    share = load.targets[0].share
    smb_conf = load.environment.get("server", {}).get("smb.conf.path")
    if records.RequestKind.PRINT not in load.scenario.requests or share is None or not isinstance(smb_conf, str):
        return None
    printer = print_queue.PrinterShare(share, smb_conf, request.server_ssh)
    return printer if printer.begin() else None


def _next_point(load: records.Load) -> load_next_point.NextPoint | None:
    return load_next_point.next_point(load.points, load.choices, load.scenario)


def _why_users_left(event: events.PointMeasured, point: records.LoadPoint, choices: records.LoadChoices) -> str | None:
    """Why no other point is worth measuring: most users had no session at the end of this one."""
    # A search for capacity goes on as long as anybody is left: to lose users is what it looks for.
    fewest_connected = 1.0 if choices.find_capacity else _LEAST_SHARE_CONNECTED * point.users
    if event.failure is not None or point.connected >= fewest_connected:
        return None
    return (
        f"{point.connected} of {point.users} users had a session at the end of their point, so no other was measured; "
        "see that the server runs and how many connections it takes, then resume this load"
    )


def _failed_for_lost_users(ended: events.LoadEnded | None, why_users_left: str | None) -> events.LoadEnded | None:
    if why_users_left is None or ended is None or ended.failure:
        return ended
    return replace(ended, failure=process.Failed(kind=errors.MeasurementError, text=why_users_left))


def _with_limit(point: records.LoadPoint, load: records.Load, fewest: records.LoadPoint | None) -> records.LoadPoint:
    if (
        point.status is records.PointStatus.GENERATOR
        or load_summary.overload(point, load.choices, load.scenario, fewest) is not None
    ):
        return replace(point, limit=load_summary.limit_of(point, load.link_bits_per_second))
    return point


def _with_point(load: records.Load, point: records.LoadPoint) -> records.Load:
    points = {old_point.number: old_point for old_point in load.points}
    points[point.number] = point
    load = replace(load, points=tuple(points[number] for number in sorted(points)))
    return replace(load, capacity=load_summary.capacity_of(load))


def _closed_load(
    load: records.Load, ended: events.LoadEnded | None, *, keeps_folder: bool, is_resumed: bool
) -> LoadClosed:
    """``keeps_folder`` says whether its folder stays on the server even after a clean end."""
    failure = ended.failure if ended is not None else None
    was_cancelled = failure is not None and failure.kind is errors.CancelledError
    engine_died = failure is not None and failure.kind is errors.ChildDiedError
    measured_nothing = failure is None and not load.points

    status = SeriesStatus.COMPLETE
    if was_cancelled or engine_died or measured_nothing:
        status = SeriesStatus.INTERRUPTED
    elif failure:
        status = SeriesStatus.FAILED

    left_behind = engine_died or keeps_folder or (ended is not None and ended.left_behind)
    load = replace(
        load,
        status=status,
        error=failure.text if failure and not was_cancelled else None,
        scratch_folder=load.scratch_folder if left_behind else None,
    )
    return LoadClosed(load=load, failure=failure, stored=bool(load.points or engine_died or is_resumed))
