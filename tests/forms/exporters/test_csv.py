"""Forms as CSV: RFC 4180, and nothing a spreadsheet would compute."""

import csv
import io

import pytest

from forms.exporters import export_reports
from forms.exporters.csv import guarded, unguarded
from forms.series.report import blank_series_report
from forms.series.summary import run_form
from tests.builders import HOSTILE, book_series, export, full_series, hostile_series
from tests.forms.golden_files import check

STARTS = {*"=+-@\t\r\n", *(f"{chr(ord(c) + 0xFEE0)}" for c in "=+-@")}
"""What a spreadsheet takes for the start of a formula, and the full-width forms of it."""


def records(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_golden_forms():
    check("run_form.csv", export([full_series()], "csv"))
    check("run_form_b9.csv", export([book_series()], "csv"))
    check("run_form_blank.csv", export_reports([blank_series_report(10**9)], "csv"))
    check("run_forms.csv", export([full_series(), book_series()], "csv"))


def test_records_end_in_cr_lf_and_are_equally_long():
    content = export([full_series(), book_series()], "csv")
    assert content.endswith(b"\r\n")
    assert len({len(record) for record in records(content)}) == 1
    outside_quotes = b"".join(content.split(b'"')[::2])
    assert outside_quotes.count(b"\n") == outside_quotes.count(b"\r\n")


@pytest.mark.parametrize(
    "text", [*HOSTILE, "\tcell", "\r\nline", "=cmd|'/c calc'!A0", "''", " =1+1", "\N{NO-BREAK SPACE}=1", "\ufeff+1"]
)
def test_no_field_starts_a_formula_and_every_text_comes_back(text):
    found = records(export([hostile_series(text)], "csv"))
    assert not [field for record in found for field in record if field.strip(" \u00a0\ufeff")[:1] in STARTS]
    label = next(record[1] for record in found if record[0] == "Label")
    assert unguarded(label) == text
    reasons = [unguarded(record[7]) for record in found if "rejected" in record]
    assert reasons == [text]


def test_guarding_is_undone_exactly():
    for text in (
        "=1",
        " =1",
        "\N{NO-BREAK SPACE}@SUM(1)",
        " '=1",
        "\ufeff-1",
        "  plain",
        "'=1",
        "''=1",
        "plain",
        "",
        "-5",
        "\N{FULLWIDTH EQUALS SIGN}1",
    ):
        assert unguarded(guarded(text)) == text


def test_numbers_are_the_form_s_own():
    form = run_form(full_series())
    rows = [record for record in records(export([full_series()], "csv")) if record[0] in {"1", "4", "Average:"}]
    assert form.average is not None
    assert float(rows[0][2]) == form.rows[0].measures.seconds
    assert rows[1][6:8] == ["rejected", "the backup ran"]
    assert float(rows[2][3]) == pytest.approx(form.average.bytes_per_second, rel=1e-14)
