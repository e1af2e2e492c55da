"""What an interrupted trial left changed on a server, told on the notebook's screen and put back from there."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from app.guide.pages.run import run_page
from app.guide.round_notebook import recall
from app.trial.restored_change import Restored
from app.tui.frame.app import SharebenchApp
from app.tui.frame.dialogs import ConfirmDialog, MessageDialog
from app.tui.notebook.left_changes import LeftChanges, LeftOnServers
from app.tui.notebook.screen import NotebookScreen
from forms.layout import Toned
from storage.changes import JournalEntry
from storage.notebook import Notebook
from storage.records import Target
from tests.builders import abandoned_change
from tests.recordings import MAKERS, made_up_kind
from tests.tui import app_on, here, painted, press, settled, text_of

TOLD = "An interrupted trial left strict sync changed on this machine: R restores it."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.open_journal(abandoned_change())
    return tmp_path / "notebook.db"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is told in passing, and not taken away again."""
    told: list[str] = []
    monkeypatch.setattr(NotebookScreen, "notify", lambda _screen, text, **_: told.append(text))
    monkeypatch.setattr(SharebenchApp, "clear_notifications", lambda _: told.clear())
    return told


def restored(entry: JournalEntry, notebook: Notebook, _ssh: str | None) -> Restored:
    notebook.close_journal(entry.id)
    return Restored(entry=entry, effective="Yes", reloaded=True, same_configuration=True)


async def test_it_is_told_and_put_back_by_a_key(path: Path, monkeypatch: pytest.MonkeyPatch, told: list[str]):
    monkeypatch.setattr("app.trial.restore.restore_change", restored)
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert told == [TOLD]
        assert "R Restore" in painted(app)
        await press(app, pilot, "R")
        assert isinstance(here(app), ConfirmDialog)
        assert told == [], "nothing covers the question"
        with Notebook(path) as notebook:
            (entry,) = notebook.journal()
        assert f" with {entry.undo_path}, as before the trial." in " ".join(text_of(app.screen, ".dialog-text").split())
        await press(app, pilot, "enter")
        assert isinstance(here(app), MessageDialog)
        assert "strict sync on this machine is Yes again, as before" in text_of(app.screen, ".dialog-text")
        await press(app, pilot, "enter")
        assert "R Restore" not in painted(app)
        assert told == [], "it is over"
        await press(app, pilot, "R")
        assert not isinstance(here(app), ConfirmDialog)
        assert told == ["There is nothing to restore."]


async def test_the_key_looks_anew_for_what_another_program_left_or_restored(tmp_path: Path, told: list[str]):
    app = app_on(tmp_path / "notebook.db")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert "R Restore" not in painted(app)
        with Notebook(app.context.notebook_path) as notebook:
            notebook.open_journal(entry := abandoned_change())
        await press(app, pilot, "R")
        assert isinstance(here(app), ConfirmDialog)
        with Notebook(app.context.notebook_path) as notebook:
            notebook.close_journal(entry.id)
        await press(app, pilot, "escape")
        await press(app, pilot, "R")
        assert isinstance(here(app), NotebookScreen)
        assert told == ["There is nothing to restore."]
        assert "R Restore" not in painted(app)


async def test_the_key_that_restores_is_the_first_of_them_beside_recordings(path: Path, told: list[str]):
    with Notebook(path) as notebook:
        MAKERS["series"](notebook)
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert painted(app).splitlines()[-2].startswith(" R Restore  n Measure")
        await press(app, pilot, "space")
        assert painted(app).splitlines()[-2].startswith(" R Restore  c Compare"), "also where one is marked"
        assert told == [TOLD]


async def test_what_could_not_be_put_back_is_told_and_offered_again(path: Path, told: list[str]):
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "R", "enter")
        said = text_of(app.screen, "Static")
        assert "Not everything was restored" in said
        assert "strict sync was changed on nas" in said
        assert "--" not in said
        await press(app, pilot, "enter")
        assert "R Restore" in painted(app)
        assert told == [], "it is known"


