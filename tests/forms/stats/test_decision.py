"""The change between sides: against scipy, against brute force, and what the rule's parts give alone."""

import math

import numpy as np
import pytest
import scipy

from forms.stats.changes import beside_trend, between_series, steady_trend_score, within_series
from forms.stats.decision import Limits, Verdict
from forms.stats.distributions import student_t
from forms.stats.needed_runs import RunVariation, needed_range, needed_runs
from forms.stats.readings import plain_reading
from forms.stats.several import critical_of, holm
from forms.stats.variation import RunVariance, SeriesGroup, Variation
from forms.stats.verdict_rule import Step, decide_together


def test_the_runs_alone_are_welchs_test():
    random = np.random.default_rng(4)
    left, right = random.normal(100, 0.1, 7).tolist(), random.normal(100.2, 0.5, 12).tolist()
    found = within_series([plain_reading(left)], [plain_reading(right)])
    assert found is not None
    expected = scipy.stats.ttest_ind(right, left, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue, rel=0.01)
    assert found.interval_percent(0.95) == pytest.approx(
        tuple(100 * edge / np.mean(left) for edge in expected.confidence_interval(0.95)), abs=0.003
    )


def test_series_are_uncertain_by_what_equal_ones_differ_by():
    found = Variation(variance=0.03**2, freedom=5.0, runs=RunVariance(0.01**2, 8.0))
    told = between_series([plain_reading([100.0]), plain_reading([102.0])], [plain_reading([110.0])], found)
    assert told.error == pytest.approx(0.03 * math.sqrt(1.5))
    low, high = told.interval_percent(0.95)
    half = scipy.stats.t.ppf(0.975, 5) * 0.03 * math.sqrt(1.5)
    assert (low, high) == pytest.approx([100 * math.expm1(math.log(110 / 101) + side * half) for side in (-1, 1)])
    assert told.p_value == pytest.approx(2 * scipy.stats.t.sf(math.log(110 / 101) / told.error, 5))


def test_the_trend_is_taken_out_by_least_squares():
    """With a prior of nothing at all, the analysis of covariance by the book."""
    averages, sides = [100.0, 101.0, 102.2, 110.0, 110.9, 112.1], [0, 0, 0, 1, 1, 1]
    groups = [
        SeriesGroup([[average] * 2 for average in averages[at : at + 3]], [at, at + 1.0, at + 2.0]) for at in (0, 3)
    ]
    gap, span = 3.0, 2.0
    logs = np.log(averages)
    squares = span / gap * sum(((logs[at : at + 3] - logs[at : at + 3].mean()) ** 2).sum() for at in (0, 3))
    freedom = 4 * span / gap
    told = beside_trend(
        groups[0], groups[1], Variation(variance=squares / freedom, freedom=freedom, runs=RunVariance(0.0, 8.0))
    )
    assert told is not None
    design = np.column_stack([np.ones(6), np.arange(6), sides])
    coefficients, rest, _, _ = np.linalg.lstsq(design, logs)
    error = np.sqrt(rest[0] / 3 * np.linalg.inv(design.T @ design)[2, 2])
    assert told.log_change == pytest.approx(coefficients[2])
    assert told.error == pytest.approx(error)
    assert told.freedom == pytest.approx(3 * span / gap)


@pytest.mark.parametrize(
    ("times", "bases", "score"), [((0, 2, 1), 2, 0.0), ((0, 1, 2, 3), 3, 3**0.5), ((0, 50, 60, 900), 3, 3**0.5)]
)
def test_what_a_steady_trend_alone_would_make_of_an_order(times, bases, score):
    assert steady_trend_score(times, bases) == pytest.approx(score)


def test_an_interval_never_goes_below_minus_one_hundred_percent():
    found = within_series([plain_reading([100.0, 1.0, 300.0])], [plain_reading([0.5, 90.0, 2.0])])
    assert found is not None
    assert found.interval_percent(0.95)[0] >= -100


def test_holm_is_by_the_book():
    assert holm([0.001, 0.04, 0.02], 0.06) == pytest.approx([0.02, 0.06, 0.03])
    assert holm([0.001, 0.05, 0.04], 0.06) == pytest.approx([0.02, 0.03, 0.03])
    assert holm([], 0.05) == []


def test_needed_runs_reach_a_verdict_and_the_range_holds_them():
    """The figures of the rule: sd 10 % of both sides and no change needs about 107 runs a side, not 32."""
    variation = RunVariation(percent=10 * 2**0.5, runs=5, paired=True)
    assert needed_runs(0.0, variation, Limits()) == pytest.approx(107, abs=4)
    low, high = needed_range(1.0, variation, Limits())
    assert low < 107
    assert high is None or high > 107
    assert needed_runs(3.0, RunVariation(percent=60, runs=5, paired=True), Limits()) is None


SIMULATED = {2: 3.249, 3: 3.490, 4: 3.666, 5: 3.809, 6: 3.932}
"""Of two million draws: so many steps and their total, the base measured twice, five degrees of freedom."""


@pytest.mark.parametrize("steps", SIMULATED)
def test_steps_and_their_total_hold_together(steps: int):
    pairs = (*((step, step + 1) for step in range(steps)), (0, steps))
    assert critical_of((2,) + (1,) * steps, pairs, 5.0, 0.95) == pytest.approx(SIMULATED[steps], abs=0.025)


def test_one_step_has_students_t():
    assert critical_of((1, 1), ((0, 1),), 5.0, 0.95) == student_t(0.95, 5.0)


def test_steps_share_one_variation():
    levels = (100.0, 130.0, 131.0)
    groups = [SeriesGroup([[level] * 5], [float(place)]) for place, level in enumerate(levels)]
    first, second, whole = decide_together(groups, [Step(0, 1), Step(1, 2), Step(0, 2)])
    assert [one.verdict for one in (first, second, whole)] == [Verdict.FASTER, Verdict.UNKNOWN, Verdict.FASTER]
    assert first.variation == second.variation
    assert first.critical == pytest.approx(critical_of((1, 1, 1), ((0, 1), (1, 2), (0, 2)), 4.0, 0.95))
    empty = [*groups[:2], SeriesGroup([], [])]
    told = decide_together(empty, [Step(0, 1), Step(1, 2)])
    assert (told[0].verdict, told[1].verdict) == (Verdict.FASTER, Verdict.UNKNOWN)
