"""Forms as spreadsheets: live formulas whose stored values agree with the notebook, text that is never a formula."""

import io
import re
import zipfile
from dataclasses import replace
from xml.etree import ElementTree as ET

import openpyxl
import pytest

from forms.exporters import export_reports
from forms.exporters.xlsx import sheet_names
from forms.load.report import load_report
from forms.report import Bar, Chart, Mark, Report, Table, columns_of, row_of
from forms.series.report import blank_series_report
from forms.series.summary import RunMeasures, run_form
from storage.records import Series
from tests.builders import HOSTILE, book_series, export, full_series, hostile_series, series
from tests.forms.exporters.other_forms import reports
from tests.forms.exporters.workbook import recomputed, without_stored_values
from tests.loads import full_load

FIELDS = tuple(RunMeasures.__dataclass_fields__)


def opened(content: bytes, *, values: bool) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(content), data_only=values)


def expected(one: Series) -> list[tuple[float | None, ...]]:
    """The numbers of every row of the form, in order."""
    form = run_form(one)
    rows = [row.measures for row in form.all_rows]
    rows += [m for m in (form.average, form.deviation) if m]
    rows += [m for m in (form.average_with_rejected, form.deviation_with_rejected) if m]
    return [tuple(getattr(m, name) for name in FIELDS) for m in rows]


def found(report) -> list[tuple[float | None, ...]]:
    lines = list(report.iter_rows(values_only=True))
    start = next(i for i, line in enumerate(lines) if line[0] == "Run No")
    rows: list[tuple[float | None, ...]] = []
    for line in lines[start + 1 :]:
        if not line[0]:
            break
        if line[0] != "With the rejected runs:":
            rows.append(line[1:6])
    return rows


def same(one: list[tuple[float | None, ...]], other: list[tuple[float | None, ...]]) -> None:
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        assert [m is None for m in mine] == [t is None for t in theirs]
        assert [m for m in mine if m is not None] == pytest.approx([t for t in theirs if t is not None], rel=1e-9)


def test_stored_values_are_the_notebooks():
    book = opened(export([full_series(), book_series()], "xlsx"), values=True)
    assert book.sheetnames == ["cut-through on", "Ethernet Interface to Same Host"]
    same(found(book.worksheets[0]), expected(full_series()))
    same(found(book.worksheets[1]), expected(book_series()))


def test_computed_cells_are_formulas():
    report = opened(export([full_series()], "xlsx"), values=False).worksheets[0]
    by_name: dict[str, list[object]] = {}
    for line in report.iter_rows(values_only=True):
        by_name.setdefault(str(line[0]), list(line[1:6]))
    assert by_name["1"][2:] == ["=B18/C18", "=8*D18", "=100*E18/$B$7"]
    assert by_name["6"][1:] == [None] * 4
    assert all(str(cell).startswith("=AVERAGEIF(") for cell in by_name["Average:"])
    assert all(getattr(cell, "text", "").startswith("=STDEV(IF(") for cell in by_name["Deviation:"])


@pytest.mark.long
def test_libreoffice_computes_the_same(tmp_path):
    series_of = {"full": full_series(), "B-9": book_series()}
    stored = {name: export([one], "xlsx") for name, one in series_of.items()}
    stored["forms"] = export_reports(list(reports().values()), "xlsx")
    computed = recomputed(tmp_path, stored)
    for name, one in series_of.items():
        emptied = opened(without_stored_values(stored[name]), values=True)
        assert any(cell is None for row in found(emptied.worksheets[0]) for cell in row), name
        same(found(opened(computed[name], values=True).worksheets[0]), expected(one))
    compared = 0
    mine, theirs = (opened(books["forms"], values=True).worksheets for books in (stored, computed))
    for sheet, other in zip(mine, theirs, strict=True):
        for cell in (cell for row in sheet.iter_rows() for cell in row if isinstance(cell.value, int | float)):
            assert other[cell.coordinate].value == pytest.approx(cell.value, rel=1e-9), (sheet.title, cell)
            compared += 1
    assert compared > 60


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_never_a_formula(text):
    book = opened(export([hostile_series(text)], "xlsx"), values=False)
    report = book.worksheets[0]
    cells = [cell for row in report.iter_rows() for cell in row if cell.value is not None]
    formulas = [cell.value for cell in cells if cell.data_type == "f"]
    assert all(
        re.match(r"=(100\*|8\*|B\d+/C\d+|AVERAGEIF\(|\$D\$\d+$)", str(f)) for f in formulas if isinstance(f, str)
    )
    assert not [cell for cell in cells if cell.hyperlink]
    texts = {cell.value for cell in cells if cell.data_type == "s"}
    assert text in texts
    assert [c.value for c in cells if c.coordinate.startswith("H") and c.value not in {"Remark", None}] == [text]


def test_a_chart_of_the_measured_runs():
    report = opened(export([full_series()], "xlsx"), values=False).worksheets[0]
    with zipfile.ZipFile(io.BytesIO(export([full_series()], "xlsx"))) as archive:
        drawn = archive.read("xl/charts/chart1.xml").decode()
    rows = [cell.row for cell in report["A"] if cell.value in {"1", "6"}]
    assert f"$D${rows[0]}:$D${rows[-1]}" in drawn
    assert "wdUpDiag" in drawn


