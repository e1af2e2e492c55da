"""How many bytes a run of our own had moved at any moment, from reports that arrive late and ten times a second."""

from bisect import bisect_right

_AT_ONCE_SECONDS = 1e-3


class OwnTraffic:
    """The course of one run: bytes over the run's own seconds, placed on this process's clock.

    A report says how many seconds after the run's first request it was made. The report that took the least time to
    arrive tells when that first request was; between two reports bytes are taken to move evenly.
    """

    def __init__(self) -> None:
        self._points: list[tuple[float, int]] = [(0.0, 0)]
        self._began: float | None = None

    def add(self, arrived_at: float, seconds: float, moved_bytes: int) -> None:
        """Take in a report; times in seconds, ``arrived_at`` by the clock that :meth:`at` is asked by."""
        began = arrived_at - seconds
        self._began = began if self._began is None else min(self._began, began)
        last_seconds, last_bytes = self._points[-1]
        if seconds > last_seconds:
            self._points.append((seconds, moved_bytes))
        elif moved_bytes > last_bytes:  # a program's own time for the whole run begins later than our watching it
            self._points.append((last_seconds + _AT_ONCE_SECONDS, moved_bytes))

    def at(self, moment: float) -> float:
        """Bytes that had moved at a moment: none before the run began, all after its last report."""
        if self._began is None:
            return 0.0
        seconds = moment - self._began
        index = bisect_right(self._points, seconds, key=lambda point: point[0])
        if index == 0:
            return 0.0
        if index == len(self._points):
            return float(self._points[-1][1])
        (first, done), (last, then) = self._points[index - 1], self._points[index]
        return done + (then - done) * (seconds - first) / (last - first)
