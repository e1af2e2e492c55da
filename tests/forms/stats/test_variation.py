"""The rule of how far equal series differ: every constant at its edge."""

import math
from collections.abc import Sequence

import pytest

from forms.stats.changes import percent_of
from forms.stats.decision import ChangeDecision, Doubt, Limits, Verdict
from forms.stats.distributions import chi_square_quantile, student_t
from forms.stats.shown import shown_by_series
from forms.stats.variation import (
    DAY_SECONDS,
    RunVariance,
    SeriesGroup,
    alternates,
    prior_variance,
    side_run_variance,
    usual_run_variance,
    variation,
    weight,
)
from forms.stats.verdict_rule import decide

ALIKE = [100.0] * 5
BOUND = student_t(0.95, 4) * 0.025 * math.sqrt(2)
"""Of two series whose runs are all alike: four degrees of freedom, 2.5 %."""


def by(log_change: float, rates: Sequence[float] = ALIKE) -> list[float]:
    return [rate * math.exp(log_change) for rate in rates]


def spread(deviation: float, runs: int = 5) -> list[float]:
    """Runs whose logarithms have exactly this standard deviation."""
    logs = [place - (runs - 1) / 2 for place in range(runs)]
    scale = deviation / math.sqrt(sum(log * log for log in logs) / (runs - 1))
    return [100 * math.exp(log * scale) for log in logs]


def test_two_and_a_half_percent_with_four_degrees_of_freedom_are_the_least_that_equal_series_differ_by():
    assert decide([ALIKE], [by(BOUND + 1e-6)]).verdict is Verdict.FASTER
    assert decide([ALIKE], [by(-BOUND - 1e-6)]).verdict is Verdict.SLOWER
    short = decide([ALIKE], [by(BOUND - 1e-6)])
    assert (short.verdict, short.doubt) == (Verdict.UNKNOWN, Doubt.BASE_VARIED)
    assert short.variation is not None
    assert [short.variation.freedom, short.variation.deviation_percent] == pytest.approx([4, 2.5])


def test_what_runs_differ_by_adds_two_point_six_times_itself_and_never_more_than_half():
    assert prior_variance(RunVariance(0.0, 8)) == pytest.approx(0.025**2)
    assert prior_variance(RunVariance(0.01**2, 8)) == pytest.approx(0.025**2 + 2.6**2 * 0.01**2 * 8 / 6)
    assert prior_variance(RunVariance(0.16**2, 8)) == pytest.approx(0.025**2 + 2.6**2 * 0.16**2 * 8 / 6)
    assert prior_variance(RunVariance(0.17**2, 8)) == 0.5**2
    wild = spread(1.0)
    edge = student_t(0.95, 4) * 0.5 * math.sqrt(2)
    assert decide([wild], [by(edge + 1e-6, wild)]).verdict is Verdict.FASTER
    assert decide([wild], [by(edge - 1e-6, wild)]).verdict is Verdict.UNKNOWN


def test_runs_are_pooled_as_the_mean_of_both_sides_with_the_freedom_of_the_smaller():
    one, two = spread(0.01, 5), spread(0.03, 11)
    assert side_run_variance([[one], [two]]) == pytest.approx(((0.01**2 + 0.03**2) / 2, 8))
    assert side_run_variance([[one, one], [two]]) == pytest.approx(((0.01**2 + 0.03**2) / 2, 16))


def test_earlier_series_count_by_the_median_of_their_variances():
    calm, usual, wild = spread(0.01), spread(0.02), spread(0.3)
    unbiased = 0.02**2 * 4 / chi_square_quantile(0.5, 4)
    assert usual_run_variance([wild, calm, usual]) == pytest.approx((unbiased, 12))
    assert usual_run_variance([]) == (0, 0)


def test_a_history_makes_no_verdict_less_certain_unless_its_series_differ_by_more():
    calm = by(0.2)
    alone = decide([ALIKE], [calm], times=[10.0, 11.0])
    wild = SeriesGroup([spread(0.4), spread(0.4)], [0.0, 1.0])
    beside_wild = decide([ALIKE], [calm], times=[10.0, 11.0], history=[wild])
    assert alone.verdict is beside_wild.verdict is Verdict.FASTER
    assert alone.interval_percent == beside_wild.interval_percent
    unlike = SeriesGroup([ALIKE, by(0.3), by(-0.3)], [0.0, 1.0, 2.0])
    assert decide([ALIKE], [calm], times=[10.0, 11.0], history=[unlike]).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(("runs", "judged"), [(2, False), (3, True)])
def test_three_runs_a_side_are_the_fewest(runs: int, judged: bool):
    found = decide([ALIKE[:runs]], [by(1.0)[:runs]])
    assert (found.verdict is Verdict.FASTER) == judged
    assert (found.doubt is Doubt.FEW_RUNS) != judged
    assert (decide([ALIKE], [by(1.0)[:runs]]).verdict is Verdict.FASTER) == judged


def test_three_runs_in_as_many_series_say_nothing_of_how_far_runs_differ():
    found = decide([[100.0], [101.0], [99.0]], [[200.0], [201.0], [199.0]])
    assert found.doubt is Doubt.FEW_RUNS


def test_repeats_count_for_the_time_that_they_cover_and_less_when_they_are_old():
    group = SeriesGroup([ALIKE, ALIKE, ALIKE], [0.0, 50.0, 100.0])
    assert weight(group, 100.0, 100.0) == 1
    assert weight(group, 50.0, 100.0) == 1
    assert weight(group, 400.0, 500.0) == 0.25
    assert weight(group, 0.0, 100.0) == 1
    for days, counted in ((30, 1.0), (31, 0.5), (90, 0.5), (91, 0.0)):
        assert weight(group, 100.0, 100.0 + days * DAY_SECONDS) == counted
    assert weight(group, 100.0, 101.0 + 30 * DAY_SECONDS) == 0.5
    assert weight(group, 100.0, 101.0 + 90 * DAY_SECONDS) == 0


