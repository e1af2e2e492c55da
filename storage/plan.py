"""What a series is to be measured by, without passwords, target or command."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from storage.json_reader import BESIDE, Count, JSONNode, above_zero_up_to, up_to
from storage.recommended import DEFAULT_MAX_RUNS, DEFAULT_RUNS, DEFAULT_WARMUPS

MOST_RUNS = 100_000
MOST_WARMUPS = 1000
MOST_IN_FLIGHT = 512
MOST_SECONDS = 86_400.0
MOST_FILES = 100_000
NOISE_PERCENT = 1.0
MARGIN_PERCENT = 5.0
DEFAULT_TIMEOUT_SECONDS = 30.0
"""Without progress, of whatever is waited for."""
DEFAULT_SIZE_BYTES = 64 * 1024**2
DEFAULT_TREE_FILE_BYTES = 16 * 1024


class QuietTime(StrEnum):
    RECORD = "record"
    REQUIRE = "require"
    SKIP = "skip"


class CeilingPolicy(StrEnum):
    """What to do about the client's own limit: use or calibrate it, calibrate it again, or leave it out."""

    RECORD = "record"
    RENEW = "renew"
    SKIP = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a client moves the bytes; None: as negotiated, or the client's best."""

    block_bytes: Count | None = None
    in_flight: Annotated[int, up_to(MOST_IN_FLIGHT, at_least=1)] | None = None
    sign: bool = False
    encrypt: bool = False
    timeout_seconds: Annotated[float, above_zero_up_to(MOST_SECONDS)] = DEFAULT_TIMEOUT_SECONDS
    drop_cache: bool = False
    flush: bool = False
    """A put ends when its file is flushed, not when its last write is answered."""
    single_requests: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """How many runs a series has, and what each of them moves."""

    runs: Annotated[int, up_to(MOST_RUNS)] = DEFAULT_RUNS
    warmups: Annotated[int, up_to(MOST_WARMUPS)] = DEFAULT_WARMUPS
    until_percent: Annotated[float, above_zero_up_to(100)] | None = None
    max_runs: Annotated[int, up_to(MOST_RUNS)] = DEFAULT_MAX_RUNS
    size_bytes: Count | None = None
    files: Annotated[int, up_to(MOST_FILES, at_least=1)] | None = None
    """A tree of that number of files, each of ``size_bytes``; None for one file."""
    profile: bool = False
    make_file: bool = False
    """For a get: put a file first and remove it at the end; the target's path is a folder."""
    verify: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorChoices:
    """What is looked at beside the runs, and through which way into the server."""

    quiet_time: QuietTime = QuietTime.RECORD
    server_ssh: str | None = None
    smb_conf: str | None = None
    ceiling: CeilingPolicy = CeilingPolicy.RECORD


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The part of what was asked of a series that is kept with it."""

    client: str = ""
    settings: Settings = field(default_factory=Settings)
    counts: Annotated[RunCounts, BESIDE] = field(default_factory=RunCounts)
    monitor: Annotated[MonitorChoices, BESIDE] = field(default_factory=MonitorChoices)

    def to_json(self) -> dict[str, Any]:
        head = {"client": self.client, "settings": asdict(self.settings)}
        return head | asdict(self.counts) | asdict(self.monitor)


def plan_from_json(place: JSONNode) -> Plan | None:
    """The plan of :meth:`Plan.to_json`, None for none. Raises DocumentError."""
    return place.record(Plan) if place.object_or_empty() else None
