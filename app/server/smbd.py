"""What testparm, smbstatus and smbcontrol print, the facts in it, and smbd controlled: profiling, counters, quota."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from itertools import chain
from typing import Self

from app.base.errors import MeasurementError
from app.server.shell import Answer, RunningProgram, ServerShell, script_file
from forms.tuning import smb_conf
from storage.isolation import PROCESSOR, ProfileCounter, profile_facts
from storage.records import Facts, FactValue, Target

HARMLESS = (
    "Load smb config files from",
    "Loaded services file OK",
    "Weak crypto is ",
    "Server role:",
    "rlimit_max:",
    "Registered MSG_",
    "Ignoring unknown parameter",
    "Ignoring badly formed line",
    "params.c:",
    "Processing section",
    "Error loading services.",
)
"""Prefixes of lines on stderr that are not warnings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """Global and share parameters of smb.conf, from ``--show-all-parameters``."""

    for_server: frozenset[str] = frozenset()
    for_share: frozenset[str] = frozenset()


def parse_dump(text: str | None) -> dict[str, dict[str, str]]:
    """Sections of ``testparm -sv`` by name in lower case; a parameter never contains an equals sign, a value may."""
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in (text or "").splitlines():
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]") and not line.startswith(("\t", " ")):
            current = sections.setdefault(stripped[1:-1].lower(), {})
        elif "=" in stripped and not stripped.startswith("#"):
            name, _, value = stripped.partition("=")
            current[name.strip()] = value.strip()
    return sections


def parse_scopes(text: str | None) -> Scopes | None:
    """None where either kind is missing."""
    names: dict[str, set[str]] = {"[local]": set(), "[global]": set()}
    current: set[str] = set()
    for line in (text or "").splitlines():
        if line in names:
            current = names[line]
        elif "=" in line:
            current.add(line.partition("=")[0].strip())

    if not all(names.values()):
        return None
    return Scopes(for_server=frozenset(names["[global]"]), for_share=frozenset(names["[local]"]))


def warnings(standard_error: str | None) -> list[str]:
    lines = (" ".join(line.split()) for line in (standard_error or "").splitlines())
    return list(dict.fromkeys(line for line in lines if line and not line.startswith(HARMLESS)))


Profile = Mapping[str, ProfileCounter]
"""Counters by name: ``smb2_read``, ``syscall_openat``, ``statcache_hits``, ``cpu_user`` …"""

LATENESS_SECONDS = 1.3
"""All smbd processes have written their counters this long after the last request."""
_FIELDS = ("count", "time", "idle", "bytes", "inbytes", "outbytes")
_LINE = re.compile(rf"(\w+?)_({'|'.join(_FIELDS)}):\s+(\d+)\s*$")
_LEVEL = re.compile(r"Profiling (off|count only|count and time) on pid (\d+)", re.IGNORECASE)
_WORDS = {"off": "off", "count only": "count", "count and time": "on"}


def parse_profile(printed: str) -> dict[str, ProfileCounter]:
    """From ``smbstatus -P``, with or without ``--json``; empty without counters."""
    try:
        document = json.loads(printed)
    except ValueError:
        return _parse_profile_text(printed)
    if not isinstance(document, dict):
        return {}

    counters: dict[str, ProfileCounter] = {}
    for section in document.values():
        if not isinstance(section, dict):
            continue
        for name, fields in section.items():
            if isinstance(fields, dict) and fields and fields.keys() <= set(_FIELDS):
                counters[name] = _counter(fields)
    return counters


def _parse_profile_text(printed: str) -> dict[str, ProfileCounter]:
    fields: dict[str, dict[str, int]] = {}
    for line in printed.splitlines():
        match = _LINE.match(line)
        if match:
            name, field_name, value = match.groups()
            fields.setdefault(name, {})[field_name] = int(value)
    return {name: _counter(values) for name, values in fields.items()}


def _counter(fields: Mapping[str, object]) -> ProfileCounter:
    return ProfileCounter(
        calls=_whole_number(fields, "count"),
        microseconds=_whole_number(fields, "time"),
        idle_microseconds=_whole_number(fields, "idle"),
        moved_bytes=_whole_number(fields, "bytes"),
        in_bytes=_whole_number(fields, "inbytes"),
        out_bytes=_whole_number(fields, "outbytes"),
    )


