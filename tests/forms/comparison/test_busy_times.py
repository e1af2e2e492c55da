"""What a busy time of a side means for the answer: only what it may be the reason for is in doubt."""

from dataclasses import replace

import pytest

from forms.comparison.comparison import Comparison
from forms.comparison.document import comparison_document
from forms.comparison.doubts import busy_times
from forms.comparison.doubts.other_load import OtherLoad
from forms.comparison.judged_sides import Sides
from forms.comparison.properties import side_by_side
from forms.comparison.summary import comparison_form, comparisons
from forms.comparison.verdict import compare
from forms.comparison.wording import basis_sentence
from forms.stats.decision import Verdict
from storage.records import Quiet, QuietVerdict
from tests.builders import CLIENT, interleaved, one

BASE_ID, OTHER_ID = f"{1:012x}", f"{2:012x}"
BUSY = Quiet(verdict=QuietVerdict.BUSY, reasons=("others are at work",))
STEADY = (1.0, 1.001, 0.999, 1.0, 1.0)


def compared(factor: float, *busy: str) -> Comparison:
    base = one(1, [100e6 * rate for rate in STEADY], quiet=BUSY if BASE_ID in busy else None)
    few = replace(CLIENT, in_flight=1)
    other = one(2, [factor * 100e6 * rate for rate in STEADY], client=few, quiet=BUSY if OTHER_ID in busy else None)
    return compare(base, other)


@pytest.mark.parametrize(
    ("factor", "busy", "verdict", "is_in_doubt"),
    [
        (1.5, (), Verdict.FASTER, False),
        (1.5, (BASE_ID,), Verdict.FASTER, True),
        (1.5, (OTHER_ID,), Verdict.FASTER, False),
        (1.5, (BASE_ID, OTHER_ID), Verdict.FASTER, False),
        (0.5, (BASE_ID,), Verdict.SLOWER, False),
        (0.5, (OTHER_ID,), Verdict.SLOWER, True),
        (1.02, (OTHER_ID,), Verdict.UNKNOWN, False),
    ],
)
def test_an_answer_is_in_doubt_where_the_slower_side_was_busy(factor, busy, verdict, is_in_doubt):
    comparison = compared(factor, *busy)
    assert comparison.verdict is verdict
    assert busy_times.is_in_doubt(comparison) is is_in_doubt
    has_reason = busy_times.why_no_matter(comparison) is not None
    if len(busy) == 1 and verdict is not Verdict.UNKNOWN:
        assert has_reason is not is_in_doubt
    assert bool(busy_times.consequence(comparison)) is (verdict is not Verdict.UNKNOWN)
    is_certain = verdict is not Verdict.UNKNOWN and not is_in_doubt
    assert ("is faster is certain" in str(basis_sentence(comparison))) is is_certain


def test_no_change_is_in_doubt_whichever_side_was_busy():
    for busy_id in (BASE_ID, OTHER_ID):
        assert busy_times.is_in_doubt(replace(compared(1.5, busy_id), verdict=Verdict.SAME))


def test_runs_that_alternated_met_the_same_load():
    base = one(1, [100e6] * 8, quiet=BUSY)
    other = one(2, [150e6] * 8, quiet=BUSY, client=replace(CLIENT, in_flight=1))
    comparison = compare(*interleaved(base, other))
    assert comparison.verdict is Verdict.FASTER
    assert comparison.busy_ids
    assert not busy_times.is_in_doubt(comparison)


def test_a_base_that_is_gone_is_not_to_be_measured_again():
    comparison = replace(compared(1.5, BASE_ID), base_told_gone=True)
    assert "measure again" not in busy_times.consequence(comparison)
    assert "measure again" in busy_times.consequence(replace(comparison, base_told_gone=False))


def loaded(percent: float | None, **figures: float) -> Quiet:
    """A busy time with what other programs took of the client's processors during the runs."""
    return Quiet(verdict=QuietVerdict.BUSY, figures={"others_cpu_percent_during": percent, **figures})


