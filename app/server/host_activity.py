"""Activity of this machine: readings of its counters, and samples of what happened in between."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Self

from app.server import link_facts
from app.server.host_facts import Ours, SystemReader, all_processes, kernel_ticks, read_text, whole_number

_NO_DISKS = re.compile(r"(loop|ram|zram|dm-|md|sr|fd|nbd)\d*$")

FORWARD_SLACK = 0.001
"""Share by which our transfer may exceed its content and its blocks' headers on the link."""
BLOCK_HEADER_BYTES = 180
"""Upper bound of what SMB2 adds to a block: prefix, header, write request, transform header (MS-SMB2 2.2)."""
BACKWARD_SHARE = 0.005
"""Our transfer's traffic in the other direction, without TCP and IP headers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorTicks:
    """Clock ticks of all processors since boot, and the threads that are runnable now."""

    user: int = 0
    system: int = 0
    idle: int = 0
    stolen: int = 0
    interrupts: int = 0
    """The part of ``system`` that served interrupts, on anybody's behalf."""
    runnable: int = 0

    @property
    def total(self) -> int:
        return self.user + self.system + self.idle + self.stolen

    @property
    def busy(self) -> int:
        return self.user + self.system


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Counters at one moment, by the monotonic clock."""

    at_seconds: float
    cpu: ProcessorTicks
    our_ticks: int
    kernel_ticks: int
    rx_bytes: int
    tx_bytes: int
    rx_packets: int
    tx_packets: int
    disk_milliseconds: Mapping[str, int]
    segments_sent: int
    retransmitted: int
    moved_bytes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What identifies our own bytes on a link."""

    interface: str | None = None
    loopback: bool = False
    mtu_bytes: int = 1500
    bits_per_second: int | None = None
    ip_version: int = 4
    timestamps: bool = True
    block_bytes: int | None = None

    @property
    def header_bytes(self) -> int:
        tcp = link_facts.TCP_HEADER_BYTES + (link_facts.TCP_TIMESTAMP_BYTES if self.timestamps else 0)
        return link_facts.ETHERNET_HEADER_BYTES + link_facts.IP_HEADER_BYTES[self.ip_version] + tcp


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Activity of one period; CPU percentages are of the whole machine."""

    seconds: float
    cpu_percent: float
    user_percent: float = 0.0
    others_cpu_percent: float
    stolen_percent: float
    run_queue: float
    others_link_bytes: float
    our_bytes: float
    disk_percent: float
    segments_sent: int
    retransmitted: int


def take_reading(wire: Wire, ours: Ours) -> Reading | None:
    cpu = parse_cpu(read_text("/proc/stat"))
    if cpu is None:
        return None
    processes = all_processes()
    counts = link_facts.parse_interfaces(read_text("/proc/net/dev")).get(wire.interface or "", {})
    sent, again = link_facts.tcp_segments(read_text("/proc/net/snmp"))
    return Reading(
        at_seconds=time.monotonic(),
        cpu=cpu,
        our_ticks=ours.ticks(processes),
        kernel_ticks=kernel_ticks(processes),
        **{name: counts.get(name, 0) for name in ("rx_bytes", "tx_bytes", "rx_packets", "tx_packets")},
        disk_milliseconds=parse_disks(read_text("/proc/diskstats")),
        segments_sent=sent,
        retransmitted=again,
    )


def parse_cpu(stat: str | None) -> ProcessorTicks | None:
    lines = (stat or "").splitlines()
    fields = lines[0].split() if lines else []
    if len(fields) < 9 or fields[0] != "cpu" or not all(field.isdecimal() for field in fields[1:9]):
        return None
    user, nice, system, idle, waiting, interrupt, soft, stolen = (int(field) for field in fields[1:9])
    runnable = next((whole_number(line.split()[1:]) for line in lines if line.startswith("procs_running")), 0)
    return ProcessorTicks(
        user=user + nice,
        system=system + interrupt + soft,
        idle=idle + waiting,
        stolen=stolen,
        interrupts=interrupt + soft,
        runnable=runnable or 0,
    )


def parse_disks(diskstats: str | None) -> dict[str, int]:
    """Busy milliseconds by disk (Documentation/admin-guide/iostats); no partitions, loop, memory or layered devices."""
    found: dict[str, int] = {}
    for row in (line.split() for line in (diskstats or "").splitlines()):
        is_disk = len(row) > 12 and row[12].isdecimal() and not _NO_DISKS.match(row[2])
        if is_disk and not any(row[2].startswith(disk) for disk in found):
            found[row[2]] = int(row[12])
    return found


def between(first: Reading, last: Reading, wire: Wire, *, receiving: bool = True) -> Sample:
    """``receiving`` means that our content comes in (a get)."""
    seconds = max(last.at_seconds - first.at_seconds, 1e-6)
    total = _total_ticks(first, last)
    disks = [busy - first.disk_milliseconds.get(name, busy) for name, busy in last.disk_milliseconds.items()]
    return Sample(
        seconds=seconds,
        cpu_percent=100 * (last.cpu.busy - first.cpu.busy) / total,
        user_percent=100 * (last.cpu.user - first.cpu.user) / total,
        others_cpu_percent=100 * max(0, _ticks_beyond(first, last)) / total,
        stolen_percent=100 * (last.cpu.stolen - first.cpu.stolen) / total,
        run_queue=max(0, last.cpu.runnable - 1),
        others_link_bytes=sum(max(0.0, excess) for excess in _excesses(first, last, wire, receiving=receiving)),
        our_bytes=last.moved_bytes - first.moved_bytes,
        disk_percent=min(100.0, max(disks, default=0) / (10 * seconds)),
        segments_sent=max(0, last.segments_sent - first.segments_sent),
        retransmitted=max(0, last.retransmitted - first.retransmitted),
    )


def samples_of_run(readings: Sequence[Reading], wire: Wire, *, receiving: bool) -> list[Sample]:
    """Our bytes, the link's and processor time are counted at different moments (read-ahead, queues): an excess counts
    as others' only as far as no later period makes up for it.
    """
    pairs = list(pairwise(readings))
    samples = [between(first, last, wire, receiving=receiving) for first, last in pairs]
    excesses = [_excesses(first, last, wire, receiving=receiving) for first, last in pairs]
    directions = [_never_taken_back(column) for column in zip(*excesses, strict=True)]
    others = (sum(parts) for parts in zip(*directions, strict=True))
    ticks = _never_taken_back([_ticks_beyond(first, last) for first, last in pairs])
    shares = [100 * more / _total_ticks(first, last) for more, (first, last) in zip(ticks, pairs, strict=True)]
    return [
        replace(sample, others_link_bytes=more, others_cpu_percent=share)
        for sample, more, share in zip(samples, others, shares, strict=True)
    ]


def _total_ticks(first: Reading, last: Reading) -> int:
    return max(last.cpu.total - first.cpu.total, 1)


def _ticks_beyond(first: Reading, last: Reading) -> int:
    ours = max(0, last.our_ticks - first.our_ticks)
    kernel = max(0, last.kernel_ticks - first.kernel_ticks)
    working = (last.cpu.busy - last.cpu.interrupts) - (first.cpu.busy - first.cpu.interrupts)
    return working - ours - kernel


def _never_taken_back(excesses: Sequence[float]) -> list[float]:
    reached = list(accumulate(excesses))
    kept = list(accumulate(reversed(reached), min))[::-1]
    return [max(0.0, now) - max(0.0, before) for before, now in pairwise([0.0, *kept])]


def _excesses(first: Reading, last: Reading, wire: Wire, *, receiving: bool) -> tuple[float, float]:
    """Payload in and against our direction, less our own transfer.

    Headers are subtracted by packet count, since some drivers count several frames as one. On the loopback everything
    is both sent and received, so one direction counts.
    """
    came = max(0, last.rx_bytes - first.rx_bytes) - wire.header_bytes * max(0, last.rx_packets - first.rx_packets)
    went = max(0, last.tx_bytes - first.tx_bytes) - wire.header_bytes * max(0, last.tx_packets - first.tx_packets)
    content = last.moved_bytes - first.moved_bytes
    headers = BLOCK_HEADER_BYTES / wire.block_bytes if wire.block_bytes else 0.0
    forward, backward = content * (1 + FORWARD_SLACK + headers), content * BACKWARD_SHARE
    if wire.loopback:
        return came - forward - backward, 0.0
    again = 0 if receiving else wire.mtu_bytes * max(0, last.retransmitted - first.retransmitted)
    with_us, against_us = (came, went) if receiving else (went, came)
    return with_us - forward - again, against_us - backward


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineNow:
    cpu_percent: float
    interface: str | None
    """The card asked about, or the busiest; absent if nothing moved."""
    received_bytes_per_second: float
    sent_bytes_per_second: float
    retransmitted: int
    """TCP retransmissions of all connections since the first reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCounters:
    at_seconds: float
    cpu: ProcessorTicks | None
    segments_sent: int
    retransmitted: int
    interfaces: Mapping[str, Mapping[str, int]]

    @classmethod
    def read(cls, read: SystemReader = read_text, at_seconds: float = 0.0) -> Self | None:
        if not (interfaces := read("/proc/net/dev")):
            return None
        sent, again = link_facts.tcp_segments(read("/proc/net/snmp"))
        return cls(
            at_seconds=at_seconds,
            cpu=parse_cpu(read("/proc/stat")),
            segments_sent=sent,
            retransmitted=again,
            interfaces=link_facts.parse_interfaces(interfaces),
        )

    def moved_since(self, before: Self) -> dict[str, tuple[int, int]]:
        old = before.interfaces
        return {
            name: (now["rx_bytes"] - old[name]["rx_bytes"], now["tx_bytes"] - old[name]["tx_bytes"])
            for name, now in self.interfaces.items()
            if name in old
        }


