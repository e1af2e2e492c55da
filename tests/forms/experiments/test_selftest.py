"""The self-test on series whose scatter is known."""

import json

import numpy as np
import pytest

from forms.comparison.verdict import compare
from forms.experiments.document import selftest_document
from forms.experiments.report import selftest_report
from forms.experiments.selftest import selftest, sentences
from forms.exporters.text import report_text
from tests.builders import series


def drawn(seed: int, runs: int, percent: float = 1.0, middle: float = 100e6):
    rates = np.random.default_rng(seed).normal(middle, middle * percent / 100, runs)
    return series(rates.tolist(), id=f"{seed:012x}")


def test_more_runs_show_less_and_its_own_number_is_among_them():
    test = selftest(drawn(1, 7), drawn(2, 7))
    assert [count for count, _ in test.by_runs] == [5, 7, 10, 20, 30, 50]
    changes = [change for _, change in test.by_runs]
    assert changes == sorted(changes, reverse=True)
    assert test.smallest_percent == dict(test.by_runs)[7]
    assert changes[-1] >= 1.0


def test_the_change_it_states_is_found():
    generator = np.random.default_rng(5)
    stated = [selftest(drawn(seed, 10, 2.0), drawn(1000 + seed, 10, 2.0)).smallest_percent for seed in range(60)]
    step = float(np.mean([percent for percent in stated if percent is not None]))
    found = 0
    for _ in range(200):
        base = generator.normal(100, 2, 10).tolist()
        other = generator.normal(100 + step, 2, 10).tolist()
        found += compare(series(base), series(other)).verdict == "faster"
    assert found >= 0.84 * 200


def test_too_few_runs_can_show_nothing():
    test = selftest(drawn(1, 3), drawn(2, 3))
    assert test.smallest_percent is None
    assert "3 runs a side can show no change at all" in sentences(test)[0]
    assert "--runs 10" in report_text(selftest_report(test))
    one = selftest(drawn(1, 1), drawn(2, 1))
    assert one.by_runs == ()
    assert "1 run a side" in sentences(one)[0]
    assert selftest(series(), series()).runs == 0


def test_the_same_thing_that_comes_out_different_is_no_praise():
    test = selftest(drawn(1, 10), drawn(2, 10, middle=110e6))
    assert test.differs
    assert "came out faster" in sentences(test)[-1]
    assert "quiet time" in sentences(test)[-1]
    fine = selftest(drawn(1, 10), drawn(2, 10))
    assert "no different" in sentences(fine)[-1]


def test_a_coarse_set_up_is_told_what_helps():
    assert any("--size" in said for said in sentences(selftest(drawn(1, 10, 20.0), drawn(2, 10, 20.0))))
    assert not any("--size" in said for said in sentences(selftest(drawn(1, 10), drawn(2, 10))))


def test_equal_runs_are_limited_by_the_noise_threshold():
    assert selftest(series([1e8] * 5), series([1e8] * 5)).smallest_percent == pytest.approx(1.0)


def test_text_and_document():
    test = selftest(drawn(1, 10), drawn(2, 10))
    text = report_text(selftest_report(test))
    assert max(map(len, text.splitlines())) <= 80
    assert next(x for x in text.splitlines() if x.endswith("this test")).split()[0] == "10"
    document = json.loads(json.dumps(selftest_document(test)))
    assert document["schema"] == "sharebench/selftest/1"
    assert document["comparison"]["schema"] == "sharebench/comparison/1"
    assert document["smallest_change_percent"] == test.smallest_percent
