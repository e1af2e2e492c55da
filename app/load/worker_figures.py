"""What a worker process of a load counts, and tells the engine: each second, and at the end of a point's window.

A worker is a process whose greenlets are users. They count what they do in a SteadyWindow, which becomes WorkerFigures
or a WorkerSecond. A worker may run on another machine, so nothing that it says is trusted: numbers are read with
limits, by the function that the type of a field names (``Annotated``), and a message that exceeds one is no message.
All moments are of the monotonic clock, in seconds.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from storage import json_reader
from storage.load import records
from storage.request_times import lower_bound

_MOST = 2**50
"""Limit of any count: the sum of 4,096 processes still fits in 64 bits."""


# Readers of what a worker sent; for those behind ``Annotated`` see `storage.json_reader`. They raise DocumentError.


def _number(place: json_reader.JSONNode) -> float:
    if abs(place.number()) > _MOST:
        raise place.wrong(f"a number of at most {_MOST}")
    return place.number()


def _histogram(place: json_reader.JSONNode) -> records.Histogram:
    histogram = records.histogram_from_json(place)
    # A histogram counts by classes of time, of which only the number was sent.
    longest = lower_bound(max(histogram.counts, default=0))
    if max(histogram.count, histogram.total_microseconds, histogram.max_microseconds, longest) > _MOST:
        raise place.wrong(f"numbers of at most {_MOST}")
    return histogram


Counted = Annotated[int, json_reader.up_to(_MOST)]
Number = Annotated[float, _number]
Times = Annotated[records.Histogram, _histogram]


@dataclass(frozen=True, slots=True, kw_only=True)
class _WorkerCounts:
    """What a worker tells of a second and of the window alike."""

    index: Counted
    """The number of the worker process in the whole load."""
    users: Counted
    """Users that it runs, with a session or without."""
    connected: Counted
    """Users with a session, at the end."""
    requests: Counted
    """Those that were completed."""
    read_bytes: Counted
    write_bytes: Counted
    errors: Mapping[str, Counted]
    """How many, by kind of error."""
    first_error: str
    """Its text; empty for none."""
    response: Times
    """From when a request was due until it was answered."""
    cpu_percent: Number
    """Of one processor, used by this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFigures(_WorkerCounts):
    """What one worker's users did in the steady window."""

    seconds: Annotated[float, json_reader.above_zero_up_to(_MOST)]
    """The length of the window."""
    absent: str
    """Why the first user without a session has none, for people; empty if all have one."""
    logins: Times
    """How long each login took since the process began."""

    # Requests

    reads: Counted
    writes: Counted
    late_starts: Counted
    """Of users on a schedule: requests that were due before the previous one was done."""
    slices: tuple[Counted, ...]
    """Completed requests in each fifth of the window."""
    service: Times
    """From when a request was sent until it was answered."""
    operations: Mapping[records.RequestKind, Times]
    """Service times by kind of request."""

    # Little's law: users = requests/s * (answer + pause), which checks the figures

    answers: Counted
    """Completed requests and failures together."""
    failures: Counted
    """Requests that ended with an error."""
    pauses: Counted
    """How many ended in the window."""
    think_seconds: Number
    """All these pauses together."""
    failed_seconds: Number
    """What all these failures took together."""
    edge_seconds: Number
    """Seconds of pauses and requests that the window's end cut off, less seconds of those begun before the window."""

    # How far the figures can be trusted

    silent_seconds: Number
    """Longest time in which a request waited and no bytes moved."""
    lateness: Times
    """How late the process woke from short sleeps."""
    held_percent: Number
    """Share of the window in which the process worked or waited for a processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSecond(_WorkerCounts):
    """What one worker's users did in the last second."""

    given_up: Counted
    """Users who try no further login, after several that failed."""


