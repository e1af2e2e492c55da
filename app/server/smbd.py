"""smbd's own profile: its counters of calls, bytes and time, which smbd keeps while its profiling is switched on.

`SmbdControl` asks and controls the smbd of one machine (``smbcontrol``, ``smbstatus``); `Profiler` takes the growth of
the counters round by round, as facts of a series. The *quota* is what the control group of smbd grants it of the
processors.
"""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Self

from app.base.errors import MeasurementError
from app.server.running_program import RunningProgram
from app.server.shell import ServerShell, script_file
from forms.tuning.samba_parameters import version_numbers
from storage.isolation import PROCESSOR, ProfileCounter, profile_facts
from storage.records import Facts, FactValue, Target

Profile = Mapping[str, ProfileCounter]
"""Counters by name: ``smb2_read``, ``syscall_openat``, ``statcache_hits``, ``cpu_user`` …"""

LATENESS_SECONDS = 1.3
"""All smbd processes have written their counters this long after the last request."""
_FIELDS = ("count", "time", "idle", "bytes", "inbytes", "outbytes")
_LINE = re.compile(rf"(\w+?)_({'|'.join(_FIELDS)}):\s+(\d+)\s*$")
_FAILED_REQUESTS = re.compile(r"smb2_\w+_failed_count:")
"""Since Samba 4.25: how many of the requests of that name failed, which is no counter of its own."""
_LEVEL = re.compile(r"Profiling (not enabled|off|count only|count and time|bogus) on pid (\d+)", re.IGNORECASE)
_LEVELS = {"off": "off", "count only": "count", "count and time": "on"}
"""The words of ``smbcontrol`` for a level that is set, by those with which it tells the level."""
_LEVELS_SINCE_4_25 = {"not enabled": "off", "off": "count", "bogus": "on"}
"""Its smbd answers with other numbers, for which its smbcontrol still has the old words."""
_BUILT_WITH_PROFILE = "WITH_PROFILE"
"""A line of what ``smbd -b`` says of how it was built."""
_FIRST_WITH_OTHER_NUMBERS = (4, 25)


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
            # Newer versions have more fields, such as failed_count since 4.25.
            if isinstance(fields, dict) and not fields.keys().isdisjoint(_FIELDS):
                counters[name] = _counter(fields)
    return counters


def _parse_profile_text(printed: str) -> dict[str, ProfileCounter]:
    fields: dict[str, dict[str, int]] = {}
    for line in printed.splitlines():
        match = _LINE.match(line)
        if match and not _FAILED_REQUESTS.match(line):
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


def parse_profile_level(printed: str, samba_version: str = "") -> tuple[str, int] | None:
    """From ``smbcontrol smbd profilelevel``: off, count or on; and the process that starts all others.

    The version is what ``smbcontrol --version`` prints: "off" means another level since Samba 4.25.
    """
    match = _LEVEL.search(printed)
    if match is None:
        return None

    is_newer = version_numbers(samba_version.removeprefix("Version "))[:2] >= _FIRST_WITH_OTHER_NUMBERS
    level = (_LEVELS_SINCE_4_25 if is_newer else _LEVELS).get(match[1].lower())
    return (level, int(match[2])) if level else None


ON = "on"
OFF = "off"
LATE_SECONDS = 5.0
"""Extra time for a busy server's processes to write their counters."""
SWITCH_SECONDS = 20.0
"""Time for a busy smbd to read that its level is another one."""
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorQuota:
    """The processor quota of smbd's control group, and how often it was throttled."""

    processors: float | None = None
    """How many processors' time it may use; None without a quota."""
    periods: int = 0
    """The quota's periods so far."""
    throttled: int = 0
    """Those in which it was used up, so that smbd had to wait."""

    def throttled_percent_since(self, before: "ProcessorQuota") -> float | None:
        """In what share of the periods since then smbd was throttled; None without a quota."""
        periods = self.periods - before.periods
        is_limited = self.processors is not None and periods > 0
        return 100 * (self.throttled - before.throttled) / periods if is_limited else None


