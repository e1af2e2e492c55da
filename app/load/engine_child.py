"""The engine process: a plan and points on stdin, events on stdout; end of stdin cancels."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TextIO

import gevent
from gevent.event import Event

from app.errors import CancelledError, SharebenchError
from app.load.events import LOAD_ORDERS, LoadEnded, LoadEvent, LoadPlan, MeasurePoint, Rest
from app.load.locust_engine import LoadEngine
from app.measure.events import Warned
from app.messages import line_of, message_of, own_stdout


class EngineChild:
    """One load in the engine process."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._orders: list[str] = []
        self._came = Event()
        self._working: gevent.Greenlet | None = None

    def hold(self) -> None:
        engine = LoadEngine(message_of(self._next_line(), [LoadPlan]), self._emit)
        self._working = gevent.spawn(_ended_by, partial(self._work, engine))
        gevent.spawn(self._listen)
        ended, cleaned = self._working.get(), _ended_by(engine.end)
        if cleaned.kind:
            self._emit(Warned(text=cleaned.text))
        self._emit(replace(ended, left_behind=bool(cleaned.kind)))

    @staticmethod
    def _next_line() -> str:
        """Read in a thread so that the event loop is not blocked."""
        return str(gevent.get_hub().threadpool.apply(sys.stdin.readline))

    def _listen(self) -> None:
        while line := self._next_line():
            self._orders.append(line.strip())
            self._came.set()
        assert self._working is not None
        self._working.kill(CancelledError("cancelled"), block=False)

    def _work(self, engine: LoadEngine) -> None:
        engine.begin()
        while True:
            self._came.wait()
            self._came.clear()
            while self._orders:
                match message_of(self._orders.pop(0), LOAD_ORDERS):
                    case MeasurePoint(number=number, users=users, size_bytes=size_bytes):
                        engine.point(number, users, size_bytes)
                    case Rest():
                        engine.rest()
                    case _:
                        return

    def _emit(self, event: LoadEvent) -> None:
        with suppress(OSError, ValueError):
            self._out.write(line_of(event) + "\n")
            self._out.flush()


def _ended_by(work: Callable[[], None]) -> LoadEnded:
    try:
        work()
    except SharebenchError as error:
        return LoadEnded(kind=type(error).__name__, text=str(error))
    except Exception as error:  # noqa: BLE001  whatever it was, the other side must hear of it
        return LoadEnded(kind="MeasurementError", text=f"the engine failed: {type(error).__name__}: {error}")
    return LoadEnded()


def serve() -> None:
    """Run the engine and exit; output of libraries goes to stderr."""
    with own_stdout() as out:
        EngineChild(out).hold()
    os._exit(0)  # a thread still reads stdin
