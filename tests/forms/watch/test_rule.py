"""When a watch measures again, and which state follows from what it found."""

from statistics import NormalDist

import pytest

from forms.comparison.judged_sides import Sides
from forms.comparison.verdict import compare_sides
from forms.stats.decision import Limits, Verdict
from forms.watch.rule import (
    EXIT_CODES,
    FOUND_IN_ONE,
    Confirm,
    Outcome,
    count_nights,
    joint_outcome,
    outcome_of,
    smallest_slowdown_percent,
    standing_after,
)
from storage.watch.records import WatchState
from tests.builders import one

S, N, U, P = Outcome.SLOWER, Outcome.NOT_SLOWER, Outcome.UNDECIDED, Outcome.POSTPONED
X = Outcome.UNMEASURABLE
TWO_OF_THREE = Confirm(needed=2, most=3)


@pytest.mark.parametrize(
    ("outcomes", "confirm", "slowed", "expected"),
    [
        ([N], Confirm(), False, N),
        ([U], Confirm(), False, U),
        ([S], Confirm(), False, None),
        ([S, S], Confirm(), False, S),
        ([S, N], Confirm(), False, N),
        ([S, U], Confirm(), False, U),
        ([S, P], Confirm(), False, P),
        ([S], Confirm(needed=1, most=1), False, S),
        ([S, N], TWO_OF_THREE, False, None),
        ([S, N, S], TWO_OF_THREE, False, S),
        ([S, N, U], TWO_OF_THREE, False, U),
        ([S], Confirm(), True, S),
        ([U], Confirm(), True, U),
        ([N], Confirm(), True, None),
        ([N, N], Confirm(), True, N),
        ([N, S], Confirm(), True, S),
        ([X], Confirm(), False, None),
        ([X, X], Confirm(), False, X),
        ([X, N], Confirm(), False, N),
        ([X, S], Confirm(), False, None),
        ([X, S, S], Confirm(), False, S),
        ([S, X], Confirm(), False, None),
        ([S, X, N], Confirm(), False, N),
        ([X, S, X], Confirm(), False, X),
        ([X, P], Confirm(), False, P),
    ],
)
def test_what_would_change_the_state_is_measured_again(outcomes, confirm, slowed, expected):
    assert joint_outcome(outcomes, confirm, slowed=slowed) is expected


def test_a_failure_that_is_not_tried_again():
    assert joint_outcome([X], Confirm(), slowed=False, retries=False) is X


@pytest.mark.parametrize(
    ("verdict", "against_slow", "expected"),
    [
        (Verdict.SLOWER, Verdict.FASTER, S),
        (Verdict.SAME, None, N),
        (Verdict.FASTER, None, N),
        (Verdict.UNKNOWN, None, U),
        (Verdict.UNKNOWN, Verdict.SAME, U),
        (Verdict.UNKNOWN, Verdict.FASTER, N),
    ],
)
def test_recovered_is_also_what_is_faster_than_the_slowdown(verdict, against_slow, expected):
    assert outcome_of(verdict, against_slow) is expected


@pytest.mark.parametrize(
    ("state", "outcome", "slowed", "expected"),
    [
        (WatchState.STEADY, S, False, WatchState.SLOWER),
        (WatchState.STEADY, U, False, WatchState.STEADY),
        (WatchState.SLOWER, U, True, WatchState.SLOWER),
        (WatchState.UNMEASURABLE, U, True, WatchState.SLOWER),
        (WatchState.UNMEASURABLE, U, False, WatchState.STEADY),
        (WatchState.SLOWER, N, True, WatchState.STEADY),
        (WatchState.SLOWER, P, True, WatchState.SLOWER),
        (WatchState.UNMEASURABLE, P, False, WatchState.UNMEASURABLE),
        (WatchState.SLOWER, Outcome.UNMEASURABLE, True, WatchState.UNMEASURABLE),
        (WatchState.UNMEASURABLE, Outcome.COLLECTED, False, WatchState.STEADY),
    ],
)
def test_states(state, outcome, slowed, expected):
    assert standing_after(state, outcome, slowed=slowed) is expected


def test_nights_are_twelve_hours_apart():
    times = ("2026-01-01T23:50:00.000Z", "2026-01-02T00:10:00.000Z", "2026-01-02T11:49:59.000Z")
    found = [one(n, created_at=at) for n, at in enumerate(times, 1)]
    assert count_nights(found) == 1
    assert count_nights([*found, one(9, created_at="2026-01-02T11:50:00.000Z")]) == 2
    assert count_nights([]) == 0


def test_the_smallest_slowdown_is_beyond_the_interval_and_the_noise():
    base = tuple(one(n) for n in (1, 2, 3))
    found = compare_sides(Sides(base=base, other=(one(4),)), Limits())
    assert found.interval_percent
    smallest = smallest_slowdown_percent(found, Limits())
    assert smallest
    assert -found.interval_percent[0] < smallest < -1.3 * found.interval_percent[0]
    wide = smallest_slowdown_percent(found, Limits(noise_percent=20))
    assert wide
    assert 20 < wide < 22


def test_one_of_two_nights_reports_the_smallest_slowdown_nine_times_in_ten():
    in_one = 1 - 0.1**0.5
    assert pytest.approx(NormalDist().inv_cdf(in_one), abs=0.001) == FOUND_IN_ONE


def test_a_check_ends_with_the_exit_code_of_its_outcome():
    assert {outcome.value: code for outcome, code in EXIT_CODES.items()} == {
        "slower": 1, "not slower": 0, "undecided": 3, "postponed": 3, "collected": 3, "unmeasurable": 4,
    }  # fmt: skip
