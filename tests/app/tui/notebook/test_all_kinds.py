"""The notebook screen with a recording of each kind: listed, read, opened, labelled, named, exported and deleted."""

from pathlib import Path

import pytest
from textual.widgets import Input

from app.kinds import KINDS
from app.tui.frame.dialogs import ConfirmDialog, PickDialog
from app.tui.measuring.stored import StoredScreen
from app.tui.notebook.dialogs import BaselineDialog, EditDialog
from app.tui.notebook.screen import NotebookScreen
from app.workflows.guide.rounds import after_recording
from storage.notebook import Notebook
from tests.builders import book, one
from tests.recordings import MAKERS, made_up_kind
from tests.tui import app_on, here, painted, press, settled


@pytest.mark.parametrize("kind", sorted(MAKERS))
async def test_the_screen_takes_a_recording_of_every_kind(kind: str, tmp_path: Path):
    path = tmp_path / "notebook.db"
    with made_up_kind():
        assert kind in KINDS
        with Notebook(path) as notebook:
            made = MAKERS[kind](notebook)
        app = app_on(path)
        async with app.run_test(size=(160, 60)) as pilot:
            await settled(app, pilot)
            assert type(here(app)) is NotebookScreen
            assert "1 recording" in painted(app).splitlines()[0]
            headings, line = painted(app).splitlines()[2:4]
            assert (kind if kind != "series" else "nas/data/big.bin") in line
            answer = line[headings.index("Answer") :][:20]
            assert answer.lstrip() == answer or not answer.strip()

            await pilot.press("e")
            await settled(app, pilot)
            assert type(here(app)) is EditDialog
            app.screen.query_one("#label", Input).value = "office day"
            await pilot.press("ctrl+s")
            await settled(app, pilot)
            assert "office day" in painted(app)

            await pilot.press("b")
            await settled(app, pilot)
            assert type(here(app)) is BaselineDialog
            await pilot.press(*"before", "enter")
            await settled(app, pilot)
            with Notebook(path) as notebook:
                assert notebook.recording("before").label == "office day"
            assert [one.message for one in app._notifications] == ["'before' now names this recording"]

            await pilot.press("enter")
            await settled(app, pilot)
            assert type(here(app)) is not NotebookScreen
            await pilot.press("escape")
            await settled(app, pilot)
            assert type(here(app)) is NotebookScreen

            await press(app, pilot, "d")
            assert type(here(app)) is ConfirmDialog, "it is a baseline"
            await press(app, pilot, "left", "enter")
            with Notebook(path) as notebook:
                assert notebook.recordings(parts=True) == []
            await pilot.press("u")
            await settled(app, pilot)
            with Notebook(path) as notebook:
                assert notebook.recording("before").id == made


@pytest.mark.parametrize(
    ("kind", "detail"),
    [
        ("trial", "p-value:"),
        ("isolation", "Costliest in smbd"),
        ("load", "Kinds of request"),
        ("compare", "Side by side"),
    ],
)
async def test_the_statistics_of_a_result_are_shown_only_when_asked(kind: str, detail: str, tmp_path: Path):
    path = tmp_path / "notebook.db"
    if kind == "compare":
        both = [one(number, (1e8, 1.01e8, 0.99e8)) for number in (1, 2)]
        app = app_on(book(path, *both), first="compare", base=both[0].id, other=both[1].id)
    else:
        with Notebook(path) as notebook:
            made = MAKERS[kind](notebook)
        app = app_on(path, first="stored", recording_id=made)
    async with app.run_test(size=(160, 60)) as pilot:
        await settled(app, pilot)
        assert "Verdict:" not in painted(app), "it stands above"
        for _ in range(2):
            assert detail not in painted(app)
            await press(app, pilot, "m")
            assert detail in painted(app)
            await press(app, pilot, "m")


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("load", "Load it again, or with other users"),
        ("isolation", "Resume it"),
        ("trial", "Read about strict sync"),
        ("audit", "Measure a file"),
        ("diagnosis", "Resume it"),
        ("survey", "Choose a setting to try: the catalogue"),
    ],
)
async def test_enter_on_a_result_offers_what_can_follow_it(kind: str, first: str, tmp_path: Path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        made = MAKERS[kind](notebook)
    app = app_on(path, first="stored", recording_id=made)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "enter")
        assert type(here(app)) is PickDialog
        assert f"★ {first}" in painted(app)
        await press(app, pilot, "enter")
        assert type(here(app)) not in {PickDialog, StoredScreen}


async def test_before_a_result_is_read_it_has_no_next_step(tmp_path: Path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        made = MAKERS["load"](notebook)
    app = app_on(path, first="stored", recording_id=made)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        assert here(app).check_action("next", ()) is True
        here(app).recorded = ()
        assert here(app).check_action("next", ()) is False


@pytest.mark.parametrize(
    ("kind", "first"),
    [("isolation", "Isolate again"), ("diagnosis", "Choose a setting to try: the catalogue"), ("trial", "Choose a")],
)
def test_without_advice_of_its_own_a_result_leads_on_by_its_kind(kind: str, first: str):
    assert next(step.name for step in after_recording(kind, None)).startswith(first)
