"""The records of loads: many users at once who ask a server for files.

A *scenario* says what each user does: which kinds of request, on files of which sizes, and how fast. A *point* is a
measurement with one number of users; a load has several. How long requests took is kept as a *histogram*: counts by
class of time, so that any percentile can be computed of any number of requests.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from storage import json_reader, request_times
from storage.plan import MOST_SECONDS, Imitated
from storage.records import Facts, JSONValue, LeasedHead, Spread, Target

# The most that may be asked for.
MOST_FILES = 10_000_000
MOST_STEADY_SECONDS = 7 * 86400.0
MOST_SHARE = 1e6


def _share(node: json_reader.JSONNode) -> float:
    """A share of requests or sizes; all of them need not add up to 1 or 100."""
    if not 0 < node.number() <= MOST_SHARE:
        raise node.wrong("a share above 0")
    return node.number()


def _seconds(node: json_reader.JSONNode) -> float:
    if not 0 <= node.number() <= MOST_STEADY_SECONDS:
        raise node.wrong(f"seconds from 0 to {MOST_STEADY_SECONDS:g}")
    return node.number()


class RequestKind(StrEnum):
    """What a user does at once: some requests of the protocol that are timed as one."""

    READ = "read"
    WRITE = "write"
    READ_PARTS = "read-parts"
    """Query, open, read pieces here and there, close."""
    WRITE_PARTS = "write-parts"
    LIST = "list"
    QUERY = "query"
    SAVE = "save"
    """Write a new file beside an old one, remove the old one, rename the new one."""
    COPY_IN = "copy-in"
    """Make a file in the user's folder, replacing the last one."""
    COPY_OUT = "copy-out"
    PRINT = "print"

    @property
    def reads(self) -> bool:
        return self in {RequestKind.READ, RequestKind.READ_PARTS, RequestKind.COPY_OUT}

    @property
    def writes(self) -> bool:
        return self in {
            RequestKind.WRITE,
            RequestKind.WRITE_PARTS,
            RequestKind.SAVE,
            RequestKind.COPY_IN,
            RequestKind.PRINT,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeClass:
    """A size of files, and how many of the files have it, in proportion to the other sizes' shares."""

    size_bytes: json_reader.Count
    share: Annotated[float, _share]


@dataclass(frozen=True, slots=True, kw_only=True)
class Think:
    """The pause that a user makes between an answer and the next request."""

    seconds: float
    """On average."""
    exponential: bool = False
    """Whether pauses vary as those of a Poisson process do; else each is as long."""

    def __str__(self) -> str:
        distribution = "exp:" if self.exponential else ""
        return f"{distribution}{self.seconds:g}"


USUAL_THINK = Think(seconds=0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What each user of a load does, on which files, and for how long it is measured."""

    name: json_reader.Filled
    about: str = ""

    # The files on the server, for all users together.
    files: Annotated[int, json_reader.up_to(MOST_FILES)] = 0
    sizes: tuple[SizeClass, ...] = ()

    # What each user does, and how fast.
    requests: Mapping[RequestKind, Annotated[float, _share]] = field(default_factory=dict)
    """The kinds with their shares; none for users who only log in."""
    think: Think = USUAL_THINK
    pace_seconds: Annotated[float, json_reader.above_zero_up_to(MOST_STEADY_SECONDS)] | None = None
    """A user's requests are due at this interval, whatever the answers take; None where users think between them."""

    # How long it is measured.
    duration_seconds: Annotated[float, json_reader.above_zero_up_to(MOST_STEADY_SECONDS)] = 60.0
    """Of the steady window, in which requests are counted."""
    settle_seconds: Annotated[float, _seconds] = 10.0
    """Between the last login and that window."""
    seed: Annotated[int, json_reader.up_to(2**31)] = 1
    """Of the order of kinds and files."""

    @property
    def needs_files(self) -> bool:
        return any(kind is not RequestKind.PRINT for kind in self.requests)

    def to_json(self) -> dict[str, JSONValue]:
        return {
            **json_reader.named(self, "name", "about", "files"),
            "sizes": [{"size_bytes": size.size_bytes, "share": size.share} for size in self.sizes],
            "requests": {kind.value: share for kind, share in self.requests.items()},
            "think_seconds": self.think.seconds,
            "think_exponential": self.think.exponential,
            **json_reader.named(self, "pace_seconds", "duration_seconds", "settle_seconds", "seed"),
        }


def scenario_from_json(node: json_reader.JSONNode) -> Scenario:
    """The scenario of :meth:`Scenario.to_json`. Raises DocumentError."""
    scenario = node.record(Scenario, leave=frozenset({"think"}))
    scenario = replace(scenario, think=_think_from_json(node))
    if scenario.needs_files and not scenario.files:
        raise node.maybe("files").wrong("a number of files above 0, since its requests need some")
    if scenario.requests and not scenario.sizes:
        raise node.maybe("sizes").wrong("at least one size")
    return scenario


def _think_from_json(node: json_reader.JSONNode) -> Think:
    is_exponential = bool(node.maybe("think_exponential").read(bool | None))
    if node.maybe("think_seconds").value is None:
        return Think(seconds=USUAL_THINK.seconds, exponential=is_exponential)
    return Think(seconds=_seconds(node.at("think_seconds")), exponential=is_exponential)


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Times of many requests: how many fell into each class, their sum and the longest."""

    counts: Mapping[int, int] = field(default_factory=dict)
    """By the class's number."""
    total_microseconds: int = 0
    max_microseconds: int = 0

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @property
    def mean_seconds(self) -> float | None:
        return self.total_microseconds / self.count / 1e6 if self.counts else None

    def quantile_seconds(self, share: float) -> float | None:
        """The time that this share of the times does not exceed, as the middle of its class; None without any."""
        microseconds = request_times.quantile(self.counts, share, self.max_microseconds)
        return None if microseconds is None else microseconds / 1e6

    def to_json(self) -> dict[str, JSONValue]:
        return {
            "counts": [[request_times.lower_bound(number), self.counts[number]] for number in sorted(self.counts)],
            **json_reader.named(self, "total_microseconds", "max_microseconds"),
        }


def merge_histograms(histograms: Iterable[Histogram]) -> Histogram:
    """One histogram of the times in all of them."""
    counts: dict[int, int] = {}
    total_microseconds = 0
    max_microseconds = 0
    for histogram in histograms:
        for number, count in histogram.counts.items():
            counts[number] = counts.get(number, 0) + count
        total_microseconds += histogram.total_microseconds
        max_microseconds = max(max_microseconds, histogram.max_microseconds)
    return Histogram(counts=counts, total_microseconds=total_microseconds, max_microseconds=max_microseconds)


def histogram_from_json(node: json_reader.JSONNode) -> Histogram:
    """The histogram of :meth:`Histogram.to_json`. Raises DocumentError."""
    if node.value is None:
        return Histogram()

    counts: dict[int, int] = {}
    for pair in node.object().at("counts").items():
        parts = pair.items()
        if len(parts) != 2:
            raise pair.wrong("[microseconds, count]")
        microseconds, count = parts
        number = request_times.class_of(microseconds.whole(at_least=0))
        counts[number] = counts.get(number, 0) + count.whole(at_least=1)

    return Histogram(
        counts=counts,
        total_microseconds=node.at("total_microseconds").whole(at_least=0),
        max_microseconds=node.at("max_microseconds").whole(at_least=0),
    )


@dataclass(slots=True)
class HistogramBuilder:
    """A histogram that times are still added to."""

    counts: dict[int, int] = field(default_factory=dict)
    total_microseconds: int = 0
    max_microseconds: int = 0

    def add(self, seconds: float) -> None:
        microseconds = max(0, round(seconds * 1e6))
        number = request_times.class_of(microseconds)
        self.counts[number] = self.counts.get(number, 0) + 1
        self.total_microseconds += microseconds
        self.max_microseconds = max(self.max_microseconds, microseconds)

    def built(self) -> Histogram:
        return Histogram(
            counts=dict(self.counts),
            total_microseconds=self.total_microseconds,
            max_microseconds=self.max_microseconds,
        )


MOST_USERS = 1_000_000


class PointStatus(StrEnum):
    VALID = "valid"
    REJECTED = "rejected"
    """By people, or since its numbers contradict one another."""
    FAILED = "failed"
    GENERATOR = "generator"
    """The load generator's own delays could have changed the figures, so the server's are unknown."""


class Limit(StrEnum):
    """What kept the server from serving more."""

    SERVER_CPU = "server CPU"
    OTHERS = "other programs on the server"
    NETWORK = "network"
    DISK = "disk"
    ERRORS = "errors"
    GENERATOR = "generator"
    """The programs that make the load, on this machine."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class PointServer:
    """The server's machine in a point's steady window, by samples of a second each; None where nobody saw it."""

    samples: json_reader.Count
    processors: Annotated[int, json_reader.up_to(65536)] = 1

    # Percent of all processors.
    user_percent: Spread
    system_percent: Spread
    total_percent: Spread
    smbd_percent: Spread | None = None
    kernel_percent: Spread | None = None
    """Of the kernel's own threads and interrupts."""
    others_percent: Spread | None = None
    """Of other programs."""

    # The processes of the file server.
    processes: int = 0
    smbd_uss_bytes: json_reader.Count | None = None
    """Private memory of all of them together (USS)."""
    smbd_pss_bytes: json_reader.Count | None = None
    """With their parts of what processes share (PSS)."""

    interfaces: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """(bytes/s in, bytes/s out) by network card."""
    disk_busy_percent: Mapping[str, float] = field(default_factory=dict)
    """By disk."""
    throttled_percent: float | None = None
    """Of the time, in which a limit of the server's processor time (cgroup) held it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintQueue:
    """What a printer share still had to do after the last job of a point."""

    waiting: Annotated[int, json_reader.JSONNode.whole]
    """Jobs in the queue just after the last one was handed over."""
    left: Annotated[int, json_reader.JSONNode.whole] = 0
    """Jobs that were still in it when it was watched no longer."""
    drained_seconds: json_reader.NotNegative | None = None
    """How long it took to become empty; None where it did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPoint:
    """A measurement with a fixed number of users: they log in (ramp), settle, and then comes the steady window.

    Times of a request are told apart by where they begin: *response* when it was due, which is earlier where the one
    before took long, and *service* when it was sent.
    """

    number: json_reader.Count
    """From 1 in the load."""
    users: Annotated[int, json_reader.up_to(MOST_USERS)]
    size_bytes: json_reader.Count | None = None
    """Of its files, where each point has one size."""
    connected: int = 0
    """Users with a session at its end."""
    status: PointStatus = PointStatus.VALID
    reason: str | None = None
    """Of the status, for people."""

    # When.
    started_at: str = ""
    """When its first user began to log in."""
    window_started_at: str = ""
    """When its steady window began; empty where unknown."""
    ramp_seconds: json_reader.NotNegative = 0.0
    """Until all users were logged in."""
    seconds: json_reader.NotNegative = 0.0
    """Of the steady window, which all figures below are of."""

    # How many requests.
    offered_per_second: float | None = None
    """Requests that the users would make if the server kept up: as scheduled, or as the fewest users made per user.

    None for those fewest users themselves.
    """
    requests: int = 0
    reads: int = 0
    writes: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    late_starts: int = 0
    """Requests that were due before the previous one was done."""
    silent_seconds: json_reader.NotNegative = 0.0
    """How long no request was answered: every worker process was silent for as long at least."""
    slices: tuple[int, ...] = ()
    """Requests in each fifth of the steady window; empty where unknown."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """How many, by kind of error."""
    first_error: str = ""

    # How long they took.
    response: Histogram = field(default_factory=Histogram)
    """From when a request was due to its answer."""
    service: Histogram = field(default_factory=Histogram)
    """From when it was sent to its answer."""
    operations: Mapping[str, Histogram] = field(default_factory=dict)
    """Service times by operation."""
    logins: Histogram = field(default_factory=Histogram)

    # Whether the load generator, the program that makes the requests, did as it should.
    think_seconds: float | None = None
    """The mean of the pauses made; None without any."""
    little_percent: float | None = None
    """How far users = requests/s * (answer + pause), Little's law, is off; None where nothing was answered."""
    generator_cpu_percent: tuple[float, ...] = ()
    """Of one processor, per process of the load generator."""
    generator_lateness: Histogram = field(default_factory=Histogram)
    """How late timers fired that it set at short intervals."""
    client_interfaces: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """(bytes/s in, bytes/s out) by network card of this machine."""

    # The server meanwhile.
    server: PointServer | None = None
    limit: Limit | None = None
    print_queue: PrintQueue | None = None

    @property
    def requests_per_second(self) -> float | None:
        return self.requests / self.seconds if self.seconds else None

    @property
    def slice_rates(self) -> tuple[float, ...]:
        """Requests/s in each fifth of the steady window; empty where one of them has no request."""
        if not self.seconds or not all(self.slices):
            return ()
        return tuple(len(self.slices) * count / self.seconds for count in self.slices)

    @property
    def read_bytes_per_second(self) -> float | None:
        return self.read_bytes / self.seconds if self.seconds else None

    @property
    def write_bytes_per_second(self) -> float | None:
        return self.write_bytes / self.seconds if self.seconds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadWorker:
    """One machine that makes a load."""

    host: str
    processes: json_reader.Count
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a load says of how many users the server carries; the capacity lies between the two numbers."""

    carried: json_reader.Count | None = None
    """The most users without overload; None where even the fewest were too many."""
    not_carried: json_reader.Count | None = None
    """The fewest with overload; None where none were too many."""
    reason: str = ""
    """In what that overload showed."""
    limit: Limit | None = None
    """What limited the server then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadChoices:
    """What was asked for; the command's options."""

    users: tuple[Annotated[int, json_reader.up_to(MOST_USERS)], ...] = ()
    """The numbers of users, a point each."""
    find_capacity: bool = False
    """Whether further numbers of users are tried until the capacity is known."""
    by_size: bool = False
    """Whether each size of files is measured by itself."""
    limit_seconds: Annotated[float, json_reader.above_zero_up_to(MOST_SECONDS)] | None = None
    """What p95 of the response may take; None for the usual limit."""
    ramp_per_second: Annotated[float, json_reader.above_zero_up_to(MOST_USERS)] = 20.0
    """Users who log in each second."""
    processes: Annotated[int, json_reader.up_to(4096)] = 1
    """Of the load generator, on each machine."""
    hosts: tuple[str, ...] = ()
    """Other machines that make the load, too."""
    from_host: str | None = None
    """``[USER@]HOST`` of the machine that makes the load in place of the one with the notebook, reached by ssh."""
    keep_files: bool = False
    """Whether the files stay on the server, for the next load."""
    single_requests: bool = False
    """Whether open, read or write, and close go in exchanges of their own, not as one compound."""
    like: Imitated | None = None
    """The client as which each user speaks SMB; None for our own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(LeasedHead):
    """A load as it is stored, with the points that were measured."""

    # What was asked for.
    targets: tuple[Target, ...]
    """The shares among which the users are divided."""
    scenario: Annotated[Scenario, scenario_from_json]
    choices: LoadChoices = field(default_factory=LoadChoices)

    # What was found out.
    link_bits_per_second: json_reader.Count | None = None
    file_set_bytes: int = 0
    """Of all files."""
    server_memory_bytes: json_reader.Count | None = None
    workers: tuple[LoadWorker, ...] = ()
    environment: Mapping[str, Annotated[Facts, json_reader.JSONNode.object_or_empty]] = field(default_factory=dict)
    points: tuple[LoadPoint, ...] = ()
    capacity: Capacity | None = None
    """None where no point can be judged."""
    scratch_folder: str | None = None
    """Our folder that may still be on the server."""

    def valid_points(self) -> tuple[LoadPoint, ...]:
        return tuple(point for point in self.points if point.status is PointStatus.VALID)
