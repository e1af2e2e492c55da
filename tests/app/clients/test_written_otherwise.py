"""A file that is only written otherwise on its server is named by the run that did not find it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.base.targets import parse_target
from storage.records import format_target
from tests.command_line import Inside
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd

QUICK = ("--runs", "1", "--warmup", "0", "--quiet-time", "skip")


@pytest.fixture
def latin_1_file(vsftpd: Vsftpd) -> Iterator[str]:
    """A file on an FTP server whose name is in Latin-1; its URL."""
    path = os.fsdecode(bytes(vsftpd.folder) + "/Größe.bin".encode("latin-1"))
    Path(path).write_bytes(b"x" * 70_000)
    try:
        yield format_target(vsftpd.target("Gr\udcf6\udcdfe.bin"))
    finally:
        Path(path).unlink()


@pytest.mark.long
def test_bytes_that_are_no_utf_8_in_the_name_of_a_file_on_ftp(vsftpd: Vsftpd, latin_1_file: str, tmp_path: Path):
    here = Inside(tmp_path / "a.db", vsftpd.password)
    assert latin_1_file.endswith("/Gr%F6%DFe.bin")
    assert here("run", latin_1_file, *QUICK).returncode == 0
    assert "Gr%F6%DFe.bin" in here("list").stdout

    exported = here("export", "last", "--format", "csv").stdout
    form = tmp_path / "form.csv"
    form.write_text(exported)
    there = Inside(tmp_path / "b.db", None)
    assert there("import", str(form)).returncode == 0
    assert "Gr%F6%DFe.bin" in there("list").stdout

    typed = latin_1_file.replace("%F6%DF", "öß")
    assert latin_1_file in here.fails(4, "run", typed, *QUICK).replace("\n", " ")


@pytest.mark.varied
@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        ("Mo\u0308we.iso", "M\u00f6we.iso"),
        ("M\u00e4rz.iso", "Ma\u0308rz.iso"),
        ("Mu\u0308ll/a.iso", "M\u00fcll/a.iso"),
    ],
)
def test_a_run_names_the_file_that_is_written_otherwise(smbd: Smbd, tmp_path: Path, stored: str, typed: str):
    folder = Path(stored).parent.name
    if folder:
        (smbd.folder / folder).mkdir(exist_ok=True)
        (smbd.folder / folder).chmod(0o777)
    smbd.make_file(stored, b"x" * 70_000)
    here = Inside(tmp_path / "a.db", smbd.password)
    base = format_target(smbd.target(""))
    said = here.fails(4, "run", f"{base}/{typed}", *QUICK)
    assert said.count("\n") <= 1
    url = said.split()[-1]
    assert parse_target(url).path == stored
    assert here("run", url, *QUICK).returncode == 0


FOLDER_COMMANDS = (
    ("run", "--put", "--size", "64K", *QUICK),
    ("run", "--put", "--files", "3", "--size", "4K", *QUICK),
    ("run", "--make-file", "--size", "64K", *QUICK),
    ("quick",),
    ("load", "--users", "1"),
    ("clean",),
)


@pytest.mark.parametrize("words", FOLDER_COMMANDS, ids=" ".join)
@pytest.mark.parametrize("protocol", ["smb", "ftp", "file"])
def test_a_folder_that_is_written_otherwise_is_named_and_not_to_be_made(
    smbd: Smbd, vsftpd: Vsftpd, tmp_path: Path, protocol: str, words: tuple[str, ...]
):
    if protocol == "ftp" and words[0] == "quick":
        pytest.skip("a quick test is of SMB or a disk")
    stored = "Bu\u0308cher"
    servers: dict[str, Smbd | Vsftpd] = {"smb": smbd, "ftp": vsftpd}
    server = servers.get(protocol)
    parent = server.folder if server else tmp_path
    (parent / stored).mkdir(exist_ok=True)

    base = format_target(server.target("")).rstrip("/") if server else f"file://{tmp_path}"
    command, *options = words
    here = Inside(tmp_path / "a.db", server.password if server else None)
    said = here(command, f"{base}/B\u00fccher", *options)
    assert said.returncode == 4, said.stdout
    last_line = said.stderr.splitlines()[-1]
    url = last_line.split()[-1]
    assert parse_target(url).path.rpartition("/")[2] == stored
    assert "make it" not in last_line or command == "run"
