"""Counts, bytes and times of one process's users in a steady window."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from storage.json_reader import JSONNode, above_zero_up_to, shared, up_to
from storage.loads.records import Histogram, HistogramBuilder, RequestKind, histogram_from_json, lower_bound

SLICES = 5
"""Parts of a window whose rates give the variation."""


class SteadyWindow:
    """Counters of one window."""

    def __init__(self, began: float, planned_seconds: float = 0.0) -> None:
        self.began = began
        self._slice_seconds = planned_seconds / SLICES
        self.slices = [0] * SLICES
        """Completed requests in each fifth of the planned time; late ones count in the last."""
        self.requests = self.reads = self.writes = self.read_bytes = self.write_bytes = self.late_starts = 0
        self.answers = self.failures = self.pauses = 0
        self.failed_seconds = self.think_seconds = 0.0
        self.edge_seconds = 0.0
        """Seconds of what was cut off by the window's end, less seconds of what began before the window."""
        self.moved_at = began
        self.silent_seconds = 0.0
        """Longest time in which a request waited and no bytes moved."""
        self.errors: dict[str, int] = {}
        self.first_error = ""
        self.response, self.service = HistogramBuilder(), HistogramBuilder()
        self.operations: dict[RequestKind, HistogramBuilder] = {}
        self.lateness = HistogramBuilder()

    def paused(self, seconds: float) -> None:
        self.pauses += 1
        self.think_seconds += seconds

    def answered(self, seconds: float, now: float) -> None:
        """Counted apart from :meth:`done` and :meth:`refused`, as a check."""
        self.answers += 1
        self.waited(seconds, now)
        self.moved_at = now

    def waited(self, seconds: float, now: float) -> None:
        self.silent_seconds = max(self.silent_seconds, min(seconds, now - self.moved_at))

    def done(self, kind: RequestKind, due: float, began: float, ended: float) -> None:
        self.requests += 1
        if self._slice_seconds:
            self.slices[min(SLICES - 1, int((ended - self.began) / self._slice_seconds))] += 1
        self.reads += kind.reads
        self.writes += kind.writes
        self.response.add(ended - due)
        self.service.add(ended - began)
        self.operations.setdefault(kind, HistogramBuilder()).add(ended - began)

    def refused(self, seconds: float) -> None:
        self.failures += 1
        self.failed_seconds += seconds

    def moved(self, read_bytes: int, write_bytes: int, now: float) -> None:
        """The request may not be complete yet."""
        self.moved_at = now
        self.read_bytes += read_bytes
        self.write_bytes += write_bytes

    def failed(self, kind: str, text: str) -> None:
        self.errors[kind] = self.errors.get(kind, 0) + 1
        self.first_error = self.first_error or text

    def figures(self, **more: Any) -> "WorkerFigures":
        return WorkerFigures(
            **shared(self, WorkerFigures)
            | {name: getattr(self, name).built() for name in ("response", "service", "lateness")}
            | {"operations": {name: each.built() for name, each in self.operations.items()}}
            | {"slices": tuple(self.slices)}
            | more
        )


_MOST = 2**50
"""Limit of any count: the sum of 4,096 processes still fits in 64 bits."""


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
    """What one worker's users did in the steady window; not trusted, as a worker may be another machine's."""

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
    """Why the first user without a session has none; empty if all have one."""
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
    """What one worker's users did in about one second."""

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
