"""Findings of lines of [global] with which smbd does not start, logs nothing where it should, or lets nobody log in.

What is said here was tried with each on Samba 4.17.12.
"""

import codecs
import re
from collections.abc import Iterator

from forms.audit.configuration import Configuration
from forms.audit.line_finding import line_finding
from forms.tuning import smb_conf, smb_values
from storage.looks import AuditedSetting, AuditFinding, Ruling

_LOG_BACKENDS = frozenset({"file", "syslog", "systemd", "lttng", "gpfs", "ringbuf"})
_BACKEND_WITH_OPTIONS = re.compile(r"([^:@]*)(?::[^@]*)?(?:@.*)?")
"""``file``, ``syslog@1``, ``ringbuf:size=100``."""

_CHARACTER_SETS_OF_SAMBA = frozenset({"utf8_nfd", "macosxfs", "utf-16be", "utf-16le", "ucs2-hex", "cp850", "ascii"})
"""What Samba converts by itself, beside what the machine's iconv does."""

_TOO_FEW_FILES = 100
"""``max open files`` with which smbd does not start; with 101 it does."""


def start_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """What keeps smbd from starting, its messages from the log or its users out, by the line alone."""
    name = smb_conf.spelling(setting.name).name
    value = setting.value.strip()
    if name == "guest account" and not value:
        reason = "smbd does not start without an account for guests."
        yield line_finding(setting, "no-guest-account", Ruling.HARMFUL, 998, reason, instead="")
    if name == "max open files" and smb_values.is_whole_number(value) and int(value) <= _TOO_FEW_FILES:
        reason = f"smbd ends as it starts where it may open {_TOO_FEW_FILES} files or fewer."
        yield line_finding(setting, "too-few-files-to-start", Ruling.HARMFUL, 998, reason, instead="")
    if name == "security" and value.lower() == "ads":
        yield from _realm_findings(conf, setting)
    if name == "unix charset" and value and not is_character_set(value):
        reason = f"No character set {value} is known: unless the server's iconv has it, nobody can log in."
        yield line_finding(setting, "unknown-charset", Ruling.RISKY, 90, reason, instead=None)
    # testparm prints its backslash twice.
    if name == "winbind separator" and len(value) > 1 and not conf.is_dump:
        reason = "It is one character: smbd divides names of users at the first of these, and testparm refuses them."
        yield line_finding(setting, "long-separator", Ruling.MISPLACED, 57, reason, instead=None)
    if name == "logging":
        yield from _logging_findings(setting)


def _realm_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    if conf.in_effect("global", "realm") or conf.is_partly_unread:
        return
    reason = "It needs a realm, which no line sets: nobody can log in."
    advice = "Set realm and join the domain (net ads join), or delete the line."
    yield line_finding(setting, "ads-without-realm", Ruling.CONTRADICTORY, 90, reason, instead=None, advice=advice)


def _logging_findings(setting: AuditedSetting) -> Iterator[AuditFinding]:
    for entry in smb_values.entries_of_list(setting.value):
        match = _BACKEND_WITH_OPTIONS.fullmatch(entry)
        backend = match[1].lower() if match else entry
        if backend not in _LOG_BACKENDS:
            reason = f"smbd knows no {backend} to log to, and skips it."
            yield line_finding(setting, "unknown-log-backend", Ruling.MISPLACED, 40, reason, instead=None)


def is_character_set(name: str) -> bool:
    """Whether Samba or a usual iconv has it."""
    if name.lower() in _CHARACTER_SETS_OF_SAMBA:
        return True
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True
