"""One worker: a process whose greenlets are users, on locust's connection to the engine, which is encrypted.

locust's master tells how many users, the engine when to count. Nobody else joins the connection, listens or forges: a
worker is told the engine's public key on its stdin, and only whoever knows that can begin to talk (CurveZMQ); the
socket drops everything else before it is looked at. Source: https://rfc.zeromq.org/spec/26/.
"""

import random
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, NoReturn

import gevent
import zmq
from locust import User
from locust.env import Environment
from locust.exception import RPCError, RPCReceiveError
from locust.rpc import Message, zmqrpc
from locust.runners import MasterRunner, WorkerRunner

from app.base import child_process, errors, messages
from app.clients import base, file_requests, file_tree, registry
from app.load import events as load_events
from app.load import worker_processes
from forms.load.lateness import INTERVAL_SECONDS
from storage.load import records
from storage.records import Target

_LATE_SECONDS = 0.001


class Pacing:
    """The due times of one user's requests, in seconds."""

    def __init__(self, think: records.Think, pace_seconds: float | None, chance: random.Random, now: float) -> None:
        self.late_starts = 0
        self._think = think
        self._pace_seconds = pace_seconds
        self._chance = chance
        self._due = now + chance.random() * (think.seconds if pace_seconds is None else pace_seconds)
        """The first is at a random point of a pause, so that users are out of phase."""
        self._first = True

    def next_due(self, answered_at: float) -> float:
        if self._first:
            self._first = False
        elif self._pace_seconds is None:
            seconds = self._think.seconds
            varies = self._think.exponential and seconds
            self._due = answered_at + (self._chance.expovariate(1 / seconds) if varies else seconds)
        else:
            self._due += self._pace_seconds
            if answered_at > self._due + _LATE_SECONDS:
                self.late_starts += 1
        return self._due


class Mix:
    """The kinds of one user's requests, in turn: each as often as its share says, over any stretch."""

    def __init__(self, shares: Mapping[records.RequestKind, float], chance: random.Random) -> None:
        all_shares = sum(shares.values())
        self._shares = {kind: share / all_shares for kind, share in shares.items()}
        self._credit = {kind: chance.random() for kind in shares}

    def next_kind(self) -> records.RequestKind:
        for kind, share in self._shares.items():
            self._credit[kind] += share
        chosen = max(self._credit, key=self._credit.__getitem__)
        self._credit[chosen] -= 1
        return chosen


_NOTICED_SECONDS = 0.1
_TRIES = 3
_WAIT_TO_TRY_SECONDS = 1.0
_BLOCKING_THREADS = 64
_KINDS: tuple[tuple[type[errors.SharebenchError], str], ...] = (
    (errors.LoginError, "login refused"),
    (errors.UnreachableError, "not reached"),
    (errors.ConnectionLostError, "connection lost"),
    (errors.StalledError, "no answer in time"),
    (errors.NoSpaceError, "no space"),
    (errors.AccessDeniedError, "access denied"),
    (errors.NoSuchFileError, "no such file"),
)
_OTHER = "other"
ERROR_KINDS = frozenset({_OTHER, *(name for _, name in _KINDS)})

clock = time.monotonic


def call_in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    pool = gevent.get_hub().threadpool
    pool.maxsize = max(pool.maxsize, _BLOCKING_THREADS)
    return pool.apply(function, arguments)


def sleep_for_ever() -> NoReturn:
    while True:
        gevent.sleep(3600)


