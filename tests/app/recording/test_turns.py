"""Several recordings interleaved: who has the next turn, and what the end of one means for the others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.base import errors
from app.recording.process import ControlMessage, SeriesControl, TimeLimit
from app.recording.turns import LOGIN_WAS_REFUSED, in_turns

STORED = "stored"
"""The event that ends a turn."""


class Recorder:
    """A made-up recorder: tells its events, raises those that are errors, and notes what reaches it."""

    def __init__(self, *events: str | Exception) -> None:
        self.events = events
        self.control = SeriesControl()
        self.words: list[ControlMessage] = []
        self.was_ended = False
        self.is_closed = False

    def __call__(self, control: SeriesControl) -> Iterator[str]:
        self.control = control
        control.attach(self.words.append, self._end)
        try:
            for event in self.events:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.is_closed = True

    def _end(self) -> None:
        self.was_ended = True


def ends_turn(event: str) -> bool:
    return event == STORED


def turns_of(*recorders: Recorder, control: SeriesControl | None = None) -> Iterator[tuple[int, object]]:
    return in_turns(recorders, control or SeriesControl(), ends_turn)


def test_each_has_a_turn_in_every_round_and_the_order_is_reversed_from_round_to_round():
    first = Recorder("a1", STORED, "a2", STORED, "a3")
    second = Recorder("b1", STORED, "b2", STORED, "b3")
    told = [(index, event) for index, event in turns_of(first, second) if event != STORED]
    assert told == [(0, "a1"), (1, "b1"), (1, "b2"), (0, "a2"), (0, "a3"), (1, "b3")]


def test_one_that_has_ended_leaves_the_turns_to_the_others():
    told = list(turns_of(Recorder("a"), Recorder(STORED, STORED, "b")))
    assert told == [(0, "a"), (1, STORED), (1, STORED), (1, "b")]


def test_one_that_raises_ends_alone_and_its_error_is_told():
    error = errors.UnreachableError("no such host")
    told = list(turns_of(Recorder(error, "never"), Recorder(STORED, "b")))
    assert told == [(0, error), (1, STORED), (1, "b")]


def test_an_error_in_the_middle_ends_alone_too():
    error = errors.ChildDiedError("was cut off")
    told = list(turns_of(Recorder(STORED, error), Recorder(STORED, "b")))
    assert told == [(0, STORED), (1, STORED), (1, "b"), (0, error)]


def test_an_error_of_the_notebook_which_all_share_is_raised_and_the_others_are_ended_and_closed():
    lost = Recorder(STORED, errors.NotebookError("lost"))
    other = Recorder(STORED, STORED)
    with pytest.raises(errors.NotebookError):
        list(turns_of(lost, other))
    assert (other.was_ended, other.is_closed) == (True, True)


def test_what_is_no_error_for_people_is_raised():
    with pytest.raises(KeyError):
        list(turns_of(Recorder(KeyError()), Recorder("b")))


# A refused login


@pytest.mark.parametrize("kind", [errors.LoginError, errors.GuestDeniedError])
def test_no_other_tries_a_login_that_was_refused(kind: type[errors.SharebenchError]):
    error = kind("wrong password")
    (index, first), (other_index, second) = turns_of(Recorder(error), Recorder("b"))
    assert (index, first, other_index) == (0, error, 1)
    assert isinstance(second, errors.LoginError)
    assert str(second) == LOGIN_WAS_REFUSED


def test_another_refusal_is_no_reason_for_the_others():
    error = errors.ShareDeniedError("not for you")
    assert list(turns_of(Recorder(error), Recorder("b"))) == [(0, error), (1, "b")]


def test_one_that_is_logged_in_already_goes_on_after_a_refused_login():
    error = errors.LoginError("wrong password")
    *told, (late_index, late_error), last = turns_of(Recorder(STORED, "a"), Recorder(error), Recorder("never"))
    assert told == [(0, STORED), (1, error)]
    assert late_index == 2
    assert isinstance(late_error, errors.LoginError)
    assert last == (0, "a")


def test_a_refused_login_may_be_told_by_an_event():
    def refuses_login(event: str) -> bool:
        return event == "refused"

    recorders = (Recorder("refused"), Recorder("b"))
    events = in_turns(recorders, SeriesControl(), ends_turn, refuses_login)
    first, (other_index, other_error) = events
    assert (first, other_index) == ((0, "refused"), 1)
    assert isinstance(other_error, errors.LoginError)


# The user's control


def test_what_the_user_says_reaches_all():
    first, second = Recorder(STORED, "a"), Recorder(STORED, "b")
    control = SeriesControl()
    events = turns_of(first, second, control=control)
    next(events)
    control.tell(ControlMessage.FINISH)
    list(events)
    assert (first.words, second.words) == ([ControlMessage.FINISH], [ControlMessage.FINISH])


def test_a_cancel_ends_all_which_tell_their_last_events_and_begins_no_other():
    first, second, late = Recorder(STORED, "a"), Recorder(STORED, "b"), Recorder("never")
    control = SeriesControl()
    told = []
    for index, event in turns_of(first, second, late, control=control):
        told.append((index, event))
        if (index, event) == (1, STORED):
            control.cancel()
    assert (first.was_ended, second.was_ended, late.was_ended) == (True, True, False)
    assert [index for index, _ in told] == [0, 1, 2, 1, 0]
    assert isinstance(told[2][1], errors.CancelledError)
    assert told[3:] == [(1, "b"), (0, "a")]


def test_whoever_stops_reading_closes_all():
    first, second = Recorder(STORED, "a"), Recorder(STORED, "b")
    events = turns_of(first, second)
    assert [next(events), next(events)] == [(0, STORED), (1, STORED)]
    events.close()  # type: ignore[attr-defined]
    assert (first.is_closed, second.is_closed) == (True, True)


def test_a_control_is_let_go_at_the_end():
    first = Recorder("a")
    control = SeriesControl()
    list(turns_of(first, control=control))
    first.words.clear()
    control.tell(ControlMessage.FINISH)
    assert first.words == []


# The time limit


def begun_with_time() -> tuple[Recorder, Recorder, list[float]]:
    """Two recorders of which each had a turn, with 600 seconds for both, and the time that it is."""
    now = [1000.0]
    control = SeriesControl()
    control.limit = TimeLimit(600, lambda: now[0])
    first, second = Recorder(STORED, "a"), Recorder(STORED, "b")
    events = turns_of(first, second, control=control)
    next(events)
    next(events)
    return first, second, now


def test_the_time_counts_for_the_whole():
    first, second, now = begun_with_time()
    now[0] += 400
    assert (first.control.limit.seconds_left, second.control.limit.seconds_left) == (200, 200)


def test_how_long_one_takes_says_nothing_of_another():
    first, second, now = begun_with_time()
    first.control.limit.begin_timing()
    now[0] += 301
    first.control.limit.end_timing()
    assert not first.control.limit.has_time_for_another()
    assert second.control.limit.has_time_for_another()


def test_at_the_end_of_the_time_those_that_end_by_themselves_are_not_cancelled():
    control = SeriesControl(600)
    finishing, measuring, late = Recorder(STORED, "a"), Recorder(STORED, "b"), Recorder("never")
    told = []
    for index, event in turns_of(finishing, measuring, late, control=control):
        told.append((index, event))
        if (index, event) == (1, STORED):
            finishing.control.finish_in_time("point")
            control.end_in_time()
    assert (finishing.was_ended, measuring.was_ended) == (False, True)
    assert measuring.control.why_cancelled == "time is over (--within 10)"
    assert str(told[2][1]) == "time is over (--within 10)"


def test_the_user_can_end_those_that_end_by_themselves():
    control = SeriesControl(600)
    finishing = Recorder(STORED, "a")
    events = turns_of(finishing, control=control)
    next(events)
    finishing.control.finish_in_time("point")
    control.cancel()
    assert finishing.was_ended
