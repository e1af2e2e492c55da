"""Findings of where a line or a section stands: [global] behind shares, names of shares with blanks around them."""

import re
from collections.abc import Collection, Iterator

from forms import wording
from forms.audit.configuration import Configuration
from forms.audit.line_finding import line_finding
from forms.tuning import fact_names, smb_conf, smb_values
from forms.tuning.differences import effective
from storage.looks import AuditedSetting, AuditFinding, Ruling
from storage.records import Facts

_WITHOUT_PATH = frozenset({"homes"})
"""Shares whose folder is another one for each user."""

_MADE_BY_SMBD = frozenset({"lock directory", "state directory", "cache directory", "ncalrpc dir"})
"""Folders that smbd makes if only the last one of the path is missing."""

_WITHOUT_WHICH = {
    "guest account": "The server knows no such user: smbd does not start without an account for guests.",
    "root directory": "There is no such folder: smbd hangs up on everybody.",
    "passdb backend": "There is no folder for this file of users: smbd takes every user for unknown.",
}
"""What follows where the server does not have what the line names (tried on Samba 4.17.12)."""

_LISTING_COMMAND = "`ip -brief address`"

_FOREIGN_PATH = re.compile(r"~|\$|\\\\|[A-Za-z]:[\\/]|[a-z]+://")
"""Begins a path as shells, Windows and URLs have it."""

_HIDING = frozenset({"browseable", "available"})


def place_findings(conf: Configuration) -> Iterator[AuditFinding]:
    for setting in conf.last.values():
        late_for = _shares_before(conf, setting)
        if late_for:
            shares = f"[{late_for[0]}]" if len(late_for) == 1 else f"the {len(late_for)} shares"
            reason = (
                f"It stands behind {shares}, where it does not hold: each share takes what [global] has set by then."
            )
            advice = "Move it before the first share."
            yield line_finding(
                setting, "global-behind-share", Ruling.MISPLACED, 43, reason, instead=None, advice=advice
            )

    for share in conf.shares:
        if share != share.strip():
            yield _padded_name_finding(share, conf)
        if not conf.is_dump and _lacks_path(share, conf):
            yield _no_path_finding(share, conf)


def folder_findings(setting: AuditedSetting, missing_folders: Collection[str], facts: Facts) -> Iterator[AuditFinding]:
    """That smbd or a share has no folder; of the target's share that is said in the findings of that share."""
    name = smb_conf.spelling(setting.name).name
    if setting.value in missing_folders:
        yield from _findings_of_smbds_folder(setting, name)
    is_path = name == "path"
    if is_path and _FOREIGN_PATH.match(setting.value):
        reason = f"smbd takes it for a folder of that name: nobody can open [{setting.section}]."
        advice = "Write the path on the server from / on, such as /srv/data."
        yield line_finding(setting, "foreign-path", Ruling.CONTRADICTORY, 70, reason, instead=None, advice=advice)
        return

    is_of_target = setting.value == facts.get(fact_names.FOLDER_MISSING)
    if is_path and setting.value in missing_folders and not is_of_target:
        reason = f"There is no such folder on the server: nobody can open [{setting.section}]."
        advice = "Mount the disk or make the folder, or correct the path."
        yield line_finding(setting, "missing-folder", Ruling.CONTRADICTORY, 70, reason, instead=None, advice=advice)


def account_findings(setting: AuditedSetting, facts: Facts) -> Iterator[AuditFinding]:
    """That the server does not have an account, or a file of accounts; of the target's share that is said there."""
    name = smb_conf.spelling(setting.name).name
    value = setting.value.strip()
    if f"{name} = {value}" not in fact_names.lines_of_fact(facts, fact_names.ACCOUNTS_MISSING):
        return

    if name in _WITHOUT_WHICH:
        reason = _WITHOUT_WHICH[name]
        advice = "Make it on the server, or correct the line."
        yield line_finding(setting, "no-accounts", Ruling.HARMFUL, 998, reason, instead=None, advice=advice)
    elif name == "username map":
        reason = "There is no such file, and smbd does not say so: every user keeps the name that was typed."
        advice = "Make the file, or correct the path."
        yield line_finding(setting, "no-username-map", Ruling.CONTRADICTORY, 70, reason, instead=None, advice=advice)
    elif value != effective(facts, name):
        reason = f"The server knows no such name: nobody can open [{setting.section}]."
        advice = "Make it on the server, or correct the name."
        yield line_finding(setting, "missing-account", Ruling.CONTRADICTORY, 70, reason, instead=None, advice=advice)


