"""What happens to a measurement when a signal ends the program: it is cancelled and cleaned up before."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from threading import Thread, current_thread, main_thread
from types import FrameType
from typing import Any

from app.base.terminal_state import ENDING_SIGNALS, restore_terminal


class HangUp:
    """Whether a signal was to end the program since ``watch``; to be made and watched in the main thread.

    The screen calls ``watch`` before it measures and ``unwatch`` after it, and takes its events through
    ``to_the_end``. The signal of a closed terminal (SIGHUP), and SIGTERM, call ``cancel``; when the measurement has
    then come to its end, and everything is stored and cleaned up, ``to_the_end`` ends the program.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._signal: int | None = None
        """The one that came."""
        self._handlers_before: dict[int, Any] = {}

    def watch(self) -> None:
        if current_thread() is main_thread():
            for number in ENDING_SIGNALS:
                self._handlers_before.setdefault(number, signal.signal(number, self._take_signal))

    def unwatch(self) -> None:
        for number, handler in self._handlers_before.items():
            signal.signal(number, handler)
        self._handlers_before.clear()

    def _take_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._signal is None:
            self._signal = number
            Thread(target=self._cancel, daemon=True).start()

    def to_the_end(self, events: Callable[[], Iterable[tuple[int, Any]]]) -> Iterator[tuple[int, Any]]:
        """The events; after them it ends the program where a signal was to end it.

        That is done in the thread that measures, since the screen's thread may wait for the closed terminal.
        """
        try:
            yield from events()
        finally:
            if self._signal is not None:
                restore_terminal()
                os._exit(128 + self._signal)
