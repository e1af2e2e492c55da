"""The quick test on the screen, of a real smbd: its form, its table as it fills, and the form at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from app.base.errors import UsageError
from app.quick import measurement, plan, spec
from app.quick.alike import quick_test_before
from app.quick.run_screen import QuickRunScreen
from app.quick.screen import QuickScreen
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from app.tui.frame.dialogs import PickDialog
from app.tui.notebook.compared import ComparedScreen
from forms.quick.answer import quick_answer
from storage.notebook import Notebook
from storage.plan import Imitated
from storage.quick.records import LEAST_FILE_BYTES, QUICK, quick_of, recording_of_quick
from storage.records import Command, SeriesStatus, Target, format_target
from tests.app.quick.leftovers import left_on
from tests.quick_tests import RND_Q1, RND_Q32, SEQ_Q8, quick_test
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
        assert "SEQ1M Q8T1" in painted(app)
        assert "x Export" in painted(app)
    assert left_on(smbd) == []


OTHER_RATES = {
    (SEQ_Q8, Command.PUT): [80e6, 117e6, 117e6],
    (RND_Q32, Command.GET): [19.3e6] * 3,
    (RND_Q1, Command.GET): [5.6e6] * 3,
}


async def test_all_lines_and_their_limits_stand_on_the_first_page_of_a_small_terminal(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        before = quick_test(id="aa00aa00aa00", created_at="2026-01-30T10:00:00.000Z")
        notebook.add_recording(recording_of_quick(before))
        notebook.add_recording(recording_of_quick(quick_test(OTHER_RATES)))

    app = SharebenchApp(Context(notebook_path=tmp_path / "notebook.db"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("stored", recording_id="aa77aa77aa77")
        await settled(app, pilot)
        page = painted(app)
        for name in ("SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"):
            assert f"{name} " in page, page
        assert "19.3  server" in page
        assert "server?" in page
        assert "at most 20 %" in page

        await press(app, pilot, "pagedown")
        assert "95 % interval" in painted(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, PickDialog)
        names = [row for _, row in app.screen.rows]
        assert "Compare with the quick test before" in names[1]
        await press(app, pilot, "down", "enter")
        assert isinstance(app.screen, ComparedScreen)
        assert app.screen.report is not None
        assert app.screen.report.form == "quick comparison"
        assert app.screen.report.fields[1].text.startswith("aa00aa00aa00")

        # It leads on as the newer one does, but not to itself.
        await press(app, pilot, "enter")
        assert isinstance(app.screen, PickDialog)
        names = [row for _, row in app.screen.rows]
        assert "Finish" in names[-1]
        assert not any("Compare with" in name for name in names)


@pytest.mark.parametrize(
    "fields",
    [
        {"status": SeriesStatus.FAILED},
        {"created_at": "2026-02-01T10:00:00.000Z"},
        {"target": Target(protocol="smb", host="other", share="data", path="tests")},
        {"program": "CrystalDiskMark"},
    ],
)
def test_only_a_complete_older_one_of_the_same_target_is_the_one_before(tmp_path: Path, fields: dict[str, Any]):
    quick = quick_test()
    older = quick_test(id="aa00aa00aa00", created_at="2026-01-30T10:00:00.000Z", size_bytes=1 << 29)
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_recording(recording_of_quick(quick))
        assert quick_test_before(notebook, quick) is None
        notebook.add_recording(recording_of_quick(replace(older, id="aa11aa11aa11", **fields)))
        assert quick_test_before(notebook, quick) is None
        notebook.add_recording(recording_of_quick(older))
        assert quick_test_before(notebook, quick) == older


def test_the_table_fills_line_by_line_and_the_time_is_counted_down(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr("app.quick.run_screen.monotonic", lambda: now[0])
    screen = QuickRunScreen(QuickScreen.parse(TYPED))
    assert screen.draw_heard(78) == ""

    whole = quick_test()
    screen.take_event(0, measurement.QuickOpened(quick=replace(whole, lines=(), file_bytes=0)))
    assert "SEQ1M Q8T1" in screen.draw_heard(78)
    assert "117.0" not in screen.draw_heard(78)

    line = whole.line(SEQ_Q8, Command.GET)
    assert line is not None
    screen.take_event(0, plan.LineBegan(line=replace(line, runs=()), number=7, of=8))
    assert screen.now() == "7 of 8: SEQ1M Q8T1 read; 18 s left at most"
    now[0] += 4.0
    assert screen.now().endswith("14 s left at most")
    now[0] += 60.0
    assert screen.now().endswith(f"{spec.RUNS * spec.RUN_SECONDS:.0f} s left at most")

    screen.take_event(0, measurement.QuickChanged(quick=replace(whole, lines=whole.lines[:1])))
    table = screen.draw_heard(78)
    assert "117.0" in table
    assert "84.0" not in table
    assert max(map(len, table.splitlines())) <= 80
