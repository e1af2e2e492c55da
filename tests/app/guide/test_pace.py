"""How fast a series moves from second to second, and how long it still takes."""

from dataclasses import replace

from app.clients.base import Secrets
from app.recording.process import MeasuringOrder, Progressed, RunFinished, RunStarted
from app.series.curve import last_second, sparkline
from app.series.events import SeriesClosed
from app.series.pace import Prospect, RunPace
from app.series.progress import SeriesProgress
from forms.series.estimate import ExpectedRate
from storage.records import Command, Phase, Run, SeriesStatus, Target
from tests.specs import order_with

SLOWING = [(0.5, 50), (1.0, 100), (1.5, 150), (2.0, 200), (2.5, 205), (3.0, 210)]


def test_the_rate_is_that_of_the_last_second_and_not_of_all():
    assert last_second(SLOWING) == 10.0
    assert last_second(SLOWING[:1]) == 100.0, "all of a run that is younger"
    assert last_second([]) is None


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
        running = running.with_event(event)
    assert running.seconds_left == 6 + 5 * 10
    assert "6 s left (series: 56 s)" in running.line(100)
    assert "(series: at least 56 s)" in replace(running, open_ended=True).line(100)
    assert running.with_request(end=True).seconds_left == 6


def order(**more) -> MeasuringOrder:
    target = Target(protocol="smb", host="nas", share="public")
    return order_with(command=Command.GET, target=target, secrets=Secrets(), warmups=2, runs=5, **more)


def test_the_time_left_of_a_resumed_series_leaves_out_the_runs_it_has():
    running = SeriesProgress.of_order(order(done_warmups=1, done_runs=3))
    for event in (
        RunStarted(number=2, phase=Phase.WARM_UP, of=3),
        Progressed(seconds=4.0, moved_bytes=400, size_bytes=1000),
    ):
        running = running.with_event(event)
    assert running.seconds_left == 6 + 10 + 2 * 10, "another warm-up run, and two of five measured ones"
    running = running.with_event(RunStarted(number=4, phase=Phase.MEASURED, of=5))
    running = running.with_event(Progressed(seconds=4.0, moved_bytes=400, size_bytes=1000))
    assert running.seconds_left == 6 + 10


def test_the_prospect_counts_what_is_to_come():
    rate = ExpectedRate(1e8, "at 100 MB/s")
    told = "2 warm-up runs and 5 measured runs, of 954 MiB each, 6.52 GiB in all, about 70 s or longer (at 100 MB/s)."
    assert Prospect(order=order(), rate=rate).estimate(10**9) == told
    assert Prospect(order=order(done_runs=3), rate=rate).estimate(10**9).startswith("2 warm-up runs and 2 measured")
    made = Prospect(order=order(make_file=True), rate=rate, series=2).estimate(10**9)
    assert made.endswith(
        "each in 2 series, 14.9 GiB in all, including making the file, about 3 min or longer (at 100 MB/s)."
    )


def test_interleaved_series_take_as_long_as_the_runs_that_have_ended():
    now = 30.0
    pace = RunPace([3, 2], lambda: now)
    now = 100.0
    started = RunStarted(number=1, phase=Phase.MEASURED, of=3)
    pace.take_event(0, started)
    ended = RunFinished(run=Run(number=1, phase=Phase.MEASURED, size_bytes=1, seconds=1.0))
    before_any = pace.seconds_left
    assert before_any is None
    now = 110.0
    pace.take_event(0, ended)
    assert pace.seconds_left == 4 * 10
    pace.take_event(1, started)
    now = 113.0
    assert pace.seconds_left == 4 * 10 - 3, "it goes down while a run is under way"
    now = 140.0
    pace.take_event(1, ended)
    assert pace.seconds_left == 3 * 20
    pace.take_event(1, SeriesClosed(series_id="x", status=SeriesStatus.FAILED))
    assert pace.seconds_left == 2 * 20, "what failed takes no more time"
    now = 999.0
    assert pace.seconds_left == 0.0
