"""Runs another program to its end, with limits of time and output: the one way to start a program that is not ours."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, NamedTuple

PASSWORD_VARIABLE = "SHAREBENCH_PASSWORD"  # noqa: S105  a variable's name
"""Where a password may stand in our own environment; nothing that we start inherits it."""
MOST_OUTPUT_BYTES = 64 * 2**20
"""A program that writes more is ended."""
_LOOK_SECONDS = 0.1
"""Between two looks at how much it wrote."""


class ProgramResult(NamedTuple):
    code: int
    """With which it ended; negative for a signal."""
    out: bytes
    error: bytes

    @property
    def text(self) -> str:
        """The output; what is no UTF-8 in it is replaced."""
        return self.out.decode(errors="replace")


def clean_environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != PASSWORD_VARIABLE} | more


def run_program(
    words: Sequence[str],
    *,
    seconds: float,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    may_ask: bool = False,
    keeps_output: bool = True,
) -> ProgramResult:
    """Run a program and return what it wrote. ``given`` is its input; ``may_ask``: it keeps the terminal.

    Raises TimeoutError after ``seconds``, or for too much output, when it and all that it started are ended; OSError
    where it cannot be started. Its output goes to files and not to pipes, which a program that it left behind might
    hold open.
    """
    with _buffer() as source, _buffer() as out, _buffer() as error:
        source.write(given)
        source.seek(0)
        process = subprocess.Popen(
            words,
            stdin=source,
            stdout=out if keeps_output else subprocess.DEVNULL,
            stderr=error,
            env=clean_environment() if environment is None else environment,
            start_new_session=not may_ask,
        )
        try:
            _wait(process, words[0], seconds, out, error)
        except BaseException:
            if may_ask:
                process.kill()
                process.wait()
            else:
                end_group(process)
            raise
        return ProgramResult(process.returncode, _content(out), _content(error))


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a program that leads a group, and what it started, also after its own end."""
    kill_group(process)
    process.wait()


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End it as ``end_group`` does, but return at once: safe from another thread or a signal handler."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # the number stays taken as long as anything is in the group


def _buffer() -> IO[bytes]:
    """Memory where there is that kind of file, as the disk may be full."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("sharebench-program"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _wait(process: "subprocess.Popen[bytes]", name: str, seconds: float, *outputs: IO[bytes]) -> None:
    """Raises TimeoutError where it takes too long or writes too much."""
    end = time.monotonic() + seconds
    while True:
        remaining_seconds = end - time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, min(_LOOK_SECONDS, remaining_seconds)))
            return

        if remaining_seconds <= 0:
            raise TimeoutError(f"`{name}` did not end within {seconds:g} s")
        if sum(os.fstat(output.fileno()).st_size for output in outputs) > MOST_OUTPUT_BYTES:
            raise TimeoutError(f"`{name}` wrote more than {MOST_OUTPUT_BYTES // 2**20} MiB")


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(MOST_OUTPUT_BYTES)
