"""Paired comparison by ranks: against scipy, and against what the looks promise."""

import math
import random
from collections import Counter
from itertools import combinations

import pytest
import scipy

from forms.stats.paired import (
    ALPHA,
    LEVELS,
    LOOKS,
    base_comes_first,
    interleaved_effect,
    paired_effect,
    slot_effect_percent,
)
from forms.stats.ranks import critical_count, friedman_p, mann_whitney_p, signed_rank_p


@pytest.mark.parametrize("pairs", [2, 6, 8, 14, 20])
def test_p_is_that_of_the_exact_wilcoxon_test(pairs: int):
    chance = random.Random(pairs)
    for _ in range(20):
        found = [chance.gauss(0.4, 1) for _ in range(pairs)]
        assert signed_rank_p(found) == pytest.approx(scipy.stats.wilcoxon(found, method="exact").pvalue)


def test_zeros_count_for_nothing_and_ties_have_the_mean_of_their_ranks():
    assert signed_rank_p([0.0, 0.0]) == 1.0
    assert signed_rank_p([0.0, 1.0, 1.0]) == signed_rank_p([1.0, 1.0]) == 0.5
    # ranks 1.5 1.5 3: sums of the negative ones 0, 1.5, 1.5, 3, 3, 4.5, 4.5, 6
    assert signed_rank_p([-1.0, 1.0, 2.0]) == pytest.approx(2 * 3 / 8)


def test_eight_pairs_can_prove_a_change_at_the_first_look():
    assert LOOKS == tuple(LEVELS) == (8, 14, 20)
    parted = interleaved_effect([1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08], [True, False] * 4)
    assert parted.p_value == pytest.approx(LEVELS[8])
    assert signed_rank_p([1.0, 2, 3, 4, 5, 6, 7, 8]) == 2 / 256
    assert signed_rank_p([-1.0, 2, 3, 4, 5, 6, 7, 8]) <= ALPHA
    assert signed_rank_p([1.0, 2, -3, 4, 5, 6, 7, 8]) > ALPHA


def test_the_interval_holds_zero_just_when_the_test_does_not_refuse_it():
    chance = random.Random(5)
    for pairs in (8, 14, 20):
        for _ in range(60):
            ratios = [math.exp(chance.gauss(0.008, 0.02)) for _ in range(pairs)]
            found = paired_effect(ratios)
            assert found.interval_percent is not None
            low, high = found.interval_percent
            assert (low > 0 or high < 0) == (found.p_value <= ALPHA)
            assert low < found.change_percent < high


def test_too_few_pairs_have_no_interval():
    assert paired_effect([1.1] * 4).interval_percent is None
    assert paired_effect([1.1]).deviation_percent is None


def test_what_the_second_of_a_pair_is_off_is_told_from_the_change():
    ratios = [1.05 * 1.02, 1.05 / 1.02] * 4
    assert slot_effect_percent([True, False] * 4, ratios) == pytest.approx(2.0)
    assert paired_effect(ratios).change_percent == pytest.approx(5.0)
    assert slot_effect_percent([True] * 4, ratios[:4]) is None


def test_being_the_second_of_a_pair_changes_nothing_at_all():
    chance = random.Random(6)
    orders = [pair % 2 == 0 for pair in range(20)]
    plain = [math.exp(chance.gauss(0.01, 0.02)) for _ in orders]
    slower_second = [
        ratio * (0.97 if base_first else 1 / 0.97) for ratio, base_first in zip(plain, orders, strict=True)
    ]
    for pairs in LOOKS:
        one = interleaved_effect(plain[:pairs], orders[:pairs], LEVELS[pairs])
        other = interleaved_effect(slower_second[:pairs], orders[:pairs], LEVELS[pairs])
        assert (other.pairs, other.p_value) == (pairs, one.p_value)
        assert other.change_percent == pytest.approx(one.change_percent)
        assert other.interval_percent == pytest.approx(one.interval_percent)
        assert other.deviation_percent == pytest.approx(one.deviation_percent)
    assert paired_effect(slower_second).p_value != paired_effect(plain).p_value


@pytest.mark.parametrize("pairs", LOOKS)
def test_in_turns_the_p_is_that_of_the_exact_rank_sum_test_and_fits_the_interval(pairs: int):
    chance = random.Random(pairs)
    orders = [pair % 2 == 0 for pair in range(pairs)]
    for _ in range(40):
        logs = [chance.gauss(0.015, 0.02) for _ in orders]
        found = interleaved_effect([math.exp(one) for one in logs], orders, LEVELS[pairs])
        first, second = (
            [one if first else -one for one, first in zip(logs, orders, strict=True) if first is side]
            for side in (True, False)
        )
        assert found.p_value == pytest.approx(scipy.stats.mannwhitneyu(first, second, method="exact").pvalue)
        assert found.interval_percent is not None
        low, high = found.interval_percent
        assert (low > 0 or high < 0) == (found.p_value <= LEVELS[pairs] * (1 + 1e-12))
        assert low < found.change_percent < high


def test_one_order_alone_is_judged_pair_by_pair():
    assert interleaved_effect([1.1, 1.2], [True, True]) == paired_effect([1.1, 1.2])
    assert interleaved_effect([1.1, 1.2], [True, False]).deviation_percent is None


