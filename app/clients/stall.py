"""How long a client waits for what it came for: only payload restarts that time, and a trickle of it does not."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.errors import StalledError

LEAST_BYTES_PER_SECOND = 1024
"""What moves more slowly stands still: a tenth of what a telephone line carried."""


class StallWatch:
    """One deadline, ``seconds`` away at first and after each amount of payload that is worth the wait.

    Greetings, interim answers, keep-alives and single bytes are no payload: whoever sends those alone is given up.
    """

    def __init__(self, seconds: float, where: Callable[[], str], clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._where = where
        self._clock = clock
        self._payload_bytes = 0
        self._deadline = clock() + seconds
        self._stage_end = math.inf

    def start(self) -> None:
        """Begin to wait: for an answer, or for the first payload of a transfer."""
        self._payload_bytes = 0
        self._deadline = min(self._clock() + self.seconds, self._stage_end)

    def moved(self, payload_bytes: int) -> None:
        """So much payload has moved since :meth:`start`. Raises StalledError when that is too little for the time."""
        if payload_bytes - self._payload_bytes >= self.seconds * LEAST_BYTES_PER_SECOND:
            self._payload_bytes = payload_bytes
            self._deadline = min(self._clock() + self.seconds, self._stage_end)
        else:
            self.check()

    def check(self) -> None:
        """Raise StalledError when the time is over."""
        if self._clock() > self._deadline:
            raise self.error()

    def left_seconds(self) -> float:
        """How long may still be waited; never below a millisecond, which a socket would take for 'do not wait'."""
        return max(0.001, self._deadline - self._clock())

    def error(self) -> StalledError:
        """The error that is raised when the time is over."""
        return StalledError(
            f"{self._where()}: nothing moved for {self.seconds:g} s; look at the server and the network, or allow it "
            "more time"
        )

    @contextmanager
    def stage(self, seconds: float) -> Iterator[None]:
        """A login or another conversation that must be over after so long, however many answers it takes."""
        before, self._stage_end = self._stage_end, min(self._stage_end, self._clock() + seconds)
        self.start()
        try:
            yield
        finally:
            self._stage_end = before
