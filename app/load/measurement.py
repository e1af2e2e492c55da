"""A load under way: it tells the engine which load point comes next, judges each point, and ends the load.

`app.load.record` carries out the steps and stores each of them before it is told to anybody. The engine is the child
process that makes the load; a load point is a fixed number of users, measured once.
"""

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from app.base import errors
from app.base.child_process import Elsewhere
from app.load import engine_process, events, spec
from app.load import next_point as load_points
from app.load.judgement import load_point
from app.load.looks import print_queue
from app.load.looks.server_view import LoadSamplers
from app.recording import process
from forms.load import summary as load_summary
from forms.load.prediction import Prediction
from storage.load import records
from storage.records import SeriesStatus, utc_now

_LEAST_SHARE_CONNECTED = 0.5
"""Of a point's users. With fewer at its end, points with more users would measure the same failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadChanged:
    """Stored anew: the load with its points so far, and one point of them."""

    load: records.Load
    point: records.LoadPoint | None = None
    """The point that was measured last; None where no point changed, as at the beginning."""
    done: bool = False
    """Whether the point is over: its print jobs, if it has any, have left the printer. It may be told before that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadClosed:
    """The load is over; always the last event."""

    load: records.Load
    failure: process.Failed | None = None
    """Why it ended early; None where it ended well."""
    stored: bool = True
    """False where nothing was measured that is worth keeping: the load was taken out of the notebook."""
    prediction: Prediction | None = None
    """What the newest worksheet about its server foretells, which the recorder adds; None where there is none."""


MeasurementStep = events.LoadEvent | LoadChanged
"""What a load under way tells; it returns LoadClosed."""
LoadStep = MeasurementStep | LoadClosed
"""What the recorder of a load tells those who show it."""


