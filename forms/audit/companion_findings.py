"""Findings of lines that are right only with another line or a module: kernel share modes, commands without a cache."""

from collections.abc import Iterator

from forms.audit.configuration import Configuration
from forms.audit.line_finding import line_finding
from forms.audit.module_findings import loaded_modules
from forms.tuning import smb_conf
from storage.looks import AuditedSetting, AuditFinding, Ruling

_SHARE_MODES_REFUSED_FROM = (4, 16)
"""Linux 5.16 has no LOCK_MAND any more; from this version on Samba asks the file system's module, and fails without."""
_MODULES_WITH_SHARE_MODES = frozenset({"gpfs"})


def companion_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    name = smb_conf.spelling(setting.name).name
    if name == "kernel share modes" and smb_conf.same_value(name, setting.value, "yes"):
        yield from _share_mode_findings(conf, setting)
    if name == "dfree command" and setting.value:
        yield from _dfree_findings(conf, setting)


def _share_mode_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    if conf.version is not None and conf.version < _SHARE_MODES_REFUSED_FROM:
        return
    sections = conf.sections_of(setting)
    if all(_MODULES_WITH_SHARE_MODES & set(loaded_modules(conf, section)) for section in sections):
        return
    reason = (
        "Only a module such as gpfs has share modes of its file system. Without one no file can be opened:"
        " NT_STATUS_SHARING_VIOLATION."
    )
    yield line_finding(setting, "kernel-share-modes", Ruling.HARMFUL, 999, reason, instead="")


def _dfree_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    sections = conf.sections_of(setting)
    times = [conf.in_effect(section, "dfree cache time") for section in sections]
    if not any(smb_conf.same_value("dfree cache time", time, "0") for time in times):
        return
    reason = "Explorer asks for the free space with every window, and each time smbd waits for this command."
    advice = "Add `dfree cache time = 60`, so that smbd asks it once a minute."
    yield line_finding(setting, "dfree-command", Ruling.WORTH_TRYING, 50, reason, instead=None, advice=advice)
