"""The change between sides: against scipy, against brute force, and what the rule's parts give alone."""

import numpy as np
import pytest
from scipy import stats

from forms.stats import change
from forms.stats.decision import Limits, holm
from forms.stats.sample_size import Scatter, needed_range, needed_runs, needed_series


def test_the_runs_alone_are_welchs_test():
    random = np.random.default_rng(4)
    left, right = random.normal(100, 0.1, 7).tolist(), random.normal(100.2, 0.5, 12).tolist()
    found = change.within_series([left], [right])
    assert found is not None
    expected = stats.ttest_ind(right, left, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue, rel=0.01)
    assert found.interval_percent(0.95) == pytest.approx(
        tuple(100 * edge / np.mean(left) for edge in expected.confidence_interval(0.95)), abs=0.003
    )


def test_series_are_students_test_of_their_averages():
    base, other = [[99.0, 101.0], [100.5, 101.5], [98.0, 100.0]], [[104.0, 106.0], [103.5, 104.5]]
    found = change.variation([base, other])
    assert found is not None
    assert found.freedom == 3
    told = change.between_series(base, other, found)
    expected = stats.ttest_ind([105, 104], [100, 101, 99])
    assert told.p_value == pytest.approx(expected.pvalue, rel=0.1)
    assert change.variation([[[1.0, 2.0]], [[3.0]]]) is None


def test_a_side_that_scatters_more_than_the_repeats_widens_the_interval():
    base = [[100.0, 100.1, 99.9, 100.0]] * 3
    found = change.variation([base])
    assert found is not None
    calm = change.between_series(base, [[105.0, 105.1, 104.9, 105.0]], found)
    wild = change.between_series(base, [[150.0, 60.0, 105.0, 105.0]], found)
    assert wild.error > 10 * calm.error


def test_the_trend_is_taken_out_by_least_squares():
    averages, sides = [100.0, 101.0, 102.2, 110.0, 110.9, 112.1], [0, 0, 0, 1, 1, 1]
    series = [[average] * 2 for average in averages]
    found = change.variation([series[:3], series[3:]])
    assert found is not None
    told = change.beside_trend(series[:3], series[3:], range(6), found)
    assert told is not None
    design = np.column_stack([np.ones(6), np.arange(6), sides])
    coefficients, rest, _, _ = np.linalg.lstsq(design, np.log(averages))
    error = np.sqrt(rest[0] / 3 * np.linalg.inv(design.T @ design)[2, 2])
    assert told.log_change == pytest.approx(coefficients[2])
    assert told.error == pytest.approx(error, rel=0.01)
    assert told.freedom == 3


@pytest.mark.parametrize(("positions", "bases", "score"), [((0, 2, 1), 2, 0.0), ((0, 1, 2, 3), 3, 3**0.5)])
def test_what_a_steady_trend_alone_would_make_of_an_order(positions, bases, score):
    found = change.Variation(variance=1.0, freedom=len(positions) - 2, within=0.0)
    assert change.steady_trend_score(positions, bases, found) == pytest.approx(score)


def test_an_interval_never_goes_below_minus_one_hundred_percent():
    found = change.within_series([[100.0, 1.0, 300.0]], [[0.5, 90.0, 2.0]])
    assert found is not None
    assert found.interval_percent(0.95)[0] >= -100


def test_holm_is_by_the_book():
    assert holm([0.001, 0.04, 0.02], 0.06) == pytest.approx([0.02, 0.06, 0.03])
    assert holm([0.001, 0.05, 0.04], 0.06) == pytest.approx([0.02, 0.03, 0.03])
    assert holm([], 0.05) == []


def test_needed_runs_reach_a_verdict_and_the_range_holds_them():
    """The figures of the rule: sd 10 % of both sides and no change needs about 107 runs a side, not 32."""
    scatter = Scatter(percent=10 * 2**0.5, runs=5, paired=True)
    assert needed_runs(0.0, scatter, Limits()) == pytest.approx(107, abs=4)
    low, high = needed_range(1.0, scatter, Limits())
    assert low < 107
    assert high is None or high > 107
    assert needed_runs(3.0, Scatter(percent=60, runs=5, paired=True), Limits()) is None


def test_needed_series_grow_with_what_equal_ones_differ_by():
    assert needed_series(20.0, 1.0, Limits()) == 2
    few, more = needed_series(10.0, 3.0, Limits()), needed_series(7.0, 3.0, Limits())
    assert few is not None
    assert more is not None
    assert 2 < few < more
    assert needed_series(1.5, 10.0, Limits()) is None
