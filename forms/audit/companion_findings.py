"""Findings of lines that are right only with another line or a module, or for some files: kernel share modes, commands
without a cache, writes that are answered too early, dialects that leave none, DFS that is switched off.
"""

from collections.abc import Iterator
from itertools import product

from forms.audit.configuration import Configuration
from forms.audit.domain_findings import domain_findings
from forms.audit.host_findings import HOST_LISTS, host_findings, names_a_computer
from forms.audit.line_finding import line_finding
from forms.audit.mask_findings import mask_findings
from forms.audit.module_findings import loaded_modules
from forms.audit.start_findings import start_findings
from forms.audit.user_findings import user_findings
from forms.audit.value_findings import parts_of_pattern
from forms.tuning import smb_conf, smb_values
from storage.looks import AuditedSetting, AuditFinding, Ruling

_SHARE_MODES_REFUSED_FROM = (4, 16)
"""Linux 5.16 has no LOCK_MAND any more; from this version on Samba asks the file system's module, and fails without."""
_MODULES_WITH_SHARE_MODES = frozenset({"gpfs"})
_DIALECTS = ("core", "coreplus", "lanman1", "lanman2", "nt1", "smb2_02", "smb2", "smb3_00", "smb3_02", "smb3")
"""As ``server max protocol`` names them, the oldest first; smb2 means 2.1 and smb3 means 3.1.1."""
_DFS_PARAMETERS = frozenset({"msdfs root", "msdfs proxy"})


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

    if name in HOST_LISTS:
        yield from host_findings(conf, setting)
    if name == "server max protocol":
        yield from _dialect_findings(conf, setting)
    if name == "server smb encrypt" and smb_conf.same_value(name, setting.value, "required"):
        yield from _encryption_findings(conf, setting)
    if name == "print command" and setting.value:
        yield from _print_findings(conf, setting)
    if name in _DFS_PARAMETERS:
        yield from _dfs_findings(conf, setting)

    yield from start_findings(conf, setting)
    yield from domain_findings(conf, setting)
    yield from mask_findings(conf, setting)
    yield from user_findings(conf, setting)


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
    for section, name in product(sections, HOST_LISTS):
        entries += smb_values.entries_of_list(conf.in_effect(section, name))
    if any(map(names_a_computer, entries)):
        return
    reason = "Every connection waits for a look-up of the client's name; a slow resolver makes the first click slow."
    advice = "Delete the line: hosts allow and hosts deny name no computer."
    # A file that was not read may name one.
    instead = None if conf.is_partly_unread else ""
    yield line_finding(setting, "hostname-lookups", Ruling.WORTH_TRYING, 40, reason, instead=instead, advice=advice)


def _encryption_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """That a share wants what the server has switched off."""
    of_server = conf.in_effect("global", "server smb encrypt")
    if setting.section == "global" or not smb_conf.same_value("server smb encrypt", of_server, "no"):
        return
    reason = (
        f"server smb encrypt = {of_server} in [global] switches encryption off: nobody can open [{setting.section}]."
    )
    advice = "Delete the line in [global]: by default a share may ask for encryption."
    yield line_finding(
        setting, "encryption-switched-off", Ruling.CONTRADICTORY, 72, reason, instead=None, advice=advice
    )


def _print_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    sections = conf.sections_of(setting)
    if all(smb_conf.same_value("printing", conf.in_effect(section, "printing"), "cups") for section in sections):
        reason = "With printing = cups Samba asks CUPS itself, and runs no command."
        yield line_finding(setting, "print-command-of-cups", Ruling.USELESS, 2, reason, instead="")


def _dialect_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """That the newest dialect is older than the oldest one that is allowed."""
    oldest = _place_of_dialect(conf.in_effect("global", "server min protocol"))
    newest = _place_of_dialect(setting.value)
    if oldest is None or newest is None or newest >= oldest:
        return
    lowest = conf.in_effect("global", "server min protocol")
    reason = f"It is older than server min protocol = {lowest}: no client can connect."
    advice = "Delete the line, or lower server min protocol."
    yield line_finding(setting, "no-dialect", Ruling.HARMFUL, 1000, reason, instead=None, advice=advice)


def _place_of_dialect(value: str) -> int | None:
    """Where a dialect stands among them; None for the default, or what is none."""
    word = smb_conf.tidy_value("server max protocol", value).lower()
    return _DIALECTS.index(word) if word in _DIALECTS else None


def _names_a_share(proxy: str) -> bool:
    """Whether the first of the targets of an ``msdfs proxy`` has a host and a share."""
    first = proxy.partition(",")[0].replace("\\", "/").strip().strip("/")
    host, slash, share = first.partition("/")
    return bool(host and slash and share)


def _dfs_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    is_root = smb_conf.spelling(setting.name).name == "msdfs root"
    if not is_root and setting.value and not _names_a_share(setting.value):
        reason = f"{setting.value} names no share of another server, as //HOST/SHARE does: nobody can open the share."
        yield line_finding(setting, "proxy-of-nothing", Ruling.HARMFUL, 96, reason, instead=None)
    is_used = smb_conf.same_value("msdfs root", setting.value, "yes") if is_root else bool(setting.value)
    if not is_used or smb_conf.same_value("host msdfs", conf.in_effect("global", "host msdfs"), "yes"):
        return
    reason = "host msdfs = no switches DFS off: clients are sent nowhere, and see what is in the folder itself."
    advice = "Delete `host msdfs = no` in [global], or this line."
    yield line_finding(setting, "dfs-switched-off", Ruling.CONTRADICTORY, 53, reason, instead=None, advice=advice)


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
