"""Our own child processes, and what they and we say: frozen records, each a line of JSON that names its type."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import IO, Any, TextIO

from app.base.errors import LinuxNeededError
from storage.programs import clean_environment

try:
    import fcntl
    import resource
except ImportError:  # no POSIX system: need_linux tells it by name where something is started that needs them
    fcntl = resource = None  # type: ignore[assignment]

_ROOT = Path(__file__).resolve().parents[2]

# Options of prctl(2), from linux/prctl.h.
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4


def plain(value: Any) -> Any:
    """A record as JSON has it, to be read by :meth:`JSONNode.record`."""
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value


def line_of(message: Any) -> str:
    """The record as one line without its end; secrets included: for a pipe between our processes and nothing else."""
    return json.dumps({"event": type(message).__name__, **plain(message)})


def message_of(line: str, kinds: Iterable[type]) -> Any:
    """The record of one of these types that :func:`line_of` wrote. Raises ValueError for anything else."""
    from storage.json_reader import JSONNode

    raw: dict[str, Any] = json.loads(line)
    kind_by_name = {kind.__name__: kind for kind in kinds}
    kind = kind_by_name.get(raw.pop("event", ""))
    if kind is None:
        raise ValueError(f"not a message: {line[:80]}")

    return JSONNode("", raw).record(kind)


def send(pipe: IO[str], message: Any) -> None:
    """Write the record to a pipe between our processes. Raises BrokenPipeError, ValueError for a closed one."""
    pipe.write(line_of(message) + "\n")
    pipe.flush()


def own_stdout() -> TextIO:
    """The pipe that messages go out on; what a library prints lands on stderr from now on."""
    pipe = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(pipe, "w", encoding="utf-8")


def own_command(module: str, *arguments: str) -> list[str]:
    """The command line of our module, not looked for in the current folder (``-P``). Raises LinuxNeededError."""
    need_linux("measuring")
    return [sys.executable, "-P", "-m", module, *arguments]


def own_environment() -> dict[str, str]:
    """It finds these packages; secrets reach it by its stdin alone."""
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


def held_seconds() -> float:
    """Seconds of processor and run queue of the main thread. Source: Linux, Documentation/scheduler/sched-stats.rst."""
    try:
        worked, waited, _turns = Path("/proc/self/schedstat").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return time.process_time()
    return (int(worked) + int(waited)) / 1e9


def need_linux(activity: str) -> None:
    """See that this machine has what measuring needs. Raises LinuxNeededError, which names the activity."""
    lacking = [] if fcntl and resource else ["the modules fcntl and resource"]
    try:
        Path("/proc/self/stat").read_bytes()
    except OSError:
        lacking.append("/proc")

    if lacking:
        raise LinuxNeededError(
            f"{activity} needs Linux, and this machine lacks {' and '.join(lacking)}: measure on a Linux machine, and "
            "fetch its notebook with `sharebench pull HOST`"
        )


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value)


def die_with_parent() -> None:
    """End this process, by SIGKILL, when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def keep_memory_to_ourselves() -> None:
    """Let this process, which knows passwords, leave no core file, nor the user's other processes read its memory."""
    if resource is None or not sys.platform.startswith("linux"):
        return
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard_limit))
    _prctl(_PR_SET_DUMPABLE, 0)


# The end of stderr that is read for its last line; a line of an error is shorter.
_READ_ERROR_BYTES = 4000


class ChildProcess:
    """A process of our own that runs a module; EOF on its stdin cancels it: it cleans up and ends."""

    def __init__(self, module: str, *arguments: str, grace_seconds: float) -> None:
        """The process is killed if it takes longer than ``grace_seconds`` to clean up."""
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
        assert self._process.stdout
        while (line := self._process.stdout.readline()).endswith("\n"):
            yield message_of(line, kinds)

    def cancel(self) -> None:
        """Returns at once; safe from any thread or a signal handler."""
        assert self._process.stdin
        end_input(self._process.stdin)

    def close(self) -> None:
        self.cancel()
        assert self._process.stdout
        # Before we wait: a process that waits for room in the pipe could not clean up.
        self._process.stdout.close()
        self._wait()
        self._errors.close()

    def how_it_ended(self) -> str:
        """Waits; such as "ended with exit code 1" and the last line of stderr."""
        code = self._wait()
        ending = f"ended with exit code {code}"
        if code < 0:
            ending = f"was ended by signal {-code} ({signal.Signals(-code).name})"

        self._errors.seek(0)
        error_text = self._errors.read()[-_READ_ERROR_BYTES:].decode(errors="replace")
        lines = error_text.strip().splitlines()
        return f"{ending}: {lines[-1]}" if lines else ending

    def _wait(self) -> int:
        try:
            return self._process.wait(self._grace_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
