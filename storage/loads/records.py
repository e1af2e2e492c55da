"""The records of loads: many users at once against the same targets, point by point, units in the names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from storage.json_reader import Count, Filled, JSONNode, Moment, NotNegative, above_zero_up_to, up_to
from storage.loads.histogram import Histogram
from storage.loads.scenario import Scenario, scenario_from_json
from storage.ownership import is_alive
from storage.plan import MOST_SECONDS
from storage.records import Facts, Owner, SeriesStatus, Spread, Target

MOST_USERS = 1_000_000


class PointStatus(StrEnum):
    """Whether a load point counts."""

    VALID = "valid"
    REJECTED = "rejected"
    """Its own numbers contradict one another, or the user says so."""
    FAILED = "failed"
    GENERATOR = "generator"
    """This end was the limit, so the server's numbers are not known."""


class Limit(StrEnum):
    """What stood in the way of more."""

    SERVER_CPU = "server CPU"
    OTHERS = "other programs on the server"
    NETWORK = "network"
    DISK = "disk"
    ERRORS = "errors"
    GENERATOR = "generator"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class PointServer:
    """What the server's machine did in a point's steady window; what was not seen is absent."""

    samples: Count
    processors: Annotated[int, up_to(65536)] = 1
    user_percent: Spread
    """Of all processors together."""
    system_percent: Spread
    total_percent: Spread
    smbd_percent: Spread | None = None
    """The server's processes' share of all processors."""
    kernel_percent: Spread | None = None
    """The share of the kernel's own threads and of interrupts, which serve whoever asked."""
    others_percent: Spread | None = None
    """The share of programs that are neither the server nor, on the same machine, the load generator."""
    processes: int = 0
    smbd_uss_bytes: Count | None = None
    smbd_pss_bytes: Count | None = None
    interfaces: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Bytes a second in and out by card."""
    disk_busy_percent: Mapping[str, float] = field(default_factory=dict)
    throttled_percent: float | None = None
    """Periods in which a control group held the server's processes back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintQueue:
    """What a printer share still had to do when the last job of a point was handed over."""

    waiting: Annotated[int, JSONNode.whole]
    """Jobs, the one being printed included."""
    left: Annotated[int, JSONNode.whole] = 0
    """Of those, the jobs that still waited when nobody looked any more."""
    drained_seconds: NotNegative | None = None
    """Until none of them waited; absent where some still did when nobody looked any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPoint:
    """Ramp, settle, and a steady window with a fixed number of users."""

    number: Count
    users: Annotated[int, up_to(MOST_USERS)]
    size_bytes: Count | None = None
    """The one size of file that was used; absent where all of the scenario's were."""
    connected: int = 0
    """Users with a session as the steady window ended."""
    status: PointStatus = PointStatus.VALID
    reason: str | None = None
    started_at: str = ""
    """UTC, ISO 8601."""
    ramp_seconds: NotNegative = 0.0
    seconds: NotNegative = 0.0
    """Of the steady window."""
    offered_per_second: float | None = None
    """Requests that the users would make if each were answered as the fewest users are."""
    requests: int = 0
    reads: int = 0
    """Requests that read."""
    writes: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    late_starts: int = 0
    """Requests that could not begin when they were due, since the one before was not done."""
    slices: tuple[int, ...] = ()
    """Requests completed in each fifth of the steady window; empty where they were not counted apart."""
    errors: Mapping[str, int] = field(default_factory=dict)
    first_error: str = ""
    response: Histogram = field(default_factory=Histogram)
    """Due to answered."""
    service: Histogram = field(default_factory=Histogram)
    """Asked to answered."""
    operations: Mapping[str, Histogram] = field(default_factory=dict)
    """Service times by the kind of request."""
    logins: Histogram = field(default_factory=Histogram)
    think_seconds: float | None = None
    """The mean pause that the users made."""
    little_percent: float | None = None
    """How far users = requests/s x (response + think) is off."""
    silent_seconds: NotNegative = 0.0
    """The longest time in which requests waited and nothing moved for any user."""
    generator_cpu_percent: tuple[float, ...] = ()
    """Of one processor, each process of this end."""
    generator_lateness: Histogram = field(default_factory=Histogram)
    """How much later than asked this end's timers fired."""
    client_interfaces: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Bytes a second in and out by this end's card."""
    server: PointServer | None = None
    limit: Limit | None = None
    """What seems to have stood in the way of more."""
    print_queue: PrintQueue | None = None
    """Absent where no job was printed, or the queue was not seen."""

    @property
    def requests_per_second(self) -> float | None:
        """Completed requests a second; absent without a steady window."""
        return self.requests / self.seconds if self.seconds else None

    @property
    def slice_rates(self) -> tuple[float, ...]:
        """Requests a second in each slice; empty where they are unknown, or where one of them had none."""
        if not self.seconds or not all(self.slices):
            return ()
        return tuple(len(self.slices) * count / self.seconds for count in self.slices)

    @property
    def read_bytes_per_second(self) -> float | None:
        """Bytes read a second."""
        return self.read_bytes / self.seconds if self.seconds else None

    @property
    def write_bytes_per_second(self) -> float | None:
        """Bytes written a second."""
        return self.write_bytes / self.seconds if self.seconds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadWorker:
    """The processes of one machine that make the load."""

    host: str
    processes: Count
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The highest number of users without overload, and the least number with it."""

    carried: Count | None = None
    not_carried: Count | None = None
    reason: str = ""
    limit: Limit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadChoices:
    """How a load is made: what is not the scenario's."""

    users: tuple[Annotated[int, up_to(MOST_USERS)], ...] = ()
    """The points, in order; empty where capacity is looked for."""
    find_capacity: bool = False
    by_size: bool = False
    """Each number of users once with each size of file alone."""
    limit_seconds: Annotated[float, above_zero_up_to(MOST_SECONDS)] | None = None
    """A p95 of the response above it is overload."""
    ramp_per_second: Annotated[float, above_zero_up_to(MOST_USERS)] = 20.0
    """Logins a second."""
    processes: Annotated[int, up_to(4096)] = 1
    hosts: tuple[str, ...] = ()
    """Other machines whose processes make load."""
    keep_files: bool = False
    """Whether the files stay for a later load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Load points of one scenario against the same targets."""

    id: Filled
    created_at: Moment
    status: SeriesStatus = SeriesStatus.INTERRUPTED
    error: str | None = None
    label: str = ""
    note: str = ""
    question: str = ""
    """What it was meant to answer."""
    targets: tuple[Target, ...]
    scenario: Annotated[Scenario, scenario_from_json]
    choices: LoadChoices = field(default_factory=LoadChoices)
    link_bits_per_second: Count | None = None
    file_set_bytes: int = 0
    server_memory_bytes: Count | None = None
    workers: tuple[LoadWorker, ...] = ()
    environment: Mapping[str, Annotated[Facts, JSONNode.object_or_empty]] = field(default_factory=dict)
    points: tuple[LoadPoint, ...] = ()
    capacity: Capacity | None = None
    scratch_folder: str | None = None
    """The name of a folder of ours that may still lie on the targets; absent once it is known to be gone."""
    imported_at: str | None = None
    owner: Owner | None = None
    """Who measures it."""

    @property
    def running(self) -> bool:
        """Whether it is being measured right now."""
        return self.owner is not None and is_alive(self.owner)

    def valid_points(self) -> tuple[LoadPoint, ...]:
        """The points that count, in order."""
        return tuple(point for point in self.points if point.status is PointStatus.VALID)
