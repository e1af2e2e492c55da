"""The records of isolations, and how the notebook and documents have them.

An *isolation* finds out whether Samba, the disk or the network limits a server. It plays a *script* of file operations
(a load file of dbench) against several *layers*: the server's disk alone, the network alone, both at once, and the
server itself; with one or several numbers of clients, round after round.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any

from storage import recordings, records
from storage.codec import object_of, reports_damage
from storage.json_reader import Count, DocumentError, JSONNode, NotNegative
from storage.plan import Settings


class Layer(StrEnum):
    """What a run of the script exercises."""

    DISK = "disk"
    """dbench: the server's file system alone."""
    NETWORK = "network"
    """tbench: the bytes of the operations over the network, without files."""
    DISK_WITH_NETWORK = "disk with network"
    """The disk, while the network is busy in the same way."""
    NETWORK_WITH_DISK = "network with disk"
    """The network, while the disk is busy in the same way."""
    SERVER = "server"
    """The share, through smbd."""
    SERVER_WHOLE_SCRIPT = "server, whole script"
    """The share, with the operations that the other runs leave out: shows what those cost."""
    SERVER_UNPROFILED = "server, not profiled"
    """The share, while smbd counts nothing: shows what its counting costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CPUUse:
    """Percent of all processors of a machine."""

    user: records.Spread
    system: records.Spread
    total: records.Spread
    samples: int


@dataclass(frozen=True, slots=True)
class ProfileCounter:
    """The growth of one of smbd's counters (smbstatus -P) during a run: of one kind of request or system call."""

    calls: int = 0
    microseconds: int = 0
    """The time from its begin to its end."""
    idle_microseconds: int = 0
    """Of that, what smbd counts as waiting."""

    # Each kind has some of these, as smbd counts it; 0 for those that it has not.
    moved_bytes: int = 0
    """By a system call."""
    in_bytes: int = 0
    """Of requests that came in."""
    out_bytes: int = 0
    """Of answers that went out."""


PROCESSOR = "processor"
"""Name of our own counter beside smbd's: the processor time of the processes that serve clients.

It is the kernel's figure, since Samba's own counter adds up totals.
"""
_KEPT_COUNTERS = ("syscall_", "smb2_", PROCESSOR)
"""The counters that are kept as facts have names that begin with one of these."""
PROFILE = "profile."
"""The names of a profile's facts begin with it: ``profile.3.syscall_openat.calls``, of the third round."""


def profile_facts(number: int, profile: Mapping[str, ProfileCounter]) -> dict[str, records.FactValue]:
    """The counters of round ``number`` that users can have waited for, as facts; those that are zero are left out."""
    facts: dict[str, records.FactValue] = {}
    for name, counter in profile.items():
        if not name.startswith(_KEPT_COUNTERS):
            continue
        if counter.calls:
            facts[f"{PROFILE}{number}.{name}.calls"] = counter.calls
        if counter.microseconds:
            facts[f"{PROFILE}{number}.{name}.microseconds"] = counter.microseconds
    return facts


