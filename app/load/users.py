"""The users of one worker process of a load: what each does, and what all of them together count.

A user is a greenlet with a connection and a login of its own. `app.load.worker` starts and ends them through locust.
"""

import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import gevent

from app.base import errors
from app.clients import base, file_requests, file_tree, registry
from app.load import worker_figures
from app.load.events import LoadPlan
from app.load.pacing import Mix, Pacing
from forms.load.lateness import INTERVAL_SECONDS
from storage.load import records
from storage.records import Target

_NOTICED_SECONDS = 0.1
"""After that long without bytes it is looked who has waited how long: at every block that would cost too much."""
_TRIES = 3
_WAIT_TO_TRY_SECONDS = 1.0
"""Before the second login; twice that before the third."""
_BLOCKING_THREADS = 64
"""Calls on local files, which would block all greenlets, at the same time."""
_ERROR_NAMES: tuple[tuple[type[errors.SharebenchError], str], ...] = (
    (errors.LoginError, "login refused"),
    (errors.UnreachableError, "not reached"),
    (errors.ConnectionLostError, "connection lost"),
    (errors.StalledError, "no answer in time"),
    (errors.NoSpaceError, "no space"),
    (errors.AccessDeniedError, "access denied"),
    (errors.NoSuchFileError, "no such file"),
)
_OTHER = "other"
ERROR_KINDS = frozenset({_OTHER, *(name for _, name in _ERROR_NAMES)})
"""By these names errors are counted."""

clock = time.monotonic


def call_in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call what would block all greenlets, such as reading a local file, in a thread of its own."""
    pool = gevent.get_hub().threadpool
    pool.maxsize = max(pool.maxsize, _BLOCKING_THREADS)
    return pool.apply(function, arguments)


def sleep_for_ever() -> NoReturn:
    while True:
        gevent.sleep(3600)


class LoadUsers:
    """All users of one process, and what they do: since the last second, and in the measured window."""

    def __init__(self, plan: LoadPlan, index: int, processes: int = 1) -> None:
        """``index`` is the number of this process in the load, which has that many ``processes``."""
        self.plan = plan
        self.file_set = file_tree.FileSet(plan.scenario)
        self.all: set[LoadUser] = set()
        self.logins = records.HistogramBuilder()
        self.window: worker_figures.SteadyWindow | None = None
        """The measured window of a point; None while nothing is measured."""
        self.second = worker_figures.SteadyWindow(clock())
        """What was counted since the last report, a second ago."""
        self._index = index
        self._processes = processes
        self._next_number = 0

    def next_number(self) -> int:
        """A number that no other user of the load has, whatever process it is of: its last digits are the process's."""
        self._next_number += 1
        thousands, index = divmod(self._index, 1000)
        return 10**9 * thousands + 1000 * self._next_number + index

    def target(self) -> Target:
        """The newest user's target: round-robin, across processes too."""
        return self.plan.targets[(self._next_number * self._processes + self._index) % len(self.plan.targets)]

    @property
    def connected(self) -> int:
        return sum(user.connected for user in self.all)

    @property
    def given_up(self) -> int:
        return sum(user.given_up for user in self.all)

    def count_moved(self, read_bytes: int, write_bytes: int) -> None:
        """Bytes have moved, which ends a silence if there was one."""
        now = clock()
        if self.window is not None and now - self.window.moved_at > _NOTICED_SECONDS:
            asked_at = min((user.asked_at for user in self.all if user.asked_at is not None), default=now)
            self.window.count_wait(now - asked_at, now)
        for window in (self.window, self.second):
            if window is not None:
                window.count_moved(read_bytes, write_bytes, now)

    def count_error(self, error: errors.SharebenchError) -> None:
        kind_name = next((name for kind, name in _ERROR_NAMES if isinstance(error, kind)), _OTHER)
        for window in (self.window, self.second):
            if window is not None:
                window.count_error(kind_name, str(error))

    def begin_window(self) -> None:
        """Count from now on. Of what is under way, the part before now is taken off (``edge_seconds``)."""
        self.window = worker_figures.SteadyWindow(clock(), self.plan.scenario.duration_seconds)
        self.window.edge_seconds = -self._seconds_under_way(self.window.began)

    def end_window(self, *, cpu_percent: float, held_percent: float) -> worker_figures.WorkerFigures:
        window = self.window
        assert window is not None
        self.window = None
        now = clock()

        window.edge_seconds += self._seconds_under_way(now)
        for user in self.all:
            if user.asked_at is not None:
                window.count_wait(now - user.asked_at, now)

        return window.figures(
            index=self._index,
            seconds=now - window.began,
            users=len(self.all),
            connected=self.connected,
            absent=next((user.reason_for_absence(now) for user in self.all if not user.connected), ""),
            logins=self.logins.built(),
            cpu_percent=cpu_percent,
            held_percent=held_percent,
        )

    def _seconds_under_way(self, now: float) -> float:
        """How long the pauses and requests that have not ended have taken by now, all together."""
        return sum(now - user.since for user in self.all if user.since is not None)

    def end_second(self, cpu_percent: float) -> worker_figures.WorkerSecond:
        last = self.second
        self.second = worker_figures.SteadyWindow(clock())
        return worker_figures.WorkerSecond(
            index=self._index,
            users=len(self.all),
            connected=self.connected,
            given_up=self.given_up,
            requests=last.requests,
            read_bytes=last.read_bytes,
            write_bytes=last.write_bytes,
            errors=last.errors,
            first_error=last.first_error,
            response=last.response.built(),
            cpu_percent=cpu_percent,
        )

    def watch_lateness(self) -> None:
        """Sleep again and again, and count how late this process wakes: that much its times are wrong."""
        while True:
            due = clock() + INTERVAL_SECONDS
            gevent.sleep(INTERVAL_SECONDS)
            if self.window is not None:
                self.window.lateness.add(max(0.0, clock() - due))


