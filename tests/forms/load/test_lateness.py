"""What the delays of the machine that makes a load could change in its figures."""

import random

import pytest

from forms.load import lateness
from tests.loads import histogram, point


def test_a_late_timer_leaves_out_those_that_were_due_meanwhile():
    seconds, weights = lateness.lateness_at_any_moment(histogram(0.001, 0.05))
    assert sum(weights) == 4, "those of 30 and 10 ms were never set"
    assert [round(1000 * each) for each in seconds] == [1, 10, 30, 50]


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
def test_what_is_added_to_a_percentile_is_that_of_a_sum(share: float):
    """Against ten thousand sums of a random response and a random lateness."""
    chance = random.Random(7)
    responses = [chance.expovariate(1 / 0.01) for _ in range(10_000)]
    delays = [chance.uniform(0, 0.015) for _ in range(10_000)]
    loaded = point(response=histogram(*responses), generator_lateness=histogram(*delays))
    sums = sorted(response + delay for response, delay in zip(responses, delays, strict=True))
    rank = int(share * len(sums))
    expected = sums[rank] - sorted(responses)[rank]
    assert lateness.added_to_percentile(loaded, share) == pytest.approx(expected, rel=0.1)


def test_seldom_delays_leave_the_median_alone_and_a_standstill_does_not_leave_p95():
    response = histogram(*[0.004 + 0.00001 * number for number in range(500)])
    seldom = point(response=response, generator_lateness=histogram(*[0.0002] * 495, *[0.03] * 5))
    assert not lateness.changes_percentile(seldom, 0.95)
    stopped = point(response=response, generator_lateness=histogram(*[0.0002] * 450, 3.0))
    assert lateness.changes_percentile(stopped, 0.95), "a quarter of all moments were in it"


@pytest.mark.parametrize(
    ("p95", "added", "changes"),
    [(0.02, 0.0049, False), (0.02, 0.0052, True), (0.2, 0.0195, False), (0.2, 0.0205, True)],
)
def test_a_percentile_is_changed_by_5_ms_and_a_tenth_of_it(p95: float, added: float, changes: bool):
    loaded = point(response=histogram(*[p95] * 100), generator_lateness=histogram(*[added] * 100))
    assert lateness.changes_percentile(loaded, 0.95) is changes


@pytest.mark.parametrize(("longest", "standstill"), [(0.499, 0.0), (0.501, 0.501)])
def test_a_standstill_is_half_a_second(longest: float, standstill: float):
    assert lateness.standstill_seconds(point(generator_lateness=histogram(0.001, longest))) == standstill


def test_what_is_lost_is_counted_once():
    """10 users, 20 s: a standstill of 2 s that users who paused met as late requests too."""
    answered = histogram(*[0.004] * 1000)
    late = histogram(*[0.004] * 990, *[2.004] * 10)
    stopped = point(1, 10, 50.0, response=late, service=answered, generator_lateness=histogram(*[0.0005] * 900, 2.0))
    assert lateness.lost_share(stopped) == pytest.approx(0.1, abs=0.001)
    calm = point(1, 10, 50.0, response=answered, service=answered, generator_lateness=histogram(*[0.0005] * 900))
    assert lateness.lost_share(calm) == 0.0
    busy = point(1, 10, 50.0, response=answered, service=answered, generator_lateness=histogram(*[0.0025] * 900))
    assert lateness.lost_share(busy) == pytest.approx(0.002 * 1000 / 200, rel=0.02)
