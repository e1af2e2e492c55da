"""Audits on paper and as JSON."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from forms.layout import Sign, Tone
from forms.report import Report, ReportKind, Table, changes_table, columns_of, fields_of, row_of, table_of
from forms.tuning.catalogue import about
from forms.tuning.differences import values_that_matter
from forms.tuning.smb_conf import PARAMETER_PREFIX, file_lines, is_volatile, same_value, spelling
from forms.tuning.trial_rules import data
from storage.looks import Audit, AuditFinding, AuditScope, Ruling
from storage.records import with_zone

SCHEMA = "sharebench/audit/1"
COMPARISON_SCHEMA = "sharebench/audit-comparison/1"
LOOKS = {
    Ruling.HARMFUL: ("problem", Sign.BAD),
    Ruling.CONTRADICTORY: ("warning", Sign.WARNING),
    Ruling.RISKY: ("warning", Sign.WARNING),
    Ruling.MISPLACED: ("warning", Sign.WARNING),
    Ruling.WORTH_TRYING: ("note", Sign.ADVICE),
    Ruling.USELESS: ("note", Sign.USELESS),
}
SIGNS: Mapping[Ruling, Sign] = {ruling: sign for ruling, (_, sign) in LOOKS.items()}


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
        "severity": LOOKS[finding.verdict][0],
        "title": f"{finding.setting} = {finding.value}" if finding.value else finding.setting,
        "evidence": " ".join(text for text in (finding.why, finding.price) if text),
        **asdict(finding),
    }


COUNTED = (
    Ruling.HARMFUL, Ruling.CONTRADICTORY, Ruling.RISKY, Ruling.MISPLACED, Ruling.USELESS, Ruling.WORTH_TRYING,
)  # fmt: skip
_SCOPES = {
    AuditScope.SERVER: "The server's configuration and facts were read. Nothing was measured or changed.",
    AuditScope.FILE: "Only this file was read: the server's kernel, disks and sessions are unknown.",
    AuditScope.SESSION: "Only what a session reveals was seen. Add --server-ssh [USER@]HOST to read the settings.",
}


def audit_answer(audit: Audit) -> str:
    counts = [f"{number} {verdict}" for verdict in COUNTED if (number := audit.count(verdict))]
    unread = ["the server's settings were not read"] if audit.scope is AuditScope.SESSION else []
    said = "; ".join(filter(None, (", ".join(counts), *unread))) or "no problems found"
    return f"{said[0].upper()}{said[1:]}."


def audit_sign(audit: Audit) -> Sign:
    gravest = min((finding.verdict for finding in audit.findings), key=list(Ruling).index, default=None)
    return SIGNS[gravest] if gravest else Sign.UNKNOWN if audit.scope is AuditScope.SESSION else Sign.GOOD


def place_of(finding: AuditFinding) -> str:
    name = finding.file.rpartition("/")[2]
    return f"{name}:{finding.line}" if finding.line else name or "server"


def said_of(finding: AuditFinding) -> str:
    """The setting as written, ``log level = 3``, or the one word concerned."""
    if finding.word:
        words = finding.value.replace(",", " ").split()
        meant = next((word for word in words if word.partition("=")[0].lower() == finding.word.lower()), finding.word)
        return f"{finding.setting} … {meant}"
    if not finding.value:
        return finding.setting
    return f"{finding.setting} = {finding.value}" if finding.line else f"{finding.setting}: {finding.value}"


def _why_of(finding: AuditFinding, tried: Sequence[str] = ()) -> str:
    said = [finding.why]
    if finding.price:
        said.append(f"{finding.price.rstrip('.')} ({finding.price_source}).")
    said += _measured_here(tried)
    if finding.advised_by:
        said.append(f"Once recommended by: {', '.join(finding.advised_by)}.")
    return " ".join(said)


def _measured_here(tried: Sequence[str]) -> list[str]:
    return [f"Measured here {each.rstrip('.')}." for each in tried]


def audit_report(audit: Audit, tried: Mapping[str, Sequence[str]] | None = None) -> Report:
    """An audit; ``tried`` has this notebook's results by parameter."""
    sign = audit_sign(audit)
    return Report(
        form="audit",
        title=f"Audit of {audit.subject}",
        name="Audit",
        fields=fields_of(
            ("Answer", f"{sign} {audit_answer(audit)}", sign.tone),
            ("Question", audit.question),
            ("Note", audit.note),
            ("Server", audit.subject),
            ("Samba", str(audit.facts.get("samba.version", ""))),
            ("Scope", _SCOPES[audit.scope]),
            ("Read", str(audit.facts.get("smb.conf.path", "")) if audit.scope is AuditScope.SERVER else ""),
            *(("Not read", problem, Tone.CAUTION) for problem in audit.problems),
        ),
        tables=(*_tables(audit, tried or {}), *_settings(audit)),
        document=lambda: audit_document(audit),
    )


