"""How fast a series moves from second to second, and how long it still takes."""

from dataclasses import replace

from app.measure.process import Progressed, RunFinished, RunStarted
from app.workflows.guide.progress import SeriesProgress, each_second, last_second, sparkline
from storage.records import Phase, Run

SLOWING = [(0.5, 50), (1.0, 100), (1.5, 150), (2.0, 200), (2.5, 205), (3.0, 210)]


def test_the_rate_is_that_of_the_last_second_and_not_of_all():
    assert last_second(SLOWING) == 10.0
    assert last_second(SLOWING[:1]) == 100.0, "all of a run that is younger"
    assert last_second([]) is None


def test_each_whole_second_has_its_own_rate():
    assert each_second(SLOWING) == [100, 100, 10]
    assert each_second([(2.5, 250)]) == [100, 100], "what was not told is in proportion"


def test_a_sparkline_goes_from_nothing_to_the_highest():
    assert sparkline([0.0, 50.0, 100.0], 10) == "▁▄█"
    assert sparkline([1.0, 2.0, 3.0], 2) == "▅█", "the last ones stay"
    assert sparkline([0.0], 5) == "▁"
    assert sparkline([1.0], 0) == ""


def test_each_block_of_a_sparkline_is_the_eighth_nearest_to_its_rate():
    rates = [1000.0 * each for each in range(63, 1001)]
    heights = ["▁▂▃▄▅▆▇█".index(block) + 1 for block in sparkline(rates, len(rates))]
    assert all(abs(height / 8 - rate / 1e6) <= 0.5 / 8 for height, rate in zip(heights, rates, strict=True))


def test_the_time_left_is_that_of_all_runs_to_come():
    running = SeriesProgress(planned=(2, 5))
    for event in (
        RunStarted(number=1, phase=Phase.WARM_UP, of=2),
        RunFinished(run=Run(number=1, phase=Phase.WARM_UP, size_bytes=1000, seconds=10.0, progress=((10.0, 1000),))),
        RunStarted(number=2, phase=Phase.WARM_UP, of=2),
        Progressed(seconds=4.0, moved_bytes=400, size_bytes=1000),
    ):
        running = running.heard(event)
    assert running.seconds_left == 6 + 5 * 10
    assert "6 s left, 56 s in all" in running.line(100)
    assert "at least 56 s" in replace(running, open_ended=True).line(100)
    assert running.asked(end=True).seconds_left == 6
    assert running.last_minute(60) == "█" * 14