def test_many_pairs_are_judged_by_the_normal_curve():
    chance = random.Random(9)
    found = [chance.gauss(0.1, 1) for _ in range(400)]
    assert signed_rank_p(found) == pytest.approx(scipy.stats.wilcoxon(found, method="approx").pvalue, rel=1e-6)
    effect = paired_effect([math.exp(one) for one in found], 0.05)
    assert effect.interval_percent is not None
    assert (effect.interval_percent[0] > 0) == (effect.p_value <= 0.05)
    # of 101 ranks the normal curve gives 1996.9 for 2.5 %: 101 * 102 / 4 - 1.96 sqrt(101 * 102 * 203 / 24)
    logs = found[:101]
    means = sorted((one + other) / 2 for place, one in enumerate(logs) for other in logs[place:])
    interval = paired_effect([math.exp(one) for one in logs], 0.05).interval_percent
    assert interval == pytest.approx((100 * math.expm1(means[1996]), 100 * math.expm1(means[-1997])))


def orders_of(pairs: int, seed: int) -> list[bool]:
    """Of the first pairs of a trial: whether the base comes first."""
    found: list[bool] = []
    for pair in range(1, pairs + 1):
        found.append(base_comes_first(found, LOOKS, pair, seed))
    return found


def test_every_row_of_orders_that_the_base_begins_is_as_likely_at_the_first_look():
    rows = Counter(tuple(orders_of(8, seed)) for seed in range(3500))
    assert len(rows) == math.comb(8, 4) // 2
    assert all(row[0] for row in rows)
    assert sum((count - 100) ** 2 / 100 for count in rows.values()) < 65, "chi-square of 34: one in a thousand"


def test_both_orders_are_as_frequent_at_each_look_also_where_a_pair_was_left_out():
    for seed in range(20):
        orders = orders_of(20, seed)
        assert [sum(orders[:look]) for look in LOOKS] == [4, 7, 10]
        assert not base_comes_first([True] * 4 + [False] * 3, LOOKS, 9, seed)
        assert base_comes_first([True] * 3 + [False] * 4, LOOKS, 9, seed)


def test_after_a_look_the_next_one_is_what_the_orders_are_balanced_for():
    balanced = [True, False] * 4
    assert len(balanced) == LOOKS[0]
    assert {base_comes_first(balanced, LOOKS, 9, seed) for seed in range(40)} == {True, False}


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (3, 3), (4, 4), (5, 5), (10, 10), (5, 9), (30, 12)])
def test_without_ties_it_is_scipys_exact_test(first, second):
    generator = random.Random(first * 100 + second)
    for shift in (0.0, 0.5, 2.0):
        left = [generator.gauss(100, 1) for _ in range(first)]
        right = [generator.gauss(100 + shift, 1) for _ in range(second)]
        expected = scipy.stats.mannwhitneyu(left, right, method="exact").pvalue
        assert mann_whitney_p(left, right) == pytest.approx(expected)
        assert mann_whitney_p(right, left) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([1, 2, 2, 3], [2, 3, 3, 4]),
        ([1, 1, 1, 1], [1, 1, 1, 2]),
        ([5, 5, 5], [5, 5, 5, 5]),
        ([1, 2, 3, 4, 4], [4, 4, 5, 6]),
        ([1, 1, 9], [1, 2, 2, 2, 3]),
    ],
)
def test_with_ties_it_counts_all_deals(left, right):
    pooled = [*left, *right]
    ranks = scipy.stats.rankdata(pooled)
    dealt = ranks[: len(left)].sum()
    sums = [sum(chosen) for chosen in combinations(ranks, len(left))]
    low = sum(s <= dealt for s in sums) / len(sums)
    high = sum(s >= dealt for s in sums) / len(sums)
    assert mann_whitney_p(left, right) == pytest.approx(min(1.0, 2 * min(low, high)))


def test_many_runs_by_the_normal_approximation():
    generator = random.Random(1)
    left = [round(generator.gauss(100, 1), 1) for _ in range(150)]
    right = [round(generator.gauss(100.2, 1), 1) for _ in range(150)]
    expected = scipy.stats.mannwhitneyu(left, right, method="asymptotic").pvalue
    assert mann_whitney_p(left, right) == pytest.approx(expected)
    assert mann_whitney_p([5.0] * 150, [5.0] * 150) == 1.0


def test_an_empty_side_tells_nothing():
    assert mann_whitney_p([], [1.0]) == 1.0


def test_the_smallest_reachable_p_is_that_of_the_table():
    found = [round(mann_whitney_p(range(n), range(n, 2 * n)), 3) for n in (3, 4, 5, 6)]
    assert found == [0.1, 0.029, 0.008, 0.002]


def test_friedmans_test_of_several_values():
    generator = random.Random(3)
    for columns in (3, 4, 7):
        for digits in (6, 1, 0):
            for blocks in (2, 3, 8, 40):
                table = [[round(generator.gauss(10 + c / 3, 1), digits) for c in range(columns)] for _ in range(blocks)]
                expected = scipy.stats.friedmanchisquare(*zip(*table, strict=True)).pvalue
                assert friedman_p(table) == pytest.approx(expected, rel=1e-9), (columns, digits, blocks)
    assert friedman_p([[1.0, 1.0, 1.0]] * 5) == 1


def test_the_critical_count_is_the_last_that_is_within_alpha():
    for first, second in ((3, 3), (4, 4), (4, 5), (8, 8), (10, 20), (30, 30)):
        for alpha in (0.05, 0.02, 0.001):
            allowed = critical_count(first, second, alpha)
            p = [
                2
                * scipy.stats.mannwhitneyu(
                    range(first), [first - 0.5 - u] + [1e3] * (second - 1), method="exact"
                ).pvalue
                / 2
                for u in range(min(first, 12))
            ]
            within = [u for u, chance in enumerate(p) if chance <= alpha]
            if allowed is None:
                assert not within, (first, second, alpha)
            elif allowed < len(p) - 1:
                assert within == list(range(allowed + 1)), (first, second, alpha)
