"""What is asked of a series, and stored with it to resume or repeat it: all but passwords, target and command."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from storage.json_reader import BESIDE, Count, JSONNode, above_zero_up_to, up_to
from storage.recommended import DEFAULT_MAX_RUNS, DEFAULT_RUNS, DEFAULT_WARMUPS

# The most that may be asked for.
MOST_RUNS = 100_000
MOST_WARMUPS = 1000
MOST_IN_FLIGHT = 512
MOST_SECONDS = 86_400.0
MOST_FILES = 100_000

NOISE_PERCENT = 1.0
MARGIN_PERCENT = 5.0
"""Differences that a trial takes for none: at any time, and when it ends (`TrialPlan`)."""
DEFAULT_TIMEOUT_SECONDS = 30.0
"""Without progress, of whatever is waited for."""
DEFAULT_SIZE_BYTES = 64 * 1024**2
DEFAULT_TREE_FILE_BYTES = 16 * 1024

# Of random requests: what the benchmarks of disks that everybody quotes ask for.
DEFAULT_RANDOM_BLOCK_BYTES = 4096
DEFAULT_RANDOM_IN_FLIGHT = 32
DEFAULT_RANDOM_SECONDS = 5.0
"""Of a run."""
MOST_RANDOM_SECONDS = 3600.0


class QuietTime(StrEnum):
    """What to do about others who are at work at the same time."""

    RECORD = "record"
    """Look whether they are, and store it."""
    REQUIRE = "require"
    """Refuse to measure while they are."""
    SKIP = "skip"


class CeilingPolicy(StrEnum):
    """What to do about the client's own limit: use or calibrate it, calibrate it again, or leave it out."""

    RECORD = "record"
    RENEW = "renew"
    SKIP = "skip"


class Imitated(StrEnum):
    """A client that people have, as which ours speaks to the server."""

    WINDOWS_11_24H2 = "windows-11-24h2"
    WINDOWS_SERVER_2025 = "windows-server-2025"
    WINDOWS_10 = "windows-10"
    MACOS_15 = "macos-15"
    LINUX_MOUNT = "linux-mount"
    SMBCLIENT = "smbclient"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a client moves the bytes; None: as negotiated, or the client's best."""

    block_bytes: Count | None = None
    """Of one request."""
    in_flight: Annotated[int, up_to(MOST_IN_FLIGHT, at_least=1)] | None = None
    """Requests at once."""
    sign: bool = False
    """Whether the client signs though the server does not ask for it."""
    encrypt: bool = False
    timeout_seconds: Annotated[float, above_zero_up_to(MOST_SECONDS)] = DEFAULT_TIMEOUT_SECONDS
    drop_cache: bool = False
    """Whether a local path is read from the disk, not from the page cache."""
    flush: bool = False
    """A put ends when its file is flushed, not when its last write is answered."""
    single_requests: bool = False
    """Whether open, read or write, and close go in exchanges of their own, not as one compound."""
    like: Imitated | None = None
    """The client to imitate; None for sharebench's own ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """How many runs a series has, and what each of them moves."""

    runs: Annotated[int, up_to(MOST_RUNS)] = DEFAULT_RUNS
    warmups: Annotated[int, up_to(MOST_WARMUPS)] = DEFAULT_WARMUPS
    until_percent: Annotated[float, above_zero_up_to(100)] | None = None
    """Runs go on until the average is known to this percentage; None for ``runs`` of them."""
    max_runs: Annotated[int, up_to(MOST_RUNS)] = DEFAULT_MAX_RUNS
    """The most runs with ``until_percent``."""
    size_bytes: Count | None = None
    """Of each file; None for the size that it has."""
    files: Annotated[int, up_to(MOST_FILES, at_least=1)] | None = None
    """A tree of that number of files, each of ``size_bytes``; None for one file."""
    profile: bool = False
    """Whether smbd's counters are read around the runs."""
    make_file: bool = False
    """For a get: put a file first and remove it at the end; the target's path is a folder."""
    verify: bool = False
    """Whether the content is checked after the timed runs."""
    random: bool = False
    """Whether a run is requests at random places of one file, not a transfer of it: reads for a get, writes for a put.

    Those that write go to one file, which is made before the first run.
    """
    read_percent: Annotated[int, up_to(99, at_least=1)] | None = None
    """The share of random requests that read; None for all of a get and none of a put."""
    random_seconds: Annotated[float, above_zero_up_to(MOST_RANDOM_SECONDS)] | None = None
    """How long a run makes random requests; None where it makes none."""

    def share_of_reads(self, *, is_get: bool) -> int:
        """The percentage of random requests that read."""
        if self.read_percent is not None:
            return self.read_percent
        return 100 if is_get else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorChoices:
    """Which machine measures, what is looked at beside the runs, and through which way into the server."""

    quiet_time: QuietTime = QuietTime.RECORD
    server_ssh: str | None = None
    """The way to the server's settings and counters; None where there is none, or for this machine."""
    smb_conf: str | None = None
    """None for the usual one."""
    ceiling: CeilingPolicy = CeilingPolicy.RECORD
    from_host: str | None = None
    """``[USER@]HOST`` of the machine that measures, reached by ssh; None for this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The part of what was asked of a series that is kept with it."""

    client: str = ""
    """The name of the client; empty for the usual one."""
    settings: Settings = field(default_factory=Settings)
    counts: Annotated[RunCounts, BESIDE] = field(default_factory=RunCounts)
    monitor: Annotated[MonitorChoices, BESIDE] = field(default_factory=MonitorChoices)
    interleaved_with: str = ""
    """The id of the base of the comparison that its runs were interleaved for; its own where it is that base.

    Empty for a series that was measured by itself.
    """

    def to_json(self) -> dict[str, Any]:
        head: dict[str, Any] = {"client": self.client, "settings": asdict(self.settings)}
        if self.interleaved_with:
            head["interleaved_with"] = self.interleaved_with
        return head | asdict(self.counts) | asdict(self.monitor)


def plan_from_json(place: JSONNode) -> Plan | None:
    """The plan of :meth:`Plan.to_json`, None for none. Raises DocumentError."""
    return place.record(Plan) if place.object_or_empty() else None
