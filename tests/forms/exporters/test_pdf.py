"""Forms as PDF: every number and every text can be read out again, on the paper that was asked for."""

import io
import re
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from fontTools.ttLib import TTFont
from fpdf import FPDF
from pypdf import PdfReader

from forms import wording
from forms.exporters import export_reports, pdf_fonts
from forms.exporters.pdf_pages import Pages
from forms.report import Cell, Column, Field, Report, ReportKind, Row, Table, columns_of, row_of
from forms.reports import series_reports
from forms.series.report import blank_series_report
from forms.series.summary import run_form
from forms.series.wording import column_names
from storage.records import RunStatus, Series
from tests.builders import HOSTILE, book_series, export, full_series, hostile_series, series


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
            (row.size_bytes, wording.whole),
            (row.seconds, wording.cell_seconds),
            (row.bytes_per_second, wording.whole),
            (row.bits_per_second, wording.whole),
            (row.percent_of_link, wording.cell_percent),
        ):
            assert value is None or written(value) in text
    assert wording.whole(form.median_bytes_per_second) in text
    for heading in column_names(form.series.link_bits_per_second):
        assert heading in text


@pytest.mark.parametrize(("paper", "size"), [("A4", (595, 842)), ("Letter", (612, 792))])
def test_paper_sizes(paper, size):
    reader = PdfReader(io.BytesIO(export([full_series(), book_series()], "pdf", paper=paper)))
    assert [tuple(round(float(x)) for x in page.mediabox[2:]) for page in reader.pages] == [size] * 2
    assert reader.metadata is not None
    assert reader.metadata.title == "2 forms"


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.long
def test_every_text_can_be_read_out(text):
    (page,) = texts(export([hostile_series(text)], "pdf"))
    assert f"Label {text}" in page
    assert re.search(r"rejected: ?" + re.escape(text), page) or text in page.split("rejected:")[1]


@pytest.mark.parametrize("text", [*HOSTILE, *(f"{code} {code}a" for code in "\u00ad\u200b\u2060\ufe0f\U000e0041")])
@pytest.mark.long
def test_a_machine_without_fonts_prints_every_text(text, monkeypatch):
    monkeypatch.setattr("forms.exporters.pdf_fonts.which", lambda _program: None)
    (page,) = texts(export([hostile_series(text)], "pdf"))
    assert f"Label {text}" in page


def test_rejected_rows_are_struck_out_with_their_reason():
    kept = PdfReader(io.BytesIO(export([unmarked()], "pdf"))).pages[0].get_contents()
    struck = PdfReader(io.BytesIO(export([full_series()], "pdf"))).pages[0].get_contents()
    assert kept is not None
    assert struck is not None
    assert lines_through(kept.get_data()) == 0
    assert lines_through(struck.get_data()) == 6
    assert "x run 4 rejected: the backup ran" in texts(export([full_series()], "pdf"))[0]


def unmarked() -> Series:
    """The full series, its rejected run failed instead, so that as many rows are there and none is struck out."""
    one = full_series()
    return replace(one, runs=tuple(replace(r, status=RunStatus.FAILED) if r.reason else r for r in one.runs))


def lines_through(content: bytes) -> int:
    """How many texts are struck out: the chart's boxes have an edge, lines through a text have none."""
    return len(re.findall(rb" re f\b", content))


def test_long_series_repeat_their_headings():
    pages = texts(export([series([1e8 + i for i in range(120)])], "pdf"))
    assert len(pages) > 2
    assert all("Size in Bytes" in page for page in pages[:-1])


@pytest.mark.long
def test_short_cells_are_drawn_as_fpdf2_does_it_without_looking_for_breaks(monkeypatch):
    long = series([100e6 + number for number in range(90)])
    rejected = replace(long, runs=(replace(long.runs[0], status=RunStatus.REJECTED, reason="slow"), *long.runs[1:]))
    few = many = 0
    for each in (full_series(), hostile_series(HOSTILE[0]), rejected):
        with mock.patch.object(FPDF, "multi_cell", autospec=True, side_effect=FPDF.multi_cell) as by_letter:
            quick = drawn(export([each], "pdf"))
            few = by_letter.call_count
            with monkeypatch.context() as slowly:
                slowly.setattr(Pages, "_is_one_line", lambda *_: False)
                assert quick == drawn(export([each], "pdf"))
            many = by_letter.call_count - few
    assert few < many / 4, "of the long one"


def drawn(content: bytes) -> list[bytes]:
    """What is drawn on each page."""
    return [c.get_data() for page in PdfReader(io.BytesIO(content)).pages if (c := page.get_contents())]


def test_blank_forms():
    (page,) = texts(export_reports([blank_series_report(10**9)], "pdf"))
    assert "Deviation:" in page
    assert "% of 1 Gb/s" in page


def test_what_no_font_has_is_a_box_and_a_blank_is_nothing():
    font = TTFont(io.BytesIO(pdf_fonts.boxes({0x3000, 0x65E5, 0x65E6})))
    contours = {code: font["glyf"][name].numberOfContours for code, name in font.getBestCmap().items()}
    assert contours == {0x20: 0, 0x3000: 0, 0x65E5: 2, 0x65E6: 2}