class LoadUser:
    """One user: its own connection, one request after the other.

    locust starts a greenlet that calls :meth:`live` and is killed when the user is to leave; then :meth:`leave`.
    """

    def __init__(self, users: LoadUsers) -> None:
        self._users = users
        self._number = users.next_number()
        plan = users.plan
        self._chance = random.Random(plan.scenario.seed * 1_000_003 + self._number)  # noqa: S311  no secret
        self._files: base.Files = registry.make_files(users.target(), plan.secrets, plan.settings, call_in_thread)
        self.connected = False
        self.given_up = False
        """Whether it tries no further login."""
        self.since: float | None = None
        """Start of the current pause or request; None without a session."""
        self.asked_at: float | None = None
        """Start of the unanswered request; None in a pause."""
        self._login_at = clock()
        self._login_error = ""
        self._hung_up = False
        """Whether it is to leave."""
        users.all.add(self)

    def reason_for_absence(self, now: float) -> str:
        """Why it has no session, where it has none."""
        return self._login_error or f"its login has not been answered for {now - self._login_at:.0f} s"

    def live(self) -> None:
        """Log in, and make requests until the greenlet is killed."""
        users = self._users
        scenario = users.plan.scenario
        self._connect()
        if not scenario.requests or not self.connected:
            sleep_for_ever()

        work = file_requests.FileRequests(
            self._files,
            users.plan.folder,
            users.file_set,
            f"u{self._number}",
            scenario.sizes,
            self._chance,
            users.count_moved,
        )
        mix = Mix(scenario.requests, self._chance)
        pacing = Pacing(scenario.think, scenario.pace_seconds, self._chance, clock())
        while True:
            self._pause_and_request(work, mix, pacing)

    def _pause_and_request(self, work: file_requests.FileRequests, mix: Mix, pacing: Pacing) -> None:
        users = self._users
        # The pause began with the last answer; before the first request, now.
        answered_at = clock() if self.since is None else self.since
        self.since = answered_at
        late_before = pacing.late_starts
        due = pacing.next_due(answered_at)
        gevent.sleep(max(0.0, due - clock()))

        began = clock()
        self.since = began
        self.asked_at = began
        if users.window is not None:
            users.window.count_pause(began - answered_at)
            users.window.late_starts += pacing.late_starts - late_before

        kind = mix.next_kind()
        try:
            work.do(kind)
        except errors.SharebenchError as error:
            if self._hung_up:
                # The error of closing a file took the place of the kill.
                raise gevent.GreenletExit from error
            ended = self._take_answer(began)
            if users.window is not None:
                users.window.count_failure(ended - began)
            users.count_error(error)
            self._connect_after_error()
            return

        ended = self._take_answer(began)
        users.second.count_request(kind, due, began, ended)
        if users.window is not None:
            users.window.count_request(kind, due, began, ended)

    def _take_answer(self, began: float) -> float:
        """When the request that began then was answered: now."""
        ended = clock()
        self.asked_at = None
        self.since = ended
        if self._users.window is not None:
            self._users.window.count_answer(ended - began, ended)
        return ended

    def _connect_after_error(self) -> None:
        try:
            self._files.connect()
        except errors.SharebenchError:
            self.connected = False
            self.since = None
            self._connect()
            self.since = clock()

    def _connect(self) -> None:
        """Log in; give up, and never return, after a few refusals, so that no account is locked."""
        for attempt in range(_TRIES):
            began = clock()
            self._login_at = began
            try:
                self._files.connect()
            except errors.SharebenchError as error:
                self._users.count_error(error)
                self._login_error = str(error)
                if attempt < _TRIES - 1:
                    gevent.sleep(_WAIT_TO_TRY_SECONDS * (attempt + 1))
            else:
                self._users.logins.add(clock() - began)
                self.connected = True
                self._login_error = ""
                return

        self.given_up = True
        sleep_for_ever()

    def hang_up(self) -> None:
        """Cut its connection, whatever it waits for, before it is killed; safe from another greenlet."""
        self._hung_up = True
        self._files.abort()

    def leave(self) -> None:
        self._users.all.discard(self)
        self.connected = False
        self.hang_up()
        with suppress(errors.SharebenchError):
            self._files.close()
