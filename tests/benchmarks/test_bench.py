"""The bench writes each row as soon as it is measured, whatever becomes of the others."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.benchmarks import __main__ as bench
from tests.benchmarks.pairs import Result as PairResult
from tests.benchmarks.table import pair_line


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


def test_rows_that_take_long_are_measured_when_asked_for(bench_of, capsys):
    rows = [row("short"), row("drawing")]
    rows[1].long = True
    assert bench_of(rows) == 0
    assert "drawing" not in capsys.readouterr().out
    for words in (["--long"], ["drawing"]):
        assert bench_of(rows, *words) == 0
        assert "| drawing | 2.0 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("ours", "at_least", "expected"),
    [
        ((200e6, 202e6, 198e6), 1.5, "2.00 (1.95 to 2.05), faster"),
        ((200e6, 202e6, 198e6), 2.1, "2.00 (1.95 to 2.05), faster, **below 2.1**"),
        ((60e6, 150e6, 110e6), 0.9, "1.07 (0.37 to 3.05), inconclusive"),
    ],
)
def test_a_pair_is_judged_by_our_own_verdict_and_marked_below_its_minimum(ours, at_least, expected):
    result = PairResult(
        name="SMB get", ours="sharebench", theirs="smbclient", our_rates=ours, their_rates=(100e6, 100e6, 100e6),
        at_least=at_least, aim=2.0, our_peak_bytes=54_000_000, client_share=0.417,
        server_share=0.934,
    )  # fmt: skip
    cells = [cell.strip() for cell in pair_line(result).strip("|").split("|")]
    assert cells[3] == expected
    assert cells[6:] == ["0.42", "0.93", "54"]
    assert set(result.as_document()) >= {"ratio", "ratio_interval", "verdict", "server_share_of_a_core"}
