"""The plan of a load, its events, what its workers count, and the engine process: a JSON line each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Self, get_args

from app.base.child_process import ChildProcess
from app.base.errors import ChildDiedError
from app.clients.base import Secrets
from app.recording.process import Failed, Warned
from storage import json_reader
from storage.load import records
from storage.plan import Settings
from storage.records import Target

SLICES = 5


class SteadyWindow:
    """What the users of one process do in a stretch of time."""

    def __init__(self, began: float, planned_seconds: float = 0.0) -> None:
        self.began = began
        self._slice_seconds = planned_seconds / SLICES
        self.slices = [0] * SLICES
        """Completed requests in each fifth of the planned time; late ones count in the last."""
        self.requests = self.reads = self.writes = 0
        self.read_bytes = self.write_bytes = 0
        self.late_starts = 0
        self.answers = self.failures = self.pauses = 0
        self.failed_seconds = self.think_seconds = 0.0

        self.edge_seconds = 0.0
        """Seconds of what was cut off by the window's end, less seconds of what began before the window."""
        self.moved_at = began
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
        self.answers += 1
        self.count_wait(seconds, now)
        self.moved_at = now

    def count_wait(self, seconds: float, now: float) -> None:
        self.silent_seconds = max(self.silent_seconds, min(seconds, now - self.moved_at))

    def count_request(self, kind: records.RequestKind, due: float, began: float, ended: float) -> None:
        self.requests += 1
        if self._slice_seconds:
            self.slices[min(SLICES - 1, int((ended - self.began) / self._slice_seconds))] += 1
        self.reads += kind.reads
        self.writes += kind.writes
        self.response.add(ended - due)
        self.service.add(ended - began)
        self.operations.setdefault(kind, records.HistogramBuilder()).add(ended - began)

    def count_refusal(self, seconds: float) -> None:
        self.failures += 1
        self.failed_seconds += seconds

    def count_moved(self, read_bytes: int, write_bytes: int, now: float) -> None:
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
    ) -> "WorkerFigures":
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


_MOST = 2**50
"""Limit of any count: the sum of 4,096 processes still fits in 64 bits."""


def _number(place: json_reader.JSONNode) -> float:
    if abs(place.number()) > _MOST:
        raise place.wrong(f"a number of at most {_MOST}")
    return place.number()


def _histogram(place: json_reader.JSONNode) -> records.Histogram:
    histogram = records.histogram_from_json(place)
    longest = records.lower_bound(max(histogram.counts, default=0))
    if max(histogram.count, histogram.total_microseconds, histogram.max_microseconds, longest) > _MOST:
        raise place.wrong(f"numbers of at most {_MOST}")
    return histogram


Counted = Annotated[int, json_reader.up_to(_MOST)]
Number = Annotated[float, _number]
Times = Annotated[records.Histogram, _histogram]


@dataclass(frozen=True, slots=True, kw_only=True)
class _WorkerCounts:
    index: Counted
    users: Counted
    connected: Counted
    requests: Counted
    read_bytes: Counted
    write_bytes: Counted
    errors: Mapping[str, Counted]
    first_error: str
    response: Times
    cpu_percent: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFigures(_WorkerCounts):
    """What one worker's users did in the steady window; not trusted, as a worker may be another machine's."""

    seconds: Annotated[float, json_reader.above_zero_up_to(_MOST)]
    reads: Counted
    writes: Counted
    late_starts: Counted
    answers: Counted
    pauses: Counted
    failures: Counted
    failed_seconds: Number
    think_seconds: Number
    edge_seconds: Number
    silent_seconds: Number
    absent: str
    """Why the first user without a session has none; empty if all have one."""
    slices: tuple[Counted, ...]
    service: Times
    operations: Mapping[records.RequestKind, Times]
    lateness: Times
    logins: Times
    held_percent: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSecond(_WorkerCounts):
    given_up: Counted


