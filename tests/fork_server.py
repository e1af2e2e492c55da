"""Starts the processes of tests by forking one that has loaded what they load: loading takes longer than their work.

A forked process is a child of the test's, as if it had been started by that, with the streams, environment, folder,
limits and command line that were asked for. Tests of the start itself take the fixture ``real_start``.
"""

import _socket
import ctypes
import gc
import inspect
import json
import os
import platform
import resource
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from app.base import child_process
from storage.programs import clean_environment
from tests import signals

ROOT = Path(__file__).resolve().parents[1]
LEAN = ROOT / "tests/lean"
"""First on the path: what a user's environment does not have either."""
PLAIN, GREEN = "plain", "green"
"""The second has gevent's sockets, which must be in place before anything else is loaded."""
KIND_OF = {
    "app": PLAIN,
    "app.check.child": PLAIN,
    "app.quick.child": PLAIN,
    "app.recording.child": PLAIN,
    "app.series.observer_child": PLAIN,
    "app.diagnosis.child": PLAIN,
    "app.isolation.replay_child": PLAIN,
    "app.practice.server_process": PLAIN,
    "app.load.process": GREEN,
}
_LOADED = {
    PLAIN: (
        *(module for module, kind in KIND_OF.items() if kind == PLAIN),
        "app.clients.smb.client", "app.clients.smb.ceiling", "app.clients.ftp.client", "app.clients.local",
        "app.cli.main", *(f"app.cli.commands.{path.stem}" for path in (ROOT / "app/cli/commands").glob("*.py")),
        *(f"app.{path.parent.name}.{path.stem}" for path in (ROOT / "app").glob("*/*command.py")),
    ),
    GREEN: ("app.load.engine_child", "app.load.worker", "app.clients.smb.files"),
}  # fmt: skip
_STARTS_OTHERS = ("app", "app.load.process")
_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE_PARENT = 0x8000
_ROOM = "-" * 2000
"""An argument where the forked process's command line has room."""
_close = os.close  # not gevent's


def _clone_for_parent() -> int:
    """Fork a child of our parent's, in place of one of ours. Source: clone(2)."""
    ctypes.pythonapi.PyOS_BeforeFork()
    flags = _CLONE_PARENT | signal.SIGCHLD
    pid = int(ctypes.PyDLL(None).syscall(_CLONE[platform.machine()], flags, 0, 0, 0, 0))
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    else:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
    return pid


def _serve(asked: _socket.socket) -> dict[str, Any]:
    """Returns in each forked process, with what it shall become; the server ends here, with the one who asks."""
    while True:
        data, files, _flags, _address = socket.recv_fds(asked, 1, 4)  # type: ignore[arg-type]
        if not data:
            os._exit(0)
        if _clone_for_parent() == 0:
            try:
                order: dict[str, Any] = json.loads(os.pread(files[3], os.fstat(files[3]).st_size, 0))
                for number in range(3):
                    os.dup2(files[number], number)
                _take_place(order)
            finally:
                asked.send(os.getpid().to_bytes(4, "little"))
                os.closerange(3, max(files) + 1)
            return order
        for file in files:
            _close(file)


def _take_command_line(command: list[str]) -> None:
    """Written over ours, as setproctitle(3) does: psutil shows the words. Source: Linux, fs/proc/base.c."""
    fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    first, last = int(fields[45]), int(fields[46])
    words = os.fsencode(" ".join(command))[: last - first - 2]
    ctypes.memmove(first, words.ljust(last - first - 1, b"\0") + b"-", last - first)


def _serve_inside(kind: str) -> dict[str, Any] | None:
    """Have what this process starts forked as well; returns an order in each process made by that."""
    ours, theirs = _socket.socketpair()
    if os.fork() == 0:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        ours.close()
        _take_command_line(["tests.fork_server"])
        return _serve(theirs)
    theirs.close()
    servers[kind] = ForkServer(kind, asking=ours)
    vars(child_process)["subprocess"] = FORKING
    return None


def _take_place(order: dict[str, Any]) -> None:
    signals.become_as_at_a_terminal()
    os.chdir(order["folder"])
    if order["new_session"]:
        os.setsid()
    os.umask(order["umask"])
    os.sched_setaffinity(0, order["processors"])
    for limit, values in zip(_LIMITS, order["limits"], strict=True):
        resource.setrlimit(limit, values)
    _take_command_line(order["command"])


def _become(order: dict[str, Any], kind: str) -> None:
    command, environment = order["command"], order["environment"]
    at = command.index("-m") + 1
    module, arguments = command[at], command[at + 1 :]
    if order["executed"]:
        os.execve(command[0], command, environment)
    if module in _STARTS_OTHERS and (inner := _serve_inside(kind)) is not None:
        _become(inner, kind)
        return
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    path = environment["PYTHONPATH"].split(os.pathsep)
    path += [one for one in sys.path if one not in {str(LEAN), str(ROOT)}]
    sys.path[:] = path if "-P" in command else [order["folder"], *path]
    sys.argv[1:] = arguments
    if module != "app":
        sys.modules.pop(module, None)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def main(kind: str) -> None:
    asked = _socket.socket(fileno=os.dup(0))
    if kind == GREEN:
        import gevent
        from gevent import monkey

        platform.platform()  # starts a program, and is remembered
        monkey.patch_all()
    for module in _LOADED[kind]:
        import_module(module)
    if kind == GREEN:
        gevent.get_hub().destroy(destroy_loop=True)
    assert len(list(Path("/proc/self/task").iterdir())) == 1
    signals.outlive_the_terminal()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)  # as the tests' own process has it
    _become(_serve(asked), kind)