def _whole_number(fields: Mapping[str, object], name: str) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) else 0


def profile_since(before: Profile, after: Profile) -> dict[str, ProfileCounter] | None:
    """Increases, without zeros; None if smbd was restarted in between."""
    growth: dict[str, ProfileCounter] = {}
    for name, counter in after.items():
        counter_before = before.get(name, ProfileCounter())
        figures = zip(astuple(counter), astuple(counter_before), strict=True)
        increases = [now - then for now, then in figures]
        if min(increases) < 0:
            return None
        if any(increases):
            growth[name] = ProfileCounter(*increases)
    return growth


def parse_profile_level(printed: str) -> tuple[str, int] | None:
    """From ``smbcontrol smbd profilelevel``: off, count or on; and the process that starts all others."""
    match = _LEVEL.search(printed)
    return (_WORDS[match[1].lower()], int(match[2])) if match else None


BUILD_FLAGS = {
    "samba.build.smb1": "WITH_SMB1SERVER",
    "samba.build.profiling": "WITH_PROFILE",
    "samba.build.json": "HAVE_JSON_OBJECT",
    "samba.build.io_uring": "HAVE_LIBURING",
    "samba.build.sendfile": "HAVE_SENDFILE",
    "samba.build.gnutls": "HAVE_GNUTLS",
}
ENCRYPTION = "server smb encrypt"
FORMER_ENCRYPTION = "smb encrypt"
"""The same in older versions."""
_MOST_WORDS = 7
"""A parameter's name has no more."""
BETWEEN_WORDS = "\x1f"
"""Stands in place of the NUL between two words of a command line; paths have blanks."""


@dataclass(slots=True)
class SambaFacts:
    facts: dict[str, FactValue] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    runs_with_another: bool = False
    """Every running smbd was started with another smb.conf than the one that was read."""


def samba_facts(answer: Answer, share: str | None, client_address: str = "") -> SambaFacts:
    """``share`` is the measured one, ``client_address`` this machine's."""
    samba = SambaFacts()
    if not answer.text("conf") and not answer.text("version"):
        samba.problems.append(
            "no smbd is on the PATH of the server, so if it runs Samba, facts of it are unknown; add its folder to PATH"
        )
        return samba

    version = answer.text("version")
    if version:
        samba.facts["samba.version"] = version.strip().removeprefix("Version ")
    build_flags = set((answer.text("build") or "").split())
    if build_flags:
        for fact, flag in BUILD_FLAGS.items():
            samba.facts[fact] = "yes" if flag in build_flags else "no"

    _add_configuration(samba, answer, share)
    _add_running(samba, answer, client_address)
    return samba


def _add_configuration(samba: SambaFacts, answer: Answer, share: str | None) -> None:
    path = answer.stripped("conf")
    if not path:
        return

    samba.facts["smb.conf.path"] = path
    files = {name.removeprefix("conf:"): text for name, text in answer.sections.items() if name.startswith("conf:")}
    files["registry"] = answer.text("registry") or ""
    if path not in files:
        samba.facts[smb_conf.CONF_STATE] = smb_conf.ConfState.UNREADABLE.value
        samba.problems.append(f"{path} cannot be read on the server; name the right file")
        return
    writable_path = answer.text("writable")
    if writable_path:
        samba.facts["smb.conf.writable_by_all"] = writable_path

    conf = smb_conf.read_conf(path, files)
    code = answer.code("testparm")
    if code is None:
        samba.problems.append(
            f"testparm is not installed on the server, so what {path} means is unknown (Debian: samba-common-bin)"
        )
        return

    scopes = parse_scopes(answer.text("scopes")) or _documented_scopes()
    testparm_warnings = warnings(answer.text("testparm.err"))
    all_warnings = [
        *testparm_warnings,
        *_own_warnings(answer, conf, scopes),
        *_culprits(testparm_warnings, conf),
    ]
    if all_warnings:
        samba.facts[smb_conf.CONF_WARNINGS] = smb_conf.in_one_fact(all_warnings)
    if code != 0:
        samba.facts[smb_conf.CONF_STATE] = smb_conf.ConfState.LOADS_NOT.value
        samba.problems.append(_why_not_loaded(path, all_warnings))
        return

    state = smb_conf.ConfState.WARNS if all_warnings else smb_conf.ConfState.LOADS
    samba.facts[smb_conf.CONF_STATE] = state.value
    _add_parameters(samba, answer, scopes, share)
    _correct_log_level(samba, answer, conf, has_registry=bool(files["registry"]))
    if files["registry"] or not conf.uses_registry:
        samba.facts[smb_conf.CONF_SET] = smb_conf.in_one_fact(_names_set_for(share, conf))


