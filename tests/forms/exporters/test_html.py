"""Forms as HTML: self-contained, accessible, printed on one page each."""

import re
import subprocess
from itertools import product

import pytest
from pypdf import PdfReader

from forms.exporters import export_reports
from forms.exporters.html import DARK, LIGHT
from forms.series.report import blank_series_report
from tests.builders import HOSTILE, book_series, export, full_series, hostile_series, series
from tests.forms.exporters.page import CHROMIUM, Page
from tests.forms.golden_files import check
from tests.servers.process import require
from tests.waiting import HANG_SECONDS


def test_golden_forms():
    check("run_form.html", export([full_series()], "html"))
    check("run_forms.html", export([full_series(), book_series()], "html"))
    check("run_form_blank.html", export_reports([blank_series_report(10**9)], "html"))


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(export([full_series(), book_series()], "html"))


def test_nothing_is_loaded_and_nothing_runs(page):
    assert page.problems == []
    assert not page.all("script", "link", "img", "iframe", "object")
    assert not [a for e in page.elements for a in e.attributes if a.startswith("on") or a in {"src", "href"}]
    assert "url(" not in "".join(e.text for e in page.all("style"))


def test_structure_for_those_who_do_not_see_it(page):
    assert page.all("html")[0].attributes["lang"] == "en"
    assert page.all("title")[0].text
    assert [e.tag for e in page.all("h1", "h2")] == ["h1", "h2"]
    assert len(page.all("main")) == 1
    headings = page.all("th")
    assert headings
    assert {e.attributes.get("scope") for e in headings} == {"col", "row", "rowgroup"}
    assert all("caption" in table.children or table.attributes.get("aria-label") for table in page.all("table"))
    assert {e.tag for e in page.all("tr") if "td" in e.children and "th" not in e.children} == set()
    ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    named = [e.attributes["aria-labelledby"] for e in page.elements if "aria-labelledby" in e.attributes]
    assert set(named) <= set(ids)
    for drawing in page.all("svg"):
        assert drawing.attributes["role"] == "img"
        assert "average" in drawing.text


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.1)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_known_pairs():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast(colours):
    for text in ("ink", "faint", "warn"):
        assert contrast(colours[text], colours["paper"]) >= 4.5
    assert contrast(colours["ink"], colours["band"]) >= 4.5
    for drawn, ground in product(("bar", "level", "warn", "line"), ("paper",)):
        assert contrast(colours[drawn], colours[ground]) >= 3
    for drawn in ("bar", "level", "warn"):
        assert contrast(colours[drawn], colours["band"]) >= 3


def test_marks_show_without_colour(page):
    rows = {e.text: e for e in page.all("tr") if "rejected" in e.attributes.get("class", "")}
    (rejected,) = rows.values()
    assert rejected.text.startswith("x 4")
    assert rejected.text.endswith("rejected: the backup ran")
    assert sum("s" in e.children for e in page.all("td")) == 5
    assert any(e.text.startswith("* 3") for e in page.all("th"))
    document = export([full_series()], "html").decode()
    assert 'class="rejected" fill="url(#hatch1)"' in document
    signs = [e.text for e in page.all("text") if e.attributes.get("class") == "sign"]
    assert signs == ["*", "x", "!"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_outside_stays_text(text):
    page = Page(export([hostile_series(text)], "html"))
    assert page.problems == []
    assert not page.all("script", "a")
    assert page.all("h1")[0].text == text
    fields = {e.text.split(text)[0] for e in page.all("div") if text in e.text}
    assert {"Label", "Note", "Experiment"} <= fields
    assert any(e.text == f"rejected: {text}" for e in page.all("td"))


def test_control_characters_become_pictures():
    assert "a␀b␛c" in export([series((1e8, 1e8), label="a\0b\x1bc")], "html").decode()


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.long
def test_each_form_prints_on_one_page(tmp_path, paper):
    require("chromium", root=False)
    rates = [100e6 + 1e5 * i for i in range(24)]
    source = tmp_path / "forms.html"
    source.write_bytes(export([full_series(), book_series(), series(rates)], "html", paper=paper))
    printed = tmp_path / "forms.pdf"
    subprocess.run(
        [*CHROMIUM, f"--user-data-dir={tmp_path}/profile", f"--print-to-pdf={printed}", source.as_uri()],
        check=True,
        capture_output=True,
        timeout=HANG_SECONDS,
    )
    pages = PdfReader(printed).pages
    assert len(pages) == 3
    assert round(pages[0].mediabox.height) == {"A4": 842, "Letter": 792}[paper]
    texts = [re.sub(r"\s+", " ", p.extract_text()) for p in pages]
    assert "106,050,000" in texts[0]
    assert "Ethernet Interface to Same Host: FTP" in texts[1]
    assert "761,908" in texts[1]
