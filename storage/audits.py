"""Audits: what a server's settings were at one time, and what was wrong with them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from storage.codec import of_a_sound_file
from storage.json_reader import Filled, JSONNode, Moment
from storage.recordings import Recording, recorded, with_head
from storage.records import FactValue, SeriesStatus

AUDIT = "audit"


class Ruling(StrEnum):
    """What is wrong with a setting, the gravest first."""

    HARMFUL = "harmful"
    CONTRADICTORY = "contradictory"
    RISKY = "risky"
    MISPLACED = "misplaced"
    WORTH_TRYING = "worth trying"
    USELESS = "useless"


class AuditScope(StrEnum):
    """What the audit could see."""

    SERVER = "server"
    FILE = "file"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """One setting and what is wrong with it."""

    key: Filled
    verdict: Ruling
    cost: int = 0
    setting: str
    value: str = ""
    why: str
    what_to_do: str
    file: str = ""
    line: int = 0
    section: str = ""
    parameter: str = ""
    word: str = ""
    instead: str | None = None
    price: str = ""
    price_source: str = ""
    advised_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedSetting:
    """One line ``name = value``, includes spliced in."""

    section: str
    name: str
    value: str
    file: str = ""
    line: int = 0


def _facts(place: JSONNode) -> dict[str, FactValue]:
    return {name: _fact(JSONNode(f"{place.name}.{name}", value)) for name, value in place.object().value.items()}


def _fact(place: JSONNode) -> FactValue:
    return place.text() if isinstance(place.value, str) else place.number()


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """One audit of one server."""

    id: Filled
    created_at: Moment
    subject: Filled
    scope: AuditScope
    settings: tuple[AuditedSetting, ...] = ()
    facts: Annotated[Mapping[str, FactValue], _facts] = field(default_factory=dict)
    findings: tuple[AuditFinding, ...] = ()
    problems: tuple[str, ...] = ()
    label: str = ""
    note: str = ""
    question: str = ""

    def count(self, verdict: Ruling) -> int:
        return sum(finding.verdict is verdict for finding in self.findings)

    def settings_by_name(self) -> dict[str, str]:
        return {f"[{one.section}] {one.name}": one.value for one in self.settings}


def audit_from_json(node: JSONNode) -> Audit:
    """The audit in a JSON object. Raises DocumentError with the first wrong place."""
    return node.record(Audit, needs=("findings",))


def recording_of(audit: Audit) -> Recording:
    """The audit as the notebook stores it."""
    return recorded(audit, AUDIT, status=SeriesStatus.COMPLETE)


@of_a_sound_file
def audit_of(recording: Recording) -> Audit:
    """The audit in a stored recording. Raises DamagedNotebookError."""
    return audit_from_json(with_head(recording))
