"""A recording with a value that was never stored is named in its row; the rest of the list works."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.tui.frame.dialogs import ConfirmDialog, MessageDialog, PickDialog
from app.tui.notebook.screen import NotebookScreen
from app.tui.notebook.series_screen import SeriesScreen
from storage.notebook import Notebook
from tests.builders import book, one
from tests.loads import full_load
from tests.tui import app_on, here, painted, press, settled, text_of

SOUND = one(1).id
DAMAGED = one(2).id


def spoil(path: Path, table: str, column: str, value: str, recording_id: str) -> None:
    """Write a value that the notebook itself would refuse."""
    owner = "id" if table in {"recordings", "series"} else "series_id"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {owner} = ?", (value, recording_id))


def damaged_book(path: Path, table: str, column: str, value: str) -> Path:
    book(path, one(1), one(2))
    spoil(path, table, column, value, DAMAGED)
    return path


@pytest.mark.varied(table=4)
@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("recordings", "created_at", "never"),
        ("recordings", "status", "never"),
        ("recordings", "kind", "never"),
        ("recordings", "content", "[]"),
        ("recordings", "content", "never"),
        ("recordings", "leftovers", "3"),
        ("series", "command", "never"),
        ("series", "plan", "3"),
        ("series", "quiet", "never"),
    ],
)
async def test_a_recording_that_cannot_be_read_is_named_in_its_row_and_the_rest_works(
    tmp_path: Path, table: str, column: str, value: str
):
    app = app_on(damaged_book(tmp_path / "notebook.db", table, column, value))
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(app, pilot)
        assert isinstance(here(app), NotebookScreen), "no dialog lies over the list"
        assert set(here(app).rows.lines) == {SOUND}
        assert set(here(app).rows.problems) == {DAMAGED}
        assert f"! {DAMAGED} cannot be read" in painted(app)

        here(app).rows.point(DAMAGED)
        await settled(app, pilot)
        await pilot.pause(0.2)
        await settled(app, pilot)
        assert isinstance(here(app), NotebookScreen)
        assert DAMAGED in text_of(app.screen, "#whole")

        await press(app, pilot, "enter")
        assert isinstance(here(app), MessageDialog), "it cannot be opened"
        while not isinstance(here(app), NotebookScreen):
            await press(app, pilot, "escape")
        await settled(app, pilot)
        assert isinstance(here(app), NotebookScreen), "and the list does not ask again"

        here(app).rows.point(SOUND)
        await press(app, pilot, "enter")
        assert isinstance(here(app), SeriesScreen)


@pytest.mark.varied
@pytest.mark.parametrize(("table", "column"), [("recordings", "status"), ("series", "plan")])
async def test_what_cannot_be_read_can_be_searched_around_and_is_deleted_for_good(
    tmp_path: Path, table: str, column: str
):
    path = damaged_book(tmp_path / "notebook.db", table, column, "never")
    app = app_on(path)
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f", *"series")
        here(app).look()
        await settled(app, pilot)
        assert isinstance(here(app), NotebookScreen)
        await press(app, pilot, "escape")

        here(app).rows.point(DAMAGED)
        await press(app, pilot, "d")
        assert isinstance(here(app), ConfirmDialog), "it cannot be undone, so it is asked"
        assert DAMAGED in text_of(app.screen, ".dialog-text")
        await press(app, pilot, "y")
        await settled(app, pilot)
        assert set(here(app).rows.listing.places) == {SOUND}
        assert here(app).rows.lines.keys() == {SOUND}
    with Notebook(path) as notebook:
        assert [head.id for head in notebook.recordings()] == [SOUND]


async def test_of_a_run_that_cannot_be_read_the_detail_says_so(tmp_path: Path):
    app = app_on(damaged_book(tmp_path / "notebook.db", "runs", "started_at", "never"))
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(app, pilot)
        here(app).rows.point(DAMAGED)
        await settled(app, pilot)
        await pilot.pause(0.2)
        await settled(app, pilot)
        assert isinstance(here(app), NotebookScreen)
        assert DAMAGED in text_of(app.screen, "#series-headline")


async def test_a_stored_load_that_cannot_be_read_stands_among_the_others_and_cannot_be_chosen(tmp_path: Path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        sound = full_load()
        damaged = replace(sound, id="damaged")
        notebook.add_load(sound)
        notebook.add_load(damaged)
    spoil(path, "recordings", "status", "never", damaged.id)
    app = app_on(path, first="load")
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "ctrl+l")
        await settled(app, pilot)
        dialog = here(app)
        assert isinstance(dialog, PickDialog)
        assert [value for value, _ in dialog.rows] == [sound.id, None]
        assert damaged.id in dialog.rows[1][1]
