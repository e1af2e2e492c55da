"""What was asked for: a look at the sessions of a server."""

from dataclasses import dataclass

from app.base.errors import UsageError
from app.server.routes import is_this_machine
from storage.records import Target, format_target

USUAL_SECONDS = 10.0
"""The rates of three users are told apart in it; a look of that length costs the server about 0.7 % of a processor."""
LEAST_SECONDS = 1.0
"""Processor time is counted in hundredths of a second."""
MOST_SECONDS = 3600.0


MOST_COST = 0.008
"""The share of a processor of the server that looks one after the other may take: short ones begin less often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoRequest:
    """A look as it was asked for."""

    target: Target
    """Only its host and port count."""
    server_ssh: str | None = None
    """``[USER@]HOST``; None for a server on this machine."""
    smb_conf: str | None = None
    """Path on the server, if not the one that its smbd was started with."""
    seconds: float = USUAL_SECONDS
    label: str = ""
    question: str = ""


def check_request(request: WhoRequest) -> None:
    """Raises UsageError."""
    target = request.target
    if not target.abilities.through_samba:
        raise UsageError("who looks at the sessions of Samba: name its server as smb://HOST")
    if request.server_ssh is None and not is_this_machine(target.host):
        raise UsageError(
            f"the sessions of {format_target(target, login=False)} are known on the server alone: name a way there by"
            f" ssh, --server-ssh root@{target.host}"
        )


def seconds_until_next_look(look_cpu_seconds: float, look_seconds: float) -> float:
    """How long to wait after a look that took so much of the server's processors, and that long."""
    return max(0.0, look_cpu_seconds / MOST_COST - look_seconds)
