"""A slow run in a comparison: left out and named, or named as what keeps it from an answer."""

from dataclasses import replace

import pytest

from forms.comparison.document import comparison_document
from forms.comparison.judged_sides import Sides
from forms.comparison.pair_report import pair_report
from forms.comparison.summary import comparisons
from forms.comparison.verdict import compare, compare_sides
from forms.comparison.wording import comparison_headline, comparison_sentences
from forms.report import change_formula
from forms.stats.decision import Limits
from tests.builders import interleaved, series

STEADY = (100e6, 100.5e6, 99.5e6, 100.2e6, 99.8e6)
SLOWER = tuple(0.6 * rate for rate in STEADY)


def test_a_hiccup_is_left_out_and_named():
    base = series((33e6, *STEADY[1:]), id="base", label="before")
    found = compare(base, series(SLOWER, id="other", label="after"))
    assert found.verdict == "slower"
    assert found.change_percent == pytest.approx(-40, abs=0.1)
    assert [(run.series_id, run.number) for run in found.left_out] == [("base", 1)]
    assert found.judged_base_bytes_per_second == pytest.approx(100e6)
    assert found.base_bytes_per_second == pytest.approx(86.6e6)
    assert "Not counted: run 1 of 'before' (67 % slower than the others)" in comparison_sentences(found)
    document = comparison_document(found)
    assert document["left_out_runs"] == [{"series": "base", "run": 1, "percent_of_others": pytest.approx(-67)}]
    assert document["other_deviation_bytes_per_second"] == pytest.approx(0.6 * 0.3808e6, rel=0.01)
    (form,) = comparisons([Sides(base=(base,), other=(series(SLOWER, id="other"),))])
    (averages,) = [table for table in pair_report(form).tables if table.caption.startswith("Averages")]
    judged, change = averages.rows[0].cells[3], averages.rows[1].cells[5]
    assert judged.value == pytest.approx(100e6)
    assert change.formula == change_formula(3, 0, 1)


def test_two_hiccups_of_five_take_the_verdict_and_are_named():
    base = series((33e6, 40e6, *STEADY[2:]), id="base", label="before")
    found = compare(base, series(SLOWER, id="other"))
    assert found.verdict == "unknown"
    assert found.without is not None
    assert [run.number for run in found.without.runs] == [1, 2]
    assert found.without.decision.verdict == "slower"
    assert "Inconclusive: these runs vary too much to tell (by " in comparison_headline(found)
    assert "Without runs 1 and 2 of 'before' (67 % slower and 60 % slower than the others) this would be:" in (
        comparison_sentences(found)
    )
    document = comparison_document(found)["without_runs"]
    assert (document["verdict"], len(document["runs"])) == ("slower", 2)


def test_a_hiccup_of_interleaved_runs_is_named():
    base, other = interleaved(
        series((33e6, *STEADY[1:]), id="base", label="before"),
        series([0.9 * rate for rate in STEADY], id="other", label="after"),
    )
    found = compare(base, other)
    assert (found.verdict, found.interleaved, found.left_out) == ("unknown", True, ())
    assert found.without is not None
    assert [(run.series_id, run.number) for run in found.without.runs] == [("base", 1)]
    assert found.without.decision.verdict == "slower"


def test_runs_that_only_vary_are_not_named():
    wide = series((60e6, 90e6, 110e6, 140e6, 100e6), id="base")
    found = compare(wide, series(SLOWER, id="other"))
    assert (found.verdict, found.without, found.left_out) == ("unknown", None, ())


def test_few_interleaved_pairs_say_how_often_chance_does_as_much():
    rates = (100e6, 120e6, 90e6, 110e6, 130e6)
    faster = [rate * factor for rate, factor in zip(rates, (1.1, 1.9, 1.3, 1.8, 1.5), strict=True)]
    found = compare(*interleaved(series(rates, id="base"), series(faster, id="other")))
    assert found.verdict == "faster"
    assert found.p_value is not None
    assert f"in 1 of {int(1 / found.p_value)} such comparisons" in comparison_sentences(found)


def test_a_history_with_a_hiccup_takes_no_verdict():
    base, other = series(STEADY, id="base"), series(SLOWER, id="other")
    alone = compare_sides(Sides(base=(base,), other=(other,)), Limits())
    earlier = tuple(
        replace(series(rates, id=f"{place:012x}"), created_at=f"2026-01-{20 + place}T10:00:00.000Z")
        for place, rates in enumerate((STEADY, (20e6, *STEADY[1:]), STEADY))
    )
    with_history = compare_sides(Sides(base=(base,), other=(other,), history=(earlier,)), Limits())
    assert alone.verdict == with_history.verdict == "slower"
