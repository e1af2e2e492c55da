"""What a kill or a lost connection left on a target is named wherever a user may look, for every kind of recording."""

from dataclasses import replace
from pathlib import Path

import pytest

from storage.isolation import LeftBehind
from storage.load.records import LoadChoices
from storage.notebook import Notebook
from storage.owners import this_process
from storage.records import SeriesStatus
from tests.builders import abandoned_change, series
from tests.command_line import QUICK, Inside
from tests.loads import full_load

SCRATCH, FOLDER = ".sharebench-0123456789ab", ".sharebench-load-0123456789ab"


@pytest.fixture
def killed(inside: Inside) -> Inside:
    """A notebook whose only series was killed while its file was made: it has no run."""
    with Notebook(inside.db) as notebook:
        notebook.add(series((), status=SeriesStatus.INTERRUPTED, scratch_path=SCRATCH))
    return inside


@pytest.fixture
def killed_load(inside: Inside) -> Inside:
    with Notebook(inside.db) as notebook:
        notebook.add_load(replace(full_load(), status=SeriesStatus.INTERRUPTED, scratch_folder=FOLDER))
    return inside


def test_a_file_made_before_the_first_run_is_named(killed: Inside):
    assert "+" in killed("list").stdout
    shown = killed("show", "last")
    assert SCRATCH in shown.stdout
    assert "sharebench clean smb://nas/data" in shown.stderr
    assert SCRATCH in killed("delete", "last").stderr
    assert killed.json("show", "last", "--json")["left_behind"] == SCRATCH


def test_a_folder_of_a_load_is_named(killed_load: Inside):
    assert "+" in killed_load("list").stdout.splitlines()[-1]
    shown = killed_load("show", "last-load")
    assert FOLDER in shown.stdout
    deleted = killed_load("delete", "last-load").stderr
    assert FOLDER in deleted
    assert "sharebench clean smb://" in deleted


def test_a_folder_of_an_isolation_is_marked_in_its_list(inside: Inside):
    assert inside("import", "--example").returncode == 0
    assert "+" not in inside("list", "--isolations").stdout
    with Notebook(inside.db) as notebook:
        found = notebook.isolation(notebook.isolations()[0].id)
        notebook.update_isolation(replace(found, left_behind=LeftBehind(server_folders=("/srv/x",))))
    assert inside("list", "--isolations").stdout.count("+") == 1


@pytest.mark.parametrize("book", ["killed", "killed_load"])
def test_the_next_measurement_begins_with_what_is_left(request: pytest.FixtureRequest, book: str):
    inside: Inside = request.getfixturevalue(book)
    said = inside("check", "file:///nosuch").stderr
    assert said.count("leftovers of 0123456789ab") == 1
    assert "sharebench clean TARGET" in said


def test_files_that_were_to_stay_are_no_news(inside: Inside):
    with Notebook(inside.db) as notebook:
        notebook.add_load(full_load(choices=LoadChoices(keep_files=True), scratch_folder=FOLDER))
    assert "leftovers" not in inside("check", "file:///nosuch").stderr


def test_a_measurement_beside_a_running_trial_is_warned_of(inside: Inside, tmp_path: Path):
    (tmp_path / "big.bin").write_bytes(b"x" * 300_000)
    asked = ("run", f"file://{tmp_path}/big.bin", *QUICK, "--runs", "1", "--warmup", "0")
    with Notebook(inside.db) as notebook:
        notebook.open_journal(replace(abandoned_change(), owner=this_process()))
        warning = "a running trial has strict sync changed on this machine: this measurement includes that"
        assert warning in inside(*asked).stderr
        notebook.close_journal(abandoned_change().id)
    assert "running trial" not in inside(*asked).stderr
