"""Programs of others: each is started by one function, which is back in time whatever the program does."""

import ast
import os
import re
import stat
import time
from pathlib import Path

import psutil
import pytest

from storage.programs import PASSWORD_VARIABLE, run_program
from tests.servers.process import require
from tests.waiting import HANG_SECONDS

ROOT = Path(__file__).parents[2]
SECONDS = 0.5

STARTERS = {
    "storage/programs.py": "the one function",
    "app/server/running_program.py": "here and through ssh, with limits of time, bytes and lines",
    "app/clients/programs.py": "timed transfers, given up when nothing moves for --timeout",
    "app/base/child_process.py": "our own modules",
    "app/cli/commands/measuring_process.py": "itself, as the process that measures for another machine",
}
"""All that start a program."""

HANGING = {
    "sleeps": "exec sleep 1000",
    "leaves a child behind that holds its output": "sleep 1000 & exec sleep 1000",
    "leaves one in a session of its own": "setsid sleep 1000 & exec sleep 1000",
    "reads what never comes": "cat; exec sleep 1000",
    "pays no heed": "trap '' TERM INT HUP; while :; do sleep 1000; done",
    "writes for ever": "exec yes",
    "complains for ever": "exec yes >&2",
}


def fake(folder, name, body):
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(stat.S_IRWXU)
    return str(program)


@pytest.fixture
def _nothing_left():
    before = set(psutil.Process().children(recursive=True))
    yield
    for process in set(psutil.Process().children(recursive=True)) - before:
        process.kill()
        pytest.fail(f"{process} runs on")


@pytest.mark.usefixtures("_nothing_left")
@pytest.mark.parametrize("how", HANGING)
def test_a_program_that_does_not_end_is_ended(tmp_path, how):
    began = time.monotonic()
    with pytest.raises(TimeoutError, match=r"did not end within 0\.5 s|wrote more than 64 MiB"):
        run_program([fake(tmp_path, "hanging", HANGING[how])], seconds=SECONDS)
    assert time.monotonic() - began < HANG_SECONDS


@pytest.mark.parametrize("setsid", ["", "setsid"])
def test_what_a_program_leaves_behind_is_not_waited_for(tmp_path, setsid):
    began = time.monotonic()
    done = run_program([fake(tmp_path, "program", f"{setsid} sleep 1000 & echo $!")], seconds=30)
    assert time.monotonic() - began < HANG_SECONDS
    left = psutil.Process(int(done.text))
    assert left.is_running()  # --on-change may start something that lasts
    left.kill()


def test_it_is_given_its_input_and_gives_its_output(tmp_path, monkeypatch):
    monkeypatch.setenv(PASSWORD_VARIABLE, "secret")
    program = fake(tmp_path, "program", f"cat; echo error $1 ${PASSWORD_VARIABLE} >&2; exit 3")
    assert run_program([program, "word"], seconds=30, given=b"x" * 1_000_000) == (3, b"x" * 1_000_000, b"error word\n")
    assert run_program([program], seconds=30, given=b"x", keeps_output=False) == (3, b"", b"error\n")
    with pytest.raises(FileNotFoundError):
        run_program([str(tmp_path / "none")], seconds=30)


def test_a_question_is_asked_on_the_terminal_alone_where_that_is_wanted(tmp_path):
    require("ps", root=False)
    asking = fake(tmp_path, "asking", "ps -o sid= -p $$")
    ours = os.getsid(0)
    assert int(run_program([asking], seconds=30, may_ask=True).text) == ours
    assert int(run_program([asking], seconds=30).text) != ours
    with pytest.raises(TimeoutError):
        run_program([fake(tmp_path, "hanging", "exec sleep 1000")], seconds=SECONDS, may_ask=True)


STARTS = re.compile(r"subprocess\.\w+|os\.(exec|spawn|system|popen|posix_spawn)\w*|\w*\.?(Popen|create_subprocess_\w+)")


@pytest.mark.long
def test_nobody_else_starts_a_program():
    for package in ("app", "forms", "storage"):
        for path in (ROOT / package).rglob("*.py"):
            calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
            starts = {name for name in (ast.unparse(call.func) for call in calls) if STARTS.fullmatch(name)}
            assert not starts or str(path.relative_to(ROOT)) in STARTERS, f"{path}: {starts}"
