"""How long the stages of a diagnosis will take, from those that have ended."""

from __future__ import annotations

import pytest

from app.diagnosis.events import StageBegan
from app.diagnosis.plan import SIZES
from app.diagnosis.stage_times import StageTimes
from storage.looks import Effort, StageName, stages_of

ALL = stages_of(())
LATER = (StageName.FOLDERS, StageName.CARDS)


def usual(*names: StageName) -> float:
    return StageTimes(Effort.USUAL).seconds(names)


def test_the_usual_time_is_less_than_the_longest():
    assert 0 < usual(*ALL) < SIZES[Effort.USUAL].seconds(ALL)


@pytest.mark.parametrize(("times", "is_paced"), [(1.49, False), (1.51, True), (0.51, False), (0.49, True)])
def test_stages_that_take_other_times_by_half_change_the_estimate_of_the_rest(times: float, is_paced: bool):
    stage_times = StageTimes(Effort.USUAL)
    stage_times.end_stage(StageName.DISTANCE, times * usual(StageName.DISTANCE))
    expected = usual(*LATER) * (times if is_paced else 1.0)
    assert stage_times.seconds(LATER) == pytest.approx(expected)


def test_no_stage_is_expected_to_take_longer_than_it_may():
    stage_times = StageTimes(Effort.USUAL)
    stage_times.end_stage(StageName.DISTANCE, 100 * usual(StageName.DISTANCE))
    assert stage_times.seconds(LATER) == SIZES[Effort.USUAL].seconds(LATER)


@pytest.mark.parametrize("name", [StageName.SETTINGS, StageName.CONNECT])
def test_a_stage_without_files_says_nothing_of_the_others(name: StageName):
    stage_times = StageTimes(Effort.USUAL)
    stage_times.end_stage(name, 300.0)
    assert stage_times.seconds(LATER) == usual(*LATER)


@pytest.mark.parametrize(("passed", "left"), [(0.0, 50.0), (10.0, 40.0), (20.0, 30.0), (90.0, 30.0)])
def test_a_stage_that_takes_longer_takes_no_time_from_those_after_it(passed: float, left: float):
    began = StageBegan(name=StageName.FOLDERS, number=1, of=2, seconds=50.0, later_seconds=30.0, most_seconds=200.0)
    assert began.seconds_left(passed) == left
