"""What prints goes to printers alone, and what makes files to no printer: looked at before anything is written."""

import json
from contextlib import closing
from dataclasses import replace

import pytest

from app.base.own_names import is_scratch_name
from app.clients.base import call_here
from app.clients.file_requests import document_name
from app.clients.registry import make_files
from storage.plan import Settings
from storage.records import format_target
from tests.command_line import Inside

LOAD = ("--users", "2", "--duration", "2", "--settle", "0", "--think", "0.1", "--json")


@pytest.fixture(scope="module")
def printers(smbd):
    """The usual server with one more share, which prints into a folder."""
    spool = smbd.root / "spool"
    spool.mkdir(exist_ok=True)
    spool.chmod(0o1777)
    printed = smbd.root / "printed"
    printed.write_text("")
    printed.chmod(0o666)
    smbd.more_shares["laser"] = {
        "path": str(spool), "printable": "yes", "print command": f"echo %J >>{printed}; rm %s", "lpq command": "true",
    }  # fmt: skip
    smbd.rewrite_conf()
    yield smbd
    del smbd.more_shares["laser"]
    smbd.rewrite_conf()


@pytest.fixture
def sharebench(printers, tmp_path):
    return Inside(tmp_path / "notebook.db", password=printers.password)


@pytest.mark.parametrize("folder", ["", "sub"])
def test_a_share_of_files_is_no_printer(printers, sharebench, folder):
    (printers.folder / "sub").mkdir(exist_ok=True)
    before = sorted(printers.folder.rglob("*"))
    done = sharebench("load", format_target(printers.target(folder)), "--scenario", "print", *LOAD)
    assert done.returncode == 4
    (line,) = done.stderr.strip().splitlines()[-1:]
    assert "is no printer" in line
    assert sorted(printers.folder.rglob("*")) == before
    assert json.loads(sharebench("list", "--json").stdout) == []


@pytest.mark.parametrize("protocol", ["file", "ftp"])
def test_neither_is_what_another_protocol_reaches(vsftpd, tmp_path, protocol):
    folder = tmp_path / "folder"
    folder.mkdir()
    target = f"file://{folder}" if protocol == "file" else format_target(vsftpd.target())
    before = sorted(vsftpd.folder.rglob("*")), sorted(folder.rglob("*"))
    sharebench = Inside(tmp_path / "notebook.db", password=vsftpd.password)
    assert sharebench("load", target, "--scenario", "print", *LOAD).returncode == 4
    assert (sorted(vsftpd.folder.rglob("*")), sorted(folder.rglob("*"))) == before


@pytest.mark.long
def test_a_printer_gets_documents_of_our_name(printers, sharebench):
    printer = replace(printers.target(), share="laser")
    with closing(make_files(printer, printers.secrets(), Settings(), call_here)) as files:
        files.connect()
        first = document_name("first", 1)
        files.write_file(first, memoryview(b"first"))  # Samba starts its spooler, which may take long
    load = sharebench.json("load", format_target(printer), "--scenario", "print", *LOAD)
    assert load["points"][0]["requests"] > 0
    names = (printers.root / "printed").read_text().splitlines()
    assert len(names) >= load["points"][0]["requests"]
    assert [name for name in names if ".sharebench-" not in name] == []


@pytest.mark.varied(words=3)
@pytest.mark.parametrize(
    "words",
    [
        ("load", "{url}", *LOAD),
        ("load", "{url}", "--scenario", "idle", *LOAD),
        ("run", "{url}", "--put", "--size", "64K", "--runs", "1", "--warmup", "0"),
        ("run", "{url}", "--put", "--size", "64K", "--runs", "1", "--warmup", "0", "--client", "smbclient"),
        ("run", "{url}", "--make-file", "--size", "64K", "--runs", "1", "--warmup", "0"),
        ("run", "{url}", "--put", "--files", "4", "--size", "4K", "--runs", "1", "--warmup", "0"),
        ("diagnose", "{url}", "--yes"),
        ("isolate", "{url}", "--clients", "1", "--rounds", "1", "--seconds", "2"),
        ("check", "{url}", "--put"),
        ("clean", "{url}"),
    ],
    ids=lambda words: " ".join(words[:1] + words[2:4]),
)
def test_nothing_else_is_printed(printers, sharebench, words):
    printed = printers.root / "printed"
    printed.write_text("")
    url = f"smb://{printers.user}@{printers.host}:{printers.port}/laser"
    done = sharebench(*(word.format(url=url) for word in words))
    assert printed.read_text() == ""
    assert list((printers.root / "spool").iterdir()) == []
    assert "Traceback" not in done.stderr
    if words[2:4] != ("--scenario", "idle"):
        assert "is a printer" in done.stderr + done.stdout


def test_each_document_has_a_name_that_clean_knows():
    names = {document_name(folder, turn) for folder in ("a/u1001", "a/u1002", "b/u1001") for turn in range(100)}
    assert len(names) == 300
    assert all(map(is_scratch_name, names))
