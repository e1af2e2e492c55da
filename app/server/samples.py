"""Second by second on the server's machine: processors, server processes and their memory, cards, disks."""

import os
import re
import secrets
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from app.base.errors import UsageError
from app.server.host_activity import ProcessorTicks, parse_cpu, parse_disks
from app.server.host_facts import Ours, Process, all_processes, parse_stat, tree
from app.server.link_facts import parse_interfaces
from app.server.shell import MOST_BYTES, RunningProgram, ServerShell, script_file, with_variables
from storage.records import Spread

MEMORY_INTERVAL_SECONDS = 10
"""Adding up the memory of a thousand processes takes a third of a second."""
_FIRST_SAMPLE_SECONDS = 20.0
_STOP_SECONDS = 5.0
_MOST_ENTRIES = 200_000
"""Entries of all samples, about 60 MB: eight hours of a server with six cards and disks."""
_NO_COUNTER = re.compile(r"\d{21}|\S{200}")
"""The kernel's counters have 64 bits, and names are short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessMemory:
    """Of all server processes together."""

    uss_bytes: int
    """Pages that no other process has (unique set size)."""
    pss_bytes: int
    """With its share of those that several have (proportional set size)."""
    processes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSample:
    """Counters of one machine; what is unknown is empty or absent."""

    at_seconds: float
    """By the monotonic clock here."""
    uptime_seconds: float
    """By the clock there, between whose samples growth is measured."""
    processors: ProcessorTicks
    server_ticks: int | None = None
    """Of the server's processes, and of their children that ended."""
    server_processes: int = 0
    kernel_ticks: int | None = None
    """The kernel's own threads (write-back, network)."""
    own_ticks: int = 0
    """This program's, where it runs on that machine."""
    interfaces: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Bytes received and sent, by name."""
    disk_busy_seconds: Mapping[str, float] = field(default_factory=dict)
    memory: ProcessMemory | None = None
    """None in samples between two that add it up."""
    periods: tuple[int, int] | None = None
    """Periods of the control group's quota, and those in which it was throttled; None without a quota."""

    @property
    def kernel_part(self) -> int | None:
        """Ticks of the kernel's threads and of interrupts."""
        return None if self.kernel_ticks is None else self.kernel_ticks + self.processors.interrupts

    @property
    def entries(self) -> int:
        """About how much memory it takes, in numbers that are kept."""
        return 4 + len(self.interfaces) + len(self.disk_busy_seconds)


