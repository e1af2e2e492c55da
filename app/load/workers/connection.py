"""locust's connection between the engine and its workers, encrypted: nobody else joins it, listens or forges.

A worker is told the engine's public key on its stdin, and only whoever knows that can begin to talk (CurveZMQ); the
socket drops everything else before it is looked at. Source: https://rfc.zeromq.org/spec/26/.
"""

from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import gevent
import zmq
from locust.env import Environment
from locust.exception import RPCError, RPCReceiveError
from locust.rpc import Message, zmqrpc
from locust.runners import MasterRunner, WorkerRunner

LOOPBACK = "127.0.0.1"
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
        """Give nobody up."""
        while True:
            gevent.sleep(3600)

    def handle_message(self, client_id: str, msg: Message) -> None:
        """Heed a message, where it makes sense."""
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
        """Give nobody up."""
        while True:
            gevent.sleep(3600)


def make_worker(environment: Environment, port: int, key: str) -> WorkerRunner:
    """A worker's side."""
    zmqrpc.Client = partial(_WorkerSocket, key.encode())  # type: ignore[misc, assignment]
    environment.runner = worker = _PatientWorker(environment, LOOPBACK, port)
    return worker
