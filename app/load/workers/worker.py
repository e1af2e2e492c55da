"""One worker: a process whose greenlets are users, told by locust's master how many, and by us when to count."""

import sys
import time
from typing import Any, ClassVar

import gevent
from gevent.event import Event
from locust import User
from locust.env import Environment

from app.children import held_seconds
from app.load.plan import LoadPlan
from app.load.users import LoadUser, LoadUsers
from app.load.window import packed

MESSAGE = "sharebench"
"""The kind of all messages of ours through locust's connection."""
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

    def __init__(self, plan: LoadPlan, index: int, processes: int, host: str, port: int, token: str) -> None:
        self._users = FileUser.users = LoadUsers(plan, index, processes)
        self._token = token
        self._index = index
        self._stop = Event()
        self._last = (time.monotonic(), time.process_time())
        self._runner = Environment(user_classes=[FileUser]).create_worker_runner(host, port)
        self._runner.register_message(MESSAGE, self._hear)

    def work(self) -> None:
        """Be there until stdin ends."""
        jobs = [gevent.spawn(self._report), gevent.spawn(self._users.watch_lateness, self._stop)]
        gevent.get_hub().threadpool.apply(sys.stdin.read)
        self._stop.set()
        gevent.killall(jobs)
        self._runner.quit()

    def _hear(self, environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG002  locust's names
        if msg.data["token"] != self._token:
            return
        if msg.data["what"] == "measure":
            gevent.spawn(self._measure, msg.data["seconds"])
        else:
            self._users.use_size(msg.data["size_bytes"])

    def _measure(self, seconds: float) -> None:
        began, processor, held = time.monotonic(), time.process_time(), held_seconds()
        self._users.begin_window()
        gevent.sleep(seconds)
        figures = self._users.end_window()
        passed = time.monotonic() - began
        figures |= {
            "cpu_percent": 100 * (time.process_time() - processor) / passed,
            "held_percent": 100 * (held_seconds() - held) / passed,
            "logins": packed(self._users.logins.built()),
        }
        self._say("measured", figures)

    def _report(self) -> None:
        while True:
            gevent.sleep(REPORT_SECONDS)
            now, before = (time.monotonic(), time.process_time()), self._last
            self._last = now
            used = 100 * (now[1] - before[1]) / max(1e-9, now[0] - before[0])
            self._say("second", self._users.progress() | {"cpu_percent": used})

    def _say(self, what: str, figures: dict[str, Any]) -> None:
        self._runner.send_message(MESSAGE, {"what": what, "token": self._token, "index": self._index, **figures})