def compared_under(base: Quiet, other: Quiet, factor: float = 1.5) -> Comparison:
    few = replace(CLIENT, in_flight=1)
    return compare(
        one(1, [100e6 * rate for rate in STEADY], quiet=base),
        one(2, [factor * 100e6 * rate for rate in STEADY], client=few, quiet=other),
    )


@pytest.mark.parametrize(
    ("base", "other", "factor", "is_about_equal", "is_in_doubt"),
    [
        (89, 86, 1.5, True, False),
        (90, 80, 1.5, True, False),
        (80, 90, 0.5, True, False),
        (90.1, 80, 1.5, False, True),
        (80, 90.1, 1.5, False, False),
        (90.1, 80, 0.5, False, False),
        (80, 90.1, 0.5, False, True),
    ],
)
def test_sides_about_as_busy_are_in_no_doubt_and_a_slower_side_that_was_busier_is(
    base: float, other: float, factor: float, *, is_about_equal: bool, is_in_doubt: bool
):
    comparison = compared_under(loaded(base), loaded(other), factor)
    assert comparison.other_load is not None
    assert comparison.other_load.is_about_equal is is_about_equal
    assert busy_times.is_in_doubt(comparison) is is_in_doubt
    consequence = busy_times.consequence(comparison)
    assert f"{base:.0f} %" in consequence
    assert f"{other:.0f} %" in consequence
    assert ("the answer holds" in consequence) is is_about_equal
    assert ("measure again" in consequence) is is_in_doubt
    document = comparison_document(comparison)
    assert (document["base_others_cpu_percent"], document["other_others_cpu_percent"]) == (base, other)


@pytest.mark.parametrize(("last", "texts"), [(80, 1), (79.9, 2)])
def test_what_follows_for_sides_that_were_equally_busy_is_told_once(last: float, texts: int):
    comparisons_by_title = {
        "b against a": compared_under(loaded(90), loaded(85)),
        "c against a": compared_under(loaded(90), loaded(last), 0.5),
    }
    titles = busy_times.titles_by_consequence(comparisons_by_title)
    assert len(titles) == texts
    assert [title for told in titles.values() for title in told] == [*comparisons_by_title]
    assert any(f"{last:.0f} % to 90 %" in text for text in titles) is (texts == 1)


def test_a_base_that_is_gone_and_was_busier_is_not_to_be_measured_again():
    comparison = replace(compared_under(loaded(90), loaded(30)), base_told_gone=True)
    assert "measure again" not in busy_times.consequence(comparison)


@pytest.mark.parametrize(
    ("base", "other", "is_known"),
    [
        (loaded(20), loaded(12), True),
        (loaded(19.9), loaded(12), False),
        (loaded(None), loaded(60), False),
        (BUSY, loaded(60), False),
        (loaded(60, stolen_percent_during=11), loaded(60, stolen_percent_during=1), True),
        (loaded(60, stolen_percent_during=11.1), loaded(60, stolen_percent_during=1), False),
        (loaded(60, others_link_bytes_per_second_during=4.9e6), loaded(60), True),
        (loaded(60, others_link_bytes_per_second_during=5.1e6), loaded(60), False),
    ],
    ids=("busy", "not busy", "unknown", "no figures", "stolen alike", "stolen", "traffic alike", "traffic"),
)
def test_shares_are_compared_where_the_processors_alone_were_what_was_busy(base: Quiet, other: Quiet, is_known: bool):
    comparison = compared_under(base, other)
    assert (comparison.other_load is not None) is is_known
    rates = [100e6 * rate for rate in STEADY]
    rows = side_by_side(comparison_form(one(1, rates, quiet=base), one(2, rates, quiet=other)))
    assert ("base_others_cpu_percent" in comparison_document(comparison)) is is_known
    assert any(row.name == "Other programs" for row in rows) is is_known


def test_a_side_of_several_series_was_as_busy_as_they_were_on_average():
    before = (one(1, quiet=loaded(80)), one(3, quiet=loaded(40)))
    (form,) = comparisons([Sides(base=before, other=(one(2, quiet=loaded(65)),))])
    assert form.comparison.other_load == OtherLoad(base_percent=60, other_percent=65)