def test_rejected_rows_are_struck_out_with_their_reason():
    report = opened(export([full_series()], "xlsx"), values=True).worksheets[0]
    row = next(row for row in report.iter_rows() if row[0].value == "4")
    assert all(cell.font.strike for cell in row[:6])
    assert [cell.value for cell in row[6:8]] == ["rejected", "the backup ran"]


@pytest.mark.parametrize(("rows_before", "hatched"), [(0, [1]), (1, [0]), (2, [])])
def test_the_hatched_points_are_those_of_the_rows_that_the_chart_shows(rows_before: int, hatched: list[int]):
    marks = (Mark.NONE, Mark.REJECTED, Mark.NONE)
    rows = tuple(replace(row_of(str(number), number), mark=mark) for number, mark in enumerate(marks))
    bars = tuple(Bar(name=row.name, value=1.0) for row in rows[rows_before:])
    chart = Chart(title="T", unit="MB/s", bars=bars, source=(0, 1), rows_before=rows_before)
    table = Table(columns=columns_of("Block", "Rate"), rows=rows)
    report = Report(form="x", title="X", name="X", fields=(), tables=(table,), drawn=(chart,))
    with zipfile.ZipFile(io.BytesIO(export_reports([report], "xlsx"))) as archive:
        drawn = archive.read("xl/charts/chart1.xml").decode()
    assert [int(index) for index in re.findall(r'<c:dPt><c:idx val="(\d+)"/>', drawn)] == hatched


def test_sheet_names_are_what_excel_takes():
    names = sheet_names(["a" * 40, "a" * 40, "A" * 40, "a/b:c*?[d]\\", "'quoted'", "", "History", "🚀" * 30])
    assert len({name.lower() for name in names}) == len(names)
    for name in names:
        assert 0 < len(name.encode("utf-16-le")) // 2 <= 31
        assert not set(name) & set("[]:*?/\\")
        assert not name.startswith("'")
    assert "history" not in [name.lower() for name in names]


def test_blank_forms_have_rows_to_fill():
    report = opened(export_reports([blank_series_report(10**9)], "xlsx"), values=True).worksheets[0]
    names = [cell.value for cell in report["A"]]
    start = names.index("1")
    assert names[start : start + 7] == ["1", "2", "3", "4", "5", "Average:", "Deviation:"]


def test_control_characters_do_not_break_the_file():
    report = opened(export([series((1e8, 1e8), label="a\0b\x1bc\ud800")], "xlsx"), values=True).worksheets[0]
    assert report["B3"].value == "a␀b␛c\ufffd"


def test_what_is_no_character_leaves_the_workbook_well_formed():
    content = export([hostile_series("a\ufffeb\uffffc")], "xlsx")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if name.endswith((".xml", ".rels")):
                ET.fromstring(archive.read(name))
    assert opened(content, values=True)


def test_no_text_makes_the_print_wider_than_the_form():
    one = series((80e6, 95e6, 80e6, 70e6, 80e6), note="a long note of what was changed that day, and why " * 6)
    page = opened(export([one], "xlsx"), values=True).worksheets[0]
    merged = {cell.coord.split(":")[0]: cell for cell in page.merged_cells.ranges}
    long = [cell for row in page.iter_rows() for cell in row if isinstance(cell.value, str) and len(cell.value) > 140]
    assert len(long) > 1
    for cell in long:
        assert merged[cell.coordinate].max_col <= 8
        assert cell.alignment.wrap_text
        assert page.row_dimensions[cell.row].height > 15


def test_a_fields_number_is_written_once_and_small_ones_with_their_fractions():
    environment = {"path": {"tcp.least_round_trip_seconds": 0.0000061}}
    page = opened(export([series((80e6, 81e6, 80e6), environment=environment)], "xlsx"), values=True).worksheets[0]
    rows = {row[0].value: row for row in page.iter_rows() if row[0].value}
    assert [cell.value for cell in rows["Median"][1:4]] == [pytest.approx(rows["Median"][1].value), "bytes/sec", None]
    assert rows["Round trip"][1].number_format == "General"


def test_headings_and_sentences_have_the_lines_that_they_need():
    sentence = "a sentence about what was found that is far too long for one line of its column " * 2
    table = Table(
        columns=columns_of("a heading of several words indeed", "b"), rows=(row_of("1", sentence), row_of("2", "c"))
    )
    report = Report(form="survey", title="t", name="t", tables=(table,))
    sheet = opened(export_reports([report], "xlsx"), values=True).active
    places = {cell.value: cell for row in sheet.iter_rows() for cell in row if cell.value}
    assert sheet.row_dimensions[places["b"].row].height > 15
    assert places[sentence].alignment.wrap_text
    assert sheet.row_dimensions[places[sentence].row].height > 30
    assert sheet.row_dimensions[places["c"].row].height in {None, 15.0}


def test_what_has_several_charts_is_printed_on_several_pages():
    load = load_report(full_load(), None)
    sheet = opened(export_reports([load], "xlsx"), values=True).active
    assert len(load.charts) > 1
    assert sheet.page_setup.fitToHeight == 0
    short = opened(export([full_series()], "xlsx"), values=True).active
    assert short.page_setup.fitToHeight in {None, 1}


def test_the_first_column_has_room_for_the_name_of_each_result():
    book = opened(export([full_series()], "xlsx"), values=True)
    names = [str(row[0].value or "") for row in book.active.iter_rows(max_col=2) if row[0].value and row[1].value]
    assert "95 % interval of the average" in names
    assert book.active.column_dimensions["A"].width >= len("95 % interval of the average") + 2