def parse_quota(printed: str) -> ProcessorQuota:
    """From ``quota.sh``: the line ``limit QUOTA PERIOD``, and the kernel's counts of periods."""
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
    """Asks and controls smbd on its machine."""

    def __init__(self, shell: ServerShell, conf: str | None, processes: frozenset[int] = frozenset()) -> None:
        """``conf`` is the smb.conf that smbd was started with, None for its own; ``processes`` are known to be its."""
        self._shell = shell
        self._conf = ("-s", conf) if conf else ()
        self._processes = " ".join(map(str, sorted(processes)))
        self._first_process = 0
        """The smbd that starts all others; known once the level was asked for."""

    def level(self) -> str:
        """The profiling level: ``off``, ``count`` (calls and bytes) or ``on`` (time too). Raises MeasurementError."""
        result = self._shell.run("smbcontrol", *self._conf, "smbd", "profilelevel")
        version = self._shell.run("smbcontrol", "--version").out
        level_and_process = parse_profile_level(result.out, version)
        if result.code or level_and_process is None:
            raise MeasurementError(
                f"smbd's profile cannot be read on {self._shell.where}: {self._why_unread(result.last_words)}"
            )
        level, self._first_process = level_and_process
        return level

    def _why_unread(self, last_words: str) -> str:
        """Why the level is not told, with what to do; ``last_words`` are those of smbcontrol."""
        build = self._shell.run("smbd", "-b")
        if build.code == 0 and _BUILT_WITH_PROFILE not in build.out:
            return "its Samba was built without profiling; install a package that has it, or do without the profile"
        return f"{last_words}; it needs root there, the smb.conf that smbd runs with, and an smbd built with profiling"

    def processor_microseconds(self) -> dict[str, int]:
        """The processor time of each process that serves clients, by number; empty where the kernel does not say."""
        script = script_file("app.server", "processor.sh")
        result = self._shell.run("sh", "-c", script, "sh", str(self._first_process))
        rows = [line.split() for line in result.out.splitlines()]
        return {row[0]: int(row[1]) // 1000 for row in rows if len(row) == 4}

    def set_level(self, level: str) -> None:
        """Raises MeasurementError."""
        result = self._shell.run("smbcontrol", *self._conf, "smbd", "profile", level)
        if result.code:
            raise MeasurementError(
                f"profiling cannot be set to {level!r} on {self._shell.where}: {result.last_words}; "
                f"`smbcontrol smbd profile {level}` there says why"
            )

    def switch_level(self, level: str) -> None:
        """Set the level, and wait until smbd has it. Raises MeasurementError.

        A busy smbd reads its messages late; a process that it starts before would count as with the level of before.
        """
        self.set_level(level)
        until = time.monotonic() + SWITCH_SECONDS
        while self.level() != level:
            if time.monotonic() >= until:
                late = (
                    f"smbd on {self._shell.where} has not set its profiling to {level!r} within {SWITCH_SECONDS:.0f} s"
                )
                raise MeasurementError(f"{late}; measure again when it is less busy")
            time.sleep(_LOOK_SECONDS)

    def guard_of_level(self, level: str) -> RunningProgram:
        """A program that sets that level on the server once it is ended, or once this process is killed or cut off."""
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
        """The quota of the control group that smbd runs in."""
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
    """smbd's counters round by round, as facts of a series.

    Profiling is switched on inside ``with``; the level that was there before is restored, also after a kill.
    """

    def __init__(self, ssh: str | None, conf: str) -> None:
        self._smbd = SmbdControl(ServerShell(ssh), conf)

    def __enter__(self) -> Self:
        self._level = self._smbd.level()
        """What it was before, to be restored."""
        self._guard = self._smbd.guard_of_level(self._level)
        """Restores it on the server, should this process be killed."""
        try:
            self._smbd.switch_level(ON)
            self._before = self._smbd.profile()
            """The counters at the end of the last round."""
            self._spent = self._smbd.processor_microseconds()
            """The processor time of each process that serves clients, up to then."""
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
