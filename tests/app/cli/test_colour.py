"""Colour of the answers: on a terminal that takes it, and nowhere else."""

import io
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

from app.check import command as check
from app.check.checked import Checked, CheckState
from app.cli import console
from app.cli.main import run
from storage.notebook import Notebook
from storage.records import SeriesStatus
from tests.builders import one

GREEN, RED, YELLOW, FAINT = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[2m"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def on_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What a command writes to a terminal; its notebook has a failed series, an interrupted and a complete one."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with Notebook(tmp_path / "notebook.db") as notebook:
        for number, status in enumerate((SeriesStatus.FAILED, SeriesStatus.INTERRUPTED, SeriesStatus.COMPLETE), 1):
            notebook.add(replace(one(number), status=status))

    looked_at = [Checked("file", "so it is", state) for state in CheckState]
    monkeypatch.setattr(check, "check", lambda *_: looked_at)

    def written(*arguments: str) -> str:
        with redirect_stdout(_Terminal()) as terminal:
            run(["--db", str(tmp_path / "notebook.db"), *arguments], lambda *_args, **_more: 0)
        return terminal.getvalue()

    return written


def test_list_colours_what_failed_and_what_was_interrupted(on_terminal: Callable[..., str]):
    _, complete, interrupted, failed = on_terminal("list").splitlines()
    assert re.search(re.escape(RED) + r" *\d[^ ]*✗", failed)
    assert re.search(re.escape(YELLOW) + r" *\d[^ ]*‖", interrupted)
    assert RED not in complete + interrupted


def test_check_colours_each_state(on_terminal: Callable[..., str]):
    said = on_terminal("check", "file:///none").splitlines()
    assert [line.partition("\x1b[0m")[0] for line in said] == [f"{GREEN}✓", f"{YELLOW}!", f"{YELLOW}?", f"{RED}✗"]


def test_the_catalogue_dims_history_and_the_names_of_lines(on_terminal: Callable[..., str]):
    current, _, history = on_terminal("catalogue", "--all").partition("\n\n")
    assert FAINT not in current
    assert history.count(FAINT) == len(history.splitlines()) - 3, "a heading, a blank line, a heading"
    assert f"{FAINT}does" in on_terminal("catalogue", "server signing")


def test_compare_colours_its_verdict(on_terminal: Callable[..., str]):
    assert re.search(r"\x1b\[3[123]m[^\n]*Verdict", on_terminal("compare", f"{2:012x}", f"{3:012x}"))


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", ""), ("TERM", "dumb")])
def test_who_wants_none_gets_none(
    on_terminal: Callable[..., str], monkeypatch: pytest.MonkeyPatch, name: str, value: str
):
    monkeypatch.setenv(name, value)
    for words in (["list"], ["catalogue"], ["catalogue", "server signing"], ["check", "file:///none"]):
        assert "\x1b" not in on_terminal(*words)


def test_a_terminal_gets_few_ids_and_a_script_all_of_them():
    ids = [f"{number:012}" for number in range(11)]
    for shown, screen in ((ids[:10], _Terminal()), ([], _Terminal()), (ids, io.StringIO())):
        with redirect_stdout(screen):
            console.answer_ids(shown or ids)
        assert screen.getvalue().split() == shown
