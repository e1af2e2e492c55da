"""Forms as Markdown."""

import re

import pytest

from forms.exporters import export_reports
from forms.exporters.markdown import escaped
from forms.series.report import blank_series_report
from tests.builders import HOSTILE, book_series, export, full_series, hostile_series
from tests.forms.golden_files import check


def test_golden_forms():
    check("run_form.md", export([full_series()], "markdown"))
    check("run_form_b9.md", export([book_series()], "markdown"))
    check("run_form_blank.md", export_reports([blank_series_report()], "markdown"))
    check("run_forms.md", export([full_series(), book_series()], "markdown"))


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_from_outside_is_markup(text):
    document = export([hostile_series(text)], "markdown").decode()
    assert not re.search(r"(?<!\\)<script", document)
    rows = [line for line in document.splitlines() if line.startswith("|")]
    cells = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert cells == {8}
    assert escaped(text.splitlines()[0]) in document


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1. one", "1\\. one"),
        ("- one", "\\- one"),
        ("=1+1", "\\=1+1"),
        ("2026-01-31 10:00", "2026-01-31 10:00"),
        ("9.5", "9.5"),
        ("[a](b)", "\\[a\\](b)"),
        ("http://x", "http\\://x"),
        (":smile:", "\\:smile:"),
        ("a\nb", "a⏎b"),
    ],
)
def test_escapes(text, written):
    assert escaped(text) == written


def test_rejected_rows_are_struck_out_with_their_reason():
    row = next(line for line in export([full_series()], "markdown").decode().splitlines() if "~~4~~" in line)
    assert row.endswith("| rejected: the backup ran |")
