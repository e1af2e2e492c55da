"""Findings of how smbd reads the files of smb.conf: where it stops, what it skips or reads in place of them."""

from collections.abc import Iterator

from forms.tuning.conf_file import BadLine, SmbConfFile, StopReason, UnreadReason
from storage.looks import AuditedSetting, AuditFinding, Ruling

_REASONS_TO_STOP = {
    StopReason.UNREADABLE: "The line has no closing bracket, or no name",
    StopReason.INCLUDE_LOOP: "The file includes itself, by this line, without an end",
    StopReason.REGISTRY_IN_SHARE: "The registry can be included in [global] alone",
}
_REMEDIES_TO_STOP = {
    StopReason.UNREADABLE: "Complete or delete it.",
    StopReason.INCLUDE_LOOP: "Delete the line.",
    StopReason.REGISTRY_IN_SHARE: "Move it to [global].",
}

_SHOWN = 60
"""Letters of a line that says nothing."""


def file_findings(conf: SmbConfFile, *, is_dump: bool, is_copy: bool) -> Iterator[AuditFinding]:
    """All of them; what is missing beside a copy of the file is none, since the server may have it."""
    if conf.stopped_at is not None:
        yield _stopped_finding(conf.stopped_at)
    yield from _files_that_are_read(conf, is_copy=is_copy)
    for setting in conf.forgotten:
        yield _finding(
            setting,
            "forgotten-option",
            Ruling.CONTRADICTORY,
            42,
            f"[{setting.section}] begins again further down: smbd then forgets the module options before it.",
            "Move it to where the section begins again.",
        )

    # Between the lines of a dump may stand what testparm says of the file.
    for line in () if is_dump else conf.malformed:
        yield _malformed_finding(line)


def _files_that_are_read(conf: SmbConfFile, *, is_copy: bool) -> Iterator[AuditFinding]:
    for setting in conf.followed:
        yield _finding(
            setting,
            "config-file",
            Ruling.MISPLACED,
            60,
            f"smbd reads {setting.value} in place of this file: no other line of this one counts.",
            f"Judge and change {setting.value}, or delete the line.",
        )
    if is_copy:
        return

    for part in conf.unread_for(UnreadReason.INCLUDE_MISSING):
        reason = "There is no such file to read, and Samba does not say so."
        if "*" in part.setting.value:
            reason += " It reads no patterns: each file needs a line."
        yield _finding(
            part.setting, "missing-include", Ruling.MISPLACED, 40, reason, "Create the file or delete the line."
        )
    for part in conf.unread_for(UnreadReason.CONFIG_FILE_MISSING):
        reason = "There is no such file, so that smbd keeps this one, until somebody makes it."
        yield _finding(part.setting, "missing-config-file", Ruling.MISPLACED, 40, reason, "Delete the line.")


def _finding(setting: AuditedSetting, key: str, verdict: Ruling, cost: int, reason: str, remedy: str) -> AuditFinding:
    return AuditFinding(
        key=key,
        verdict=verdict,
        cost=cost,
        setting=setting.name,
        value=setting.value,
        why=reason,
        what_to_do=remedy,
        file=setting.file,
        line=setting.line,
        section=setting.section,
    )


def _stopped_finding(line: BadLine) -> AuditFinding:
    reason = f"{_REASONS_TO_STOP[line.reason]}: Samba stops reading here, and refuses the whole file."
    remedy = _REMEDIES_TO_STOP[line.reason]
    return _bad_line_finding(line, "stops-reading", Ruling.HARMFUL, 96, reason, remedy)


def _malformed_finding(line: BadLine) -> AuditFinding:
    reason = "The line has no equals sign: Samba skips it."
    return _bad_line_finding(line, "malformed-line", Ruling.MISPLACED, 30, reason, "Complete or delete it.")


def _bad_line_finding(line: BadLine, key: str, verdict: Ruling, cost: int, reason: str, remedy: str) -> AuditFinding:
    return AuditFinding(
        key=key,
        verdict=verdict,
        cost=cost,
        setting=line.text[:_SHOWN],
        why=reason,
        what_to_do=remedy,
        file=line.file,
        line=line.line,
    )
