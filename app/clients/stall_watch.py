"""When a transfer counts as stalled: too few bytes of files or lists moved within ``--timeout``.

A *stage* is several requests, such as a login, that have a time limit together; the timeout holds within it as well.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.base import errors

LEAST_BYTES_PER_SECOND = 1024


_SHARE_OF_TIMEOUT = 0.9
"""A wait of this share of the timeout and more counts as one for a silent server, although the stage ended it."""


def _explain_nothing() -> str:
    return ""


class StallWatch:
    """Fails when too little payload moved in ``seconds``; greetings, keep-alives and single bytes do not count.

    ``start`` begins a wait, ``note_moved`` begins the next one when enough has moved, and ``check`` raises after the
    deadline.
    """

    def __init__(self, seconds: float, where: Callable[[], str], clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self.explain: Callable[[], str] = _explain_nothing
        """Called for an error: what else is known of why nothing moves, as a clause; empty for nothing."""
        self._where = where
        self._clock = clock
        self._payload_bytes = 0
        """Moved when the wait began."""
        self._began_at = clock()
        self._deadline = self._began_at + seconds
        self._stage_end = math.inf
        """By the clock; never, outside of a stage."""
        self._stage_seconds = math.inf

    def start(self) -> None:
        """Begin to wait, with no bytes moved."""
        self._payload_bytes = 0
        self._began_at = self._clock()
        self._deadline = min(self._began_at + self.seconds, self._stage_end)

    def note_moved(self, payload_bytes: int) -> None:
        """Say how many bytes have moved in all since :meth:`start`. Raises StalledError."""
        if payload_bytes - self._payload_bytes >= self.seconds * LEAST_BYTES_PER_SECOND:
            self._payload_bytes = payload_bytes
            self._began_at = self._clock()
            self._deadline = min(self._began_at + self.seconds, self._stage_end)
        else:
            self.check()

    @property
    def is_over(self) -> bool:
        return self._clock() > self._deadline

    def check(self) -> None:
        """Raises StalledError after the deadline."""
        if self.is_over:
            raise self.error()

    def left_seconds(self) -> float:
        """At least a millisecond: a socket takes 0 for non-blocking."""
        return max(0.001, self._deadline - self._clock())

    def error(self) -> errors.StalledError:
        """The error for a deadline that has passed: which of the two limits it was."""
        now = self._clock()
        is_stage_over = now > self._stage_end
        was_silent_long = now - self._began_at >= _SHARE_OF_TIMEOUT * self.seconds
        if is_stage_over and not was_silent_long:
            # The server went on answering, each time soon enough: what it did not keep is the limit of all together.
            happened = f"it was not done within {self._stage_seconds:g} s"
        else:
            happened = f"nothing moved for {self.seconds:g} s"
        explanation = self.explain()
        if explanation:
            happened += f"; {explanation}"
        return errors.StalledError(
            f"{self._where()}: {happened}; look at the server and the network, or allow it more time"
        )

    @contextmanager
    def stage(self, seconds: float) -> Iterator[None]:
        """Several requests that have to be done in ``seconds`` together."""
        outer_end = self._stage_end
        outer_seconds = self._stage_seconds
        end = self._clock() + seconds
        if end < outer_end:
            self._stage_end = end
            self._stage_seconds = seconds
        self.start()
        try:
            yield
        finally:
            self._stage_end = outer_end
            self._stage_seconds = outer_seconds
