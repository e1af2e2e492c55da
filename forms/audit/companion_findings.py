"""Findings of lines that are right only with another line or a module, or for some files: kernel share modes, commands
without a cache, writes that are answered too early.
"""

from collections.abc import Iterator
from itertools import product

from forms.audit.configuration import Configuration
from forms.audit.line_finding import line_finding
from forms.audit.module_findings import loaded_modules
from forms.audit.value_findings import parts_of_pattern
from forms.tuning import smb_conf, smb_values
from storage.looks import AuditedSetting, AuditFinding, Ruling

_SHARE_MODES_REFUSED_FROM = (4, 16)
"""Linux 5.16 has no LOCK_MAND any more; from this version on Samba asks the file system's module, and fails without."""
_HOST_KEYWORDS = frozenset({"all", "except", "local", "fail"})
"""Words of ``hosts allow`` that are no names (lib/util/access.c)."""
_MODULES_WITH_SHARE_MODES = frozenset({"gpfs"})


def companion_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    name = smb_conf.spelling(setting.name).name
    if name == "kernel share modes" and smb_conf.same_value(name, setting.value, "yes"):
        yield from _share_mode_findings(conf, setting)
    if name == "dfree command" and setting.value:
        yield from _dfree_findings(conf, setting)
    if name == "hostname lookups" and smb_conf.same_value(name, setting.value, "yes"):
        yield from _lookup_findings(conf, setting)
    if name == "aio write behind" and setting.value:
        yield _write_behind_finding(setting)


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


def _lookup_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    sections = ("global", *conf.shares)
    entries: list[str] = []
    for section, name in product(sections, ("hosts allow", "hosts deny")):
        entries += smb_values.entries_of_list(conf.in_effect(section, name))
    if any(map(_names_a_computer, entries)):
        return
    reason = "Every connection waits for a look-up of the client's name; a slow resolver makes the first click slow."
    advice = "Delete the line: hosts allow and hosts deny name no computer."
    # A file that was not read may name one.
    instead = None if conf.is_partly_unread else ""
    yield line_finding(setting, "hostname-lookups", Ruling.WORTH_TRYING, 40, reason, instead=instead, advice=advice)


def _names_a_computer(entry: str) -> bool:
    """Whether an entry of ``hosts allow`` is a name to look up, and no address, network, netgroup or keyword."""
    if entry.lower() in _HOST_KEYWORDS or entry.startswith("@") or ":" in entry:
        return False
    return any(letter.isalpha() for letter in entry)


def _write_behind_finding(setting: AuditedSetting) -> AuditFinding:
    """Its value is a list of patterns as in veto files; many posts take it for a switch."""
    patterns = smb_values.patterns_of(setting.value)
    if any(_may_match_files(pattern) for pattern in patterns):
        reason = (
            "smbd tells clients that a write succeeded before it was tried: a full disk or an error loses data unseen."
        )
        return line_finding(setting, "write-behind", Ruling.HARMFUL, 79, reason, instead="")

    reason = f"It is no switch but a list of patterns, as in veto files: this is about a file called {setting.value}."
    return line_finding(setting, "write-behind-without-files", Ruling.USELESS, 6, reason, instead="")


def _may_match_files(pattern: str) -> bool:
    """Whether files have such names; nobody calls one ``yes``, nor as patterns are that commas or blanks separate."""
    return not smb_conf.is_switch_word(pattern) and len(parts_of_pattern(pattern)) == 1
