"""Rounds that begin elsewhere: with a change from the catalogue, or with a series that was imported."""

from dataclasses import replace

import pytest

from app.guide.run_screen import RunScreen
from app.guide.screen import GuideScreen
from app.method.choices import MEMORY_KEY, GuideChoices, MethodStep
from app.tui.entry import EntryScreen
from app.tui.frame.dialogs import ConfirmDialog, MessageDialog
from storage.notebook import Notebook
from storage.records import SeriesStatus, Target
from tests.builders import book, one, series
from tests.specs import choices_with
from tests.tui import SMB, FakeBackend, app_on, measured, press, settled, text_of

SHARE = Target(protocol="smb", host="nas", port=445, share="projects", path="")


@pytest.fixture
def path(tmp_path):
    return book(tmp_path / "notebook.db", one(1))


def app_with(path, *, series_id=None, first="entry", **arguments):
    """The app on a notebook whose guide has measured that series."""
    choices = choices_with(
        step=MethodStep.CHANGE, target=SHARE, file="big.bin", file_bytes=1 << 30, series_id=series_id
    )
    with Notebook(path) as notebook:
        notebook.remember(MEMORY_KEY, choices.to_memory())
    return app_on(path, first=first, backend=FakeBackend(), **arguments)


async def test_the_change_becomes_the_one_of_the_next_round(path):
    app = app_with(path, series_id=f"{1:012x}", entry="strict sync")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert "[projects] strict sync = " in text_of(app.screen, "#chosen")
        await pilot.press("v", "tab", *"no", "enter", "n")
        await settled(app, pilot)
        screen = app.screen
        assert isinstance(screen, GuideScreen)
        assert (screen.session.choices.spec.lineage.change_name, screen.session.choices.spec.lineage.change_value) == (
            "strict sync",
            "no",
        )
        assert (screen.session.choices.spec.lineage.base_id, screen.session.choices.step) == (
            f"{1:012x}",
            MethodStep.RUN,
        )
    with Notebook(path) as notebook:
        base = notebook.series("last")
    assert base.experiment is None, "until it is measured, nothing was changed"
    assert screen.session.choices.spec.lineage.experiment


async def test_a_guide_that_is_open_takes_it_up(path):
    app = app_with(path, series_id=f"{1:012x}", first="guide")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        guide = app.screen
        app.visit("entry", entry="log level")
        await settled(app, pilot)
        await pilot.press("n")
        await settled(app, pilot)
        assert app.screen is guide
        assert isinstance(guide, GuideScreen)
        assert guide.session.choices.spec.lineage.change_name == "log level"
    with Notebook(path) as notebook:
        assert GuideChoices.from_memory(notebook.remembered(MEMORY_KEY)).spec.lineage.change_name == "log level"


async def test_without_a_series_to_start_from_it_says_what_to_do_first(tmp_path):
    app = app_with(tmp_path / "empty.db", entry="log level")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("n")
        await settled(app, pilot)
        assert isinstance(app.screen, MessageDialog)
        assert "there is no series to start from" in text_of(app.screen, ".dialog-text")


async def test_a_value_that_this_program_cannot_set_is_refused(path):
    app = app_with(path, series_id=f"{1:012x}", entry="in-flight")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("v", "tab", *"many", "enter", "enter")
        await settled(app, pilot)
        await pilot.press("enter")
        await settled(app, pilot)
        assert isinstance(app.screen, MessageDialog)
        assert "in-flight = many: a whole number from 1 on is needed" in text_of(app.screen, ".dialog-text")
        await pilot.press("enter")
        assert isinstance(app.screen_stack[-1], EntryScreen)


IMPORTED = series(
    [1e8] * 2,
    id="bbbbbbbbbbbb",
    status=SeriesStatus.INTERRUPTED,
    target=replace(SMB, host="files.corp.example", port=445, share="data", path="big.bin"),
)


@pytest.mark.parametrize("meant", [False, True])
async def test_an_imported_series_is_gone_on_with_once_its_server_is_confirmed(tmp_path, monkeypatch, meant):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "secret")
    backend, path = FakeBackend(), tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        notebook.add_all([IMPORTED])
    app = app_on(path, backend=backend)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "a", "enter")
        assert isinstance(app.screen, ConfirmDialog)
        assert "smb://bench@files.corp.example/data/big.bin" in text_of(app.screen, ".dialog-text")
        assert backend.resumed == []
        await press(app, pilot, *(("left", "enter") if meant else ("enter",)))
        await measured(app, pilot)
        assert backend.resumed == ([IMPORTED.id] if meant else [])
        assert isinstance(app.screen, RunScreen if meant else GuideScreen)
