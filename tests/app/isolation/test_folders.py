"""Where dbench works, and what another local user can make of it, and of what is removed: nothing."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from app.base.errors import MeasurementError
from app.isolation.disk_place import (
    NOBODY,
    DiskPlace,
    find_disk_place,
    make_disk_folder,
    remove_folders,
    start_as_nobody,
    start_in,
)
from app.server.shell import ServerShell
from tests.servers.process import OTHER_USER, require
from tests.waiting import HANG_SECONDS

SHELL = ServerShell()
ROOT, OTHER, DAEMON = 0, OTHER_USER, 1
NAME = ".sharebench-isolate-0123abcd"
DISK = f"{NAME}-disk"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A folder of root's on the way to which all are root's."""
    require("setpriv")
    return tmp_path


def folder(path: Path, owner: int, mode: int) -> Path:
    path.mkdir(parents=True)
    os.chown(path, owner, owner)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("above", "share", "place", "user"),
    [
        ((ROOT, 0o755), (ROOT, 0o755), "share", NOBODY),
        ((ROOT, 0o755), (DAEMON, 0o755), "above", DAEMON),
        ((ROOT, 0o755), (ROOT, 0o777), "above", NOBODY),
        ((ROOT, 0o755), (ROOT, 0o775), "above", NOBODY),
        ((ROOT, 0o755), (ROOT, 0o757), "above", NOBODY),
        ((ROOT, 0o755), (ROOT, 0o1777), "share", NOBODY),
        ((ROOT, 0o755), (DAEMON, 0o1777), "above", DAEMON),
        ((ROOT, 0o1777), (ROOT, 0o755), "share", NOBODY),
        ((ROOT, 0o1777), (DAEMON, 0o700), "above", DAEMON),
        ((ROOT, 0o777), (ROOT, 0o755), "", NOBODY),
        ((DAEMON, 0o755), (ROOT, 0o755), "", NOBODY),
        ((DAEMON, 0o1777), (ROOT, 0o755), "", NOBODY),
    ],
)
def test_dbench_works_where_only_root_can_rename(
    top: Path, above: tuple[int, int], share: tuple[int, int], place: str, user: int
):
    places = {"": top, "above": folder(top / "above", *above)}
    places["share"] = folder(top / "above/share", *share)
    found = find_disk_place(SHELL, str(places["share"]), DISK)
    assert isinstance(found, DiskPlace)
    assert (found.folder, found.user) == (f"{places[place]}/{DISK}", user)


def test_an_access_list_lets_others_write_too(top: Path):
    require("setfacl")
    share = folder(top / "share", ROOT, 0o755)
    if subprocess.run(["setfacl", "-m", f"u:{OTHER}:rwx", share], check=False, capture_output=True).returncode:
        pytest.skip("no access lists here")
    found = find_disk_place(SHELL, str(share), DISK)
    assert isinstance(found, DiskPlace)
    assert found.folder == f"{top}/{DISK}"


def test_the_way_is_judged_where_links_lead(top: Path):
    real = folder(top / "real", DAEMON, 0o755)
    (top / "link").symlink_to(folder(real / "share", ROOT, 0o755))
    found = find_disk_place(SHELL, str(top / "link"), DISK)
    assert isinstance(found, DiskPlace)
    assert found.folder == f"{top}/{DISK}", "another user can exchange what the link leads to"


@pytest.fixture
def other_disk(top: Path) -> Iterator[Path]:
    """A file system of its own."""
    (top / "disk").mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", top / "disk"], check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    yield top / "disk"
    subprocess.run(["umount", "-l", top / "disk"], check=True)


def test_without_a_safe_place_on_the_shares_file_system_the_disk_is_not_measured(other_disk: Path):
    assert isinstance(find_disk_place(SHELL, str(other_disk), DISK), DiskPlace), "it is root's, and sticky"
    other_disk.chmod(0o777)
    why = find_disk_place(SHELL, str(other_disk), DISK)
    assert isinstance(why, str)
    assert f"{other_disk} belongs to other users or they can write to it" in why


