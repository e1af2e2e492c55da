"""The child process of a load's engine: a plan and orders on stdin, events on stdout; the end of stdin cancels.

`app.load.engine_process` is the other side, in the process that records the load.
"""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TextIO

import gevent
from gevent.queue import Queue

from app.base import errors, messages
from app.load import events
from app.load.locust_engine import LoadEngine
from app.recording.process import Failed, Warned


class EngineChild:
    """The engine's side of its pipes: orders come in, events go out, and the end of the orders cancels it."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._orders: Queue[str] = Queue()
        """Lines that were read and not carried out yet."""
        self._working: gevent.Greenlet | None = None

    def measure_load(self) -> None:
        """Carry out a plan and its orders; at the end always remove the files, and tell how it ended."""
        engine = LoadEngine(messages.message_of(self._next_line(), [events.LoadPlan]), self._emit)
        self._working = gevent.spawn(_end_of, partial(self._carry_out_orders, engine))
        gevent.spawn(self._listen)

        ended = self._working.get()
        cleaned = _end_of(engine.end)
        if cleaned.failure:
            self._emit(Warned(text=cleaned.failure.text))
        self._emit(replace(ended, left_behind=cleaned.failure is not None))

    @staticmethod
    def _next_line() -> str:
        """Read in a thread so that the event loop is not blocked."""
        return str(gevent.get_hub().threadpool.apply(sys.stdin.readline))

    def _listen(self) -> None:
        """Take orders while others are carried out; after the last, cancel what is under way."""
        while line := self._next_line():
            self._orders.put(line.strip())
        assert self._working is not None
        # Raised in the greenlet that carries out the orders, of which it becomes the end.
        self._working.kill(errors.CancelledError("cancelled"), block=False)

    def _carry_out_orders(self, engine: LoadEngine) -> None:
        engine.begin()
        while True:
            match messages.message_of(self._orders.get(), events.LOAD_ORDERS):
                case events.MeasurePoint(number=number, users=users, size_bytes=size_bytes):
                    engine.point(number, users, size_bytes)
                case events.Rest():
                    engine.let_users_rest()
                case _:
                    return

    def _emit(self, event: events.LoadEvent) -> None:
        with suppress(OSError, ValueError):
            messages.send(self._out, event)


def _end_of(work: Callable[[], None]) -> events.LoadEnded:
    """Do the work; returns how it ended, whatever it raised."""
    try:
        work()
    except errors.SharebenchError as error:
        return events.LoadEnded(failure=Failed.of(error))
    except Exception as error:  # noqa: BLE001  whatever it was, the other side must hear of it
        text = f"the engine failed: {type(error).__name__}: {error}"
        return events.LoadEnded(failure=Failed(kind=errors.MeasurementError, text=text))
    return events.LoadEnded()


def serve() -> None:
    with messages.own_stdout() as out:
        EngineChild(out).measure_load()
    os._exit(0)  # a thread still reads stdin
