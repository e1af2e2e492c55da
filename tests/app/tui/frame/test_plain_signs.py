"""The Linux console has few signs: what is drawn there is in code page 437."""

import pytest

from app.tui.frame.plain_signs import PlainSigns
from tests.builders import book, one
from tests.tui import app_on, painted, settled

NO_GLYPH = "★✓▶▸◆…⏎╭╮╰╯"


@pytest.mark.parametrize(("term", "plain"), [("linux", True), ("xterm-256color", False)])
async def test_stars_ticks_and_round_corners_are_drawn_plainly_on_the_linux_console(tmp_path, monkeypatch, term, plain):
    monkeypatch.setenv("TERM", term)
    app = app_on(book(tmp_path / "notebook.db", one(1)), first="guide")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        drawn = painted(app)
        assert "Target" in drawn
        assert bool(set(NO_GLYPH) & set(drawn)) is not plain
        assert any(isinstance(each, PlainSigns) for each in app.get_line_filters()) is plain
