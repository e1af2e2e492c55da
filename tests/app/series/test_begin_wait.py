"""A series that begins later: how long it waits, and what ends the wait."""

import time
from threading import Timer

import pytest

from app.base.errors import CancelledError
from app.guide.needs import MeasurementJob
from app.recording.process import Failed, SeriesControl
from app.series.begin_wait import wait_to_begin
from app.series.events import BeginWait, SeriesClosed, words
from app.series.progress import SeriesProgress
from storage.records import SeriesStatus
from tests.tui import FakeBackend


@pytest.mark.parametrize(("seconds", "waits"), [(-1.0, 0), (0.2, 1)])
def test_a_time_that_has_come_is_not_waited_for(seconds: float, waits: int):
    control = SeriesControl()
    begins_at = time.time() + seconds
    assert len([*wait_to_begin(begins_at, "apart", control)]) == waits
    assert time.time() >= begins_at
    assert not control.waited_enough.is_set()


def test_the_user_ends_this_wait_and_not_the_next_one():
    control = SeriesControl()
    events = wait_to_begin(time.time() + 3600, "apart", control)
    assert isinstance(next(events), BeginWait)
    control.waited_enough.set()
    assert next(events, None) is None
    assert not control.waited_enough.is_set(), "a quiet time is still waited for"


def test_a_cancel_ends_the_wait_and_all_after_it():
    control = SeriesControl()
    Timer(0.1, control.cancel).start()
    assert len([*wait_to_begin(time.time() + 3600, "apart", control)]) == 1
    assert control.cancelled.is_set()
    assert control.waited_enough.is_set()


def test_what_was_stopped_while_it_waited_is_not_begun(tmp_path):
    backend = FakeBackend()
    job = MeasurementJob(
        backend=backend, notebook_path=tmp_path / "notebook.db", title="", begins_at=time.time() + 3600
    )
    events = []
    for event in job.events():
        events.append(event)
        job.control.cancel()
    _, failed, closed = events
    assert isinstance(failed, Failed)
    assert failed.kind is CancelledError
    assert isinstance(closed, SeriesClosed)
    assert (closed.status, closed.stored) == (SeriesStatus.INTERRUPTED, False)
    assert backend.requests == []


def test_the_wait_is_told_by_the_clock_with_the_name_of_the_repeat():
    wait = BeginWait(begins_at=1_769_854_200.0, reason="apart")
    assert words(wait) == "waits until 10:10"
    waiting = SeriesProgress(name="Repeat 1 of 2").with_event(wait)
    assert waiting.line(80) == "Repeat 1 of 2: waits until 10:10"
    assert waiting.waiting == "apart"
