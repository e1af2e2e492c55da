"""The order of interleaved runs: random, and with both orders."""

import random

import pytest

from forms.stats.decision import Limits, Verdict
from forms.stats.needed_runs import needed_runs, run_variation
from forms.stats.paired import drawn_order
from forms.stats.verdict_rule import decide_interleaved


def test_orders_differ_and_each_has_both():
    orders = {tuple(drawn_order(5, random.Random(seed))) for seed in range(300)}
    assert len(orders) == 30, "all of 32 but the two that never change"
    assert all(len(set(order)) == 2 for order in orders)
    assert len(drawn_order(1, random.Random(1))) == 1


def test_a_pair_that_disagrees_leaves_five_pairs_inconclusive():
    base = [100.0, 101.0, 99.0, 100.0, 101.0]
    agreeing = [base[0] * 1.05, base[1] * 1.06, base[2] * 1.05, base[3] * 1.04, base[4] * 1.02]
    assert decide_interleaved(base, agreeing).verdict is Verdict.FASTER
    other = [*agreeing[:4], base[4] * 0.999]
    told = decide_interleaved(base, other)
    assert told.verdict is Verdict.UNKNOWN
    assert told.interval_percent is not None
    assert told.interval_percent[0] <= 0


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_what_the_fast_side_varies_by_does_not_hide_that_the_other_is_slow(factor: float):
    base = [70e6, 110e6, 130e6]
    other = [factor * rate for rate in (101e6, 99e6, 100e6)]
    expected = Verdict.SLOWER if factor < 1 else Verdict.FASTER
    there = decide_interleaved(base, other)
    assert there.verdict is expected

    # Exchanged sides have the same interval, upside down.
    back = decide_interleaved(other, base)
    assert there.interval_percent is not None
    assert back.interval_percent is not None
    for percent, percent_back in zip(there.interval_percent, reversed(back.interval_percent), strict=True):
        assert (1 + percent / 100) * (1 + percent_back / 100) == pytest.approx(1)


def test_a_change_needs_as_many_runs_from_either_side():
    fast = [90e6, 110e6, 100e6, 105e6, 95e6]
    slow = [20e6, 30e6, 25e6, 24e6, 26e6]
    needed = []
    for base, other in ((fast, slow), (slow, fast)):
        variation = run_variation(base, other, paired=True)
        assert variation is not None
        change_percent = decide_interleaved(base, other).change_percent
        assert change_percent is not None
        needed.append(needed_runs(change_percent, variation, Limits()))
    assert needed[0] == needed[1]


def test_sides_far_apart_that_vary_too_much_stay_inconclusive():
    base = [10e6, 110e6, 300e6]
    assert decide_interleaved(base, [rate / 3 for rate in (300e6, 10e6, 110e6)]).verdict is Verdict.UNKNOWN


def test_the_speed_that_both_sides_lose_does_not_widen_the_interval():
    base = [100.0, 80.0, 60.0, 90.0, 70.0]
    other = [rate / 5 for rate in base]
    told = decide_interleaved(base, other)
    assert told.interval_percent == pytest.approx((-80, -80))
