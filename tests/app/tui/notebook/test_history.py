"""The screen of a path's history, reached from the notebook."""

from pathlib import Path

import pytest

from app.tui.frame.dialogs import PickDialog
from app.tui.notebook.history_screen import HistoryScreen
from app.tui.notebook.screen import NotebookScreen
from storage.notebook import Notebook
from tests.builders import book, one
from tests.recordings import MAKERS
from tests.tui import app_on, here, painted, settled

STEADY = (100e6, 100.2e6, 99.8e6, 100.1e6, 99.9e6)


@pytest.mark.varied
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_curve_the_levels_and_a_new_normal(tmp_path: Path, size: tuple[int, int]):
    levels = [1.0] * 5 + [0.8] * 3
    series = [one(n, [rate * level for rate in STEADY]) for n, level in enumerate(levels, 1)]
    path = book(tmp_path / "notebook.db", *series)
    app = app_on(path)
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        await pilot.press("h")
        await settled(app, pilot)
        assert type(here(app)) is HistoryScreen
        shown = painted(app)
        assert "Slower by 20 % since 2026-01-06." in shown
        assert "newest level" in shown
        await pilot.press("n")
        await settled(app, pilot)
        assert type(here(app)) is PickDialog
        await pilot.press("enter")
        await settled(app, pilot)
        assert type(here(app)) is HistoryScreen
        with Notebook(path) as notebook:
            assert notebook.new_normals() == [series[-1].id]
        assert "new normal" in painted(app)
        await pilot.press("escape")
        await settled(app, pilot)
        assert type(here(app)) is NotebookScreen


async def test_what_has_no_history_is_told(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        MAKERS["audit"](notebook)
    app = app_on(tmp_path / "notebook.db")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        await pilot.press("h")
        await settled(app, pilot)
        assert "has no history" in painted(app)
