"""Findings of whom the lists of users and the lines about guests let in: names that a blank cuts in two, lists that
leave out those whom another line invites, %S outside [homes].

What is said here was tried with each on Samba 4.17.12.
"""

import re
from collections.abc import Iterator

from forms.audit import judgements
from forms.audit.configuration import Configuration
from forms.audit.line_finding import line_finding
from forms.tuning import smb_conf, smb_values
from storage.looks import AuditedSetting, AuditFinding, Ruling

_USER_LISTS = frozenset({"valid users", "invalid users", "read list", "write list", "admin users"})
_SIGNS_OF_GROUPS = ("@", "+", "&")
_HOMES = "homes"
_NOT_FOR_GUESTS = frozenset({_HOMES, "global", "print$", "printers", "netlogon", "sysvol", "profiles"})
_ROLES_WITHOUT_DOMAIN = frozenset({"auto", "standalone server"})

_NAMES_WITH_BLANK = re.compile(
    r"([@+&]*)([^\s,;\"@+&]*\b("
    r"domain (users|admins|guests|computers|controllers)|(enterprise|schema) admins|authenticated users"
    r"|(account|backup|print|server) operators|power users|remote desktop users|protected users))\b(?!\")",
    re.IGNORECASE,
)
"""Groups that every domain of Windows has, with the sign of a group and the domain before them."""
_QUOTED = re.compile(r'"[^"]*"')


def user_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    name = smb_conf.spelling(setting.name).name
    if name in _USER_LISTS:
        yield from _cut_name_findings(setting)
    if name == "valid users":
        yield from _share_name_findings(conf, setting)
        yield from _excluded_findings(conf, setting)
    if name == "write list" and setting.value:
        yield from _write_list_findings(conf, setting)
    if name == "guest ok" and smb_conf.same_value(name, setting.value, "yes"):
        yield from _guest_findings(conf, setting)


def _cut_name_findings(setting: AuditedSetting) -> Iterator[AuditFinding]:
    match = _NAMES_WITH_BLANK.search(_QUOTED.sub("", setting.value))
    if match is None:
        return

    first, *_, last = match[0].split()
    reason = f"A blank ends a name: smbd takes {first} and {last} for two names, and neither for that group."
    quoted = _NAMES_WITH_BLANK.sub(r'\1"\2"', setting.value)
    advice = f"Write `{setting.name} = {quoted}`."
    is_keeping_out = smb_conf.spelling(setting.name).name == "invalid users"
    verdict = Ruling.RISKY if is_keeping_out else Ruling.CONTRADICTORY
    yield line_finding(setting, "name-cut-in-two", verdict, 66, reason, instead=None, advice=advice)


def _share_name_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """%S is the name of the share, which is that of the user in [homes] alone."""
    entries = {entry.upper() for entry in smb_values.entries_of_list(setting.value)}
    if not entries or not entries <= {"%S", "%D\\%S", "%D%W%S", "%W\\%S"}:
        return
    shares = [share for share in conf.sections_of(setting) if _is_folder_for_several(conf, share)]
    if not shares:
        return

    reason = f"%S is the name of the share: nobody but a user called {shares[0]} can open [{shares[0]}]."
    advice = f"Name the users or groups that it is for, unless {shares[0]} is a user."
    yield line_finding(setting, "share-name-as-user", Ruling.CONTRADICTORY, 59, reason, instead=None, advice=advice)


def _is_folder_for_several(conf: Configuration, share: str) -> bool:
    """Whether a section is neither [homes] nor, by its path, the folder of one user."""
    path = conf.in_effect(share, "path").lower()
    return share not in {_HOMES, "global"} and "home" not in path and "user" not in path and "%" not in path


def _excluded_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """That all who may come in are among those who may not."""
    allowed = {entry.lower() for entry in smb_values.entries_of_list(setting.value)}
    for section in conf.sections_of(setting):
        excluded = conf.in_effect(section, "invalid users").lower()
        if allowed and allowed <= set(smb_values.entries_of_list(excluded)):
            reason = "invalid users names all of them too, and keeps them out: nobody can open the share."
            yield line_finding(setting, "all-users-invalid", Ruling.CONTRADICTORY, 67, reason, instead=None)
            return


def _write_list_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """That everybody may write, and not only those on the list."""
    sections = conf.sections_of(setting)
    if not any(_lets_others_write(conf, section, setting.value) for section in sections):
        return
    reason = "read only = no lets everybody write who can open the share, and not only those on this list."
    advice = "Write `read only = yes` if these alone are to write, else delete the line."
    yield line_finding(setting, "everybody-writes", Ruling.CONTRADICTORY, 41, reason, instead=None, advice=advice)


def _lets_others_write(conf: Configuration, section: str, write_list: str) -> bool:
    if not smb_conf.same_value("read only", conf.in_effect(section, "read only"), "no"):
        return False
    # Users on both lists may write by this one.
    if conf.in_effect(section, "read list"):
        return False
    valid = judgements.names_of(conf.in_effect(section, "valid users"))
    return not valid or not valid <= judgements.names_of(write_list)


def _guest_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    yield from _refused_guest_findings(conf, setting)
    for section in conf.sections_of(setting):
        users = smb_values.entries_of_list(conf.in_effect(section, "valid users"))
        if users and not any(_may_be_guest(conf, entry) for entry in users):
            reason = "valid users names no guest, so that every guest is refused all the same."
            advice = "Delete valid users if guests are welcome, else this line."
            yield line_finding(
                setting, "guests-not-valid", Ruling.CONTRADICTORY, 46, reason, instead=None, advice=advice
            )
            return


def _may_be_guest(conf: Configuration, entry: str) -> bool:
    """Whether an entry is the account of guests; what is in a group, or in another file, nobody knows here."""
    if entry.startswith(_SIGNS_OF_GROUPS) or "%" in entry:
        return True
    guest = conf.in_effect("global", "guest account") or "nobody"
    return entry.rpartition("\\")[2].lower() in {guest.lower(), "guest"}


def _refused_guest_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """That a server of its own takes nobody for a guest who sends a name, as Windows always does."""
    role = smb_conf.tidy_value("server role", conf.in_effect("global", "server role"))
    is_alone = role in _ROLES_WITHOUT_DOMAIN and conf.in_effect("global", "security").lower() in {"auto", "user"}
    if not is_alone or smb_conf.same_value("domain logons", conf.in_effect("global", "domain logons"), "yes"):
        return
    if conf.is_partly_unread or not smb_conf.same_value(
        "map to guest", conf.in_effect("global", "map to guest"), "never"
    ):
        return

    if next(_lines_for_guests(conf), None) is not setting:
        # Told once.
        return
    reason = "map to guest = never: Windows sends the name of its user, and is asked for a password instead."
    advice = "Write `map to guest = Bad User` in [global], if people without an account are to come in."
    yield line_finding(setting, "guests-asked", Ruling.WORTH_TRYING, 37, reason, instead=None, advice=advice)


def _lines_for_guests(conf: Configuration) -> Iterator[AuditedSetting]:
    """Those by which guests are welcome in a share that people open."""
    for line in conf.last.values():
        is_of_guests = smb_conf.spelling(line.name).name == "guest ok" and smb_conf.same_value(
            "guest ok", line.value, "yes"
        )
        if is_of_guests and any(_is_for_guests(conf, share) for share in conf.sections_of(line)):
            yield line


def _is_for_guests(conf: Configuration, share: str) -> bool:
    is_printer = smb_conf.same_value("printable", conf.in_effect(share, "printable"), "yes")
    return not is_printer and share not in _NOT_FOR_GUESTS and not conf.in_effect(share, "valid users")