class LoadUsers:
    """All users of one process, and what they do: since the last second, and in the measured window."""

    def __init__(self, plan: load_events.LoadPlan, index: int, processes: int = 1) -> None:
        self.plan = plan
        self.set = file_tree.FileSet(plan.scenario)
        self.all: set[LoadUser] = set()
        self.logins = records.HistogramBuilder()
        self.window: load_events.SteadyWindow | None = None
        self.second = load_events.SteadyWindow(clock())
        self._index = index
        self._processes = processes
        self._next_number = 0

    def next_number(self) -> int:
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
        now = clock()
        if self.window is not None and now - self.window.moved_at > _NOTICED_SECONDS:
            asked_at = min((user.asked_at for user in self.all if user.asked_at is not None), default=now)
            self.window.count_wait(now - asked_at, now)
        for window in (self.window, self.second):
            if window is not None:
                window.count_moved(read_bytes, write_bytes, now)

    def count_error(self, error: errors.SharebenchError) -> None:
        kind_name = next((name for kind, name in _KINDS if isinstance(error, kind)), _OTHER)
        for window in (self.window, self.second):
            if window is not None:
                window.count_error(kind_name, str(error))

    def begin_window(self) -> None:
        self.window = load_events.SteadyWindow(clock(), self.plan.scenario.duration_seconds)
        self.window.edge_seconds = -self._under_way(self.window.began)

    def end_window(self, *, cpu_percent: float, held_percent: float) -> load_events.WorkerFigures:
        window = self.window
        assert window is not None
        self.window = None
        now = clock()

        window.edge_seconds += self._under_way(now)
        for user in self.all:
            if user.asked_at is not None:
                window.count_wait(now - user.asked_at, now)

        return window.figures(
            index=self._index,
            seconds=now - window.began,
            users=len(self.all),
            connected=self.connected,
            absent=next((user.absent(now) for user in self.all if not user.connected), ""),
            logins=self.logins.built(),
            cpu_percent=cpu_percent,
            held_percent=held_percent,
        )

    def _under_way(self, now: float) -> float:
        return sum(now - user.since for user in self.all if user.since is not None)

    def progress(self, cpu_percent: float) -> load_events.WorkerSecond:
        last = self.second
        self.second = load_events.SteadyWindow(clock())
        return load_events.WorkerSecond(
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
        while True:
            due = clock() + INTERVAL_SECONDS
            gevent.sleep(INTERVAL_SECONDS)
            if self.window is not None:
                self.window.lateness.add(max(0.0, clock() - due))


class LoadUser:
    """One user: its own connection, one request after the other."""

    def __init__(self, users: LoadUsers) -> None:
        self._users = users
        self._number = users.next_number()
        plan = users.plan
        self._chance = random.Random(plan.scenario.seed * 1_000_003 + self._number)  # noqa: S311  no secret
        self._files: base.Files = registry.make_files(users.target(), plan.secrets, plan.settings, call_in_thread)
        self.connected = self.given_up = False
        self.since: float | None = None
        """Start of the current pause or request; None without a session."""
        self.asked_at: float | None = None
        """Start of the unanswered request; None in a pause."""
        self._login_at = clock()
        self._login_error = ""
        users.all.add(self)

    def absent(self, now: float) -> str:
        return self._login_error or f"its login has not been answered for {now - self._login_at:.0f} s"

    def live(self) -> None:
        users = self._users
        scenario = users.plan.scenario
        self._connect()
        if not scenario.requests or not self.connected:
            sleep_for_ever()

        work = file_requests.FileRequests(
            self._files,
            users.plan.folder,
            users.set,
            f"u{self._number}",
            scenario.sizes,
            self._chance,
            users.count_moved,
        )
        mix = Mix(scenario.requests, self._chance)
        pacing = Pacing(scenario.think, scenario.pace_seconds, self._chance, clock())
        while True:
            self._turn(work, mix, pacing)

    def _turn(self, work: file_requests.FileRequests, mix: Mix, pacing: Pacing) -> None:
        users = self._users
        answered_at = clock() if self.since is None else self.since
        self.since = answered_at
        late_before = pacing.late_starts
        due = pacing.next_due(answered_at)
        gevent.sleep(max(0.0, due - clock()))

        began = clock()
        self.since = self.asked_at = began
        if users.window is not None:
            users.window.count_pause(began - answered_at)
            users.window.late_starts += pacing.late_starts - late_before

        kind = mix.next_kind()
        try:
            work.do(kind)
        except errors.SharebenchError as error:
            ended = self._take_answer(began)
            if users.window is not None:
                users.window.count_refusal(ended - began)
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
        """Give up after a few refusals, so that no account is locked."""
        for attempt in range(_TRIES):
            began = self._login_at = clock()
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

    def leave(self) -> None:
        self._users.all.discard(self)
        self.connected = False
        self._files.abort()
        with suppress(errors.SharebenchError):
            self._files.close()


_MOST_MESSAGE_BYTES = 2**21
_MOST_WAITING = 16
"""Of what one worker sends; more of it is not taken before the first was read."""


class _EngineSocket(zmqrpc.Server):
    def __init__(self, secret_key: bytes, host: str, _port: int) -> None:
        zmqrpc.BaseSocket.__init__(self, zmq.ROUTER, ipv4_only=True)  # type: ignore[no-untyped-call]
        self.socket.setsockopt(zmq.CURVE_SERVER, 1)
        self.socket.setsockopt(zmq.CURVE_SECRETKEY, secret_key)
        self.socket.setsockopt(zmq.MAXMSGSIZE, _MOST_MESSAGE_BYTES)
        self.socket.setsockopt(zmq.RCVHWM, _MOST_WAITING)
        self.port = self.socket.bind_to_random_port(f"tcp://{host}")

    def recv_from_client(self) -> Any:
        """The next message; one that is none is passed over by locust."""
        try:
            return super().recv_from_client()  # type: ignore[no-untyped-call]
        except (RPCError, RPCReceiveError):
            raise
        except Exception as error:
            raise RPCReceiveError("no message") from error


class _WorkerSocket(zmqrpc.Client):
    def __init__(self, engine_key: bytes, host: str, port: int, identity: str) -> None:
        zmqrpc.BaseSocket.__init__(self, zmq.DEALER, ipv4_only=True)  # type: ignore[no-untyped-call]
        public_key, secret_key = zmq.curve_keypair()
        self.socket.setsockopt(zmq.CURVE_SERVERKEY, engine_key)
        self.socket.setsockopt(zmq.CURVE_PUBLICKEY, public_key)
        self.socket.setsockopt(zmq.CURVE_SECRETKEY, secret_key)
        self.socket.setsockopt(zmq.IDENTITY, identity.encode())
        self.socket.connect(f"tcp://{host}:{port}")


class Master(MasterRunner):
    """locust's master, whom no message of a worker ends, and which counts no worker out for being late.

    locust would start no users on a worker that a busy machine kept waiting for four seconds, and end those it has. A
    worker that died is noticed by its process.
    """

    def heartbeat_worker(self) -> NoReturn:
        sleep_for_ever()

    def handle_message(self, client_id: str, msg: Message) -> None:
        with suppress(Exception):
            super().handle_message(client_id, msg)


def make_master(environment: Environment) -> tuple[Master, str]:
    """The engine's side, on a port of the loopback, and the key that a worker needs."""
    public_key, secret_key = zmq.curve_keypair()
    zmqrpc.Server = partial(_EngineSocket, secret_key)  # type: ignore[misc, assignment]
    environment.runner = master = Master(environment, worker_processes.LOOPBACK, 0)
    return master, public_key.decode()


class _PatientWorker(WorkerRunner):
    """locust's worker, which waits for a late master: it ends with its stdin."""

    def heartbeat_timeout_checker(self) -> NoReturn:
        sleep_for_ever()


ORDER = "sharebench-order"
"""The kind of the engine's messages through locust's connection; those of workers are named by their records."""
REPORT_SECONDS = 1.0


class FileUser(User):
    """locust's user, which lives as a :class:`LoadUser` of this process's users."""

    users: ClassVar[LoadUsers | None] = None

    def on_start(self) -> None:
        assert self.users is not None
        user = LoadUser(self.users)
        try:
            user.live()
        finally:
            user.leave()


class Worker:
    """This process's users, driven by locust, and what the engine is told of them once a second."""

    def __init__(self, order: worker_processes.WorkerOrder) -> None:
        self._users = FileUser.users = LoadUsers(order.plan, order.index, order.processes)
        self._reported_at = time.monotonic()
        self._reported_processor_seconds = time.process_time()

        environment = Environment(user_classes=[FileUser])
        zmqrpc.Client = partial(_WorkerSocket, order.key.encode())  # type: ignore[misc, assignment]
        environment.runner = self._runner = _PatientWorker(environment, worker_processes.LOOPBACK, order.port)
        self._runner.register_message(ORDER, self._hear)

    def work(self) -> None:
        jobs = [gevent.spawn(self._report), gevent.spawn(self._users.watch_lateness)]
        gevent.get_hub().threadpool.apply(sys.stdin.read)
        gevent.killall(jobs)
        self._runner.quit()

    def _hear(self, environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG002  locust's names
        match msg.data:
            case {"measure_seconds": seconds}:
                gevent.spawn(self._measure, seconds)
            case {"size_bytes": size_bytes}:
                self._users.set.use_size(size_bytes)

    def _measure(self, seconds: float) -> None:
        began_at = time.monotonic()
        processor_before = time.process_time()
        held_before = child_process.held_seconds()
        self._users.begin_window()
        gevent.sleep(seconds)

        passed_seconds = time.monotonic() - began_at
        figures = self._users.end_window(
            cpu_percent=100 * (time.process_time() - processor_before) / passed_seconds,
            held_percent=100 * (child_process.held_seconds() - held_before) / passed_seconds,
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
            self._say(self._users.progress(100 * used_seconds / passed_seconds))
            gevent.sleep(REPORT_SECONDS)

    def _say(self, message: load_events.WorkerFigures | load_events.WorkerSecond) -> None:
        self._runner.send_message(type(message).__name__, messages.plain(message))