def test_repeats_update_the_prior_by_their_freedom():
    logs = (-0.01, 0.0, 0.01)
    base = SeriesGroup([by(log) for log in logs], [0.0, 1.0, 2.0])
    found = variation(base, SeriesGroup([ALIKE], [3.0]))
    assert found is not None
    assert found.freedom == 6
    assert found.variance == pytest.approx((4 * 0.025**2 + 2 * 0.01**2) / 6)
    later = variation(base, SeriesGroup([ALIKE], [11.0]))  # ten from the middle of the base, which covers two
    assert later is not None
    assert later.freedom == pytest.approx(4.4)
    assert later.variance == pytest.approx((4 * 0.025**2 + 0.2 * 2 * 0.01**2) / 4.4)


def test_groups_are_never_pooled_across():
    history = [SeriesGroup([ALIKE, ALIKE], [0.0, 9.0]), SeriesGroup([by(0.5), by(0.5)], [10.0, 19.0])]
    found = decide([ALIKE], [by(0.05)], times=[20.0, 21.0], history=history)
    assert found.variation is not None
    assert found.variation.freedom == 6
    assert found.variation.variance == pytest.approx(4 * 0.025**2 / 6)


@pytest.mark.parametrize(
    ("order", "alternating"),
    [("ABABAB", True), ("ABBAAB", True), ("BABABA", True), ("ABABABA", True), ("ABAB", False), ("ABABA", False),
     ("AAABBB", False), ("AABBAB", False), ("ABABABAA", False), ("AAAABABAB", False)],
)  # fmt: skip
def test_three_and_three_in_alternation_is_a_matter_of_the_order(order: str, alternating: bool):
    places = sorted(range(len(order)), key=order.__getitem__)
    assert alternates(places, order.count("A")) == alternating


def ordered(order: str, base: Sequence[float], other: Sequence[float]) -> ChangeDecision:
    """Series of equal runs with these logarithms, in this order."""
    times = [float(at) for side in "AB" for at, letter in enumerate(order) if letter == side]
    return decide([by(log) for log in base], [by(log) for log in other], times=times)


def test_alternating_series_are_judged_by_their_repeats_alone():
    base, other = (0.0, 0.002, -0.002), (0.015, 0.017, 0.013)
    alone = ordered("ABABAB", base, other)
    assert alone.verdict is Verdict.FASTER
    assert alone.variation is not None
    assert [alone.variation.freedom, alone.variation.deviation_percent] == pytest.approx([4, 0.2])
    assert ordered("AAABBB", base, other).verdict is Verdict.UNKNOWN


def test_the_base_that_comes_back_needs_no_factor_of_eleven():
    back = ordered("ABA", (0.0, 0.01), (0.12,))
    assert back.verdict is Verdict.FASTER
    assert back.variation is not None
    assert back.variation.freedom == 5
    assert ordered("ABA", (0.0, 0.15), (0.12,)).verdict is Verdict.UNKNOWN


def test_a_steady_trend_must_not_explain_the_change():
    climbing = [0.02 * place for place in range(6)]
    trend = ordered("AAABBB", climbing[:3], climbing[3:])
    assert (trend.verdict, trend.doubt) == (Verdict.UNKNOWN, Doubt.TREND)
    stepped = ordered("AAABBB", climbing[:3], [log + 0.3 for log in climbing[3:]])
    assert stepped.verdict is Verdict.FASTER
    aabb = ordered("AABB", (0.0, 0.05), (0.10, 0.15))
    assert (aabb.verdict, aabb.doubt) == (Verdict.UNKNOWN, Doubt.TREND)


def test_noise_and_margin_are_where_they_are_said_to_be():
    base = (0.0, 0.0001, -0.0001)
    flat = [by(log) for log in base]
    for change, verdict in ((math.log(1.0101), Verdict.FASTER), (math.log(1.0099), Verdict.SAME)):
        times = [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]
        assert decide(flat, [by(log + change) for log in base], times=times).verdict is verdict
    half = student_t(0.95, 4) * 0.0001 * math.sqrt(2 / 3)
    for edge, verdict in (
        (math.log(1.05) - half - 1e-7, Verdict.SAME),
        (math.log(1.05) - half + 1e-7, Verdict.UNKNOWN),
    ):
        found = decide(
            flat, [by(log + edge) for log in base], times=[0.0, 2.0, 4.0, 1.0, 3.0, 5.0], limits=Limits(noise_percent=6)
        )
        assert found.verdict is verdict


def test_a_pool_of_no_repeats_is_the_prior():
    found = variation(SeriesGroup([ALIKE], [0.0]), SeriesGroup([ALIKE], [1.0]))
    assert found is not None
    assert (found.freedom, found.repeats) == (4, 0)
    single = SeriesGroup([[100.0]], [0.0])
    assert variation(single, single) is None


def test_the_smallest_change_of_a_form_is_judged_by_the_variation_of_a_comparison():
    found = variation(SeriesGroup([spread(0.01)], [0.0]), SeriesGroup([spread(0.01)], [1.0]))
    decided = decide([spread(0.01)], [by(0.5, spread(0.01))])
    assert found is not None
    assert decided.interval_percent is not None
    half = math.log1p(decided.interval_percent[1] / 100) - 0.5
    assert found.least_shown(1, 1, 0.95) == pytest.approx(half)
    assert shown_by_series(found.runs) > percent_of(half)