def sum_counts(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Counts by name, added up over all parts."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)


SLICES = 5
"""Parts of the measured window whose rates are compared, to see whether the load was steady."""


class SteadyWindow:
    """Counts what the users of one process do in a stretch of time; fields are as those of `WorkerFigures`.

    The users (`app.load.users`) call a ``count_…`` method when something has ended. They themselves add to
    ``late_starts``, ``edge_seconds`` and ``lateness``, which are theirs to know. Each answer is counted by
    ``count_answer``, and then by ``count_request`` where it completed a request, else by ``count_failure``.
    """

    def __init__(self, began: float, planned_seconds: float = 0.0) -> None:
        """``planned_seconds`` is 0 for a stretch without slices."""
        self.began = began
        self._slice_seconds = planned_seconds / SLICES
        self.slices = [0] * SLICES
        """Completed requests in each fifth of the planned time; late ones count in the last."""

        # Completed requests
        self.requests = 0
        self.reads = 0
        self.writes = 0
        self.late_starts = 0
        self.read_bytes = 0
        self.write_bytes = 0

        # Turns of users: a pause, then a request that is answered, well or with an error
        self.pauses = 0
        self.answers = 0
        self.failures = 0
        self.think_seconds = 0.0
        self.failed_seconds = 0.0
        self.edge_seconds = 0.0
        """Seconds of what was cut off by the window's end, less seconds of what began before the window."""

        self.moved_at = began
        """When a byte or an answer came last."""
        self.silent_seconds = 0.0
        """Longest time in which a request waited and no bytes moved."""
        self.errors: dict[str, int] = {}
        self.first_error = ""

        self.response = records.HistogramBuilder()
        self.service = records.HistogramBuilder()
        self.operations: dict[records.RequestKind, records.HistogramBuilder] = {}
        self.lateness = records.HistogramBuilder()

    def count_pause(self, seconds: float) -> None:
        self.pauses += 1
        self.think_seconds += seconds

    def count_answer(self, seconds: float, now: float) -> None:
        """A request was answered, well or with an error, ``seconds`` after it was sent."""
        self.answers += 1
        self.count_wait(seconds, now)
        self.moved_at = now

    def count_wait(self, seconds: float, now: float) -> None:
        """A request has waited for that many seconds by now; it was silence only while nothing else moved."""
        self.silent_seconds = max(self.silent_seconds, min(seconds, now - self.moved_at))

    def count_request(self, kind: records.RequestKind, due: float, began: float, ended: float) -> None:
        """A request was completed; it was ``due`` before it ``began`` where its user was late. Moments, not lengths."""
        self.requests += 1
        if self._slice_seconds:
            self.slices[min(SLICES - 1, int((ended - self.began) / self._slice_seconds))] += 1
        self.reads += kind.reads
        self.writes += kind.writes
        self.response.add(ended - due)
        self.service.add(ended - began)
        self.operations.setdefault(kind, records.HistogramBuilder()).add(ended - began)

    def count_failure(self, seconds: float) -> None:
        """A request ended with an error, ``seconds`` after it was sent."""
        self.failures += 1
        self.failed_seconds += seconds

    def count_moved(self, read_bytes: int, write_bytes: int, now: float) -> None:
        """These bytes have moved since the call before."""
        self.moved_at = now
        self.read_bytes += read_bytes
        self.write_bytes += write_bytes

    def count_error(self, kind: str, text: str) -> None:
        self.errors[kind] = self.errors.get(kind, 0) + 1
        self.first_error = self.first_error or text

    def figures(
        self,
        *,
        index: int,
        users: int,
        connected: int,
        seconds: float,
        absent: str,
        logins: records.Histogram,
        cpu_percent: float,
        held_percent: float,
    ) -> WorkerFigures:
        """The counters as the engine is told them, with what the process knows beside them."""
        return WorkerFigures(
            index=index,
            users=users,
            connected=connected,
            seconds=seconds,
            absent=absent,
            logins=logins,
            cpu_percent=cpu_percent,
            held_percent=held_percent,
            requests=self.requests,
            reads=self.reads,
            writes=self.writes,
            read_bytes=self.read_bytes,
            write_bytes=self.write_bytes,
            late_starts=self.late_starts,
            answers=self.answers,
            pauses=self.pauses,
            failures=self.failures,
            failed_seconds=self.failed_seconds,
            think_seconds=self.think_seconds,
            edge_seconds=self.edge_seconds,
            silent_seconds=self.silent_seconds,
            slices=tuple(self.slices),
            errors=self.errors,
            first_error=self.first_error,
            response=self.response.built(),
            service=self.service.built(),
            lateness=self.lateness.built(),
            operations={kind: builder.built() for kind, builder in self.operations.items()},
        )
