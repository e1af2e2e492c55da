"""The processes that make the load: started here and on other machines through ssh, watched, and ended."""

import json
import subprocess
from contextlib import suppress
from typing import Any

from app import __version__
from app.children import own_command, own_environment
from app.load.plan import LoadPlan

LOOPBACK = "127.0.0.1"
_END_SECONDS = 5.0


class WorkerProcesses:
    """As many processes as the plan wants."""

    def __init__(self, plan: LoadPlan, port: int, token: str) -> None:
        self._plan = plan
        self._port = port
        self._token = token
        self._running: dict[int, subprocess.Popen[str]] = {}
        self._next_index = 0

    @property
    def count(self) -> int:
        """How many there should be."""
        return self._plan.processes

    def start_missing(self) -> bool:
        """Start what is missing; whether anything was."""
        missing = self._plan.processes - len(self._running)
        for _ in range(missing):
            self._start_one()
        return missing > 0

    def _start_one(self) -> None:
        index = self._next_index
        self._next_index += 1
        process = subprocess.Popen(
            own_command("app.load.process", "worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=own_environment(),
        )
        self._running[index] = process
        order: dict[str, Any] = {
            "plan": self._plan.to_json(), "index": index, "host": LOOPBACK, "port": self._port, "token": self._token,
        }  # fmt: skip
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()

    def died(self) -> str | None:
        """What became of a process that should be there; None while all are."""
        for process in self._running.values():
            code = process.poll()
            if code is not None:
                how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
                return f"a worker process {how} in the middle of the point"
        return None

    def told(self) -> list[dict[str, Any]]:
        """Which machine has how many, of which version."""
        return [{"host": "this machine", "processes": self._plan.processes, "version": __version__}]

    def end(self) -> None:
        """End them all, by the end of their stdin, and at last by force."""
        for process in self._running.values():
            with suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()
        for process in self._running.values():
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()
