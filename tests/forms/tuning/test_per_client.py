"""Files that smbd reads for one client and not for another: what decides, and which file is whose."""

from pathlib import Path

import pytest

from forms.tuning import per_client


@pytest.mark.parametrize(
    ("name", "file", "client"),
    [
        ("/etc/samba/smb.conf.%m", "/etc/samba/smb.conf.laptop1", "laptop1"),
        ("/etc/samba/%I.conf", "/etc/samba/10.0.0.7.conf", "10.0.0.7"),
        ("/etc/samba/%I.conf", "/etc/samba/fe80::1.conf", "fe80::1"),
        ("/etc/samba/%I.conf", "/etc/samba/smb.conf", ""),
        ("/etc/samba/%a/%U.conf", "/etc/samba/Win2K/alice.conf", "Win2K, alice"),
        ("/etc/samba/%m/%m.conf", "/etc/samba/pc/pc.conf", "pc"),
        ("/etc/samba/[x] %G", "/etc/samba/[x] staff", "staff"),
        ("/etc/samba/%$(SITE).conf", "/etc/samba/berlin.conf", "berlin"),
        ("/etc/samba/%m.conf", "/etc/samba/a/b.conf", ""),
    ],
)
def test_a_file_is_of_the_client_that_its_name_has(name: str, file: str, client: str):
    assert per_client.client_of(name, file) == client


def test_the_pattern_finds_the_files_of_all_clients_and_no_other(tmp_path: Path):
    folder = tmp_path / "[odd] *name"
    folder.mkdir()
    for file_name in ("smb.pc1.conf", "smb.pc2.conf", "smb.pc3", "other.conf"):
        (folder / file_name).touch()
    files = Path("/").glob(per_client.pattern_of(f"{folder}/smb.%m.conf").lstrip("/"))
    assert sorted(file.name for file in files) == ["smb.pc1.conf", "smb.pc2.conf"]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [("/a/%m", "/a/*"), ("/a/%m%I", "/a/*"), ("/a/%m%I.b", "/a/*.b"), ("%m/%I", "*/*"), ("/a/*%m", "/a/[*]*")],
)
def test_signs_in_a_row_are_one_star(name: str, pattern: str):
    assert per_client.pattern_of(name) == pattern


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/a/%m", ("NetBIOS name", "%m")),
        ("/a/%M", ("DNS", "%M")),
        ("/a/%I/%U", ("address of the client", "%I", "user", "%U")),
        ("/a/%a", ("operating system", "%a")),
        ("/a/%h", ("host name of this server", "%h")),
        ("/a/%$(SITE)", ("environment", "%$(SITE)")),
        ("/a/%q", ("client",)),
    ],
)
def test_what_decides_is_named_with_its_sign(name: str, words: tuple[str, ...]):
    said = per_client.what_decides(name)
    assert all(word in said for word in words), said


def test_many_files_are_counted():
    files = [f"/a/pc{number}" for number in range(8)]
    said = per_client.files_in_words("/a/%m", files)
    assert "/a/pc4 for pc4" in said
    assert "/a/pc5" not in said
    assert "3 more" in said
    assert "more" not in per_client.files_in_words("/a/%m", files[:5])


def test_that_there_is_none_is_told():
    assert "no such file" in per_client.files_in_words("/a/%I", ["/a/smb.conf"])
