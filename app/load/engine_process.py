"""Start the engine process, request points, and read its events."""

from collections.abc import Iterator
from typing import Self

from app.child_process import ChildProcess
from app.load.events import (
    LOAD_EVENTS,
    Finish,
    LoadEnded,
    LoadEvent,
    LoadPlan,
    MeasurePoint,
    PointMeasured,
    Rest,
    UsersGone,
    WorkersReady,
)
from app.messages import line_of, message_of

GRACE_SECONDS = 120.0
"""Longest time for a cancelled engine to remove its files."""


class EngineProcess:
    """One engine, inside ``with``."""

    def __init__(self, plan: LoadPlan) -> None:
        self._plan = plan
        self.ended: LoadEnded | None = None
        self._process = ChildProcess("app.load.process", "engine", grace_seconds=GRACE_SECONDS)
        self._lines = self._process.lines()

    def __enter__(self) -> Self:
        self._process.say(line_of(self._plan))
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def ready(self) -> Iterator[LoadEvent]:
        return self._until(WorkersReady)

    def point(self, number: int, users: int, size_bytes: int | None = None) -> Iterator[LoadEvent]:
        """The last event is PointMeasured or LoadEnded."""
        self._process.say(line_of(MeasurePoint(number=number, users=users, size_bytes=size_bytes or 0)))
        return self._until(PointMeasured)

    def rest(self) -> Iterator[LoadEvent]:
        """The last event is UsersGone or LoadEnded."""
        self._process.say(line_of(Rest()))
        return self._until(UsersGone)

    def finish(self) -> Iterator[LoadEvent]:
        self._process.say(line_of(Finish()))
        return self._until(LoadEnded)

    def cancel(self) -> None:
        """Stop at once and clean up; thread-safe."""
        self._process.cancel()

    def _until(self, last: type[LoadEvent]) -> Iterator[LoadEvent]:
        while self.ended is None:
            line = next(self._lines, None)
            event: LoadEvent = self._died() if line is None else message_of(line, LOAD_EVENTS)
            if isinstance(event, LoadEnded):
                self.ended = event
            yield event
            if isinstance(event, last):
                return

    def _died(self) -> LoadEnded:
        text = f"the load's engine {self._process.how_it_ended()}; the points before it are kept"
        return LoadEnded(kind="ChildDiedError", text=text)