def _documented_scopes() -> Scopes:
    """Of the Samba that our list of parameters is taken from."""
    parameters = smb_conf.parameters()
    return Scopes(
        for_server=frozenset(parameter.name for parameter in parameters if parameter.scope == "global"),
        for_share=frozenset(parameter.name for parameter in parameters if parameter.scope == "share"),
    )


def _names_set_for(share: str | None, conf: smb_conf.SmbConfFile) -> list[str]:
    """The parameters that smb.conf sets for a share: in [global], in its section, and in the section that it copies."""
    section = (share or "").strip().lower()
    if not any(setting.section == section for setting in conf.settings):
        section = "homes"
    sections = {"global", section, (conf.last(section, "copy") or "").lower()}
    return [smb_conf.spelling(setting.name).name for setting in conf.settings if setting.section in sections]


def _add_parameters(samba: SambaFacts, answer: Answer, scopes: Scopes, share: str | None) -> None:
    dump = parse_dump(answer.text("testparm"))
    server = dump.get("global", {})
    share_keys = {smb_conf.parameter_key(name) for name in scopes.for_share}

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

    for scope, values in (("global", server), ("share", effective)):
        encryption = values.get(ENCRYPTION) or values.get(FORMER_ENCRYPTION)
        if encryption:
            samba.facts[f"smb.conf/{scope}/{ENCRYPTION}"] = encryption


def _correct_log_level(samba: SambaFacts, answer: Answer, conf: smb_conf.SmbConfFile, *, has_registry: bool) -> None:
    name = "smb.conf/global/log level"
    if conf.uses_registry and not has_registry:
        samba.facts.pop(name, None)
        running_level = running_log_level(answer.text("debuglevel"))
        if running_level is not None:
            samba.facts[name] = running_level
    else:
        samba.facts[name] = conf.last("global", "log level") or "0"


def _own_warnings(answer: Answer, conf: smb_conf.SmbConfFile, scopes: Scopes) -> list[str]:
    """Warnings that testparm lacks; lines that set no Samba parameter are not quoted."""
    server_keys = {smb_conf.parameter_key(name) for name in scopes.for_server}
    share_keys = {smb_conf.parameter_key(name) for name in scopes.for_share}
    known_keys = server_keys | share_keys

    lines = [
        f"{setting.name} = {setting.value} stands in [{setting.section}], but it holds for the whole server only: "
        "it does nothing there"
        for setting in conf.settings
        if setting.section != "global" and smb_conf.parameter_key(setting.name) in server_keys
    ]
    lines += [f"include = {name}: there is no such file to read" for name in conf.missing_includes]
    lines += [f"include = {name} depends on the client and was not read" for name in conf.per_client_includes]
    lines += [
        f"{setting.name} = {setting.value}: smb.conf has no comments at the end of a line"
        for setting in conf.settings
        if re.search(r"\s[#;]\s", setting.value) and smb_conf.parameter_key(setting.name) in known_keys
    ]
    lines += [f"{_quoted(line, known_keys)} has no equals sign and says nothing" for line in conf.malformed]
    return lines + _missing_modules(answer, conf)


def _missing_modules(answer: Answer, conf: smb_conf.SmbConfFile) -> list[str]:
    modules = loadable_modules(answer)
    if not modules:
        return []

    lines = []
    vfs_objects = smb_conf.parameter_key("vfs objects")
    for setting in conf.settings:
        if smb_conf.parameter_key(setting.name) != vfs_objects:
            continue
        # Behind a colon stands the name of one instance; a path is a module of the admin's own.
        loaded = {name.partition(":")[0] for name in setting.value.replace(",", " ").split()}
        lines += [
            f"{setting.name} = {name}: there is no such module, and every connection to the share will fail"
            for name in sorted(loaded - modules)
            if "/" not in name
        ]
    return lines


def _quoted(line: str, known_keys: set[str]) -> str:
    """Quotes the line only if it begins with a parameter's name: a file named by mistake may hold secrets."""
    words = line.split()
    starts = (" ".join(words[:count]) for count in range(1, min(len(words), _MOST_WORDS) + 1))
    begins_with_name = any(smb_conf.parameter_key(start) in known_keys for start in starts)
    return f"the line {line!r}" if begins_with_name else "a line"


