"""Three series and more on one page: every number tallies, what holds for all is said once, what happened when."""

from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import pytest

from forms.comparison.judged_sides import Sides
from forms.comparison.properties import side_by_side
from forms.comparison.report import comparison_report
from forms.comparison.several.facts import shared_text
from forms.comparison.several.remarks import weaknesses_of_several
from forms.comparison.several.sides import names_for_a_title, pair_of
from forms.comparison.summary import ComparisonSummary, comparison_form, comparisons
from forms.findings.full_links import full_links_of
from forms.pages import comparison_page
from forms.report import Report, Table
from storage.records import Facts, Quiet, QuietVerdict, Series
from tests.builders import series
from tests.forms.exporters.other_forms import several, three_months


def text_of(report: Report, name: str) -> str:
    return next((field.text for field in report.fields if field.name == name), "")


def number(table: Table, row: int, column: int) -> Any:
    return table.rows[row].cells[column].value


def test_the_change_is_that_of_the_judged_averages_on_the_page():
    sides, verdicts = several("may").tables
    judged = [number(sides, row, 4) for row in range(3)]
    headings = [column.heading for column in sides.columns]
    assert headings[4] == "Average, bytes/sec"
    assert [(number(sides, row, 2), number(sides, row, 3)) for row in range(3)] == [(5, 4)] * 3
    for row, (base, other) in ((0, (0, 1)), (1, (0, 2)), (3, (1, 2))):
        assert number(verdicts, row, 3) == pytest.approx(100 * (judged[other] / judged[base] - 1))


def test_the_chart_has_the_numbers_of_the_table_and_intervals():
    report = several("may")
    (averages,) = report.charts
    assert [bar.value for bar in averages.bars] == [number(report.tables[0], row, 4) for row in range(3)]
    assert all(bar.interval for bar in averages.bars)


def test_a_pair_has_one_interval_on_the_page_and_it_says_why_another_one_alone():
    report = several("may")
    verdicts = report.tables[1]
    pairs = [frozenset((number(verdicts, row, 0), number(verdicts, row, 1))) for row in (0, 1, 3)]
    assert len(verdicts.rows) == 4, "a heading, and each pair once"
    assert len(set(pairs)) == 3
    against_base = [number(verdicts, 0, column) for column in (3, 4, 5)]
    march, april, _ = three_months("may")
    alone = comparison_form(march, april).comparison.interval_percent
    assert alone is not None
    assert against_base[1] < alone[0] < alone[1] < against_base[2]
    assert "alone" in text_of(report, "Intervals")


def test_a_reader_who_has_only_the_page_learns_what_was_measured():
    report = several("may")
    assert report.title == "march, april and may compared"
    assert text_of(report, "Target") == "smb://nas/data/big.bin"
    assert text_of(report, "File") == "1 GiB (1,073,741,824 bytes)"
    assert text_of(report, "Runs") == "5 measured, after 2 warm-up runs"
    assert "sharebench 0.1.0, dialect 3.1.1, not signed" in text_of(report, "Client")
    assert text_of(report, "Base").startswith("march, the oldest")
    assert text_of(report, "When") == "2026-03-02 10:00 to 2026-05-02 10:00 UTC from alpha"
    assert text_of(report, "Measured by") == "Anna"
    assert "run 3 of 'march'" in text_of(report, "Left out")
    assert [number(report.tables[0], row, 1) for row in range(3)] == [
        "2026-03-02 10:00",
        "2026-04-02 10:00",
        "2026-05-02 10:00",
    ]


def test_series_of_one_minute_have_their_seconds():
    march, april, may = three_months("may")
    report = comparison_report([march, replace(april, created_at="2026-03-02T10:00:31.000Z"), may])
    assert [number(report.tables[0], row, 1)[11:] for row in range(3)] == ["10:00:00", "10:00:31", "10:00:00"]


