"""What an audit comes to: the record that is stored, and what is not stored with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forms.audit.audited_server import AuditedServer
from forms.audit.judge import gravest_first, judge
from forms.audit.share_findings import share_findings
from storage import looks, records


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """What an audit says, and what is not stored with it."""

    audit: looks.Audit
    files: Mapping[str, str] = field(default_factory=dict)
    """The texts of smb.conf and what it includes, by path; empty where they could not be read."""
    refused: bool = False
    """Whether the server refused the login, so that it was audited without a session."""


def audit_of(
    subject: str,
    scope: looks.AuditScope,
    server: AuditedServer,
    unread: Sequence[str],
    problems: tuple[str, ...] = (),
) -> looks.Audit:
    return looks.Audit(
        id=records.new_series_id(),
        created_at=records.utc_now(),
        subject=subject,
        scope=scope,
        settings=server.conf.settings if server.conf else (),
        facts=dict(server.facts),
        findings=gravest_first([*share_findings(server.facts), *judge(server)]),
        unread=tuple(unread),
        problems=problems,
    )
