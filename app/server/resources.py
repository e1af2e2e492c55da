"""What a machine does, second by second: processors, server processes and their memory, cards, disks.

``resources.sh`` prints counters; `parse_resources` makes a sample of them, and the other functions say what happened
between two samples. `app.server.samples` runs the script.
"""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.server.host_activity import ProcessorTicks, parse_cpu, parse_disks
from app.server.network_counters import parse_interfaces
from app.server.processes import Process, parse_stat, process_tree
from storage.records import Spread


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


def percents(
    pairs: Iterable[tuple[ResourceSample, ResourceSample]], ticks: Callable[[ResourceSample], int | None]
) -> list[float]:
    """In percent of all processors, by what the ticks grew between the samples of each pair.

    ``ticks`` takes them from a sample; pairs in which they are unknown are left out.
    """
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
    """In what share of the time between the samples each disk was at work."""
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
    """A sample of the sections' lines; None if not even the processors are reported. Raises ValueError.

    ``roots`` are the first processes of the server, so that others of the same name do not count; empty for all.
    """
    try:
        uptime_seconds = float(sections["uptime"][0].split()[0])
    except (KeyError, IndexError, ValueError):
        return None
    processors = parse_cpu("".join(sections.get("cpu", ())))
    if processors is None:
        return None

    processes = _processes(sections.get("processes", ()))
    members = process_tree(processes, roots) if roots else set(processes)
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
    """Of lines of ``/proc/PID/stat``, by number."""
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
