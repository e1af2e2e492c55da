"""What happens to a measurement whose terminal is closed: it is cancelled, cleaned up, and then the program ends."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from threading import Thread, current_thread, main_thread
from types import FrameType
from typing import Any


class HangUp:
    """Whether the terminal was closed since ``watch``; to be made and watched in the main thread.

    The screen calls ``watch`` before it measures and ``unwatch`` after it, and takes its events through
    ``to_the_end``. The signal of a closed terminal (SIGHUP) calls ``cancel``; when the measurement has then come to its
    end, and everything is stored and cleaned up, ``to_the_end`` ends the program.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._happened = False
        self._handler_before: signal._HANDLER | None = None

    def watch(self) -> None:
        if current_thread() is main_thread():
            self._handler_before = signal.signal(signal.SIGHUP, self._take_signal)

    def unwatch(self) -> None:
        if self._handler_before is not None:
            signal.signal(signal.SIGHUP, self._handler_before)
            self._handler_before = None

    def _take_signal(self, _number: int, _frame: FrameType | None) -> None:
        if not self._happened:
            self._happened = True
            Thread(target=self._cancel, daemon=True).start()

    def to_the_end(self, events: Callable[[], Iterable[tuple[int, Any]]]) -> Iterator[tuple[int, Any]]:
        """The events; after them it ends the program where the terminal was closed.

        That is done in the thread that measures, since the screen's thread may wait for the closed terminal.
        """
        try:
            yield from events()
        finally:
            if self._happened:
                os._exit(128 + signal.SIGHUP)
