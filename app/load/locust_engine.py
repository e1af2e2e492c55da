"""The engine of a load: locust's master, which has worker processes run the users and measures the load points.

It lives in a child process of its own; `app.load.engine_child` reads its orders and sends its events.
"""

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any, TypeVar

import gevent
from locust.env import Environment

from app.base import errors
from app.load import events, worker, worker_figures
from app.load.locust_connection import make_master
from app.load.looks.path_look import PathLook
from app.load.scenario_files import Preparation
from app.load.users import ERROR_KINDS
from app.load.worker_processes import WorkerProcesses
from forms.load.summary import percentile_seconds
from storage import json_reader
from storage.load import records

Emit = Callable[[events.LoadEvent], None]
_MessageT = TypeVar("_MessageT", worker_figures.WorkerFigures, worker_figures.WorkerSecond)
_LOGIN_PATIENCE_SECONDS = 30.0
"""After this long without another login, the point starts with the users it has; so long too workers are waited for."""
_SLOWEST_RAMP = 10
_SLOWEST_LOGINS_SECONDS = 600.0
"""Limits of a ramp: a multiple of its planned time, for a server that logs in slowly, plus seconds for short ramps."""
_RESULT_SECONDS = 20.0
"""Longest wait for the figures of all workers, after the window."""