def interface_findings(setting: AuditedSetting, facts: Facts) -> Iterator[AuditFinding]:
    """That the server does not have an interface to which smbd is bound, by what was found out of it."""
    if smb_conf.spelling(setting.name).name != "interfaces":
        return
    # Options, which stand behind a semicolon, may be quoted here.
    entries = [entry.partition(";")[0] for entry in smb_values.entries_of_list(setting.value)]
    known_missing = {
        entry.partition(";")[0] for entry in fact_names.lines_of_fact(facts, fact_names.INTERFACES_MISSING)
    }
    missing = [entry for entry in entries if entry in known_missing]
    if not missing:
        return

    absence = f"The server has no {wording.listed(missing, 'or')} that is up and has an address"
    advice = f"Correct the line ({_LISTING_COMMAND} on the server lists what there is), or bring the interface up."
    if len(missing) == len(entries):
        reason = f"{absence}: smbd, bound to these interfaces alone, does not start."
        yield line_finding(setting, "no-interface-to-listen", Ruling.HARMFUL, 998, reason, instead=None, advice=advice)
        return
    reason = f"{absence}: smbd starts, and listens on the others alone."
    yield line_finding(setting, "missing-interface", Ruling.CONTRADICTORY, 70, reason, instead=None, advice=advice)


def _findings_of_smbds_folder(setting: AuditedSetting, name: str) -> Iterator[AuditFinding]:
    if name in _MADE_BY_SMBD:
        reason = "Nor is there the folder to make it in: smbd does not start the next time."
    elif name == "private dir":
        reason = "There is no such folder: smbd does not start the next time, as it finds no secrets.tdb."
    elif name == "log file":
        reason = "There is no such folder: smbd writes to the log file that it was built with, and says nothing of it."
        advice = "Make the folder, or correct the path."
        yield line_finding(setting, "no-log-folder", Ruling.MISPLACED, 56, reason, instead=None, advice=advice)
        return
    else:
        return
    advice = "Make the folder, or correct the path."
    yield line_finding(setting, "no-folder-of-smbd", Ruling.HARMFUL, 997, reason, instead=None, advice=advice)


def _shares_before(conf: Configuration, setting: AuditedSetting) -> list[str]:
    """The shares that a line of [global] does not reach, since they begin before it."""
    parameter = smb_conf.spelling(setting.name).parameter
    if setting.section != "global" or parameter is None or parameter.scope == "global":
        return []
    key = smb_conf.parameter_key(setting.name)
    return [share for share in conf.shares if not conf.holds_for(setting, share) and (share, key) not in conf.last]


def _lacks_path(share: str, conf: Configuration) -> bool:
    """Whether nothing says which folder the share is; a file that was not read may."""
    if share in _WITHOUT_PATH or conf.is_partly_unread:
        return False
    # A section that only hides the home folder of a user, such as [nobody], is complete.
    names = {smb_conf.spelling(line.name).name for line in conf.settings if line.section == share}
    if names <= _HIDING:
        return False
    return not conf.in_effect(share, "path") and not conf.in_effect(share, "msdfs proxy")


def _no_path_finding(share: str, conf: Configuration) -> AuditFinding:
    first = next(setting for setting in conf.settings if setting.section == share)
    return AuditFinding(
        key="no-path",
        verdict=Ruling.CONTRADICTORY,
        cost=71,
        setting=f"[{share}]",
        why="The share has no path: Samba takes it out of service, and nobody can open it.",
        what_to_do="Write its path, or delete the share.",
        file=first.file,
        line=first.line,
        section=share,
    )


def _padded_name_finding(share: str, conf: Configuration) -> AuditFinding:
    first = next(setting for setting in conf.settings if setting.section == share)
    return AuditFinding(
        key="padded-share-name",
        verdict=Ruling.HARMFUL,
        cost=97,
        setting=f"[{share}]",
        why="The blanks inside the brackets belong to the name: no client finds the share without them.",
        what_to_do=f"Write `[{share.strip()}]`.",
        file=first.file,
        section=share,
    )