def _tables(audit: Audit, tried: Mapping[str, Sequence[str]]) -> Iterator[Table]:
    text = ReportKind.TEXT
    if matters := [one for one in audit.findings if one.verdict is not Ruling.USELESS]:
        yield table_of(
            matters,
            ("Finding", text, lambda one: f"{SIGNS[one.verdict]} {one.verdict} {place_of(one)}  {said_of(one)}"),
            ("Why", text, lambda one: _why_of(one, tried.get(one.parameter, ()))),
            ("What to do", text, lambda one: one.what_to_do),
            look=lambda one: {"tone": SIGNS[one.verdict].tone},
            caption="Findings",
            sentences=True,
        )
    if useless := [one for one in audit.findings if one.verdict is Ruling.USELESS]:
        yield table_of(
            sorted(useless, key=lambda one: (one.file, one.line)),
            ("Useless", text, lambda one: f"{SIGNS[one.verdict]} {place_of(one)}"),
            ("Setting", text, said_of),
            ("Why", text, lambda one: " ".join([one.why, *_measured_here(tried.get(one.parameter, ()))])),
            look=lambda _: {"tone": Tone.FAINT},
            caption="Useless: delete these",
        )


def _settings(audit: Audit) -> Iterator[Table]:
    """What the server has: of the settings that matter the first eight, and all that are not default."""
    known = values_that_matter(audit.facts)
    rows = [(entry, value) for place, (entry, value, is_default) in enumerate(known) if place < 8 or not is_default]
    if rows:
        more = f" ({len(known) - len(rows)} more are at their defaults)" if len(rows) < len(known) else ""
        yield table_of(
            rows,
            ("Setting", ReportKind.TEXT, lambda row: row[0].parameter),
            ("Value", ReportKind.TEXT, lambda row: row[1] or "(empty)"),
            ("Default", ReportKind.TEXT, lambda row: row[0].default or "(empty)"),
            caption=f"What the server has, of the settings that matter{more}",
        )


def audit_comparison_report(base: Audit, other: Audit) -> Report:
    sides = ((base.settings_by_name(), other.settings_by_name()), (_steady(base), _steady(other)))
    differing = [
        (name, before.get(name, "(not set)"), after.get(name, "(not set)"))
        for before, after in sides
        for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)
    ]  # fmt: skip
    gone, new = finding_changes(base, other)
    answer = "No change: the settings and the findings are the same."
    if differing or gone or new:
        answer = f"{len(differing)} settings or facts differ; {len(new)} findings are new, {len(gone)} are gone."
    rows = tuple(row_of(*each) for each in differing)
    table = Table(columns=columns_of("Setting", "Base", "Other"), rows=rows, caption="Differences")
    return Report(
        form="audit comparison",
        title="Two audits compared",
        name="Comparison",
        fields=fields_of(
            ("Answer", answer),
            ("Base", f"{base.subject}, {with_zone(base.created_at)}: {audit_answer(base)}"),
            ("Other", f"{other.subject}, {with_zone(other.created_at)}: {audit_answer(other)}"),
        ),
        tables=(
            *([table] if differing else []),
            *changes_table(
                [(said_of(one), one.why) for one in gone],
                [(said_of(one), one.why, SIGNS[one.verdict].tone) for one in new],
            ),
        ),
        document=lambda: {
            "schema": COMPARISON_SCHEMA,
            "base": base.id,
            "other": other.id,
            "differences": [{"name": name, "base": before, "other": after} for name, before, after in differing],
            "gone": [finding_document(finding) for finding in gone],
            "new": [finding_document(finding) for finding in new],
        },
    )


