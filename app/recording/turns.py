"""Several recordings measured interleaved, each in its turn, such as one target from several machines.

Each has its recorder: a generator of events, which measures only while its events are read. It is read up to an event
that ends its turn, such as a stored stage; then the next has its turn. So drift affects all of them alike, and no two
load the server at the same time. They are recorded into one notebook, which whoever calls holds open meanwhile.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from typing import Generic, TypeVar

from app.base import errors
from app.recording.process import ControlMessage, SeriesControl

LOGIN_WAS_REFUSED = "not measured: the login was refused before"
"""Why a recording was not begun: another try of a wrong login may lock the account."""

EventT = TypeVar("EventT")
RecorderFunction = Callable[[SeriesControl], Iterator[EventT]]
"""Begins to record, with a control of its own."""


def _is_never(_event: object) -> bool:
    return False


def in_turns(
    recorders: Sequence[RecorderFunction[EventT]],
    control: SeriesControl,
    ends_turn: Callable[[EventT], bool],
    refuses_login: Callable[[EventT], bool] = _is_never,
) -> Iterator[tuple[int, EventT | errors.SharebenchError]]:
    """Record each to its end; yields each event with the index of its recorder, and the error of one that raises.

    One that raises ends alone, the others go on; but an error of the notebook, which all of them share, is raised. Once
    one raises a LoginError, or tells an event that ``refuses_login``, no other begins: they all have the same login.
    ``control`` is the user's: what it is told reaches all of them, and its time limit holds for the whole. Of those
    that were not begun, the error says why.
    """
    control.limit.start()
    turns = _RecorderTurns(recorders, control, ends_turn, refuses_login)
    control.attach(turns.tell_all, turns.cancel_all)
    try:
        with ExitStack() as closed_at_the_end:
            # Whoever reads the events may stop in the middle: each recorder is closed all the same.
            for stream in turns.streams:
                if isinstance(stream, Generator):
                    closed_at_the_end.callback(stream.close)
            # First of all, so that they clean up side by side.
            closed_at_the_end.callback(turns.cancel_all)
            yield from turns.events()
    finally:
        control.detach()


class _RecorderTurns(Generic[EventT]):
    """Whose turn it is. Those that are *going* have not ended yet."""

    def __init__(
        self,
        recorders: Sequence[RecorderFunction[EventT]],
        control: SeriesControl,
        ends_turn: Callable[[EventT], bool],
        refuses_login: Callable[[EventT], bool],
    ) -> None:
        """As in :func:`in_turns`."""
        self._control = control
        self._ends_turn = ends_turn
        self._refuses_login = refuses_login

        self._controls = [control.for_part() for _ in recorders]
        """One of each recorder."""
        self.streams = [recorder(part) for recorder, part in zip(recorders, self._controls, strict=True)]
        self._going = list(range(len(recorders)))
        self._begun: set[int] = set()
        self._is_login_refused = False

    def tell_all(self, word: ControlMessage) -> None:
        for part in self._controls:
            part.tell(word)

    def cancel_all(self) -> None:
        """Where the time is over, only those that do not end by themselves."""
        for part in self._controls:
            if self._control.limit.is_over:
                part.end_in_time()
            else:
                part.cancel()

    def events(self) -> Iterator[tuple[int, EventT | errors.SharebenchError]]:
        """Rounds in which each has a turn, in the reverse order of the round before."""
        while self._going:
            for index in tuple(self._going):
                yield from self._turn(index)
            self._going.reverse()

    def _turn(self, index: int) -> Iterator[tuple[int, EventT | errors.SharebenchError]]:
        """The events of one recorder, up to the end of its turn."""
        reason = self._reason_not_to_begin(index)
        if reason is not None:
            self._going.remove(index)
            yield index, reason
            return

        self._begun.add(index)
        try:
            for event in self.streams[index]:
                if self._refuses_login(event):
                    self._is_login_refused = True
                yield index, event
                if self._ends_turn(event):
                    return
        except errors.NotebookError:
            raise
        except errors.SharebenchError as error:
            if isinstance(error, errors.LoginError):
                self._is_login_refused = True
            yield index, error
        self._going.remove(index)

    def _reason_not_to_begin(self, index: int) -> errors.SharebenchError | None:
        """Why one that has not begun is left out; None where it has its turn."""
        if index in self._begun:
            return None
        if self._control.cancelled.is_set():
            return errors.CancelledError(self._control.why_cancelled)
        if self._is_login_refused:
            return errors.LoginError(LOGIN_WAS_REFUSED)
        return None
