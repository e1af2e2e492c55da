"""Run an external program: watch for stalls and cancellation, and read its JSON defensively."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from app.child_process import clean_environment, die_with_parent
from app.clients.base import Client, Content, Meter, Secrets
from app.clients.tcp import StallWatch, file_error
from app.errors import AccessDeniedError, MissingProgramError, NoSuchFileError, NotAFileError
from app.server.shell import Said
from storage.json_reader import LARGEST
from storage.plan import Settings

_LOOK_SECONDS = 0.05
_OUTPUT_BYTES = 64 * 1024 * 1024


def find_program(name: str, package: str) -> str:
    """Raises MissingProgramError, which names the package to install."""
    found = shutil.which(name)
    if found is None:
        raise MissingProgramError(f"{name} is not installed; install it (Debian: apt install {package})")
    return found


def first_version(program: str) -> str:
    """The first word with a digit and a dot in the program's version output, or empty."""
    done = subprocess.run(
        [program, "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        errors="replace",
        env=clean_environment(),
    )
    words = (word.strip(",()") for word in f"{done.stdout} {done.stderr}".split())
    return next((word for word in words if word[:1].isdigit() and "." in word), "")


@contextlib.contextmanager
def memory_file(content: str) -> Iterator[int]:
    """An open file in memory, for secrets that must not be written to disk."""
    file = os.memfd_create("sharebench", os.MFD_CLOEXEC)
    try:
        os.write(file, content.encode())
        os.lseek(file, 0, os.SEEK_SET)
        yield file
    finally:
        os.close(file)


class SourceFile:
    """An unnamed file with a put's content; made once for each content."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._content: Content | None = None

    def holding(self, content: Content) -> int:
        if self._file is None or self._content is not content:
            self.close()
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the client
            try:
                self._file.writelines(content.blocks())
                self._file.flush()
            except OSError as error:
                raise file_error(error, tempfile.gettempdir()) from error
            self._content = content
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        return self._file.fileno()

    def close(self) -> None:
        file, self._file, self._content = self._file, None, None
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
        meter: Meter | None = None,
        *,
        counter: str = "rchar",
        timeout_seconds: float = 30.0,
        stdin: bytes = b"",
        files: Sequence[int] = (),
    ) -> Said:
        """Raises StalledError after ``timeout_seconds`` without progress, and CancelledError.

        ``counter`` is the line of ``/proc/PID/io`` that shows progress; ``files`` are inherited as ``/proc/self/fd/N``.
        """
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=errors,
                env=clean_environment(LC_ALL="C"),
                pass_fds=tuple(files),
                preexec_fn=die_with_parent,  # noqa: PLW1509  one call into the kernel, nothing that takes a lock
            )
            self._process = process
            try:
                assert process.stdin is not None
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(stdin)
                    process.stdin.close()
                meter = meter or Meter(threading.Event())
                first = _counted(process.pid, counter)
                meter.start()
                watch(
                    lambda seconds: _has_ended(process, seconds),
                    lambda: _counted(process.pid, counter) - first,
                    where, meter, timeout_seconds,
                )  # fmt: skip
            finally:
                self._process = None
                if process.poll() is None:
                    process.kill()
                process.wait()
            return Said(process.returncode, _text(output), _text(errors))

    def abort(self) -> None:
        process = self._process
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


def watch(
    has_ended: Callable[[float], bool], moved: Callable[[], int], where: str, meter: Meter, timeout_seconds: float
) -> None:
    """Advance the meter until what moves the bytes has ended. Raises StalledError, CancelledError."""
    seen, stall = 0, StallWatch(timeout_seconds, lambda: where)
    while not has_ended(_LOOK_SECONDS):
        seen = max(seen, moved())
        meter.advance(seen)
        stall.moved(seen)


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.returncode is not None


def _counted(pid: int, counter: str) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(": ")
            if name == counter:
                return int(value)
    return 0


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_OUTPUT_BYTES).decode(errors="replace")


def parsed_object(text: str) -> dict[str, object] | None:
    """None for anything but a JSON object, and for one nested too deep or with too long numbers."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def part(raw: object, *keys: str) -> object:
    """The value under nested keys; None if one is missing."""
    for key in keys:
        raw = raw.get(key) if isinstance(raw, dict) else None
    return raw


def finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        return None
    return float(value)


def whole(value: object) -> int | None:
    """A non-negative integer, or None."""
    number = finite(value)
    if number is None or number < 0:
        return None
    return value if isinstance(value, int) else int(number)


class ExternalClient:
    """Base of the clients that run a program; ``own``, sharebench's client for the same target, does all else."""

    def __init__(self, own: Client, secrets: Secrets, settings: Settings) -> None:
        self._own, self._secrets, self._settings = own, secrets, settings
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
            raise NotAFileError(f"{where}: the file is empty; name one with something in it")
        return size_bytes

    def _must_be_new(self, path: str, where: str) -> None:
        try:
            self._own.size(path)
        except NoSuchFileError:
            return
        raise AccessDeniedError(f"{where}: there is a file already, and none is replaced; name another folder")
