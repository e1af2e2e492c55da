"""The session that an audit opens with a server: what the two agree on, or why there was none."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field

from app.base import errors
from app.clients import refusals
from app.clients.base import Secrets
from app.clients.registry import make_client
from forms.audit import share_access
from storage import records
from storage.plan import Settings

_TCP_BYTES = 1 << 20
"""For a target without files, of which nothing is sent here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """Which server is audited, and how it is reached."""

    target: records.Target
    ssh: str | None = None
    """``[USER@]HOST``; None for a server on this machine, or one whose files nobody can read."""
    smb_conf: str | None = None
    """Path on the server, if not its smbd's default."""
    samba_version: str = ""
    """For a server that does not tell it, as ``4.22``; empty if unknown."""
    settings: Settings = field(default_factory=Settings)
    secrets: Callable[[], Secrets | None] | None = None
    """Asks for the login to inspect the session; None, from it or in its place, to skip that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSession:
    """What a session reveals of a server, or why there was none; neither where none was asked for."""

    facts: Mapping[str, records.FactValue] = field(default_factory=dict)
    failure: errors.MeasurementError | None = None


def possible_causes(failure: errors.MeasurementError, facts: records.Facts) -> list[str]:
    """What the settings say of why there was no session, in one text; what is certain is a finding."""
    settings = refusals.settings_that_may_refuse(failure, facts)
    return [share_access.possible_text(settings)] if settings else []


def open_session(request: AuditRequest) -> AuditSession:
    """Log in and out again, for what the two agree on."""
    secrets = request.secrets() if request.secrets else None
    if secrets is None:
        return AuditSession()

    try:
        with closing(make_client(request.target, "sharebench", secrets, request.settings, _TCP_BYTES)) as client:
            client.connect()
            agreed = client.facts()
            facts_of_path = client.facts_of_path()
    except errors.MeasurementError as error:
        return AuditSession(failure=error)

    facts: dict[str, records.FactValue | None] = {
        "session.dialect": agreed.dialect,
        "session.signing": agreed.signing,
        "session.encryption": agreed.encryption,
        "mtu.path_bytes": facts_of_path.get("mtu.path_bytes"),
    }
    return AuditSession(facts={name: value for name, value in facts.items() if value})
