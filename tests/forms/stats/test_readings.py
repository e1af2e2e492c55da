"""A series with a hiccup: which run is one, at each edge, and what the others say."""

import math

import pytest

from forms.stats.distributions import student_t
from forms.stats.readings import HICCUP_SHARE, LEAST_DEVIATION, hiccup_bound, most_hiccups, plain_reading, read_series


def test_the_bound_is_that_of_a_deleted_residual():
    assert hiccup_bound(5, 1) == pytest.approx(student_t(1 - HICCUP_SHARE / 5, 3) * math.sqrt(1.25))


@pytest.mark.parametrize(("runs", "most"), [(3, 0), (4, 0), (5, 1), (9, 1), (10, 2), (30, 2)])
def test_one_run_in_five_is_a_hiccup_and_two_at_most(runs: int, most: int):
    assert most_hiccups(runs) == most


@pytest.mark.parametrize(("beyond", "hiccups"), [(1.001, (0,)), (0.999, ())])
def test_a_run_beyond_the_bound_is_left_out_of_the_average(beyond: float, hiccups: tuple[int, ...]):
    far = hiccup_bound(5, 1) * LEAST_DEVIATION * beyond
    reading = read_series([100 * math.exp(-far), 100.0, 100.0, 100.0, 100.0])
    assert reading.hiccups == hiccups
    assert (reading.average == 100) == bool(hiccups)


def test_a_hiccup_counts_in_the_variance_as_if_it_lay_at_the_bound():
    slow, slower = ([rate, 99.0, 101.0, 100.0, 100.0] for rate in (60.0, 10.0))
    assert read_series(slow).average == read_series(slower).average == 100
    assert read_series(slow).variance == pytest.approx(read_series(slower).variance)
    assert plain_reading(slow).variance > read_series(slow).variance > plain_reading(slow[1:]).variance


def test_two_hiccups_of_ten_are_found_although_they_hide_each_other():
    steady = [99.0, 101.0, 100.0, 100.5, 99.5, 100.2, 99.8, 100.0]
    assert read_series([40.0, *steady, 45.0]).hiccups == (0, 9)
    assert read_series([40.0, 42.0, *steady[:7], 45.0]).hiccups == (), "three of ten: that is how it behaves"


def test_series_without_hiccups_are_read_whole():
    rates = [99.0, 101.0, 100.0, 100.5, 99.5]
    assert read_series(rates) == plain_reading(rates)
