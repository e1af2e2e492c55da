"""Statistics against scipy, the method's own tables and worked examples."""

import random

import numpy as np
import pytest
import scipy

from forms.stats import summary as s
from forms.stats import trends, unusual

B9_RATES = (761_580, 767_820, 747_420, 760_020, 772_700)
"""Table B-9's own five rates; the printed average of 777,310 belongs to none of them."""


def test_table_b9_averages_what_its_rows_say():
    assert s.mean(B9_RATES) == 761_908
    assert s.median(B9_RATES) == 761_580
    assert s.deviation(B9_RATES) == pytest.approx(9_552, abs=0.5)
    assert s.deviation((2.3, 2.3, 2.4, 2.3, 2.3)) == pytest.approx(0.0447, abs=0.0001)
    assert unusual.unusual_rates(B9_RATES) == [None] * 5


@pytest.mark.parametrize(
    ("function", "least"),
    [
        (s.mean, 1),
        (s.median, 1),
        (s.deviation, 2),
        (s.deviation_percent, 2),
        (s.confidence_interval, 2),
        (s.half_width, 2),
        (s.half_width_percent, 2),
        (trends.drift, 5),
    ],
)
def test_too_few_values_are_absent_not_zero(function, least):
    values = [100.0, 103.0, 99.0, 101.0, 102.0]
    for n in range(least):
        assert function(values[:n]) is None
    assert function(values[:least]) is not None


@pytest.mark.parametrize("n", [2, 3, 5, 10, 30, 200])
def test_interval_and_deviation_agree_with_scipy(n):
    values = np.random.default_rng(n).normal(100e6, 3e6, n)
    low, high = scipy.stats.t.interval(0.95, n - 1, loc=values.mean(), scale=scipy.stats.sem(values))
    assert s.deviation(values.tolist()) == pytest.approx(np.std(values, ddof=1))
    assert s.confidence_interval(values.tolist()) == pytest.approx((low, high))
    assert s.half_width_percent(values.tolist()) == pytest.approx(50 * (high - low) / values.mean())
    wide = s.confidence_interval(values.tolist(), level=0.99)
    assert wide is not None
    assert wide[0] < low < high < wide[1]


def test_equal_values_have_no_spread_and_nothing_unusual():
    for n in (2, 3, 5, 40):
        values = [118e6] * n
        assert s.deviation(values) == 0
        assert s.confidence_interval(values) == (118e6, 118e6)
        assert s.half_width_percent(values) == 0
        assert unusual.modified_z_scores(values) == [0.0] * n
        assert unusual.unusual_rates(values) == [None] * n
    assert trends.drift([118e6] * 8) == trends.Drift(percent=0.0, values=(118e6,) * 8)
    assert unusual.modified_z_scores([0.0, 0.0, 0.0]) == [0.0, 0.0, 0.0]
    assert s.half_width_percent([0.0, 0.0]) is None


def test_one_or_two_runs_are_never_unusual():
    assert unusual.unusual_rates([]) == []
    assert unusual.unusual_rates([5.0]) == [None]
    assert unusual.unusual_rates([5.0, 500.0]) == [None, None]


def test_scores_are_those_of_the_definition():
    values = [100.0, 102.0, 98.0, 101.0, 70.0]
    middle = np.median(values)
    mad = scipy.stats.median_abs_deviation(values)
    assert unusual.modified_z_scores(values) == pytest.approx([0.6745 * (v - middle) / mad for v in values])


def test_a_dip_of_seven_mads_is_unusual():
    values = [100.0, 101.0, 99.0, 100.5, 99.5, 101.0, 99.0, 93.0]
    reasons = unusual.unusual_rates(values)
    assert [r is not None for r in reasons] == [False] * 7 + [True]
    dip = reasons[-1]
    assert dip is not None
    assert dip.is_slow
    assert dip.share_of_median == pytest.approx(0.068, abs=0.0005)


def test_one_wild_value_among_three_and_many():
    assert [bool(r) for r in unusual.unusual_rates([100.0, 50.0, 101.0])] == [False, True, False]
    fast = unusual.unusual_rates([100.0, 101.0, 99.0, 180.0, 100.0])
    assert fast[3] is not None
    assert fast[3].share_of_median == pytest.approx(0.8)
    assert not fast[3].is_slow
    assert not fast[3].is_warm_up


def test_near_identical_runs_are_left_alone():
    assert unusual.unusual_rates([100.000, 100.001, 100.0, 100.002, 98.0]) == [None] * 5


def test_slow_first_runs_are_too_little_warm_up():
    reasons = unusual.unusual_rates([60.0, 80.0, 100.0, 101.0, 99.5, 100.5, 60.0, 100.2])
    assert [r is not None and r.is_warm_up for r in reasons] == [True, True] + [False] * 6
    assert reasons[6] is not None
    after_a_fast_one = unusual.unusual_rates([150.0, 60.0, 100.0, 101.0, 99.5, 100.5, 100.0])
    assert after_a_fast_one[1] is not None
    assert not any(r.is_warm_up for r in after_a_fast_one if r)