def loadable_modules(answer: Answer) -> set[str]:
    """VFS modules in smbd's folder and built in; empty if unknown."""
    built_in = (answer.text("build") or "").partition("Builtin modules:")[2].split()
    loadable = {name.removesuffix(".so") for name in (answer.text("modules") or "").split()}
    return loadable | {name.removeprefix("vfs_") for name in built_in if name.startswith("vfs_")}


def _culprits(testparm_warnings: list[str], conf: smb_conf.SmbConfFile) -> list[str]:
    """The settings whose values testparm refuses: it prints the value without the parameter's name."""
    text = "\n".join(testparm_warnings)
    pairs = re.findall(r"set_variable_helper\((.*)\)|conv_str_\w+\((.*?)\)", text)
    refused = set(chain.from_iterable(pairs)) - {""}
    return [f"{setting.name} = {setting.value} is refused" for setting in conf.settings if setting.value in refused]


def _why_not_loaded(path: str, all_warnings: list[str]) -> str:
    if any("ACCESS_DENIED" in line for line in all_warnings):
        return f"{path} includes the registry, which only root may read; log in there by ssh as root"
    reason = all_warnings[-1] if all_warnings else "testparm does not say why"
    return f"{path} does not load on the server: {reason}; see `testparm -s {path}` there"


def running_log_level(text: str | None) -> str | None:
    """Level of all classes from ``smbcontrol smbd debuglevel`` (``PID 12: all:3 tdb:3 …``)."""
    match = re.search(r"\ball:(\d+)", text or "")
    return match.group(1) if match else None


def _add_running(samba: SambaFacts, answer: Answer, client_address: str) -> None:
    commands = [line for line in (answer.text("processes") or "").splitlines() if line.strip()]
    samba.facts["samba.smbd_running"] = len(commands)

    path = str(samba.facts.get("smb.conf.path", ""))
    configs = {config_option(command) for command in commands} - {None, ""}
    # A process that calls itself "smbd: …" does not show its options.
    runs_by_default = any(not command.startswith("smbd:") and config_option(command) is None for command in commands)
    if path and configs and path not in configs and not runs_by_default:
        samba.runs_with_another = True
        serving = (answer.text("serving") or "").partition("\n")[0]
        confs = serving or _first_two(sorted(filter(None, configs)))
        is_unread = samba.facts.get(smb_conf.CONF_STATE) == smb_conf.ConfState.UNREADABLE
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
    """Client addresses in ``smbstatus --json``; None without permission, when the document has no ``sessions``."""
    try:
        sessions = json.loads(text or "")["sessions"]
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


ON = "on"
OFF = "off"
LATE_SECONDS = 5.0
"""Extra time for a busy server's processes to write their counters."""
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorQuota:
    """The processor quota of smbd's control group, and its throttling counts."""

    processors: float | None = None
    periods: int = 0
    throttled: int = 0

    def throttled_percent_since(self, before: "ProcessorQuota") -> float | None:
        periods = self.periods - before.periods
        is_limited = self.processors is not None and periods > 0
        return 100 * (self.throttled - before.throttled) / periods if is_limited else None


def parse_quota(printed: str) -> ProcessorQuota:
    counts: dict[str, int] = {}
    processors = None
    for line in printed.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "limit" and words[1].isdecimal() and int(words[2]):
            processors = int(words[1]) / int(words[2])
        elif len(words) == 2 and words[1].isdecimal():
            counts[words[0]] = int(words[1])
    return ProcessorQuota(
        processors=processors, periods=counts.get("nr_periods", 0), throttled=counts.get("nr_throttled", 0)
    )