class ResourceSampler:
    """Reads one machine's counters, here or through ssh. Never raises: failures become a problem in words."""

    def __init__(
        self,
        ssh: str | None = None,
        *,
        names: Sequence[str] = ("smbd", "cleanupd"),
        roots: Iterable[int] = (),
        memory_interval_seconds: int = MEMORY_INTERVAL_SECONDS,
        interval_seconds: float = 1.0,
    ) -> None:
        """``names`` are prefixes of server process names; ``roots``, if given, limit them."""
        self.problem: str | None = None

        self._ssh = ssh
        self._roots = frozenset(roots)
        self._mark = f"@sharebench-{secrets.token_hex(8)}@"
        self._variables = {
            "mark": self._mark,
            "names": "|".join(rf"\({name}" for name in names),
            "root": str(min(self._roots, default="")),
            "memory_every": str(max(1, round(memory_interval_seconds / interval_seconds))),
            "pause": f"{interval_seconds:g}",
        }

        self._samples: deque[ResourceSample] = deque()
        self._entries = 0
        self._began = threading.Event()
        self._program: RunningProgram | None = None
        self._thread: threading.Thread | None = None

    def start(self, timeout_seconds: float = _FIRST_SAMPLE_SECONDS) -> None:
        """Wait for the first sample."""
        body = with_variables(script_file("app.server", "resources.sh"), self._variables)
        try:
            self._program = RunningProgram(ServerShell(self._ssh).words(""), text=body)
        except UsageError as error:
            self.problem = f"the server's load is not seen: {error}"
            return
        except OSError as error:
            program = "ssh" if self._ssh else "sh"
            self.problem = f"the server's load is not seen: `{program}` cannot be run here ({error.strerror})"
            return

        self._thread = threading.Thread(target=self._read_samples, daemon=True)
        self._thread.start()
        if not self._began.wait(timeout_seconds) or not self._samples:
            hint = f"`ssh {self._ssh} true` must work without a question" if self._ssh else "this machine has no /proc"
            self.problem = f"the server's load is not seen: {hint}"

    def stop(self) -> list[ResourceSample]:
        """End it; all samples that are still kept."""
        program = self._program
        self._program = None
        if program is not None:
            program.end()
            if self._thread is not None:
                self._thread.join(_STOP_SECONDS)
        return self.samples()

    def samples(self, since: float = 0.0, until: float = float("inf")) -> list[ResourceSample]:
        return [sample for sample in list(self._samples) if since <= sample.at_seconds <= until]

    def _read_samples(self) -> None:
        """Keep the samples that the script prints, until it ends."""
        program = self._program
        assert program is not None
        for sections in self._sections_of_samples(program):
            own_ticks = 0 if self._ssh else Ours(trees=frozenset({os.getpid()})).ticks(all_processes())
            self._keep(sections, own_ticks)
        self._began.set()

    def _sections_of_samples(self, program: RunningProgram) -> Iterator[dict[str, list[str]]]:
        """The lines of each sample by section; a section ``end`` closes it. One that is far too long ends all."""
        sections: dict[str, list[str]] = {}
        lines: list[str] = []
        sample_bytes = 0
        while True:
            line = program.line()
            sample_bytes += len(line)
            if not line or sample_bytes >= MOST_BYTES:
                return

            if not line.startswith(self._mark):
                if not _NO_COUNTER.search(line):
                    lines.append(line)
                continue

            name = line[len(self._mark) :].strip()
            lines = sections.setdefault(name, [])
            if name == "end":
                yield sections
                sections = {}
                sample_bytes = 0

    def _keep(self, sections: Mapping[str, Sequence[str]], own_ticks: int) -> None:
        try:
            sample = parse_resources(sections, self._roots, time.monotonic())
        except ValueError:  # no line of /proc
            return
        if sample is None:
            return

        self._samples.append(replace(sample, own_ticks=own_ticks))
        self._entries += sample.entries
        while self._entries > _MOST_ENTRIES:
            self._entries -= self._samples.popleft().entries
        self._began.set()


class SampledSides:
    """Samplers of the server and of this machine, inside ``with``; they may be one, and either may be missing."""

    def __init__(self, server: ResourceSampler | None, own: ResourceSampler | None) -> None:
        self.server = server
        self.own = own

    def __enter__(self) -> Self:
        for sampler in self._samplers():
            sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        for sampler in self._samplers():
            sampler.stop()

    def _samplers(self) -> set[ResourceSampler]:
        return {sampler for sampler in (self.server, self.own) if sampler is not None}


def percents(
    pairs: Iterable[tuple[ResourceSample, ResourceSample]], ticks: Callable[[ResourceSample], int | None]
) -> list[float]:
    """By what share of all processors the ticks grew in each pair; without those that are unknown."""
    shares = []
    for before, now in pairs:
        ticks_before = ticks(before)
        ticks_now = ticks(now)
        total = now.processors.total - before.processors.total
        if ticks_before is not None and ticks_now is not None and total > 0:
            shares.append(100 * (ticks_now - ticks_before) / total)
    return shares


def card_rates(first: ResourceSample, last: ResourceSample) -> dict[str, tuple[float, float]]:
    """Bytes per second received and sent, by interface."""
    seconds = last.uptime_seconds - first.uptime_seconds
    if seconds <= 0:
        return {}

    rates = {}
    for name, (received_before, sent_before) in first.interfaces.items():
        if name in last.interfaces:
            received, sent = last.interfaces[name]
            rates[name] = ((received - received_before) / seconds, (sent - sent_before) / seconds)
    return rates


