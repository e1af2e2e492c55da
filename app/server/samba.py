"""Facts of a server's Samba, from what ``probe.sh`` printed there: its configuration, its version, its sessions.

The sections that are read here: ``conf`` (the path of smb.conf, or of the `config file` in place of it),
``conf.started`` (the path that smbd was started with), ``conf:PATH`` (each of its files as it is), ``unreadable:PATH``
(one that the account may not read),
``registry``, ``testparm`` (the effective configuration), ``scopes`` (all parameters), ``version`` and ``build`` of
smbd, ``modules`` (the files of VFS modules), ``processes`` (command lines of smbd), ``debuglevel``, ``smbstatus``,
``writable``. A parameter in effect becomes the fact ``smb.conf/global/NAME`` or ``smb.conf/share/NAME``, the latter
with the value that holds for the measured share.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.server import smbd_interfaces
from app.server.conf_warnings import own_warnings, reason_for_not_loading, refused_settings
from app.server.shell import Answer
from app.server.testparm import Scopes, parse_dump, parse_scopes, warnings
from forms.tuning import conf_file, fact_names, smb_conf, unread_wording
from forms.tuning.samba_parameters import version_numbers
from storage.records import FactValue

# Facts of how smbd was built, by the line of ``smbd -b`` that says so.
BUILD_FLAGS = {
    "samba.build.smb1": "WITH_SMB1SERVER",
    "samba.build.profiling": "WITH_PROFILE",
    "samba.build.json": "HAVE_JSON_OBJECT",
    "samba.build.io_uring": "HAVE_LIBURING",
    "samba.build.sendfile": "HAVE_SENDFILE",
    "samba.build.gnutls": "HAVE_GNUTLS",
}
_ENCRYPTION = "server smb encrypt"
BETWEEN_WORDS = "\x1f"
"""Stands in place of the NUL between two words of a command line; paths have blanks."""

_SESSION_TABLE = "PID     Username"
"""The head of the first table of an smbstatus that has no JSON."""
_SESSION_ADDRESS = re.compile(r"\(ipv[46]:(\S+):\d+\)")


@dataclass(slots=True)
class SambaFacts:
    """What is known of a Samba, filled in step by step."""

    facts: dict[str, FactValue] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """What could not be found out, with what to do."""
    runs_with_another: bool = False
    """Whether every running smbd was started with another smb.conf than the one that was read."""


def samba_facts(answer: Answer, share: str | None, client_address: str = "") -> SambaFacts:
    """All facts; ``share`` is the measured one, ``client_address`` this machine's, whose sessions are not others'."""
    samba = SambaFacts()
    if not answer.text("conf") and not answer.text("version"):
        samba.problems.append(
            "no smbd is on the PATH of the server, so if it runs Samba, facts of it are unknown; add its folder to PATH"
        )
        return samba

    version = answer.text("version")
    if version:
        samba.facts[fact_names.SAMBA_VERSION] = version.strip().removeprefix("Version ")
    build_flags = set((answer.text("build") or "").split())
    if build_flags:
        for fact, flag in BUILD_FLAGS.items():
            samba.facts[fact] = "yes" if flag in build_flags else "no"

    _add_configuration(samba, answer, share)
    _add_running(samba, answer, client_address)
    return samba


def _add_configuration(samba: SambaFacts, answer: Answer, share: str | None) -> None:
    """Whether smb.conf can be read and loads, its warnings, and the parameters in effect."""
    path = answer.stripped("conf")
    if not path:
        return

    samba.facts["smb.conf.path"] = path
    missing_accounts = (answer.text("accounts.missing") or "").splitlines()
    if missing_accounts:
        samba.facts[fact_names.ACCOUNTS_MISSING] = fact_names.in_one_fact(missing_accounts)

    files = configuration_files(answer)
    if path not in files:
        samba.facts[fact_names.CONF_STATE] = fact_names.ConfState.UNREADABLE.value
        samba.problems.append(f"{path} cannot be read on the server; name the right file")
        return
    writable_path = answer.text("writable")
    if writable_path:
        samba.facts["smb.conf.writable_by_all"] = writable_path

    conf = conf_file.read_conf(started_path(answer), files)
    samba.problems += unread_texts(answer, conf)
    code = answer.code("testparm")
    if code is None:
        samba.problems.append(
            f"testparm is not installed on the server, so what {path} means is unknown (Debian: samba-common-bin)"
        )
        return

    # Which parameters are of the server, and which of a share: as this Samba says, else by our own list.
    scopes = parse_scopes(answer.text("scopes")) or _documented_scopes(
        str(samba.facts.get(fact_names.SAMBA_VERSION, ""))
    )
    testparm_warnings = warnings(answer.text("testparm.err"))
    all_warnings = [
        *testparm_warnings,
        *own_warnings(answer, conf, scopes),
        *refused_settings(testparm_warnings, conf),
    ]
    if all_warnings:
        samba.facts[fact_names.CONF_WARNINGS] = fact_names.in_one_fact(all_warnings)
    if code != 0:
        samba.facts[fact_names.CONF_STATE] = fact_names.ConfState.LOADS_NOT.value
        samba.problems.append(reason_for_not_loading(path, all_warnings))
        return

    state = fact_names.ConfState.WARNS if all_warnings else fact_names.ConfState.LOADS
    samba.facts[fact_names.CONF_STATE] = state.value
    _add_parameters(samba, answer, scopes, share)
    _correct_log_level(samba, answer, conf, has_registry=conf_file.REGISTRY in files)
    # Where a part of the configuration could not be read, nobody knows which parameters it sets.
    if conf_file.REGISTRY in files or not conf.uses_registry:
        samba.facts[fact_names.CONF_SET] = fact_names.in_one_fact(_names_set_for(share, conf))


def configuration_files(answer: Answer) -> dict[str, str]:
    """The texts of smb.conf, of what it includes and of what is read in place of it, by path; and its registry."""
    files = {name.removeprefix("conf:"): text for name, text in answer.sections.items() if name.startswith("conf:")}
    registry = answer.text(conf_file.REGISTRY)
    # An empty one may be one that could not be read.
    if registry or answer.code(conf_file.REGISTRY) == 0:
        files[conf_file.REGISTRY] = registry or ""
    return files


def started_path(answer: Answer) -> str:
    """The smb.conf that smbd was started with; a `config file` there may name another to read in place of it."""
    return answer.stripped("conf.started") or answer.stripped("conf")


def unread_texts(answer: Answer, conf: conf_file.SmbConfFile) -> list[str]:
    """One text for each part of the configuration that was not read there."""
    unreadable = [name.removeprefix("unreadable:") for name in answer.sections if name.startswith("unreadable:")]
    read_files = configuration_files(answer)
    files_by_name = {}
    for name, text in answer.sections.items():
        if name.startswith("clients:"):
            listed_files = [file for file in text.splitlines() if file not in read_files]
            files_by_name[name.removeprefix("clients:")] = listed_files
    return unread_wording.texts_on_server(conf, unreadable, files_by_name)


def _documented_scopes(samba_version: str) -> Scopes:
    """Of that Samba, by our own list; of an unknown one, of all that we know."""
    version = version_numbers(samba_version)
    parameters = [parameter for parameter in smb_conf.parameters() if not version or parameter.is_in(version)]
    return Scopes(
        for_server=frozenset(parameter.name for parameter in parameters if parameter.scope == "global"),
        for_share=frozenset(parameter.name for parameter in parameters if parameter.scope == "share"),
    )


def _names_set_for(share: str | None, conf: conf_file.SmbConfFile) -> list[str]:
    """The parameters that smb.conf sets for a share: in [global], in its section, and in the section that it copies."""
    section = (share or "").strip().lower()
    # A share without a section is a user's home.
    if not any(setting.section == section for setting in conf.settings):
        section = "homes"
    sections = {"global", section, (conf.last(section, "copy") or "").lower()}
    return [smb_conf.spelling(setting.name).name for setting in conf.settings if setting.section in sections]


def _add_parameters(samba: SambaFacts, answer: Answer, scopes: Scopes, share: str | None) -> None:
    """The parameters in effect: those of the server, and those that hold for the share.

    A share has what [global] sets for all shares, and what its own section sets; one that is no section is that of
    [homes].
    """
    printed = parse_dump(answer.text("testparm"))
    dump = {section: _by_newest_name(values) for section, values in printed.items()}
    server = dump.get("global", {})
    share_keys = {smb_conf.parameter_key(name) for name in scopes.for_share}

    # One with a colon, such as ``fruit:metadata``, is a VFS module's, and holds for shares.
    def belongs_to_shares(name: str) -> bool:
        return ":" in name or smb_conf.parameter_key(name) in share_keys

    effective = {name: value for name, value in server.items() if belongs_to_shares(name)}
    if share:
        of_section = dump.get(share.strip().lower())
        if of_section is None:
            of_section = dump.get("homes", {})
            if not of_section:
                samba.problems.append(
                    f"{samba.facts['smb.conf.path']} has no [{share}]: the share's values are those of [global]"
                )
        effective.update(of_section)

    for name, value in server.items():
        if not belongs_to_shares(name):
            samba.facts[f"smb.conf/global/{name}"] = value
    samba.facts.update({f"smb.conf/share/{name}": value for name, value in effective.items()})
    _add_missing_interfaces(samba, answer, server.get("interfaces", ""))

    # A share's parameter that decides in [global] whether sessions are encrypted.
    if _ENCRYPTION in server:
        samba.facts[f"smb.conf/global/{_ENCRYPTION}"] = server[_ENCRYPTION]


def _add_missing_interfaces(samba: SambaFacts, answer: Answer, interfaces: str) -> None:
    # Without any address there is nothing to hold them against.
    addresses = smbd_interfaces.server_addresses(answer.text("addresses") or "")
    if not addresses:
        return

    entries = interfaces.split()  # testparm prints them without their quotes
    missing = smbd_interfaces.missing_interfaces(entries, addresses, answer.text("hosts") or "")
    if missing:
        samba.facts[fact_names.INTERFACES_MISSING] = fact_names.in_one_fact(missing)


def _by_newest_name(values: Mapping[str, str]) -> dict[str, str]:
    """The same values: a parameter that was renamed since has its newest name, whatever the server's Samba calls it."""
    by_newest_name = {}
    for name, value in values.items():
        spelled = smb_conf.spelling(name)
        is_renamed = spelled.is_synonym and not spelled.opposite
        by_newest_name[spelled.name if is_renamed else name] = value
    return by_newest_name


