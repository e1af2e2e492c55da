"""What an audit proposes: edits as a unified diff, and values to be tested; nothing is written."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from forms.tuning.catalogue import about
from forms.tuning.smb_conf import same_value, spelling
from forms.tuning.trial_rules import data
from storage.audits import AuditFinding, Ruling

TESTED = frozenset({Ruling.HARMFUL, Ruling.CONTRADICTORY, Ruling.WORTH_TRYING})


def proposed_diff(findings: Sequence[AuditFinding], files: Mapping[str, str]) -> str:
    """What `patch` would apply to the files, by path; empty where no finding names an edit."""
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
    before = text.splitlines(keepends=True)
    after = list(_edited(before, edits))
    name = path.lstrip("/")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    )


def _edited(lines: Sequence[str], edits: Mapping[int, Sequence[AuditFinding]]) -> Iterator[str]:
    number = 0
    while number < len(lines):
        number += 1
        line = lines[number - 1]
        found = edits.get(number)
        if not found:
            yield line
            continue
        replacement = edited_line(found)
        if replacement:
            yield line[: len(line) - len(line.lstrip())] + replacement + "\n"
        while lines[number - 1].rstrip().endswith("\\") and number < len(lines):
            number += 1


def edited_line(findings: Sequence[AuditFinding]) -> str:
    """The line that takes the place of one with these findings; "" to delete it."""
    whole = [finding for finding in findings if not finding.word]
    if whole:
        return whole[0].instead or ""
    words = {finding.word.lower() for finding in findings}
    value = findings[0].value.split()
    kept = [word for word in value if word.partition("=")[0].strip(",").lower() not in words]
    return f"{findings[0].setting} = {' '.join(kept)}" if kept else ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A value of a parameter of smb.conf that would take the place of a finding's, to be tested by ``try``."""

    name: str
    value: str
    finding: AuditFinding


def remedies(findings: Sequence[AuditFinding]) -> tuple[Remedy, ...]:
    """What can be tested, the costliest first: harmful values and those worth trying, once for each parameter."""
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
