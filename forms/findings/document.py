"""Findings as JSON objects."""

from collections.abc import Sequence
from typing import Any

from forms.findings.finding import Finding
from storage.json_reader import named

SCHEMA = "sharebench/findings/1"


def finding_document(finding: Finding) -> dict[str, Any]:
    """One finding as a JSON object."""
    return {
        **named(finding, "key", "severity", "title", "evidence", "what_to_do"),
        "series": list(finding.series_ids),
    }


def findings_document(found: Sequence[Finding]) -> dict[str, Any]:
    """The JSON object ``sharebench/findings/1``, the gravest finding first."""
    return {"schema": SCHEMA, "findings": [finding_document(finding) for finding in found]}
