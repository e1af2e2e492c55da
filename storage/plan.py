"""What a series is to be measured by, as it is kept with the series: never a password, a target or a command."""

from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Annotated, Any

from storage.json_reader import Count, JSONNode, above_zero_up_to, up_to

DEFAULT_RUNS = 5
"""As many rows as the paper form has (Using Samba, table B-6)."""
DEFAULT_WARMUPS = 2
DEFAULT_MAX_RUNS = 30
MOST_RUNS, MOST_WARMUPS, MOST_IN_FLIGHT, MOST_SECONDS = 100_000, 1000, 512, 86_400.0
DEFAULT_SIZE_BYTES = 64 * 1024**2
"""Of a file that is made, where nobody names a size and no rate is known."""


class QuietTime(StrEnum):
    """What to do about a busy time."""

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
    """How a client shall move the bytes; None means: as negotiated, or the client's own best."""

    block_bytes: Count | None = None
    in_flight: Annotated[int, up_to(MOST_IN_FLIGHT, at_least=1)] | None = None
    sign: bool = False
    """Sign although the server does not require it."""
    encrypt: bool = False
    timeout_seconds: Annotated[float, above_zero_up_to(MOST_SECONDS)] = 30.0
    """A transfer with no progress for that long fails with StalledError; also the limit for connecting."""
    drop_cache: bool = False
    """``file://`` only: drop the file's pages from the page cache before each get."""


@dataclass(frozen=True, kw_only=True)
class RunCounts:
    """How many runs are made, and with what file."""

    runs: Annotated[int, up_to(MOST_RUNS)] = DEFAULT_RUNS
    warmups: Annotated[int, up_to(MOST_WARMUPS)] = DEFAULT_WARMUPS
    until_percent: Annotated[float, above_zero_up_to(100)] | None = None
    """Go on until the 95 % confidence interval of the mean is within ± this many percent."""
    max_runs: Annotated[int, up_to(MOST_RUNS)] = DEFAULT_MAX_RUNS
    size_bytes: Count | None = None
    """The size of the file that is made, for a put or with ``make_file``; None for the usual size."""
    make_file: bool = False
    """For a get: put a file first and remove it at the end; the target's path is then a folder."""
    verify: bool = False


@dataclass(frozen=True, kw_only=True)
class ClientChoice:
    """Which program moves the bytes, and how."""

    client: str = ""
    """The client's name; empty for the usual one of the target's protocol."""
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, kw_only=True)
class RunChoices(RunCounts, ClientChoice):
    """How the runs of a series are made: what the notebook and the measuring process both need to know."""

    def run_choices(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(RunChoices)}


@dataclass(frozen=True, kw_only=True)
class MonitorChoices:
    """What is looked at beside the runs of a series."""

    quiet_time: QuietTime = QuietTime.RECORD
    server_ssh: str | None = None
    """``[USER@]HOST`` to read facts of the server through, by the system's ssh."""
    smb_conf: str | None = None
    """Where the server keeps its smb.conf, if not where its smbd was built to look."""
    ceiling: CeilingPolicy = CeilingPolicy.RECORD

    def monitor_choices(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(MonitorChoices)}


@dataclass(frozen=True, kw_only=True)
class Plan(MonitorChoices, RunChoices):
    """The choices that a series was measured by, so that it can be resumed or measured again."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def plan_from_json(place: JSONNode) -> Plan | None:
    """What :meth:`Plan.to_json` wrote; None where nothing is known. Raises DocumentError."""
    return place.record(Plan) if place.object_or_empty() else None
