"""``sharebench findings``: the rules on any stored series."""

from dataclasses import replace
from pathlib import Path

from storage.records import Command, Target
from tests.builders import book, one


def fill(path: Path) -> None:
    smb = one(1, (60e6, 60.1e6, 59.9e6, 60e6))
    ftp = replace(one(2, (100e6, 100.1e6, 99.9e6, 100e6)), target=Target(protocol="ftp", host="nas", path="/big.bin"))
    half = replace(one(3), command=Command.PUT, environment={"path": {"link.duplex": "half"}})
    book(path, smb, ftp, half)


def test_findings_of_several_series(tmp_path: Path, inside):
    fill(tmp_path / "notebook.db")
    text = inside("findings", "000000000001", "000000000002").stdout
    assert "! SMB get reaches 60 % of FTP: time to tune\n" in text
    found = inside.json("findings", "000000000001", "000000000002", "last", "--json")["findings"]
    assert [each["key"] for each in found][:2] == ["half-duplex", "time-to-tune"]


def test_one_series_twice_and_one_that_says_nothing(tmp_path: Path, inside):
    fill(tmp_path / "notebook.db")
    assert len(inside.json("findings", "last", "last", "--json")["findings"]) == 1
    assert "No findings" in inside("findings", "000000000001").stdout


def test_a_series_that_is_not_there(tmp_path: Path, inside):
    fill(tmp_path / "notebook.db")
    assert inside("findings", "zzz").returncode == 2
