"""The quick test on the screen, of a real smbd: its form, its table as it fills, and the form at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from app.base.errors import UsageError
from app.quick import measurement, plan, spec
from app.quick.run_screen import QuickRunScreen
from app.quick.screen import QuickScreen
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from forms.quick.report import quick_answer
from storage.notebook import Notebook
from storage.plan import Imitated
from storage.quick.records import LEAST_FILE_BYTES, QUICK, quick_of
from storage.records import Command, SeriesStatus, format_target
from tests.app.quick.leftovers import left_on
from tests.quick_tests import SEQ_Q8, quick_test
from tests.servers.smbd import Smbd
from tests.tui import measured, painted, press, settled

TYPED = {"target": "nas/data", "size": "1G", "link": "", "like": "", "label": ""}


def test_the_lines_say_what_is_measured():
    request = QuickScreen.parse(TYPED | {"size": "64M", "link": "10G", "like": "windows-10", "label": "new switch"})
    assert (request.size_bytes, request.link_bits_per_second) == (LEAST_FILE_BYTES, 10**10)
    assert (request.settings.like, request.label) == (Imitated.WINDOWS_10, "new switch")
    assert QuickScreen.parse(TYPED | {"size": ""}).size_bytes == 1 << 30
    assert QuickScreen.parse(TYPED | {"target": "file:///srv"}).target.path == "/srv"


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("target", ""),
        ("target", "ftp://nas/"),
        ("size", "63M"),
        ("size", "much"),
        ("link", "fast"),
        ("like", "windows-95"),
    ],
)
def test_what_cannot_be_meant_is_refused(line: str, typed: str):
    with pytest.raises(UsageError):
        QuickScreen.parse(TYPED | {line: typed})


async def test_it_measures_and_shows_the_answer(tmp_path: Path, smbd: Smbd, monkeypatch: pytest.MonkeyPatch):
    usual = QuickScreen.parse

    def parse_short(typed: Mapping[str, str]) -> spec.QuickRequest:
        return replace(usual(typed), run_seconds=0.02)

    monkeypatch.setattr(QuickScreen, "parse", staticmethod(parse_short))
    monkeypatch.setenv("SHAREBENCH_PASSWORD", smbd.password)
    app = SharebenchApp(Context(notebook_path=tmp_path / "notebook.db"), first="quick")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = format_target(smbd.target())
        app.screen.query_one("#size", Input).value = "64M"
        await press(app, pilot, "f9")
        await measured(app, pilot)
        with Notebook(tmp_path / "notebook.db") as notebook:
            quick = quick_of(notebook.recording("last", QUICK))
        assert quick.status is SeriesStatus.COMPLETE
        assert quick_answer(quick).text[:40] in painted(app)
        assert "SEQ1M Q8" in painted(app)
        assert "x Export" in painted(app)
    assert left_on(smbd) == []


def test_the_table_fills_line_by_line_and_the_time_is_counted_down(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr("app.quick.run_screen.monotonic", lambda: now[0])
    screen = QuickRunScreen(QuickScreen.parse(TYPED))
    assert screen.draw_heard(78) == ""

    whole = quick_test()
    screen.take_event(0, measurement.QuickOpened(quick=replace(whole, lines=(), file_bytes=0)))
    assert "SEQ1M Q8" in screen.draw_heard(78)
    assert "117.0" not in screen.draw_heard(78)

    line = whole.line(SEQ_Q8, Command.GET)
    assert line is not None
    screen.take_event(0, plan.LineBegan(line=replace(line, runs=()), number=7, of=8))
    assert screen.now() == "7 of 8: SEQ1M Q8 read; 18 s left at most"
    now[0] += 4.0
    assert screen.now().endswith("14 s left at most")
    now[0] += 60.0
    assert screen.now().endswith(f"{spec.RUNS * spec.RUN_SECONDS:.0f} s left at most")

    screen.take_event(0, measurement.QuickChanged(quick=replace(whole, lines=whole.lines[:1])))
    table = screen.draw_heard(78)
    assert "117.0" in table
    assert "84.0" not in table
    assert max(map(len, table.splitlines())) <= 80
