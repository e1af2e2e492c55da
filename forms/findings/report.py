"""Findings as text for a terminal of 80 columns, and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forms import layout
from forms.findings.finding import Finding, Severity

WIDTH = 80
_INDENT = " " * 5
SIGNS = {Severity.PROBLEM: "!!", Severity.WARNING: "! ", Severity.NOTE: "i ", Severity.GOOD: "ok"}
"""Two characters a severity, so that nothing is told by colour alone."""


def findings_text(found: Sequence[Finding], width: int = WIDTH) -> str:
    """Each finding with its sign, evidence and what to do, the gravest first; lines of at most ``width`` columns."""
    if not found:
        return "No findings: nothing measured so far speaks for or against this set-up.\n"
    lines: list[str] = []
    for finding in found:
        lines += layout.hanging(f"[{SIGNS[finding.severity]}] {finding.title}", width, _INDENT)
        for part in (finding.evidence, f"-> {finding.what_to_do}"):
            lines += layout.hanging(_INDENT + part, width, _INDENT)
    return "\n".join(lines) + "\n"


def finding_document(finding: Finding) -> dict[str, Any]:
    """One finding as a JSON object."""
    return {
        "key": finding.key,
        "severity": finding.severity.value,
        "title": finding.title,
        "evidence": finding.evidence,
        "what_to_do": finding.what_to_do,
        "series": list(finding.series_ids),
    }
