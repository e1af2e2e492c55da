"""Rows of a table whose first cell is no plain number: taken as the run that they are, or named."""

import pytest

from app.base.targets import parse_target
from forms.importers.filled_form import FormDefaults
from forms.importers.run_names import run_name_in
from storage.json_reader import DocumentError
from storage.records import Phase, RunStatus, Series
from tests.builders import book_series, export, read_series

GIVEN = FormDefaults(target_of=parse_target)
MEASURED, WARM_UP = Phase.MEASURED, Phase.WARM_UP


def read(*rows: str, headings: str = "Run No,Size in Bytes,Time (sec),Status,Remark") -> Series:
    (only,) = read_series("\n".join([headings, *rows]).encode(), GIVEN)
    return only


def left_out(series: Series) -> str:
    return str(series.environment.get("client", {}).get("form.left_out", ""))


@pytest.mark.parametrize(
    ("text", "phase", "number", "mark"),
    [
        ("4", MEASURED, 4, ""),
        ("W2", WARM_UP, 2, ""),
        ("w 2", WARM_UP, 2, ""),
        ("4*", MEASURED, 4, "*"),
        ("4 †", MEASURED, 4, "†"),
        ("4 (cache dropped)", MEASURED, 4, "cache dropped"),
        ("4 - backup ran", MEASURED, 4, "backup ran"),
        ("#4", MEASURED, 4, ""),
        ("Run 4", MEASURED, 4, ""),
        ("run #4:", MEASURED, 4, ""),
        ("Test-4", MEASURED, 4, ""),
        ("Nr. 4", MEASURED, 4, ""),
        ("4.", MEASURED, 4, ""),
        ("4)", MEASURED, 4, ""),
        ("(4)", MEASURED, 4, ""),
        ("[4]*", MEASURED, 4, "*"),
        ("4.0", MEASURED, 4, ""),
        ("4,00", MEASURED, 4, ""),
        ("4 of 5", MEASURED, 4, "of 5"),
        ("Warm-up", WARM_UP, None, ""),
        ("warming up", WARM_UP, None, ""),
        ("Warm up 3", WARM_UP, 3, ""),
        ("WU3", WARM_UP, 3, ""),
        ("3 (warm-up)", WARM_UP, 3, ""),
        ("Warm-up (cold)", WARM_UP, None, "cold"),
    ],
)
def test_a_run_and_its_mark(text: str, phase: Phase, number: int | None, mark: str):
    assert run_name_in(text) == (phase, number, mark)


@pytest.mark.parametrize(
    "text",
    ["", "Average", "Median", "4.5", "10:30", "2026-01-31", "1/31/2026", "95 % interval", "With", "Weekend", "a"],
)
def test_no_run(text: str):
    assert run_name_in(text) is None


def test_marked_rows_are_runs_and_their_marks_are_in_the_note():
    series = read("Warm-up,2000,9.5", "1,,2.5", "2*,,9.0", "3 (after reboot),,8.0", "Run 4,,2.5,,the lights went out")
    assert [(run.phase, run.number, run.seconds) for run in series.runs] == [
        (WARM_UP, 1, 9.5),
        (MEASURED, 1, 2.5),
        (MEASURED, 2, 9.0),
        (MEASURED, 3, 8.0),
        (MEASURED, 4, 2.5),
    ]
    assert {run.status for run in series.runs} == {RunStatus.VALID}
    assert series.note.splitlines() == ["run 2: *", "run 3: after reboot", "run 4: the lights went out"]
    assert left_out(series) == ""


@pytest.mark.parametrize("mark", ["rejected", "(discarded)", "invalid: backup", "- failed", "not counted"])
def test_a_run_that_its_mark_leaves_out_is_rejected_for_it(mark: str):
    series = read("1,2000,2.5", f"2 {mark},,9.0")
    assert [run.status for run in series.runs] == [RunStatus.VALID, RunStatus.REJECTED]
    assert series.runs[1].seconds == 9.0
    assert str(series.runs[1].reason) in mark


@pytest.mark.parametrize("mark", ["slow", "outlier", "unusual", "cold"])
def test_a_run_that_was_unusual_counts_until_somebody_rejects_it(mark: str):
    series = read("1,2000,2.5", f"2 ({mark}),,9.0")
    assert [run.status for run in series.runs] == [RunStatus.VALID, RunStatus.VALID]
    assert mark in series.note


@pytest.mark.parametrize("names", [("Run 1", "Run 2"), ("1.", "2."), ("1,0", "2,0"), ("#1", "#2"), ("No 1", "No 2")])
def test_a_table_of_marked_rows_alone(names: tuple[str, str]):
    series = read(f'"{names[0]}",2000,2.5', f'"{names[1]}",,4.5')
    assert [(run.number, run.seconds) for run in series.runs] == [(1, 2.5), (2, 4.5)]


@pytest.mark.parametrize(
    "row", ["cold,,9.0", ",,9.0", "Median,,2.5", "Maximum,2000,", "second day,,9.0 s", "10:30,,9.0"]
)
def test_a_row_with_numbers_that_is_no_run_is_named(row: str):
    series = read("1,2000,2.5", row, "2,,4.5")
    assert [run.seconds for run in series.runs] == [2.5, 4.5]
    assert left_out(series).startswith("line 3: ")
    assert row.partition(",")[0] in left_out(series)


def test_a_run_without_a_time_is_named_if_it_has_another_number():
    series = read("1,2000,2.5", "2,2000,", "3,,", "4,,,,skipped")
    assert [run.number for run in series.runs] == [1]
    assert left_out(series) == "line 3: '2' has no time"
    assert series.note == "run 4: skipped"


def test_a_row_that_we_did_not_export_is_named_between_those_that_we_did():
    lines = export([book_series()], "csv").decode("utf-8-sig").splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("3,"))
    lines.insert(row, "cold,1812898,9.9")
    (series,) = read_series("\n".join(lines).encode(), GIVEN)
    assert left_out(series) == f"line {row + 1}: 'cold' is no run"
    (untouched,) = read_series(export([book_series()], "csv"), GIVEN)
    assert (left_out(untouched), untouched.note) == ("", "")


def test_a_second_run_of_a_number_is_refused_however_it_is_written():
    for first, second in (("2a", "2b"), ("2", "Run 2"), ("W1", "Warm-up 1"), ("2", "2*")):
        with pytest.raises(DocumentError, match="line 3: a second run"):
            read(f"{first},2000,2.5", f"{second},,4.5")


def test_the_columns_may_stand_in_any_order_and_further_right():
    headings = ",Time (sec),Remark,Run No,CPU,Size in Bytes"
    series = read(",2.5,x,1,70,2000", ",4.5,,2*,71,", headings=headings)
    assert [(run.number, run.seconds, run.size_bytes) for run in series.runs] == [(1, 2.5, 2000), (2, 4.5, 2000)]
    assert series.note.splitlines() == ["run 1: x", "run 2: *"]
    assert left_out(series) == "the column 'CPU'"


def test_bits_alone_tell_the_time():
    series = read("1,2000,8000", headings="Run No,Size in Bytes,Bits/sec")
    assert series.runs[0].seconds == pytest.approx(2.0)


def test_a_status_of_warm_up_makes_one():
    series = read("1,2000,9.5,warm-up", "1,,2.5,valid")
    assert [(run.phase, run.number) for run in series.runs] == [(WARM_UP, 1), (MEASURED, 1)]
    assert "form.contradictions" not in series.environment.get("client", {})