def _correct_log_level(samba: SambaFacts, answer: Answer, conf: conf_file.SmbConfFile, *, has_registry: bool) -> None:
    """Put smb.conf's log level in place of testparm's own; that of smbd where the registry could not be read.

    testparm prints the level that it runs with itself.
    """
    name = "smb.conf/global/log level"
    if conf.uses_registry and not has_registry:
        samba.facts.pop(name, None)
        running_level = running_log_level(answer.text("debuglevel"))
        if running_level is not None:
            samba.facts[name] = running_level
    else:
        samba.facts[name] = conf.last("global", "log level") or "0"


def running_log_level(text: str | None) -> str | None:
    """Level of all classes from ``smbcontrol smbd debuglevel`` (``PID 12: all:3 tdb:3 …``)."""
    match = re.search(r"\ball:(\d+)", text or "")
    return match.group(1) if match else None


def _add_running(samba: SambaFacts, answer: Answer, client_address: str) -> None:
    """How many smbd run there, with which smb.conf and log level, and their sessions."""
    commands = [line for line in (answer.text("processes") or "").splitlines() if line.strip()]
    samba.facts["samba.smbd_running"] = len(commands)

    path = started_path(answer)
    # Some may run with the file that was read: one that names it, or one that takes the default.
    configs = {config_option(command) for command in commands} - {None, ""}
    # A process that calls itself "smbd: …" does not show its options.
    runs_by_default = any(not command.startswith("smbd:") and config_option(command) is None for command in commands)
    may_run_with_path = path in configs or runs_by_default
    if path and configs and not may_run_with_path:
        samba.runs_with_another = True
        serving = (answer.text("serving") or "").partition("\n")[0]
        confs = serving or _first_two(sorted(filter(None, configs)))
        is_unread = samba.facts.get(fact_names.CONF_STATE) == fact_names.ConfState.UNREADABLE
        but = "" if is_unread else f", but the facts are those of {path}"
        samba.problems.append(f"smbd runs with {confs}{but}; name that file")

    level = running_log_level(answer.text("debuglevel"))
    if level is not None:
        samba.facts["samba.running_log_level"] = level
    _add_sessions(samba, answer, client_address)


