"""The engine process, locust's master: a plan and points on stdin, events on stdout; end of stdin cancels."""

import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TextIO, TypeVar

import gevent
from gevent.pool import Pool
from gevent.queue import Queue
from locust.env import Environment

from app.base import errors, messages
from app.clients import base, registry
from app.clients import file_tree as file_set
from app.load import events, worker
from app.load.worker_processes import WorkerProcesses
from app.recording import process
from forms.load.summary import percentile_seconds
from storage import json_reader
from storage.load import records
from storage.records import Target, format_target

_CONNECTIONS = 8
_TELL_EVERY = 50


class Preparation:
    """The files of a load, on each of its targets: looked at, made before the first point, removed at the end."""

    def __init__(self, plan: events.LoadPlan, emit: Callable[[events.LoadEvent], None]) -> None:
        self._plan = plan
        self._emit = emit
        self._set = file_set.FileSet(plan.scenario)
        self._made_on: list[Target] = []

    def look(self) -> None:
        self._on_each(self._look_at)

    def make(self) -> None:
        self._on_each(self._make_on)

    def _on_each(self, job: Callable[[base.Files], None]) -> None:
        for target in self._plan.targets:
            with self._connected(target) as files:
                job(files)

    def _look_at(self, files: base.Files) -> None:
        if records.RequestKind.PRINT in self._plan.scenario.requests:
            check_printer(files)
        if not self._plan.scenario.needs_files:
            return
        if not files.has_handles:
            for kind in self._plan.scenario.requests:
                if kind in {records.RequestKind.READ_PARTS, records.RequestKind.WRITE_PARTS}:
                    raise errors.MeasurementError(
                        f"{files.target.protocol}:// has no open files, which {kind.value} needs"
                    )
        base.check_folder(files)
        if not self._plan.reuse and not self._plan.leftover:
            file_set.check_space(files, self._set)

    def _make_on(self, files: base.Files) -> None:
        if not self._plan.scenario.needs_files:
            return
        target = files.target
        folder = self._plan.folder
        if self._plan.reuse:
            file_set.check_there(files, folder, self._set)
            file_set.remove_users_own(files, folder)
            return
        if self._made_on and _is_there(files, folder):
            return  # the same share by another of the server's addresses

        if self._plan.leftover and not self._made_on:
            file_set.remove_all(files, file_set.path_within(target, folder))
        file_set.check_space(files, self._set)

        self._made_on.append(target)
        self._emit(events.PhaseBegan(phase=events.LoadPhase.FILES, at_seconds=time.monotonic()))
        for subfolder in ("", *self._set.folders):
            files.make_folder(file_set.path_within(target, folder, subfolder))

        jobs: list[Callable[[base.Files], None]] = []
        for file in self._set.files:
            path = file_set.path_within(target, folder, file.path)
            jobs.append(partial(file_set.write_whole, path=path, size_bytes=file.size_bytes, mode=base.OpenMode.CREATE))
        self._with_several(target, jobs)

    def remove(self) -> None:
        if self._plan.keep:
            return

        problems = []
        for target in self._made_on:
            self._emit(events.PhaseBegan(phase=events.LoadPhase.CLEANING, at_seconds=time.monotonic()))
            path = file_set.path_within(target, self._plan.folder)
            try:
                with self._connected(target) as files:
                    self._with_several(target, file_set.removals(files, path))
                    file_set.remove_all(files, path)
            except errors.SharebenchError as error:
                problems.append(f"{path} is still there ({error}); delete it there")

        if problems:
            raise errors.MeasurementError("; ".join(problems))

    def _with_several(self, target: Target, jobs: Sequence[Callable[[base.Files], None]]) -> None:
        waiting_jobs = iter(jobs)
        finished = 0

        def work() -> None:
            nonlocal finished
            with self._connected(target) as files:
                for job in waiting_jobs:
                    job(files)
                    finished += 1
                    if finished % _TELL_EVERY == 0:
                        self._emit(events.FilesMade(files=finished, of_files=len(jobs)))
                        gevent.sleep(0)

        pool = Pool(_CONNECTIONS)
        workers = [pool.spawn(work) for _ in range(min(_CONNECTIONS, len(jobs)))]
        try:
            gevent.joinall(workers, raise_error=True)
        finally:
            pool.kill()

    def _connected(self, target: Target) -> AbstractContextManager[base.Files]:
        return registry.connected_files(target, self._plan.secrets, self._plan.settings, worker.call_in_thread)


def check_printer(files: base.Files) -> None:
    """Raises NotAFileError unless the target's share is a printer."""
    if not files.is_printer:
        raise errors.NotAFileError(
            f"{format_target(files.target)} is no printer, so nothing was printed or written; name a printer share,"
            " such as smb://HOST/PRINTER, or take another scenario"
        )