def test_symbols_then_fonts_of_the_system_then_boxes_draw_what_the_text_font_lacks(monkeypatch, tmp_path):
    file = tmp_path / "system.ttf"
    file.write_bytes(pdf_fonts.boxes({0x4E2D, 0x65E5}))
    monkeypatch.setattr(pdf_fonts, "_system_font", lambda code: (file, 0) if code == 0x4E2D else None)
    symbols, system, last = pdf_fonts._other_fonts({0x1F4BB, 0x4E2D, 0x65E5, 0x65E6}, tmp_path)
    assert 0x1F4BB in TTFont(symbols[0]).getBestCmap()
    assert system == (file, 0)
    assert set(TTFont(last[0]).getBestCmap()) == {0x20, 0x65E6}
    file.write_bytes(b"no font")
    *_, last = pdf_fonts._other_fonts({0x4E2D}, tmp_path)
    assert set(TTFont(last[0]).getBestCmap()) == {0x20, 0x4E2D}


@pytest.mark.parametrize(
    ("told", "place"),
    [("/f/Some-Bold.ttf\t0\n/f/Some-Regular.ttc\t2\n", (Path("/f/Some-Regular.ttc"), 2)), ("", None), ("odd", None)],
)
def test_fontconfig_is_asked_for_a_font_with_outlines(monkeypatch, tmp_path, told, place):
    program = tmp_path / "fc-list"
    program.write_text(f"#!/bin/sh\ncase \"$3\" in *charset=4e2d*outline=true*) printf '{told}';; esac\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert pdf_fonts._system_font(0x4E2D) == place


def test_a_line_after_one_in_the_other_font_is_in_its_own_font():
    (page,) = texts(export([series((1e8, 1e8), label="日本\nplain line", title="語 title")], "pdf"))
    assert "日本\nplain line\n" in page
    assert re.match("語 title page 1 of 1 ?\n語 title\n", page)


def test_a_soft_hyphen_in_a_name_is_kept():
    (page,) = texts(export([series((1e8, 1e8), label="back\u00adup")], "pdf"))
    assert "back\u00adup" in page


def test_a_table_with_texts_longer_than_a_page_goes_on_in_rows_of_its_own():
    table = Table(
        columns=(Column(heading="name " * 500, kind=ReportKind.TEXT), Column(heading="Other")),
        rows=(Row(cells=(Cell(value="x" * 9000), Cell(value=1))), Row(cells=(Cell(value="\n" * 200 + "end"),))),
    )
    pages = texts(export_reports([Report(form="run form", title="Long", name="Long", tables=(table,))], "pdf"))
    assert sum(page.count("x") for page in pages) == 9000
    assert "end" in pages[-1]
    assert all("name name" in page for page in pages)


def test_a_chart_leaves_no_colour_to_the_form_after_it():
    reports = [*series_reports([book_series()]), blank_series_report()]
    after = PdfReader(io.BytesIO(export_reports(reports, "pdf"))).pages[1].get_contents()
    alone = PdfReader(io.BytesIO(export_reports(reports[1:], "pdf"))).pages[0].get_contents()
    assert after is not None
    assert alone is not None
    operators = re.compile(rb"\b(?:rg|RG|g|G|f|B|re|w|l)\b")
    assert operators.findall(after.get_data()) == operators.findall(alone.get_data())
    assert b" re" not in after.get_data()


def test_texts_without_end_are_wrapped_in_good_time():
    content = export([series((1e8, 1e8), note="x" * 50_000, label="\tafter a tab")], "pdf")
    pages = texts(content)
    assert sum(page.count("x") for page in pages) >= 50_000
    assert "after a tab" in pages[0]


def test_thirty_runs_and_their_average_are_on_one_page():
    first, *_ = texts(export([series([1e8 + i for i in range(30)])], "pdf"))
    assert "Average:" in first
    assert "page 1 of 2" in first, "the chart has the second one"


def test_an_overview_wraps_long_names_and_keeps_its_type():
    several = [series((1e8, 1e8), id=f"{n:012x}", label="a long name of a series " * 6) for n in range(3)]
    page = PdfReader(io.BytesIO(export_reports(series_reports(several), "pdf"))).pages[0].get_contents()
    assert page is not None
    sizes = {float(size) for size in re.findall(rb"/F\d+ ([\d.]+) Tf", page.get_data())}
    assert min(sizes - {7.0}) >= 8, "7 is that of the foot"


def test_a_long_name_of_a_field_takes_its_own_lines_and_moves_what_follows():
    fields = (
        Field(name="a name of a field that is long, longer and longest " * 3, text="b"),
        Field(name="c", text="d"),
    )
    report = Report(form="x", title="t", name="t", fields=fields)
    (page,) = PdfReader(io.BytesIO(export_reports([report], "pdf"))).pages
    heights: dict[str, list[float]] = {}
    page.extract_text(visitor_text=lambda text, _, place, *__: heights.setdefault(text.strip(), []).append(place[5]))
    last = min(place for text, places in heights.items() if "longest" in text for place in places)
    assert all(place < last for place in heights["c"])


def test_a_table_does_not_begin_at_the_foot_of_a_page():
    table = Table(columns=columns_of("a", "b"), rows=(row_of("1", "2"), row_of("3", "4")), caption="what it shows")
    reports = [
        Report(form="x", title="t", name="t", fields=(Field(name="n", text="x\n" * lines),), tables=(table,))
        for lines in range(48, 60)
    ]
    begun = [page for page in texts(export_reports(reports, "pdf")) if "what it shows" in page]
    assert len(begun) == len(reports)
    for page in begun:
        assert re.search(r"a b\s+1 2\s+3 4", page), "caption, headings and the first rows are on one page"


def test_the_pages_are_counted_and_no_name_is_taken_for_their_number():
    found = texts(export_reports(series_reports([series((1e8,), label="{nb} \x01")] * 2), "pdf"))
    assert [f"page {number} of 3" in page for number, page in enumerate(found, 1)] == [True] * 3
    assert "Label {nb} \u2401" in found[1]
