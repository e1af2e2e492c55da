"""The bench writes each row as soon as it is measured, whatever becomes of the others."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.benchmarks import __main__ as bench


class Result(SimpleNamespace):
    def as_document(self):
        return {"name": self.name, "ratio": 2.0}


def row(name, *needs, fails=False):
    def measure():
        if fails:
            raise RuntimeError("smbd\ndid not start")
        return Result(name=name)

    return SimpleNamespace(name=name, needs=needs, measure=measure)


@pytest.fixture
def bench_of(monkeypatch, tmp_path: Path):
    def run(rows, *words):
        tables = [("| head |", iter(rows), lambda result: f"| {result.name} | 2.0 |")]
        monkeypatch.setattr(bench, "tables", lambda _size, _pairs: tables)
        monkeypatch.setattr(bench, "FOLDER", tmp_path / ".bench")
        monkeypatch.setattr("sys.argv", ["bench", *words])
        return bench.main()

    return run


def test_a_missing_program_and_a_failure_are_rows_and_the_others_are_measured(bench_of, tmp_path, capsys):
    rows = [row("first"), row("second", "no-such-torture"), row("third", fails=True), row("fourth", "sh")]
    assert bench_of(rows) == 1
    text = (tmp_path / ".bench" / "bench.md").read_text()
    assert capsys.readouterr().out == text
    assert text.splitlines()[2:] == [
        "| head |",
        "| first | 2.0 |",
        "| second | not measured: no-such-torture not installed |",
        "| third | failed: smbd did not start |",
        "| fourth | 2.0 |",
    ]
    results = json.loads((tmp_path / ".bench" / "bench.json").read_text())["results"]
    assert [one["name"] for one in results] == ["first", "second", "third", "fourth"]


def test_a_row_is_on_the_disk_before_the_next_one_is_measured(bench_of, tmp_path):
    def measure():
        assert "| first | 2.0 |\n| second | not measured" in (tmp_path / ".bench" / "bench.md").read_text()
        return Result(name="later")

    later = SimpleNamespace(name="later", needs=(), measure=measure)
    assert bench_of([row("first"), row("second", "no-such-torture"), later]) == 0


def test_rows_are_picked_by_name(bench_of, capsys):
    assert bench_of([row("SMB get"), row("SMB put"), row("FTP get")], "--rows", "SMB put, FTP", "--list") == 0
    assert capsys.readouterr().out.split("\n") == ["SMB put", "FTP get", ""]
    with pytest.raises(SystemExit, match="2"):
        bench_of([row("SMB get")], "--rows", "NFS")
