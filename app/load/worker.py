"""A worker process of a load: its greenlets are users, and it tells the engine what they do.

locust's master, in the engine, tells how many users there are. The engine itself tells which size their files have and
when a point is measured, by messages of the kind ORDER; the answers are records of `app.load.worker_figures`.
"""

import sys
import time
from typing import Any, ClassVar

import gevent
from locust import User
from locust.env import Environment

from app.base import messages, this_process
from app.load.locust_connection import make_worker
from app.load.users import LoadUser, LoadUsers
from app.load.worker_figures import WorkerFigures, WorkerSecond
from app.load.worker_processes import WorkerOrder

ORDER = "sharebench-order"
"""The kind of the engine's messages through locust's connection; those of workers are named by their records."""
REPORT_SECONDS = 1.0


class FileUser(User):
    """locust's user, which lives as a :class:`LoadUser` of this process's users."""

    users: ClassVar[LoadUsers | None] = None
    """Set by Worker before the first user starts: locust makes an object of this class for each user by itself."""

    load_user: LoadUser | None = None
    """None before it has begun."""

    def on_start(self) -> None:
        assert self.users is not None
        self.load_user = user = LoadUser(self.users)
        try:
            user.live()
        finally:
            user.leave()

    def stop(self, force: bool = False) -> bool:
        """Hang up first: who is killed amid a request would close its file before it goes, and wait for an answer."""
        if self.load_user is not None:
            self.load_user.hang_up()
        return bool(super().stop(force))


class Worker:
    """This process's users, driven by locust, and what the engine is told of them once a second."""

    def __init__(self, order: WorkerOrder) -> None:
        self._users = LoadUsers(order.plan, order.index, order.processes)
        FileUser.users = self._users
        self._reported_at = time.monotonic()
        self._reported_processor_seconds = time.process_time()
        """Processor time of this process by then."""

        self._runner = make_worker(Environment(user_classes=[FileUser]), order.key, order.port)
        self._runner.register_message(ORDER, self._hear)

    def work(self) -> None:
        """Do what locust's master and the engine say, until stdin ends."""
        jobs = [gevent.spawn(self._report), gevent.spawn(self._users.watch_lateness)]
        gevent.get_hub().threadpool.apply(sys.stdin.read)
        gevent.killall(jobs)
        self._runner.quit()

    def _hear(self, environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG002  locust's names
        match msg.data:
            case {"measure_seconds": seconds}:
                gevent.spawn(self._measure, seconds)
            case {"size_bytes": size_bytes}:
                self._users.file_set.use_size(size_bytes)

    def _measure(self, seconds: float) -> None:
        began_at = time.monotonic()
        processor_before = time.process_time()
        held_before = this_process.held_seconds()
        self._users.begin_window()
        gevent.sleep(seconds)

        passed_seconds = time.monotonic() - began_at
        figures = self._users.end_window(
            cpu_percent=100 * (time.process_time() - processor_before) / passed_seconds,
            held_percent=100 * (this_process.held_seconds() - held_before) / passed_seconds,
        )
        self._say(figures)

    def _report(self) -> None:
        while True:
            now = time.monotonic()
            processor_seconds = time.process_time()
            passed_seconds = max(1e-9, now - self._reported_at)
            used_seconds = processor_seconds - self._reported_processor_seconds
            self._reported_at = now
            self._reported_processor_seconds = processor_seconds
            self._say(self._users.end_second(100 * used_seconds / passed_seconds))
            gevent.sleep(REPORT_SECONDS)

    def _say(self, message: WorkerFigures | WorkerSecond) -> None:
        self._runner.send_message(type(message).__name__, messages.plain(message))
