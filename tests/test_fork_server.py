"""A forked process is what a started one would have been, as far as a test looks."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from app import __version__
from app.base import child_process
from app.base.child_process import ChildProcess
from tests import fork_server
from tests.command_line import Sharebench
from tests.waiting import wait_for

FORKED, STARTED = "forked", "started"
HANG_UP = 1 << signal.SIGHUP - 1
"""The bit of SIGHUP in a mask of /proc/PID/status. Source: proc(5)."""


@pytest.fixture(params=[FORKED, STARTED])
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """With a server of its own, or with none."""
    servers = {}
    if request.param == FORKED:
        if not fork_server.possible():
            pytest.skip("nothing is forked here")
        servers[fork_server.PLAIN] = fork_server.ForkServer(fork_server.PLAIN)
    monkeypatch.setattr(fork_server, "servers", servers)
    monkeypatch.setattr(child_process, "subprocess", fork_server.FORKING)
    yield request.param
    for server in servers.values():
        server.close()


def signal_mask(status: str, name: str) -> int:
    line = next(line for line in status.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1], 16)


def facts_of(pid: int) -> dict[str, Any]:
    process, status = psutil.Process(pid), Path(f"/proc/{pid}/status").read_text()
    try:
        environment = wait_for(Path(f"/proc/{pid}/environ").read_bytes)  # Linux tells none for a moment
    except PermissionError:
        pytest.skip("needs root: a process that keeps its memory to itself shows an ordinary user none of this")
    return {
        "parent": process.ppid(),
        "begun with what it was given": b"\0GIVEN=now\0" in b"\0" + environment,
        "command line": " ".join(wait_for(process.cmdline)),  # nor any of these; forked, a blank in its path parts it
        "folder": process.cwd(),
        "its own session": os.getsid(pid) == pid,
        "umask": next(line for line in status.splitlines() if line.startswith("Umask")),
        "files": resource.prlimit(pid, resource.RLIMIT_NOFILE),
        "processors": process.cpu_affinity(),
        "piped": Path(f"/proc/{pid}/fd/0").is_fifo(),  # it soon puts its stdout elsewhere
        "ended by a hang-up": not (signal_mask(status, "SigIgn") | signal_mask(status, "SigCgt")) & HANG_UP,
        "blocked signals": signal_mask(status, "SigBlk"),
    }


def test_a_child_process_has_its_place(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIVEN", "now")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    processors = os.sched_getaffinity(0)
    before = os.umask(0o027)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits[0] - 1, limits[1]))
        os.sched_setaffinity(0, {min(processors)})
        child = ChildProcess("app.recording.child", grace_seconds=60)
    finally:
        os.umask(before)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        os.sched_setaffinity(0, processors)
    assert facts_of(child.pid) == {
        "parent": os.getpid(),
        "begun with what it was given": how == STARTED,  # what is forked has its server's environment there
        "command line": " ".join(child_process.own_command("app.recording.child")),
        "folder": str(tmp_path),
        "its own session": True,
        "umask": "Umask:\t0027",
        "files": (limits[0] - 1, limits[1]),
        "processors": [min(processors)],
        "piped": True,
        "ended by a hang-up": True,
        "blocked signals": 0,
    }
    assert isinstance(child._process, fork_server.Forked)
    assert child._process.communicate("not a plan\n") == ("", None)
    assert child.how_it_ended().startswith("ended with exit code 1: ")
    child.close()


@pytest.mark.long
def test_a_command_has_its_environment_streams_and_exit_code(how: str, tmp_path: Path):
    sharebench = Sharebench(tmp_path / "notebook.db")
    assert str(sharebench.db) in sharebench.fails(2, "list")
    assert "no such option" in sharebench.fails(2, "list", "--nothing").lower()
    assert "not JSON" in (refused := sharebench("import", "-", stdin="{")).stderr
    assert refused.returncode == 2
    assert "name\N{REPLACEMENT CHARACTER}:" in sharebench.fails(2, "--db", "name\udce9", "list")
    done = sharebench("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sharebench {__version__}\n", "")


@pytest.mark.long
def test_a_signal_is_how_it_ended(how: str):
    child = ChildProcess("app.recording.child", grace_seconds=60)
    os.kill(child.pid, 9)
    assert child.how_it_ended() == "was ended by signal 9 (SIGKILL)"
    child.close()


def test_a_server_that_ended_says_so_in_place_of_a_start(monkeypatch: pytest.MonkeyPatch):
    if not fork_server.possible():
        pytest.skip("nothing is forked here")
    monkeypatch.setitem(fork_server.KIND_OF, "app.recording.child", "unheard of")
    server = fork_server.ForkServer("unheard of")
    monkeypatch.setattr(fork_server, "servers", {"unheard of": server})
    monkeypatch.setattr(child_process, "subprocess", fork_server.FORKING)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"(?s)the fork server ended: Traceback.*KeyError: 'unheard of'"):
            ChildProcess("app.recording.child", grace_seconds=60)
    server.close()


def test_every_module_that_is_run_as_a_program_is_forked():
    programs = [
        path.relative_to(fork_server.ROOT).with_suffix("")
        for path in (fork_server.ROOT / "app").rglob("*.py")
        if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
    ]
    assert sorted(fork_server.KIND_OF) == sorted(".".join(path.parts).removesuffix(".__main__") for path in programs)
