"""Control smbd on its server: profiling, counters round by round, and its processor quota."""

import time
from dataclasses import dataclass
from typing import Self

from app.environment.samba.printed import LATENESS_SECONDS, Profile, parse_profile, parse_profile_level, profile_since
from app.errors import MeasurementError
from app.server.shell import RunningProgram, ServerShell, script_file
from storage.isolations import PROCESSOR, ProfileCounter, profile_facts
from storage.records import Facts, FactValue, Target

ON, OFF = "on", "off"
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
        if self.processors is None or periods <= 0:
            return None
        return 100 * (self.throttled - before.throttled) / periods


def parse_quota(printed: str) -> ProcessorQuota:
    found: dict[str, int] = {}
    processors = None
    for line in printed.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "limit" and words[1].isdecimal() and int(words[2]):
            processors = int(words[1]) / int(words[2])
        elif len(words) == 2 and words[1].isdecimal():
            found[words[0]] = int(words[1])
    return ProcessorQuota(
        processors=processors, periods=found.get("nr_periods", 0), throttled=found.get("nr_throttled", 0)
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
        said = self._shell.run("smbcontrol", *self._conf, "smbd", "profilelevel")
        found = parse_profile_level(said.out)
        if said.code or found is None:
            raise MeasurementError(
                f"smbd's profile cannot be read on {self._shell.where}: {said.last_words}; it needs root there, and an "
                "smbd built with profiling"
            )
        level, self._first_process = found
        return level

    def processor_microseconds(self) -> dict[str, int]:
        """Of each process that serves clients, by its number; empty where the kernel does not say."""
        script = script_file("app.environment.samba", "processor.sh")
        said = self._shell.run("sh", "-c", script, "sh", str(self._first_process))
        lines = (line.split() for line in said.out.splitlines())
        return {line[0]: int(line[1]) // 1000 for line in lines if len(line) == 4}

    def set_level(self, level: str) -> None:
        said = self._shell.run("smbcontrol", *self._conf, "smbd", "profile", level)
        if said.code:
            raise MeasurementError(
                f"profiling cannot be set to {level!r} on {self._shell.where}: {said.last_words}; "
                f"`smbcontrol smbd profile {level}` there says why"
            )

    def kept(self, level: str) -> RunningProgram:
        """What sets that level on the server once it is ended, or once this process is killed or cut off."""
        return self._shell.start_at_the_end("smbcontrol", *self._conf, "smbd", "profile", level)

    def profile(self) -> dict[str, ProfileCounter]:
        """The current counters, from JSON where this version has it. Raises MeasurementError."""
        for form in (("--json",), ()):
            said = self._shell.run("smbstatus", *self._conf, "-P", *form)
            found = parse_profile(said.out)
            if found:
                return found
        raise MeasurementError(
            f"`smbstatus -P` gives no counters on {self._shell.where}: {said.last_words}; run it there"
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
        script = script_file("app.environment.samba", "quota.sh")
        return parse_quota(self._shell.run("sh", "-c", script, "sh", self._processes).out)


def profiled_conf(server: Facts, given: str | None, target: Target) -> str:
    """The smb.conf of the smbd to profile, as ``server`` has it or as it was given. Raises MeasurementError."""
    if conf := server.get("smb.conf.path") or given:
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
            self._before, self._spent = self._smbd.profile(), self._smbd.processor_microseconds()
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
        (before, spent), self._spent = (self._before, self._spent), self._smbd.processor_microseconds()
        self._before = self._smbd.profile()
        grown = profile_since(before, self._before) or {}
        if grown and self._spent:
            total = sum(max(0, now - spent.get(process, 0)) for process, now in self._spent.items())
            grown[PROCESSOR] = ProfileCounter(microseconds=total)
        return profile_facts(number, grown)
