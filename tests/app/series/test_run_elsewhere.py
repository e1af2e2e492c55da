"""``sharebench run`` over FTP, on local paths and on the bare TCP path, and what is said when it cannot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from storage.records import format_target
from tests.builders import all_series
from tests.command_line import MIB, QUICK, Inside, check_document
from tests.servers.vsftpd import Vsftpd

NAMES = ["with spaces", 'it\'s "quoted"', "[bold]x[red]", "Größe-日本語.bin", "100%", "a%20b", "-rf", "#1?"]


@pytest.mark.parametrize("command", ["get", "put"])
def test_ftp(inside: Inside, vsftpd: Vsftpd, command: str):
    vsftpd.make_file("file", os.urandom(4 * MIB))
    before = sorted(vsftpd.folder.rglob("*"))
    target = vsftpd.target("/file" if command == "get" else "/")
    size = ("--size", "4M") if command == "put" else ()
    document = inside.json(
        "run", format_target(target), f"--{command}", *size, "--link", "1G", "--verify", "--json", *QUICK
    )
    check_document(document, 5, 2)
    assert document["target"]["protocol"] == "ftp"
    assert document["client"]["name"] == "sharebench"
    assert sorted(vsftpd.folder.rglob("*")) == before


@pytest.mark.parametrize("command", ["get", "put"])
def test_a_local_path(inside: Inside, tmp_path: Path, command: str):
    (tmp_path / "file").write_bytes(os.urandom(4 * MIB))
    before = sorted(tmp_path.glob("[!n]*"))
    target = f"file://{tmp_path}/file" if command == "get" else f"file://{tmp_path}"
    size = ("--size", "4M") if command == "put" else ()
    document = inside.json("run", target, f"--{command}", *size, "--link", "1G", "--verify", "--json", *QUICK)
    check_document(document, 5, 2)
    assert sorted(tmp_path.glob("[!n]*")) == before


@pytest.mark.varied
@pytest.mark.parametrize("name", NAMES)
def test_names_that_trip_tools(inside: Inside, vsftpd: Vsftpd, tmp_path: Path, name: str):
    there = vsftpd.make_file(name, b"y" * 70_000)
    (tmp_path / name).write_bytes(b"y" * 70_000)
    target = format_target(vsftpd.target(f"/{name}"))
    document = inside.json("run", target, "--runs", "1", "--warmup", "0", "--json", *QUICK)
    assert document["target"]["path"] == f"/{name}"
    there.unlink()
    local = inside.json(
        "run", f"file://{tmp_path}/{name.replace('%20', '%2520')}", "--runs", "1", "--warmup", "0", "--json", *QUICK
    )
    assert local["target"]["path"] == str(tmp_path / name)


def test_one_line_and_the_right_exit_code_over_ftp(tmp_path: Path, vsftpd: Vsftpd):
    inside = Inside(tmp_path / "notebook.db", Vsftpd.password)
    vsftpd.make_file("empty", b"")
    (vsftpd.folder / "folder").mkdir(exist_ok=True)
    host = f"{vsftpd.host}:{vsftpd.port}"

    def failed(target: str, *more: str) -> str:
        return inside.fails(4, "run", target, *QUICK, *more)

    assert "127.0.0.1" in failed("ftp://bench@127.0.0.1:1/file")
    assert "no-such-host.invalid" in failed("ftp://bench@no-such-host.invalid/file")
    assert "missing" in failed(f"ftp://bench@{host}/missing")
    assert "folder" in failed(f"ftp://bench@{host}/folder")
    assert "empty" in failed(f"ftp://bench@{host}/empty")
    assert "missing" in failed(f"ftp://bench@{host}/missing/", "--put", "--size", "1M")
    wrong = Inside(tmp_path / "notebook.db", "wrong")
    assert "password" in wrong.fails(4, "run", f"ftp://bench@{host}/file", *QUICK)
    anonymous = Inside(tmp_path / "notebook.db")
    assert "write" in anonymous.fails(4, "run", f"ftp://{host}/", "--put", "--size", "1M", *QUICK)


def test_one_line_and_the_right_exit_code_on_local_paths(inside: Inside, tmp_path: Path, small_disk: Path):
    (tmp_path / "empty").write_bytes(b"")
    assert "missing" in inside.fails(4, "run", f"file://{tmp_path}/missing", *QUICK)
    assert "folder" in inside.fails(4, "run", f"file://{tmp_path}", *QUICK)
    assert "empty" in inside.fails(4, "run", f"file://{tmp_path}/empty", *QUICK)
    said = inside.fails(4, "run", f"file://{small_disk}", "--put", "--size", "64M", *QUICK)
    assert "full" in said
    assert list(small_disk.iterdir()) == []
    assert "/proc" in inside.fails(4, "run", "file:///proc", "--put", "--size", "1M", *QUICK)
    for making in ("--put", "--make-file"):
        said = inside.fails(4, "run", f"file://{tmp_path}/empty", making, "--size", "1M", *QUICK)
        assert said.endswith("/empty is a file: name the folder that a file is to be made in")
    assert all(not found.runs for found in all_series(inside.db)), "nothing is kept of what never began"


def test_the_bare_tcp_path(inside: Inside, iperf3_server):
    document = inside.json(
        "run", format_target(iperf3_server.target()), "--runs", "2", "--size", "8M", "--json", *QUICK
    )
    assert document["status"] == "complete"
    assert document["client"]["name"] == "iperf3"


def test_an_unknown_client_names_those_that_there_are(inside: Inside):
    assert "sharebench, curl" in inside.fails(2, "run", "ftp://host/file", "--client", "wget")
