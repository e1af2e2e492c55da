"""What the processes of a replay say to each other: the program, the replay process, and a client process each."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.clients.base import Secrets
from storage import records
from storage.plan import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPlan:
    """What the replay process is to do: one run of the server layer."""

    target: records.Target
    secrets: Secrets
    settings: Settings
    script_path: str | None
    """The user's own script; None for the built-in one."""
    without: tuple[str, ...]
    """Operations that are left out."""
    folder: str
    """The clients' folder on the share, with backslashes."""
    clients: int
    warm_up_seconds: float
    """Before the measured part; what is done in it does not count."""
    seconds: float
    """The length of the measured part."""
    passes: int = 0
    """Whole passes per client, if not 0, instead of a time."""

    null: bool = False
    """Replay against a null server in the same process, which costs nothing: the clients' own limit."""
    client: records.ClientFacts | None = None
    """What was negotiated with the target: the null server imitates it without a login. None if not known yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientReady:
    """A client to the process that forked it: logged in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartAt:
    """To all clients: when they start together."""

    seconds: float
    """Monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientResult:
    """What one client did in the measured part."""

    seconds: float
    """The length of that part for this client; 0 where it did not get so far."""
    operations: Mapping[str, int]
    """Lines of the script, by their operation."""
    requests: Mapping[str, int]
    """SMB requests from login to log-off, by smbd's name of the command, as its profile counts them."""
    window_requests: int
    """Those of the measured part alone."""
    moved_bytes: int
    wait_seconds: float
    """All operations together."""
    longest_seconds: float
    """Of one operation."""
    unexpected: int
    """Operations that did not end as the script says."""
    cpu_seconds: float
    held_seconds: float
    """Time in which the process worked or waited for a processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult(ClientResult):
    """All clients together; seconds are the mean of theirs."""

    began_at: float
    """Start of the measured part, monotonic clock."""
    client: records.ClientFacts
