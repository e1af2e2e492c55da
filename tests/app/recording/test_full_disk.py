"""A notebook whose disk became full: every kind of recording is answered, and stored elsewhere or printed."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from app.recording import writer
from app.recording.process import Warned
from storage.records import format_target
from tests.command_line import QUICK, Done, Inside

_MADE = ("--make-file", "--size", "64K", "--ceiling", "skip")
_KINDS = {
    "series": ("run", "SHARE", *_MADE, *QUICK, "--runs", "2", "--warmup", "0"),
    "within": ("run", "SHARE", *_MADE, *QUICK, "--runs", "2", "--warmup", "0", "--within", "1"),
    "versus": ("run", "SHARE", *_MADE, *QUICK, "--runs", "3", "--warmup", "0", "--versus", "--sign"),
    "selftest": ("selftest", "SHARE", *_MADE, *QUICK, "--runs", "3", "--warmup", "0"),
    "repeats": ("selftest", "SHARE", *_MADE, *QUICK, "--runs", "3", "--warmup", "0", "--apart", "2"),
    "watch": ("watch", "SHARE", *_MADE, *QUICK, "--runs", "3", "--warmup", "0", "--baseline", "nightly"),
    "load": (
        *("load", "SHARE", "--users", "1,2", "--duration", "1", "--settle", "0", "--files", "20"),
        *("--processes", "1"),
    ),
    "quick": ("quick", "SHARE", "--size", "64M", "--seconds", "0.1"),
    "isolation": ("isolate", "SHARE", "--seconds", "2", "--rounds", "1", "--clients", "1"),
    "diagnosis": ("diagnose", "SHARE", "--quick", "--only", "connect", "--yes"),
    "trial": ("try", "server signing=mandatory", "SHARE", *_MADE, "--noise", "100", "--yes", "--smb-conf", "CONF"),
    "sweep": ("sweep", "SO_RCVBUF=256K", "SHARE", *_MADE, "--blocks", "2", "--yes", "--smb-conf", "CONF"),
    "tune": ("tune", "SHARE", *_MADE, "--only", "strict allocate", "--yes", "--smb-conf", "CONF"),
    "survey": (
        *("survey", "127.0.0.1", "--smb", "bench", "--smb-port", "PORT", "--user", "bench", "--no-iperf3"),
        *("--size", "64K", "--runs", "2", "--warmup", "0", "--quiet-time", "skip", "--ceiling", "skip"),
    ),
    "audit": ("audit", "SHARE", "--smb-conf", "CONF"),
    "who": ("who", "SHARE", "--seconds", "1", "--smb-conf", "CONF"),
}


def fill(folder: Path) -> Path:
    filler = folder / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return filler


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only other folder for a notebook."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.setattr("app.recording.rescue._folders", lambda _path: iter([folder]))
    for name in ("GIVE_UP_SECONDS", "FULL_SECONDS", "DISK_SECONDS"):
        monkeypatch.setattr(writer, name, 0.5)
    return folder


@pytest.fixture
def full(small_disk: Path, elsewhere: Path) -> Inside:
    """The command line with a notebook on a disk to be filled; another can be made in ``elsewhere``."""
    return Inside(small_disk / "notebook.db", None)


def at_write(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Have ``act`` done once, before the first write of what is measured."""
    try_to_write = writer.Recorder._try_to_write
    done: list[object] = []

    def act_and_try(recorder: writer.Recorder, now: float) -> Iterator[Warned]:
        if recorder.leases and recorder._waiting and not done:
            done.append(act())
        yield from try_to_write(recorder, now)

    monkeypatch.setattr(writer.Recorder, "_try_to_write", act_and_try)


def measure(kind: str, smbd, db: Path) -> Done:
    target = smbd.target()
    places = {"SHARE": format_target(target), "CONF": str(smbd.conf), "PORT": str(target.port)}
    return Inside(db, smbd.password)(*(places.get(word, word) for word in _KINDS[kind]))


