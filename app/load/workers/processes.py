"""The processes that make the load: started here and on other machines, watched, and ended."""

import platform
import subprocess
from contextlib import suppress
from typing import Any

from app import __version__
from app.load.plan import LoadPlan
from app.load.workers.remote import RemoteWorkers
from app.load.workers.start import end_process, start_worker

_LOOPBACK = "127.0.0.1"
HERE = "this machine"
"""What a machine without a name is called."""


class WorkerProcesses:
    """As many processes as the plan wants."""

    def __init__(self, plan: LoadPlan, port: int, token: str) -> None:
        self._plan = plan
        self._port = port
        self._token = token
        self._here: list[subprocess.Popen[str]] = []
        self._elsewhere: list[RemoteWorkers] = []
        self._next_index = 0

    @property
    def count(self) -> int:
        """How many there should be."""
        return self._plan.processes + sum(each.processes for each in self._elsewhere)

    def start_missing(self) -> bool:
        """Start what is missing; whether anything was. Raises MeasurementError."""
        if self._here:
            return False
        self._here = [start_worker(self._order(self._port, self._plan.processes)) for _ in range(self._plan.processes)]
        for host in self._plan.hosts:
            workers = RemoteWorkers(host, self._port)
            self._elsewhere.append(workers)
            workers.begin([self._order(workers.port, workers.processes) for _ in range(workers.processes)])
        return True

    def _order(self, port: int, processes: int) -> dict[str, Any]:
        self._next_index += 1
        return {
            "plan": self._plan.to_json(), "index": self._next_index, "processes": processes, "host": _LOOPBACK,
            "port": port, "token": self._token,
        }  # fmt: skip

    def died(self) -> str | None:
        """What became of a process that should be there; None while all are."""
        for process in self._here:
            code = process.poll()
            if code is not None:
                how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
                return f"a worker process {how} in the middle of the point"
        for workers in self._elsewhere:
            if workers.process.poll() is not None:
                return f"the connection to the workers on {workers.host} ended in the middle of the point"
        return None

    def told(self) -> list[dict[str, Any]]:
        """Which machine has how many, of which version."""
        others = [{"host": each.host, "processes": each.processes, "version": each.version} for each in self._elsewhere]
        return [{"host": platform.node() or HERE, "processes": self._plan.processes, "version": __version__}, *others]

    def end(self) -> None:
        """End them all, by the end of their stdin, and at last by force."""
        for process in self._here:
            with suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()
        for process in self._here:
            end_process(process)
        for workers in self._elsewhere:
            workers.end()
        self._here.clear()
        self._elsewhere.clear()
