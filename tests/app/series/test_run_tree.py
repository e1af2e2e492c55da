"""``sharebench run --files``: a tree is a series like any other, on each kind of server."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage.records import format_target
from tests.command_line import QUICK, Inside
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd

SHORT = ("--runs", "3", "--warmup", "0", "--files", "20", "--size", "2K", *QUICK)


@pytest.mark.long
@pytest.mark.parametrize("command", [["--put"], ["--get", "--make-file"]])
@pytest.mark.parametrize("protocol", ["smb", "ftp", "file"])
def test_a_tree_is_moved_as_one_and_removed(
    protocol: str, command: list[str], inside: Inside, smbd: Smbd, vsftpd: Vsftpd, tmp_path: Path
):
    local = tmp_path / "files"
    local.mkdir()
    places = {"smb": format_target(smbd.target()), "ftp": format_target(vsftpd.target()), "file": f"file://{local}"}
    folder = {"smb": smbd.folder, "file": local}.get(protocol)
    found = inside.json("run", places[protocol], *command, *SHORT, "--json")
    assert found["status"] == "complete"
    assert [run["size_bytes"] for run in found["runs"]] == [20 * 2048] * 3
    assert found["plan"]["files"] == 20
    form = inside("show", found["id"]).stdout
    assert "20 files of 2 KiB each, " in form
    assert "files/s" in form
    again = inside("run", "--again", found["id"])
    assert again.returncode in {0, 3}, again.stderr
    assert folder is None or not list(folder.glob(".sharebench-*")), "everything that was made is removed"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--get"], "a get of a tree reads one that was made for it"),
        (["--put", "--client", "smbclient"], "smbclient moves one file at a time"),
        (["--put", "--verify"], "a tree is not verified"),
        (["--put", "--size", "9M"], "of at most 8M each"),
    ],
)
def test_what_is_no_tree_is_refused_by_name(words: list[str], said: str, inside: Inside, smbd: Smbd):
    target = format_target(smbd.target("file" if words == ["--get"] else ""))
    assert said in inside.fails(2, "run", target, "--files", "3", *words)


def test_a_tree_that_a_kill_left_is_cleaned(inside: Inside, make_smbd):
    smbd: Smbd = make_smbd()
    folder = smbd.folder / ".sharebench-tree-0123456789ab"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "f0000001").touch()
    (folder / "f0000001").chmod(0o666)
    assert inside("clean", format_target(smbd.target()), "--yes").returncode == 0
    assert list(smbd.folder.iterdir()) == []
