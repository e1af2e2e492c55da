"""A file is written whole or not at all, and documents are printed."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from app.base.child_process import own_environment
from app.base.errors import MissingProgramError
from app.base.output import CannotWriteError, is_there, make_folder, output_file, shown_destination
from app.base.printing import PrintingError, print_document, printers
from tests.servers.process import require

KILLED = """
import os, signal, sys
from pathlib import Path
from app.base.output import output_file
with output_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def fail(file: BinaryIO) -> None:
    file.write(b"half")
    raise ZeroDivisionError


def test_it_takes_its_place_with_the_permissions_of_what_it_replaces(tmp_path: Path):
    place = tmp_path / "form.pdf"
    for content in (b"first", b"second"):
        with output_file(place) as file:
            file.write(content)
        assert place.read_bytes() == content
        place.chmod(0o640)
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert names(tmp_path) == ["form.pdf"]


def test_it_leaves_what_was_there_when_the_block_fails(tmp_path: Path):
    place = tmp_path / "form.pdf"
    place.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), output_file(place) as file:
        fail(file)
    assert place.read_bytes() == b"before"
    assert names(tmp_path) == ["form.pdf"]


def test_a_kill_leaves_what_was_there(tmp_path: Path):
    place = tmp_path / "form.pdf"
    place.write_bytes(b"before")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, place], env=own_environment(), check=False, capture_output=True
    )
    assert done.returncode == -9, done.stderr
    assert place.read_bytes() == b"before"
    (beside,) = set(names(tmp_path)) - {"form.pdf"}
    assert beside.startswith(".sharebench-")
    assert beside.endswith(".part")


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    with output_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_device_is_written_to_not_replaced(tmp_path):
    with output_file(Path(os.devnull)) as file:
        file.write(b"gone")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_nothing_is_left_when_the_work_fails(tmp_path):
    old = tmp_path / "form.txt"
    old.write_text("old")

    def fails_half_way() -> None:
        with output_file(old) as file:
            file.write(b"half")
            raise LookupError

    with pytest.raises(LookupError):
        fails_half_way()
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_a_full_disk_leaves_nothing(small_disk):
    """On a file system of its own that has no room for the file."""
    place = Path(small_disk) / "form.txt"
    before = sorted(p.name for p in place.parent.iterdir())
    with pytest.raises(CannotWriteError, match="No space left"), output_file(place) as file:
        file.write(b"x" * 200_000_000)
    assert sorted(p.name for p in place.parent.iterdir()) == before


def test_a_document_that_fails_half_way_leaves_what_was_there(tmp_path):
    place = tmp_path / "form.html"
    place.write_text("before")
    with pytest.raises(CannotWriteError, match="No space left on device; nothing was left there"), output_file(place):
        raise OSError(28, "No space left on device")
    assert place.read_text() == "before"
    assert list(tmp_path.iterdir()) == [place]


def test_what_is_no_file_cannot_be_replaced(tmp_path):
    assert not is_there(tmp_path / "new.html")
    assert not is_there(Path(os.devnull)), "a device is written to"
    for path, why in ((tmp_path, "it is a folder"), (tmp_path / "none" / "x.html", "there is no folder")):
        with pytest.raises(CannotWriteError, match=why):
            is_there(path)


LPSTAT = """case "$1" in -e) printf 'attic\\noffice\\n';; -d) echo 'system default destination: office';; esac"""


def program(folder: Path, name: str, does: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program(tmp_path, "lpstat", LPSTAT)
    program(
        tmp_path,
        "lp",
        f'echo "$@" > {tmp_path}/asked; cat > {tmp_path}/paper; echo "request id is office-7 (0 file(s))"',
    )
    return tmp_path


def test_the_document_goes_to_the_printer_that_is_named(bin_folder):
    assert printers() == ["office", "attic"], "the usual one first"
    assert print_document(b"%PDF", "attic", title="a b", paper="A4") == "request id is office-7"
    assert (bin_folder / "asked").read_text() == "-t a b -o media=A4 -d attic -\n"
    assert (bin_folder / "paper").read_bytes() == b"%PDF"


def test_without_a_name_it_goes_to_the_usual_printer(bin_folder):
    print_document(b"%PDF", "", title="a", paper="Letter")
    assert (bin_folder / "asked").read_text() == "-t a -o media=Letter -\n"


def test_a_printer_that_is_not_there_is_refused_with_those_that_are(bin_folder):
    with pytest.raises(PrintingError, match="no printer 'celler'; there is: office, attic"):
        print_document(b"%PDF", "celler", title="a", paper="A4")
    assert not (bin_folder / "paper").exists()


def test_without_a_printer_it_says_what_to_do(bin_folder):
    program(bin_folder, "lpstat", "echo 'lpstat: No destinations added.' >&2; exit 1")
    with pytest.raises(PrintingError, match=r"there is no printer: set one up first"):
        printers()
    program(bin_folder, "lp", "echo 'lp: Error - No default destination.' >&2; exit 1")
    with pytest.raises(PrintingError, match=r"nothing was printed: lp: Error - No default destination\.; set one up"):
        print_document(b"%PDF", "", title="a", paper="A4")


def test_without_lp_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingProgramError, match="apt install cups-client"):
        print_document(b"%PDF", "", title="a", paper="A4")


