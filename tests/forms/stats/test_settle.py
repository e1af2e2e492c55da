"""What a way to measure shows: the table that was simulated, row by row, and which way settles what."""

import math

import pytest

from forms.stats.decision import Limits
from forms.stats.settle import Way, by_alternating, by_base_again, by_interleaved_runs, by_pairs
from forms.stats.shown import shown_by_alternating, shown_by_pairs, shown_by_series, shown_like
from forms.stats.variation import RunVariance

TABLE = {
    0.003: (11.6, 11.2, 8.2, 6.6, 6.6, 1.1),
    0.01: (19.9, 17.6, 13.6, 10.8, 10.3, 1.7),
    0.02: (37.3, 31.3, 24.7, 19.4, 17.7, 3.3),
    0.05: (113, 90, 70, 53, 47, 8.5),
}
"""Runs vary by: two series of 5, of 10, A B A, 3 + 1, 5 repeats + 2, 3 + 3 alternating; simulated, in percent."""


@pytest.mark.parametrize("deviation", TABLE)
def test_what_each_design_shows_nine_times_in_ten(deviation: float):
    spread = deviation / 5**0.5
    told = (
        shown_by_series(RunVariance(deviation**2, 8), spread=spread),
        shown_by_series(RunVariance(deviation**2, 18), spread=deviation / 10**0.5),
        shown_by_series(RunVariance(deviation**2, 8), base=2, repeats=1, spread=spread),
        shown_by_series(RunVariance(deviation**2, 8), base=3, repeats=2, spread=spread),
        shown_by_series(RunVariance(deviation**2, 28), repeats=4, spread=spread),
        shown_by_alternating(spread, 3, Limits()),
    )
    assert told == pytest.approx(TABLE[deviation], rel=0.11)


def test_pairs_show_what_was_simulated_and_lie_between_the_rows():
    assert [shown_by_pairs(0.01, pairs) for pairs in (8, 14, 20)] == [2.5, 1.8, 1.6]
    assert shown_by_pairs(0.015) == pytest.approx(3.75)
    assert shown_by_pairs(0.2) == pytest.approx(55, abs=1), "beyond the table in a straight line"


@pytest.mark.parametrize("deviation", [0.003, 0.01, 0.02, 0.05])
def test_series_like_one_of_five_show_what_the_table_says(deviation: float):
    logs = [deviation * z * math.sqrt(4 / 10) for z in (-2, -1, 0, 1, 2)]
    shown = shown_like([1e8 * math.exp(log) for log in logs])
    assert shown is not None
    assert shown.series_percent == pytest.approx(
        shown_by_series(RunVariance(deviation**2, 8), spread=deviation / 5**0.5)
    )
    assert shown.series_percent == pytest.approx(TABLE[deviation][0], rel=0.06)
    assert shown.pairs_percent == pytest.approx(shown_by_pairs(deviation))


def test_two_runs_or_none_at_all_show_nothing():
    assert shown_like([1e8, 1.01e8, 1.02e8]) is not None
    assert shown_like([1e8, 1.01e8]) is None
    assert shown_like([0.0, 0.0, 0.0]) is None
    assert shown_like([0.5, 0.51, 0.52]) is not None, "the unit is any"


def test_three_percent_at_one_percent_takes_eight_pairs():
    found = by_pairs(3.0, 0.01, Limits())
    assert found is not None
    assert (found.way, found.count) == (Way.TRY, 8)
    assert by_pairs(2.4, 0.01, Limits()) is not None
    assert by_pairs(2.4, 0.05, Limits()) is None


def test_no_change_is_shown_by_pairs_up_to_three_percent_of_variation():
    counts = [found.count if (found := by_pairs(0.2, percent / 100, Limits())) else None for percent in (0.5, 2, 3, 4)]
    assert counts == [8, 14, 20, None]


def test_what_is_measured_already_counts_in_alternation():
    new, rest = (by_alternating(3.0, 0.005, Limits(), have=have) for have in (0, 3))
    assert new is not None
    assert rest is not None
    assert (new.count, rest.count) == (6, 3)


def test_one_more_base_is_named_only_where_it_settles_it():
    assert by_base_again(15.0, RunVariance(0.01**2, 8), base=1, other=1, repeats=0.0, spread=0.005) is not None
    assert by_base_again(12.0, RunVariance(0.01**2, 8), base=1, other=1, repeats=0.0, spread=0.005) is None


def test_interleaved_runs_grow_with_what_runs_differ_by():
    few, more = by_interleaved_runs(3.0, 0.01, Limits()), by_interleaved_runs(3.0, 0.02, Limits())
    assert few is not None
    assert more is not None
    assert 5 <= few.count < more.count
    assert by_interleaved_runs(3.0, 0.2, Limits()) is None


@pytest.mark.parametrize(("change", "deviation"), [(100.0, 0.6), (50.0, 0.3), (25.0, 0.1)])
def test_swapped_sides_need_as_many_interleaved_runs(change: float, deviation: float):
    swapped = 100 * (1 / (1 + change / 100) - 1)
    there, back = (by_interleaved_runs(one, deviation, Limits()) for one in (change, swapped))
    assert there is not None
    assert back is not None
    assert there.count == back.count > 5
