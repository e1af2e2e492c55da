"""Findings of an audit about the target's share as a whole: settings by which nobody can open it."""

from forms.audit import share_access
from storage.looks import AuditFinding, Ruling
from storage.records import Facts

_COST = 1000
"""Nothing of the share can be used, which no other setting costs."""

_REMEDIES = {
    "path": "Mount the disk or make the folder, or correct the path.",
    "force user": "Make the user on the server, or correct the name.",
    "force group": "Make the group on the server, or correct the name.",
    "available": "Set available = yes, if the share is to be used again.",
    "server smb encrypt": "Allow encryption in [global] (default), with SMB 3, or do not require it of the share.",
}
"""What to do, by the parameter. A missing module has a finding of its line, and a share that sends clients to another
server is as its admin wants it.
"""

_ON_PURPOSE = frozenset({"available"})
"""Parameters that an admin closes a share with."""


def share_findings(server: Facts) -> tuple[AuditFinding, ...]:
    """Why the server cannot open the share; empty where it can, or nothing is known of it."""
    return tuple(
        AuditFinding(
            key="share-not-opened",
            verdict=Ruling.CONTRADICTORY if parameter in _ON_PURPOSE else Ruling.HARMFUL,
            cost=_COST,
            setting=parameter,
            value=value,
            why=f"Nobody can open the share: {reason}.",
            what_to_do=_REMEDIES[parameter],
        )
        for parameter, value, reason in share_access.certain_causes(server)
        if parameter in _REMEDIES
    )
