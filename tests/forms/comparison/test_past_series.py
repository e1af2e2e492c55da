"""Series of weeks ago on one page: what would be certain, why like changes differ, and what their rates say."""

from dataclasses import replace
from typing import Any

import pytest

from forms import pages
from forms.comparison.history import groups_of
from forms.comparison.judged_sides import Sides
from forms.comparison.report import comparison_report
from forms.comparison.settling import SettlingStep
from forms.comparison.several.likely_links import likely_link_sentence, outgrown_ethernet, would_be_certain
from forms.comparison.several.remarks import weaknesses_of_several
from forms.comparison.several.sentences import unlike_verdicts_text
from forms.comparison.several.sides import is_of_the_past
from forms.comparison.summary import ComparisonSummary, comparison_form, comparisons
from forms.comparison.wording import certain_from_sentence, settling_sentence, verdict_word
from forms.report import Report
from forms.stats.settle import Way
from storage.records import Quiet, QuietVerdict, Series
from tests.builders import series

GIGABIT = 1_000_000_000
STEADY = [119.0e6, 119.1e6, 118.95e6, 119.05e6, 119.0e6]
RESTLESS = [175.5e6, 238e6, 190e6, 195e6, 200e6]


def measured_in(month: int, label: str, rates: list[float]) -> Series:
    moment = f"2026-{month:02d}-01T10:00:00.000Z"
    return series(rates, id=f"{month:012x}", label=label, created_at=moment, link_bits_per_second=None)


BEFORE = measured_in(7, "before-switch", STEADY)
MARCH = measured_in(9, "march", [rate + 0.1e6 for rate in STEADY])
APRIL = measured_in(10, "april", RESTLESS)


def compared() -> tuple[list[ComparisonSummary], list[ComparisonSummary]]:
    with_base = comparisons([Sides(base=(BEFORE,), other=(other,)) for other in (MARCH, APRIL)])
    step = Sides(base=(MARCH,), other=(APRIL,), history=groups_of([BEFORE], MARCH, {}))
    return with_base, comparisons([Sides(base=(BEFORE,), other=(MARCH,)), step])


def page() -> Report:
    with_base, neighbours = compared()
    return pages.comparison_page(
        with_base, comparison_report([BEFORE, MARCH, APRIL], with_base, neighbours), neighbours
    )


def test_like_changes_with_other_verdicts_say_what_each_was_judged_by():
    with_base, neighbours = compared()
    beside_base = with_base[1].comparison
    step = neighbours[1].comparison
    assert verdict_word(beside_base) != verdict_word(step)
    text = unlike_verdicts_text(with_base, neighbours)
    assert "april against before-switch by runs that vary by 8.4 %" in text
    assert "april against march by runs that vary by 6.5 %, those of 1 earlier series among them" in text
    assert unlike_verdicts_text(with_base, []) == ""


def test_an_open_verdict_says_from_where_on_it_were_certain_and_a_certain_one_does_not():
    with_base, _ = compared()
    sentence = certain_from_sentence(with_base[1].comparison)
    assert "certain only from a factor of " in sentence
    assert sentence.endswith("; this is 1.60.")
    faster = comparison_form(BEFORE, replace(MARCH, runs=measured_in(9, "march", [3e8] * 5).runs)).comparison
    assert faster.known
    assert certain_from_sentence(faster) == ""


def test_the_steps_are_the_answer_of_the_page_in_the_order_of_time():
    fields = page().fields
    names = [field.name for field in fields]
    assert names[:5] == ["Answer", "Step by step", "First to last", "Link?", "How sure"]
    assert len(set(names)) == len(names)
    assert fields[0].text == "march → april: probably faster; before-switch → march: no difference seen."
    assert fields[1].text.startswith("before-switch → march: ")
    assert " march → april: " in fields[1].text
    assert fields[2].text.startswith("april against before-switch: ")
    assert fields[3].text.startswith("It looks as if a link of 1 Gb/s held before-switch and march back: ")


def test_the_rates_of_the_page_are_those_of_its_sentences():
    table = page().tables[0]
    headings = [column.heading for column in table.columns]
    assert "Average, MB/s" in headings
    assert table.rows[0].cells[headings.index("Average, MB/s")].value == pytest.approx(119.02)


@pytest.mark.parametrize(("slowest", "looks_so"), [(125.1e6, True), (125.0e6, False)])
def test_each_run_beyond_the_ethernet_that_the_base_fills_is_a_hint(slowest: float, looks_so: bool):
    other = measured_in(10, "april", [*RESTLESS[:4], slowest])
    compared = comparison_form(BEFORE, other)
    assert (outgrown_ethernet(compared) is not None) is looks_so
    assert bool(likely_link_sentence([compared])) is looks_so


@pytest.mark.parametrize("rates", [[109e6] * 5, [119e6, 130e6, 108e6, 119e6, 119e6]])
def test_what_fills_no_ethernet_steadily_is_no_hint(rates: list[float]):
    assert outgrown_ethernet(comparison_form(measured_in(7, "before", rates), APRIL)) is None