@pytest.mark.long
@pytest.mark.parametrize("kind", _KINDS)
def test_every_kind_is_answered_and_stored_elsewhere(
    kind: str, small_disk: Path, elsewhere: Path, make_smbd, monkeypatch: pytest.MonkeyPatch
):
    smbd = make_smbd()
    conf = smbd.conf.read_bytes()
    at_write(monkeypatch, lambda: fill(small_disk))
    done = measure(kind, smbd, small_disk / "notebook.db")

    assert done.returncode == 4, done.stderr
    assert done.stdout, done.stderr
    (saved,) = elsewhere.glob("notebook-saved-*.db")
    last_line = done.stderr.splitlines()[-1]
    assert "could not be stored" in last_line
    assert str(saved) in last_line
    assert smbd.conf.read_bytes() == conf
    assert list(smbd.folder.iterdir()) == []

    (small_disk / "filler").unlink()
    inside = Inside(small_disk / "notebook.db")
    imported = inside("import", str(saved))
    assert imported.returncode == 0, imported.stderr
    documents = {document["id"]: document for document in inside.json("list", "--json")}
    saved_documents = Inside(saved).json("list", "--json")
    assert saved_documents
    for document in saved_documents:
        assert documents[document["id"]].get("status") == document.get("status")
        assert document.get("status", "complete") == "complete"


@pytest.mark.long
def test_the_form_is_printed_where_nothing_can_be_written_at_all(
    full: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").write_bytes(b"x" * 300_000)
    monkeypatch.setattr("app.recording.rescue._folders", lambda _path: iter(()))
    at_write(monkeypatch, lambda: fill(full.db.parent))
    answer = full("run", f"file://{tmp_path}/file", "--runs", "3", "--warmup", "0", "--quiet-time", "skip", "--json")
    assert answer.returncode == 4
    assert len(json.loads(answer.stdout)["runs"]) == 3


@pytest.mark.long
def test_room_that_is_made_in_the_end_is_used(full: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_bytes(b"x" * 300_000)
    monkeypatch.setattr(writer, "FULL_SECONDS", 60.0)
    filler = full.db.parent / "filler"
    monkeypatch.setattr("app.recording.writer.time.sleep", lambda _seconds: filler.unlink(missing_ok=True))
    at_write(monkeypatch, lambda: fill(full.db.parent))
    answer = full("run", f"file://{tmp_path}/file", "--runs", "3", "--warmup", "0", "--quiet-time", "skip")
    assert answer.returncode == 0, answer.stderr
    assert "nothing was lost" in answer.stderr
    assert len(full.json("list", "--json")) == 1


@pytest.mark.parametrize("name", ["audit", "who", "quick", "load", "isolate", "diagnose"])
def test_a_disk_that_is_full_before_begins_nothing(name: str, full: Inside):
    fill(full.db.parent)
    said = full.fails(4, name, "smb://127.0.0.1/share")
    assert "full" in said
    assert "--db" in said


@pytest.mark.long
@pytest.mark.varied(is_new=1)
@pytest.mark.parametrize("is_new", [False, True])
def test_a_check_tells_that_nothing_could_be_stored_and_checks(is_new: bool, full: Inside, tmp_path: Path):
    (tmp_path / "file").write_bytes(b"x" * 300_000)
    if not is_new:
        assert full("run", f"file://{tmp_path}/file", "--runs", "1", "--warmup", "0", *QUICK).returncode == 0
    fill(full.db.parent)
    done = full("check", f"file://{tmp_path}/file")
    assert done.returncode == 0, done.stderr
    assert "full" in done.stderr
    assert "file" in done.stdout


@pytest.mark.varied
@pytest.mark.parametrize(
    "words",
    [
        ("note", "last", "text"),
        ("rename", "last", "name"),
        ("delete", "last", "--yes"),
        ("reject", "last", "1", "--reason", "why"),
        ("baseline", "set", "before", "last"),
        ("import", "--example"),
    ],
)
def test_a_change_that_has_no_room_changes_nothing(words: tuple[str, ...], full: Inside, tmp_path: Path):
    (tmp_path / "file").write_bytes(b"x" * 300_000)
    assert full("run", f"file://{tmp_path}/file", "--runs", "1", "--warmup", "0", *QUICK).returncode == 0
    before = full.json("list", "--json")
    filler = fill(full.db.parent)
    refused = full(*words)
    assert refused.returncode == 4
    assert "is full: make room" in refused.stderr.splitlines()[-1]
    filler.unlink()
    assert full.json("list", "--json") == before