def test_single_series_say_why_the_change_is_known_less_closely_than_their_averages():
    basis = text_of(several("may"), "Judged by")
    assert "measured once" in basis
    march, april, may = three_months("may")
    again = replace(march, id="a" * 12, created_at="2026-03-02T11:00:00.000Z")
    found = comparisons([Sides(base=(march, again), other=(other,)) for other in (april, may)])
    assert "measured once" not in text_of(comparison_report([march, april, may], found), "Judged by")


def test_a_link_that_was_given_too_fast_is_one_statement_with_its_cause():
    report = several("may")
    link = text_of(report, "Link")
    assert "traffic shaper (tbf) on the measuring machine alpha" in link
    assert "500 Mb/s" in link
    assert "april and may: 1 Gb/s, set by a traffic shaper (tbf)" in link
    assert link.endswith("(95 % used)")
    assert [remark.count("shaper") for remark in report.advice if "link speed" in remark or "shaper" in remark] == [1]


def test_what_holds_for_several_is_said_once():
    report = several("may")
    assert len(set(report.advice)) == len(report.advice)
    differs = [remark for remark in report.advice if "What differs" in remark]
    assert len(differs) == 1
    assert differs[0].startswith("april and may against march: ")
    assert "Each of march, april and may has 1 unusual run: open its form to see why." in report.advice


def test_what_happened_when_stands_on_the_page_and_in_its_document():
    report = several("may")
    steps = text_of(report, "Step by step")
    assert steps.startswith("march → april: Faster by ")
    assert "april → may: Inconclusive: no difference seen" in steps
    first, second = report.document()
    assert (first["since_previous"]["base_name"], second["since_previous"]["base_name"]) == ("march", "april")
    assert first["since_previous"]["change_percent"] == first["change_percent"]


def test_without_neighbours_nothing_is_said_of_them():
    march, april, may = three_months("may")
    report = comparison_report([march, april, may])
    assert text_of(report, "Step by step") == ""
    assert len(report.tables[1].rows) == 2
    assert "since_previous" not in report.document()[0]


def test_the_base_is_called_the_oldest_only_where_it_is():
    march, april, may = three_months("may")
    found = comparisons([Sides(base=(may,), other=(other,)) for other in (march, april)])
    assert text_of(comparison_report([may, march, april], found), "Base").startswith("may: ")


def test_facts_that_differ_stand_behind_the_names_that_have_them():
    assert shared_text({"a": ("march", "x"), "b": ("april", "x")}) == "x"
    assert shared_text({"a": ("march", "x"), "b": ("april", "y"), "c": ("may", "y")}) == "march: x; april and may: y"
    assert shared_text({"a": ("march", ""), "b": ("april", "y")}) == "march: unknown; april: y"


def test_full_links_that_differ_explain_the_change_before_all_verdicts():
    report = several("may")
    first, steps, newest, *_ = report.answers
    assert first.text.startswith("march → april: about twice as fast; april → may: no difference seen. ")
    assert "may carries twice what march did" in first.text
    assert "(500 Mb/s, then 1 Gb/s)" in first.text
    assert steps.text.startswith("march → april: ")
    assert " april → may: " in steps.text
    assert newest.text.startswith("may against march: ")
    assert not any("may be the reason" in remark for remark in report.advice)


@pytest.mark.parametrize(
    ("rate", "other_rate", "link", "is_explained"),
    [
        (57e6, 114e6, 1_000_000_000, True),
        (56.3e6, 114e6, 1_000_000_000, True),
        (56.1e6, 114e6, 1_000_000_000, False),  # 89.8 % of the old link
        (57e6, 112e6, 1_000_000_000, False),
        (57e6, 64e6, 550_000_000, True),
        (57e6, 64e6, 549_000_000, False),  # a link like the old one
        (57e6, 28.5e6, 250_000_000, True),
    ],
)
def test_links_explain_a_change_where_each_was_full_and_they_differ(
    rate: float, other_rate: float, link: int, is_explained: bool
):
    base = series([rate] * 5, id="a" * 12, link_bits_per_second=500_000_000)
    other = series([other_rate] * 5, id="b" * 12, link_bits_per_second=link)
    links = full_links_of([base], [other], rate, other_rate)
    assert (links is not None) is is_explained


