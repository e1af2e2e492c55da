"""One page to hand over: what it says first, and that it prints on one A4 page, whatever it is made of."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfReader

from forms import pages
from forms.comparison.judged_sides import Sides
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparisons
from forms.comparison.wording import settling_sentence
from forms.cover import Cover, with_cover
from forms.experiments.summary import experiment_summary
from forms.exporters import export_reports
from forms.report import Cell, Column, Field, FieldRole, Report, Role, Row, Table
from forms.series.report import series_report
from forms.series.summary import run_form
from storage.records import Change, Decision
from tests.builders import full_series, one
from tests.forms.exporters.other_forms import three_months
from tests.forms.exporters.page import CHROMIUM
from tests.servers.process import require
from tests.waiting import HANG_SECONDS

LONG = " ".join(["a long note about the switch that nobody reads to its end"] * 40)


def a_series() -> Report:
    series = replace(full_series(), question="Is the new switch faster?", note=LONG)
    return pages.series_page(run_form(series), series_report(run_form(series)))


def a_comparison() -> Report:
    base, other = (
        one(1, question="Is it faster now?"),
        one(2, [rate * 1.43 for rate in (1e8, 1.01e8, 0.99e8, 1e8, 1e8)]),
    )
    found = comparisons([Sides(base=(base,), other=(other,))])
    return pages.comparison_page(found, comparison_report([base, other], found))


def an_experiment(steps: int = 12) -> Report:
    series = [one(1, experiment="tuning")]
    for n in range(2, steps + 1):
        rates = [1e8 * (1 + 0.3 * n) * (1 + 0.001 * k) for k in range(5)]
        change = Change(name=f"parameter {n}", value="yes", previous="no")
        series.append(
            one(n, rates, experiment="tuning", change=change, base_id=series[-1].id, decision=Decision.KEPT, note=LONG)
        )
    return pages.experiment_page(experiment_summary("tuning", series), run_form(series[-1]))


def several_months() -> Report:
    months = three_months("may")
    found = comparisons([Sides(base=(months[0],), other=(other,)) for other in months[1:]])
    return pages.comparison_page(found, comparison_report(months, found, found))


PAGES = {
    "series": a_series,
    "comparison": a_comparison,
    "several": several_months,
    "experiment": an_experiment,
    "short": lambda: an_experiment(3),
}


def fields(report: Report) -> dict[str, str]:
    return {field.name: field.text for field in report.fields}


def test_what_a_page_says_itself_is_told_by_what_a_field_is_and_not_by_its_name():
    own = Field(name="Conclusion", text="of the form", role=FieldRole.ANSWER)
    other = Field(name="Answer", text="of the server")
    page = pages.one_page(Report(form="f", title="t", name="n", fields=(own, other)), question="", answer="of the page")
    assert [field.text for field in page.fields] == ["of the page", "of the server"]
    assert page.answer == page.fields[0]


def test_what_a_page_does_not_say_itself_is_kept():
    kept = Field(name="Question", text="of the form", role=FieldRole.QUESTION)
    replaced = Field(name="Judged by", text="of the form", role=FieldRole.BASIS)
    report = Report(form="f", title="t", name="n", fields=(kept, replaced))
    page = pages.one_page(report, question="", answer="of the page")
    assert [field.name for field in page.fields] == ["Answer", "Question"]


def test_answer_how_sure_and_question_come_first():
    report = a_comparison()
    assert [field.name for field in report.fields[:4]] == ["Answer", "How sure", "Question", "Measured"]
    said = fields(report)
    assert said["Question"] == "Is it faster now?"
    assert said["Answer"].startswith("Faster by 43 %")
    assert said["How sure"].startswith("One series a side: ")
    assert (
        said["Measured"] == "get smb://nas/data/big.bin with sharebench: 10 runs in 2 series, 2026-01-01 to 2026-01-02."
    )
    assert "Verdict" not in said
    assert report.charts


def test_a_series_says_how_well_its_mean_is_known():
    said = fields(a_series())
    assert said["Question"] == "Is the new switch faster?"
    assert "of a 1 Gb/s link." in said["Answer"]
    assert "19 times in 20" in said["How sure"]


def test_what_does_not_fit_is_counted():
    report = an_experiment(30)
    assert "first 20 of 30" in report.tables[0].caption
    assert len(an_experiment(8).tables) == 2


@pytest.mark.parametrize(("entries", "kept"), [(18, 18), (19, 18)])
def test_a_table_that_is_cut_keeps_its_averages(entries: int, kept: int):
    rows = [Row(cells=(Cell(value=number),)) for number in range(entries)]
    results = [Row(cells=(Cell(value=name),), role=Role.RESULT) for name in ("Average", "Deviation")]
    table = Table(columns=(Column(heading="Run No"),), rows=(*rows, *results), caption="Runs")
    form = Report(form="f", title="t", name="n", tables=(table,))
    (cut_table,) = pages.one_page(form, question="", answer="of the page").tables
    assert cut_table.rows == (*rows[:kept], *results)
    assert (cut_table.caption == "Runs") is (kept == entries)


@pytest.mark.parametrize(("letters", "is_whole"), [(600, True), (601, False)])
def test_a_note_is_shortened_between_words_and_says_so(letters: int, is_whole: bool):
    note = LONG[:letters]
    form = Report(form="f", title="t", name="n", fields=(Field(name="Note", text=note),), advice=(note,))
    page = pages.one_page(form, question="", answer="of the page")
    for text in (page.fields[-1].text, *page.advice):
        kept, _, told = text.partition(" … ")
        assert (text == note) is is_whole
        assert (told == f"(shortened: the form has all {letters} letters)") is not is_whole
        assert note.startswith(kept)
        assert is_whole or note[len(kept)] == " "


def test_the_title_says_what_was_measured_once_and_for_whom_it_is():
    one_place = several_months()
    assert one_place.title == "march, april and may compared on nas/data/big.bin"
    cover = Cover(customer=" Example Ltd\n", made_at="2026-01-31T10:00:00.000Z")
    assert with_cover(one_place, cover).title == f"{one_place.title}, for Example Ltd"
    assert with_cover(one_place, replace(cover, customer="  ")).title == one_place.title

    march, april, _ = three_months("may")
    elsewhere = replace(april, target=replace(april.target, host="other"))
    two_places = comparisons([Sides(base=(march,), other=(elsewhere,))])
    report = comparison_report([march, elsewhere], two_places)
    assert pages.comparison_page(two_places, report).title == report.title
    assert a_series().title.count("nas/") == 1


def test_several_verdicts_say_which_is_which_and_nothing_is_cut_or_counted_twice():
    march = (one(1, label="march"), one(2, label="march again"))
    others = [one(3, [1.2e8] * 5, label="april"), one(4, [1.01e8, 1e8, 0.99e8, 1e8, 1e8], label="may")]
    sides = [Sides(base=march, other=(other,), baselines={march[0].id: "spring"}) for other in others]
    found = comparisons(sides)
    report = pages.comparison_page(found, comparison_report([march[0], *others], found))
    said = fields(report)
    assert (
        said["Answer"]
        == "april against spring (2 series): 20 % faster; may against spring (2 series): no difference seen."
    )
    verdicts = [field.text for field in report.fields if field.name == "Verdict"]
    assert verdicts[0].startswith("april against spring (2 series): Faster by ")
    assert said["Verdict"].startswith("may against spring (2 series): Inconclusive: ")
    assert said["Measured"].endswith(": 20 runs in 4 series, 2026-01-01 to 2026-01-04.")
    assert "april: " in said["How sure"] or "april and may: " in said["How sure"]
    settle = found[1].comparison.settle
    assert settle is not None
    assert said["To settle it"] == f"may against spring (2 series): {settling_sentence(settle)}"
    assert "…" not in " ".join(field.text for field in report.fields)
    assert {"Target", "File", "Runs", "Client", "Link", "When"} <= {*said}


@pytest.mark.long
def test_each_prints_on_one_page(tmp_path: Path):
    require("chromium", root=False)
    source, printed = tmp_path / "pages.html", tmp_path / "pages.pdf"
    source.write_bytes(export_reports([make() for make in PAGES.values()], "html", paper="A4"))
    subprocess.run(
        [*CHROMIUM, f"--user-data-dir={tmp_path}/profile", f"--print-to-pdf={printed}", source.as_uri()],
        check=True, capture_output=True, timeout=HANG_SECONDS,
    )  # fmt: skip
    pages = [re.sub(r"\s+", " ", page.extract_text()) for page in PdfReader(printed).pages]
    assert [page.count("Answer") for page in pages] == [1] * len(PAGES)


@pytest.mark.varied
@pytest.mark.parametrize("name", PAGES)
def test_each_is_one_page_of_pdf(tmp_path: Path, name: str):
    (tmp_path / "page.pdf").write_bytes(export_reports([PAGES[name]()], "pdf", paper="A4"))
    assert len(PdfReader(tmp_path / "page.pdf").pages) == 1