def possible() -> bool:
    return sys.platform == "linux" and platform.machine() in _CLONE


class ForkServer:
    """One process that forks others; ``starter`` is another one, which starts it."""

    def __init__(self, kind: str, *, starter: "ForkServer | None" = None, asking: _socket.socket | None = None) -> None:
        self._lock = threading.Lock()
        self._pid: int | None = None
        self._network = _network()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed in close
        self._environment = clean_environment(PYTHONPATH=f"{LEAN}{os.pathsep}{ROOT}")
        if asking:
            self._asking = asking
            return
        self._asking, theirs = _socket.socketpair()
        command = [sys.executable, "-P", "-m", "tests.fork_server", kind, _ROOM]
        with Path(os.devnull).open("w") as nothing:
            streams = theirs.fileno(), nothing.fileno(), self._errors.fileno()
            if starter:
                self._pid = starter.fork(command, self._environment, streams, executed=True)
            else:
                places = [(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate(streams)]
                self._pid = os.posix_spawn(command[0], command, self._environment, file_actions=places)
        theirs.close()

    def can(self, environment: Mapping[str, str]) -> bool:
        """Whether a process with this environment would have begun as the server did."""
        path = environment.get("PYTHONPATH")
        return (
            path in {str(ROOT), self._environment["PYTHONPATH"]}
            and _seen_at_start(environment) == _seen_at_start(self._environment)
            and _network() == self._network
        )

    def fork(
        self, command: list[str], environment: Mapping[str, str], streams: tuple[int, int, int],
        *, folder: str | None = None, new_session: bool = True, executed: bool = False,
    ) -> int:  # fmt: skip
        """The new process's id. Raises RuntimeError where the server has ended."""
        order = {
            "command": command,
            "environment": dict(environment),
            "folder": str(folder or Path.cwd()),
            "new_session": new_session,
            "executed": executed,
            "umask": int(Path("/proc/self/status").read_text(encoding="utf-8").split("Umask:")[1].split()[0], 8),
            "processors": sorted(os.sched_getaffinity(0)),
            "limits": [resource.getrlimit(limit) for limit in _LIMITS],
        }
        answer = b""
        file = os.memfd_create("order")
        try:
            os.write(file, json.dumps(order).encode())
            with self._lock:
                socket.send_fds(self._asking, [b"f"], [*streams, file])  # type: ignore[arg-type]
                answer = self._asking.recv(4)
        except OSError as error:
            raise RuntimeError(self._how_it_ended()) from error
        finally:
            os.close(file)
        if not answer:
            raise RuntimeError(self._how_it_ended())
        return int.from_bytes(answer, "little")

    def _how_it_ended(self) -> str:
        self._errors.seek(0)
        return f"the fork server ended: {self._errors.read().decode(errors='replace') or 'it said nothing'}"

    def close(self) -> None:
        self._asking.close()
        self._errors.close()
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)


def _network() -> int:
    return os.stat("/proc/thread-self/ns/net").st_ino  # noqa: PTH116


def _seen_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """What Python reads before it runs anything."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(("PYTHON", "LC_", "LD_", "LANG")) and name != "PYTHONPATH"
    }


servers: dict[str, ForkServer] = {}
"""Those that this process may ask."""


def _server_for(command: Any, environment: Mapping[str, str] | None) -> ForkServer | None:
    words = list(command)
    if words[:1] != [sys.executable] or "-m" not in words or environment is None:
        return None
    kind = KIND_OF.get(words[words.index("-m") + 1])
    if kind == GREEN and PLAIN in servers and GREEN not in servers:
        servers[GREEN] = ForkServer(GREEN, starter=servers[PLAIN])
    server = servers.get(kind or "")
    return server if server and server.can(environment) else None


class Forked(subprocess.Popen[Any]):
    """A process that was forked where one of the servers can do that, else started."""

    def _execute_child(self, *given: Any) -> None:
        start = super()._execute_child  # type: ignore[misc]
        asked = inspect.signature(start).bind(*given).arguments
        server = _server_for(asked["args"], asked["env"])
        if server is None or asked["preexec_fn"] or asked["pass_fds"]:
            start(*given)
            return
        pipes = asked["p2cread"], asked["c2pwrite"], asked["errwrite"]
        pid = server.fork(
            [os.fsdecode(word) for word in asked["args"]], asked["env"],
            tuple(number if pipe == -1 else pipe for number, pipe in enumerate(pipes)),  # type: ignore[arg-type]
            folder=asked["cwd"], new_session=asked["start_new_session"],
        )  # fmt: skip
        self.pid = pid
        self._child_created = True
        self._close_pipe_fds(  # type: ignore[attr-defined]
            *(asked[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite"))
        )


FORKING = SimpleNamespace(**vars(subprocess) | {"Popen": Forked})
"""In the place of ``subprocess`` for the product's child processes."""


if __name__ == "__main__":
    main(sys.argv[1])