async def test_what_a_trial_leaves_while_the_program_goes_on_is_told_when_the_notebook_is_seen_again(
    tmp_path: Path, told: list[str]
):
    app = app_on(tmp_path / "notebook.db")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert "R Restore" not in painted(app)
        await press(app, pilot, "C")
        with Notebook(app.context.notebook_path) as notebook:
            notebook.open_journal(abandoned_change())
        await press(app, pilot, "f2")
        assert "R Restore" in painted(app)
        assert told == [TOLD]


async def test_nothing_is_run_as_root_for_somebody_elses_notebook(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.trial.restore.is_own_file", lambda _: False)
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "R", "enter")
        assert "belongs to somebody else" in text_of(app.screen, ".dialog-text")


async def test_what_cannot_be_looked_for_is_told_once(path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(_notebook: Notebook) -> list[JournalEntry]:
        raise sqlite3.OperationalError("no")

    monkeypatch.setattr(Notebook, "abandoned_changes", fail)
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert isinstance(here(app), MessageDialog)
        await press(app, pilot, "enter")
        assert isinstance(here(app), NotebookScreen)
        monkeypatch.undo()
        await press(app, pilot, "C", "f2")
        assert "R Restore" in painted(app), "it goes on looking"


def test_what_is_at_work_for_a_moment_is_not_told_again():
    told: list[str] = []
    seen = [[abandoned_change()], [], [abandoned_change()]]
    screen = Mock(spec=NotebookScreen)
    screen.notify = lambda text, **_: told.append(text)
    screen.with_notebook = lambda _job, then, **_: then(LeftOnServers(seen.pop(0)))
    left = LeftChanges(screen, lambda: None)
    for offered in (True, False, True):
        left.look()
        assert left.offered is offered
    assert told == [TOLD]


@pytest.mark.parametrize("kind", ["series", "load", "isolation", "weighing"])
@pytest.mark.long
async def test_leftovers_of_every_kind_are_offered_in_one_way(kind: str, tmp_path: Path, told: list[str]):
    path = tmp_path / "notebook.db"
    with made_up_kind():
        with Notebook(path) as notebook:
            made = MAKERS[kind](notebook)
            left = "server_folders" if kind == "isolation" else "scratch_folder"
            notebook._db.execute("UPDATE recordings SET leftovers = ?", (json.dumps({left: [".sharebench-left"]}),))
        app = app_on(path)
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(app, pilot)
            assert told == [f"Leftovers of {made} may still be on its target: R names them."]
            await press(app, pilot, "R")
            said = text_of(app.screen, ".dialog-text")
            assert f"{kind} {made} left {left.replace('_', ' ')} .sharebench-left" in said
            await press(app, pilot, "enter")
            with Notebook(path) as notebook:
                notebook.open_journal(abandoned_change())
            await press(app, pilot, "C", "f2", "R")
            assert isinstance(here(app), ConfirmDialog), "what is changed is restored first"
            await press(app, pilot, "enter")
            assert ".sharebench-left" in text_of(app.screen, ".dialog-text")


def test_files_that_a_load_was_to_keep_are_no_leftovers(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        MAKERS["load"](notebook)
        notebook._db.execute('UPDATE recordings SET leftovers = \'{"scratch_folder": "kept"}\'')
        for keep, count in (("true", 0), ("false", 1)):
            sql = f"UPDATE recordings SET content = json_set(content, '$.choices.keep_files', json('{keep}'))"
            notebook._db.execute(sql)
            assert len(notebook.recordings_with_leftovers()) == count


def test_the_guide_says_before_a_run_what_is_left_changed(path: Path):
    with Notebook(path) as notebook:
        choices, known = recall(notebook, ())
    target = Target(protocol="smb", host="nas", share="data")
    (first, *_) = run_page(replace(choices, target=target, file="big.bin", file_bytes=1 << 30), known).facts
    assert isinstance(first, Toned)
    assert (
        first.text == "! An interrupted trial left strict sync changed on this machine: R in the notebook restores it."
    )
    assert not any("trial" in str(fact) for fact in run_page(choices, replace(known, left=())).facts)
