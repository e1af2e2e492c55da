"""Measure or resume a load: surroundings, engine, and each point into the notebook."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Self

from app.base.errors import CancelledError, ChildDiedError, MeasurementError, UsageError
from app.base.ssh_address import check_ssh_host
from app.base.targets import new_folder
from app.clients.file_tree import FileSet
from app.load import events
from app.load.judgement import LoadSamplers, NextPoint, PrinterShare, load_point, next_point, with_jobs_refused
from app.recording.process import ControlMessage, Failed, SeriesControl, ServerRequest, Warned
from app.recording.rescue import notebook_to_measure_into
from app.recording.writer import Recorder, Write, add_once, recorded, take_out
from app.server.facts import Environment, collect
from app.worksheets.prediction import prediction_of
from forms.load.comparison import Prediction
from forms.load.summary import capacity_of, fewest_users, limit_of, offered_per_second, overload
from forms.wording import duration
from storage.json_reader import named, shared
from storage.load.records import Load, LoadChoices, LoadPoint, PointStatus, RequestKind, Scenario
from storage.notebook import Notebook
from storage.records import SeriesStatus, Target, new_series_id, utc_now

CAPACITY = "capacity"
"""In place of numbers of users: as many as the server carries."""
_LEAST_SHARE_CONNECTED = 0.5
_RESERVED_FILES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRequest(ServerRequest):
    targets: tuple[Target, ...]
    scenario: Scenario
    choices: LoadChoices
    link_bits_per_second: int | None = None
    reuse_folder: str | None = None

    @property
    def target(self) -> Target:
        return self.targets[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadChanged:
    """Stored anew: the load, which has just begun at first, or one point; ``done`` unless its printer is still busy."""

    load: Load
    point: LoadPoint | None = None
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadClosed:
    """The load is over; always the last event."""

    load: Load
    failure: Failed | None = None
    stored: bool = True
    prediction: Prediction | None = None


LoadStep = events.LoadEvent | LoadChanged | LoadClosed


_CREATED_BYTES_PER_SECOND, _CREATED_SECONDS, _REMOVED_SECONDS = 100e6, 0.001, 0.00075
"""Of a file, by the eight connections of the engine: what a busy server does behind a link of 1 Gbit/s."""


def _files_seconds(scenario: Scenario, choices: LoadChoices) -> dict[events.LoadPhase, float]:
    files, shares = scenario.files * scenario.needs_files, sum(each.share for each in scenario.sizes) or 1.0
    mean_bytes = sum(each.size_bytes * each.share for each in scenario.sizes) / shares
    return {
        events.LoadPhase.FILES: files * (_CREATED_SECONDS + mean_bytes / _CREATED_BYTES_PER_SECOND),
        events.LoadPhase.CLEANING: files * _REMOVED_SECONDS * (not choices.keep_files),
    }


def time_text(scenario: Scenario, choices: LoadChoices, done: int = 0, creates_on: int = 1) -> str:
    """What is measured, but for the points that are done, and how long it takes with files on each target."""
    of_files = creates_on * sum(_files_seconds(scenario, choices).values())
    each = duration(scenario.settle_seconds + scenario.duration_seconds)
    removed = "" if choices.keep_files else " with their removal"
    on_each = f" on each of {creates_on} targets" if creates_on > 1 else ""
    made = f"Creates {scenario.files:,} files{on_each} (about {duration(of_files)}{removed}), then measures"
    made = made if of_files else "Measures"
    if choices.find_capacity:
        return f"{made} load points of {each} each until one is overloaded."
    to_come = _planned_points(scenario, choices)[done:]
    in_all = duration(of_files + _points_seconds(scenario, choices, to_come))
    if len(to_come) == 1:
        return f"{made} 1 load point: about {in_all}."
    return f"{made} {len(to_come)} load points of {each} each: about {in_all} in all."


def _planned_points(scenario: Scenario, choices: LoadChoices) -> list[int]:
    sizes = len(scenario.sizes) if choices.by_size else 0
    return [users for users in choices.users for _ in range(sizes or 1)]


def _points_seconds(scenario: Scenario, choices: LoadChoices, points: Sequence[int]) -> float:
    each = scenario.settle_seconds + scenario.duration_seconds
    return sum(each + users / choices.ramp_per_second for users in points)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStanding:
    load: Load | None = None
    phase: events.PhaseBegan | None = None
    files: events.FilesMade | None = None
    made_on: int = 0
    """The targets that files were made on, or are."""

    def heard(self, step: LoadStep) -> Self:
        match step:
            case LoadChanged(load=load):
                return replace(self, load=load)
            case events.PhaseBegan(phase=phase):
                return replace(self, phase=step, files=None, made_on=self.made_on + (phase is events.LoadPhase.FILES))
            case events.FilesMade():
                return replace(self, files=step)
        return self

    @property
    def planned(self) -> Sequence[int]:
        """The users of each point; empty where nobody knows how many points there will be."""
        load = self.load
        return () if load is None or load.choices.find_capacity else _planned_points(load.scenario, load.choices)

    def phase_seconds_left(self, at_seconds: float) -> float:
        if self.phase is None:
            return 0.0
        passed = at_seconds - self.phase.at_seconds
        if self.files and self.files.files:
            return passed * (self.files.of_files / self.files.files - 1)
        expected = _files_seconds(self.load.scenario, self.load.choices) if self.load else {}
        return max(0.0, expected.get(self.phase.phase, self.phase.seconds) - passed)

    def seconds_left(self, of_phase: float, *, is_last: bool = False) -> float | None:
        """Of the whole load; ``is_last``: no point follows."""
        load, phase, planned = self.load, self.phase, self.planned
        over = {events.LoadPhase.PRINTING, events.LoadPhase.CLEANING}
        if load is None or phase is None or not planned or phase.phase in over:
            return None
        settle, steady = load.scenario.settle_seconds, load.scenario.duration_seconds
        to_come = () if is_last else planned[len(load.points) + 1 :] if phase.point else planned[len(load.points) :]
        ahead = {events.LoadPhase.RAMP: settle + steady, events.LoadPhase.SETTLE: steady}.get(phase.phase, 0.0)
        ahead += self.made_on * _files_seconds(load.scenario, load.choices)[events.LoadPhase.CLEANING]
        return of_phase + ahead + _points_seconds(load.scenario, load.choices, to_come)


def _check_hosts(request: LoadRequest) -> None:
    for host in filter(None, (request.server_ssh, *request.choices.hosts)):
        check_ssh_host(host)


def check_limits(choices: LoadChoices, targets: Sequence[Target]) -> None:
    import resource  # noqa: PLC0415  only POSIX systems have it

    most = max(choices.users, default=0)
    here = choices.processes
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if files != resource.RLIM_INFINITY and -(-most // here) + _RESERVED_FILES > files:
        fitting = here * (files - _RESERVED_FILES)
        fewer = f"take at most {fitting} users, use more processes, or raise" if fitting > 0 else "raise"
        raise UsageError(
            f"{most} users need {-(-most // here) + _RESERVED_FILES} open files per process, and the limit is {files}:"
            f" {fewer} the limit with `ulimit -Hn`"
        )
    try:
        first, last = (int(word) for word in Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    except (OSError, ValueError):
        return
    ports = (last - first + 1) * len(targets)
    if not choices.hosts and most > ports:
        raise UsageError(
            f"{most} users need a port each, and this machine has {ports:,} to {len(targets)} target(s): take at most "
            f"{ports} users, or more machines"
        )


def check_server_limits(choices: LoadChoices, environment: Environment) -> None:
    most = max(choices.users, default=0)
    allowed = environment.server.get("smb.conf/global/max smbd processes")
    if allowed is not None and str(allowed).isdecimal() and 0 < int(allowed) < most:
        raise UsageError(
            f"the server takes {allowed} connections at most (max smbd processes), and {most} users are asked for: "
            "take fewer, or raise it there"
        )


def run_load(
    request: LoadRequest, notebook_path: Path, control: SeriesControl, resumed: Load | None = None
) -> Iterator[LoadStep]:
    """Measure a load, or resume one; each point is stored before its event. Raises NotebookError, UsageError."""
    if resumed is not None:
        yield from resume_load(resumed, request, notebook_path, control)
        return
    _check_hosts(request)
    check_limits(request.choices, request.targets)
    environment = collect(request.targets[0], ssh=request.server_ssh, smb_conf=request.smb_conf, window_seconds=0)
    check_server_limits(request.choices, environment)
    link = request.link_bits_per_second
    if link is None and environment.link is not None and not environment.link.loopback:
        link = environment.link.bits_per_second
    memory = environment.server.get("memory_bytes")
    load = Load(
        **shared(request, Load) | {"link_bits_per_second": link},
        id=new_series_id(),
        created_at=utc_now(),
        file_set_bytes=FileSet(request.scenario).size_bytes,
        server_memory_bytes=memory if isinstance(memory, int) else None,
        environment=environment.parts(),
        scratch_folder=request.reuse_folder or _new_folder(request.scenario),
    )
    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = Recorder(notebook, control)
        recorder.begin(load.id, stored=False)
        recorder.write(lambda notebook: add_once(notebook, load.id, lambda: notebook.add_load(load)))
        yield from _recorded(recorder, notebook, _points(load, request, control))


def resume_load(load: Load, request: LoadRequest, notebook_path: Path, control: SeriesControl) -> Iterator[LoadStep]:
    """Resume a load at its next point. Raises UsageError if nothing is missing."""
    _check_hosts(request)
    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = Recorder(notebook, control)
        try:
            recorder.begin(load.id, stored=True)
            again = _to_resume(notebook.load(load.id))  # somebody else may have resumed it since
        except BaseException:
            recorder.let_go()
            raise
        yield from _recorded(recorder, notebook, _points(again, request, control, resumed=load))


def _to_resume(load: Load) -> Load:
    kept = tuple(point for point in load.points if point.status is not PointStatus.FAILED)
    if load.status is SeriesStatus.COMPLETE or _next(replace(load, points=kept)) is None:
        raise UsageError(f"load {load.id} is complete; measure a new one with `sharebench load`")
    folder = load.scratch_folder or _new_folder(load.scenario)
    return replace(load, points=kept, status=SeriesStatus.INTERRUPTED, error=None, scratch_folder=folder)


def _new_folder(scenario: Scenario) -> str | None:
    """Its name is stored before it is made; a load of print jobs, or of users who do nothing, makes none."""
    return new_folder("load") if scenario.needs_files else None


def _recorded(
    recorder: Recorder, notebook: Notebook, steps: Generator[LoadStep, None, LoadClosed]
) -> Iterator[LoadStep]:
    closed = yield from recorded(recorder, steps, _writes)
    yield replace(closed, prediction=prediction_of(notebook, closed.load)) if closed.stored else closed


def _writes(step: LoadStep) -> Iterator[Write]:
    match step:
        case LoadClosed(load=load, stored=False):
            yield lambda notebook: take_out(notebook, load.id)
        case LoadChanged(load=load, point=point):
            if point is not None:
                yield lambda notebook: notebook.put_point(load.id, point)
            yield lambda notebook: notebook.update_load(load)
        case LoadClosed(load=load):
            yield lambda notebook: notebook.update_load(load)


def _points(
    load: Load, request: LoadRequest, control: SeriesControl, resumed: Load | None = None
) -> Generator[LoadStep, None, LoadClosed]:
    plan = events.LoadPlan(
        **named(load, "targets", "scenario"),
        secrets=request.secrets,
        settings=replace(request.settings, single_requests=load.choices.single_requests),
        folder=load.scratch_folder or new_folder("load"),
        reuse=request.reuse_folder is not None,
        keep=load.choices.keep_files,
        leftover=resumed is not None and resumed.scratch_folder is not None,
        **named(load.choices, "processes", "hosts", "ramp_per_second"),
    )
    finishing = made = False
    lost: str | None = None
    yield LoadChanged(load=load)  # its folder, before there is anything in it

    def hear(word: ControlMessage) -> None:
        nonlocal finishing
        finishing = finishing or word is ControlMessage.FINISH

    def enough() -> bool:
        return finishing or control.cancelled.is_set()

    with events.EngineProcess(plan) as engine, LoadSamplers(load, request.server_ssh) as samplers:
        control.attach(hear, engine.cancel)
        printer = _printer(load, request)
        try:
            yield from samplers.warnings()
            for event in engine.ready():
                if isinstance(event, events.WorkersReady):
                    made = True
                    load = replace(load, workers=event.workers)
                    yield LoadChanged(load=load)
                yield event
            while engine.ended is None and not (finishing and load.points) and not lost and (following := _next(load)):
                began_at = utc_now()
                if why := _no_further(load, following.users, control):
                    yield why
                    break
                control.limit.began()
                taken = {point.number for point in load.points}  # a failed point is measured again under its number
                number = next(number for number in count(1) if number not in taken)
                for event in engine.point(number, following.users, following.size_bytes):
                    yield event
                    if printer and isinstance(event, events.PhaseBegan) and event.phase is events.LoadPhase.SETTLE:
                        printer.count_from_here()
                    if isinstance(event, events.PointMeasured) and engine.ended is None:
                        server, cards = samplers.between(event.began_seconds, event.ended_seconds)
                        point = load_point(
                            event,
                            server,
                            cards,
                            idle=not load.scenario.requests,
                            is_paced=load.scenario.pace_seconds is not None,
                            started_at=began_at,
                            window_started_at=utc_now(time.monotonic() - event.began_seconds),
                        )
                        point = replace(point, size_bytes=following.size_bytes)
                        fewest = fewest_users((*load.points, point))
                        offered = offered_per_second(load.scenario, point, fewest)
                        point = _limited(replace(point, offered_per_second=offered), load, fewest)
                        load = _with(load, point)
                        lost = _users_lost(event, point, load.choices)
                        if printer is not None:
                            yield LoadChanged(load=load, point=point)
                            point = _limited((yield from _drained(point, printer, engine, enough)), load, fewest)
                            load = _with(load, point)
                        control.limit.ended()
                        yield LoadChanged(load=load, point=point, done=True)
            if engine.ended is None:
                yield from engine.finish()
        finally:
            control.detach()
    kept = plan.keep or (plan.leftover and not made)
    return _closed(load, _ended(engine.ended, lost), kept=kept, resumed=resumed is not None)


def _no_further(load: Load, users: int, control: SeriesControl) -> Warned | None:
    if not control.limit.allows():
        return control.finish_in_time("point")
    try:
        check_limits(replace(load.choices, users=(users,)), load.targets)
    except UsageError as error:
        return Warned(text=f"the search for capacity ends here: {error}")
    return None


def _printer(load: Load, request: LoadRequest) -> PrinterShare | None:
    target, conf = load.targets[0], load.environment.get("server", {}).get("smb.conf.path")
    if RequestKind.PRINT not in load.scenario.requests or target.share is None or not isinstance(conf, str):
        return None
    printer = PrinterShare(target.share, conf, request.server_ssh)
    return printer if printer.begin() else None


def _drained(
    point: LoadPoint, printer: PrinterShare, engine: events.EngineProcess, enough: Callable[[], bool]
) -> Generator[events.LoadEvent, None, LoadPoint]:
    for event in engine.rest():
        yield event
        if isinstance(event, events.UsersGone):
            point = with_jobs_refused(point, printer.taken())
            for queue in printer.drained(event.at_seconds, enough):
                point = replace(point, print_queue=queue)
                if queue.left:
                    yield events.JobsWait(jobs=queue.left, of_jobs=queue.waiting)
    return point


def _next(load: Load) -> NextPoint | None:
    return next_point(load.points, load.choices, load.scenario)


def _users_lost(event: events.PointMeasured, point: LoadPoint, choices: LoadChoices) -> str | None:
    least = 1.0 if choices.find_capacity else _LEAST_SHARE_CONNECTED * point.users
    if event.failure is not None or point.connected >= least:
        return None
    return (
        f"{point.connected} of {point.users} users had a session at the end of their point, so no other was measured; "
        "see that the server runs and how many connections it takes, then resume this load"
    )


def _ended(ended: events.LoadEnded | None, lost: str | None) -> events.LoadEnded | None:
    if lost is None or ended is None or ended.failure:
        return ended
    return replace(ended, failure=Failed(kind=MeasurementError, text=lost))


def _limited(point: LoadPoint, load: Load, fewest: LoadPoint | None) -> LoadPoint:
    if point.status is PointStatus.GENERATOR or overload(point, load.choices, load.scenario, fewest) is not None:
        return replace(point, limit=limit_of(point, load.link_bits_per_second))
    return point


def _with(load: Load, point: LoadPoint) -> Load:
    points = {each.number: each for each in (*load.points, point)}
    load = replace(load, points=tuple(points[number] for number in sorted(points)))
    return replace(load, capacity=capacity_of(load))


def _closed(load: Load, ended: events.LoadEnded | None, *, kept: bool, resumed: bool) -> LoadClosed:
    """``kept`` says whether its folder stays on the server even after a clean end."""
    failed = ended.failure if ended is not None else None
    cancelled = failed is not None and failed.kind is CancelledError
    left = failed is not None and failed.kind is ChildDiedError
    stopped = cancelled or left or not (failed or load.points)
    status = SeriesStatus.INTERRUPTED if stopped else SeriesStatus.FAILED if failed else SeriesStatus.COMPLETE
    error = failed.text if failed and not cancelled else None
    folder = load.scratch_folder if left or kept or (ended and ended.left_behind) else None
    load = replace(load, status=status, error=error, scratch_folder=folder)
    return LoadClosed(load=load, failure=failed, stored=bool(load.points or left or resumed))
