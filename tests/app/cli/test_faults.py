"""What no admin should ever see, and what comes from outside: one line, nothing that steers the terminal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.cli import common
from app.errors import LoginError
from tests.command_line import Inside, Sharebench

QUICK = ("--runs", "2", "--warmup", "0", "--quiet-time", "skip", "--ceiling", "skip")


def test_a_fault_of_ours_is_one_line_and_is_not_taken_for_slower(inside: Inside, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(common, "notebook_path", fail)
    said = inside.fails(4, "compare", "a", "b")
    assert "a fault in sharebench: ZeroDivisionError: division by zero" in said
    assert "--debug" in said
    assert "Traceback" in inside("compare", "a", "b", "--debug").stderr


@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_what_a_server_says_steers_no_terminal(inside: Inside, monkeypatch: pytest.MonkeyPatch, debug: tuple[str, ...]):
    def fail(*_: object) -> None:
        raise LoginError("the server said \x1b]0;mine\x07\x9b31m")

    monkeypatch.setattr(common, "notebook_path", fail)
    said = inside("list", *debug).stderr
    assert "the server said ␛]0;mine␇" in said
    assert not {"\x1b", "\x07", "\x9b"} & set(said)


def test_a_file_whose_name_is_no_utf_8_is_measured_shown_exported_and_imported(tmp_path: Path):
    sharebench = Sharebench(tmp_path / "notebook.db")
    file = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    Path(file).write_bytes(b"x" * 100_000)
    done = sharebench("run", f"file://{file}", *QUICK, "--label", os.fsdecode(b"caf\xe9"))
    assert done.returncode == 0, done.stderr
    assert "caf" in done.stdout
    inside = Inside(sharebench.db)
    document = inside.json("show", "last", "--json")
    assert document["target"]["path"] == file
    for name in ("text", "csv", "html", "json"):
        exported = inside("export", "last", "--format", name, "-o", str(tmp_path / f"out.{name}"))
        assert exported.returncode == 0, exported.stderr
    other = Sharebench(tmp_path / "other.db")
    assert other("import", str(tmp_path / "out.json")).returncode == 0
    assert Inside(other.db).json("show", "last", "--json")["target"]["path"] == file


@pytest.mark.parametrize(
    "line",
    [
        "smb://u:PW@h/s", "run smb://u:my PW@h/s", "run --size smb://u:PW@h", "survey u:PW@h", "export smb://u:PW@h",
        "run --server-ssh u:PW@h file:///x", "run --link u:PW@h x", "run --pasword=u:PW@h smb://h/s", "check smb://u:PW",
        "compare smb://u:PW@h x", "import smb://u:PW@h", "import - --target smb:/u:PW@h",
    ],
)  # fmt: skip
def test_no_error_repeats_what_may_be_a_password(inside: Inside, line: str):
    for debug in ([], ["--debug"]):
        said = inside(*line.split(), *debug)
        assert said.returncode == 2, said
        assert "PW" not in said.stdout + said.stderr
