"""``sharebench clean``: what is ours is listed and removed, and nothing else, on real servers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from app.check.leftovers import find_leftovers, remove_leftovers
from app.clients.base import Files, Secrets
from app.clients.local import LocalClient
from storage.plan import Settings
from storage.records import Target, format_target
from tests.command_line import Inside
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd

OURS = (".sharebench-0123456789ab", ".sharebench-ffffffffffff")
OTHERS = (
    ".sharebench-0123456789AB", ".Sharebench-aaaaaaaaaaaa", ".sharebench-0123456789ab.doc", ".sharebench-",
    ".sharebench-0123456789abc", ".sharebench-notes.txt", "precious.doc",
)  # fmt: skip


def fill(folder: Path) -> None:
    for name in (*OURS, *OTHERS):
        (folder / name).write_bytes(b"x" * 10)
    (folder / ".sharebench-dddddddddddd").mkdir()


def there(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name.lower().startswith((".sharebench", "precious"))}


def no_files() -> AbstractContextManager[Files]:
    raise AssertionError("there is no folder to remove")


def check(inside: Inside, url: str, folder: Path) -> None:
    """List without touching, then remove, then find nothing."""
    before = there(folder)
    listed = inside("clean", url)
    assert listed.returncode == 0, listed.stderr
    assert [line.rpartition(" ")[2].rpartition("/")[2] for line in listed.stdout.splitlines()] == list(OURS)
    assert "--yes" in listed.stderr
    assert there(folder) == before
    gone = inside.json("clean", url, "--yes", "--json")
    assert [(entry["size_bytes"], entry["removed"], entry["problem"]) for entry in gone] == [(10, True, None)] * 2
    assert there(folder) == before - set(OURS)
    assert inside.json("clean", url, "--json") == []


def test_a_local_folder(tmp_path: Path):
    fill(tmp_path)
    (tmp_path / ".sharebench-eeeeeeeeeeee").symlink_to(tmp_path / "precious.doc")
    check(Inside(tmp_path / "notebook.db"), f"file://{tmp_path}/precious.doc", tmp_path)
    assert (tmp_path / ".sharebench-eeeeeeeeeeee").is_symlink()


def test_a_share(smbd: Smbd, tmp_path: Path):
    folder = smbd.folder / "left"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    fill(folder)
    check(Inside(tmp_path / "notebook.db", smbd.password), format_target(smbd.target("left")), folder)


def test_an_ftp_folder(make_vsftpd, tmp_path: Path):
    server: Vsftpd = make_vsftpd()
    folder = server.folder / "left"
    folder.mkdir()
    folder.chmod(0o777)
    fill(folder)
    check(Inside(tmp_path / "notebook.db", server.password), format_target(server.target("left")), folder)


def test_what_took_the_place_of_a_leftover_stays(tmp_path: Path):
    fill(tmp_path)
    target = Target(protocol="file", path=str(tmp_path))
    client = LocalClient(target, Secrets(), Settings())
    found = find_leftovers(client, target)
    first, second = (Path(leftover.path) for leftover in found)
    first.unlink()
    first.symlink_to(tmp_path / "precious.doc")
    second.write_bytes(b"written meanwhile by somebody else")
    assert all("was left" in problem for problem in remove_leftovers(client, target, found, no_files).values())
    assert first.is_symlink()
    assert second.exists()


@pytest.mark.parametrize("url", ["smb://nas", "iperf3://nas"])
def test_a_target_without_a_folder_is_refused(tmp_path: Path, url: str):
    assert "name the folder" in Inside(tmp_path / "notebook.db").fails(2, "clean", url)


@pytest.mark.parametrize("protocol", ["smb", "file"])
def test_the_folder_of_a_load_goes_with_all_that_is_in_it_unless_somebody_elses_file_is(
    smbd: Smbd, tmp_path: Path, protocol: str
):
    place = (smbd.folder if protocol == "smb" else tmp_path) / "loads"
    ours, others = (place / f".sharebench-load-{digit * 12}" for digit in "ab")
    for folder, name in ((ours / "d0000", "f0000001"), (ours / "u1001", "document.new"), (others / "d0000", "my.doc")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    for path in (place, *place.rglob("*")):
        path.chmod(0o777)
    (place / ".sharebench-load-notes").mkdir()
    inside = Inside(tmp_path / "notebook.db", password=smbd.password)
    url = f"{format_target(smbd.target())}/loads" if protocol == "smb" else f"file://{place}"
    done = inside("clean", url, "--yes", "--json")
    assert done.returncode == 4
    assert "my.doc is not of a load" in done.stderr
    assert {path.name for path in place.iterdir()} == {others.name, ".sharebench-load-notes"}
    assert (others / "d0000" / "my.doc").exists()


def test_the_folders_of_an_isolation_go_with_all_that_is_in_them(smbd: Smbd, tmp_path: Path):
    place = smbd.folder / "isolations"
    for name in (".sharebench-isolate-0123abcd", ".sharebench-isolate-0123abcd-disk", ".sharebench-isolate-mine"):
        (place / name / "clients" / "client1").mkdir(parents=True)
        (place / name / "clients" / "client1" / "~note.tmp").write_bytes(b"x")
    for path in (place, *place.rglob("*")):
        path.chmod(0o777)
    inside = Inside(tmp_path / "notebook.db", password=smbd.password)
    gone = inside.json("clean", f"{format_target(smbd.target())}/isolations", "--yes", "--json")
    assert [entry["removed"] for entry in gone] == [True, True]
    assert [path.name for path in place.iterdir()] == [".sharebench-isolate-mine"]
