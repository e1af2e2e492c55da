"""What the users of one process did in a point's steady window: counts, bytes and times of what ended in it."""

from collections.abc import Mapping
from typing import Any

from storage.json_reader import named
from storage.loads.histogram import Histogram, HistogramBuilder
from storage.loads.scenario import RequestKind


class SteadyWindow:
    """Counters that run from one moment to another."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.requests = self.reads = self.writes = self.read_bytes = self.write_bytes = self.late_starts = 0
        self.answers = self.failures = self.pauses = 0
        self.failed_seconds = self.think_seconds = 0.0
        self.edge_seconds = 0.0
        """Of pauses and requests that ended later, less what those that ended in the window had taken before it."""
        self.moved_at = began
        """When something was answered, or bytes moved, last."""
        self.silent_seconds = 0.0
        """The longest time in which a request waited and nothing moved for anybody."""
        self.errors: dict[str, int] = {}
        self.first_error = ""
        self.response, self.service = HistogramBuilder(), HistogramBuilder()
        self.operations: dict[str, HistogramBuilder] = {}
        self.lateness = HistogramBuilder()

    def paused(self, seconds: float) -> None:
        """A user's pause has ended."""
        self.pauses += 1
        self.think_seconds += seconds

    def answered(self, seconds: float, now: float) -> None:
        """A user has got an answer, good or bad; counted apart from :meth:`done` and :meth:`refused`, as a check."""
        self.answers += 1
        self.waited(seconds, now)
        self.moved_at = now

    def waited(self, seconds: float, now: float) -> None:
        """A request has been waiting for so long."""
        self.silent_seconds = max(self.silent_seconds, min(seconds, now - self.moved_at))

    def done(self, kind: RequestKind, due: float, began: float, ended: float) -> None:
        """A request was completed."""
        self.requests += 1
        self.reads += kind.reads
        self.writes += kind.writes
        self.response.add(ended - due)
        self.service.add(ended - began)
        self.operations.setdefault(kind.value, HistogramBuilder()).add(ended - began)

    def refused(self, seconds: float) -> None:
        """A request ended with an error after so long."""
        self.failures += 1
        self.failed_seconds += seconds

    def moved(self, read_bytes: int, write_bytes: int, now: float) -> None:
        """Bytes have moved, of a request that may not be done yet."""
        self.moved_at = now
        self.read_bytes += read_bytes
        self.write_bytes += write_bytes

    def failed(self, kind: str, text: str) -> None:
        """Something went wrong."""
        self.errors[kind] = self.errors.get(kind, 0) + 1
        self.first_error = self.first_error or text

    def figures(self) -> dict[str, Any]:
        """All of it, to be sent and added up."""
        return {
            **named(self, "requests", "reads", "writes", "read_bytes", "write_bytes", "late_starts", "answers"),
            **named(self, "failures", "failed_seconds", "pauses", "think_seconds", "edge_seconds", "silent_seconds"),
            **named(self, "errors", "first_error"),
            "response": packed(self.response.built()),
            "service": packed(self.service.built()),
            "operations": {name: packed(each.built()) for name, each in self.operations.items()},
            "lateness": packed(self.lateness.built()),
        }


def packed(histogram: Histogram) -> list[Any]:
    """A histogram as lists of numbers."""
    return [list(histogram.counts.items()), histogram.total_microseconds, histogram.max_microseconds]


def unpacked(found: list[Any]) -> Histogram:
    """The histogram in lists of :func:`packed`."""
    return Histogram(
        counts={int(n): int(c) for n, c in found[0]}, total_microseconds=found[1], max_microseconds=found[2]
    )


def counted(parts: list[Mapping[str, int]]) -> dict[str, int]:
    """Counts by name, added up."""
    total: dict[str, int] = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total
