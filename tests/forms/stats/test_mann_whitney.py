"""The exact rank test against scipy and against all permutations."""

import random
from itertools import combinations

import pytest
from scipy import stats

from forms.stats.mann_whitney import mann_whitney_p, rank_shift


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
