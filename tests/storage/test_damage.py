"""Values that sharebench never wrote: reading them says that the notebook is damaged."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.cli.main import run
from storage.codec import reports_damage
from storage.errors import DamagedNotebookError
from storage.notebook import Notebook
from tests.builders import one
from tests.command_line import Inside
from tests.recordings import MAKERS


def damage(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute(statement, values)
        db.commit()


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("UPDATE recordings SET created_at = ?", ""),
        ("UPDATE recordings SET created_at = ?", "yesterday"),
        ("UPDATE runs SET seconds = ?", float("inf")),
        ("UPDATE series SET ceiling_bytes_per_second = ?", float("-inf")),
        *(("UPDATE runs SET progress = ?", found) for found in ("5", "null", "[1]", "[[1]]", '[{"a": 1}]')),
    ],
)
def test_no_moment_and_no_number(tmp_path: Path, statement: str, value: object):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        notebook.add(one(1))
        assert notebook.series("last").runs
    damage(path, statement, value)
    with Notebook(path) as notebook, pytest.raises(DamagedNotebookError):
        notebook.series("last")


@pytest.mark.parametrize(("seconds", "rate", "sound"), [(1e-6, 0.0, True), (0.0, 1.0, False), (1.0, -1.0, False)])
def test_a_place_of_a_trial_took_some_time(tmp_path: Path, seconds: float, rate: float, sound: bool):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        name = notebook.experiments()[0].experiment.name if MAKERS["trial"](notebook) else ""
    damage(path, "UPDATE trial_slots SET control_seconds = ?, requests_per_second = ?", seconds, rate)
    with Notebook(path) as notebook:
        if sound:
            assert notebook.slots(name)
        else:
            with pytest.raises(DamagedNotebookError):
                notebook.slots(name)


def test_a_list_names_the_recording_whose_measurements_are_gone_and_the_others(tmp_path: Path, capsys):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        notebook.add(one(1))
        notebook.add(one(2))
    damage(path, "DELETE FROM series WHERE id = ?", f"{1:012x}")
    for words in (["list"], ["list", "--all"], ["restore", "--list"]):
        assert run(["--db", str(path), *words], lambda *_args, **_more: 0) == 0, words
    out = capsys.readouterr().out
    assert "is gone" in out
    assert f"{2:012x}" in out


@pytest.mark.parametrize("kind", sorted(MAKERS.keys() - {"weighing"}))
def test_no_odd_value_in_the_content_of_a_recording_is_a_fault(tmp_path: Path, kind: str):
    whole, damaged = tmp_path / "whole.db", Inside(tmp_path / "damaged.db", None)
    with Notebook(whole) as notebook:
        content = dict(notebook.recording(MAKERS[kind](notebook)).content)
    for name in content:
        shutil.copyfile(whole, damaged.db)
        damage(
            damaged.db, "UPDATE recordings SET content = ? WHERE kind = ?", json.dumps(content | {name: "nan"}), kind
        )
        for words in (["list", "--all"], ["show", "last"], ["history", "smb://nas/data/big.bin"]):
            done = damaged(*words)
            assert "fault in sharebench" not in done.stderr, (name, words)


def test_a_run_of_another_series_than_was_asked_for_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add(one(1))
        found = notebook._rows_of
        monkeypatch.setattr(notebook, "_rows_of", lambda *asked: ({**row, "series_id": "x"} for row in found(*asked)))
        with pytest.raises(DamagedNotebookError):
            notebook.runs_of([f"{1:012x}"])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (ValueError, DamagedNotebookError),
        (KeyError, DamagedNotebookError),
        (TypeError, TypeError),
        (AttributeError, AttributeError),
    ],
)
def test_our_own_mistake_is_no_damage(wrong: type[Exception], told: type[Exception]):
    @reports_damage
    def read() -> None:
        raise wrong("x")

    with pytest.raises(told):
        read()