def _steady(audit: Audit) -> dict[str, str]:
    return {
        name: str(value)
        for name, value in audit.facts.items()
        if not is_volatile(name) and not name.startswith(PARAMETER_PREFIX)
    }


def finding_changes(base: Audit, other: Audit) -> tuple[tuple[AuditFinding, ...], tuple[AuditFinding, ...]]:
    """(gone, new) findings; a line that only moved is the same finding."""

    def known(one: AuditFinding) -> tuple[str, str, str, str]:
        return one.key, one.section, one.setting, one.value

    before, after = ({*map(known, audit.findings)} for audit in (base, other))
    gone = tuple(one for one in base.findings if known(one) not in after)
    return gone, tuple(one for one in other.findings if known(one) not in before)


TESTED = frozenset({Ruling.HARMFUL, Ruling.CONTRADICTORY, Ruling.WORTH_TRYING})


def proposed_diff(findings: Sequence[AuditFinding], files: Mapping[str, str]) -> str:
    """A diff of the files for `patch`; empty where no finding names an edit."""
    return "".join(_diff_of(path, text, _by_line(findings, path)) for path, text in sorted(files.items()))


def _by_line(findings: Sequence[AuditFinding], path: str) -> dict[int, list[AuditFinding]]:
    found: dict[int, list[AuditFinding]] = {}
    for finding in findings:
        if finding.file == path and finding.line and finding.instead is not None:
            found.setdefault(finding.line, []).append(finding)
    return found


def _diff_of(path: str, text: str, edits: Mapping[int, Sequence[AuditFinding]]) -> str:
    if not edits:
        return ""
    before = file_lines(text)
    after = list(_edited(before, edits))
    name = path.lstrip("/")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    )


def _edited(lines: Sequence[str], edits: Mapping[int, Sequence[AuditFinding]]) -> Iterator[str]:
    numbered = iter(enumerate(lines, start=1))
    for number, line in numbered:
        found = edits.get(number)
        if not found:
            yield line
            continue
        if replacement := edited_line(found):
            indent = line[: len(line) - len(line.lstrip())]
            yield indent + replacement + _ending(line)
        rest = line
        while rest.rstrip().endswith("\\"):
            _, rest = next(numbered, (0, ""))


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def edited_line(findings: Sequence[AuditFinding]) -> str:
    """The replacement for a line with these findings; "" deletes it."""
    if whole := [finding for finding in findings if not finding.word]:
        return whole[0].instead or ""
    words = {finding.word.lower() for finding in findings}
    kept = [word for word in findings[0].value.split() if word.partition("=")[0].strip(",").lower() not in words]
    return f"{findings[0].setting} = {' '.join(kept)}" if kept else ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A replacement for a parameter's value that ``try`` can test."""

    name: str
    value: str
    finding: AuditFinding


def remedies(findings: Sequence[AuditFinding]) -> tuple[Remedy, ...]:
    """Values that can be tested, the costliest first, once per parameter."""
    found: dict[str, Remedy] = {}
    never = {spelling(name).name for name in data()["never"]}
    for finding in findings:
        if finding.verdict not in TESTED or finding.instead is None or not finding.parameter:
            continue
        same_line = [one for one in findings if (one.file, one.line) == (finding.file, finding.line) and one.word]
        line = edited_line([one for one in same_line if one.verdict in TESTED] if finding.word else [finding])
        name, _, value = (part.strip() for part in line.partition("="))
        name = spelling(name).name if line else finding.parameter
        if not line:
            entry = next(iter(about(finding.parameter)), None)
            value = (entry.default or "") if entry else ""
        if name not in never and (line or value) and not same_value(name, value, finding.value):
            found.setdefault(name, Remedy(name, value, finding))
    return tuple(found.values())