def disk_percents(first: ResourceSample, last: ResourceSample) -> dict[str, float]:
    seconds = max(last.uptime_seconds - first.uptime_seconds, 1e-6)
    return {
        name: min(100.0, 100 * (busy - first.disk_busy_seconds.get(name, busy)) / seconds)
        for name, busy in last.disk_busy_seconds.items()
    }


def spread_of(values: Sequence[float]) -> Spread:
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return Spread(mean=statistics.fmean(values), median=statistics.median(values), deviation=deviation)


def parse_resources(
    sections: Mapping[str, Sequence[str]], roots: frozenset[int], at_seconds: float
) -> ResourceSample | None:
    """None if not even the processors are reported."""
    try:
        uptime_seconds = float(sections["uptime"][0].split()[0])
    except (KeyError, IndexError, ValueError):
        return None
    processors = parse_cpu("".join(sections.get("cpu", ())))
    if processors is None:
        return None

    processes = _processes(sections.get("processes", ()))
    members = tree(processes, roots) if roots else set(processes)
    server_ticks = sum(processes[pid].ticks + processes[pid].ended_children_ticks for pid in members)
    kernel_ticks = [int(line) for line in sections.get("kernel", ()) if line.strip().isdecimal()]
    disk_milliseconds = parse_disks("".join(sections.get("disks", ())))
    interfaces = parse_interfaces("".join(sections.get("interfaces", ())))
    return ResourceSample(
        at_seconds=at_seconds,
        uptime_seconds=uptime_seconds,
        processors=processors,
        server_ticks=server_ticks if members else None,
        server_processes=len(members),
        kernel_ticks=kernel_ticks[0] if kernel_ticks else None,
        interfaces={name: (counts["rx_bytes"], counts["tx_bytes"]) for name, counts in interfaces.items()},
        disk_busy_seconds={name: busy / 1000 for name, busy in disk_milliseconds.items()},
        memory=_memory(sections.get("memory", ()), members),
        periods=_periods(sections.get("group", ())),
    )


def _processes(lines: Sequence[str]) -> dict[int, Process]:
    processes = {}
    for line in lines:
        pid = line.partition(" ")[0]
        process = parse_stat(line) if pid.isdecimal() else None
        if process:
            processes[int(pid)] = process
    return processes


def _memory(lines: Sequence[str], members: set[int]) -> ProcessMemory | None:
    """From lines such as ``/proc/12/smaps_rollup:Pss: 345 kB``; private pages, clean and dirty, add up to the USS."""
    uss_bytes = 0
    pss_bytes = 0
    counted_processes: set[int] = set()
    for line in lines:
        path, _, figure = line.partition(":")
        words = figure.split()
        parts = path.split("/")
        if len(parts) < 4 or not parts[2].isdecimal() or len(words) < 2 or not words[1].isdecimal():
            continue
        pid = int(parts[2])
        if pid not in members:
            continue

        counted_processes.add(pid)
        if words[0] == "Pss:":
            pss_bytes += 1024 * int(words[1])
        else:
            uss_bytes += 1024 * int(words[1])

    if not counted_processes:
        return None
    return ProcessMemory(uss_bytes=uss_bytes, pss_bytes=pss_bytes, processes=len(counted_processes))


def _periods(lines: Sequence[str]) -> tuple[int, int] | None:
    """Periods of the control group's quota, and those in which it was throttled; None without a quota."""
    counts = {}
    for line in lines:
        words = line.split()
        if len(words) == 2 and words[1].isdecimal():
            counts[words[0]] = int(words[1])
    if not counts.get("nr_periods"):
        return None
    return counts["nr_periods"], counts.get("nr_throttled", 0)
