"""What was left changed on a server, put back once, and told even where the notebook cannot note it."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import NotebookError
from app.cli.main import run
from app.server.changes.script import ChangeFailedError
from app.server.shell import Answer
from app.trial.change_journal import restore_entry
from app.trial.restore import restore
from app.trial.restored_change import Restored, restore_change
from storage.changes import ChangeState, JournalEntry
from storage.notebook import Notebook
from tests.builders import abandoned_change


@pytest.fixture
def notebook(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.open_journal(abandoned_change())
        yield notebook


def test_while_it_is_put_back_nobody_else_does(notebook: Notebook, monkeypatch: pytest.MonkeyPatch):
    begun: list[str] = []

    def slow(entry: JournalEntry, book: Notebook, _ssh: str | None) -> Restored:
        begun.append(entry.id)
        with Notebook(notebook.path) as other:
            beside = restore(other)
        assert [one.id for one in beside.at_work] == [entry.id]
        assert beside.lines()[0].endswith("is at work on strict sync: left alone")
        book.close_journal(entry.id)
        return Restored(entry=entry, effective="Yes", reloaded=True, same_configuration=True)

    monkeypatch.setattr("app.trial.restore.restore_change", slow)
    assert len(restore(notebook).restored) == 1
    assert len(begun) == 1


def test_what_somebody_else_took_since_is_left_to_them(notebook: Notebook, monkeypatch: pytest.MonkeyPatch):
    standing = notebook.journal(ChangeState.OPEN)

    def taken_meanwhile(state: ChangeState) -> list[JournalEntry]:
        monkeypatch.undo()
        assert notebook.take_journal(abandoned_change().id)
        assert notebook.journal(state)[0].at_work
        return standing

    monkeypatch.setattr(notebook, "journal", taken_meanwhile)
    found = restore(notebook)
    assert ([one.id for one in found.at_work], found.to_restore) == ([abandoned_change().id], [])


def test_a_notebook_that_cannot_be_written_keeps_nobody_from_putting_back(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_words: object) -> None:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    def restored(entry: JournalEntry, _notebook: Notebook, _ssh: str | None) -> Restored:
        return Restored(entry=entry, effective="Yes", reloaded=True, same_configuration=True)

    monkeypatch.setattr(notebook, "take_journal", fail)
    monkeypatch.setattr("app.trial.restore.restore_change", restored)
    assert len(restore(notebook).restored) == 1


def test_what_was_put_back_is_said_where_the_notebook_cannot_be_told_and_the_rest_is_put_back_too(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_words: object) -> None:
        raise sqlite3.DatabaseError("database disk image is malformed")

    undone: list[str] = []

    def undo(entry: JournalEntry, book: Notebook, _ssh: str | None) -> Restored:
        undone.append(entry.id)
        book.close_journal(entry.id)
        raise AssertionError

    notebook.open_journal(replace(abandoned_change(), id="another", name="socket options"))
    monkeypatch.setattr(notebook, "close_journal", fail)
    monkeypatch.setattr("app.trial.restore.restore_change", undo)
    found = restore(notebook)
    said = [str(problem) for problem in found.problems]
    assert len(undone) == len(said) == len(found.to_restore) == 2
    wanted = "on this machine was restored, but the notebook could not record it (database disk image is malformed)"
    assert all(wanted in text for text in said)
    assert len(notebook.abandoned_changes()) == 2  # so that it is offered again


def test_a_change_that_somebody_elsewhere_is_at_work_on_is_told_so_for_as_long_as_it_is_renewed(notebook: Notebook):
    assert notebook.abandoned_changes()
    notebook.renew_journal(abandoned_change().id)
    assert not notebook.abandoned_changes()


def test_what_could_not_be_put_back_can_be_tried_again_by_the_same_process(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
):
    def fail(_entry: JournalEntry, _notebook: Notebook, _ssh: str | None) -> Restored:
        raise ChangeFailedError("nobody answers")

    monkeypatch.setattr("app.trial.restore.restore_change", fail)
    for _ in range(2):
        assert [str(problem) for problem in restore(notebook).problems] == ["nobody answers"]
    assert notebook.abandoned_changes()


def test_what_went_wrong_is_told_where_the_notebook_cannot_note_it(notebook: Notebook, monkeypatch: pytest.MonkeyPatch):
    def fail(*_words: object) -> None:
        raise sqlite3.OperationalError("database is locked")

    def unreachable(*_words: object) -> None:
        raise ChangeFailedError("nobody answers")

    monkeypatch.setattr(notebook, "leave_journal", fail)
    monkeypatch.setattr("app.server.changes.script.undo", unreachable)
    (entry,) = notebook.journal(ChangeState.OPEN)
    with pytest.raises(ChangeFailedError, match="could not be restored"):
        restore_entry(entry, notebook)


@pytest.mark.parametrize(
    ("sections", "shown"),
    [
        ({"effective": "1", "debuglevel": "PID 12: all:3 tdb:3"}, "3"),
        ({"effective": "1", "debuglevel": ""}, None),
        ({"effective": "Yes"}, "Yes"),
        ({}, None),
    ],
)
def test_the_log_level_that_is_told_is_the_servers_and_not_that_of_testparm(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, sections: dict[str, str], shown: str | None
):
    there = Answer(sections={"machine": "nas 1234", "uid": "0"})
    monkeypatch.setattr("app.trial.restored_change.read_there", lambda *_words: there)
    monkeypatch.setattr(
        "app.trial.restored_change.restore_entry", lambda *_words: Answer(sections={"effective.rc": "0", **sections})
    )
    assert restore_change(abandoned_change(), notebook).effective == shown


def test_what_was_restored_is_told_though_the_notebook_cannot_take_the_rest(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
):
    def isolations(_notebook: Notebook) -> Iterator[str]:
        yield "its folders are removed"
        raise NotebookError("the notebook could not be written for 600 s")

    def restored(entry: JournalEntry, _notebook: Notebook, _ssh: str | None) -> Restored:
        return Restored(entry=entry, effective="Yes", reloaded=True, same_configuration=True)

    told: list[str] = []
    monkeypatch.setattr("app.trial.restore.restore_change", restored)
    monkeypatch.setattr("app.trial.restore.restored_isolations", isolations)
    found = restore(notebook, tell=told.append)
    assert told == found.of_isolations == ["its folders are removed"]
    assert len(found.restored) == 1
    assert "for 600 s" in found.lines()[-1]


def test_the_command_tells_of_each_that_the_notebook_could_not_record(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def full(*_words: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    notebook.open_journal(replace(abandoned_change(), id="another", name="socket options"))
    monkeypatch.setattr("app.trial.restore.restore_change", full)
    code = run(["--db", str(notebook.path), "restore"], lambda *_words: 0)
    said = capsys.readouterr()
    assert (code, said.out) == (4, "")
    assert [line.partition(" on ")[0] for line in said.err.splitlines()] == [
        "socket options",
        "sharebench: strict sync",
    ]
