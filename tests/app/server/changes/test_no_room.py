"""A server whose disk is full or read-only, for each kind of change: nothing of it stays, and one line says why."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from app.server.changes.script import ChangeFailedError, new_change_id, set_arm
from app.trial.change_journal import begin_change, restore_entry
from storage.changes import ChangeState
from storage.notebook import Notebook
from tests.reliability.layouts import ChangedServer, servers
from tests.reliability.steps import on, setting_of
from tests.servers.process import program, require

KINDS = ("plain", "registry", "sysctl", "hook")


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    """A small file system of its own, on which all of a server's files are."""
    require("mount", "umount")
    with tempfile.TemporaryDirectory(prefix="sharebench-disk-") as folder:
        mounted = [program("mount"), "-t", "tmpfs", "-o", "size=64m", "none", folder]
        if subprocess.run(mounted, check=False, capture_output=True).returncode:
            pytest.skip("no file system can be mounted here")
        yield Path(folder)
        subprocess.run([program("umount"), "-l", folder], check=True)


@pytest.fixture(scope="module")
def there(disk: Path) -> Iterator[dict[str, ChangedServer]]:
    with ExitStack() as stack:
        with patch.object(tempfile, "tempdir", str(disk)):
            found = stack.enter_context(servers(KINDS))
        yield found


@contextmanager
def no_room(disk: Path, trouble: str) -> Iterator[None]:
    """Full to the last byte, or read-only."""
    filler = disk / "filler"
    if trouble == "full":
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
    else:
        # bound onto itself, since what is open there for writing keeps the file system itself from that
        subprocess.run([program("mount"), "--bind", str(disk), str(disk)], check=True)
        subprocess.run([program("mount"), "-o", "remount,bind,ro", str(disk)], check=True)
    try:
        yield
    finally:
        if trouble == "read-only":
            subprocess.run([program("umount"), "-l", str(disk)], check=True)
        filler.unlink(missing_ok=True)


@pytest.mark.long
@pytest.mark.parametrize("step", ["begin", "arm", "undo"])
@pytest.mark.parametrize(
    ("kind", "trouble"),
    [
        (kind, trouble)
        for kind in KINDS
        for trouble in ("full", "read-only")
        if (kind, trouble) != ("registry", "read-only")  # its smbd is in a mount namespace of its own
    ],
)
def test_nothing_stays_of_a_change_that_the_disk_has_no_room_for(
    disk: Path, there: dict[str, ChangedServer], tmp_path: Path, kind: str, trouble: str, step: str
):
    server, said = there[kind], ""
    before = server.state()
    with on(server), Notebook(tmp_path / "notebook.db") as notebook:
        found = setting_of(server)
        change = found.plan(new_change_id(), found.values)
        if step == "begin":
            with no_room(disk, trouble), pytest.raises(ChangeFailedError) as failed:
                begin_change(change, found, "trial of it", notebook)
            said = str(failed.value)
        else:
            entry = begin_change(change, found, "trial of it", notebook)
            if step == "undo":
                set_arm(change, 1, None)
            with no_room(disk, trouble):
                try:
                    set_arm(change, 1, None) if step == "arm" else restore_entry(entry, notebook)
                except ChangeFailedError as error:
                    said = str(error)
            if step == "undo":
                assert bool(said) == bool(notebook.journal(ChangeState.OPEN)) == server.undo.exists()
        assert not any(wrong in said for wrong in ("somebody else", "POSIX shell", "\n"))
        for open_entry in notebook.journal(ChangeState.OPEN):
            restore_entry(open_entry, notebook)
    assert server.state() == before