def test_a_pair_says_which_links_explain_it_in_its_headline():
    march, april, _ = three_months("may")
    report = comparison_report([march, april])
    assert report.answer is not None
    assert "the server was not the limit" in report.answer.text
    assert number(report.tables[1], 0, 2) == 4


@pytest.mark.parametrize(
    ("count", "shown"), [(4, ["1", "2", "3", "4"]), (5, ["1", "2", "3", "2 more"]), (9, ["1", "2", "3", "6 more"])]
)
def test_a_title_names_all_or_says_how_many_more(count: int, shown: list[str]):
    assert list(names_for_a_title([str(place) for place in range(1, count + 1)])) == shown


def test_more_than_the_interface_carries_came_by_several_and_nothing_was_given_wrongly():
    march, april, may = three_months("may")
    slow = {"link.rate_bits_per_second": 400_000_000}
    report = comparison_report([replace(march, environment={"path": slow}), april, may])
    assert "given as" not in text_of(report, "Link")


def answers_of(page: Report) -> str:
    """What the page answers, its verdicts with it."""
    names = ("Answer", "Step by step", "First to last", "Verdict", "Doubts")
    return " ".join(field.text for field in page.fields if field.name in names)


def compared(base: Series, others: list[Series]) -> list[ComparisonSummary]:
    return comparisons([Sides(base=(base,), other=(other,)) for other in others])


def neighbours_of(months: list[Series]) -> list[ComparisonSummary]:
    pairs = pairwise(months)
    return comparisons([Sides(base=(before,), other=(after,)) for before, after in pairs])


@pytest.mark.parametrize("others", permutations((1, 2)))
def test_the_base_comes_first_and_then_the_order_of_time_however_they_were_named(others: tuple[int, ...]):
    months = three_months("may")
    found = compared(months[0], [months[place] for place in others])
    report = comparison_report(months, found, neighbours_of(months))
    assert report.title == "march, april and may compared"
    assert [row.name for row in report.tables[0].rows] == ["march", "april", "may"]
    assert [row.name for row in report.tables[1].rows] == ["april", "may", "One after the other", "may"]

    page = comparison_page(found, report, neighbours_of(months))
    answer = answers_of(page)
    assert answer.index("march → april: ") < answer.index("april → may: ") < answer.index("may against march: ")
    named = [document["other_name"] for document in report.document()]
    assert named == [("march", "april", "may")[place] for place in others], "a script gets the order that it asked for"


def test_a_base_that_is_not_the_oldest_comes_first_all_the_same():
    months = three_months("may")
    march, april, may = months
    report = comparison_report([may, april, march], compared(may, [april, march]), neighbours_of(months))
    assert [row.name for row in report.tables[0].rows] == ["may", "march", "april"]
    pairs = [(row.name, row.cells[1].value) for row in report.tables[1].rows if len(row.cells) > 1]
    assert pairs == [("march", "may"), ("april", "may"), ("april", "march")], "april and may have their row already"


def test_as_many_verdicts_are_counted_as_hold_together():
    two = text_of(several("may"), "Intervals")
    assert "both verdicts against march together" in two
    assert two.endswith("both verdicts on the steps")

    months = three_months("may")
    june = replace(months[2], id="e" * 12, label="june", created_at="2026-06-02T10:00:00.000Z")
    months.append(june)
    three = comparison_report(months, compared(months[0], months[1:]), neighbours_of(months))
    assert "all 3 verdicts against march together" in text_of(three, "Intervals")

    alone = comparison_report(months[:3], compared(months[0], months[1:3]))
    assert "both verdicts together are right" in text_of(alone, "Intervals")