def profile_rounds(facts: records.Facts) -> list[dict[str, ProfileCounter]]:
    """The counters of :func:`profile_facts` by name, of each round."""
    rounds: dict[str, dict[str, ProfileCounter]] = {}
    for fact, value in facts.items():
        parts = fact.removeprefix(PROFILE).split(".")
        if not fact.startswith(PROFILE) or len(parts) != 3 or not isinstance(value, int):
            continue

        number, name, unit = parts
        counters = rounds.setdefault(number, {})
        counter = counters.setdefault(name, ProfileCounter())
        if unit == "calls":
            counters[name] = replace(counter, calls=value)
        elif unit == "microseconds":
            counters[name] = replace(counter, microseconds=value)
    return list(rounds.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRun:
    """The script played once against one layer, by some clients at once; figures are of all of them together."""

    # Which run it is, and whether it counts.
    round: Count
    """From 1: each round has a run of every layer."""
    layer: Layer
    clients: Count
    status: records.RunStatus = records.RunStatus.VALID
    reason: str | None = None
    """Why it was rejected; None for another status."""
    error: str | None = None
    """Why it failed; None for another status."""
    started_at: str = ""
    """ISO 8601 in UTC; empty where it did not begin."""

    # What the clients did.
    seconds: NotNegative = 0.0
    """Length of the measured part; what is done before it does not count in the figures."""
    bytes_per_second: NotNegative = 0.0
    passes: NotNegative = 0.0
    """How often the script was played, also in part."""
    operations: Mapping[str, int] = field(default_factory=dict)
    """Lines of the script that were played, by kind."""
    requests: Mapping[str, int] = field(default_factory=dict)
    """SMB requests from login to log-off, by smbd's counter names: an operation takes one or several."""
    window_requests: int = 0
    """Those of the measured part alone, of all kinds together."""
    unexpected: int = 0
    """Operations that ended otherwise than the script says."""
    wait_seconds: NotNegative = 0.0
    """How long the clients waited for answers, all waits added up."""
    longest_seconds: NotNegative = 0.0
    """Of one operation."""
    client_cpu_seconds: NotNegative = 0.0
    """Processor time of the clients' processes."""
    client_held_seconds: NotNegative = 0.0
    """That, and what they waited for a processor of this machine: time that is the clients' own; 0 where unknown."""

    # What the machines did meanwhile; None where nobody saw it.
    server_cpu: CPUUse | None = None
    client_cpu: CPUUse | None = None
    """Of the whole machine that measures, not of the clients alone."""
    processes: Mapping[str, float] = field(default_factory=dict)
    """Percent of all of the server's processors that ``server`` (smbd), ``clients`` and ``kernel`` took."""
    disk_busy_percent: float | None = None
    """Of the server's busiest disk."""
    in_bytes_per_second: float | None = None
    out_bytes_per_second: float | None = None
    """Through the server's network cards."""
    throttled_percent: float | None = None
    """Of the periods of smbd's CPU quota (cgroup), those used up."""
    profile: Mapping[str, ProfileCounter] = field(default_factory=dict)
    """smbd's counters by name; empty where it did not count."""

    @property
    def key(self) -> tuple[int, Layer, int]:
        return self.round, self.layer, self.clients


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBehind:
    """What an isolation changed on its server, until it is restored."""

    ssh: str | None = None
    """The way to the server; None for this machine."""
    smb_conf: str | None = None
    """Its path on the server; None for the usual one."""
    profiling: str | None = None
    """The level of smbd's profiling before; None where it was not changed."""
    server_folders: tuple[str, ...] = ()
    """Our folders on the server's disk."""
    share_folder: str | None = None
    """Our folder on the share."""

    @property
    def nothing(self) -> bool:
        """Whether nothing is left to restore."""
        return not (self.profiling or self.server_folders or self.share_folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation(records.LeasedHead):
    target: records.Target

    # The script.
    script: str
    """Its name."""
    script_sha256: str = ""
    pass_bytes: int = 0
    """That one client moves in one pass of the script."""
    pass_operations: Mapping[str, int] = field(default_factory=dict)
    """The script's operations by kind."""
    without: tuple[str, ...] = ()
    """Kinds of operations that were left out of the script."""

    # What was asked for.
    clients: tuple[Count, ...]
    """Each number of clients at once."""
    rounds: Count
    seconds: int = 0
    """Of each run."""
    script_path: str | None = None
    """The user's file of the script; None for a script that sharebench has."""
    settings: Settings = field(default_factory=Settings)
    server_ssh: str | None = None
    """The way to the server (ssh); None where none was given, as on the server itself."""
    smb_conf: str | None = None
    """Its path on the server; None for the usual one."""
    expose_tbench: bool = False
    """Whether tbench, which lets in anybody, was allowed to listen on the network."""

    # What was found out.
    link_bits_per_second: int | None = None
    loopback: bool = False
    """Whether the bytes crossed no network card."""
    same_machine: bool = False
    """Whether this machine is the server."""
    processors: int | None = None
    """Of the server."""
    processor_quota: float | None = None
    """How many of them smbd's control group allows it; None for all."""
    client: records.ClientFacts | None = None
    environment: Mapping[str, Annotated[records.Facts, JSONNode.object_or_empty]] = field(default_factory=dict)
    ceilings: Mapping[int, float] = field(default_factory=dict)
    """Operations/s against a server that costs next to nothing, by number of clients."""
    problems: tuple[str, ...] = ()
    """What could not be measured, and why, for people."""

    runs: tuple[LayerRun, ...] = ()
    left_behind: LeftBehind = field(default_factory=LeftBehind)


RUN_COLUMNS = ("round", "layer", "clients", "status", "reason", "seconds", "bytes_per_second")
"""Fields of a run that are columns; the others are in its ``content``."""

_OURS_ALONE = frozenset({"left_behind", "owner", "imported_at"})
"""Fields that no document has: they hold for this notebook only, and `from_head` reads them from columns."""


def isolation_to_json(isolation: Isolation) -> dict[str, Any]:
    """The isolation as a JSON object, without what must be restored and who measures it."""
    document = {name: value for name, value in asdict(isolation).items() if name not in _OURS_ALONE}
    document["ceilings"] = {str(clients): rate for clients, rate in isolation.ceilings.items()}
    return document


def isolation_from_json(node: JSONNode) -> Isolation:
    """The isolation in a JSON object. Raises DocumentError, naming the first wrong place."""
    isolation = node.record(Isolation, leave=_OURS_ALONE)
    keys = {run.key for run in isolation.runs}
    if len(keys) < len(isolation.runs):
        raise DocumentError("runs: two runs of the same round, layer and number of clients")
    return isolation


def head_of_isolation(isolation: Isolation) -> recordings.Recording:
    """The isolation as the notebook stores it, without its runs, which have a table of their own."""
    left = isolation.left_behind
    return recordings.to_recording(
        isolation,
        recordings.ISOLATION,
        apart=("runs", "left_behind"),
        subject=f"smb://{isolation.target.host}/{isolation.target.share or ''}".rstrip("/"),
        leftovers=None if left.nothing else asdict(left),
        imported_at=isolation.imported_at,
    )


def in_measured_order(run: LayerRun) -> tuple[int, int, int]:
    """A key to sort by: round after round, in it each number of clients, of that each layer."""
    return run.round, run.clients, list(Layer).index(run.layer)


@reports_damage
def from_head(head: recordings.Recording) -> Isolation:
    """What :func:`head_of_isolation` made of an isolation; the caller adds its runs. Raises DamagedNotebookError."""
    return replace(
        isolation_from_json(recordings.with_head(head)),
        left_behind=JSONNode("leftovers", head.leftovers or {}).record(LeftBehind),
        owner=head.lease,
        imported_at=head.imported_at,
    )


@reports_damage
def run_from_row(row: Mapping[str, Any]) -> LayerRun:
    """A run by its row: some fields are columns, the others JSON in one of them. Raises DamagedNotebookError."""
    content: dict[str, records.JSONValue] = object_of(row["content"]) | {name: row[name] for name in RUN_COLUMNS}
    return JSONNode("layer_runs", content).record(LayerRun)
