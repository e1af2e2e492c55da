"""The order of interleaved runs: random, and with both orders."""

import random

from forms.stats.decision import Verdict
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
