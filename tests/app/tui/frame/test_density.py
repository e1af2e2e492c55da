"""The dense look of small screens, and the one that was chosen."""

from pathlib import Path

import pytest

from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from tests.tui import settled


def app_in(folder: Path) -> SharebenchApp:
    return SharebenchApp(Context(notebook_path=folder / "notebook.db", theme_file=folder / "state" / "theme"))


@pytest.mark.parametrize(("size", "dense"), [((80, 24), True), ((120, 36), False), ((120, 24), True)])
async def test_frames_are_drawn_where_there_is_room(tmp_path, size, dense):
    app = app_in(tmp_path)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert app.screen.query_one("#all-series").styles.border_left[0] == ("" if dense else "round")


async def test_frames_come_and_go_with_the_terminals_size(tmp_path):
    app = app_in(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        for size in ((120, 36), (80, 24)):
            await pilot.resize_terminal(*size)
            assert app.has_class("-dense") == (size == (80, 24))


async def test_a_chosen_density_is_kept(tmp_path):
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("ctrl+o")
        assert app.has_class("-dense")
    again = app_in(tmp_path)
    async with again.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert again.has_class("-dense")


async def test_a_note_covers_no_more_rows_of_a_list_than_its_text_has(tmp_path):
    app = app_in(tmp_path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(app, pilot)
        app.notify("One line.", timeout=600)
        await settled(app, pilot)
        assert app.screen.query_one("Toast").outer_size.height == 1
