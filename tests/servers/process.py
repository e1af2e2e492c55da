"""A server program that lives as long as a test needs it, and never longer than the tests."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import psutil
import pytest
from _pytest.outcomes import Skipped

from tests.waiting import LIMIT_SECONDS

if TYPE_CHECKING:
    from tests.servers.distance import FarLink
    from tests.servers.netns import Link

LOOPBACK = "127.0.0.1"
_GENTLE_SECONDS = 5.0
"""A server that has not ended by itself after this long is killed."""

_FIRST_PORT = 18_000
_PORTS_OF_WORKER = 2_000
_WORKERS = 7
"""As many times as many ports, from the first on, end below those that connections come from."""
_STEP = 41
"""Between two ports in a row, so that a few above each are free as well."""
_PORTS_OF_PROCESS = 50
"""From the first number of a process to that of the next one: a worker may fork some that start servers, too."""
_numbers_by_pid: dict[int, Iterator[int]] = {}
"""A forked process has numbers of its own: else it would take the same ports as the one that it comes from."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class NotPossibleHereError(Skipped):
    """A test is skipped because of what this machine or user lacks, which is counted at the end of all tests."""

    # pytest names the type before the reason, and leaves out the name of its own.
    __module__ = Skipped.__module__
    __qualname__ = Skipped.__qualname__

    def __init__(self, reason: str, programs: tuple[str, ...] = (), *, needs_root: bool = False) -> None:
        super().__init__(reason)
        self.programs = programs
        self.needs_root = needs_root


def require(*programs: str, root: bool = True) -> None:
    """Skip the test, naming what is missing; a failure where ``SHAREBENCH_REQUIRE_SERVERS=1`` (in CI)."""
    absent = missing(*programs)
    needs_root = root and os.geteuid() != 0
    reasons = []
    if absent:
        reasons.append(f"not installed: {', '.join(absent)}")
    if needs_root:
        reasons.append("needs root" if absent else f"{', '.join(programs)} needs root")
    if reasons:
        unavailable("; ".join(reasons), tuple(absent), needs_root=needs_root)


def require_root(why: str) -> None:
    """Skip the test, saying what only root can do."""
    if os.geteuid() != 0:
        unavailable(f"only root can {why}", needs_root=True)


def require_localhost() -> None:
    """Skip the test where this machine's resolver does not know the name, as in a chroot without /etc/hosts."""
    try:
        socket.getaddrinfo("localhost", None)
    except OSError as error:
        unavailable(f"localhost has no address: {error}")


def require_terminals() -> None:
    """Skip the test where no pseudo-terminal is to be had."""
    try:
        ours, theirs = os.openpty()
    except OSError as error:
        unavailable(f"no pseudo-terminal: {error}")
    os.close(ours)
    os.close(theirs)


def missing(*programs: str) -> list[str]:
    """Those of the programs that are not installed."""
    return [name for name in programs if program(name) == name]


def unavailable(reason: str, programs: tuple[str, ...] = (), *, needs_root: bool = False) -> NoReturn:
    """Skip the test, or fail it where the real servers are required."""
    if os.environ.get("SHAREBENCH_REQUIRE_SERVERS") == "1":
        pytest.fail(f"SHAREBENCH_REQUIRE_SERVERS=1, but {reason}")
    raise NotPossibleHereError(reason, programs, needs_root=needs_root)


OTHER_USER = 65534
"""A user id that owns nothing of a test."""


def as_another_user() -> list[str]:
    """What a command begins with to be run as :data:`OTHER_USER`; skips the test where nobody can become that."""
    require("setpriv")
    return [program("setpriv"), f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"]


def program(name: str) -> str:
    """The program's path; the system folders count although they may not be on a user's PATH."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") or name


def free_port(host: str = LOOPBACK) -> int:
    """A TCP port that nothing listens on now, and that no other process of these tests will take.

    One that the kernel gives may be given to another process too, before a server listens on it: smbd then starts
    beside that process's smbd, and connections go to either.
    """
    pid = os.getpid()
    numbers = _numbers_by_pid.setdefault(pid, itertools.count(_PORTS_OF_PROCESS * pid))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
    for number in itertools.islice(numbers, _PORTS_OF_WORKER):
        port = _FIRST_PORT + worker * _PORTS_OF_WORKER + number * _STEP % _PORTS_OF_WORKER
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((host, port))
            return port
    raise RuntimeError("no port is free")


def die_with_parent() -> None:
    """Ask the kernel to end this process when the one that started it ends, even by kill -9."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class ServerProcess:
    """One server program with a folder of its own; subclasses say what is started and with which configuration."""

    name = "server"

    def __init__(self, link: Link | FarLink | None = None) -> None:
        self.link = link
        self.host = link.host if link else LOOPBACK
        self.port = free_port()
        self.root = Path(tempfile.mkdtemp(prefix=f"sharebench-{self.name}-"))
        self.root.chmod(0o755)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id, which is its process group's too."""
        if self._process is None:
            raise RuntimeError(f"{self.name} is not running")
        return self._process.pid

    def configure(self) -> None:
        """Write the configuration for ``self.port``."""

    def command(self) -> list[str]:
        """The program and its arguments; it must stay in the foreground."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the server and wait until it listens; another port is tried when this one was taken meanwhile."""
        for _ in range(3):
            self.configure()
            prefix = self.link.prefix if self.link else []
            with (self.root / "output.txt").open("ab") as output:
                self._process = subprocess.Popen(
                    [*prefix, *self.command()],
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=output,
                    cwd=self.root,
                    start_new_session=True,
                    preexec_fn=die_with_parent,  # noqa: PLW1509  # no threads matter before exec
                )
            if self._becomes_ready():
                return
            self.kill()
            self.port = free_port()
        said = (self.root / "output.txt").read_text(errors="replace")[-2000:]
        raise RuntimeError(f"{self.name} does not start: {said}")

    def _becomes_ready(self) -> bool:
        deadline = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                return False
            if self.listens():
                return True
            time.sleep(0.01)
        return False

    def listens(self) -> bool:
        """Whether the server takes connections now."""
        try:
            socket.create_connection((self.host, self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """End the server and every process of its connections at once, as a power cut would."""
        self._signal(signal.SIGKILL)

    def suspend(self) -> None:
        """Stop every process of the server without closing a connection: it stalls."""
        self._to_all(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a suspended server go on."""
        self._to_all(signal.SIGCONT)

    def stop(self) -> None:
        """End the server and remove its folder."""
        if self._process is not None:
            self.resume()
        self._signal(signal.SIGTERM)
        for _ in range(100):  # processes of its connections may still be writing as they end
            shutil.rmtree(self.root, ignore_errors=True)
            if not self.root.exists():
                return
            time.sleep(0.02)

    def helpers(self) -> list[psutil.Process]:
        """Processes that belong to the server and are no children of it."""
        return []

    def _to_all(self, number: signal.Signals) -> list[psutil.Process]:
        """Signal the server and the processes of its connections, of which vsftpd's are in no group of ours."""
        try:
            leader = psutil.Process(self.pid)
            found = [leader, *leader.children(recursive=True), *self.helpers()]
        except psutil.NoSuchProcess:
            return self.helpers()
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        return found

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        others = self._to_all(number)[1:]
        process, self._process = self._process, None
        if process.stdin:
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_GENTLE_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for other in others:
            with contextlib.suppress(psutil.NoSuchProcess):
                other.kill()
        process.wait()
