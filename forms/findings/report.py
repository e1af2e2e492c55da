"""Findings on paper: a table of what was found, the evidence, and what to do."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from forms.findings.document import findings_document
from forms.findings.finding import Finding, Severity
from forms.report import Report, Table, columns_of, row_of
from forms.tone import Tone

SIGNS = {Severity.PROBLEM: "!!", Severity.WARNING: "! ", Severity.NOTE: "i ", Severity.GOOD: "ok"}
"""Two characters a severity, so that nothing is told by colour alone."""
TONES = {
    Severity.PROBLEM: Tone.BAD,
    Severity.WARNING: Tone.CAUTION,
    Severity.NOTE: Tone.PLAIN,
    Severity.GOOD: Tone.GOOD,
}
FORM = "findings"
TITLE = "Findings"
NO_FINDINGS = "No findings: nothing measured so far speaks for or against this set-up."


def findings_report(found: Sequence[Finding]) -> Report:
    """What some series say of a set-up."""
    return Report(
        form=FORM,
        title=TITLE,
        name=TITLE,
        tables=(replace(findings_table(found), caption=""),),
        document=partial(findings_document, found),
    )


def findings_table(found: Sequence[Finding]) -> Table:
    """Each finding with its sign, evidence and what to do, the gravest first."""
    rows = tuple(
        row_of(
            f"[{SIGNS[one.severity]}] {one.title}",
            one.evidence,
            one.what_to_do,
            tone=TONES[one.severity],
        )
        for one in found
    )
    return Table(
        columns=columns_of("Finding", "Evidence", "What to do"),
        rows=rows or (row_of(NO_FINDINGS, "", ""),),
        caption=TITLE,
        sentences=True,
    )
