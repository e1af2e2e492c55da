"""The self-test on series whose scatter is known."""

import json

import numpy as np
import pytest

from forms.comparison.verdict import compare
from forms.experiments.repeats import selftest
from forms.experiments.repeats_report import selftest_document, selftest_report, selftest_sentences
from forms.exporters.text import report_text
from tests.builders import interleaved, series


def drawn(seed: int, runs: int, percent: float = 1.0, middle: float = 100e6):
    rates = np.random.default_rng(seed).normal(middle, middle * percent / 100, runs)
    return series(rates.tolist(), id=f"{seed:012x}")


def self_tested(first, second):
    return selftest(*interleaved(first, second))


def test_more_runs_show_less_and_its_own_number_is_among_them():
    test = self_tested(drawn(1, 7), drawn(2, 7))
    assert [count for count, _ in test.by_runs] == [5, 7, 10, 20, 30, 50]
    changes = [change for _, change in test.by_runs]
    assert changes == sorted(changes, reverse=True)
    assert test.smallest_percent == dict(test.by_runs)[7]
    assert changes[-1] >= 1.0


@pytest.mark.long
def test_the_change_it_states_is_found_nine_times_in_ten():
    """Simulated by itself: each self-test's own promise, held against a new pair of series."""
    for percent, runs in ((0.2, 5), (1.0, 5), (2.0, 10)):
        found = 0
        generator = np.random.default_rng(5)
        for seed in range(200):
            stated = self_tested(drawn(seed, runs, percent), drawn(1000 + seed, runs, percent)).smallest_percent
            base, other = generator.normal(100, percent, (2, runs)).tolist()
            pair = interleaved(series(base), series([rate + stated for rate in other]))
            found += compare(*pair).verdict == "faster"
        assert 0.84 * 200 <= found <= 0.96 * 200


def test_too_few_runs_can_show_nothing():
    test = self_tested(drawn(1, 2), drawn(2, 2))
    assert test.smallest_percent is None
    assert "2 runs a side can show no change at all" in selftest_sentences(test)[0]
    assert "better ten" in " ".join(report_text(selftest_report(test)).split())
    one = self_tested(drawn(1, 1), drawn(2, 1))
    assert one.by_runs == ()
    assert "1 run a side" in selftest_sentences(one)[0]
    assert self_tested(series(), series()).runs == 0


def test_the_same_thing_that_comes_out_different_is_no_praise():
    test = self_tested(drawn(1, 10), drawn(2, 10, middle=110e6))
    assert test.differs
    assert selftest_sentences(test)[0].startswith(
        "Trust no comparison yet: the same thing, measured twice, came out faster"
    )
    assert report_text(selftest_report(test)).splitlines()[1].startswith("Answer:   Trust no comparison yet")
    fine = self_tested(drawn(1, 10), drawn(2, 10))
    assert "no different" in selftest_sentences(fine)[-1]


def test_a_coarse_set_up_is_told_what_helps():
    assert any(
        "larger file" in said for said in selftest_sentences(self_tested(drawn(1, 10, 20.0), drawn(2, 10, 20.0)))
    )
    assert not any("larger file" in said for said in selftest_sentences(self_tested(drawn(1, 10), drawn(2, 10))))


def test_equal_runs_are_limited_by_the_noise_threshold():
    assert self_tested(series([1e8] * 5), series([1e8] * 5)).smallest_percent == pytest.approx(1.0)


def test_text_and_document():
    test = self_tested(drawn(1, 10), drawn(2, 10))
    text = report_text(selftest_report(test))
    assert max(map(len, text.splitlines())) <= 80
    assert next(x for x in text.splitlines() if x.endswith("this test")).split()[0] == "10"
    document = json.loads(json.dumps(selftest_document(test)))
    assert document["schema"] == "sharebench/selftest/1"
    assert document["comparison"]["schema"] == "sharebench/comparison/1"
    assert document["smallest_change_percent"] == test.smallest_percent
