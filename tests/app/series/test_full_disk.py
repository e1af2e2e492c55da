"""What was measured is printed, where its notebook is on a disk that became full."""

import json
from pathlib import Path

import pytest

from tests.command_line import Done, Inside


@pytest.fixture
def full(small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """The command line with a notebook on a disk to be filled; another can be made in ``tmp_path / "elsewhere"``."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("app.recording.rescue._folders", lambda _path: iter([elsewhere]))
    monkeypatch.setattr("app.recording.writer.GIVE_UP_SECONDS", 0.5)
    monkeypatch.setattr("app.recording.writer.DISK_SECONDS", 0.5)
    (tmp_path / "file").write_bytes(b"x" * 300_000)
    return Inside(small_disk / "notebook.db", None)


def run(full: Inside, tmp_path: Path, *options: str) -> Done:
    """Measure a file while the disk of the notebook becomes full before the first run."""
    fill = f"cat /dev/zero > {full.db.parent}/other 2>/dev/null; true"
    words = ("--runs", "3", "--warmup", "0", "--quiet-time", "skip", "--prepare", fill)
    return full("run", f"file://{tmp_path}/file", *words, *options)


def test_the_form_is_printed_and_another_notebook_has_the_series(full: Inside, tmp_path: Path):
    answer = run(full, tmp_path)
    assert answer.returncode == 4
    assert answer.stdout.startswith("FILE get:")
    (saved,) = (tmp_path / "elsewhere").glob("notebook-saved-*.db")
    assert str(saved) in answer.stderr
    (listed,) = json.loads(Inside(saved, None)("list", "--json").stdout)
    assert listed["id"] in answer.stdout


def test_the_form_is_printed_where_nothing_can_be_written_at_all(
    full: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("app.recording.rescue._folders", lambda _path: iter(()))
    answer = run(full, tmp_path, "--json")
    assert answer.returncode == 4
    assert len(json.loads(answer.stdout)["runs"]) == 3


def test_a_series_with_a_limit_of_time_is_printed_too(full: Inside, tmp_path: Path):
    answer = run(full, tmp_path, "--within", "1")
    assert answer.returncode == 4
    assert answer.stdout.startswith("FILE get:")
