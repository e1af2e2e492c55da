"""A notebook that is lost, or cannot be written, while something is measured: nothing that was measured is lost."""

import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from app.cli.progress import ProgressLine
from app.recording import rescue, writer
from app.recording.process import RunFinished, Warned
from app.series.events import RecorderEvent
from storage.errors import LostNotebookError
from storage.notebook import Notebook
from storage.records import SeriesStatus, format_target
from tests.command_line import QUICK, Inside
from tests.servers.process import program, require

RUNS = 5
Lose = Callable[[Path], object]
_RUN = ("--runs", str(RUNS), "--warmup", "0", *QUICK)


@pytest.fixture
def inside(tmp_path: Path) -> Inside:
    return Inside(tmp_path / "kept" / "n.db")


@pytest.fixture
def target(inside: Inside, tmp_path: Path) -> str:
    """What is measured, by a notebook that has a series already."""
    inside.db.parent.mkdir()
    file = tmp_path / "file"
    file.write_bytes(bytes(1 << 20))
    assert inside("run", f"file://{file}", "--runs", "1", "--warmup", "0", *QUICK).returncode == 0
    shutil.copy(inside.db, tmp_path / "older.db")
    return f"file://{file}"


def at_run(monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], object]) -> None:
    """Have ``act`` done when that run is told."""
    show = ProgressLine.show

    def shown(line: ProgressLine, event: RecorderEvent) -> None:
        if isinstance(event, RunFinished) and event.run.number == number:
            act()
        show(line, event)

    monkeypatch.setattr(ProgressLine, "show", shown)


def saved_beside(db: Path) -> Path:
    (saved,) = db.parent.glob("n-saved-*.db")
    return saved


def runs_of_last(inside: Inside) -> int:
    return len(inside.json("show", "last", "--json")["runs"])


def deleted(db: Path) -> None:
    db.unlink()


def replaced(db: Path) -> None:
    (db.parents[1] / "older.db").rename(db)


def emptied(db: Path) -> None:
    os.truncate(db, 0)


def cut_short(db: Path) -> None:
    os.truncate(db, db.stat().st_size // 2)


def test_a_deleted_notebook_is_not_called_damaged_where_reading_met_its_loss_first(tmp_path: Path):
    with Notebook(tmp_path / "n.db") as notebook:
        lost = LostNotebookError(f"the notebook {notebook.path} was deleted or moved")
        warnings = list(writer.Recorder(notebook).keep_despite(lost))
        assert notebook.why_moved == str(lost)
    assert [str(lost) in warning.text and "damaged" not in warning.text for warning in warnings] == [True]


@pytest.mark.varied(lose=2)
@pytest.mark.parametrize("lose", [deleted, replaced, emptied, cut_short])
def test_a_series_goes_on_beside_a_lost_notebook_and_is_imported_whole(
    inside: Inside, target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lose: Lose
):
    older = (tmp_path / "older.db").read_bytes()
    at_run(monkeypatch, 2, lambda: lose(inside.db))
    done = inside("run", target, *_RUN)

    saved = saved_beside(inside.db)
    assert done.returncode == 4
    told = [line for line in done.stderr.splitlines() if str(saved) in line]
    assert len(told) == 2, "at once, and at the end"
    assert done.stderr.splitlines().index(told[0]) < len(done.stderr.splitlines()) - 2

    if lose is cut_short:
        inside.db.write_bytes(older)  # as the error advises
    imported = inside("import", str(saved))
    assert imported.returncode == 0, imported.stderr
    assert runs_of_last(inside) == RUNS
    assert inside("import", str(saved)).stdout.strip() == "", "it is there already"
    alone = Inside(saved)
    assert runs_of_last(alone) == RUNS
    assert alone.json("show", "last", "--json")["status"] == "complete"


def at_write(monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], object]) -> None:
    """Have ``act`` done before that many writes of a recorder are carried out."""
    flush = writer.Recorder.flush
    flushed = [0]

    def flush_or_lose(recorder: writer.Recorder) -> Iterator[Warned]:
        if recorder.leases and recorder._waiting:
            flushed[0] += 1
            if flushed[0] == number:
                act()
        yield from flush(recorder)

    monkeypatch.setattr(writer.Recorder, "flush", flush_or_lose)


