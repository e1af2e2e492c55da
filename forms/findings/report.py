"""Findings on paper and as JSON."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from forms.findings.finding import Finding, Severity
from forms.layout import Sign
from forms.report import Field, Report, Row, Table, answer_field, columns_of, row_of
from storage.json_reader import named

SCHEMA = "sharebench/findings/1"
FORM = "findings"
TITLE = "Findings"
NO_FINDINGS = "No findings: nothing measured so far speaks for or against this set-up."
SIGNS = {
    Severity.PROBLEM: Sign.BAD,
    Severity.WARNING: Sign.WARNING,
    Severity.NOTE: Sign.ADVICE,
    Severity.GOOD: Sign.GOOD,
}


def findings_report(findings: Sequence[Finding]) -> Report:
    fields: tuple[Field, ...] = ()
    if findings:
        gravest = findings[0]
        answer = f"{gravest.title}. {gravest.what_to_do}"
        fields = (answer_field(answer, SIGNS[gravest.severity].tone),)
    return Report(
        form=FORM,
        title=TITLE,
        name=TITLE,
        fields=fields,
        tables=(findings_table(findings, ""),),
        document=partial(_findings_document, findings),
    )


def _findings_document(findings: Sequence[Finding]) -> dict[str, Any]:
    return {"schema": SCHEMA, "findings": [finding_document(finding) for finding in findings]}


def findings_table(findings: Sequence[Finding], caption: str = TITLE) -> Table:
    rows = [_finding_row(finding) for finding in findings]
    if not rows:
        rows = [row_of(NO_FINDINGS, "", "")]
    return Table(
        columns=columns_of("Finding", "Evidence", "What to do"),
        rows=tuple(rows),
        caption=caption,
        sentences=True,
    )


def _finding_row(finding: Finding) -> Row:
    sign = SIGNS[finding.severity]
    evidence = finding.evidence
    if finding.sure:
        evidence += f" How sure: {finding.sure}."
    what_to_do = finding.what_to_do
    if finding.setting:
        what_to_do += f' Test it: sharebench try "{finding.setting}" TARGET'
    return row_of(f"{sign} {finding.title}", evidence, what_to_do, tone=sign.tone)


def finding_document(finding: Finding) -> dict[str, Any]:
    document = named(finding, "key", "severity", "title", "evidence", "what_to_do")
    return document | {"series": list(finding.series_ids)}
