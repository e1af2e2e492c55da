"""Audits on paper and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from forms.layout import Sign, Tone
from forms.report import Report, Row, Table, answer_field, changes_table, columns_of, fields_of, question_field, row_of
from forms.tuning.catalogue import CatalogueEntry
from forms.tuning.differences import values_that_matter
from forms.tuning.smb_conf import PARAMETER_PREFIX, is_volatile
from storage.looks import Audit, AuditFinding, AuditScope, Ruling
from storage.records import with_zone

SCHEMA = "sharebench/audit/1"
COMPARISON_SCHEMA = "sharebench/audit-comparison/1"
SEVERITIES: Mapping[Ruling, str] = {
    Ruling.HARMFUL: "problem",
    Ruling.CONTRADICTORY: "warning",
    Ruling.RISKY: "warning",
    Ruling.MISPLACED: "warning",
    Ruling.WORTH_TRYING: "note",
    Ruling.USELESS: "note",
}
SIGNS: Mapping[Ruling, Sign] = {
    Ruling.HARMFUL: Sign.BAD,
    Ruling.CONTRADICTORY: Sign.WARNING,
    Ruling.RISKY: Sign.WARNING,
    Ruling.MISPLACED: Sign.WARNING,
    Ruling.WORTH_TRYING: Sign.ADVICE,
    Ruling.USELESS: Sign.USELESS,
}
COUNTED = (
    Ruling.HARMFUL,
    Ruling.CONTRADICTORY,
    Ruling.RISKY,
    Ruling.MISPLACED,
    Ruling.USELESS,
    Ruling.WORTH_TRYING,
)
_SCOPES = {
    AuditScope.SERVER: "The server's configuration and facts were read. Nothing was measured or changed.",
    AuditScope.FILE: "Only this file was read: the server's kernel, disks and sessions are unknown.",
    AuditScope.SESSION: "Only what a session reveals was seen. Add --server-ssh [USER@]HOST to read the settings.",
}
_SETTINGS_SHOWN = 8
"""The first settings that matter are shown even where they are at their defaults."""


def audit_document(audit: Audit) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **asdict(audit),
        "findings": [finding_document(finding) for finding in audit.findings],
        "counts": {verdict.value: audit.count(verdict) for verdict in Ruling},
    }


def finding_document(finding: AuditFinding) -> dict[str, Any]:
    """A finding with the keys of ``sharebench/findings/1``."""
    return {
        "severity": SEVERITIES[finding.verdict],
        "title": f"{finding.setting} = {finding.value}" if finding.value else finding.setting,
        "evidence": " ".join(text for text in (finding.why, finding.price) if text),
        **asdict(finding),
    }


def audit_answer(audit: Audit) -> str:
    numbers = {verdict: audit.count(verdict) for verdict in COUNTED}
    counts = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items() if number)
    parts = [counts] if counts else []
    if audit.scope is AuditScope.SESSION:
        parts.append("the server's settings were not read")

    answer = "; ".join(parts) or "no problems found"
    return f"{answer[0].upper()}{answer[1:]}."


def audit_sign(audit: Audit) -> Sign:
    verdicts = {finding.verdict for finding in audit.findings}
    gravest = next((verdict for verdict in Ruling if verdict in verdicts), None)
    if gravest is not None:
        return SIGNS[gravest]
    return Sign.UNKNOWN if audit.scope is AuditScope.SESSION else Sign.GOOD


def place_text(finding: AuditFinding) -> str:
    name = finding.file.rpartition("/")[2]
    return f"{name}:{finding.line}" if finding.line else name or "server"


def setting_text(finding: AuditFinding) -> str:
    """The setting as written, ``log level = 3``, or the one word concerned."""
    if finding.word:
        return f"{finding.setting} … {_word_as_written(finding)}"
    if not finding.value:
        return finding.setting
    return f"{finding.setting} = {finding.value}" if finding.line else f"{finding.setting}: {finding.value}"


def _word_as_written(finding: AuditFinding) -> str:
    words = finding.value.replace(",", " ").split()
    return next((word for word in words if word.partition("=")[0].lower() == finding.word.lower()), finding.word)


def _why_text(finding: AuditFinding, results: Sequence[str] = ()) -> str:
    """Why, what it costs, what was measured here, and who recommended it once."""
    sentences = [finding.why]
    if finding.price:
        price = finding.price.rstrip(".")
        sentences.append(f"{price} ({finding.price_source}).")
    sentences += _measured_here(results)
    if finding.advised_by:
        sentences.append(f"Once recommended by: {', '.join(finding.advised_by)}.")
    return " ".join(sentences)


def _measured_here(results: Sequence[str]) -> list[str]:
    texts = [result.rstrip(".") for result in results]
    return [f"Measured here {text}." for text in texts]


def audit_report(audit: Audit, results: Mapping[str, Sequence[str]] | None = None) -> Report:
    """An audit; ``results`` has what this notebook measured of each parameter."""
    sign = audit_sign(audit)
    path = str(audit.facts.get("smb.conf.path", ""))
    return Report(
        form="audit",
        title=f"Audit of {audit.subject}",
        name="Audit",
        fields=fields_of(
            answer_field(f"{sign} {audit_answer(audit)}", sign.tone),
            question_field(audit.question),
            ("Note", audit.note),
            ("Server", audit.subject),
            ("Samba", str(audit.facts.get("samba.version", ""))),
            ("Scope", _SCOPES[audit.scope]),
            ("Read", path if audit.scope is AuditScope.SERVER else ""),
            *(("Not read", problem, Tone.CAUTION) for problem in audit.problems),
        ),
        tables=(*_finding_tables(audit, results or {}), *_settings_tables(audit)),
        document=partial(audit_document, audit),
    )


def _finding_tables(audit: Audit, results: Mapping[str, Sequence[str]]) -> Iterator[Table]:
    """What to mend, and below it what does nothing; neither where there is none."""
    to_mend = [finding for finding in audit.findings if finding.verdict is not Ruling.USELESS]
    if to_mend:
        yield Table(
            columns=columns_of("Finding", "Why", "What to do"),
            rows=tuple(_finding_row(finding, results.get(finding.parameter, ())) for finding in to_mend),
            caption="Findings",
            sentences=True,
        )

    useless = [finding for finding in audit.findings if finding.verdict is Ruling.USELESS]
    if useless:
        useless.sort(key=attrgetter("file", "line"))
        yield Table(
            columns=columns_of("Useless", "Setting", "Why"),
            rows=tuple(_useless_row(finding, results.get(finding.parameter, ())) for finding in useless),
            caption="Useless: delete these",
        )


def _finding_row(finding: AuditFinding, results: Sequence[str]) -> Row:
    sign = SIGNS[finding.verdict]
    name = f"{sign} {finding.verdict} {place_text(finding)}  {setting_text(finding)}"
    return row_of(name, _why_text(finding, results), finding.what_to_do, tone=sign.tone)


def _useless_row(finding: AuditFinding, results: Sequence[str]) -> Row:
    name = f"{SIGNS[finding.verdict]} {place_text(finding)}"
    reasons = " ".join([finding.why, *_measured_here(results)])
    return row_of(name, setting_text(finding), reasons, tone=Tone.FAINT)


def _settings_tables(audit: Audit) -> Iterator[Table]:
    """What the server has: of the settings that matter the first ones, and all that are not default."""
    settings = values_that_matter(audit.facts)
    listed_settings: list[tuple[CatalogueEntry, str]] = []
    for place, (entry, value, is_default) in enumerate(settings):
        if place < _SETTINGS_SHOWN or not is_default:
            listed_settings.append((entry, value))
    if not listed_settings:
        return

    caption = "What the server has, of the settings that matter"
    if len(listed_settings) < len(settings):
        caption += f" ({len(settings) - len(listed_settings)} more are at their defaults)"
    rows = [row_of(entry.parameter, value or "(empty)", entry.default or "(empty)") for entry, value in listed_settings]
    yield Table(
        columns=columns_of("Setting", "Value", "Default"),
        rows=tuple(rows),
        caption=caption,
    )


# Two audits


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
    return finding.key, finding.section, finding.setting, finding.value
