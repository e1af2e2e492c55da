"""Names that differ only by how they are written."""

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
    ],
)
def test_a_name_that_is_only_written_otherwise(name: str, stored: str):
    assert name_alike(name, ["other", "\udcff", stored]) == stored


@pytest.mark.parametrize(("name", "stored"), [("x y", "x_y"), ("x", "x"), ("grosse", "gr\u00f6\u00dfe"), ("", "x")])
def test_another_name(name: str, stored: str):
    assert name_alike(name, [stored]) == ""
