"""Throughput over time within a run, and how far a run has come."""

import pytest

from forms.series.progress import over_time, run_progress


def test_rates_are_those_between_samples():
    spans = over_time([(1.0, 100), (2.0, 300), (4.0, 300)])
    assert [(s.until_seconds, s.bytes_per_second) for s in spans] == [(1.0, 100.0), (2.0, 200.0), (4.0, 0.0)]


def test_many_samples_are_drawn_together_and_none_is_lost():
    samples = [(i / 10, i * 10) for i in range(1, 1002)]
    spans = over_time(samples, most=100)
    assert len(spans) <= 100
    assert spans[-1].until_seconds == pytest.approx(100.1)
    assert sum(s.bytes_per_second for s in spans) / len(spans) == pytest.approx(100)


def test_samples_of_the_same_moment_divide_nothing_by_zero():
    assert [s.bytes_per_second for s in over_time([(1.0, 10), (1.0, 20), (2.0, 30)])] == [20.0, 10.0]
    assert over_time([(0.0, 10)]) == over_time([]) == []


@pytest.mark.parametrize(("last", "rates"), [(3.001, [100, 100, 110]), (3.5, [100, 100, 73]), (3.51, [100] * 3 + [20])])
def test_a_sample_soon_after_another_makes_no_needle(last, rates):
    """A last one 1 ms after the one before had 10 kB/s beside 100 B/s, and all else was flat."""
    spans = over_time([(1.0, 100), (2.0, 200), (3.0, 300), (last, 310)])
    assert [round(span.bytes_per_second) for span in spans] == rates


def test_a_first_sample_too_soon_is_part_of_the_next_stretch():
    assert [round(span.bytes_per_second) for span in over_time([(0.001, 50), (1.0, 100), (2.0, 200)])] == [100, 100]


def test_standing_half_way():
    now = run_progress(2.0, 50, 100)
    assert (now.bytes_per_second, now.percent, now.seconds_left) == (25.0, 50.0, 2.0)


@pytest.mark.parametrize(("seconds", "moved", "size"), [(0.0, 0, 100), (1.0, 0, 100)])
def test_before_anything_moved_nothing_is_foretold(seconds, moved, size):
    now = run_progress(seconds, moved, size)
    assert (now.bytes_per_second, now.seconds_left) == (None, None)
    assert now.percent == 0.0


def test_a_file_of_unknown_size_has_no_end_in_sight():
    now = run_progress(1.0, 50, 0)
    assert (now.percent, now.seconds_left) == (None, None)
