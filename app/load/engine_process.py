"""The recording process's side of the engine, which is the process that makes a load.

The recorder of a load sends the engine a plan, then one order after another, and reads the events of each order up to
the one that ends it. `app.load.engine_child` is the other side. Both write one JSON line a message.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Self

from app.base.child_process import ChildProcess, Elsewhere
from app.base.errors import ChildDiedError
from app.base.own_names import new_folder
from app.load import events
from app.load.spec import LoadRequest
from app.recording.process import Failed
from storage.load import records

GRACE_SECONDS = 120.0
"""Longest time for a cancelled engine to remove its files."""


class _ClockElsewhere:
    """Translates times of another machine's monotonic clock into ours, by the event that arrived fastest."""

    def __init__(self) -> None:
        self._ahead_seconds = math.inf
        """By how much our clock is ahead of that one, with the time that an event takes to arrive."""

    def translated(self, event: events.LoadEvent, arrived_at: float) -> events.LoadEvent:
        match event:
            case events.PhaseBegan():
                # It is told when it begins.
                self._ahead_seconds = min(self._ahead_seconds, arrived_at - event.at_seconds)
                return replace(event, at_seconds=event.at_seconds + self._ahead_seconds)
            case events.PointMeasured():
                self._ahead_seconds = min(self._ahead_seconds, arrived_at - event.ended_seconds)
                return replace(
                    event,
                    began_seconds=event.began_seconds + self._ahead_seconds,
                    ended_seconds=event.ended_seconds + self._ahead_seconds,
                )
            case events.UsersGone():
                self._ahead_seconds = min(self._ahead_seconds, arrived_at - event.at_seconds)
                return replace(event, at_seconds=event.at_seconds + self._ahead_seconds)
        return event


class EngineProcess:
    """The process that makes a load; used inside ``with``.

    First :meth:`ready`, then :meth:`point` for each point, with :meth:`let_users_rest` after it where there are print
    jobs or another machine has its turn, at last :meth:`finish`. Each sends its order and yields the events up to the
    one that answers it; none follows once :attr:`ended` is set.
    """

    def __init__(self, plan: events.LoadPlan, elsewhere: Elsewhere | None = None) -> None:
        """``elsewhere``: the machine that makes the load; None for this one."""
        self._plan = plan
        self._clock = _ClockElsewhere() if elsewhere else None
        self.ended: events.LoadEnded | None = None
        """How the engine ended; None while it works."""
        self._process = ChildProcess("app.load.process", "engine", grace_seconds=GRACE_SECONDS, elsewhere=elsewhere)
        self._events = self._process.events(events.LOAD_EVENTS)

    def __enter__(self) -> Self:
        self._process.say(self._plan)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def ready(self) -> Iterator[events.LoadEvent]:
        return self._until(events.WorkersReady)

    def point(self, number: int, users: int, size_bytes: int | None = None) -> Iterator[events.LoadEvent]:
        """``size_bytes`` is the only file size to use; None for all of the scenario."""
        self._process.say(events.MeasurePoint(number=number, users=users, size_bytes=size_bytes or 0))
        return self._until(events.PointMeasured)

    def let_users_rest(self) -> Iterator[events.LoadEvent]:
        self._process.say(events.Rest())
        return self._until(events.UsersGone)

    def finish(self) -> Iterator[events.LoadEvent]:
        self._process.say(events.Finish())
        return self._until(events.LoadEnded)

    def cancel(self) -> None:
        """Stop at once and clean up; thread-safe."""
        self._process.cancel()

    def _until(self, last: type[events.LoadEvent]) -> Iterator[events.LoadEvent]:
        """The events up to one of that type, or to the engine's end; where it died, its end is made up here."""
        while self.ended is None:
            event = next(self._events, None)
            if event is None:
                text = f"the load's engine {self._process.how_it_ended()}; the points before it are kept"
                event = events.LoadEnded(failure=Failed(kind=ChildDiedError, text=text))
            if self._clock:
                event = self._clock.translated(event, time.monotonic())
            if isinstance(event, events.LoadEnded):
                self.ended = event
            yield event
            if isinstance(event, last):
                return


def plan_of(load: records.Load, request: LoadRequest, resumed: records.Load | None) -> events.LoadPlan:
    """What the engine is to do; ``resumed`` is the load as an earlier attempt left it, None for a new one."""
    return events.LoadPlan(
        targets=load.targets,
        secrets=request.secrets,
        settings=replace(request.settings, single_requests=load.choices.single_requests, like=load.choices.like),
        scenario=load.scenario,
        folder=load.scratch_folder or new_folder("load"),
        reuse=request.reuse_folder is not None,
        keep=load.choices.keep_files,
        leftover=resumed is not None and resumed.scratch_folder is not None,
        processes=load.choices.processes,
        hosts=load.choices.hosts,
        ramp_per_second=load.choices.ramp_per_second,
        interface=str(load.environment.get("path", {}).get("link.interface", "")),
    )