class LoadMeasurement:
    """A load under way; :meth:`steps` measures it once, from its next point to its end."""

    def __init__(
        self,
        load: records.Load,
        request: spec.LoadRequest,
        control: process.SeriesControl,
        resumed: records.Load | None = None,
        elsewhere: Elsewhere | None = None,
        *,
        takes_turns: bool = False,
    ) -> None:
        """``resumed`` is the load as its earlier attempt left it; None for a new one.

        ``elsewhere``: the machine that makes the load; None for this one. ``takes_turns``: others measure between two
        of its points, so that its users leave after each.
        """
        self._elsewhere = elsewhere
        self._takes_turns = takes_turns
        self._load = load
        self._request = request
        self._control = control
        self._is_resumed = resumed is not None
        self._plan = engine_process.plan_of(load, request, resumed)
        """What the engine is told at its beginning."""

        self._is_to_finish = False
        """Whether the user asked to end well, after the point that is being measured."""
        self._has_made_files = False
        """Whether the engine has the scenario's files ready."""
        self._reason_to_stop: str | None = None
        """Why no further point is worth measuring; None while one is."""

    def steps(self) -> Generator[MeasurementStep, None, LoadClosed]:
        """Yields what happens, each before the next thing is done; returns the end of the load.

        Wherever an inner generator has ended, ``engine.ended`` says whether the engine has as well.
        """
        # Its folder is stored before there is anything in it.
        yield LoadChanged(load=self._load)

        with (
            engine_process.EngineProcess(self._plan, self._elsewhere) as engine,
            LoadSamplers(self._load, self._request.server_ssh) as samplers,
        ):
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

        return self._close(_with_reason_to_stop(engine.ended, self._reason_to_stop))

    def _take_message(self, message: process.ControlMessage) -> None:
        self._is_to_finish = self._is_to_finish or message is process.ControlMessage.FINISH

    def _has_user_ended_it(self) -> bool:
        return self._is_to_finish or self._control.cancelled.is_set()

    def _prepare(self, engine: engine_process.EngineProcess) -> Iterator[MeasurementStep]:
        for event in engine.ready():
            if isinstance(event, process.PathSeen):
                self._load = _with_path_facts(self._load, event)
            elif isinstance(event, events.WorkersReady):
                self._has_made_files = True
                self._load = replace(self._load, workers=event.workers)
                yield LoadChanged(load=self._load)
            yield event

    # One point after the other

    def _measure_points(
        self, engine: engine_process.EngineProcess, samplers: LoadSamplers, printer: print_queue.PrinterShare | None
    ) -> Iterator[MeasurementStep]:
        while (planned := self._point_to_measure(engine)) is not None:
            warning = _warning_instead_of_point(self._load, planned.users, self._control)
            if warning is not None:
                yield warning
                return
            yield from self._measure_point(planned, engine, samplers, printer)

    def _point_to_measure(self, engine: engine_process.EngineProcess) -> load_points.NextPoint | None:
        """The next point; None where the load is measured, or ends before that."""
        # To end well takes a point that was measured: a load without one goes on to its first.
        has_finished = self._is_to_finish and self._load.points
        if engine.ended is not None or has_finished or self._reason_to_stop:
            return None
        return load_points.next_point(self._load.points, self._load.choices, self._load.scenario)

    def _measure_point(
        self,
        planned: load_points.NextPoint,
        engine: engine_process.EngineProcess,
        samplers: LoadSamplers,
        printer: print_queue.PrinterShare | None,
    ) -> Iterator[MeasurementStep]:
        """Have the engine measure one point, and pass on what it tells meanwhile."""
        started_at = utc_now()
        # How long a point takes decides whether the time that was given is enough for another one.
        self._control.limit.begin_timing()

        for event in engine.point(self._unused_number(), planned.users, planned.size_bytes):
            yield event
            if printer and isinstance(event, events.PhaseBegan) and event.phase is events.LoadPhase.SETTLE:
                # Jobs of the ramp do not count.
                printer.count_from_here()
            if isinstance(event, process.PathSeen):
                self._load = _with_path_facts(self._load, event)
            if isinstance(event, events.PointMeasured) and engine.ended is None:
                point = replace(self._judge(event, samplers, started_at), size_bytes=planned.size_bytes)
                yield from self._close_point(event, point, engine, printer)

    def _unused_number(self) -> int:
        """The lowest one: a point that failed is no part of a resumed load, and is measured again under its number."""
        used_numbers = {point.number for point in self._load.points}
        number = 1
        while number in used_numbers:
            number += 1
        return number

    def _judge(self, measured: events.PointMeasured, samplers: LoadSamplers, started_at: str) -> records.LoadPoint:
        """The point, with what server and cards did in its window; users without requests are idle by intent."""
        server, cards = samplers.between(measured.began_seconds, measured.ended_seconds)

        return load_point(
            measured,
            server,
            cards,
            idle=not self._load.scenario.requests,
            is_paced=self._load.scenario.pace_seconds is not None,
            started_at=started_at,
            window_started_at=utc_now(time.monotonic() - measured.began_seconds),
        )

    def _close_point(
        self,
        measured: events.PointMeasured,
        point: records.LoadPoint,
        engine: engine_process.EngineProcess,
        printer: print_queue.PrinterShare | None,
    ) -> Iterator[MeasurementStep]:
        """Store the point, and once more when its print jobs have left the printer."""
        # The point with the fewest users, who hardly wait for one another, shows what each user asks for. From that
        # follow the requests per second that the users of this point offer, and whether they overload the server.
        fewest = load_summary.fewest_users((*self._load.points, point))
        offered = load_summary.offered_per_second(self._load.scenario, point, fewest)
        point = _with_bottleneck(replace(point, offered_per_second=offered), self._load, fewest)
        self._load = _with_point(self._load, point)
        self._reason_to_stop = _reason_to_stop(measured, point, self._load.choices)

        if printer is not None:
            # The point is stored before its jobs are waited for, which may take hours.
            yield LoadChanged(load=self._load, point=point)
            point = yield from self._wait_for_printer(point, engine, printer)
            point = _with_bottleneck(point, self._load, fewest)
            self._load = _with_point(self._load, point)
        elif self._takes_turns:
            yield from engine.let_users_rest()

        self._control.limit.end_timing()
        yield LoadChanged(load=self._load, point=point, done=True)

    def _wait_for_printer(
        self, point: records.LoadPoint, engine: engine_process.EngineProcess, printer: print_queue.PrinterShare
    ) -> Generator[events.LoadEvent, None, records.LoadPoint]:
        """Tells how many jobs still wait; returns the point with what became of its jobs."""
        for event in engine.let_users_rest():
            yield event
            if isinstance(event, events.UsersGone):
                point = print_queue.with_jobs_refused(point, printer.taken())
                for queue in printer.drained(event.at_seconds, self._has_user_ended_it):
                    point = replace(point, print_queue=queue)
                    if queue.left:
                        yield events.JobsWait(jobs=queue.left, of_jobs=queue.waiting)
        return point

    # The end

    def _close(self, ended: events.LoadEnded | None) -> LoadClosed:
        """The end of the load. ``ended`` is what the engine told last; None where it told no end."""
        failure = ended.failure if ended is not None else None
        was_cancelled = failure is not None and failure.kind is errors.CancelledError
        engine_died = failure is not None and failure.kind is errors.ChildDiedError
        measured_nothing = failure is None and not self._load.points

        status = SeriesStatus.COMPLETE
        if was_cancelled or engine_died or measured_nothing:
            status = SeriesStatus.INTERRUPTED
        elif failure:
            status = SeriesStatus.FAILED

        removal_failed = ended is not None and ended.left_behind
        folder_may_be_there = self._may_folder_be_there(engine_died=engine_died, removal_failed=removal_failed)
        load = replace(
            self._load,
            status=status,
            error=failure.text if failure and not was_cancelled else None,
            scratch_folder=self._load.scratch_folder if folder_may_be_there else None,
        )
        # Without a point nothing was measured; but a load that names a folder to remove, or was stored before, is kept.
        is_worth_keeping = bool(load.points) or engine_died or self._is_resumed
        return LoadClosed(load=load, failure=failure, stored=is_worth_keeping)

    def _may_folder_be_there(self, *, engine_died: bool, removal_failed: bool) -> bool:
        """Whether the folder of files is still on the server, or may be: then the load keeps its name, for `clean`.

        The engine removes at its end what it made, so that nothing is left but in these cases.
        """
        is_kept_for_another_load = self._plan.keep
        # An earlier attempt's folder is removed when the files are made; this engine ended before that.
        earlier_folder_is_untouched = self._plan.leftover and not self._has_made_files

        return is_kept_for_another_load or engine_died or removal_failed or earlier_folder_is_untouched


