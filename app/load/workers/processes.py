"""The processes that make the load: started here and on other machines, watched, and ended."""

import platform
import subprocess
from contextlib import suppress

from app import __version__
from app.load.plan import LoadPlan
from app.load.workers.remote import RemoteWorkers
from app.load.workers.start import WorkerOrder, end_process, start_worker
from storage.loads.records import LoadWorker

HERE = "this machine"
"""What a machine without a name is called."""


class WorkerProcesses:
    """As many processes as the plan wants."""

    def __init__(self, plan: LoadPlan, port: int, key: str) -> None:
        self._plan = plan
        self._port = port
        self._key = key
        self._here: list[subprocess.Popen[str]] = []
        self._elsewhere: list[RemoteWorkers] = []
        self.indexes = range(0)
        """Of the processes that there are now."""

    @property
    def count(self) -> int:
        """How many there should be."""
        return self._plan.processes + sum(each.processes for each in self._elsewhere)

    def start_missing(self) -> bool:
        """Start what is missing; whether anything was. Raises MeasurementError."""
        if self._here:
            return False
        plan, here, first = self._plan.to_json(), self._plan.processes, max(1, self.indexes.stop)
        self._here = [
            start_worker(WorkerOrder(plan=plan, index=index, processes=here, port=self._port, key=self._key))
            for index in range(first, first + here)
        ]
        for host in self._plan.hosts:
            workers = RemoteWorkers(host, self._port)
            workers.begin(plan, first + self.count, self._key)
            self._elsewhere.append(workers)
        self.indexes = range(first, first + self.count)
        return True

    def died(self) -> str | None:
        """What became of a process that should be there; None while all are."""
        for process in self._here:
            code = process.poll()
            if code is not None:
                how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
                return f"a worker process {how} in the middle of the point"
        for workers in self._elsewhere:
            if workers.have_ended:
                return f"the connection to the workers on {workers.host} ended in the middle of the point"
        return None

    def machines(self) -> tuple[LoadWorker, ...]:
        """Which machine has how many; all are of one version."""
        counts = {platform.node() or HERE: self._plan.processes} | {
            each.host: each.processes for each in self._elsewhere
        }
        return tuple(LoadWorker(host=host, processes=count, version=__version__) for host, count in counts.items())

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
        self.indexes = range(self.indexes.stop, self.indexes.stop)
