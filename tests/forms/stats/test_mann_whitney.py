"""The exact rank test against scipy and against all permutations."""

import random
from itertools import combinations

import pytest
from scipy import stats

from forms.stats.mann_whitney import critical_count, friedman_p, mann_whitney_p, rank_shift


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (3, 3), (4, 4), (5, 5), (10, 10), (5, 9), (30, 12)])
def test_without_ties_it_is_scipys_exact_test(first, second):
    generator = random.Random(first * 100 + second)
    for shift in (0.0, 0.5, 2.0):
        left = [generator.gauss(100, 1) for _ in range(first)]
        right = [generator.gauss(100 + shift, 1) for _ in range(second)]
        expected = stats.mannwhitneyu(left, right, method="exact").pvalue
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
    ranks = stats.rankdata(pooled)
    dealt = ranks[: len(left)].sum()
    sums = [sum(chosen) for chosen in combinations(ranks, len(left))]
    low = sum(s <= dealt for s in sums) / len(sums)
    high = sum(s >= dealt for s in sums) / len(sums)
    assert mann_whitney_p(left, right) == pytest.approx(min(1.0, 2 * min(low, high)))


def test_many_runs_by_the_normal_approximation():
    generator = random.Random(1)
    left = [round(generator.gauss(100, 1), 1) for _ in range(150)]
    right = [round(generator.gauss(100.2, 1), 1) for _ in range(150)]
    expected = stats.mannwhitneyu(left, right, method="asymptotic").pvalue
    assert mann_whitney_p(left, right) == pytest.approx(expected)
    assert mann_whitney_p([5.0] * 150, [5.0] * 150) == 1.0


def test_an_empty_side_tells_nothing():
    assert mann_whitney_p([], [1.0]) == 1.0


def test_the_smallest_reachable_p_is_that_of_the_table():
    found = [round(mann_whitney_p(range(n), range(n, 2 * n)), 3) for n in (3, 4, 5, 6)]
    assert found == [0.1, 0.029, 0.008, 0.002]


def test_the_side_that_ranks_higher():
    generator = random.Random(8)
    for _ in range(200):
        left = [generator.randrange(6) for _ in range(generator.randrange(1, 9))]
        right = [generator.randrange(6) for _ in range(generator.randrange(1, 9))]
        pairs = sum((b > a) - (b < a) for a in left for b in right)
        assert rank_shift(left, right) == (pairs > 0) - (pairs < 0)


def test_friedmans_test_of_several_values():
    generator = random.Random(3)
    for columns in (3, 4, 7):
        for digits in (6, 1, 0):
            for blocks in (2, 3, 8, 40):
                table = [[round(generator.gauss(10 + c / 3, 1), digits) for c in range(columns)] for _ in range(blocks)]
                expected = stats.friedmanchisquare(*zip(*table, strict=True)).pvalue
                assert friedman_p(table) == pytest.approx(expected, rel=1e-9), (columns, digits, blocks)
    assert friedman_p([[1.0, 1.0, 1.0]] * 5) == 1


def test_the_critical_count_is_the_last_that_is_within_alpha():
    for first, second in ((3, 3), (4, 4), (4, 5), (8, 8), (10, 20), (30, 30)):
        for alpha in (0.05, 0.02, 0.001):
            allowed = critical_count(first, second, alpha)
            p = [
                2
                * stats.mannwhitneyu(range(first), [first - 0.5 - u] + [1e3] * (second - 1), method="exact").pvalue
                / 2
                for u in range(min(first, 12))
            ]
            within = [u for u, chance in enumerate(p) if chance <= alpha]
            if allowed is None:
                assert not within, (first, second, alpha)
            elif allowed < len(p) - 1:
                assert within == list(range(allowed + 1)), (first, second, alpha)
