"""An estimate is told anew where it is wrong by more than half, and not before."""

from __future__ import annotations

import pytest

from app.recording.told_estimate import LEAST_LEFT_SECONDS, ToldEstimate, is_wrong_by_half


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("seconds", "is_wrong"),
    [(100.0, False), (150.0, False), (150.1, True), (50.0, False), (49.9, True)],
)
def test_half_of_an_estimate_more_or_less_is_not_wrong(seconds: float, is_wrong: bool):
    assert is_wrong_by_half(100.0, seconds) is is_wrong


def test_a_new_estimate_is_told_once_and_counts_from_then_on():
    clock = Clock()
    estimate = ToldEstimate(29.0, clock)
    clock.now = 10.0
    assert estimate.correction(30.0) == ""
    assert "about 3 min left" in estimate.correction(180.0)

    clock.now = 30.0
    assert estimate.correction(160.0) == "", "the same end as told"
    assert estimate.correction(70.0) == ""
    assert "less" in estimate.correction(60.0 - 26.0)


def test_shortly_before_the_end_nothing_is_told():
    clock = Clock()
    clock.now = 0.0
    estimate = ToldEstimate(100.0, clock)
    clock.now = 10.0
    assert estimate.correction(LEAST_LEFT_SECONDS - 0.1) == ""
    assert estimate.correction(LEAST_LEFT_SECONDS) != ""