@pytest.mark.parametrize("n", [5, 8, 12, 30, 60])
def test_drift_agrees_with_kendalls_exact_test(n):
    generator = random.Random(n)
    for slope in (0.0, 0.3, -1.0):
        values = [100 + slope * i + generator.gauss(0, 1) for i in range(n)]
        trend = trends.drift(values)
        assert trend is not None
        expected = scipy.stats.kendalltau(range(n), values, method="exact")
        assert trend.p_value == pytest.approx(expected.pvalue)
        line = scipy.stats.theilslopes(np.log(values), range(n))
        assert trend.percent == pytest.approx(100 * np.expm1(line.slope * (n - 1)))


@pytest.mark.parametrize(
    ("values", "percent"), [((1044.6, 996.0, 778.2, 387.6, 300.8), -72), ((300.8, 387.6, 778.2, 996.0, 1044.6), 261)]
)
def test_no_trend_falls_by_more_than_all(values: tuple[float, ...], percent: float):
    trend = trends.drift(values)
    assert trend is not None
    assert trend.percent == pytest.approx(percent, abs=1)
    nothing = trends.drift([1.0, 0.0, 2.0, 1.0, 1.0])
    assert nothing is not None
    assert nothing.percent == 0.0


def test_drift_with_ties_agrees_with_the_tie_corrected_normal():
    values = [100.0, 101, 101, 102, 102, 102, 103, 104, 104, 105]
    trend = trends.drift(values)
    assert trend is not None
    assert trend.significant
    assert trend.percent > 4
    expected = scipy.stats.kendalltau(range(10), values, method="asymptotic").pvalue
    assert trend.p_value == pytest.approx(expected, rel=1e-9)


def test_series_of_more_than_sixty_runs_drift_by_the_normal_approximation():
    generator = random.Random(5)
    for runs in (60, 61, 100):
        values = [100 + generator.gauss(0, 1) for _ in range(runs)]
        trend = trends.drift(values)
        assert trend is not None
        expected = scipy.stats.kendalltau(range(runs), values, method="exact" if runs == 60 else "asymptotic")
        assert trend.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_equal_values_have_no_trend():
    trend = trends.drift([100.0] * 8)
    assert trend is not None
    assert (trend.percent, trend.p_value, trend.significant) == (0.0, 1.0, False)


def test_very_long_series_keep_their_trend_when_thinned():
    generator = random.Random(6)
    rising = trends.drift([100 + 0.001 * i + generator.gauss(0, 3) for i in range(10_000)])
    assert rising is not None
    assert rising.percent == pytest.approx(100 * 10 / 105, rel=0.15)
    assert rising.significant
    level = trends.drift([100 + generator.gauss(0, 3) for _ in range(10_000)])
    assert level is not None
    assert abs(level.percent) < 0.5


def test_a_steady_series_seldom_drifts():
    generator = random.Random(7)
    called = sum(
        trend.significant
        for _ in range(1000)
        if (trend := trends.drift([generator.gauss(100, 1) for _ in range(8)])) is not None
    )
    assert called <= 60


def test_one_step_of_a_clock_that_is_read_by_hand_is_not_unusual():
    """As in table B-9: 2.3 s and 2.4 s are the same to a tenth of a second, and 4 % of throughput."""
    seconds = [2.3, 2.3, 2.4, 2.3, 2.3, 2.3]
    rates = [1e6 / each for each in seconds]
    assert any(unusual.unusual_rates(rates)), "by the rates alone it is far off"
    assert not any(unusual.unusual_rates(rates, seconds))
    finer = [each + 0.000_123 for each in seconds]
    assert any(unusual.unusual_rates([1e6 / each for each in finer], finer))


@pytest.mark.parametrize("n", [5, 6, 8, 10, 20, 30])
def test_one_healthy_series_in_twenty_has_a_run_that_is_flagged(n):
    generator = random.Random(3)
    flagged = sum(any(unusual.unusual_rates([generator.gauss(100, 3) for _ in range(n)])) for _ in range(500))
    assert flagged / 500 < 0.08


def test_who_stops_at_the_first_narrow_interval_still_knows_the_average_to_it():
    """Looking after each run finds the lucky ones: by the plain interval ± 2 % would hold in 92 % of these."""
    generator = random.Random(3)
    ends = []
    for _ in range(600):
        rates = [generator.gauss(100, 3) for _ in range(40)]
        stop = next(n for n in range(5, 41) if (s.known_to_percent(rates[:n]) or 100) <= 2)
        ends.append(s.mean(rates[:stop]) or 0.0)
    assert sum(abs(end - 100) <= 0.02 * end for end in ends) / 600 >= 0.955
