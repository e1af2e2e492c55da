"""Another machine that measures: found, carried to, refused. Its answers are made up; `test_from.py` has a real one."""

from __future__ import annotations

import json
import os
import shlex
import time
from pathlib import Path
from typing import Any

import pytest

from app import __version__
from app.base.errors import MissingProgramError, PasswordInURLError, UnreachableError, UsageError
from app.server.elsewhere import place as elsewhere
from app.server.elsewhere import start_there
from app.server.elsewhere.place import MeasuringPlace, reach_place
from app.server.shell import Answer

DIGEST = "d" * 64
HERE = start_there.machine()
PYTHON = f"python:{elsewhere._name_of_python(HERE['python'])}"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The sections that the other machine answers with; what is carried there is told by its size alone."""
    sections: dict[str, str] = {}
    monkeypatch.setattr(elsewhere, "_ask", lambda _ssh: Answer(sections=sections))
    monkeypatch.setattr(elsewhere, "program_digest", lambda: DIGEST)
    carried = MeasuringPlace(ssh="branch", python="python3", carried_bytes=7, carried_seconds=1.0)
    monkeypatch.setattr(elsewhere, "_carry", lambda *_: carried)
    return sections


def python_there(**other: Any) -> str:
    return json.dumps({**HERE, "digest": "", **other})


def test_the_same_version_that_is_installed_there_is_used(answers: dict[str, str]):
    answers["version"] = f"sharebench {__version__}"
    place = reach_place("branch")
    assert (place.python, place.carried_bytes) == ("", 0)
    *_shell, script, _name, module = shlex.split(place.words("app.recording.child")[-1])
    assert script.endswith('exec sharebench measuring-process "$@"')
    assert module == "app.recording.child"


@pytest.mark.parametrize("python", ["", "python3"])
def test_the_command_is_one_that_every_login_shell_reads(python: str):
    words = MeasuringPlace(ssh="branch", python=python).words("app.recording.child")
    assert not {"\n", "!"} & set(words[-1]), "csh takes neither in quotes"


def test_it_is_carried_only_where_it_is_not_yet(answers: dict[str, str]):
    answers["version"] = "sharebench 0.0.1"
    answers[PYTHON] = python_there(digest=DIGEST)
    assert reach_place("branch").carried_bytes == 0
    answers[PYTHON] = python_there(digest="e" * 64)
    assert reach_place("branch").carried_bytes == 7


def test_a_python_that_is_called_otherwise_will_do(answers: dict[str, str]):
    answers["python:python3"] = python_there(digest=DIGEST)
    assert reach_place("branch").python == "python3"


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"version": "sharebench 0.0.1"},
        {PYTHON: "no JSON"},
        {PYTHON: "[" * 100_000},
        {PYTHON: python_there(python="cpython-39")},
        {PYTHON: python_there(platform="linux-riscv64")},
        {PYTHON: python_there(library="musl")},
    ],
)
def test_where_it_cannot_run_it_says_what_to_install(answers: dict[str, str], sections: dict[str, str]):
    answers.update(sections)
    with pytest.raises(MissingProgramError) as told:
        reach_place("branch")
    assert __version__ in str(told.value)
    assert HERE["platform"] in str(told.value)


def test_a_machine_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(elsewhere, "_ask", lambda ssh: Answer(problem=f"{ssh} did not answer in 20 s"))
    with pytest.raises(UnreachableError, match="branch did not answer"):
        reach_place("branch")


@pytest.mark.parametrize(("ssh", "error"), [("-oProxyCommand=x", UsageError), ("alice:secret@nas", PasswordInURLError)])
def test_what_is_no_host_never_reaches_ssh(ssh: str, error: type[UsageError]):
    with pytest.raises(error) as told:
        reach_place(ssh)
    assert "secret" not in str(told.value)


def test_the_digest_covers_names_and_contents(tmp_path: Path):
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    a, b = tmp_path / "a", tmp_path / "b"
    digest = start_there.digest_of([("a", a), ("b", b)])
    assert digest == start_there.digest_of([("b", b), ("a", a)])
    assert digest != start_there.digest_of([("a", b), ("b", a)])
    assert digest != start_there.digest_of([("a", a)])


def test_a_program_that_others_can_change_is_none(tmp_path: Path):
    folder = tmp_path / "0.3.0"
    folder.mkdir(mode=0o700)
    (folder / "module.py").write_text("")
    assert start_there._digest_there(folder)
    folder.chmod(0o720)
    assert not start_there._digest_there(folder)
    folder.chmod(0o700)
    (folder / "link.py").symlink_to("module.py")
    assert not start_there._digest_there(folder)
    assert not start_there._digest_there(tmp_path / "none")


@pytest.mark.parametrize(("age_seconds", "is_forgotten"), [(3500, False), (3700, True)])
def test_only_what_was_carried_long_ago_and_cut_off_is_removed(tmp_path, age_seconds, is_forgotten):
    """A younger folder may be that of somebody who carries the program there at this moment."""
    folder = tmp_path / "unfinished-x"
    folder.mkdir()
    moment = time.time() - age_seconds
    os.utime(folder, (moment, moment))
    assert start_there._forgotten_in(tmp_path) == [folder] * is_forgotten


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch, capsys):
    (tmp_path / ".cache").write_text("a file in its place")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(start_there, "_read_archive", lambda _size_bytes: b"x")
    assert start_there.take(__version__, DIGEST, 1) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert str(tmp_path / ".cache" / "sharebench") in line
    assert "Error" not in line
