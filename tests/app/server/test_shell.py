"""The shell to a server: what a program says and how long it may take have limits, whoever answers."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from app.base.errors import PasswordInURLError, UsageError
from app.base.ssh_address import check_ssh_host
from app.server import running_program
from app.server.running_program import MOST_BYTES, RunningProgram
from app.server.shell import ServerShell, run_script
from tests.waiting import HANG_SECONDS, has_ended, wait_for

Ssh = Callable[[str], None]
MEBIBYTE = 2**20


@pytest.fixture
def ssh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ssh:
    """Lets ``ssh`` be a shell script."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def be(script: str) -> None:
        (tmp_path / "ssh").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "ssh").chmod(0o755)

    return be


def test_an_answer_of_the_most_bytes_is_taken_and_one_more_is_refused():
    said = ServerShell().run("head", "-c", str(MOST_BYTES), "/dev/zero")
    assert (said.code, len(said.out), said.problem) == (0, MOST_BYTES, None)
    more = ServerShell().run("head", "-c", str(MOST_BYTES + 1), "/dev/zero")
    assert more.code
    assert more.out == ""
    assert "this machine sent more than 8 MiB" in more.last_words


@pytest.mark.parametrize("endless", ["exec yes", "exec yes >&2", "exec tr '\\0' x </dev/zero"])
def test_a_host_that_talks_without_end_is_ended_and_takes_little_memory(ssh: Ssh, endless: str):
    ssh(endless)
    before = psutil.Process().memory_info().rss
    answer = run_script("true", {}, "nas")
    assert psutil.Process().memory_info().rss - before < 100 * MEBIBYTE
    assert "nas sent more than 8 MiB" in str(answer.problem)


def test_a_host_that_does_not_read_is_not_waited_for(ssh: Ssh):
    ssh("exec sleep 1000")
    began = time.monotonic()
    said = ServerShell("nas").run("true", stdin="x" * 10 * MEBIBYTE, timeout_seconds=0.3)
    assert "did not answer" in said.last_words
    assert time.monotonic() - began < HANG_SECONDS


def test_whoever_keeps_the_output_open_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(running_program, "_END_SECONDS", 0.5)
    assert ServerShell().script("echo done; sleep 50 & exit 0", {}, 40).out == "done\n"


def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path):
    child = tmp_path / "pid"
    seconds = 1.0
    while not (child.exists() and child.read_text()):  # a busy machine may not begin in so short a time
        said = ServerShell().script(f"sleep 543 & echo $! >{child}; wait", {}, seconds)
        assert said.code == 124
        seconds *= 2
    wait_for(lambda: has_ended(int(child.read_text())))


def test_a_line_has_limits_of_its_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(running_program, "MOST_LINE_BYTES", 10)
    program = RunningProgram(["sh", "-c", "echo 12345678; echo 123456789; echo 1234567890; sleep 60"])
    assert [program.line() for _ in range(3)] == ["12345678\n", "123456789\n", ""]
    wait_for(lambda: program.has_ended)
    program.end()
    silent = RunningProgram(["sleep", "60"])
    assert silent.line(0.2) == ""
    wait_for(lambda: silent.has_ended)
    silent.end()


def test_ctrl_c_at_the_terminal_does_not_end_a_script_half_way():
    group = ServerShell().script("cut -d ' ' -f 5 /proc/$$/stat", {}).out
    assert int(group) != os.getpgrp(), "the terminal sends its signals to our group of processes"


def test_one_set_of_options_notices_a_dead_connection_and_asks_nothing():
    for options in ((), ("-R", "1:x:2")):
        words = ServerShell("root@nas").words("true", *options)
        assert {"BatchMode=yes", "ServerAliveInterval=5", "ConnectTimeout=5"} <= set(words)
        assert words[-3:] == ["--", "root@nas", "true"]


@pytest.mark.parametrize("host", ["u:Marker7@nas", "ssh://u:Marker7@nas", "u:Marker7", "-oProxyCommand=Marker7", " "])
def test_no_password_and_no_option_of_ssh_gets_that_far(ssh: Ssh, tmp_path: Path, host: str):
    ssh(f"touch {tmp_path}/ran")
    with pytest.raises(UsageError) as refused:
        ServerShell(host).words("true")
    assert "Marker7" not in str(refused.value)
    assert "Marker7" not in str(run_script("true", {}, host))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "host",
    ["nas", "root@nas.example", "DOM\\jo@nas", "jo@dom.example@nas", "ssh://root@nas:2222", "ssh://nas/", "::1",
     "root@fe80::1%eth0", "ssh://root@[::1]:22", "1.2.3.4"],
)  # fmt: skip
def test_a_host_for_ssh(host: str):
    check_ssh_host(host)


@pytest.mark.parametrize(
    ("host", "kind"),
    [
        ("root:Marker7@nas", PasswordInURLError), ("ssh://root:Marker7@nas", PasswordInURLError),
        ("ssh://root%3AMarker7@nas", PasswordInURLError), ("a:Marker7@b@nas", PasswordInURLError),
        ("root:Marker7", UsageError), ("nas:22", UsageError), ("-oProxyCommand=Marker7", UsageError),
        ("-lroot@nas", UsageError), ("ssh://-oMarker7", UsageError), ("na s", UsageError), ("nas\x1b[2J", UsageError),
        ("root@", UsageError), ("@nas", UsageError), ("", UsageError), ("nas/Marker7", UsageError),
    ],
)  # fmt: skip
def test_what_is_no_host_for_ssh_is_refused_and_not_repeated(host: str, kind: type[UsageError]):
    with pytest.raises(kind) as refused:
        check_ssh_host(host)
    assert type(refused.value) is kind
    assert "Marker7" not in str(refused.value)