def _first_two(names: list[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more


def _add_sessions(samba: SambaFacts, answer: Answer, client_address: str) -> None:
    if answer.code("smbstatus") is None:
        return
    sessions = session_addresses(answer.text("smbstatus"))
    if sessions is None:
        samba.problems.append(
            "smbstatus needs root on the server, so its other sessions are unknown; log in there by ssh as root"
        )
        return
    samba.facts["server.sessions"] = len(sessions)
    samba.facts["server.sessions.other_machines"] = sum(address != client_address for address in sessions)


def session_addresses(text: str | None) -> list[str] | None:
    """Client addresses in ``smbstatus --json``; None without permission, when the document has no ``sessions``.

    An smbstatus from before Samba 4.17 passes over ``--json`` and prints its tables.
    """
    printed = text or ""
    if _SESSION_TABLE in printed:
        table = printed.partition(_SESSION_TABLE)[2].partition("\n\n")[0]
        return _SESSION_ADDRESS.findall(table)
    try:
        sessions = json.loads(printed)["sessions"]
        return [str(session.get("hostname", "")).partition(":")[2].rpartition(":")[0] for session in sessions.values()]
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def config_option(command: str) -> str | None:
    """From ``-s FILE`` or ``--configfile=FILE`` of a running smbd; None for its default."""
    words = command.split(BETWEEN_WORDS)
    for index, word in enumerate(words):
        if word.startswith("--configfile="):
            return word.partition("=")[2]
        if word in {"-s", "--configfile"} and index + 1 < len(words):
            return words[index + 1]
        if word.startswith("-s") and word[2:3] == "/":
            return word[2:]
    return None
