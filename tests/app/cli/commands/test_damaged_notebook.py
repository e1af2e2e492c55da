"""A value that was never stored closes the recording it belongs to, and not the notebook; and the advice is tried."""

import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from storage.errors import DamagedNotebookError, UnreadableRecordingError
from storage.notebook import Notebook
from tests.builders import book, one
from tests.command_line import Inside
from tests.reliability.documents import whole_notebook
from tests.servers.process import require
from tests.waiting import HANG_SECONDS

WRONG, SOUND = one(1).id, one(2).id


def with_value(path: Path, table: str, column: str, value: str) -> Inside:
    """A notebook of two series, where that value stands in the rows of one."""
    book(path, one(1), one(2))
    with Notebook(path) as notebook:
        notebook.set_baseline("before", WRONG)
    owner = {"recordings": "id", "series": "id", "baselines": "recording_id"}.get(table, "series_id")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {owner} = ?", (value, WRONG))
    return Inside(path, None)


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
def test_a_recording_that_cannot_be_read_is_named_and_the_others_can(
    table: str, column: str, value: str, tmp_path: Path
):
    inside = with_value(tmp_path / "a.db", table, column, value)

    listed = inside("list")
    assert (listed.returncode, SOUND in listed.stdout, WRONG in listed.stdout) == (0, True, False), listed.stderr
    assert [WRONG in line for line in listed.stderr.splitlines()] == [True]
    assert [document["id"] for document in inside.json("list", "--json")] == [SOUND]

    for words in (("show", SOUND), ("rename", SOUND, "x"), ("baseline", "list"), ("baseline", "remove", "before")):
        assert inside(*words).returncode == 0, words
    shown = inside("show", WRONG)
    assert (shown.returncode in {2, 4}, WRONG in shown.stderr, len(shown.stderr.splitlines())) == (True, True, 1)

    assert inside("delete", WRONG, "--yes").stdout.split() == [WRONG]
    assert inside("list").stderr == ""
    assert SOUND in inside("list").stdout


def test_a_run_that_cannot_be_read_closes_its_series_alone(tmp_path: Path):
    inside = with_value(tmp_path / "a.db", "runs", "started_at", "never")
    shown = inside("show", WRONG)
    assert (shown.returncode, WRONG in shown.stderr) == (4, True)
    assert inside("show", SOUND).returncode == 0
    assert inside("delete", WRONG, "--yes").returncode == 0


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("baselines", "set_at", "never"),
        ("recordings", "content", '{"said": {"label": 3}}'),
        ("recordings", "content", '{"said": {"label": {"now": {"never": "x"}}}}'),
    ],
)
def test_what_people_wrote_closes_nothing(table: str, column: str, value: str, tmp_path: Path):
    inside = with_value(tmp_path / "a.db", table, column, value)
    for words in (("list",), ("baseline", "list"), ("show", WRONG), ("rename", WRONG, "x"), ("note", WRONG, "y")):
        done = inside(*words)
        assert (done.returncode, "damaged" in done.stderr) == (0, False), words
    assert inside("baseline", "remove", "before").returncode == 0
    assert inside.json("show", WRONG, "--json")["label"] == "x"
    assert inside("delete", WRONG, "--yes").returncode == 0


def saved(path: Path, advice: str) -> Inside:
    """What is saved by the command that an error advises."""
    require("sqlite3", root=False)
    command = re.search("`(sqlite3 .*?)`", advice)
    assert command
    new = path.with_name("new.db")
    line = command[1].replace("NOTEBOOK", str(path)).replace("NEW.db", str(new))
    subprocess.run(line, shell=True, check=False, capture_output=True, timeout=HANG_SECONDS)
    return Inside(new, None)


def test_the_advice_about_a_damaged_notebook_saves_a_sound_one_whole(tmp_path: Path):
    whole_notebook(tmp_path / "a.db")
    before = Inside(tmp_path / "a.db", None).json("list", "--json")
    assert saved(tmp_path / "a.db", str(DamagedNotebookError("x"))).json("list", "--json") == before


def test_the_advice_about_a_damaged_notebook_saves_what_can_be_read(tmp_path: Path):
    path = tmp_path / "a.db"
    whole_notebook(path)
    ids = {document["id"] for document in Inside(path, None).json("list", "--json")}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'recordings_by_time'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(content)

    told = Inside(path, None)("list")
    assert told.returncode == 4
    assert {document["id"] for document in saved(path, told.stderr).json("list", "--json")} == ids


def test_nothing_is_advised_that_saves_nothing(tmp_path: Path):
    """A file whose beginning is lost, or a value that a copy would have too."""
    (tmp_path / "a.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 8192)
    told = Inside(tmp_path / "a.db", None)("list")
    assert (told.returncode, "sqlite3" in told.stderr) == (4, False)
    assert "sqlite3" not in str(UnreadableRecordingError(WRONG, "x"))