class SmbdControl:
    """smbd on its own machine; ``conf`` is the smb.conf it was started with."""

    def __init__(self, shell: ServerShell, conf: str | None, processes: frozenset[int] = frozenset()) -> None:
        self._shell = shell
        self._conf = ("-s", conf) if conf else ()
        self._processes = " ".join(map(str, sorted(processes)))
        self._first_process = 0

    def level(self) -> str:
        """Profiling level: off, count or on. Raises MeasurementError."""
        result = self._shell.run("smbcontrol", *self._conf, "smbd", "profilelevel")
        level_and_process = parse_profile_level(result.out)
        if result.code or level_and_process is None:
            raise MeasurementError(
                f"smbd's profile cannot be read on {self._shell.where}: {result.last_words}; it needs root there, the "
                "smb.conf that smbd runs with, and an smbd built with profiling"
            )
        level, self._first_process = level_and_process
        return level

    def processor_microseconds(self) -> dict[str, int]:
        """Of each process that serves clients, by its number; empty where the kernel does not say."""
        script = script_file("app.server", "processor.sh")
        result = self._shell.run("sh", "-c", script, "sh", str(self._first_process))
        rows = [line.split() for line in result.out.splitlines()]
        return {row[0]: int(row[1]) // 1000 for row in rows if len(row) == 4}

    def set_level(self, level: str) -> None:
        result = self._shell.run("smbcontrol", *self._conf, "smbd", "profile", level)
        if result.code:
            raise MeasurementError(
                f"profiling cannot be set to {level!r} on {self._shell.where}: {result.last_words}; "
                f"`smbcontrol smbd profile {level}` there says why"
            )

    def kept(self, level: str) -> RunningProgram:
        """What sets that level on the server once it is ended, or once this process is killed or cut off."""
        return self._shell.start_at_the_end("smbcontrol", *self._conf, "smbd", "profile", level)

    def profile(self) -> dict[str, ProfileCounter]:
        """The current counters, from JSON where this version has it. Raises MeasurementError."""
        for form in (("--json",), ()):
            result = self._shell.run("smbstatus", *self._conf, "-P", *form)
            counters = parse_profile(result.out)
            if counters:
                return counters
        raise MeasurementError(
            f"`smbstatus -P` gives no counters on {self._shell.where}: {result.last_words}; run it there"
        )

    def grown_since(self, before: Profile, requests: int) -> dict[str, ProfileCounter]:
        """Growth of the counters once they reach ``requests``; empty if smbd restarted. Raises MeasurementError.

        Busy processes write them late, and one look may miss those of a process that just ended.
        """
        until = time.monotonic() + LATE_SECONDS
        while True:
            grown = profile_since(before, self.profile()) or {}
            counted = sum(counter.calls for name, counter in grown.items() if name.startswith("smb2_"))
            if counted >= requests or time.monotonic() >= until:
                return grown
            time.sleep(_LOOK_SECONDS)

    def quota(self) -> ProcessorQuota:
        script = script_file("app.server", "quota.sh")
        return parse_quota(self._shell.run("sh", "-c", script, "sh", self._processes).out)


def profiled_conf(server: Facts, smb_conf_path: str | None, target: Target) -> str:
    """The smb.conf of the smbd to profile, by the server's facts or else that path. Raises MeasurementError."""
    conf = server.get("smb.conf.path") or smb_conf_path
    if conf:
        return str(conf)
    raise MeasurementError(
        f"smbd's profile needs the smb.conf of {target.host}, which was not found: name the server by ssh and its file",
        options="--server-ssh and --smb-conf",
    )


class Profiler:
    """smbd's counters round by round, as facts; the profiling level that was there is restored, also after a kill."""

    def __init__(self, ssh: str | None, conf: str) -> None:
        self._smbd = SmbdControl(ServerShell(ssh), conf)

    def __enter__(self) -> Self:
        self._level = self._smbd.level()
        self._guard = self._smbd.kept(self._level)
        try:
            self._smbd.set_level(ON)
            self._before = self._smbd.profile()
            self._spent = self._smbd.processor_microseconds()
        except BaseException:
            self._guard.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._smbd.set_level(self._level)
        finally:
            self._guard.end()

    def round(self, number: int) -> dict[str, FactValue]:
        """The counters' growth since the last round; waits until smbd has written them. Raises MeasurementError."""
        time.sleep(LATENESS_SECONDS)
        profile_before = self._before
        spent_before = self._spent
        self._spent = self._smbd.processor_microseconds()
        self._before = self._smbd.profile()

        grown = profile_since(profile_before, self._before) or {}
        if grown and self._spent:
            # A process that began meanwhile spent all that it has.
            growths = [max(0, spent - spent_before.get(process, 0)) for process, spent in self._spent.items()]
            grown[PROCESSOR] = ProfileCounter(microseconds=sum(growths))
        return profile_facts(number, grown)
