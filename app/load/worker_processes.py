"""The worker processes of a load: started here and on other machines, watched, and ended.

On another machine ssh runs ``sharebench load-worker``. It says its version and how many processors it has, is told a
WorkerOrder on its stdin, starts one worker for each processor, and ends them when ssh hangs up.
"""

import json
import os
import platform
import secrets
import select
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from app import __version__
from app.base import child_process, messages
from app.base.errors import MeasurementError
from app.load.events import LoadPlan
from app.server import running_program, shell
from storage import json_reader
from storage.load.records import LoadWorker

MOST_PROCESSES = 4096
LOOPBACK = "127.0.0.1"
_FIRST_PORT = 20_000
_PORTS = 12_000
"""Below the ports that Linux gives to connections of its own accord."""
_END_SECONDS = 5.0
"""For a worker to end before it is killed."""
_LOOK_SECONDS = 0.5
"""How often the workers of another machine are looked at there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOrder:
    """What one worker process is to do, or all of another machine together."""

    plan: LoadPlan
    index: int
    """Of the process in the whole load, or of the machine's first one."""
    processes: int
    """Of this machine."""
    port: int
    """The engine's, on the loopback; on another machine ssh forwards it."""
    key: str
    """The engine's public key: only who knows it can connect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Greeting:
    """What ``load-worker`` says first."""

    version: str
    processes: Annotated[int, json_reader.up_to(MOST_PROCESSES, at_least=1)]


def start_worker(order: WorkerOrder) -> child_process.ChildProcess:
    process = child_process.ChildProcess("app.load.process", "worker", grace_seconds=_END_SECONDS)
    process.say(order)
    return process


def end_workers(workers: Sequence[child_process.ChildProcess]) -> None:
    for worker in workers:
        worker.cancel()
    for worker in workers:
        worker.close()


def serve_workers() -> int:
    """Say who we are, start the workers that the other machine orders, end with stdin or with the first that dies."""
    sys.stdout.write(messages.line_of(_Greeting(version=__version__, processes=len(os.sched_getaffinity(0)))) + "\n")
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        return 0
    order: WorkerOrder = messages.message_of(line, [WorkerOrder])

    workers = [start_worker(replace(order, index=order.index + number)) for number in range(order.processes)]
    stdin_has_ended = False
    while not stdin_has_ended and not any(worker.has_ended for worker in workers):
        readable, _, _ = select.select([sys.stdin], [], [], _LOOK_SECONDS)
        stdin_has_ended = bool(readable)
    end_workers(workers)
    return 0


class RemoteWorkers:
    """All workers of one other machine, as many as it has processors; its ssh ends when one of them does."""

    def __init__(self, host: str, port: int) -> None:
        """Start ``sharebench load-worker`` on ``[USER@]HOST``, with our ``port`` there. Raises MeasurementError."""
        self.host = host
        self._port = _FIRST_PORT + secrets.randbelow(_PORTS)

        forward = ("-o", "ExitOnForwardFailure=yes", "-R", f"{LOOPBACK}:{self._port}:{LOOPBACK}:{port}")
        try:
            self.program = running_program.RunningProgram(
                shell.ServerShell(host).words("sharebench load-worker", *forward)
            )
        except OSError as error:
            raise MeasurementError(f"no workers on {host}: `ssh` cannot be run here ({error.strerror})") from error

        try:
            # Any version may answer, so its greeting is read before the versions are compared.
            greeting = json_reader.JSONNode("", json.loads(self.program.line(shell.RUN_SECONDS))).record(_Greeting)
        except (json_reader.DocumentError, ValueError, RecursionError) as error:
            last_words = self.program.wait(1.0).last_words
            raise MeasurementError(
                f"no workers on {host}: {last_words}; `ssh {host} sharebench --version` must work without a question"
            ) from error

        self.processes = greeting.processes
        if greeting.version != __version__:
            self.program.end()
            raise MeasurementError(
                f"no workers on {host}: it has sharebench {greeting.version[:40]!r} and this is {__version__}; install "
                "the same"
            )

    def begin(self, plan: LoadPlan, first_index: int, key: str) -> None:
        """Have the machine start its workers, numbered from ``first_index`` on."""
        order = WorkerOrder(plan=plan, index=first_index, processes=self.processes, port=self._port, key=key)
        self.program.tell(messages.line_of(order) + "\n")


HERE = "this machine"


class WorkerProcesses:
    """All worker processes of a load, here and on other machines."""

    def __init__(self, plan: LoadPlan, port: int, key: str) -> None:
        self._plan = plan
        self._port = port
        self._key = key
        self._here: list[child_process.ChildProcess] = []
        self._elsewhere: list[RemoteWorkers] = []
        self.indexes = range(0)
        """Of the workers that run: only their messages count."""

    @property
    def count(self) -> int:
        return self._plan.processes + sum(workers.processes for workers in self._elsewhere)

    def start_missing(self) -> None:
        """Start all, unless they run. Raises MeasurementError."""
        if self._here:
            return

        # Indexes go on from those of processes that ended, so that no late message of theirs is counted.
        first = max(1, self.indexes.stop)
        plan = self._plan
        self._here = [
            start_worker(WorkerOrder(plan=plan, index=index, processes=plan.processes, port=self._port, key=self._key))
            for index in range(first, first + plan.processes)
        ]

        for host in plan.hosts:
            workers = RemoteWorkers(host, self._port)
            workers.begin(plan, first + self.count, self._key)
            self._elsewhere.append(workers)
        self.indexes = range(first, first + self.count)

    def died(self) -> str | None:
        """Which worker has ended, in words; None while all run."""
        for process in self._here:
            if process.has_ended:
                return f"a worker process {process.how_it_ended()} in the middle of the point"
        for workers in self._elsewhere:
            if workers.program.has_ended:
                return f"the connection to the workers on {workers.host} ended in the middle of the point"
        return None

    def machines(self) -> tuple[LoadWorker, ...]:
        """What the notebook keeps of who made the load."""
        counts = {platform.node() or HERE: self._plan.processes}
        counts |= {workers.host: workers.processes for workers in self._elsewhere}
        return tuple(LoadWorker(host=host, processes=count, version=__version__) for host, count in counts.items())

    def end(self) -> None:
        end_workers(self._here)
        for workers in self._elsewhere:
            workers.program.end()
        self._here.clear()
        self._elsewhere.clear()
        self.indexes = range(self.indexes.stop, self.indexes.stop)
