"""The other end of the engine: starts its process, asks for points, reads its events."""

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
"""How long a cancelled engine may take to remove its files."""


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
        """The events until the workers are there, or the end."""
        return self._until(WorkersReady)

    def point(self, number: int, users: int, size_bytes: int | None = None) -> Iterator[LoadEvent]:
        """Ask for a point: its events, the last of which is PointMeasured or LoadEnded."""
        self._process.say(line_of(MeasurePoint(number=number, users=users, size_bytes=size_bytes or 0)))
        return self._until(PointMeasured)

    def rest(self) -> Iterator[LoadEvent]:
        """Have all users leave until the next point: the events, the last of which is UsersGone or LoadEnded."""
        self._process.say(line_of(Rest()))
        return self._until(UsersGone)

    def finish(self) -> Iterator[LoadEvent]:
        """End it as it should: the events of its cleaning up."""
        self._process.say(line_of(Finish()))
        return self._until(LoadEnded)

    def cancel(self) -> None:
        """End it at once; it cleans up. May be called from any thread."""
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