def test_what_weakens_verdicts_stands_with_them_once():
    months = three_months("may")
    months[1] = replace(months[1], quiet=Quiet(verdict=QuietVerdict.BUSY))
    found = compared(months[0], months[1:])
    report = comparison_report(months, found, neighbours_of(months))
    *_, doubts = report.answers
    assert doubts.text.startswith("Measured at a busy time: april")
    assert text_of(report, "Doubts") == doubts.text
    assert not any("busy" in remark for remark in report.advice)
    page = comparison_page(found, report, neighbours_of(months))
    assert [field.text.count("busy time") for field in page.fields if "busy" in field.text] == [1]


def test_what_follows_from_a_busy_time_stands_behind_the_comparisons_that_it_holds_for():
    busy = Quiet(verdict=QuietVerdict.BUSY)
    march, april, may = (
        series([factor * rate for rate in (59e6, 59.1e6, 58.9e6, 59e6, 59.05e6)], id=name[:3], label=name)
        for factor, name in ((1, "march"), (2, "april"), (4, "may"))
    )
    march = replace(march, quiet=busy)
    april = replace(april, quiet=busy)
    both_busy = comparison_form(march, april)
    first, *_ = weaknesses_of_several([both_busy])
    assert first.startswith("Measured at a busy time: both series; it slowed both sides")

    one_busy = comparison_form(april, may)
    first, *_ = weaknesses_of_several([both_busy, one_busy])
    assert first.startswith("Measured at a busy time: march and april. april against march: it slowed both sides")
    assert ". may against april: this may be part of the " in first


def test_the_shaper_of_the_measuring_machine_is_not_called_the_link():
    months = three_months("may")
    both_shaped = answers_of(comparison_page(compared(months[0], months[1:]), several("may")))
    assert "the traffic shaper (tbf) on the measuring machine alpha lets twice as much through" in both_shaped
    assert "the link" not in both_shaped

    no_shaper: Facts = {"link.rate_bits_per_second": 1_000_000_000, "link.shaper": "none"}
    april = replace(months[1], environment={"path": no_shaper})
    one_shaped = comparison_form(months[0], april)
    headline = comparison_report([months[0], april], [one_shaped]).answers[0].text
    assert "the link lets 1 Gb/s through, and the traffic shaper (tbf) on the measuring machine alpha" in headline

    plain = [replace(month, environment={}) for month in months[:2]]
    plain[0] = replace(plain[0], link_bits_per_second=500_000_000)
    headline = comparison_report(plain, [comparison_form(plain[0], plain[1])]).answers[0].text
    assert "because the link lets twice as much through" in headline
    assert "shaper" not in headline


def test_a_link_that_was_refuted_is_not_the_same_as_one_that_was_used():
    march, april, may = three_months("may")
    rows = {row.name: row for row in side_by_side(comparison_form(march, may))}
    assert rows["Link"].differs
    assert "let only 500 Mb/s through" in rows["Link"].base
    assert float(rows["% of link"].base) > 90, "of what carried it, as of the other side"

    april_and_may = {row.name: row for row in side_by_side(comparison_form(april, may))}
    assert april_and_may["Link"].differs is False


def test_interval_and_average_are_of_the_same_runs():
    march, _, may = three_months("may")
    form = comparison_form(march, may)
    assert form.comparison.left_out
    low, high = [float(end.split()[0]) for end in by_name(form, "95 %, runs alone").split(" to ")]
    average = float(by_name(form, "Average").split()[0])
    assert low < average < high
    assert high - low < 1, "without the run that stands out, by a tenth"

    whole = replace(march, runs=tuple(run for run in march.runs if run.number != 3))
    counted = comparison_form(whole, may)
    assert not [run for run in counted.comparison.left_out if run.series_id == march.id]
    assert by_name(counted, "95 %, runs alone") == by_name(form, "95 %, runs alone")


def by_name(form: ComparisonSummary, name: str) -> str:
    """The property of the base."""
    return next(row.base for row in side_by_side(form) if row.name == name)


def test_a_pair_is_one_whichever_side_is_the_base():
    march, april, _ = three_months("may")
    assert pair_of(comparison_form(march, april)) == pair_of(comparison_form(april, march))
