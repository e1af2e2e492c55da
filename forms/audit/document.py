"""The JSON documents of audits, both ways."""

from collections.abc import Iterable, Sequence
from typing import Any

from storage.audits import Audit, AuditFinding, Ruling, audit_from_json
from storage.json_reader import DocumentError, JSONNode

SCHEMA = "sharebench/audit/1"
COMPARISON_SCHEMA = "sharebench/audit-comparison/1"
SEVERITIES = {
    Ruling.HARMFUL: "problem",
    Ruling.CONTRADICTORY: "warning",
    Ruling.RISKY: "warning",
    Ruling.MISPLACED: "warning",
    Ruling.WORTH_TRYING: "note",
    Ruling.USELESS: "note",
}


def audit_document(audit: Audit) -> dict[str, Any]:
    """The JSON object ``sharebench/audit/1``: the record, each finding with what ``findings/1`` has as well."""
    return {
        "schema": SCHEMA,
        **audit.to_json(),
        "findings": [finding_document(finding) for finding in audit.findings],
        "counts": {verdict.value: audit.count(verdict) for verdict in Ruling},
    }


def finding_document(finding: AuditFinding) -> dict[str, Any]:
    """One finding, with the keys of ``sharebench/findings/1``."""
    fields = {name: getattr(finding, name) for name in finding.__dataclass_fields__}
    return {
        "severity": SEVERITIES[finding.verdict],
        "title": f"{finding.setting} = {finding.value}" if finding.value else finding.setting,
        "evidence": " ".join(text for text in (finding.why, finding.price) if text),
        **fields,
        "verdict": finding.verdict.value,
        "advised_by": list(finding.advised_by),
    }


def audit_comparison_document(
    base: Audit, other: Audit, differences: Iterable[tuple[str, str, str]], gone: Sequence[AuditFinding],
    new: Sequence[AuditFinding],
) -> dict[str, Any]:  # fmt: skip
    """The JSON object ``sharebench/audit-comparison/1``."""
    return {
        "schema": COMPARISON_SCHEMA,
        "base": base.id,
        "other": other.id,
        "differences": [{"name": name, "base": before, "other": after} for name, before, after in differences],
        "gone": [finding_document(finding) for finding in gone],
        "new": [finding_document(finding) for finding in new],
    }


def audit_from_document(document: object) -> Audit:
    """The audit in a document. Raises DocumentError."""
    node = JSONNode("", document).object()
    if node.at("schema").text() != SCHEMA:
        raise DocumentError(f'schema: expected "{SCHEMA}"')
    return audit_from_json(node)