def test_the_link_speed_of_the_base_given_afterwards_makes_it_certain():
    given = replace(BEFORE, link_bits_per_second=GIGABIT)
    comparison = comparison_form(given, APRIL).comparison
    assert comparison.is_certain_by_link
    assert comparison.is_base_gone
    assert outgrown_ethernet(comparison_form(given, APRIL)) is None


@pytest.mark.parametrize(("day", "is_past"), [("15", True), ("14", False)])
def test_nobody_goes_back_to_a_base_of_two_weeks_before(day: str, is_past: bool):
    later = replace(APRIL, created_at=f"2026-07-{day}T10:00:00.000Z")
    assert is_of_the_past(comparison_form(BEFORE, later)) is is_past


def test_only_an_open_answer_asks_for_the_link_speed():
    certain = comparison_form(BEFORE, measured_in(10, "april", [rate + 120e6 for rate in STEADY]))
    assert certain.comparison.known
    assert likely_link_sentence([certain])
    assert not would_be_certain(certain)
    assert would_be_certain(comparison_form(BEFORE, APRIL))


def test_several_series_that_a_link_held_back_are_named_together_whichever_pair_comes_first():
    with_base, neighbours = compared()
    sentence = likely_link_sentence([*with_base, *neighbours])
    assert sentence == likely_link_sentence([*neighbours, *with_base])
    assert "held before-switch and march back: 119.0 MB/s and 119.1 MB/s on average" in sentence
    assert "give before-switch and march the link speed" in sentence


def with_full_processors(series: Series) -> Series:
    return replace(series, quiet=Quiet(verdict=QuietVerdict.QUIET, figures={"cpu_percent_during": 100.0}))


@pytest.mark.parametrize(
    ("slowest", "consequence"),
    [(125.1e6, "it may be faster than it looks"), (125.0e6, "the client may be the limit there")],
)
def test_full_processors_are_no_second_limit_of_what_a_link_held_back(slowest: float, consequence: str):
    base = with_full_processors(BEFORE)
    other = with_full_processors(measured_in(10, "april", [*RESTLESS[:4], slowest]))
    (told,) = weaknesses_of_several([comparison_form(base, other)])
    assert told.startswith("The client's processors were full during both series (100 % in use), ")
    assert told.endswith(f" {consequence}.")
    assert ("held back april" in told) is ("faster" in consequence)


def test_full_processors_of_the_faster_side_make_the_difference_larger():
    base = with_full_processors(BEFORE)
    faster = with_full_processors(measured_in(10, "april", [rate + 120e6 for rate in STEADY]))
    as_fast = measured_in(11, "may", [rate + 120e6 for rate in STEADY])
    (told,) = weaknesses_of_several([comparison_form(base, faster)])
    assert told.endswith(", which may have held back april: the difference may be larger still.")

    # Beside one that is as fast, it is no longer faster in each comparison.
    (told,) = weaknesses_of_several([comparison_form(base, faster), comparison_form(faster, as_fast)])
    assert "larger" not in told


OPEN_BASE = measured_in(7, "before", STEADY)


def later(month_and_day: str, **fields: Any) -> Series:
    """A series hardly different from the base, which was measured on that day."""
    moment = f"2026-{month_and_day}T10:00:00.000Z"
    rates = [rate + 0.3e6 for rate in STEADY]
    return series(rates, **{"id": "9" * 12, "created_at": moment, "link_bits_per_second": None, **fields})


def step_that_settles(base: Series, other: Series) -> SettlingStep:
    step = comparison_form(base, other).comparison.settle
    assert step is not None
    return step


@pytest.mark.parametrize(("day", "needs_past"), [("07-15", True), ("07-14", False), ("06-17", True), ("06-18", False)])
def test_what_stood_two_weeks_from_the_other_side_would_have_to_be_restored(day: str, needs_past: bool):
    step = step_that_settles(OPEN_BASE, later(day))
    assert step.way is Way.ALTERNATING
    assert step.needs_past is needs_past
    assert settling_sentence(step).startswith("Only if both states can still be restored: ") is needs_past


def test_another_target_is_no_past_of_the_first():
    target = replace(OPEN_BASE.target, host="other-nas")
    assert not step_that_settles(OPEN_BASE, later("10-01", target=target)).needs_past


@pytest.mark.parametrize(("fact", "needs_past"), [("smb.conf/global/sendfile", False), ("governor", True)])
def test_settings_of_samba_are_restored_at_any_time(fact: str, needs_past: bool):
    facts = {"smb.conf/global/sync always": "no", "smb.conf/global/strict sync": "no", fact: "no"}
    base = replace(OPEN_BASE, environment={"server": facts})
    other = later("10-01", environment={"server": dict.fromkeys(facts, "yes")})
    assert step_that_settles(base, other).needs_past is needs_past


@pytest.mark.parametrize(("day", "is_told"), [("07-15", False), ("07-14", True)])
def test_the_page_for_somebody_else_asks_for_nothing_that_is_past(day: str, is_told: bool):
    other = later(day)
    for others in ([other], [other, APRIL]):
        found = comparisons([Sides(base=(OPEN_BASE,), other=(side,)) for side in others])
        page = pages.comparison_page(found, comparison_report([OPEN_BASE, *others], found))
        assert ("To settle it" in [field.name for field in page.fields]) is is_told