def busy_percent(first: ProcessorTicks | None, last: ProcessorTicks | None) -> float | None:
    if first is None or last is None or last.total <= first.total:
        return None
    return round(100 * (last.busy - first.busy) / (last.total - first.total), 1)


class MachineMeter:
    """Reads three small files of /proc, a few hundred microseconds each time."""

    def __init__(
        self,
        interface: str | None = None,
        *,
        read: SystemReader = read_text,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._interface, self._read, self._clock = interface, read, clock
        self._first = self._last = MachineCounters.read(read, clock())

    def now(self) -> MachineNow | None:
        before, last = self._last, MachineCounters.read(self._read, self._clock())
        if before and last and before.cpu and last.cpu and last.cpu.total <= before.cpu.total:
            return None  # no tick has passed
        self._last = last
        if before is None or last is None or self._first is None or last.at_seconds <= before.at_seconds:
            return None
        seconds, moved = last.at_seconds - before.at_seconds, last.moved_since(before)
        card = self._interface or max(moved, key=lambda name: sum(moved[name]), default=None)
        received, sent = moved.get(card, (0, 0)) if card else (0, 0)
        return MachineNow(
            cpu_percent=max(0.0, busy_percent(before.cpu, last.cpu) or 0.0),
            interface=card if received or sent else None,
            received_bytes_per_second=max(0, received) / seconds,
            sent_bytes_per_second=max(0, sent) / seconds,
            retransmitted=max(0, last.retransmitted - self._first.retransmitted),
        )
