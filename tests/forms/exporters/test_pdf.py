"""Forms as PDF: every number and every text can be read out again, on the paper that was asked for."""

import io
import re
from dataclasses import replace

import pytest
from fontTools.ttLib import TTFont
from pypdf import PdfReader

from forms import numbers
from forms.exporters import export, export_reports
from forms.exporters.pdf_fonts import other_font
from forms.series.report import blank_series_report
from forms.series.summary import run_form
from storage.records import RunStatus, Series
from tests.builders import HOSTILE, book_series, full_series, hostile_series, series


def texts(content: bytes) -> list[str]:
    return [page.extract_text() for page in PdfReader(io.BytesIO(content)).pages]


@pytest.mark.parametrize("one", [full_series(), book_series()], ids=["full", "B-9"])
def test_every_number_of_the_form_can_be_read_out(one):
    (text,) = texts(export([one], "pdf"))
    form = run_form(one)
    rows = [row.measures for row in form.all_rows]
    rows += [m for m in (form.average, form.deviation, form.average_with_rejected, form.deviation_with_rejected) if m]
    for row in rows:
        for value, written in (
            (row.size_bytes, numbers.whole),
            (row.seconds, numbers.seconds),
            (row.bytes_per_second, numbers.whole),
            (row.bits_per_second, numbers.whole),
            (row.percent_of_link, numbers.percent),
        ):
            assert value is None or written(value) in text
    assert numbers.whole(form.median_bytes_per_second) in text
    for heading in form.columns:
        assert heading in text


@pytest.mark.parametrize(("paper", "size"), [("A4", (595, 842)), ("Letter", (612, 792))])
def test_paper_sizes(paper, size):
    reader = PdfReader(io.BytesIO(export([full_series(), book_series()], "pdf", paper=paper)))
    assert [tuple(round(float(x)) for x in page.mediabox[2:]) for page in reader.pages] == [size] * 2
    assert reader.metadata is not None
    assert reader.metadata.title == "2 forms"


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_can_be_read_out(text):
    (page,) = texts(export([hostile_series(text)], "pdf"))
    assert f"Label {text}" in page
    assert re.search(r"rejected: ?" + re.escape(text), page) or text in page.split("rejected:")[1]


def test_rejected_rows_are_struck_out_with_their_reason():
    kept = PdfReader(io.BytesIO(export([unmarked()], "pdf"))).pages[0].get_contents()
    struck = PdfReader(io.BytesIO(export([full_series()], "pdf"))).pages[0].get_contents()
    assert kept is not None
    assert struck is not None
    assert lines_across(struck.get_data()) == lines_across(kept.get_data()) + 1
    assert "x run 4 rejected: the backup ran" in texts(export([full_series()], "pdf"))[0]


def unmarked() -> Series:
    """The full series, its rejected run failed instead, so that as many rows are there and none is struck out."""
    one = full_series()
    return replace(one, runs=tuple(replace(r, status=RunStatus.FAILED) if r.reason else r for r in one.runs))


def lines_across(content: bytes) -> int:
    """How many lines in the colour of warnings run from margin to margin."""
    drawn = re.findall(rb"^(\d+\.?\d*) (\d+\.?\d*) m (\d+\.?\d*) (\d+\.?\d*) l S", content, re.MULTILINE)
    return sum(y1 == y2 and 505 < float(x2) - float(x1) < 509 for x1, y1, x2, y2 in drawn)


def test_long_series_repeat_their_headings():
    pages = texts(export([series([1e8 + i for i in range(120)])], "pdf"))
    assert len(pages) > 2
    assert all("Size in Bytes" in page for page in pages[:-1])


def test_blank_forms():
    (page,) = texts(export_reports([blank_series_report(10**9)], "pdf"))
    assert "Deviation:" in page
    assert "% of 1 Gb/s" in page


def test_the_other_font_keeps_characters_apart_and_draws_what_it_can():
    font = TTFont(io.BytesIO(other_font({0x1F680, 0x1F4BB, 0x200D, 0x65E5})))
    names = font.getBestCmap()
    assert len(set(names.values())) == 5
    glyphs = font["glyf"]
    assert glyphs[names[0x1F680]] == glyphs[names[0x65E5]]
    assert glyphs[names[0x1F4BB]] != glyphs[names[0x65E5]]
    assert font["hmtx"][names[0x200D]][0] == 0


def test_texts_without_end_are_wrapped_in_good_time():
    content = export([series((1e8, 1e8), note="x" * 50_000, label="\tafter a tab")], "pdf")
    pages = texts(content)
    assert sum(page.count("x") for page in pages) >= 50_000
    assert "after a tab" in pages[0]