class LoadEngine:
    """Prepares the files, starts the worker processes, and measures one point after the other with them.

    First :meth:`begin`, then :meth:`point` for each point, at last :meth:`end`. What happens is told by ``emit``.
    locust's master tells the workers how many users to run; the engine tells them when to count.
    """

    def __init__(self, plan: events.LoadPlan, emit: Emit) -> None:
        self._plan = plan
        self._emit = emit

        self._runner, key = make_master(Environment(user_classes=[worker.FileUser]))
        self._runner.register_message(worker_figures.WorkerSecond.__name__, self._take_second)
        self._runner.register_message(worker_figures.WorkerFigures.__name__, self._take_figures)
        self._preparation = Preparation(plan, emit)
        self._path_look = PathLook(plan, emit)
        self._processes = WorkerProcesses(plan, self._runner.server.port, key)

        self._latest: dict[int, worker_figures.WorkerSecond] = {}
        """What each worker told last, by its index: each tells what happened in a second of its own."""
        self._has_no_users = True
        """Whether no user is logged in, so that a point begins with new logins."""
        self._are_users_resting = False
        """Whether no point is under way, for who knows how long: then nobody may read what is told."""

        # Of the point that is measured
        self._point_number = 0
        self._users = 0
        self._measured: dict[int, worker_figures.WorkerFigures] = {}
        """What each worker measured, by its index."""
        self._errors: dict[str, int] = {}
        """By kind: those of all its seconds, from the ramp on."""
        self._first_error = ""

    def begin(self) -> None:
        """Make files and workers ready. Raises MeasurementError; what is refused at once comes first."""
        self._preparation.look()
        self._path_look.begin()
        self._start_workers()
        self._preparation.make()
        self._emit(events.WorkersReady(workers=self._processes.machines()))

    def end(self) -> None:
        self._processes.end()
        self._preparation.remove()

    def point(self, number: int, users: int, size_bytes: int) -> None:
        """Measure a load point, and tell its end; ``size_bytes`` is the only file size to use, 0 for all."""
        self._are_users_resting = False
        self._point_number = number
        self._users = users
        self._measured = {}
        self._errors = {}
        self._first_error = ""

        began = ended = time.monotonic()
        failure: str | None = None
        ramp_seconds = 0.0
        try:
            self._start_workers()
            self._has_no_users = False
            self._runner.send_message(worker.ORDER, {"size_bytes": size_bytes})

            ramp_seconds = self._ramp(users)
            self._settle()
            began = time.monotonic()
            self._measure_window()
            ended = time.monotonic()
            failure = self._why_incomplete()
        except errors.MeasurementError as error:
            failure = str(error)
            ended = time.monotonic()

        if failure is not None:
            self._start_over()
        self._path_look.tell_counters()
        self._emit(
            events.PointMeasured(
                point=number,
                users=users,
                began_seconds=began,
                ended_seconds=ended,
                ramp_seconds=ramp_seconds,
                workers=tuple(self._measured.values()),
                failure=failure,
                errors=self._errors,
                first_error=self._first_error,
            )
        )

    def _settle(self) -> None:
        seconds = self._plan.scenario.settle_seconds
        self._tell_phase(events.LoadPhase.SETTLE, seconds)
        self._wait(seconds)

    def _measure_window(self) -> None:
        """Have the workers count for the time of the window, and wait for what they counted."""
        seconds = self._plan.scenario.duration_seconds
        self._tell_phase(events.LoadPhase.STEADY, seconds)
        self._runner.send_message(worker.ORDER, {"measure_seconds": seconds})
        self._wait(seconds)
        self._wait(_RESULT_SECONDS, self._has_all_results)

    def _why_incomplete(self) -> str | None:
        """Why the point failed though its window is over; None if all users were there. Raises MeasurementError."""
        if not self._has_all_results():
            return "a worker process did not tell what it measured; is this machine overloaded?"
        self._check_users(self._measured.values())
        return None

    def _has_all_results(self) -> bool:
        return len(self._measured) == self._processes.count

    def let_users_rest(self) -> None:
        """Have all users leave until the next point, and tell when they were told to."""
        prints = records.RequestKind.PRINT in self._plan.scenario.requests
        self._tell_phase(events.LoadPhase.PRINTING if prints else events.LoadPhase.RESTING)
        stopped_at = time.monotonic()
        self._has_no_users = True
        self._are_users_resting = True
        self._runner.stop()
        self._emit(events.UsersGone(at_seconds=stopped_at))

    def _start_workers(self) -> None:
        """Start the processes that do not run. Raises MeasurementError.

        Where no users are wanted yet, they are waited for: until all report, and those of the last point have left.
        """
        self._processes.start_missing()
        if self._has_no_users:
            self._wait(_LOGIN_PATIENCE_SECONDS, self._are_ready, must=True)

    def _are_ready(self) -> bool:
        """Whether all worker processes are known to locust, have told their first second, and run no user."""
        ready = min(len(self._runner.clients.ready), len(self._latest))
        return ready >= self._processes.count and not any(second.users for second in self._latest.values())

    def _check_users(self, messages: Collection[worker_figures.WorkerFigures | worker_figures.WorkerSecond]) -> None:
        """Raises MeasurementError where the workers ran fewer users than the point has."""
        running = sum(message.users for message in messages)
        if running < self._users:
            raise errors.MeasurementError(
                f"the load's worker processes ran {running} of {self._users} users; is this machine overloaded?"
            )

    def _start_over(self) -> None:
        """After a failed point: no worker or user of it remains."""
        self._processes.end()
        gevent.sleep(0.2)

        # locust's master knows nothing of the dead workers' end: it would wait for them, and give users to them.
        for client in list(self._runner.clients):
            del self._runner.clients[client]
        with suppress(Exception):
            self._runner.stop()  # which would wait for the users of a worker that is dead
        self._runner._users_dispatcher = None  # noqa: SLF001  locust makes a new one for the workers that are there
        self._latest.clear()
        self._has_no_users = True

    def _ramp(self, users: int) -> float:
        """Seconds until all users have logged in or given up. Raises MeasurementError where users are not even run."""
        self._tell_phase(events.LoadPhase.RAMP)
        began = time.monotonic()
        starting_users = gevent.spawn(self._runner.start, users, self._plan.ramp_per_second)
        try:
            self._wait_for_logins(users, starting_users)
        finally:
            starting_users.kill()
        return time.monotonic() - began

    def _wait_for_logins(self, users: int, starting_users: gevent.Greenlet) -> None:
        """Wait as long as one login follows another; some users may have no session after that."""
        most_connected = -1
        last_login_at = time.monotonic()
        # Besides what a login may take, the next one is due only after the planned interval.
        patience = _LOGIN_PATIENCE_SECONDS + 1 / self._plan.ramp_per_second
        planned_seconds = users / self._plan.ramp_per_second
        gives_up_at = last_login_at + _SLOWEST_RAMP * planned_seconds + _SLOWEST_LOGINS_SECONDS

        while time.monotonic() - last_login_at < patience and time.monotonic() < gives_up_at:
            self._wait(0.1)
            connected = sum(second.connected for second in self._latest.values())
            if connected > most_connected:
                most_connected = connected
                last_login_at = time.monotonic()
            given_up = sum(second.given_up for second in self._latest.values())
            if starting_users.dead and connected + given_up == users:
                return

        # Users without a session are the server's failure, which is told; users who do not even run are this machine's.
        self._check_users(self._latest.values())

    def _wait(self, seconds: float, until: Callable[[], bool] | None = None, *, must: bool = False) -> None:
        """Wait that long, or until something is true, which it ``must`` be by then.

        Raises MeasurementError where it is not, and where a worker dies meanwhile.
        """
        end = time.monotonic() + seconds
        while (seconds_left := end - time.monotonic()) > 0 and not (until and until()):
            if death := self._processes.died():
                raise errors.MeasurementError(death)
            gevent.sleep(min(0.05, seconds_left))

        if must and until and not until():
            raise errors.MeasurementError(
                f"the load's worker processes were not ready in {seconds:.0f} s; is this machine overloaded?"
            )

    def _tell_phase(self, phase: events.LoadPhase, seconds: float = 0.0) -> None:
        self._emit(
            events.PhaseBegan(
                phase=phase,
                point=self._point_number,
                users=self._users,
                seconds=seconds,
                at_seconds=time.monotonic(),
            )
        )

    def _take_figures(self, environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG002  locust's names
        figures = self._parse(worker_figures.WorkerFigures, msg.data)
        if figures is not None:
            self._measured[figures.index] = figures

    def _take_second(self, environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG002  locust's names
        second = self._parse(worker_figures.WorkerSecond, msg.data)
        if second is None:
            return

        self._latest[second.index] = second
        self._errors = worker_figures.sum_counts([self._errors, second.errors])
        self._first_error = self._first_error or second.first_error
        # All workers' seconds are told together, each time that the first of them reports.
        if second.index == min(self._latest) and not self._are_users_resting:
            self._tell_second()

    def _parse(self, kind: type[_MessageT], data: Any) -> _MessageT | None:
        """None for a message that no worker of this load can have sent."""
        try:
            message = json_reader.JSONNode("", data).record(kind)
        except json_reader.DocumentError:
            return None
        is_of_this_load = message.index in self._processes.indexes and message.errors.keys() <= ERROR_KINDS
        return message if is_of_this_load else None

    def _tell_second(self) -> None:
        seconds = list(self._latest.values())
        response = records.merge_histograms(second.response for second in seconds)

        self._emit(
            events.SecondPassed(
                point=self._point_number,
                users=self._users,
                connected=sum(second.connected for second in seconds),
                requests_per_second=sum(second.requests for second in seconds),
                read_bytes_per_second=sum(second.read_bytes for second in seconds),
                write_bytes_per_second=sum(second.write_bytes for second in seconds),
                errors=sum(sum(second.errors.values()) for second in seconds),
                p95_seconds=percentile_seconds(response, 0.95),
                cpu_percent=max(second.cpu_percent for second in seconds),
            )
        )