def _is_there(files: base.Files, folder: str) -> bool:
    with suppress(errors.NoSuchFileError, errors.NotAFileError):
        return files.query(file_set.path_within(files.target, folder)).is_folder
    return False


Emit = Callable[[events.LoadEvent], None]
_WorkerMessage = TypeVar("_WorkerMessage", events.WorkerFigures, events.WorkerSecond)
_LOGIN_PATIENCE_SECONDS = 30.0
"""After this long without another login, the point starts with the users it has."""
_SLOWEST_RAMP = 10
_SLOWEST_LOGINS_SECONDS = 600.0
"""Limits of a ramp: a multiple of its planned time, plus seconds."""
_RESULT_SECONDS = 20.0


class LoadEngine:
    """Prepares the files, starts the worker processes, and measures one point after the other with them."""

    def __init__(self, plan: events.LoadPlan, emit: Emit) -> None:
        self._plan = plan
        self._emit = emit

        os.environ["LOCUST_WAIT_FOR_WORKERS_REPORT_AFTER_RAMP_UP"] = "0"
        self._runner, key = worker.make_master(Environment(user_classes=[worker.FileUser]))
        self._runner.register_message(events.WorkerSecond.__name__, self._hear_second)
        self._runner.register_message(events.WorkerFigures.__name__, self._hear_measured)
        self._preparation = Preparation(plan, emit)
        self._processes = WorkerProcesses(plan, self._runner.server.port, key)

        self._latest: dict[int, events.WorkerSecond] = {}
        self._measured: dict[int, events.WorkerFigures] = {}
        self._errors: dict[str, int] = {}
        self._first_error = ""
        self._point_number = 0
        self._users = 0
        self._nobody = True
        """Whether no user is logged in, so that a point begins with new logins."""

    def begin(self) -> None:
        """Raises MeasurementError; immediate refusals come first."""
        self._preparation.look()
        self._start_workers()
        self._preparation.make()
        self._emit(events.WorkersReady(workers=self._processes.machines()))

    def end(self) -> None:
        self._processes.end()
        self._preparation.remove()

    def point(self, number: int, users: int, size_bytes: int) -> None:
        self._point_number = number
        self._users = users
        self._measured = {}
        self._errors = {}
        self._first_error = ""

        scenario = self._plan.scenario
        began = ended = worker.clock()
        failure: str | None = None
        ramp_seconds = 0.0
        try:
            self._start_workers()
            self._nobody = False
            self._runner.send_message(worker.ORDER, {"size_bytes": size_bytes})

            self._tell_phase(events.LoadPhase.RAMP)
            ramp_began = worker.clock()
            self._ramp(users)
            ramp_seconds = worker.clock() - ramp_began

            self._tell_phase(events.LoadPhase.SETTLE, scenario.settle_seconds)
            self._wait(scenario.settle_seconds)

            began = worker.clock()
            self._tell_phase(events.LoadPhase.STEADY, scenario.duration_seconds)
            self._runner.send_message(worker.ORDER, {"measure_seconds": scenario.duration_seconds})
            self._wait(scenario.duration_seconds)
            self._wait(_RESULT_SECONDS, self._has_all_results)
            ended = worker.clock()

            if len(self._measured) < self._processes.count:
                failure = "a worker process did not tell what it measured; is this machine overloaded?"
            else:
                self._check_users(self._measured.values())
        except errors.MeasurementError as error:
            failure = str(error)
            ended = worker.clock()

        if failure is not None:
            self._start_over()
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

    def _has_all_results(self) -> bool:
        return len(self._measured) == self._processes.count

    def let_users_rest(self) -> None:
        self._tell_phase(events.LoadPhase.PRINTING)
        stopped_at = worker.clock()
        self._nobody = True
        self._runner.stop()
        self._emit(events.UsersGone(at_seconds=stopped_at))

    def _start_workers(self) -> None:
        self._processes.start_missing()
        if self._nobody:
            self._wait(_LOGIN_PATIENCE_SECONDS, self._are_ready, must=True)

    def _are_ready(self) -> bool:
        ready = min(len(self._runner.clients.ready), len(self._latest))
        return ready >= self._processes.count and not any(second.users for second in self._latest.values())

    def _check_users(self, messages: Collection[events.WorkerFigures | events.WorkerSecond]) -> None:
        running = sum(message.users for message in messages)
        if running < self._users:
            raise errors.MeasurementError(
                f"the load's worker processes ran {running} of {self._users} users; is this machine overloaded?"
            )

    def _start_over(self) -> None:
        """After a failed point: no worker or user of it remains."""
        self._processes.end()
        gevent.sleep(0.2)

        for client in list(self._runner.clients):
            del self._runner.clients[client]
        with suppress(Exception):
            self._runner.stop()  # which would wait for the users of a worker that is dead
        self._runner._users_dispatcher = None  # noqa: SLF001  locust makes a new one for the workers that are there
        self._latest.clear()
        self._nobody = True

    def _ramp(self, users: int) -> None:
        spawning = gevent.spawn(self._runner.start, users, self._plan.ramp_per_second)
        try:
            most_connected = -1
            last_login_at = worker.clock()
            patience = _LOGIN_PATIENCE_SECONDS + 1 / self._plan.ramp_per_second
            planned_seconds = users / self._plan.ramp_per_second
            gives_up_at = last_login_at + _SLOWEST_RAMP * planned_seconds + _SLOWEST_LOGINS_SECONDS

            while worker.clock() - last_login_at < patience and worker.clock() < gives_up_at:
                self._wait(0.1)
                connected = sum(second.connected for second in self._latest.values())
                if connected > most_connected:
                    most_connected = connected
                    last_login_at = worker.clock()
                given_up = sum(second.given_up for second in self._latest.values())
                if spawning.dead and connected + given_up == users:
                    return

            self._check_users(self._latest.values())
        finally:
            spawning.kill()

    def _wait(self, seconds: float, until: Callable[[], bool] | None = None, *, must: bool = False) -> None:
        end = worker.clock() + seconds
        while (seconds_left := end - worker.clock()) > 0 and not (until and until()):
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

    def _hear_measured(self, environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG002  locust's names
        if (measured := self._parse(events.WorkerFigures, msg.data)) is not None:
            self._measured[measured.index] = measured

    def _hear_second(self, environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG002  locust's names
        if (second := self._parse(events.WorkerSecond, msg.data)) is None:
            return

        self._latest[second.index] = second
        self._errors = events.sum_counts([self._errors, second.errors])
        self._first_error = self._first_error or second.first_error
        if second.index == min(self._latest):
            self._tell_second()

    def _parse(self, kind: type[_WorkerMessage], data: Any) -> _WorkerMessage | None:
        """None for a message that no worker of this load can have sent."""
        try:
            message = json_reader.JSONNode("", data).record(kind)
        except json_reader.DocumentError:
            return None
        is_of_this_load = message.index in self._processes.indexes and message.errors.keys() <= worker.ERROR_KINDS
        return message if is_of_this_load else None

    def _tell_second(self) -> None:
        seconds = list(self._latest.values())
        response = records.added(second.response for second in seconds)

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


class EngineChild:
    """The engine's side of its pipes: orders come in, events go out, and the end of the orders cancels it."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._orders: Queue[str] = Queue()
        self._working: gevent.Greenlet | None = None

    def hold(self) -> None:
        engine = LoadEngine(messages.message_of(self._next_line(), [events.LoadPlan]), self._emit)
        self._working = gevent.spawn(_end_of, partial(self._work, engine))
        gevent.spawn(self._listen)

        ended = self._working.get()
        cleaned = _end_of(engine.end)
        if cleaned.failure:
            self._emit(process.Warned(text=cleaned.failure.text))
        self._emit(replace(ended, left_behind=cleaned.failure is not None))

    @staticmethod
    def _next_line() -> str:
        """Read in a thread so that the event loop is not blocked."""
        return str(gevent.get_hub().threadpool.apply(sys.stdin.readline))

    def _listen(self) -> None:
        while line := self._next_line():
            self._orders.put(line.strip())
        assert self._working is not None
        self._working.kill(errors.CancelledError("cancelled"), block=False)

    def _work(self, engine: LoadEngine) -> None:
        engine.begin()
        while True:
            match messages.message_of(self._orders.get(), events.LOAD_ORDERS):
                case events.MeasurePoint(number=number, users=users, size_bytes=size_bytes):
                    engine.point(number, users, size_bytes)
                case events.Rest():
                    engine.let_users_rest()
                case _:
                    return

    def _emit(self, event: events.LoadEvent) -> None:
        with suppress(OSError, ValueError):
            messages.send(self._out, event)


def _end_of(work: Callable[[], None]) -> events.LoadEnded:
    try:
        work()
    except errors.SharebenchError as error:
        return events.LoadEnded(failure=process.Failed.of(error))
    except Exception as error:  # noqa: BLE001  whatever it was, the other side must hear of it
        text = f"the engine failed: {type(error).__name__}: {error}"
        return events.LoadEnded(failure=process.Failed(kind=errors.MeasurementError, text=text))
    return events.LoadEnded()


def serve() -> None:
    with messages.own_stdout() as out:
        EngineChild(out).hold()
    os._exit(0)  # a thread still reads stdin