def test_dbenchs_user_has_no_right_but_its_own(top: Path):
    share = folder(top / "share", DAEMON, 0o777)
    place = find_disk_place(SHELL, str(share), DISK)
    assert isinstance(place, DiskPlace)
    make_disk_folder(SHELL, place, "script")
    told = start_in(
        SHELL, place, "sh", "-c", "id -u; id -G; grep -i capeff /proc/self/status; pwd; cat ../script"
    ).wait(HANG_SECONDS)
    assert told.out.split() == [str(DAEMON), str(NOBODY), "CapEff:", "0" * 16, f"{top}/{DISK}/work", "script"]
    with pytest.raises(MeasurementError, match="cannot be made"):
        make_disk_folder(SHELL, place, "")
    start_in(SHELL, place, "sh", "-c", "mkdir -p a/b; touch a/b/c .d ..e; ln -s /etc f").wait(HANG_SECONDS)
    assert remove_folders(SHELL, place.folder, place.folder) is None
    assert [path.name for path in top.iterdir()] == ["share"]
    assert Path("/etc/passwd").exists()


@pytest.mark.usefixtures("top")
def test_a_server_for_everybody_has_no_right_of_root():
    assert start_as_nobody(SHELL, "id").wait(HANG_SECONDS).out.startswith(f"uid={NOBODY}")


def test_a_place_that_is_safe_no_more_is_not_used(top: Path):
    place = find_disk_place(SHELL, str(folder(top / "share", DAEMON, 0o777)), DISK)
    assert isinstance(place, DiskPlace)
    top.chmod(0o777)
    with pytest.raises(MeasurementError, match="belongs to others"):
        make_disk_folder(SHELL, place, "")
    assert [path.name for path in top.iterdir()] == ["share"]


@pytest.fixture
def precious(top: Path) -> Path:
    """A file in a folder of root's alone."""
    file = folder(top / "root", ROOT, 0o700) / "precious.txt"
    file.write_text("precious")
    return file


@pytest.mark.parametrize("owner", [ROOT, DAEMON, OTHER])
@pytest.mark.parametrize("kind", ["link", "link inside", "link deep inside", "roots", "alices", "file"])
def test_what_another_user_puts_in_the_place_of_a_folder_costs_nobody_a_file(
    top: Path, precious: Path, owner: int, kind: str
):
    share = folder(top / "share", owner, 0o777)
    alices = folder(share / "alices", DAEMON, 0o755)
    (alices / "letter").write_text("precious")
    place = share / NAME
    if kind == "link":
        place.symlink_to(precious.parent)
    elif kind == "roots":
        precious.parent.rename(place)
        precious = place / precious.name
    elif kind == "alices":
        alices.rename(place)
        alices = place
    elif kind == "file":
        place.write_text("mine")
    else:
        folder(place, OTHER, 0o755)
        (place / "clients").symlink_to(precious.parent) if kind == "link inside" else folder(
            place / "clients", OTHER, 0o755
        ).joinpath("client1").symlink_to(precious.parent)
    why = remove_folders(SHELL, str(place))
    assert precious.read_text() == (alices / "letter").read_text() == "precious"
    assert bool(why) is ("inside" not in kind)


def test_what_an_isolation_left_on_the_share_is_removed_as_its_owner(top: Path):
    share = folder(top / "share", ROOT, 0o777)
    left = folder(folder(folder(share / NAME, DAEMON, 0o700) / "clients", DAEMON, 0o700) / "client1", DAEMON, 0o700)
    (left / "file").write_text("x")
    os.chown(left / "file", DAEMON, DAEMON)
    assert remove_folders(SHELL, str(share / NAME)) is None
    assert list(share.iterdir()) == []
    shutil.rmtree(share)


def test_what_is_still_written_there_for_a_moment_is_removed_too(top: Path):
    """As by the programs of an isolation that was killed, before they see that it is gone."""
    share = folder(top / "share", ROOT, 0o755)
    left = folder(share / NAME, ROOT, 0o755)
    ends_at = time.monotonic() + 0.2

    def write() -> None:
        while time.monotonic() < ends_at:
            with suppress(OSError):
                (left / "clients").mkdir(exist_ok=True)
                (left / "clients" / "file").touch()

    writer = Thread(target=write)
    writer.start()
    why = remove_folders(SHELL, str(left))
    writer.join()
    assert why is None
    assert list(share.iterdir()) == []
