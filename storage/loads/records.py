"""The records of loads, point by point, units in the names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from storage.json_reader import Count, JSONNode, NotNegative, above_zero_up_to, up_to
from storage.loads.histogram import Histogram
from storage.loads.scenario import Scenario, scenario_from_json
from storage.plan import MOST_SECONDS
from storage.records import Facts, Head, Owner, Spread, Target, is_alive

MOST_USERS = 1_000_000


class PointStatus(StrEnum):
    """Whether a load point counts."""

    VALID = "valid"
    REJECTED = "rejected"
    FAILED = "failed"
    GENERATOR = "generator"
    """The load generator was the limit, so the server's figures are unknown."""


class Limit(StrEnum):
    """What limited the load."""

    SERVER_CPU = "server CPU"
    OTHERS = "other programs on the server"
    NETWORK = "network"
    DISK = "disk"
    ERRORS = "errors"
    GENERATOR = "generator"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class PointServer:
    """The server's machine in a point's steady window; unseen values are absent."""

    samples: Count
    processors: Annotated[int, up_to(65536)] = 1
    user_percent: Spread
    system_percent: Spread
    total_percent: Spread
    smbd_percent: Spread | None = None
    kernel_percent: Spread | None = None
    others_percent: Spread | None = None
    processes: int = 0
    smbd_uss_bytes: Count | None = None
    smbd_pss_bytes: Count | None = None
    interfaces: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    disk_busy_percent: Mapping[str, float] = field(default_factory=dict)
    throttled_percent: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintQueue:
    """What a printer share still had to do after the last job of a point."""

    waiting: Annotated[int, JSONNode.whole]
    left: Annotated[int, JSONNode.whole] = 0
    drained_seconds: NotNegative | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPoint:
    """Ramp, settle, and a steady window with a fixed number of users."""

    number: Count
    users: Annotated[int, up_to(MOST_USERS)]
    size_bytes: Count | None = None
    connected: int = 0
    status: PointStatus = PointStatus.VALID
    reason: str | None = None
    started_at: str = ""
    ramp_seconds: NotNegative = 0.0
    seconds: NotNegative = 0.0
    offered_per_second: float | None = None
    """If each request were answered as for the fewest users."""
    requests: int = 0
    reads: int = 0
    writes: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    late_starts: int = 0
    """Requests that were due before the previous one was done."""
    silent_seconds: NotNegative = 0.0
    slices: tuple[int, ...] = ()
    """Requests in each fifth of the steady window; empty where unknown."""
    errors: Mapping[str, int] = field(default_factory=dict)
    first_error: str = ""
    response: Histogram = field(default_factory=Histogram)
    """Due to answered."""
    service: Histogram = field(default_factory=Histogram)
    """Asked to answered."""
    operations: Mapping[str, Histogram] = field(default_factory=dict)
    logins: Histogram = field(default_factory=Histogram)
    think_seconds: float | None = None
    little_percent: float | None = None
    generator_cpu_percent: tuple[float, ...] = ()
    """Of one processor, per process of the load generator."""
    generator_lateness: Histogram = field(default_factory=Histogram)
    client_interfaces: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    server: PointServer | None = None
    limit: Limit | None = None
    print_queue: PrintQueue | None = None

    @property
    def requests_per_second(self) -> float | None:
        return self.requests / self.seconds if self.seconds else None

    @property
    def slice_rates(self) -> tuple[float, ...]:
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
    """The processes of one machine that make the load."""

    host: str
    processes: Count
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The most users without overload, and the fewest with it."""

    carried: Count | None = None
    not_carried: Count | None = None
    reason: str = ""
    limit: Limit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadChoices:
    """How a load is made, apart from the scenario."""

    users: tuple[Annotated[int, up_to(MOST_USERS)], ...] = ()
    find_capacity: bool = False
    by_size: bool = False
    limit_seconds: Annotated[float, above_zero_up_to(MOST_SECONDS)] | None = None
    ramp_per_second: Annotated[float, above_zero_up_to(MOST_USERS)] = 20.0
    processes: Annotated[int, up_to(4096)] = 1
    hosts: tuple[str, ...] = ()
    keep_files: bool = False
    single_requests: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(Head):
    """Load points of one scenario against the same targets."""

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
    imported_at: str | None = None
    owner: Owner | None = None

    @property
    def running(self) -> bool:
        return self.owner is not None and is_alive(self.owner)

    def valid_points(self) -> tuple[LoadPoint, ...]:
        return tuple(point for point in self.points if point.status is PointStatus.VALID)
