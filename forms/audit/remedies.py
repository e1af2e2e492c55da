"""What to do about the findings of an audit: the edits of its files as a diff, and the values that can be tested."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from forms.tuning import catalogue, trial_rules
from forms.tuning.conf_file import file_lines
from forms.tuning.smb_conf import same_value, spelling
from forms.tuning.smb_values import words_of_value
from storage.looks import AuditFinding, Ruling

TESTED = frozenset({Ruling.HARMFUL, Ruling.CONTRADICTORY, Ruling.WORTH_TRYING})
"""The verdicts whose settings are worth a trial, which measures with and without the change."""


def proposed_diff(findings: Sequence[AuditFinding], files: Mapping[str, str]) -> str:
    """A diff of the files for `patch`; empty where no finding names an edit."""
    return "".join(_file_diff(path, text, _edits_by_line(findings, path)) for path, text in sorted(files.items()))


def findings_left_to_decide(findings: Sequence[AuditFinding]) -> tuple[AuditFinding, ...]:
    """Those of lines that no edit is proposed for."""
    return tuple(finding for finding in findings if finding.line and finding.instead is None)


def _edits_by_line(findings: Sequence[AuditFinding], path: str) -> dict[int, list[AuditFinding]]:
    """The findings that edit the file, by the number of their line."""
    by_line: dict[int, list[AuditFinding]] = {}
    for finding in findings:
        if finding.file == path and finding.line and finding.instead is not None:
            by_line.setdefault(finding.line, []).append(finding)
    return by_line


def _file_diff(path: str, text: str, edits: Mapping[int, Sequence[AuditFinding]]) -> str:
    if not edits:
        return ""
    before = file_lines(text)
    after = list(_edited_lines(before, edits))
    name = path.lstrip("/")
    lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _edited_lines(lines: Sequence[str], edits: Mapping[int, Sequence[AuditFinding]]) -> Iterator[str]:
    numbered_lines = iter(enumerate(lines, start=1))
    for number, line in numbered_lines:
        findings = edits.get(number)
        if not findings:
            yield line
            continue

        replacement = edited_line(findings)
        if replacement:
            indent = line[: len(line) - len(line.lstrip())]
            yield indent + replacement + _line_end(line)
        # A line that ends in a backslash is replaced with all lines that continue it: they are skipped.
        last_line = line
        while last_line.rstrip().endswith("\\"):
            _, last_line = next(numbered_lines, (0, ""))


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def edited_line(findings: Sequence[AuditFinding]) -> str:
    """The replacement for a line with these findings; "" deletes it. One about the whole line outweighs its words."""
    about_the_line = [finding for finding in findings if not finding.word]
    if about_the_line:
        return about_the_line[0].instead or ""

    bad_words = {finding.word.lower() for finding in findings}
    first = findings[0]
    all_words = words_of_value(first.parameter, first.value)
    words = [word for word in all_words if word.partition("=")[0].lower() not in bad_words]
    if words:
        return f"{first.setting} = {' '.join(words)}"
    return (first.instead or "") if len(findings) == 1 else ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A replacement for a parameter's value that ``try`` can test."""

    name: str
    value: str
    finding: AuditFinding
    """What it is a remedy for."""


def remedies(findings: Sequence[AuditFinding]) -> tuple[Remedy, ...]:
    """Values that can be tested, the costliest first, once per parameter."""
    by_name: dict[str, Remedy] = {}
    for finding in findings:
        if finding.verdict not in TESTED or finding.instead is None or not finding.parameter:
            continue
        remedy = _remedy_for(finding, findings)
        if remedy is not None and not trial_rules.is_never_changed(remedy.name):
            by_name.setdefault(remedy.name, remedy)  # the findings come the costliest first
    return tuple(by_name.values())


def _remedy_for(finding: AuditFinding, findings: Sequence[AuditFinding]) -> Remedy | None:
    """The value that the edited line gives, or the default where it is deleted; None where that changes nothing."""
    line = edited_line(_tested_together(finding, findings))
    if line:
        written_name, _, written_value = line.partition("=")
        name = spelling(written_name.strip()).name
        value = written_value.strip()
    else:
        name = finding.parameter
        value = _default_of(name)
        if not value:
            return None

    if same_value(name, value, finding.value):
        return None
    return Remedy(name, value, finding)


def _tested_together(finding: AuditFinding, findings: Sequence[AuditFinding]) -> list[AuditFinding]:
    """The finding; of one about a word all those about words of the same line."""
    if not finding.word:
        return [finding]
    place = (finding.file, finding.line)
    same_line = [other for other in findings if (other.file, other.line) == place and other.word]
    return [other for other in same_line if other.verdict in TESTED and other.instead is not None]


def _default_of(parameter: str) -> str:
    entry = next(iter(catalogue.about(parameter)), None)
    return (entry.default or "") if entry else ""
