"""Our own child processes: started with secrets by their stdin alone, cancelled by its end, ended with their parent.

What they and we say to each other is in :mod:`app.base.messages`.
"""

import contextlib
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol

from app.base.messages import message_of, send
from app.base.this_process import need_linux
from storage.programs import clean_environment

_ROOT = Path(__file__).resolve().parents[2]


def own_command(module: str, *arguments: str) -> list[str]:
    """The command line of our module, not looked for in the current folder (``-P``). Raises LinuxNeededError."""
    need_linux("measuring")
    return [sys.executable, "-P", "-m", module, *arguments]


def own_environment() -> dict[str, str]:
    """The environment of our child process: with the path to these packages, and without secrets."""
    return clean_environment(PYTHONPATH=str(_ROOT))


def end_input(pipe: IO[str]) -> None:
    """Close the pipe to a child process. From any thread, also by a signal in the middle of a write to it."""

    def close() -> None:
        with contextlib.suppress(BrokenPipeError, ValueError):
            pipe.close()

    try:
        close()
    except RuntimeError:  # the write that the signal interrupted holds the pipe: it ends first
        threading.Thread(target=close, daemon=True).start()


# Of one message; the longest has the progress of a long run, ten samples a second.
_MOST_LINE_CHARACTERS = 16 * 2**20
# What a login shell prints for its user, such as the state of the machine.
_MOST_LINES_OF_GREETING = 100
# The end of stderr that is read for its last line; a line of an error is shorter.
_READ_ERROR_BYTES = 4000
# That of ssh where the connection is lost, or the program there is killed.
_CODE_OF_SSH = 255


class Elsewhere(Protocol):
    """Another machine where our modules run."""

    @property
    def ssh(self) -> str:
        """What people call it: the way there by ssh."""

    def words(self, module: str, *arguments: str) -> list[str]:
        """The words that run the module there, with its stdin and stdout here."""


class ChildProcess:
    """A process of our own that runs a module.

    It takes orders on stdin (``say``) and sends events on stdout (``events``). The end of its stdin cancels it: it
    cleans up and ends.
    """

    def __init__(self, module: str, *arguments: str, grace_seconds: float, elsewhere: Elsewhere | None = None) -> None:
        """The process is killed if it takes longer than ``grace_seconds`` to clean up.

        ``elsewhere``: the machine that it runs on; None for this one. Killed or cut off, it reads the end of its stdin
        there, cleans up and ends.
        """
        words = elsewhere.words(module, *arguments) if elsewhere else own_command(module, *arguments)
        self._is_elsewhere = elsewhere is not None
        self._where = f"on {elsewhere.ssh} " if elsewhere else ""
        self._problem = ""
        """Why its events were not read to the end; empty where they were."""
        self._grace_seconds = grace_seconds
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed in close
        self._process = subprocess.Popen(
            words,
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
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def pid(self) -> int:
        return self._process.pid

    def say(self, order: Any) -> None:
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError, ValueError):
            send(self._process.stdin, order)

    def events(self, kinds: Iterable[type]) -> Iterator[Any]:
        """The records of these types that it sends, until it ends.

        Of another machine, what is no such record, or longer than any, is the end: it may say anything. Before its
        first record, its shell may greet.
        """
        assert self._process.stdout
        lines_of_greeting = _MOST_LINES_OF_GREETING if self._is_elsewhere else 0
        while (line := self._process.stdout.readline(_MOST_LINE_CHARACTERS)).endswith("\n"):
            try:
                message = message_of(line, kinds)
            except (ValueError, RecursionError):
                if not self._is_elsewhere:
                    raise
                self._problem = "sent what is no message of sharebench"
                if not lines_of_greeting:
                    return
                lines_of_greeting -= 1
                continue

            self._problem = ""
            lines_of_greeting = 0
            yield message

    def cancel(self) -> None:
        """Returns at once; safe from any thread or a signal handler."""
        assert self._process.stdin
        end_input(self._process.stdin)

    def close(self) -> None:
        """Cancel it, and wait for its end."""
        self.cancel()
        assert self._process.stdout
        # Before we wait: a process that waits for room in the pipe could not clean up.
        self._process.stdout.close()
        self._wait()
        self._errors.close()

    def how_it_ended(self) -> str:
        """Waits; such as "ended with exit code 1" and the last line of stderr; of another machine, which one it was."""
        if self._problem:
            self.cancel()
            return f"{self._where}{self._problem}"

        code = self._wait()
        ending = f"{self._where}{self._ending_of(code)}"

        self._errors.seek(0)
        error_text = self._errors.read()[-_READ_ERROR_BYTES:].decode(errors="replace")
        lines = error_text.strip().splitlines()
        return f"{ending}: {lines[-1]}" if lines else ending

    def _ending_of(self, code: int) -> str:
        is_killed = code < 0
        if self._is_elsewhere and (is_killed or code == _CODE_OF_SSH):
            return "was cut off"
        if is_killed:
            return f"was ended by signal {-code} ({signal.Signals(-code).name})"
        return f"ended with exit code {code}"

    def _wait(self) -> int:
        try:
            return self._process.wait(self._grace_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
