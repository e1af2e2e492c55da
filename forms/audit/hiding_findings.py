"""Findings of lines that hide or veto files of a share by their names."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from forms.audit.audited_server import AuditedServer
from forms.audit.line_finding import line_finding
from forms.tuning import smb_conf
from storage.looks import AuditedSetting, AuditFinding, Ruling

SAMPLE_NAMES = ("report.docx", "photo.jpg", "archive.tar.gz", "notes.txt")
"""A pattern that hides all of these hides every file with a dot in its name."""


MOST_NAMES = 5
"""Of the files that a pattern hides."""


def hiding_finding(server: AuditedServer, setting: AuditedSetting) -> AuditFinding | None:
    if smb_conf.spelling(setting.name).name != "veto files":
        return None
    patterns = [pattern.lower() for pattern in setting.value.split("/") if pattern.strip()]
    sweeping = [pattern for pattern in patterns if _hides_all_files(pattern)]
    if sweeping:
        return _hides_all_finding(setting, sweeping)

    hidden = [name for name in server.names_in(setting.section) if _matches_any(name, patterns)]
    if not hidden:
        return None
    names = ", ".join(hidden[:MOST_NAMES])
    more = f" and {len(hidden) - MOST_NAMES} more" if len(hidden) > MOST_NAMES else ""
    reason = f"Hides {names}{more}: clients are told that there is no such file."
    return line_finding(setting, "veto-hides-files", Ruling.RISKY, 40, reason, instead=None)


def _hides_all_finding(setting: AuditedSetting, sweeping: Sequence[str]) -> AuditFinding:
    reason = f"The pattern {sweeping[0]} hides every file with a dot in its name, for reading and writing."
    others = "/".join(pattern for pattern in setting.value.split("/") if pattern.lower() not in sweeping)
    instead = f"{setting.name} = {others}" if others.strip("/") else ""
    advised_by = ("IBM Redpaper 2004",)
    return line_finding(setting, "veto-hides-all", Ruling.HARMFUL, 97, reason, instead=instead, advised_by=advised_by)


def _hides_all_files(pattern: str) -> bool:
    return all(fnmatchcase(name, pattern) for name in SAMPLE_NAMES)


def _matches_any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name.lower(), pattern) for pattern in patterns)
