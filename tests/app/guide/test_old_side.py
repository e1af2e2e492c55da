"""The answer after something was replaced: on all series of the new side, on every page, and what is advised then."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.comparison.named import Counted
from app.comparison.sides import sides_to_compare
from app.guide.context import GuideContext
from app.guide.context_reading import read_context
from app.guide.page import Ask, Begin, Option, Page, Store, Visit
from app.guide.pages.judged_yardsticks import answered_question, judge_yardsticks
from app.guide.pages.steps import page_of
from app.method.choices import MethodStep
from app.method.next_after_comparison import after_comparison
from app.method.rounds import branch_from
from app.tui.notebook.both_ways import read_both_ways
from app.tui.notebook.comparing_jobs import ComparisonBase, base_or_others
from forms.comparison.comparison import Comparison
from forms.comparison.properties import side_by_side
from forms.comparison.summary import comparisons
from forms.comparison.typed_commands import command_to_compare
from forms.stats.before_change import SPACING_SECONDS
from forms.stats.decision import Doubt, Verdict
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


@pytest.mark.parametrize("series_before", [1, 3])
@pytest.mark.parametrize("series_after", [1, 2])
def test_side_by_side_judges_the_series_that_step_7_judges(
    tmp_path: Path, series_before: int, series_after: int
) -> None:
    """A change that no setting shows, such as of a switch: the baseline counts whole, and by its name."""
    before = [one(number, FULL, label="") for number in range(1, 1 + series_before)]
    after = [one(5, scaled(2.0), label="after")]
    after += [one(6, scaled(2.0), label="after", base_id=after[0].id)][: series_after - 1]
    before_ids = [series.id for series in before]
    with Notebook(book(tmp_path / "notebook.db", *before, *after)) as notebook:
        notebook.set_baseline("before switch", *before_ids)
        page, answer = page_and_answer(notebook, after[-1].id)
        assert answer is not None
        option = option_called(page, "Side by side")
        assert option is not None
        assert isinstance(option.act, Visit)
        references = (str(option.act.arguments["base"]), str(option.act.arguments["other"]))
        again = option_called(page, "Measure after again")
        assert (again is not None) is (series_before == series_after == 1), "no other one narrows the range"
        if again is not None:
            assert isinstance(again.act, Begin)
            assert again.act.choices.planned_repeats == 1
        both_ways = read_both_ways(notebook, references)
        of_notebook = base_or_others(notebook, after[-1].id)

    shown = both_ways.with_others.comparison
    assert (set(shown.base_ids), set(shown.other_ids)) == (set(before_ids), {series.id for series in after})
    assert (set(answer.base_ids), set(answer.other_ids)) == (set(shown.base_ids), set(shown.other_ids))
    assert shown.verdict is answer.verdict is Verdict.FASTER
    assert shown.sign is answer.sign
    assert shown.interval_percent == pytest.approx(answer.interval_percent)
    assert shown.base_name == "before switch"
    assert "'before switch'" in command_to_compare(shown.base_reference, shown.other_reference), (
        "the command to type counts the same"
    )
    label = next(row for row in side_by_side(both_ways.with_others) if row.name == "Label")
    assert (label.base, label.other) == ("before switch", "after")

    of_two = both_ways.of_two.comparison
    assert (len(of_two.base_ids), len(of_two.other_ids)) == (1, 1)
    assert of_two.base_name == "before switch"
    assert of_two.doubt is not Doubt.SAME_SETTINGS, "its newest series alone is asked about as the baseline is"

    assert isinstance(of_notebook, ComparisonBase)
    assert of_notebook.baseline == "before switch"


def test_every_page_judges_all_series_that_were_measured_as_repeats(tmp_path: Path) -> None:
    newest_id = f"{4:012x}"
    with Notebook(new_link_measured_thrice(tmp_path)) as notebook:
        page, answer = page_and_answer(notebook, newest_id)
        assert answer is not None
        (sides,) = sides_to_compare(notebook, ("before", newest_id), counted=Counted.REPEATS)
        (typed,) = comparisons([sides])
        shown = read_both_ways(notebook, (BASE_ID, newest_id)).with_others.comparison

    for comparison in (answer, typed.comparison, shown):
        assert (len(comparison.base_ids), len(comparison.other_ids)) == (1, 3)
        assert (comparison.verdict, comparison.sign) == (answer.verdict, answer.sign)
        assert comparison.change_percent == pytest.approx(answer.change_percent)
    assert answer.is_certain_by_link
    assert answer.old_link is not None
    assert answer.old_link.spread_percent == pytest.approx((-10, 90), abs=0.1)
    assert "before" in page.title
    assert shown.base_name == "before", "a baseline keeps its name"
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


@pytest.mark.parametrize(("base_factor", "looks_like_a_link"), [(1.0, True), (0.9, False)])
def test_an_open_answer_that_the_link_speed_of_the_base_settles_asks_for_it(
    tmp_path: Path, base_factor: float, looks_like_a_link: bool
) -> None:
    """Nobody gave a link speed: 119 MB/s is what 1 Gb/s lets through, and 107 MB/s is not."""
    uneven = (150e6, 230e6, 160e6, 220e6, 190e6)
    before = one(1, scaled(base_factor), label="before", link_bits_per_second=None)
    series = (before, one(2, uneven, label="after", link_bits_per_second=None))
    path = book(tmp_path / "notebook.db", *series, baselines={"before": BASE_ID})
    with Notebook(path) as notebook:
        page, answer = page_and_answer(notebook, FIRST_ID)
        assert answer is not None
        assert answer.verdict is Verdict.UNKNOWN
        assert answer.doubt is not Doubt.SAME_SETTINGS
        facts = " ".join(str(getattr(fact, "text", fact)) for fact in page.facts)
        assert "measured before the change" not in facts, "it was made"
        give = option_called(page, "its link speed")
        assert (give is not None) is looks_like_a_link
        if give is None:
            _assert_new_side_is_measured_again(page, answer)
            return

        assert give.advised
        assert isinstance(give.act, Ask)
        assert give.act.value == "1G"
        taken = give.act.then("1G")
        assert isinstance(taken, Store)
        taken.job(notebook)
        page, answer = page_and_answer(notebook, FIRST_ID)
        assert answer is not None
        assert answer.is_certain_by_link
        assert option_called(page, "its link speed") is None


def _assert_new_side_is_measured_again(page: Page, answer: Comparison) -> None:
    """Nobody knows whether the old side is still there, so the new one is advised, in the guide as in the notebook."""
    assert answer.settle is not None
    assert answer.settle.is_change_unseen
    assert answer.settle.may_be_impossible
    assert not replace(answer.settle, is_change_unseen=False).may_be_impossible
    assert not replace(answer.settle, way=Way.OTHER_AGAIN).may_be_impossible

    (advised,) = [option for option in page.options if option.advised]
    assert isinstance(advised.act, Begin)
    choices = advised.act.choices
    assert (choices.planned_repeats, choices.spacing_seconds) == (1, SPACING_SECONDS)
    assert choices.spec.lineage.base_id == FIRST_ID

    steps = list(after_comparison(answer))
    assert steps[0].name.startswith("Measure after again")
    assert not any(step.name.endswith(": before") for step in steps)


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
