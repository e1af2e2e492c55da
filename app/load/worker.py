"""One worker: a process whose greenlets are users, on locust's connection to the engine, which is encrypted.

locust's master tells how many users, the engine when to count. Nobody else joins the connection, listens or forges: a
worker is told the engine's public key on its stdin, and only whoever knows that can begin to talk (CurveZMQ); the
socket drops everything else before it is looked at. Source: https://rfc.zeromq.org/spec/26/.
"""

import sys
import time
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, NoReturn

import gevent
import zmq
from gevent.event import Event
from locust import User
from locust.env import Environment
from locust.exception import RPCError, RPCReceiveError
from locust.rpc import Message, zmqrpc
from locust.runners import MasterRunner, WorkerRunner

from app.child_process import held_seconds
from app.load.users import LoadUser, LoadUsers, sleep_for_ever
from app.load.window import WorkerFigures, WorkerSecond
from app.load.worker_processes import LOOPBACK, WorkerOrder
from app.messages import plain

_MOST_MESSAGE_BYTES, _MOST_WAITING = 2**21, 16
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
    master = Master(environment, LOOPBACK, 0)
    environment.runner = master
    return master, public_key.decode()


class _PatientWorker(WorkerRunner):
    """locust's worker, which waits for a late master: it ends with its stdin."""

    def heartbeat_timeout_checker(self) -> NoReturn:
        sleep_for_ever()


def make_worker(environment: Environment, port: int, key: str) -> WorkerRunner:
    """A worker's side."""
    zmqrpc.Client = partial(_WorkerSocket, key.encode())  # type: ignore[misc, assignment]
    environment.runner = worker = _PatientWorker(environment, LOOPBACK, port)
    return worker


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
