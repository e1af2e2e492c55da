"""Files that are written whole or not at all."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from app import whole_file as module
from app.children import own_environment
from app.whole_file import whole_file

KILLED = """
import os, signal, sys
from pathlib import Path
from app.whole_file import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def fail(file: BinaryIO) -> None:
    file.write(b"half")
    raise ZeroDivisionError


@pytest.fixture(params=["nameless", "beside"])
def way(request, monkeypatch):
    """Both ways: with a file system that can make files without names, and with one that cannot."""
    if request.param == "beside":
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)  # a folder cannot be opened for writing: EISDIR
    return request.param


def test_it_takes_its_place_with_the_permissions_of_what_it_replaces(tmp_path: Path, way: str):
    place = tmp_path / "form.pdf"
    for content in (b"first", b"second"):
        with whole_file(place) as file:
            file.write(content)
        assert place.read_bytes() == content
        place.chmod(0o640)
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert names(tmp_path) == ["form.pdf"]


def test_it_leaves_what_was_there_when_the_block_fails(tmp_path: Path, way: str):
    place = tmp_path / "form.pdf"
    place.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), whole_file(place) as file:
        fail(file)
    assert place.read_bytes() == b"before"
    assert names(tmp_path) == ["form.pdf"]


def test_a_kill_leaves_nothing(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path / "form.pdf"], env=own_environment(), check=False, capture_output=True
    )
    assert done.returncode == -9, done.stderr
    assert names(tmp_path) == []


def test_a_file_that_comes_into_being_meanwhile_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = tmp_path / "form.pdf"
    settle = module._settle

    def raced(file, where):
        settle(file, where)
        monkeypatch.setattr(Path, "exists", lambda _: False)
        place.write_bytes(b"another's")

    monkeypatch.setattr(module, "_settle", raced)
    with whole_file(place) as file:
        file.write(b"ours")
    assert place.read_bytes() == b"ours"
    assert names(tmp_path) == ["form.pdf"]
