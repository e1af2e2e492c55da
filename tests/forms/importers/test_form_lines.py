"""What stands beside the table of a form is read whatever the first line is; what has no field is in the note."""

import csv
import io

import openpyxl
import pytest

from app.base.targets import parse_target
from forms.importers.filled_form import FormDefaults
from storage.json_reader import DocumentError
from storage.records import Command
from tests.builders import book_series, export, full_series, read_series

GIVEN = FormDefaults(target_of=parse_target)
HEAD = """Label;after the move
Command;put
Target;smb://files/public/image.iso
Link;1 Gb/s
Measured;2025-03-04 10:00
Note;by night"""
TABLE = "Run No;Size in Bytes;Time (sec)\n1;1000;2,5\n2;;4,5\n"


@pytest.mark.parametrize(
    "head",
    [
        HEAD,
        f"Form;run form\n{HEAD}",
        f"Switch test\n{HEAD}\n;;\n",
        f"\n\n;;\n{HEAD}\n\n\n",
        f"sep=;\n{HEAD}",
        HEAD.replace(";", ": ;", 1).replace("Label:", "LABEL:"),
        HEAD.replace(";", ": "),
        "\n".join(f";;{line}" for line in HEAD.splitlines()),
        "\n".join(reversed(HEAD.splitlines())),
    ],
)
def test_the_fields_above_the_table(head: str):
    (series,) = read_series(f"{head}\n{TABLE}".encode(), GIVEN)
    assert (series.label, series.command, series.note) == ("after the move", Command.PUT, "by night")
    assert (series.target.host, series.target.path) == ("files", "image.iso")
    assert series.link_bits_per_second == 10**9
    assert series.created_at[:16] == "2025-03-04T10:00"
    assert [run.seconds for run in series.runs] == [2.5, 4.5]


def test_a_first_line_alone_is_the_title_and_other_texts_are_in_the_note():
    above = f"Switch test\n\nTester;Ada;second shift\nWeather: fine\n{HEAD}\n\n"
    form = f"{above}{TABLE}\n* the cache was cold\nApproved;Bob\n"
    (series,) = read_series(form.encode(), GIVEN)
    assert series.title == "Switch test"
    assert series.note.splitlines() == [
        "by night",
        "Tester: Ada, second shift",
        "Weather: fine",
        "* the cache was cold",
        "Approved: Bob",
    ]


def test_a_field_that_stands_twice_loses_nothing():
    (series,) = read_series(f"Note;one;two\nNote;three\nLabel;a;b\n{TABLE}".encode(), GIVEN)
    assert series.label == "a"
    assert series.note.splitlines() == ["one, two", "Note: three", "b"]


def test_each_of_several_forms_has_its_own_fields():
    second = HEAD.replace("after", "before").replace("2025", "2024")
    for between in ("\n", "\n\nA title\n", "\nMedian;;2,5\n\n", "* a footnote\n\n"):
        found = read_series(f"{HEAD}\n{TABLE}{between}{second}\n\n{TABLE}".encode(), GIVEN)
        assert [series.label for series in found] == ["after the move", "before the move"]
        assert [series.created_at[:4] for series in found] == ["2025", "2024"]
        assert ("footnote" in between) is ("footnote" in found[0].note)
        assert (found[1].title == "A title") is ("A title" in between)


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_our_workbook_saved_as_csv_has_what_the_form_had(delimiter: str):
    """With the numbers as the sheet shows them, and with another sign in each country."""
    for exported in (full_series(), book_series()):
        sheet = openpyxl.load_workbook(io.BytesIO(export([exported], "xlsx"))).worksheets[0]
        saved = io.StringIO()
        writer = csv.writer(saved, delimiter=delimiter)
        for row in sheet.iter_rows():
            writer.writerow([_shown(cell.value, cell.number_format, delimiter) for cell in row])
        (again,) = read_series(saved.getvalue().encode(), GIVEN)

        assert (again.id, again.title, again.label) == (exported.id, exported.title, exported.label)
        assert (again.note, again.command, again.target) == (exported.note, exported.command, exported.target)
        assert again.link_bits_per_second == exported.link_bits_per_second
        assert [run.size_bytes for run in again.runs] == [run.size_bytes for run in exported.runs]
        for run, exported_run in zip(again.runs, exported.runs, strict=True):
            assert run.seconds == pytest.approx(exported_run.seconds, abs=5e-5)
            assert (run.phase, run.number, run.status) == (exported_run.phase, exported_run.number, exported_run.status)


