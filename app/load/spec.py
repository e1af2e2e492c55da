"""What was asked for: the request for a load, and whether this machine and the server can carry its users."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.base.errors import UsageError
from app.base.ssh_address import check_ssh_host
from app.recording.spec import ServerRequest
from app.server.facts import Environment
from storage.load.records import LoadChoices, Scenario
from storage.records import Target

CAPACITY = "capacity"
"""In place of numbers of users: as many as the server carries."""
USUAL_USERS = "5,10,20"
"""A load point with each of these, where no number of users is asked for; as ``parse_users`` reads it."""
USUAL_SCENARIO = "redpaper"
_RESERVED_FILES = 64
"""Open files of a worker process besides its users' connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRequest(ServerRequest):
    """A load as it was asked for, or as it is to be completed."""

    targets: tuple[Target, ...]
    """Users alternate between them; several are, for example, the addresses of a server's network cards."""
    scenario: Scenario
    choices: LoadChoices
    link_bits_per_second: int | None = None
    """As the user gave it; None for what the interface says."""
    reuse_folder: str | None = None
    """The folder with files of an earlier load; None to make them."""

    @property
    def target(self) -> Target:
        """The one that is looked at."""
        return self.targets[0]


def check_hosts(request: LoadRequest) -> None:
    """Raises UsageError for what ssh would take for an option."""
    for host in filter(None, (request.server_ssh, request.choices.from_host, *request.choices.hosts)):
        check_ssh_host(host)


def check_limits(choices: LoadChoices, targets: Sequence[Target]) -> None:
    """Raises UsageError for more users than this machine has open files or ports for; another one has its own."""
    if choices.from_host is not None:
        return
    users = max(choices.users, default=0)
    _check_open_files(users, choices.processes)
    if not choices.hosts:
        _check_ports(users, targets)


def _check_open_files(users: int, processes: int) -> None:
    import resource

    _soft_limit, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    users_a_process = -(-users // processes)
    needed = users_a_process + _RESERVED_FILES
    if limit == resource.RLIM_INFINITY or needed <= limit:
        return

    fitting_users = processes * (limit - _RESERVED_FILES)
    advice = "raise"
    if fitting_users > 0:
        advice = f"take at most {fitting_users} users, use more processes, or raise"
    raise UsageError(
        f"{users} users need {needed} open files per process, and the limit is {limit}: {advice} the limit with"
        " `ulimit -Hn`"
    )


def _check_ports(users: int, targets: Sequence[Target]) -> None:
    try:
        first, last = (int(word) for word in Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    except (OSError, ValueError):
        return

    # A connection is told apart by both ends, so each target has all ports anew.
    ports = (last - first + 1) * len(targets)
    if users > ports:
        raise UsageError(
            f"{users} users need a port each, and this machine has {ports:,} to {len(targets)} target(s): take at most "
            f"{ports} users, or more machines"
        )


def check_server_limits(choices: LoadChoices, environment: Environment) -> None:
    """Raises UsageError for more users than the server's smb.conf lets in."""
    users = max(choices.users, default=0)
    allowed = environment.server.get("smb.conf/global/max smbd processes")
    if allowed is not None and str(allowed).isdecimal() and 0 < int(allowed) < users:
        raise UsageError(
            f"the server takes {allowed} connections at most (max smbd processes), and {users} users are asked for: "
            "take fewer, or raise it there"
        )
