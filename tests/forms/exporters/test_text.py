"""The run form as text: columns, marks, strikes and widths."""

from dataclasses import replace
from typing import Any

import pytest

from forms import layout
from forms.exporters.text import report_text
from forms.series.report import blank_series_report, series_report
from forms.series.summary import run_form
from storage.records import Series
from tests.builders import HOSTILE, book_series, full_series, hostile_series, series
from tests.forms.golden_files import check


def text_of(one: Series, **options: Any) -> str:
    return report_text(series_report(run_form(one)), **options)


def test_golden_forms():
    check("run_form.txt", text_of(full_series()).encode())
    check("run_form_ansi.txt", text_of(full_series(), ansi=True).encode())
    check("run_form_b9.txt", text_of(book_series()).encode())
    check("run_form_blank.txt", report_text(blank_series_report()).encode())


def test_b9_averages_its_own_rows_not_what_was_printed():
    text = text_of(book_series())
    average = next(line for line in text.splitlines() if "Average:" in line).split()
    assert average[3:] == ["761,908", "6,095,264", "60.95"], "printed were 777,310, 6,218,480 and 62"


def test_a_rejected_run_is_struck_through_without_styles():
    line = next(line for line in text_of(full_series()).splitlines() if line.startswith("x 4"))
    assert "───" in line
    assert "118,500,000" in line
    assert "\x1b" not in line
    styled = text_of(full_series(), ansi=True)
    assert "\x1b[9mx 4" in styled
    assert "x run 4 rejected: the backup ran" in text_of(full_series())


@pytest.mark.parametrize("width", [80, 100, 60])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_line_is_wider_than_asked(text, width):
    lines = text_of(hostile_series(text), width=width).splitlines()
    assert max(map(layout.width, lines)) <= width
    assert any(text.splitlines()[0] in line for line in lines)


@pytest.mark.parametrize(("rate", "size", "link"), [(50e9, 10**13, 400 * 10**9), (1.0, 1, 10), (3e12, 10**16, None)])
def test_the_largest_numbers_fit_eighty_columns(rate, size, link):
    text = text_of(series((rate, rate * 1.5), size_bytes=size, link_bits_per_second=link))
    assert max(map(layout.width, text.splitlines())) <= 80
    assert f"{rate:,.0f}" in text or f"{rate:.0f}" in text


def test_the_columns_are_those_of_the_paper_with_the_real_link():
    assert "Bits/sec  % of 10 Mb/s" in text_of(book_series())
    report = series_report(run_form(book_series()))
    assert [c.heading for c in report.tables[0].columns] == [
        "Run No",
        "Size in Bytes",
        "Time (sec)",
        "Bytes/sec",
        "Bits/sec",
        "% of 10 Mb/s",
    ]


def test_one_run_has_no_deviation_and_none_has_no_average():
    assert "Deviation" not in text_of(series((100e6,)))
    assert "Average" not in text_of(series())


def test_the_header_names_what_was_measured():
    text = text_of(full_series())
    for part in (
        "Label:      cut-through on",
        "Command:    get",
        "smb://nas/data/big.bin",
        "dialect 3.1.1, not signed",
        "Link:       1 Gb/s",
        "typical (CPU 12 % at work)",
        "900 MB/s, this client's own limit",
        "socket options = TCP_NODELAY (was empty), confirmed",
        "Note:       Switch ports 3 and 4.\n            Cable changed at noon.",
    ):
        assert part in text


def test_a_failed_series_says_what_ended_it():
    assert "Ended by:   the disk filled up" in text_of(replace(full_series(), error="the disk filled up"))
