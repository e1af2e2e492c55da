"""A process of ours that is told lines on its stdin and answers in lines on its stdout, and how it ended."""

import contextlib
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from typing import IO

from app.children import end_input, own_command, own_environment

_TOLD_BYTES = 4000
"""Of what it said on stderr."""


class ChildProcess:
    """One process of ours. The end of its stdin cancels it, whereupon it cleans up after itself, and ends."""

    def __init__(self, module: str, *arguments: str, grace_seconds: float) -> None:
        """Start ``module``, which may take ``grace_seconds`` to clean up before it is killed."""
        self._grace_seconds = grace_seconds
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed in close
        self._process = subprocess.Popen(
            own_command(module, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=own_environment(),
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def say(self, line: str) -> None:
        """Write a line to it; one that is gone has no use for it, and its end is seen by who reads."""
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def lines(self) -> Iterator[str]:
        """Its whole lines up to its end; what it died in the middle of is not among them."""
        assert self._process.stdout
        while (line := self._process.stdout.readline()).endswith("\n"):
            yield line

    def cancel(self) -> None:
        """Have it stop and clean up, without waiting for that. May be called from any thread, also by a signal."""
        assert self._process.stdin
        end_input(self._process.stdin)

    def close(self) -> None:
        """Cancel it, and wait for its end."""
        self.cancel()
        assert self._process.stdout
        self._process.stdout.close()  # first: a process that waits for room in the pipe could not clean up
        self._wait()
        self._errors.close()

    def how_it_ended(self) -> str:
        """Its end, which is waited for: "ended with exit code 1" and the last line that it said on stderr."""
        code = self._wait()
        how = (
            f"was ended by signal {-code} ({signal.Signals(-code).name})"
            if code < 0
            else f"ended with exit code {code}"
        )
        self._errors.seek(0)
        last = self._errors.read()[-_TOLD_BYTES:].decode(errors="replace").strip().splitlines()
        return f"{how}: {last[-1]}" if last else how

    def _wait(self) -> int:
        try:
            return self._process.wait(self._grace_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
