"""A terminal that is closed while something is under way: it is cancelled, and the server cleaned, before the end."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread
from types import FrameType


class HangUp:
    """Whether the terminal was closed since ``watch``; to be made and watched in the main thread."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        """``cancel`` ends what is under way; it is called from a thread of its own."""
        self._cancel = cancel
        self._happened = False
        self._before: signal._HANDLER | None = None

    def watch(self) -> None:
        """From now on the signal of a closed terminal cancels, where it would end the program at once."""
        if current_thread() is main_thread():
            self._before = signal.signal(signal.SIGHUP, self._heard)

    def unwatch(self) -> None:
        """The signal does again what it did before."""
        if self._before is not None:
            signal.signal(signal.SIGHUP, self._before)
            self._before = None

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if not self._happened:
            self._happened = True
            Thread(target=self._cancel, daemon=True).start()

    @contextmanager
    def ends_the_program(self) -> Iterator[None]:
        """Around what must be complete first; in any thread, since the one of the screen may wait for the terminal."""
        try:
            yield
        finally:
            if self._happened:
                os._exit(128 + signal.SIGHUP)
