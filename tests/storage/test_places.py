"""Where a notebook may lie: on a disk that cannot be written, without shared memory, without locks, held by others."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from storage import database, notebook_file
from storage.errors import DamagedNotebookError, NotebookFileError, is_busy
from storage.migrations import CURRENT_FORMAT
from storage.notebook import Notebook
from tests.builders import FORMAT_1, every_field

READ = """
import sys
from pathlib import Path
from storage.errors import NotebookFileError
from storage.notebook import Notebook
import sqlite3
try:
    with Notebook(Path(sys.argv[1])) as notebook:
        print(notebook.series("last").id, len(notebook.heads()), notebook.remark)
        try:
            notebook.remove_baseline("before")
        except sqlite3.Error as error:
            from storage.errors import unusable
            print(unusable(error))
except NotebookFileError as error:
    print(error)
"""
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A notebook with one series, closed."""
    found = tmp_path / "kept" / "notebook.db"
    with Notebook(found) as notebook:
        notebook.add(every_field())
    return found


def read_only(path: Path) -> str:
    """What a program says of the notebook that may write neither it nor its folder."""
    powerless = ("setpriv", "--bounding-set=-dac_override") if os.getuid() == 0 else ()
    before = path.parent.stat().st_mode
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        done = subprocess.run(
            [*powerless, sys.executable, "-c", READ, path], capture_output=True, text=True, check=False, cwd=ROOT
        )
    finally:
        path.parent.chmod(before)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_new_notebook_is_for_its_owner_alone(path: Path):
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    with Notebook(path) as notebook:
        notebook.add(every_field("b" * 12))
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert set(modes.values()) == {0o600}
    assert len(modes) == 3


def test_a_notebook_in_a_folder_that_cannot_be_written_is_read(path: Path):
    said = read_only(path)
    assert said.startswith(f"{every_field().id} 1 ")
    assert "read as it stands" in said
    assert "you may not write to" in said


def test_one_of_an_older_format_that_cannot_be_written_is_refused_with_what_to_do(path: Path):
    path.unlink()
    connection = sqlite3.connect(path)
    connection.executescript(FORMAT_1.read_text())
    connection.close()
    assert CURRENT_FORMAT == 1 or "copy it to another folder" in read_only(path)


def test_one_that_was_not_closed_and_cannot_be_written_is_not_read_half(path: Path):
    with Notebook(path) as notebook:
        notebook.add(every_field("b" * 12))
        kept = {file: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")}
    for file, content in kept.items():
        file.write_bytes(content)
    assert "was not closed" in read_only(path)


def test_where_no_memory_can_be_shared_another_journal_is_kept_and_told(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(database, "_VFS", "unix-dotfile")  # SQLite's own file layer without shared memory
    with Notebook(path) as notebook:
        assert "cannot share memory" in notebook.remark
        notebook.add(every_field("b" * 12))
    with Notebook(path.with_name("new.db")) as notebook:
        notebook.add(every_field())
        assert "cannot share memory" in notebook.remark
    monkeypatch.setattr(database, "_VFS", "")
    with Notebook(path) as notebook:
        assert len(notebook.heads()) == 2
        assert notebook.remark == ""


def test_a_file_system_without_locks_is_named_at_once(path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", refuse)
    with pytest.raises(NotebookFileError, match="has no locks"):
        Notebook(path)


def test_one_that_is_held_is_told_to_be(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(notebook_file, "BUSY_SECONDS", 0.1)
    with Notebook(path) as notebook, sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as caught:
            notebook.add(every_field("b" * 12))
        assert is_busy(caught.value)
        other.execute("ROLLBACK")
        notebook.add(every_field("b" * 12))
    other.close()
    path.with_name("new.db").touch()
    with sqlite3.connect(path.with_name("new.db"), isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(NotebookFileError, match="held by another program"):
            Notebook(path.with_name("new.db"))
    other.close()


def test_what_is_no_file_is_refused_without_waiting_for_it(tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    for place in (tmp_path / "fifo", Path("/dev/null"), Path("/dev/zero"), tmp_path):
        with pytest.raises(NotebookFileError, match="start sharebench with another notebook") as told:
            Notebook(place)
        assert "--" not in str(told.value), "a screen shows it too"
        assert told.value.options == "--db FILE"


def read_all(path: Path) -> None:
    with Notebook(path) as notebook:
        notebook.series("last")
        notebook.heads()
        notebook.runs_of([every_field().id])


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM notebook_formats",
        "UPDATE series SET plan = '[]'",
        """UPDATE series SET plan = '{"runs": "five"}'""",
        "UPDATE series SET quiet = '5'",
        """UPDATE series SET quiet = '{"verdict": "loud"}'""",
        "UPDATE recordings SET status = 'whatever'",
        "UPDATE runs SET progress = '[[1]]'",
        "UPDATE recordings SET label = CAST(x'ff41' AS TEXT)",
        "UPDATE runs SET error = CAST(x'ff41' AS TEXT)",
    ],
)
def test_what_was_not_written_by_us_is_damage(path: Path, damage: str):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute(damage)
    connection.commit()
    connection.close()
    with pytest.raises((DamagedNotebookError, sqlite3.OperationalError), match=r"damaged|Could not decode"):
        read_all(path)


def test_damage_whose_description_is_no_text_is_told_too(path: Path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET name = CAST(x'ffe9' AS TEXT), sql = 'CREATE' WHERE name = 'runs'")
    connection.commit()
    connection.close()
    with pytest.raises(DamagedNotebookError, match="damaged"):
        read_all(path)


def test_a_copy_of_an_older_format_is_whole_or_not_there(path: Path, monkeypatch: pytest.MonkeyPatch):
    def killed(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    path.unlink()
    connection = sqlite3.connect(path)
    connection.executescript(FORMAT_1.read_text())
    connection.close()
    monkeypatch.setattr(database, "CURRENT_FORMAT", CURRENT_FORMAT + 1)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            Notebook(path)
    assert not list(path.parent.glob("*.format-1"))
    Notebook(path).close()
    copies = sorted(file.name for file in path.parent.glob("*.format-1*"))
    assert copies == [f"{path.name}.format-1"]
    with sqlite3.connect(path.with_name(copies[0])) as connection:
        assert connection.execute("SELECT count(*) FROM series").fetchone() == (1,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_two_that_make_one_at_the_same_moment_wait_for_each_other(tmp_path: Path):
    path = tmp_path / "new.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        end = threading.Timer(0.3, other.execute, ["ROLLBACK"])
        end.start()
        with Notebook(path) as notebook:
            assert not notebook.heads()
        end.join()


def test_a_notebook_opens_where_the_folder_that_the_program_began_in_is_gone(tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert notebook.heads() == []
    with pytest.raises(NotebookFileError):
        Notebook(Path("notebook.db"))
