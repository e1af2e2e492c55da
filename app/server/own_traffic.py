"""How many bytes our own transfer had moved at any moment, to tell them from what others moved.

The measuring process reports seconds and bytes of a run by its own clock, a little after they were true.
"""

import math
from bisect import bisect_right
from operator import itemgetter

_AT_ONCE_SECONDS = 1e-3
"""How long what came without a time of its own is taken to have lasted."""


class OwnTraffic:
    """One run's bytes over time, interpolated between its reports."""

    def __init__(self) -> None:
        self._points: list[tuple[float, int]] = [(0.0, 0)]
        """Seconds since the run's first request, and the bytes that it had moved by then."""
        self._began = math.inf
        """When its first request was sent, by our clock: as early as the report that arrived fastest says."""

    def add(self, arrived_at: float, seconds: float, moved_bytes: int) -> None:
        """Take note of a report: after ``seconds`` of the run it had moved those bytes.

        ``arrived_at`` is when the report came, by the monotonic clock.
        """
        self._began = min(self._began, arrived_at - seconds)
        last_seconds, last_bytes = self._points[-1]
        if seconds > last_seconds:
            self._points.append((seconds, moved_bytes))
        elif moved_bytes > last_bytes:
            # A program's own time for the whole run begins later than our watching it.
            self._points.append((last_seconds + _AT_ONCE_SECONDS, moved_bytes))

    def at(self, moment: float) -> float:
        """Bytes moved until that moment of the monotonic clock."""
        seconds = moment - self._began
        index = bisect_right(self._points, seconds, key=itemgetter(0))
        if index == 0:
            return 0.0
        if index == len(self._points):
            return float(self._points[-1][1])

        first_seconds, first_bytes = self._points[index - 1]
        last_seconds, last_bytes = self._points[index]
        share = (seconds - first_seconds) / (last_seconds - first_seconds)
        return first_bytes + (last_bytes - first_bytes) * share
