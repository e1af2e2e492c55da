"""Runs other people's programs for a transfer: watched for stalls, cancelled by another thread, given secrets safely.

A program says nothing while it moves bytes; how far it is shows in the kernel's counters of its reads and writes.
"""

import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from app.base import errors
from app.base.this_process import die_with_parent
from app.clients import base, tcp
from app.clients.stall_watch import StallWatch
from app.server.running_program import ProgramOutcome
from storage import programs
from storage.plan import DEFAULT_TIMEOUT_SECONDS

_LOOK_SECONDS = 0.05
"""Between two looks at how far the program is."""
_VERSION_SECONDS = 10.0
"""A program says its version in milliseconds; on a busy machine seconds were seen."""
_OUTPUT_BYTES = 64 * 1024 * 1024
"""A program that writes more is refused."""


def first_version(program: str) -> str:
    """The first word with a digit and a dot in the program's version output, or empty."""
    try:
        outcome = programs.run_program([program, "--version"], seconds=_VERSION_SECONDS)
    except OSError as error:
        raise errors.MeasurementError(
            f"{program} cannot be used: {error}; try `{program} --version` by hand"
        ) from error

    output = (outcome.out + b" " + outcome.error).decode(errors="replace")
    words = [word.strip(",()") for word in output.split()]
    return next((word for word in words if word[:1].isdigit() and "." in word), "")


@contextlib.contextmanager
def memory_file(content: str) -> Iterator[int]:
    """An open file in memory, for secrets that must not be written to disk."""
    with os.fdopen(os.memfd_create("sharebench"), "wb", buffering=0) as file:
        file.write(content.encode())
        file.seek(0)
        yield file.fileno()


class SourceFile:
    """An unnamed file with the content of a put, from which a program sends it; written once for each content."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._content: base.Content | None = None

    def holding(self, content: base.Content) -> int:
        """The number of the open file, at its start, with this content."""
        if self._file is None or self._content is not content:
            self.close()
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the client
            try:
                self._file.writelines(content.blocks())
                self._file.flush()
            except OSError as error:
                raise tcp.file_error(error, tempfile.gettempdir()) from error
            self._content = content
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        return self._file.fileno()

    def close(self) -> None:
        file = self._file
        self._file = None
        self._content = None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()


class Subprocess:
    """Runs one program at a time; another thread may end it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self,
        command: list[str],
        where: str,
        meter: base.Meter | None = None,
        *,
        counter: str = "rchar",
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        stdin: bytes = b"",
        files: Sequence[int] = (),
    ) -> ProgramOutcome:
        """What the program said, once it has ended. Raises StalledError, CancelledError.

        ``counter`` is the line of /proc/PID/io that shows how many bytes it has moved: by reading (``rchar``) or by
        writing (``wchar``). The program inherits ``files``.
        """
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error_output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=error_output,
                env=programs.clean_environment(LC_ALL="C"),
                pass_fds=tuple(files),
                start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509  one call into the kernel, nothing that takes a lock
            )
            self._process = process
            try:
                assert process.stdin is not None
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(stdin)
                    process.stdin.close()

                meter = meter or base.Meter(threading.Event())
                count_before = _count_of(process.pid, counter)

                def has_ended(seconds: float) -> bool:
                    return _has_ended(process, seconds)

                def moved_bytes() -> int:
                    _check_output(output, error_output)
                    return _count_of(process.pid, counter) - count_before

                meter.start()
                watch(has_ended, moved_bytes, where, meter, timeout_seconds)
            finally:
                self._process = None
                programs.end_group(process)  # and waits for its end, as ``abort`` must not
            return ProgramOutcome(process.returncode, _read_output(output), _read_output(error_output))

    def abort(self) -> None:
        process = self._process
        if process is not None:
            programs.kill_group(process)


def watch(
    has_ended: Callable[[float], bool], moved: Callable[[], int], where: str, meter: base.Meter, timeout_seconds: float
) -> None:
    """Advance the meter until what moves the bytes has ended. Raises StalledError, CancelledError.

    ``has_ended`` waits that many seconds at most, and ``moved`` tells how many bytes have moved so far.
    """
    moved_bytes = 0
    stall = StallWatch(timeout_seconds, lambda: where)
    while not has_ended(_LOOK_SECONDS):
        moved_bytes = max(moved_bytes, moved())
        meter.advance(moved_bytes)
        stall.note_moved(moved_bytes)


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.returncode is not None


def _check_output(*outputs: IO[bytes]) -> None:
    """Raises ProtocolError for a program that says more than is read."""
    written_bytes = sum(os.fstat(output.fileno()).st_size for output in outputs)
    if written_bytes > _OUTPUT_BYTES:
        raise errors.ProtocolError(f"the program wrote more than {_OUTPUT_BYTES // 2**20} MiB; try it by hand")


def _count_of(pid: int, counter: str) -> int:
    """A counter of /proc/PID/io; 0 once the process is gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(": ")
            if name == counter:
                return int(value)
    return 0


def _read_output(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_OUTPUT_BYTES).decode(errors="replace")
