"""Workers on another machine: started there through ssh, which carries locust's port back."""

import json
import secrets
import subprocess
from contextlib import suppress
from typing import Any

from app import __version__
from app.children import clean_environment
from app.errors import MeasurementError
from app.load.workers.start import end_process

SSH_WORDS = (
    "ssh", "-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-o", "ControlMaster=no",
    "-o", "ExitOnForwardFailure=yes",
)  # fmt: skip
_LOOPBACK = "127.0.0.1"
_FIRST_PORT, _PORTS = 20_000, 12_000
"""Below the ports that Linux gives to connections of its own accord."""


class RemoteWorkers:
    """All workers of one other machine, as many as it has processors; its ssh ends when one of them does."""

    def __init__(self, host: str, port: int) -> None:
        """Start ``sharebench load-worker`` on ``[USER@]HOST``, with our ``port`` there. Raises MeasurementError."""
        self.host = host
        self.port = _FIRST_PORT + secrets.randbelow(_PORTS)
        self.process = subprocess.Popen(
            [*SSH_WORDS, "-R", f"{_LOOPBACK}:{self.port}:{_LOOPBACK}:{port}", "--", host, "sharebench load-worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            errors="replace", env=clean_environment(),
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        try:
            told = json.loads(line)
            self.version, self.processes = str(told["version"]), int(told["processes"])
        except (ValueError, LookupError, TypeError) as error:
            said = self._last_words()
            self.end()
            raise MeasurementError(
                f"no workers on {host}: {said or 'it said nothing'}; `ssh {host} sharebench --version` must work "
                "without a question"
            ) from error
        if self.version != __version__:
            self.end()
            raise MeasurementError(
                f"no workers on {host}: it has sharebench {self.version} and this is {__version__}; install the same"
            )

    def begin(self, orders: list[dict[str, Any]]) -> None:
        """Give each of its processes what it is to do."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.write(json.dumps([order | {"port": self.port} for order in orders]) + "\n")
            self.process.stdin.flush()

    def end(self) -> None:
        """End them, by the end of stdin, and at last by force."""
        with suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()
        end_process(self.process)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _last_words(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        if self.process.poll() is None:
            return ""
        assert self.process.stderr is not None
        lines = self.process.stderr.read().strip().splitlines()
        return lines[-1] if lines else ""
