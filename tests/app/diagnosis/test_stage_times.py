"""How long the stages of a diagnosis will take, from those that have ended."""

from __future__ import annotations

import pytest

from app.diagnosis.events import StageBegan
from app.diagnosis.plan import SIZES, sizes_of
from app.diagnosis.stage_times import StageTimes, pace_of_this_machine
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


def test_a_busy_client_is_taken_to_be_slower_until_stages_have_ended():
    stage_times = StageTimes(Effort.USUAL, pace=2.0)
    assert stage_times.seconds(LATER) == pytest.approx(2 * usual(*LATER))
    stage_times.end_stage(StageName.DISTANCE, 0.9 * usual(StageName.DISTANCE))
    assert stage_times.seconds(LATER) == pytest.approx(0.9 * usual(*LATER))


@pytest.mark.parametrize(("load", "pace"), [(2.9, 1.0), (3.0, 1.5), (5.0, 2.5), (40.0, 3.0)])
def test_how_busy_this_client_is_says_how_much_longer_it_takes(
    load: float, pace: float, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert pace_of_this_machine() == pace


@pytest.mark.parametrize("complaint", [None, StageName.FOLDERS, StageName.SMALL_FILES])
def test_smaller_folders_take_less_time(complaint: StageName | None):
    seconds = StageTimes(Effort.USUAL, complaint).seconds((StageName.FOLDERS,))
    entries = sum(sizes_of(Effort.USUAL, complaint).entries)
    assert seconds == pytest.approx(usual(StageName.FOLDERS) * entries / 11_000)


@pytest.mark.parametrize("name", [StageName.SETTINGS, StageName.CONNECT])
def test_a_stage_without_files_says_nothing_of_the_others(name: StageName):
    stage_times = StageTimes(Effort.USUAL)
    stage_times.end_stage(name, 300.0)
    assert stage_times.seconds(LATER) == usual(*LATER)


@pytest.mark.parametrize(
    ("passed", "left"),
    [(0.0, 50.0), (10.0, 40.0), (16.0, 34.0), (20.0, 35.0), (80.0, 50.0), (140.0, 60.0), (190.0, 30.0)],
)
def test_a_stage_that_takes_longer_takes_no_time_from_those_after_it_and_is_counted_anew(passed: float, left: float):
    began = StageBegan(name=StageName.FOLDERS, number=1, of=2, seconds=50.0, later_seconds=30.0, most_seconds=200.0)
    assert began.seconds_left(passed) == left
