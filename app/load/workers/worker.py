"""One worker: a process whose greenlets are users, told by locust's master how many, and by us when to count."""

import sys
import time
from typing import Any, ClassVar

import gevent
from gevent.event import Event
from locust import User
from locust.env import Environment

from app.child_process import held_seconds
from app.load.users import LoadUser, LoadUsers
from app.load.window import WorkerFigures, WorkerSecond
from app.load.workers.connection import make_worker
from app.load.workers.start import WorkerOrder
from app.messages import plain

ORDER = "sharebench-order"
"""The kind of the engine's messages through locust's connection; those of workers are named by their records."""
REPORT_SECONDS = 1.0


class FileUser(User):
    """locust's user, which lives as a :class:`LoadUser` of this process's users."""

    users: ClassVar[LoadUsers | None] = None

    def on_start(self) -> None:
        """Live until ended: locust's own loop of tasks is never reached."""
        assert self.users is not None
        user = LoadUser(self.users)
        try:
            user.live()
        finally:
            user.leave()


class Worker:
    """The process's side of the conversation with the engine."""

    def __init__(self, order: WorkerOrder) -> None:
        self._users = FileUser.users = LoadUsers(order.plan, order.index, order.processes)
        self._stop = Event()
        self._last = (time.monotonic(), time.process_time())
        self._runner = make_worker(Environment(user_classes=[FileUser]), order.port, order.key)
        self._runner.register_message(ORDER, self._hear)

    def work(self) -> None:
        """Be there until stdin ends."""
        jobs = [gevent.spawn(self._report), gevent.spawn(self._users.watch_lateness, self._stop)]
        gevent.get_hub().threadpool.apply(sys.stdin.read)
        self._stop.set()
        gevent.killall(jobs)
        self._runner.quit()

    def _hear(self, environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG002  locust's names
        match msg.data:
            case {"measure_seconds": seconds}:
                gevent.spawn(self._measure, seconds)
            case {"size_bytes": size_bytes}:
                self._users.use_size(size_bytes)

    def _measure(self, seconds: float) -> None:
        began, processor, held = time.monotonic(), time.process_time(), held_seconds()
        self._users.begin_window()
        gevent.sleep(seconds)
        passed = time.monotonic() - began
        self._say(
            self._users.end_window(
                cpu_percent=100 * (time.process_time() - processor) / passed,
                held_percent=100 * (held_seconds() - held) / passed,
            )
        )

    def _report(self) -> None:
        while True:
            now, before = (time.monotonic(), time.process_time()), self._last
            self._last = now
            self._say(self._users.progress(100 * (now[1] - before[1]) / max(1e-9, now[0] - before[0])))
            gevent.sleep(REPORT_SECONDS)

    def _say(self, told: WorkerFigures | WorkerSecond) -> None:
        self._runner.send_message(type(told).__name__, plain(told))
