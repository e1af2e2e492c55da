"""Notices that the measuring process itself stood still: stopped, or its whole machine held up."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from storage.records import LEAST_STANDSTILL_SECONDS

_INTERVAL_SECONDS = 0.25
"""Four looks a second, of some 20 microseconds each, take nothing from a transfer that could be measured."""


class StandstillWatch:
    """A thread that looks at the clock four times a second: by how much it is late, the process stood still.

    Used inside ``with``; :meth:`begin` as a run begins, :meth:`standstill_seconds` as it ends.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ended = threading.Event()
        self._looked_at = clock()
        self._longest_seconds = 0.0
        self._thread = threading.Thread(target=self._look_again_and_again, name="standstill", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def begin(self) -> None:
        """Forget what was before, as a run begins."""
        self._looked_at = self._clock()
        self._longest_seconds = 0.0

    def standstill_seconds(self) -> float:
        """The longest standstill since :meth:`begin`; 0 for what a busy machine does."""
        self._look()  # after a standstill the run may end before the thread has its turn
        longest = self._longest_seconds
        return longest if longest >= LEAST_STANDSTILL_SECONDS else 0.0

    def _look_again_and_again(self) -> None:
        while not self._ended.wait(_INTERVAL_SECONDS):
            self._look()

    def _look(self) -> None:
        now = self._clock()
        late_seconds = now - self._looked_at - _INTERVAL_SECONDS
        self._looked_at = now
        self._longest_seconds = max(self._longest_seconds, late_seconds)
