"""Findings as text for a terminal of 80 columns, and as a document."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from forms.finding import Finding, Severity

WIDTH = 80
SIGNS = {Severity.PROBLEM: "!!", Severity.WARNING: "! ", Severity.NOTE: "i ", Severity.GOOD: "ok"}
"""Two characters a severity, so that nothing is told by colour alone."""


def findings_text(found: Sequence[Finding]) -> str:
    """Each finding with its sign, evidence and what to do, the gravest first."""
    if not found:
        return "No findings: nothing measured so far speaks for or against this set-up.\n"
    lines: list[str] = []
    for finding in found:
        lines += textwrap.wrap(f"[{SIGNS[finding.severity]}] {finding.title}", WIDTH, subsequent_indent="     ")
        for part in (finding.evidence, f"-> {finding.what_to_do}"):
            lines += textwrap.wrap(
                part, WIDTH, initial_indent="     ", subsequent_indent="     ", break_on_hyphens=False
            )
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