def _shown(value: object, number_format: str, delimiter: str) -> str:
    """A cell as a spreadsheet saves it; a formula as the spreadsheet that never computed it."""
    if value is None or (isinstance(value, str) and value.startswith("=")) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, str):
        return value
    text = f"{value:,.4f}" if "0000" in number_format else f"{value:,.0f}"
    return text if delimiter == "," else text.translate(str.maketrans(",.", ".,"))


def test_a_heading_may_have_several_lines():
    text = '"Run\nNo";"Size in\nBytes";"Time\n(sec)"\n1;1000;2,5\n'
    assert read_series(text.encode(), GIVEN)[0].runs[0].seconds == 2.5


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("hello", 1),
        ("Label;x\n\nRun No;Size in Bytes;Time (days)\n1;1000;2500\n", 3),
        ("Lauf;Bytes;Zeit\n1;1000;2,5\n", 1),
    ],
)
def test_a_file_without_a_table_is_refused_with_the_headings_that_it_needs(text: str, line: int):
    with pytest.raises(DocumentError, match=rf"^line {line}: expected a form .*Run No, Size in Bytes") as refusal:
        read_series(text.encode(), GIVEN)
    assert "…" not in str(refusal.value)


@pytest.mark.parametrize(
    "table",
    [
        "Run No,Size in Bytes,Time (sec)\n1,1000,2,5\n2,1000,2,4\n",
        "Run No,Size in Bytes,Time (sec),\n1,1000,2,5\n",
        "Run No,Size in Bytes,Time (sec),Remark\n1,1000,2,5\n",
        "Run No,Size in Bytes,Time (sec),Bytes/sec\n1,1000,2,5,400,0\n",
        "Run No,Time (sec)\n1,2,5\n",
    ],
)
def test_a_row_that_decimal_commas_cut_is_refused(table: str):
    with pytest.raises(DocumentError, match="cut in two"):
        read_series(table.encode(), GIVEN)


@pytest.mark.parametrize(
    "table",
    [
        'Run No,Size in Bytes,Time (sec)\n1,1000,"2,5"\n',
        "Run No,Size in Bytes,Time (sec)\n1,1000,2.5,17\n",
        "Run No,Size in Bytes,Time (sec)\n1,1000,2.5,,\n",
        "Run No,Size in Bytes,Time (sec),Remark\n1,1000,2.5,3rd disk\n",
        "Run No;Size in Bytes;Time (sec)\n1;1000;2,5;17\n",
    ],
)
def test_a_row_that_nothing_cuts_is_read(table: str):
    (series,) = read_series(table.encode(), GIVEN)
    assert [run.seconds for run in series.runs] == [2.5]


@pytest.mark.parametrize("cell", ["95.3 MB/s", "760 Mbit/s", "1.2 GB/s", "118 MiB", "95,3 MB/s", "95.2M", "(118 MB/s)"])
def test_a_unit_in_a_cell_is_refused_and_never_left_out(cell: str):
    table = f'Run No,Size in Bytes,Bytes/sec\n1,1000,"{cell}"\n'
    with pytest.raises(DocumentError, match=r"line 2: Bytes/sec: "):
        read_series(table.encode(), GIVEN)


def test_a_unit_that_is_refused_is_called_one():
    with pytest.raises(DocumentError, match=r"without a unit, found '1.05 x'"):
        read_series(b"Run No,Size in Bytes,Time (sec)\n1,1000,1.05 x\n", GIVEN)
    with pytest.raises(DocumentError, match=r"expected a number above 0, found '-1'"):
        read_series(b"Run No,Size in Bytes,Time (sec)\n1,1000,-1\n", GIVEN)


def test_the_end_of_a_text_of_dos_is_no_note():
    (series,) = read_series(b"Run No,Size in Bytes,Time (sec)\r\n1,1000,2.5\r\n\x1a", GIVEN)
    assert series.note == ""


def test_the_line_of_the_headings_is_named_and_not_a_field_above_them():
    with pytest.raises(DocumentError, match=r"^line 3: expected a form"):
        read_series(b"Label,Test\n\nRun,Size in Bytes,Throughput\n1,1000,95\n", GIVEN)
