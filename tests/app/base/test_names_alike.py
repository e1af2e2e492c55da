"""Names that differ only by how they are written."""

import os

import pytest

from app.base.names_alike import name_alike


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("x y", "x%20y"),
        ("x%20y", "x y"),
        ("Gr\u00f6\u00dfe.iso", "Gro\u0308\u00dfe.iso"),
        ("Gro\u0308\u00dfe.iso", "Gr\u00f6\u00dfe.iso"),
        ("readme.txt", "README.TXT"),
        ("100%25.bin", "100%.bin"),
        ("Gr\u00f6\u00dfe.iso", "Gr\udcf6\udcdfe.iso"),
        ("Gr%F6%DFe.iso", "Gr\udcf6\udcdfe.iso"),
        ("\u65e5\u672c\u8a9e.iso", os.fsdecode("\u65e5\u672c\u8a9e.iso".encode("cp932"))),
        ("\u65e5\u672c\u8a9e.iso", os.fsdecode("\u65e5\u672c\u8a9e.iso".encode("euc-jp"))),
        ("\u4e2d\u6587.iso", os.fsdecode("\u4e2d\u6587.iso".encode("gb18030"))),
        ("\u041e\u0442\u0447\u0451\u0442", os.fsdecode("\u041e\u0442\u0447\u0451\u0442".encode("koi8-r"))),
        ("\u041e\u0442\u0447\u0451\u0442", os.fsdecode("\u041e\u0442\u0447\u0451\u0442".encode("cp1251"))),
        ("\u00dcber.bin", os.fsdecode("\u00dcber.bin".encode("cp437"))),
    ],
)
def test_a_name_that_is_only_written_otherwise(name: str, stored: str):
    assert name_alike(name, ["other", "\udcff", stored]) == stored


@pytest.mark.parametrize(
    ("name", "stored"), [("x y", "x_y"), ("x", "x"), ("grosse", "gr\u00f6\u00dfe"), ("", "x"), ("\u00f6", "\udce4")]
)
def test_another_name(name: str, stored: str):
    assert name_alike(name, [stored]) == ""
