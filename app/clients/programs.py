"""What all clients need that are external programs: stalls, cancellation, JSON read with care."""

import contextlib
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from app.base import errors
from app.base.child_process import die_with_parent
from app.clients import base, tcp
from app.server.shell import Said
from storage import programs
from storage.json_reader import LARGEST
from storage.plan import DEFAULT_TIMEOUT_SECONDS, Settings

_LOOK_SECONDS = 0.05
_VERSION_SECONDS = 10.0
"""A program says its version in milliseconds; on a busy machine seconds were seen."""
_OUTPUT_BYTES = 64 * 1024 * 1024


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
    """An unnamed file with a put's content; made once for each content."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._content: base.Content | None = None

    def holding(self, content: base.Content) -> int:
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
    ) -> Said:
        """``counter`` in /proc/PID/io shows progress; ``files`` are inherited. Raises StalledError, CancelledError."""
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
                programs.end_group(process)
            return Said(process.returncode, _read_output(output), _read_output(error_output))

    def abort(self) -> None:
        process = self._process
        if process is not None:
            programs.kill_group(process)


def watch(
    has_ended: Callable[[float], bool], moved: Callable[[], int], where: str, meter: base.Meter, timeout_seconds: float
) -> None:
    """Advance the meter until what moves the bytes has ended. Raises StalledError, CancelledError."""
    moved_bytes = 0
    stall = tcp.StallWatch(timeout_seconds, lambda: where)
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


def parsed_object(text: str) -> dict[str, object] | None:
    """None for anything but a JSON object, and for one nested too deep or with too long numbers."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def value_at(raw: object, *keys: str) -> object:
    for key in keys:
        raw = raw.get(key) if isinstance(raw, dict) else None
    return raw


def finite_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        return None
    return float(value)


def whole_number(value: object) -> int | None:
    number = finite_number(value)
    if number is None or number < 0:
        return None
    return value if isinstance(value, int) else int(number)


class ExternalClient:
    """Base of the clients that run a program; ``own_client``, sharebench's for the same target, does all else."""

    def __init__(self, own_client: base.Client, secrets: base.Secrets, settings: Settings) -> None:
        self._own = own_client
        self._secrets = secrets
        self._settings = settings
        self._program = Subprocess()
        self._source = SourceFile()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def abort(self) -> None:
        self._program.abort()
        self._own.abort()

    def close(self) -> None:
        self._source.close()
        self._own.close()

    def _size_to_get(self, path: str, where: str) -> int:
        size_bytes = self._own.size(path)
        if not size_bytes:
            raise errors.NotAFileError(f"{where}: the file is empty; name one with something in it")
        return size_bytes

    def _must_be_new(self, path: str, where: str) -> None:
        try:
            self._own.size(path)
        except errors.NoSuchFileError:
            return
        raise errors.AccessDeniedError(f"{where}: there is a file already, and none is replaced; name another folder")
