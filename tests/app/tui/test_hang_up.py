"""A terminal that is closed while something is measured on a server: the server is cleaned before the program ends."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from app.tui.widgets.report_run import ReportRunScreen
from tests.tui import app_on, measured, settled
from tests.waiting import HANG_SECONDS


class Cleaning(ReportRunScreen):
    """Measures until it is cancelled, then cleans."""

    STOP_HEADING = STOP_TEXT = QUIT_TEXT = ""
    done: ClassVar[list[str]] = []

    def events(self) -> Iterator[tuple[int, Any]]:
        self.done.append("measures")
        yield 0, None
        assert self.control.cancelled.wait(HANG_SECONDS)
        self.done.append("cleaned")

    def now(self) -> str:
        return ""

    def draw_heard(self, width: int) -> str:
        return ""


@pytest.fixture
def exits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done, with the program's end as its last word."""
    monkeypatch.setattr(Cleaning, "done", [])
    monkeypatch.setattr("os._exit", lambda code: Cleaning.done.append(f"exit {code}"))
    return Cleaning.done


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
async def test_what_is_under_way_is_cleaned_and_then_the_program_ends(
    tmp_path: Path, exits: list[str], number: signal.Signals
):
    app = app_on(tmp_path / "notebook.db")
    before = signal.getsignal(number)
    async with app.run_test() as pilot:
        await app.push_screen(Cleaning("a measurement"))
        await settled(app, pilot)
        os.kill(os.getpid(), number)
        await measured(app, pilot)
        assert exits == ["measures", "cleaned", f"exit {128 + number}"]
        assert signal.getsignal(number) == before


async def test_one_that_is_only_stopped_does_not_end_the_program(tmp_path: Path, exits: list[str]):
    app = app_on(tmp_path / "notebook.db")
    async with app.run_test() as pilot:
        screen = Cleaning("a measurement")
        await app.push_screen(screen)
        await settled(app, pilot)
        screen.control.cancel()
        await measured(app, pilot)
        assert exits == ["measures", "cleaned"]


async def test_a_screen_that_is_left_no_longer_listens_for_the_terminals_end(tmp_path: Path, exits: list[str]):
    app = app_on(tmp_path / "notebook.db")
    before = signal.getsignal(signal.SIGHUP)
    async with app.run_test() as pilot:
        screen = Cleaning("a measurement")
        await app.push_screen(screen)
        await settled(app, pilot)
        assert signal.getsignal(signal.SIGHUP) != before
        await app.pop_screen()
        assert signal.getsignal(signal.SIGHUP) == before
        screen.control.cancel()
        await measured(app, pilot)
