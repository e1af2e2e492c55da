"""Two audits compared, on paper and as JSON: which settings, facts and findings differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from forms.audit.report import SIGNS, audit_answer, finding_document, setting_text
from forms.report import Report, Table, answer_field, changes_table, columns_of, fields_of, row_of
from forms.tuning.fact_names import PARAMETER_PREFIX, is_volatile
from storage.looks import Audit, AuditFinding
from storage.records import with_zone

COMPARISON_SCHEMA = "sharebench/audit-comparison/1"


@dataclass(frozen=True, slots=True)
class _Difference:
    """A setting or fact that two audits do not share."""

    name: str
    before: str
    after: str


def audit_comparison_report(base: Audit, other: Audit) -> Report:
    differences = [
        *_differences(base.settings_by_name(), other.settings_by_name()),
        *_differences(_steady_facts(base), _steady_facts(other)),
    ]
    gone_findings, new_findings = finding_changes(base, other)

    answer = "No change: the settings and the findings are the same."
    if differences or gone_findings or new_findings:
        answer = (
            f"{len(differences)} settings or facts differ; {len(new_findings)} findings are new,"
            f" {len(gone_findings)} are gone."
        )
    tables = changes_table(
        [(setting_text(finding), finding.why) for finding in gone_findings],
        [(setting_text(finding), finding.why, SIGNS[finding.verdict].tone) for finding in new_findings],
    )
    if differences:
        tables.insert(0, _differences_table(differences))
    return Report(
        form="audit comparison",
        title="Two audits compared",
        name="Comparison",
        fields=fields_of(
            answer_field(answer),
            ("Base", f"{base.subject}, {with_zone(base.created_at)}: {audit_answer(base)}"),
            ("Other", f"{other.subject}, {with_zone(other.created_at)}: {audit_answer(other)}"),
        ),
        tables=tuple(tables),
        document=lambda: {
            "schema": COMPARISON_SCHEMA,
            "base": base.id,
            "other": other.id,
            "differences": [
                {"name": difference.name, "base": difference.before, "other": difference.after}
                for difference in differences
            ],
            "gone": [finding_document(finding) for finding in gone_findings],
            "new": [finding_document(finding) for finding in new_findings],
        },
    )


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[_Difference]:
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield _Difference(name, before.get(name, "(not set)"), after.get(name, "(not set)"))


def _differences_table(differences: Sequence[_Difference]) -> Table:
    rows = tuple(row_of(difference.name, difference.before, difference.after) for difference in differences)
    return Table(columns=columns_of("Setting", "Base", "Other"), rows=rows, caption="Differences")


def _steady_facts(audit: Audit) -> dict[str, str]:
    """The facts that differ only where somebody changed something; settings are compared by themselves."""
    return {
        name: str(value)
        for name, value in audit.facts.items()
        if not is_volatile(name) and not name.startswith(PARAMETER_PREFIX)
    }


def finding_changes(base: Audit, other: Audit) -> tuple[tuple[AuditFinding, ...], tuple[AuditFinding, ...]]:
    """(gone, new) findings; a line that only moved is the same finding."""
    return _findings_without(base, other), _findings_without(other, base)


def _findings_without(audit: Audit, other: Audit) -> tuple[AuditFinding, ...]:
    """The findings of an audit that the other has not."""
    others = {_identity(finding) for finding in other.findings}
    return tuple(finding for finding in audit.findings if _identity(finding) not in others)


def _identity(finding: AuditFinding) -> tuple[str, str, str, str]:
    """What makes two findings the same; the line is left out, since it moves."""
    return finding.key, finding.section, finding.setting, finding.value