_OTHERS = {
    "load": (
        "load",
        "SHARE/lost",
        "--users",
        "1,2",
        "--duration",
        "1",
        "--files",
        "60",
        "--settle",
        "0.2",
        "--processes",
        "1",
    ),
    "isolation": ("isolate", "SHARE", "--seconds", "2", "--rounds", "2", "--clients", "1"),
    "diagnosis": ("diagnose", "SHARE", "--quick", "--only", "connect,distance", "--yes"),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", _OTHERS)
def test_every_kind_goes_on_beside_a_lost_notebook_and_is_imported_whole(
    kind: str, inside: Inside, make_smbd, monkeypatch: pytest.MonkeyPatch
):
    smbd = make_smbd()
    folder = smbd.folder / "lost"
    folder.mkdir()
    folder.chmod(0o777)
    measuring = Inside(inside.db, smbd.password)
    inside.db.parent.mkdir()
    at_write(monkeypatch, 3, inside.db.unlink)
    done = measuring(*(word.replace("SHARE", format_target(smbd.target())) for word in _OTHERS[kind]))

    saved = saved_beside(inside.db)
    assert done.returncode == 4, done.stderr
    assert str(saved) in done.stderr
    assert not inside.db.exists()
    imported = inside("import", str(saved))
    assert imported.returncode == 0, imported.stderr
    document = inside.json("show", "last", "--json")
    assert document["schema"].startswith(f"sharebench/{kind}/")
    assert document["status"] == "complete"
    assert document == Inside(saved).json("show", "last", "--json")


@pytest.mark.long
def test_a_trial_whose_notebook_is_lost_restores_the_setting_and_is_imported_whole(
    inside: Inside, make_smbd, monkeypatch: pytest.MonkeyPatch
):
    smbd = make_smbd()
    smbd.make_file("file", b"x" * 3_000_000)
    conf = smbd.conf.read_bytes()
    measuring = Inside(inside.db, smbd.password)
    inside.db.parent.mkdir()
    at_write(monkeypatch, 6, inside.db.unlink)
    words = (
        "sweep",
        "SO_RCVBUF=256K",
        f"{format_target(smbd.target())}/file",
        "--blocks",
        "2",
        "--ceiling",
        "skip",
        "--yes",
    )
    done = measuring(*words, "--smb-conf", str(smbd.conf))

    saved = saved_beside(inside.db)
    assert done.returncode == 4, done.stderr
    assert str(saved) in done.stderr
    assert smbd.conf.read_bytes() == conf
    assert inside("import", str(saved)).returncode == 0
    with Notebook(inside.db) as notebook:
        measured = [notebook.series(head.id) for head in notebook.heads()]
    assert [(series.status, len(series.measured())) for series in measured] == [(SeriesStatus.COMPLETE, 2)] * 2


def locked(notebook: Notebook) -> Callable[[], object]:
    other = sqlite3.connect(notebook.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other.close


def read_only(notebook: Notebook) -> Callable[[], object]:
    notebook._db.conn.execute("PRAGMA query_only = ON")
    return lambda: None


@pytest.mark.parametrize("hold", [locked, read_only])
def test_what_cannot_be_written_at_the_end_is_written_beside_and_completes_what_is_stored(
    inside: Inside, target: str, monkeypatch: pytest.MonkeyPatch, hold: Callable[[Notebook], Callable[[], object]]
):
    notebooks: list[Notebook] = []
    ends: list[Callable[[], object]] = []
    begin = writer.Recorder.begin

    def begun(recorder: writer.Recorder, recording_id: str, *, stored: bool) -> None:
        notebooks.append(recorder._notebook)
        begin(recorder, recording_id, stored=stored)

    monkeypatch.setattr(writer.Recorder, "begin", begun)
    monkeypatch.setattr(writer, "GIVE_UP_SECONDS", 0.0)
    monkeypatch.setattr(writer, "DISK_SECONDS", 0.0)
    at_run(monkeypatch, 2, lambda: ends.append(hold(notebooks[-1])))
    done = inside("run", target, *_RUN)
    for end in ends:
        end()

    assert done.returncode == 4, done.stderr
    with Notebook(inside.db) as notebook:
        stored = notebook.series("last")
        assert len(stored.runs) < RUNS, "or there was nothing to complete"
        assert stored.status is SeriesStatus.INTERRUPTED
        assert "is being measured" in inside.fails(2, "import", str(saved_beside(inside.db)))
        notebook.release(stored.id)  # as it is once this process has ended
    imported = inside("import", str(saved_beside(inside.db)))
    assert imported.returncode == 0, imported.stderr
    assert inside.json("show", stored.id, "--json")["status"] == "complete"
    assert runs_of_last(inside) == RUNS


@pytest.mark.long
def test_a_resumed_series_has_its_earlier_runs_there_too(inside: Inside, target: str, monkeypatch: pytest.MonkeyPatch):
    many = 400
    with monkeypatch.context() as first:
        at_run(first, 2, lambda: signal.raise_signal(signal.SIGINT))
        assert inside("run", target, "--runs", str(many), "--warmup", "0", *QUICK).returncode == 130
    before = runs_of_last(inside)
    assert before < many
    at_run(monkeypatch, before + 1, inside.db.unlink)
    assert inside("run", "--resume", "last").returncode == 4
    assert runs_of_last(Inside(saved_beside(inside.db))) == many


def test_where_nothing_can_be_written_it_is_printed(inside: Inside, target: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rescue, "_folders", lambda _lost: iter(()))
    at_run(monkeypatch, 2, inside.db.unlink)
    done = inside("run", target, *_RUN)
    assert done.returncode == 4
    (printed,) = [line for line in done.stderr.splitlines() if '"runs": [{' in line]
    assert printed.count('"seconds"') == RUNS


def test_a_notebook_that_somebody_vacuums_is_not_lost(inside: Inside, target: str, monkeypatch: pytest.MonkeyPatch):
    with Notebook(inside.db) as notebook:
        notebook._db.conn.execute("CREATE TABLE filler AS SELECT randomblob(1000000) AS content")
        notebook._db.conn.execute("DROP TABLE filler")

    def vacuum() -> None:
        with sqlite3.connect(inside.db) as other:
            other.execute("VACUUM")
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        other.close()

    size = inside.db.stat().st_size
    at_run(monkeypatch, 2, vacuum)
    assert inside("run", target, *_RUN).returncode == 0
    assert inside.db.stat().st_size < size, "or nothing was tried"
    assert runs_of_last(inside) == RUNS


_MEASURING = [
    ("run", "TARGET"), ("selftest", "TARGET"), ("watch", "TARGET", "--baseline", "b"), ("load", "smb://h/s"),
    ("survey", "h"), ("diagnose", "smb://h/s"), ("isolate", "smb://h/s"), ("audit", "smb://h/s"),
    ("try", "strict sync=no", "smb://h/s/f"), ("sweep", "strict sync=no", "smb://h/s/f"), ("tune", "smb://h/s/f"),
]  # fmt: skip


@pytest.mark.parametrize("is_new", [False, True], ids=["there", "new"])
def test_nothing_is_begun_on_a_read_only_file_system(small_disk: Path, tmp_path: Path, is_new: bool):
    file = tmp_path / "file"
    file.write_bytes(bytes(1 << 20))
    inside = Inside(small_disk / "n.db")
    assert inside("run", f"file://{file}", "--runs", "1", "--warmup", "0", *QUICK).returncode == 0
    remounted = [program("mount"), "-o", "remount,ro", str(small_disk)]
    subprocess.run(remounted, check=True)
    try:
        if is_new:
            inside.db = small_disk / "new.db"
        for words in _MEASURING:
            said = inside.fails(4, *(f"file://{file}" if word == "TARGET" else word for word in words))
            assert "read-only" in said, words
            assert "gives errors" not in said
    finally:
        subprocess.run([*remounted[:-2], "remount,rw", str(small_disk)], check=True)


def fill(folder: Path) -> Path:
    filler = folder / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    assert os.statvfs(folder).f_bavail == 0
    return filler


def test_a_full_disk_is_called_full_and_is_read(small_disk: Path, tmp_path: Path):
    file = tmp_path / "file"
    file.write_bytes(bytes(1 << 20))
    inside = Inside(small_disk / "n.db")
    assert inside("run", f"file://{file}", "--runs", "1", "--warmup", "0", *QUICK).returncode == 0
    filler = fill(small_disk)
    for words in (("list",), ("show", "last"), ("export", "last", "--format", "json")):
        done = inside(*words)
        assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr
        assert "full" in done.stderr
    for refused in (("run", f"file://{file}"), ("note", "last", "text")):
        said = inside(*refused)
        assert said.returncode == 4
        assert "full" in said.stderr.splitlines()[-1]
        assert "gives errors" not in said.stderr
    filler.unlink()
    assert runs_of_last(inside) == 1


@pytest.mark.parametrize("name", ["x" * 300, "y/" * 2500, "x" * 250])
def test_a_name_that_no_file_can_have_is_a_usage_error(inside: Inside, name: str, tmp_path: Path):
    inside.db.parent.mkdir()
    for words in (("list",), ("run", f"file://{tmp_path}/f"), ("check", f"file://{tmp_path}")):
        assert len(inside.fails(2, "--db", str(inside.db.parent / name), *words)) < 300


def test_a_notebook_through_another_users_link_is_not_used(inside: Inside, tmp_path: Path):
    require(root=True)
    inside.db.parent.mkdir(mode=0o777)
    inside.db.parent.chmod(0o1777)
    victim = tmp_path / "victim"
    victim.touch()
    inside.db.symlink_to(victim)
    os.chown(inside.db, 65534, 65534, follow_symlinks=False)
    assert "link" in inside.fails(4, "list")
    assert victim.stat().st_size == 0
