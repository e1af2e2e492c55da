"""The answer after something was replaced: on all series of the new side, on every page, and what is advised then."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.comparison.named import Counted
from app.comparison.sides import sides_to_compare
from app.guide.context import GuideContext
from app.guide.context_reading import read_context
from app.guide.page import Begin, Option, Page, Store
from app.guide.pages.judged_yardsticks import answered_question, judge_yardsticks
from app.guide.pages.steps import page_of
from app.method.choices import MethodStep
from app.method.rounds import branch_from
from app.tui.notebook.both_ways import read_both_ways
from forms.comparison.comparison import Comparison
from forms.comparison.summary import comparisons
from forms.stats.decision import Verdict
from forms.stats.settle import Way
from storage.notebook import Notebook
from storage.records import Series
from tests.builders import book, one

GIGABIT = 1_000_000_000
FULL = (119e6, 119.5e6, 118.8e6, 119.2e6, 119e6)
BASE_ID = f"{1:012x}"
FIRST_ID = f"{2:012x}"


def at_link(number: int, rates: tuple[float, ...], link: int, base_id: str | None = None) -> Series:
    return one(number, rates, link_bits_per_second=link, base_id=base_id)


def scaled(factor: float) -> tuple[float, ...]:
    return tuple(factor * rate for rate in FULL)


def page_and_answer(notebook: Notebook, series_id: str) -> tuple[Page, Comparison | None]:
    """The page that compares the series, and the comparison that it answers with."""
    series = notebook.series(series_id)
    choices = replace(branch_from(notebook, series_id), step=MethodStep.EXPECTED)
    context = read_context(notebook, choices, GuideContext())
    answer = answered_question(context, series, judge_yardsticks(context, series))
    return page_of(choices, context), answer.comparison if answer else None


def option_called(page: Page, words: str) -> Option | None:
    return next((option for option in page.options if words in option.title), None)


def new_link_measured_thrice(tmp_path: Path) -> Path:
    series = (
        at_link(1, FULL, GIGABIT),
        at_link(2, scaled(1.5), 2 * GIGABIT),
        at_link(3, scaled(0.9), 2 * GIGABIT, FIRST_ID),
        at_link(4, scaled(1.9), 2 * GIGABIT, FIRST_ID),
    )
    return book(tmp_path / "notebook.db", *series, baselines={"before": BASE_ID})


def test_every_page_judges_all_series_that_were_measured_as_repeats(tmp_path: Path) -> None:
    newest_id = f"{4:012x}"
    with Notebook(new_link_measured_thrice(tmp_path)) as notebook:
        page, answer = page_and_answer(notebook, newest_id)
        assert answer is not None
        (sides,) = sides_to_compare(notebook, ("before", newest_id), counted=Counted.REPEATS)
        (typed,) = comparisons([sides])
        side_by_side = read_both_ways(notebook, (BASE_ID, newest_id)).with_others.comparison

    for comparison in (answer, typed.comparison, side_by_side):
        assert (len(comparison.base_ids), len(comparison.other_ids)) == (1, 3)
        assert (comparison.verdict, comparison.sign) == (answer.verdict, answer.sign)
        assert comparison.change_percent == pytest.approx(answer.change_percent)
    assert answer.is_certain_by_link
    assert answer.old_link is not None
    assert answer.old_link.spread_percent == pytest.approx((-10, 90), abs=0.1)
    assert "before" in page.title
    assert side_by_side.base_name == "before", "a baseline keeps its name"
    assert sum("Side by side" in option.title for option in page.options) == 1, "the repeats are of its own side"


def test_the_new_side_is_told_as_no_base_and_none_is_offered_that_is_gone(tmp_path: Path) -> None:
    with Notebook(new_link_measured_thrice(tmp_path)) as notebook:
        page, _ = page_and_answer(notebook, f"{4:012x}")
    facts = " ".join(str(getattr(fact, "text", fact)) for fact in page.facts)
    assert "This base" not in facts
    assert not any(option.title.startswith("Measure again") for option in page.options)
    assert option_called(page, "no longer there") is None, "the link shows it"


def test_where_more_of_the_new_side_settles_it_that_is_what_the_guide_begins(tmp_path: Path) -> None:
    series = (at_link(1, scaled(0.5), GIGABIT), at_link(2, scaled(0.55), 10 * GIGABIT))
    path = book(tmp_path / "notebook.db", *series, baselines={"before": BASE_ID})
    with Notebook(path) as notebook:
        page, answer = page_and_answer(notebook, FIRST_ID)
    assert answer is not None
    assert answer.settle is not None
    assert answer.settle.way is Way.OTHER_AGAIN

    (advised,) = [option for option in page.options if option.advised]
    assert isinstance(advised.act, Begin)
    choices = advised.act.choices
    assert (choices.planned_repeats, choices.spec.lineage.base_id) == (answer.settle.count, FIRST_ID)


def test_that_the_old_side_is_gone_is_asked_once_and_holds_everywhere(tmp_path: Path) -> None:
    """Behind a switch that was replaced, nothing that was recorded differs."""
    series = (at_link(1, scaled(0.5), GIGABIT), at_link(2, scaled(0.54), GIGABIT))
    path = book(tmp_path / "notebook.db", *series, baselines={"before": BASE_ID})
    with Notebook(path) as notebook:
        page, before = page_and_answer(notebook, FIRST_ID)
        assert before is not None
        assert before.verdict is Verdict.UNKNOWN
        assert not before.is_base_gone
        asked = option_called(page, "no longer there")
        assert asked is not None
        assert isinstance(asked.act, Store)
        asked.act.job(notebook)

        page, after = page_and_answer(notebook, FIRST_ID)
        assert after is not None
        assert after.is_base_gone
        assert option_called(page, "no longer there") is None
        (sides,) = sides_to_compare(notebook, ("before", FIRST_ID))
        (typed,) = comparisons([sides])
        assert typed.comparison.is_base_gone
        assert (after.verdict, after.change_percent) == (before.verdict, before.change_percent)
        assert after.settle is None or after.settle.way is Way.OTHER_AGAIN
