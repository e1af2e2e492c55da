"""The engine: locust's master on the loopback, its workers, the scenario's files; points are asked for on stdin."""

import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import gevent
from locust.env import Environment

from app.errors import MeasurementError
from app.load.events import LoadEvent, LoadPhase, PhaseBegan, PointMeasured, SecondPassed, UsersGone, WorkersReady
from app.load.plan import LoadPlan
from app.load.prepare import Preparation
from app.load.users import clock
from app.load.window import counted, unpacked
from app.load.workers.processes import WorkerProcesses
from app.load.workers.worker import MESSAGE, FileUser
from forms.load.summary import percentile_seconds
from storage.loads.histogram import added

Emit = Callable[[LoadEvent], None]
LOOPBACK = "127.0.0.1"
_LOGIN_PATIENCE_SECONDS = 30.0
"""So long may pass without another user getting in before the point goes on without the rest."""
_RESULT_SECONDS = 20.0


class LoadEngine:
    """One load, from its files to their removal."""

    def __init__(self, plan: LoadPlan, emit: Emit) -> None:
        self._plan = plan
        self._emit = emit
        self._token = secrets.token_hex(16)
        os.environ["LOCUST_WAIT_FOR_WORKERS_REPORT_AFTER_RAMP_UP"] = "0"
        self._runner = Environment(user_classes=[FileUser]).create_master_runner(LOOPBACK, 0)
        self._runner.register_message(MESSAGE, self._hear)
        self._preparation = Preparation(plan, emit)
        self._processes = WorkerProcesses(plan, self._runner.server.port, self._token)
        self._latest: dict[int, dict[str, Any]] = {}
        self._measured: dict[int, dict[str, Any]] = {}
        self._errors: list[dict[str, int]] = []
        self._first_error = ""
        self._now = (0, 0)
        """The point, and its users."""

    def begin(self) -> None:
        """Start the workers and make the files, what can be refused at once first. Raises MeasurementError."""
        self._preparation.look()
        self._start_workers()
        self._preparation.make()
        self._emit(WorkersReady(workers=self._processes.told()))

    def end(self) -> None:
        """End the workers, each of which ends its users, and the files, whatever happened."""
        self._processes.end()
        self._preparation.remove()

    def point(self, number: int, users: int, size_bytes: int) -> None:
        """Ramp, settle and steady window with so many users, on files of one size unless that is 0."""
        began = ended = clock()
        self._now, self._measured, self._errors, self._first_error = (number, users), {}, [], ""
        failure: str | None = None
        ramp_seconds = 0.0
        try:
            self._start_workers()
            self._tell_all("size", size_bytes=size_bytes)
            self._phase(LoadPhase.RAMP)
            started = clock()
            self._ramp(users)
            ramp_seconds = clock() - started
            self._phase(LoadPhase.SETTLE, self._plan.scenario.settle_seconds)
            self._wait(self._plan.scenario.settle_seconds)
            began = clock()
            self._phase(LoadPhase.STEADY, self._plan.scenario.duration_seconds)
            self._tell_all("measure", seconds=self._plan.scenario.duration_seconds)
            self._wait(self._plan.scenario.duration_seconds)
            self._wait(_RESULT_SECONDS, lambda: len(self._measured) == self._processes.count)
            ended = clock()
            if len(self._measured) < self._processes.count:
                failure = "a worker process did not tell what it measured; is this machine overloaded?"
        except MeasurementError as error:
            failure = str(error)
            ended = clock()
        if failure is not None:
            self._start_over()
        self._emit(
            PointMeasured(
                point=number, users=users, began_seconds=began, ended_seconds=ended, ramp_seconds=ramp_seconds,
                workers=list(self._measured.values()), failure=failure, errors=counted(list(self._errors)),
                first_error=self._first_error,
            )
        )  # fmt: skip

    def rest(self) -> None:
        """Have all users leave; the workers stay."""
        self._phase(LoadPhase.PRINTING)
        told = clock()
        self._runner.stop()
        self._emit(UsersGone(at_seconds=told))

    def _start_workers(self) -> None:
        """Have as many workers as are planned, new ones in place of those that died."""
        if self._processes.start_missing():
            self._wait(
                _LOGIN_PATIENCE_SECONDS, lambda: len(self._runner.clients.ready) >= self._processes.count, must=True
            )

    def _start_over(self) -> None:
        """After a failed point: no worker and no user of it is left for the next one."""
        with suppress(Exception):
            self._runner.stop()
        self._processes.end()
        gevent.sleep(0.2)
        for client in list(self._runner.clients):
            del self._runner.clients[client]
        self._runner._users_dispatcher = None  # noqa: SLF001  locust makes a new one for the workers that are there
        self._latest.clear()

    def _ramp(self, users: int) -> None:
        spawning = gevent.spawn(self._runner.start, users, self._plan.ramp_per_second)
        try:
            best, since = -1, clock()
            while clock() - since < _LOGIN_PATIENCE_SECONDS:
                self._wait(0.1)
                there, settled = self._sum("connected"), self._sum("connected") + self._sum("given_up")
                if there != best:
                    best, since = there, clock()
                if spawning.dead and settled == users and self._sum("users") in {0, users}:
                    return
        finally:
            spawning.kill()

    def _sum(self, name: str) -> int:
        return sum(int(each.get(name, 0)) for each in self._latest.values())

    def _wait(self, seconds: float, until: Callable[[], bool] | None = None, *, must: bool = False) -> None:
        """Wait, and notice a worker that dies meanwhile. Raises MeasurementError."""
        end = clock() + seconds
        while (left := end - clock()) > 0 and not (until and until()):
            if died := self._processes.died():
                raise MeasurementError(died)
            gevent.sleep(min(0.05, left))
        if must and until and not until():
            raise MeasurementError("the load's worker processes did not start in time; is this machine overloaded?")

    def _phase(self, phase: LoadPhase, seconds: float = 0.0) -> None:
        number, users = self._now
        self._emit(PhaseBegan(phase=phase, point=number, users=users, seconds=seconds, at_seconds=time.monotonic()))

    def _tell_all(self, what: str, **more: Any) -> None:
        self._runner.send_message(MESSAGE, {"what": what, "token": self._token, **more})

    def _hear(self, environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG002  locust's names
        told = msg.data
        if not isinstance(told, dict) or told.get("token") != self._token:
            return
        index = told["index"]
        if told["what"] == "measured":
            self._measured[index] = told
            return
        self._latest[index] = told
        self._errors.append(told["errors"])
        self._first_error = self._first_error or told["first_error"]
        if index == min(self._latest):
            self._tell_second()

    def _tell_second(self) -> None:
        parts = list(self._latest.values())
        number, users = self._now
        self._emit(
            SecondPassed(
                point=number,
                users=users,
                connected=self._sum("connected"),
                requests_per_second=self._sum("requests"),
                read_bytes_per_second=self._sum("read_bytes"),
                write_bytes_per_second=self._sum("write_bytes"),
                errors=sum(counted([each["errors"] for each in parts]).values()),
                p95_seconds=percentile_seconds(added(unpacked(each["response"]) for each in parts), 0.95),
                cpu_percent=max(each["cpu_percent"] for each in parts),
            )
        )
