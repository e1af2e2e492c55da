"""A series under way, told event by event."""

import pytest

from app.base.errors import CancelledError, ConnectionLostError
from app.recording.process import Failed, Paused, Progressed, RunFinished, RunStarted, ScratchMade, Started, Warned
from app.series.events import QuietWait, SeriesClosed, SeriesOpened, SeriesStored
from app.series.progress import MOST_SAMPLES, SeriesProgress
from storage.records import ClientFacts, Phase, Run, RunStatus, SeriesStatus

STARTED = RunStarted(number=2, phase=Phase.MEASURED, of=5)


def after(*events) -> SeriesProgress:
    running = SeriesProgress()
    for event in events:
        running = running.with_event(event)
    return running


def test_before_the_first_run():
    assert after(SeriesOpened(series_id="x")).line(80) == "Starting: checking the environment"
    waiting = after(SeriesOpened(series_id="x"), QuietWait(left_seconds=600)).line(80)
    assert waiting == "Starting: waiting for a quiet time, at most 10 min more"
    waiting = after(SeriesOpened(series_id="x"), QuietWait(left_seconds=45, reason="a backup runs")).line(80)
    assert waiting == "Starting: waiting for a quiet time, at most 45 s more", "what it waits for has a line of its own"
    assert after(QuietWait(left_seconds=45, reason="a backup runs")).waiting == "a backup runs"
    client = ClientFacts(name="sharebench")
    assert after(Started(client=client, size_bytes=1 << 20)).line(80) == "Starting: connected; the file has 1M"
    assert after(ScratchMade(path="a")).line(80) == "Starting: making the file"


def test_a_run_has_a_bar_a_rate_and_the_time_that_is_left():
    line = after(STARTED, Progressed(seconds=2.0, moved_bytes=50_000_000, size_bytes=200_000_000)).line(80)
    assert line.startswith("Run 2 of 5  █")
    assert line.rstrip().endswith(" 25 %    25 MB/s  6 s left")
    assert len(line) <= 80


def test_a_file_that_is_made_is_named_while_its_bytes_go():
    line = after(ScratchMade(path="a"), Progressed(seconds=2.0, moved_bytes=50, size_bytes=200)).line(80)
    assert line.startswith("Making the file  █")


@pytest.mark.parametrize("width", [0, 1, 10, 30, 44, 60, 200])
def test_the_line_keeps_to_its_width(width):
    running = after(STARTED, Progressed(seconds=2.0, moved_bytes=5, size_bytes=200))
    assert len(running.line(width)) <= width


def test_a_run_of_unknown_size_tells_only_what_is_known():
    line = after(STARTED, Progressed(seconds=2.0, moved_bytes=50_000_000, size_bytes=0)).line(80)
    assert "25 MB/s" in line
    assert "%" not in line
    assert "left" not in line


def test_the_end_of_a_run_is_said_until_the_next_begins():
    run = Run(number=2, phase=Phase.MEASURED, size_bytes=10**8, seconds=1.0)
    assert after(STARTED, RunFinished(run=run)).line(80) == "Run 2 of 5: 100 MB/s"
    failed = Run(number=2, phase=Phase.MEASURED, status=RunStatus.FAILED, error="gone")
    assert after(STARTED, RunFinished(run=failed)).line(80) == "Run 2 of 5: failed"


def test_pausing_is_asked_for_then_so():
    asked = after(STARTED).with_request(pause=True)
    assert "(pausing after it)" in asked.line(80)
    paused = asked.with_event(Paused())
    assert paused.paused
    assert paused.line(80) == "Paused. g resumes, s stops."
    assert not paused.with_request(pause=False).paused
    assert not paused.with_event(RunStarted(number=3, phase=Phase.MEASURED, of=5)).paused


def test_the_curve_is_that_of_the_run_and_never_grows_without_end():
    samples = [Progressed(seconds=i / 10, moved_bytes=i, size_bytes=10**6) for i in range(1, 20_000)]
    running = after(STARTED, *samples)
    assert len(running.curve) <= MOST_SAMPLES
    assert running.curve[-1] == (1999.9, 19_999)
    assert after(STARTED, *samples[:5], STARTED).curve == ()


def test_the_end_says_how_and_what_became_of_the_runs():
    run = RunFinished(run=Run(number=1, phase=Phase.MEASURED, size_bytes=1, seconds=1.0))
    complete = after(STARTED, run, SeriesClosed(series_id="x", status=SeriesStatus.COMPLETE))
    assert complete.is_over
    assert complete.line(80) == "Complete: 1 run. Enter shows the review."
    assert complete.line(80, 98.2e6) == "Complete: 1 run, 98.20 MB/s on average. Enter shows the review."
    failure = Failed(kind=ConnectionLostError, text="nas\x1b[31m: gone")
    lost = RunFinished(run=Run(number=2, phase=Phase.MEASURED, status=RunStatus.FAILED, error="gone"))
    closed = SeriesClosed(series_id="x", status=SeriesStatus.FAILED, failure=failure)
    failed = after(STARTED, run, STARTED, lost, failure, closed)
    assert failed.line(200) == "Failed after 1 run; what was measured is kept. nas␛[31m: gone"
    failure = Failed(kind=CancelledError, text="cancelled")
    closed = SeriesClosed(series_id="x", status=SeriesStatus.INTERRUPTED, failure=failure)
    assert after(STARTED, run, failure, closed).line(200) == "Interrupted after 1 run; what was measured is kept."
    assert after(STARTED, failure, closed).line(200) == "Interrupted after 0 runs."


def test_warnings_are_kept():
    assert after(Warned(text="a"), Warned(text="b")).warnings == ("a", "b")


def test_what_was_done_is_named_once_between_two_runs():
    run = Run(number=1, phase=Phase.MEASURED, size_bytes=100_000_000, seconds=1.0)
    heard = SeriesProgress(number=1, of=5, phase=Phase.MEASURED).with_event(RunFinished(run=run))
    assert heard.doing == "100 MB/s"
    assert heard.line(80) == "Run 1 of 5: 100 MB/s"


def test_a_series_that_is_not_in_the_notebook_is_not_remembered():
    begun = after(SeriesOpened(series_id="x"))
    assert begun.series_id is None
    assert after(SeriesStored(series_id="x")).series_id == "x"
    closed = after(SeriesStored(series_id="x"), SeriesClosed(series_id="x", status=SeriesStatus.FAILED, stored=False))
    assert closed.series_id is None


@pytest.mark.parametrize(("waited_seconds", "is_long"), [(0.0, False), (29.9, False), (30.0, True), (110.0, True)])
def test_a_wait_for_a_quiet_time_names_the_programs_and_says_whether_it_has_any_hope(
    waited_seconds: float, is_long: bool
):
    wait = QuietWait(left_seconds=500, reason="busy", programs=("make (48 %)",), waited_seconds=waited_seconds)
    busiest, hope = after(wait).wait_advice
    assert "make (48 %)" in busiest
    assert hope.startswith("Not once quiet in") is is_long
    assert "g measures now" in hope
    assert len(after(QuietWait(left_seconds=500)).wait_advice) == 1, "no program is known"
    connected = Started(client=ClientFacts(name="sharebench"), size_bytes=1 << 20)
    assert after(wait, connected).wait_advice == ()
    assert after(STARTED).wait_advice == ()