def _printer_of(load: records.Load, request: spec.LoadRequest) -> print_queue.PrinterShare | None:
    """The printer share that the load prints to; None for another load, or where its queue cannot be asked for."""
    share = load.targets[0].share
    smb_conf = load.environment.get("server", {}).get("smb.conf.path")
    if records.RequestKind.PRINT not in load.scenario.requests or share is None or not isinstance(smb_conf, str):
        return None
    printer = print_queue.PrinterShare(share, smb_conf, request.server_ssh)
    return printer if printer.begin() else None


def _warning_instead_of_point(load: records.Load, users: int, control: process.SeriesControl) -> process.Warned | None:
    """Why a point of that many users is not begun: no time for it is left, or this machine cannot carry them."""
    if not control.limit.has_time_for_another():
        return control.finish_in_time("point")
    try:
        spec.check_limits(replace(load.choices, users=(users,)), load.targets)
    except errors.UsageError as error:
        return process.Warned(text=f"the search for capacity ends here: {error}")
    return None


def _reason_to_stop(event: events.PointMeasured, point: records.LoadPoint, choices: records.LoadChoices) -> str | None:
    """Why no other point is worth measuring: most users had no session at the end of this one."""
    # A search for capacity goes on as long as anybody is left: to lose users is what it looks for.
    fewest_connected = 1.0 if choices.find_capacity else _LEAST_SHARE_CONNECTED * point.users
    if event.failure is not None or point.connected >= fewest_connected:
        return None
    return (
        f"{point.connected} of {point.users} users had a session at the end of their point, so no other was measured; "
        "see that the server runs and how many connections it takes, then resume this load"
    )


def _with_reason_to_stop(ended: events.LoadEnded | None, reason: str | None) -> events.LoadEnded | None:
    """The end of the engine, as a failure where the load was stopped for that reason."""
    if reason is None or ended is None or ended.failure:
        return ended
    return replace(ended, failure=process.Failed(kind=errors.MeasurementError, text=reason))


def _with_bottleneck(
    point: records.LoadPoint, load: records.Load, fewest: records.LoadPoint | None
) -> records.LoadPoint:
    """The point with what limited it, if anything did: an overloaded server, or the load generator."""
    is_overloaded = load_summary.overload(point, load.choices, load.scenario, fewest) is not None
    if is_overloaded or point.status is records.PointStatus.GENERATOR:
        return replace(point, limit=load_summary.limit_of(point, load.link_bits_per_second))
    return point


def _with_path_facts(load: records.Load, look: process.PathSeen) -> records.Load:
    path_facts = {**load.environment.get("path", {}), **look.path_facts}
    return replace(load, environment={**load.environment, "path": path_facts})


def _with_point(load: records.Load, point: records.LoadPoint) -> records.Load:
    """The load with the point in place of an earlier one of its number, and with the capacity that follows."""
    points = {old_point.number: old_point for old_point in load.points}
    points[point.number] = point
    load = replace(load, points=tuple(points[number] for number in sorted(points)))
    return replace(load, capacity=load_summary.capacity_of(load))
