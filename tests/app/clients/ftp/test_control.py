"""Lines of FTP listings as different servers write them."""

from __future__ import annotations

import pytest

from app.clients.base import DirectoryEntry
from app.clients.ftp.listing import parse_line, parse_mlsd


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        (
            "-rw-r--r--    1 1000     100      5000001 Nov 20 10:12 with  two spaces",
            DirectoryEntry(name="with  two spaces", is_folder=False, size_bytes=5_000_001),
        ),
        (
            "drwxr-xr-x   2 ftp ftp 4096 Feb  1  2020 folder",
            DirectoryEntry(name="folder", is_folder=True, size_bytes=0),
        ),
        ("-rw-r--r-- 1 owner 12 Jan 1 2020 nogroup", DirectoryEntry(name="nogroup", is_folder=False, size_bytes=12)),
        (
            "lrwxrwxrwx 1 root root 7 Jan  1 00:00 link -> target",
            DirectoryEntry(name="link", is_folder=False, size_bytes=7),
        ),
        (
            "-rwxr-xr-x+ 1 a b 9 Jan  1 00:00  leading space",
            DirectoryEntry(name=" leading space", is_folder=False, size_bytes=9),
        ),
        (
            "01-31-26  10:12AM       <DIR>          Folder X",
            DirectoryEntry(name="Folder X", is_folder=True, size_bytes=0),
        ),
        (
            "01-31-2026  10:12PM          1234567 a.bin",
            DirectoryEntry(name="a.bin", is_folder=False, size_bytes=1_234_567),
        ),
        ("total 12", None),
        ("", None),
    ],
)
def test_list_lines(line, entry):
    assert parse_line(line) == entry


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        (
            "type=file;size=12;modify=20260131101112.500;perm=adfrw; a; b=c",
            DirectoryEntry(name="a; b=c", is_folder=False, size_bytes=12, modified_seconds=1_769_854_272),
        ),
        ("Type=dir;Sizd=4096; sub", DirectoryEntry(name="sub", is_folder=True, size_bytes=0)),
        (
            "modify=20261331101112; thirteenth month",
            DirectoryEntry(name="thirteenth month", is_folder=False, size_bytes=0),
        ),
        ("type=cdir; .", None),
        ("type=pdir; ..", None),
    ],
)
def test_mlsd_lines(line, entry):
    assert parse_mlsd(line) == entry
