"""The connection between the engine (locust's master) and its workers, which is encrypted.

locust's own sockets would take any connection and any message. Ours let nobody else join, listen or forge: a worker is
told the engine's public key on its stdin, and only whoever knows that can begin to talk (CurveZMQ); the socket drops
everything else before it is looked at. Source: https://rfc.zeromq.org/spec/26/.

locust makes its sockets from names of its module ``zmqrpc``: these are replaced before a runner is made.
"""

import os
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import zmq
from locust.env import Environment
from locust.exception import RPCError, RPCReceiveError
from locust.rpc import Message, zmqrpc
from locust.runners import MasterRunner, WorkerRunner

from app.load.users import sleep_for_ever
from app.load.worker_processes import LOOPBACK

_MOST_MESSAGE_BYTES = 2**21
_MOST_WAITING = 16
"""Of what one worker sends; more of it is not taken before the first was read."""


class _EngineSocket(zmqrpc.Server):
    """The engine's end: whoever does not know its public key cannot talk to it."""

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
    """A worker's end, which encrypts for the engine with that key."""

    def __init__(self, engine_key: bytes, host: str, port: int, identity: str) -> None:
        zmqrpc.BaseSocket.__init__(self, zmq.DEALER, ipv4_only=True)  # type: ignore[no-untyped-call]
        public_key, secret_key = zmq.curve_keypair()
        self.socket.setsockopt(zmq.CURVE_SERVERKEY, engine_key)
        self.socket.setsockopt(zmq.CURVE_PUBLICKEY, public_key)
        self.socket.setsockopt(zmq.CURVE_SECRETKEY, secret_key)
        self.socket.setsockopt(zmq.IDENTITY, identity.encode())
        self.socket.connect(f"tcp://{host}:{port}")


class Master(MasterRunner):
    """locust's master, which a wrong message of a worker does not end, and which takes no worker that is late for dead.

    locust's own would start no users on a worker that a busy machine kept waiting for four seconds, and end those it
    has. That a worker died is noticed by its process.
    """

    def heartbeat_worker(self) -> NoReturn:
        sleep_for_ever()

    def handle_message(self, client_id: str, msg: Message) -> None:
        with suppress(Exception):
            super().handle_message(client_id, msg)


def make_master(environment: Environment) -> tuple[Master, str]:
    """The engine's side, on a port of the loopback, and the key that a worker needs."""
    # locust would wait for a report of each worker after a ramp; here the workers report each second.
    os.environ["LOCUST_WAIT_FOR_WORKERS_REPORT_AFTER_RAMP_UP"] = "0"
    public_key, secret_key = zmq.curve_keypair()
    zmqrpc.Server = partial(_EngineSocket, secret_key)  # type: ignore[misc, assignment]
    environment.runner = master = Master(environment, LOOPBACK, 0)
    return master, public_key.decode()


class PatientWorker(WorkerRunner):
    """locust's worker, which waits for a master that is late: the worker process ends with its stdin."""

    def heartbeat_timeout_checker(self) -> NoReturn:
        sleep_for_ever()


def make_worker(environment: Environment, key: str, port: int) -> PatientWorker:
    """A worker's side, connected to the engine's port on the loopback; ``key`` is the engine's public one."""
    zmqrpc.Client = partial(_WorkerSocket, key.encode())  # type: ignore[misc, assignment]
    environment.runner = worker = PatientWorker(environment, LOOPBACK, port)
    return worker
