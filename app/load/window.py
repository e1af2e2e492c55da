"""What the users of one process did in a point's steady window: counts, bytes and times of what ended in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from storage.json_reader import JSONNode, above_zero_up_to, named, up_to
from storage.loads.histogram import Histogram, HistogramBuilder, histogram_from_json, lower_bound
from storage.loads.scenario import RequestKind

SLICES = 5
"""The parts of a window whose rates say how much they vary."""


class SteadyWindow:
    """Counters that run from one moment to another."""

    def __init__(self, began: float, planned_seconds: float = 0.0) -> None:
        self.began = began
        self._slice_seconds = planned_seconds / SLICES
        self.slices = [0] * SLICES
        """Requests that were completed in each fifth of the planned time; those of a late end are in the last."""
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
        self.operations: dict[RequestKind, HistogramBuilder] = {}
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
        if self._slice_seconds:
            self.slices[min(SLICES - 1, int((ended - self.began) / self._slice_seconds))] += 1
        self.reads += kind.reads
        self.writes += kind.writes
        self.response.add(ended - due)
        self.service.add(ended - began)
        self.operations.setdefault(kind, HistogramBuilder()).add(ended - began)

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

    def figures(self, **more: Any) -> "WorkerFigures":
        """All of it, with what the window does not know of its process."""
        return WorkerFigures(
            **named(self, "requests", "reads", "writes", "read_bytes", "write_bytes", "late_starts", "answers"),
            **named(self, "failures", "failed_seconds", "pauses", "think_seconds", "edge_seconds", "silent_seconds"),
            **named(self, "errors", "first_error"),
            slices=tuple(self.slices),
            response=self.response.built(),
            service=self.service.built(),
            operations={name: each.built() for name, each in self.operations.items()},
            lateness=self.lateness.built(),
            **more,
        )


_MOST = 2**50
"""Of any count: what 4,096 processes tell together is still a number of 64 bits."""


def _number(place: JSONNode) -> float:
    if abs(place.number()) > _MOST:
        raise place.wrong(f"a number of at most {_MOST}")
    return place.number()


def _histogram(place: JSONNode) -> Histogram:
    found = histogram_from_json(place)
    longest = lower_bound(max(found.counts, default=0))
    if max(found.count, found.total_microseconds, found.max_microseconds, longest) > _MOST:
        raise place.wrong(f"numbers of at most {_MOST}")
    return found


Counted = Annotated[int, up_to(_MOST)]
Number = Annotated[float, _number]
Times = Annotated[Histogram, _histogram]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFigures:
    """What the users of one worker process did in the steady window; another machine's may be anything that is read."""

    index: Counted
    seconds: Annotated[float, above_zero_up_to(_MOST)]
    users: Counted
    connected: Counted
    requests: Counted
    reads: Counted
    writes: Counted
    read_bytes: Counted
    write_bytes: Counted
    late_starts: Counted
    answers: Counted
    pauses: Counted
    failures: Counted
    failed_seconds: Number
    think_seconds: Number
    edge_seconds: Number
    silent_seconds: Number
    errors: Mapping[str, Counted]
    first_error: str
    absent: str
    """Why the first user without a session has none; empty where all have one."""
    slices: tuple[Counted, ...]
    response: Times
    service: Times
    operations: Mapping[RequestKind, Times]
    lateness: Times
    logins: Times
    cpu_percent: Number
    held_percent: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSecond:
    """What they did in about one second."""

    index: Counted
    users: Counted
    connected: Counted
    given_up: Counted
    requests: Counted
    read_bytes: Counted
    write_bytes: Counted
    errors: Mapping[str, Counted]
    first_error: str
    response: Times
    cpu_percent: Number


def counted(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Counts by name, added up."""
    total: dict[str, int] = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total
