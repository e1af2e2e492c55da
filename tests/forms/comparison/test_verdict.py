"""Compare: the contract's rules, worked examples, and what it calls over many simulated pairs."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from forms.comparison.verdict import Comparison, compare
from forms.stats.sample_size import needed_runs, smallest_change_percent, spread_percent, welch_interval
from storage.records import Change, Command, Evidence
from tests.builders import series

TEN = (100e6, 101e6, 99e6, 100.5e6, 99.5e6, 100.2e6, 99.8e6, 100.7e6, 99.3e6, 100e6)


def scaled(rates: Sequence[float], factor: float) -> list[float]:
    return [rate * factor for rate in rates]


def against(left: Sequence[float], right: Sequence[float], **options: Any) -> Comparison:
    return compare(series(left, id="base"), series(right, id="other"), **options)


def test_faster_slower_and_the_same():
    faster = against(TEN, scaled(TEN, 1.1))
    assert (faster.verdict, faster.sign, faster.needed_runs) == ("faster", "+", None)
    assert faster.change_percent == pytest.approx(10)
    assert faster.sentence.startswith("Faster: +10.0 % (95 % interval +9")
    slower = against(TEN, scaled(TEN, 0.9))
    assert (slower.verdict, slower.sign) == ("slower", "-")
    same = against(TEN, scaled(TEN, 1.001))
    assert (same.verdict, same.sign) == ("same", "=")
    assert same.sentence.endswith("inside ±5 %.")


def test_the_interval_is_welchs():
    generator = np.random.default_rng(4)
    left, right = generator.normal(100, 1, 7).tolist(), generator.normal(104, 5, 12).tolist()
    interval = welch_interval(left, right)
    assert interval is not None
    expected = stats.ttest_ind(right, left, equal_var=False).confidence_interval(0.95)
    assert interval == pytest.approx(tuple(100 * edge / np.mean(left) for edge in (expected.low, expected.high)))


def test_noise_wins_over_margin():
    assert against(TEN, scaled(TEN, 1.02)).verdict == "faster"
    assert against(TEN, scaled(TEN, 1.02), noise_percent=3).verdict == "same"


def test_too_few_runs_are_never_a_verdict():
    for base, other in (((100e6,) * 3, (200e6,) * 3), (TEN[:3], scaled(TEN[:3], 1.5)), ((5.0,), (6.0,))):
        result = against(base, other)
        assert result.verdict == "unknown"
        assert result.needed_runs == 4
        assert "about 4 runs a side would tell" in result.sentence
    assert against((100e6,) * 3, (100e6,) * 3).verdict == "unknown"
    assert against((100e6,) * 4, (100e6,) * 4).verdict == "same"
    assert against((100e6,) * 4, (102e6,) * 4).verdict == "faster"


def test_no_valid_run_on_a_side():
    result = against((), TEN)
    assert (result.verdict, result.change_percent, result.interval_percent, result.p_value) == (
        "unknown",
        None,
        None,
        None,
    )
    assert "no valid run" in result.sentence
    one = against((100e6,), TEN)
    assert one.interval_percent is None
    assert one.verdict == "unknown"


def test_unequal_sizes_and_one_wild_value():
    result = against(TEN[:5], scaled(TEN, 1.1))
    assert result.verdict == "faster"
    wild = against(TEN, [*scaled(TEN, 1.05)[:9], 10e6])
    assert wild.verdict == "unknown"
    assert wild.needed_runs is not None
    assert wild.needed_runs > 10
    assert "most runs went the other way" in wild.sentence


def test_needed_runs_are_more_than_there_are_and_do_tell():
    generator = random.Random(11)
    found = 0
    for _ in range(200):
        left = [generator.gauss(100, 2) for _ in range(400)]
        right = [generator.gauss(102, 2) for _ in range(400)]
        few = needed_runs(left, right, 1.0, 5.0, 0.05)
        assert few is not None
        found += against(left[:few], right[:few]).known
    assert found >= 170


def test_no_number_of_runs_tells_where_noise_is_as_wide_as_the_margin():
    result = against(TEN, scaled(TEN, 1.02), noise_percent=3, margin_percent=1)
    assert (result.verdict, result.needed_runs) == ("unknown", None)
    assert "--noise" in result.sentence


def test_the_claimed_change_and_the_differences_come_along():
    change = Change(name="log level", value="0", previous="3", evidence=Evidence.CONTRADICTED, remark="it is still 3")
    result = compare(series(TEN, id="a"), series(TEN, id="b", command=Command.PUT, change=change))
    assert result.change == change
    assert ("command", "get", "put") in [(d.name, d.base, d.other) for d in result.differences]


PAIRS = 300


def normal(generator: np.random.Generator, n: int) -> np.ndarray:
    return generator.normal(100, 3, n)


def skewed(generator: np.random.Generator, n: int) -> np.ndarray:
    return 100 - generator.exponential(4, n)


def with_outliers(generator: np.random.Generator, n: int) -> np.ndarray:
    return generator.normal(100, 1, n) * np.where(generator.random(n) < 0.1, 0.6, 1)


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize("draw", [normal, skewed, with_outliers])
def test_null_pairs_are_seldom_called_different(draw: Callable[[np.random.Generator, int], np.ndarray], n: int):
    generator = np.random.default_rng(2026)
    verdicts = Counter(against(draw(generator, n).tolist(), draw(generator, n).tolist()).verdict for _ in range(PAIRS))
    assert verdicts["faster"] + verdicts["slower"] <= 0.06 * PAIRS


def test_drift_hits_interleaved_series_alike():
    generator = np.random.default_rng(7)
    called = 0
    for _ in range(PAIRS):
        together = generator.normal(100, 1, 20) * np.linspace(1, 0.9, 20)
        turns = np.array([False, True, True, False] * 5)
        called += against(together[turns].tolist(), together[~turns].tolist()).verdict in {"faster", "slower"}
    assert called <= 0.06 * PAIRS


def test_a_true_change_of_two_and_a_half_percent_is_found():
    generator = np.random.default_rng(99)
    found = sum(
        against(generator.normal(100, 1, 10).tolist(), generator.normal(102.5, 1.025, 10).tolist()).verdict == "faster"
        for _ in range(PAIRS)
    )
    assert found >= 0.95 * PAIRS


def test_the_same_never_reaches_beyond_the_margin():
    generator = np.random.default_rng(3)
    seen = 0
    for _ in range(1000):
        n = int(generator.integers(2, 12))
        scatter, shift = generator.uniform(0.2, 6), generator.uniform(-6, 6)
        result = against(generator.normal(100, scatter, n).tolist(), generator.normal(100 + shift, scatter, n).tolist())
        if result.verdict == "same":
            seen += 1
            assert result.interval_percent is not None
            assert result.interval_percent[0] >= -5
            assert result.interval_percent[1] <= 5
    assert seen > 50


def test_the_smallest_change_is_found_nine_times_in_ten():
    generator = np.random.default_rng(12)
    spread = spread_percent(*generator.normal(100, 2, (2, 100_000)).tolist())
    assert spread is not None
    assert spread == pytest.approx(2 * 2**0.5, rel=0.02)
    step = smallest_change_percent(spread, 10, 0.05)
    found = sum(
        against(generator.normal(100, 2, 10).tolist(), generator.normal(100 + step, 2, 10).tolist()).verdict == "faster"
        for _ in range(PAIRS)
    )
    assert 0.84 * PAIRS <= found <= 0.96 * PAIRS