def sum_counts(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    targets: tuple[Target, ...]
    """Assigned to users round-robin."""
    secrets: Secrets = field(default_factory=Secrets)
    settings: Settings = field(default_factory=Settings)
    scenario: Annotated[records.Scenario, records.scenario_from_json]
    folder: str = ""
    reuse: bool = False
    keep: bool = False
    leftover: bool = False
    """The folder may remain from an interrupted load and is removed first."""
    processes: int = 1
    hosts: tuple[str, ...] = ()
    ramp_per_second: float = 20.0


class LoadPhase(StrEnum):
    FILES = "files"
    RAMP = "ramp"
    SETTLE = "settle"
    STEADY = "steady"
    PRINTING = "printing"
    CLEANING = "cleaning"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseBegan:
    phase: LoadPhase
    point: int = 0
    users: int = 0
    seconds: float = 0.0
    """Its expected length; 0 if unknown."""
    at_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesMade:
    files: int
    of_files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondPassed:
    point: int
    users: int
    connected: int
    requests_per_second: float
    read_bytes_per_second: float
    write_bytes_per_second: float
    errors: int
    p95_seconds: float | None
    cpu_percent: float
    """Of the load generator's busiest process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointMeasured:
    point: int
    users: int
    began_seconds: float
    ended_seconds: float
    ramp_seconds: float
    workers: tuple[WorkerFigures, ...] = ()
    failure: str | None = None
    errors: Mapping[str, int] = field(default_factory=dict)
    first_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersGone:
    at_seconds: float
    """When they were told to leave (monotonic clock); their last requests ended about then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsWait:
    jobs: int
    of_jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersReady:
    workers: tuple[records.LoadWorker, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEnded:
    failure: Failed | None = None
    left_behind: bool = False


LoadEvent = (
    PhaseBegan | FilesMade | SecondPassed | PointMeasured | UsersGone | JobsWait | WorkersReady | Warned | LoadEnded
)
LOAD_EVENTS: tuple[type, ...] = get_args(LoadEvent)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurePoint:
    number: int
    users: int
    size_bytes: int = 0
    """The only file size to use; 0 for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Command: all users leave until the next point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Command: clean up and end."""


LoadOrder = MeasurePoint | Rest | Finish
LOAD_ORDERS: tuple[type, ...] = get_args(LoadOrder)


GRACE_SECONDS = 120.0
"""Longest time for a cancelled engine to remove its files."""


class EngineProcess:
    """The process that makes a load: it is told of the points, and its events are read up to the end of each."""

    def __init__(self, plan: LoadPlan) -> None:
        self._plan = plan
        self.ended: LoadEnded | None = None
        self._process = ChildProcess("app.load.process", "engine", grace_seconds=GRACE_SECONDS)
        self._events = self._process.events(LOAD_EVENTS)

    def __enter__(self) -> Self:
        self._process.say(self._plan)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def ready(self) -> Iterator[LoadEvent]:
        return self._until(WorkersReady)

    def point(self, number: int, users: int, size_bytes: int | None = None) -> Iterator[LoadEvent]:
        self._process.say(MeasurePoint(number=number, users=users, size_bytes=size_bytes or 0))
        return self._until(PointMeasured)

    def let_users_rest(self) -> Iterator[LoadEvent]:
        self._process.say(Rest())
        return self._until(UsersGone)

    def finish(self) -> Iterator[LoadEvent]:
        self._process.say(Finish())
        return self._until(LoadEnded)

    def cancel(self) -> None:
        """Stop at once and clean up; thread-safe."""
        self._process.cancel()

    def _until(self, last: type[LoadEvent]) -> Iterator[LoadEvent]:
        while self.ended is None:
            event = next(self._events, None)
            if event is None:
                text = f"the load's engine {self._process.how_it_ended()}; the points before it are kept"
                event = LoadEnded(failure=Failed(kind=ChildDiedError, text=text))
            if isinstance(event, LoadEnded):
                self.ended = event
            yield event
            if isinstance(event, last):
                return
