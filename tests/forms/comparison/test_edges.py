"""Compare on whatever may come: any sizes, any scale, ties, wild runs; what must hold for all of them."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from forms.comparison.comparison import Comparison
from forms.comparison.document import comparison_document
from forms.comparison.judged_sides import Sides
from forms.comparison.verdict import compare, compare_sides
from forms.comparison.wording import comparison_sentences
from forms.stats.decision import Limits
from storage.records import RunStatus
from tests.builders import interleaved, repeats, series

OPPOSITE = {"faster": "slower", "slower": "faster", "same": "same", "unknown": "unknown"}


def pairs(count: int, seed: int) -> Iterator[tuple[list[float], list[float]]]:
    """Pairs of rates of every kind: few and many, steady and wild, equal, with ties, tiny and huge."""
    generator = random.Random(seed)
    for _ in range(count):
        middle = 10 ** generator.uniform(1, 11)
        scatter = generator.choice([0.0, 0.001, 0.01, 0.1, 0.5])
        shift = 1 + generator.choice([0.0, 0.0, 0.005, 0.02, -0.03, 0.2, -0.5])
        sides = []
        for factor in (1.0, shift):
            rates = [
                middle * factor * max(0.01, generator.gauss(1, scatter)) for _ in range(generator.randrange(1, 14))
            ]
            if generator.random() < 0.2:
                rates[-1] *= generator.choice([0.1, 3.0])
            if generator.random() < 0.3:
                rates = [float(f"{rate:.2g}") for rate in rates]
            sides.append(rates)
        yield sides[0], sides[1]


def compared(left: list[float], right: list[float]) -> Comparison:
    """Three bases that lie 0.2 % apart, one other."""
    return compare_sides(
        Sides(base=repeats(series(left, id="a" * 12), 1, 1.002, 0.998), other=(series(right),)), Limits()
    )


@pytest.mark.varied
@pytest.mark.parametrize("seed", range(4))
def test_whatever_comes_the_answer_is_whole(seed):
    for left, right in pairs(150, seed):
        result = compared(left, right)
        document = json.loads(json.dumps(comparison_document(result), allow_nan=False))
        assert document["verdict"] in OPPOSITE
        assert (result.p_value is None) == (result.interval_percent is None)
        assert result.p_value is None or 0 < result.p_value <= 1
        if result.interval_percent is not None:
            assert result.interval_percent[0] >= -100
        if result.verdict in {"faster", "slower"}:
            assert (result.change_percent or 0) * (1 if result.verdict == "faster" else -1) > 1
            assert result.p_value is not None
            assert result.p_value < 0.05
            assert result.interval_percent is not None
            assert result.interval_percent[0] > 0 or result.interval_percent[1] < 0
        if result.verdict == "same":
            assert result.interval_percent is not None
            assert max(map(abs, result.interval_percent)) <= 5
        assert (result.doubt is None) == result.known
        if result.needed_runs is not None:
            assert result.needed_runs >= 3
        assert comparison_sentences(result).endswith(".")


@pytest.mark.long
def test_order_scale_and_side_do_not_matter():
    generator = random.Random(5)
    for left, right in pairs(150, 99):
        result = compared(left, right)
        shuffled = compared(generator.sample(left, len(left)), generator.sample(right, len(right)))
        assert shuffled.verdict == result.verdict
        assert shuffled.p_value == pytest.approx(result.p_value, nan_ok=False) or result.p_value is None
        scaled = compared([8 * rate for rate in left], [8 * rate for rate in right])
        assert scaled.verdict == result.verdict
        assert scaled.change_percent == pytest.approx(result.change_percent)
        swapped = compared(right, left)
        assert swapped.verdict in {OPPOSITE[result.verdict], "same", "unknown"} or result.verdict in {"same", "unknown"}


def test_rejected_failed_and_warm_up_runs_do_not_count():
    base = series((100e6, 101e6, 99e6, 100e6, 500e6))
    wild = base.runs[-1]
    assert compare(base, series((100e6, 101e6, 99e6, 100e6))).base_bytes_per_second == pytest.approx(180e6)
    for status in (RunStatus.REJECTED, RunStatus.FAILED):
        runs = (*base.runs[:-1], replace(wild, status=status))
        clean = series(runs=runs)
        assert compare(clean, clean).base_bytes_per_second == pytest.approx(100e6)
        assert compare(*interleaved(clean, clean)).verdict == "same"


def test_a_pair_of_which_one_run_is_rejected_is_left_out():
    base, other = interleaved(series((100e6, 101e6, 99e6, 100e6, 500e6)), series((100e6, 101e6, 99e6, 100e6, 100e6)))
    clean = replace(base, runs=(*base.runs[:-1], replace(base.runs[-1], status=RunStatus.REJECTED)))
    assert compare(base, other).verdict == "unknown"
    assert compare(clean, other).interleaved
    assert compare(clean, other).verdict == "same"


def test_ten_thousand_runs_a_side_are_compared_at_once():
    generator = random.Random(2)
    left = series([generator.gauss(100e6, 1e6) for _ in range(10_000)])
    right = series([generator.gauss(102e6, 1e6) for _ in range(10_000)])
    assert compare(*interleaved(left, right)).verdict == "faster"
