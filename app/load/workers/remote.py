"""Workers on another machine: started there through ssh, which carries locust's port back."""

import json
import secrets
from dataclasses import dataclass
from typing import Annotated

from app import __version__
from app.errors import MeasurementError
from app.load.workers.connection import LOOPBACK
from app.load.workers.start import WorkerOrder
from app.server.shell import RUN_SECONDS, RunningProgram, ServerShell
from storage.json_reader import DocumentError, JSONNode, up_to

MOST_PROCESSES = 4096
_FIRST_PORT, _PORTS = 20_000, 12_000
"""Below the ports that Linux gives to connections of its own accord."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Greeting:
    """What the other machine says first."""

    version: str
    processes: Annotated[int, up_to(MOST_PROCESSES, at_least=1)]


class RemoteWorkers:
    """All workers of one other machine, as many as it has processors; its ssh ends when one of them does."""

    def __init__(self, host: str, port: int) -> None:
        """Start ``sharebench load-worker`` on ``[USER@]HOST``, with our ``port`` there. Raises MeasurementError."""
        self.host = host
        self._port = _FIRST_PORT + secrets.randbelow(_PORTS)
        forward = ("-o", "ExitOnForwardFailure=yes", "-R", f"{LOOPBACK}:{self._port}:{LOOPBACK}:{port}")
        try:
            self._program = RunningProgram(ServerShell(host).words("sharebench load-worker", *forward))
        except OSError as error:
            raise MeasurementError(f"no workers on {host}: `ssh` cannot be run here ({error.strerror})") from error
        try:
            greeting = JSONNode("", json.loads(self._program.line(RUN_SECONDS))).record(_Greeting)
        except (DocumentError, ValueError, RecursionError) as error:
            said = self._program.wait(1.0).last_words
            raise MeasurementError(
                f"no workers on {host}: {said}; `ssh {host} sharebench --version` must work without a question"
            ) from error
        self.processes = greeting.processes
        if greeting.version != __version__:
            self.end()
            raise MeasurementError(
                f"no workers on {host}: it has sharebench {greeting.version[:40]!r} and this is {__version__}; install "
                "the same"
            )

    @property
    def have_ended(self) -> bool:
        """Whether the connection to them has."""
        return self._program.has_ended

    def begin(self, plan: str, first_index: int, key: str) -> None:
        """Give its processes what they are to do."""
        order = WorkerOrder(plan=plan, index=first_index, processes=self.processes, port=self._port, key=key)
        self._program.tell(order.to_json() + "\n")

    def end(self) -> None:
        """End them, by the end of stdin, and at last by force."""
        self._program.end()