NOBODY = 65534


@pytest.fixture
def shared_folder(tmp_path: Path) -> Path:
    """As /tmp: everybody may write there."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def link_of(owner: int, link: Path, to: str | Path) -> Path:
    link.symlink_to(to)
    os.chown(link, owner, owner, follow_symlinks=False)
    return link


@pytest.mark.parametrize(
    ("named", "link", "to"),
    [
        ("form.txt", "form.txt", "../victim"),
        ("form.txt", "form.txt", "../missing"),
        ("sub/victim", "sub", ".."),
        ("own/victim", "sub", ".."),
        ("first", "second", "../victim"),
        ("../shared/./form.txt", "form.txt", "../victim"),
    ],
    ids=["a file", "nothing yet", "a folder on the way", "behind an own one", "a chain", "a crooked path"],
)
def test_another_users_link_is_not_followed(tmp_path: Path, shared_folder: Path, named: str, link: str, to: str):
    require(root=True)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    link_of(NOBODY, shared_folder / link, to)
    (shared_folder / "own").symlink_to("sub")
    (shared_folder / "first").symlink_to("second")
    for act in (is_there, shown_destination, lambda path: output_file(path).__enter__()):
        with pytest.raises(CannotWriteError, match=f"link that user {NOBODY} made"):
            act(shared_folder / named)
    assert victim.read_text() == "mine"
    assert sorted(names(tmp_path)) == ["shared", "victim"]
    assert not [name for name in names(shared_folder) if name.endswith(".part")]


def test_ones_own_link_is_followed_and_named(tmp_path: Path, shared_folder: Path):
    for target in ("real", "missing"):
        real, link = tmp_path / target, shared_folder / target
        if target == "real":
            real.write_text("old")
        link.symlink_to(Path("..") / target)
        assert is_there(link), "a question names where it leads"
        assert str(real) in shown_destination(link)
        with output_file(link) as file:
            file.write(b"new")
            assert [name for name in names(tmp_path) if name.endswith(".part")]
            assert not [name for name in names(shared_folder) if name.endswith(".part")]
        assert real.read_text() == "new"
        assert link.is_symlink()
    assert shown_destination(tmp_path / "real") == str(tmp_path / "real")


def test_another_user_follows_roots_links_and_not_a_third_ones(tmp_path: Path, shared_folder: Path, monkeypatch):
    require(root=True)
    (tmp_path / "real").write_text("old")
    for owner in (0, 12345, 12346):
        link_of(owner, shared_folder / str(owner), tmp_path / "real")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert is_there(shared_folder / "0")
    assert is_there(shared_folder / "12345")
    with pytest.raises(CannotWriteError, match="user 12346"):
        is_there(shared_folder / "12346")


def test_what_is_exchanged_while_it_is_written_is_not_followed(tmp_path: Path, shared_folder: Path):
    require(root=True)
    victim, place, folder = tmp_path / "victim", shared_folder / "form.txt", shared_folder / "folder"
    victim.write_text("mine")
    with output_file(place) as file:
        file.write(b"new")
        link_of(NOBODY, place, victim)
    assert (victim.read_text(), place.read_text(), place.is_symlink()) == ("mine", "new", False)

    folder.mkdir()
    with output_file(folder / "victim") as file:
        file.write(b"new")
        folder.rename(shared_folder / "moved")
        link_of(NOBODY, folder, tmp_path)
    assert victim.read_text() == "mine"
    assert (shared_folder / "moved" / "victim").read_text() == "new"


def test_another_users_file_does_not_say_who_may_write_to_ours(shared_folder: Path):
    require(root=True)
    place = shared_folder / "form.txt"
    place.touch()
    place.chmod(0o4777)
    os.chown(place, NOBODY, NOBODY)
    place.chmod(0o4777)
    with output_file(place) as file:
        file.write(b"new")
    status = place.stat()
    assert (status.st_uid, stat.S_IMODE(status.st_mode) & 0o4022) == (0, 0)


def test_folders_are_not_made_through_another_users_link(tmp_path: Path, shared_folder: Path):
    require(root=True)
    link_of(NOBODY, shared_folder / "link", tmp_path)
    with pytest.raises(CannotWriteError, match=f"user {NOBODY}"):
        make_folder(shared_folder / "link" / "a" / "b")
    assert names(tmp_path) == ["shared"]
    make_folder(shared_folder / "a" / "b")
    assert (shared_folder / "a" / "b").is_dir()
