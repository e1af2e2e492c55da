"""Activity of this machine that is not ours: readings of its counters, and samples of what happened between two.

A reading has counters that only grow. A sample says of one period how busy the machine was, and how much of that
others did: all processor time that was neither ours, the kernel's nor interrupts', and all bytes on the link beyond our
own transfer's. `app.server.quiet_watch` takes the readings, `app.server.quiet_time` judges the samples.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from app.server import link_facts, network_counters
from app.server.host_facts import read_text, whole_number
from app.server.processes import Ours, all_processes, kernel_ticks

_NO_DISKS = re.compile(r"(loop|ram|zram|dm-|md|sr|fd|nbd)\d*$")
"""Names of block devices that are no disks, or are made of disks that are counted themselves."""

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
    """Of this program, and of a server on this machine."""
    kernel_ticks: int
    """Of the kernel's own threads."""
    rx_bytes: int
    """Of the interface that the transfer uses; so are the next three."""
    tx_bytes: int
    rx_packets: int
    tx_packets: int
    disk_milliseconds: Mapping[str, int]
    segments_sent: int
    """TCP segments of all connections; so is the next."""
    retransmitted: int
    moved_bytes: float = 0.0
    """Content of our transfer until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What must be known of a link to tell our own bytes on it from those of others."""

    interface: str | None = None
    """None where no link is used, as with a local path."""
    loopback: bool = False
    mtu_bytes: int = 1500
    bits_per_second: int | None = None
    """None where the link's speed is not known."""
    ip_version: int = 4
    timestamps: bool = True
    """TCP's, which lengthen each header."""
    block_bytes: int | None = None
    """Content of one SMB request; None where blocks have no headers."""

    @property
    def header_bytes(self) -> int:
        """The headers of Ethernet, IP and TCP in one packet."""
        tcp = link_facts.TCP_HEADER_BYTES + (link_facts.TCP_TIMESTAMP_BYTES if self.timestamps else 0)
        return link_facts.ETHERNET_HEADER_BYTES + link_facts.IP_HEADER_BYTES[self.ip_version] + tcp


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Activity of one period; CPU percentages are of the whole machine."""

    seconds: float
    """How long the period was."""
    cpu_percent: float
    user_percent: float = 0.0
    others_cpu_percent: float
    stolen_percent: float
    """What the hypervisor gave to other machines."""
    run_queue: float
    """Threads that could run, without the one that reads this."""
    others_link_bytes: float
    """Without headers, in both directions."""
    our_bytes: float
    """Content that our transfer moved."""
    disk_percent: float
    """Of the busiest disk's time."""
    segments_sent: int
    retransmitted: int


def take_reading(wire: Wire, ours: Ours) -> Reading | None:
    """The counters now, those of our own processes among them; None where the system has none."""
    cpu = parse_cpu(read_text("/proc/stat"))
    if cpu is None:
        return None

    processes = all_processes()
    counts = network_counters.parse_interfaces(read_text("/proc/net/dev")).get(wire.interface or "", {})
    sent, retransmitted = network_counters.tcp_segments(read_text("/proc/net/snmp"))
    return Reading(
        at_seconds=time.monotonic(),
        cpu=cpu,
        our_ticks=ours.ticks(processes),
        kernel_ticks=kernel_ticks(processes),
        rx_bytes=counts.get("rx_bytes", 0),
        tx_bytes=counts.get("tx_bytes", 0),
        rx_packets=counts.get("rx_packets", 0),
        tx_packets=counts.get("tx_packets", 0),
        disk_milliseconds=parse_disks(read_text("/proc/diskstats")),
        segments_sent=sent,
        retransmitted=retransmitted,
    )


def parse_cpu(stat: str | None) -> ProcessorTicks | None:
    """From the text of /proc/stat, whose first line is of all processors; None where it says nothing."""
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
    busy_milliseconds: dict[str, int] = {}
    for line in (diskstats or "").splitlines():
        columns = line.split()
        if len(columns) <= 12 or not columns[12].isdecimal():
            continue

        name = columns[2]
        # A disk's partitions follow it, and their names begin with its own.
        is_partition = any(name.startswith(disk) for disk in busy_milliseconds)
        if not is_partition and not _NO_DISKS.match(name):
            busy_milliseconds[name] = int(columns[12])
    return busy_milliseconds


def sample_between(first: Reading, last: Reading, wire: Wire, *, receiving: bool = True) -> Sample:
    """What happened between two readings; ``receiving`` means that our content comes in (a get)."""
    seconds = max(last.at_seconds - first.at_seconds, 1e-6)
    total = _total_ticks(first, last)
    excesses = _excesses(first, last, wire, receiving=receiving)
    disk_growths = [busy - first.disk_milliseconds.get(name, busy) for name, busy in last.disk_milliseconds.items()]

    return Sample(
        seconds=seconds,
        cpu_percent=100 * (last.cpu.busy - first.cpu.busy) / total,
        user_percent=100 * (last.cpu.user - first.cpu.user) / total,
        others_cpu_percent=100 * max(0, _ticks_beyond(first, last)) / total,
        stolen_percent=100 * (last.cpu.stolen - first.cpu.stolen) / total,
        run_queue=max(0, last.cpu.runnable - 1),  # the one that reads this
        others_link_bytes=sum(max(0.0, excess) for excess in excesses),
        our_bytes=last.moved_bytes - first.moved_bytes,
        # 100 * milliseconds / (1000 * seconds)
        disk_percent=min(100.0, max(disk_growths, default=0) / (10 * seconds)),
        segments_sent=max(0, last.segments_sent - first.segments_sent),
        retransmitted=max(0, last.retransmitted - first.retransmitted),
    )


def samples_of_run(readings: Sequence[Reading], wire: Wire, *, receiving: bool) -> list[Sample]:
    """The samples between the readings of one run.

    Our bytes, the link's and processor time are counted at different moments, because of read-ahead and queues. So what
    seems to be others' activity in one period may be ours, and is then missing in a later one: only what no later
    period makes up for counts as theirs.
    """
    pairs = list(pairwise(readings))
    excesses = [_excesses(first, last, wire, receiving=receiving) for first, last in pairs]
    excesses_with_us = _never_taken_back([with_us for with_us, _ in excesses])
    excesses_against_us = _never_taken_back([against_us for _, against_us in excesses])
    ticks = _never_taken_back([_ticks_beyond(first, last) for first, last in pairs])

    samples = []
    for index, (first, last) in enumerate(pairs):
        samples.append(
            replace(
                sample_between(first, last, wire, receiving=receiving),
                others_link_bytes=excesses_with_us[index] + excesses_against_us[index],
                others_cpu_percent=100 * ticks[index] / _total_ticks(first, last),
            )
        )
    return samples


def _total_ticks(first: Reading, last: Reading) -> int:
    return max(last.cpu.total - first.cpu.total, 1)


def _ticks_beyond(first: Reading, last: Reading) -> int:
    """Ticks that others worked: all that was neither ours, the kernel's nor interrupts'.

    Below 0 where ours of an earlier period were counted late.
    """
    ours = max(0, last.our_ticks - first.our_ticks)
    kernel = max(0, last.kernel_ticks - first.kernel_ticks)
    working = (last.cpu.busy - last.cpu.interrupts) - (first.cpu.busy - first.cpu.interrupts)
    return working - ours - kernel


def _never_taken_back(excesses: Sequence[float]) -> list[float]:
    """What remains of each excess once the later ones that are negative are taken from it.

    Of the sum up to each period, as much lasts as its lowest later value; what that grew by is the period's own.
    """
    totals = list(accumulate(excesses))
    lowest_from_here = list(accumulate(reversed(totals), min))[::-1]
    return [max(0.0, now) - max(0.0, before) for before, now in pairwise([0.0, *lowest_from_here])]


def _excesses(first: Reading, last: Reading, wire: Wire, *, receiving: bool) -> tuple[float, float]:
    """Payload on the link in the direction of our content, and against it, each less our own transfer's.

    payload = bytes - headers * packets, by the interface's count of packets, since some drivers count several frames as
    one. Of our own transfer, its content counts with the headers of its blocks, and a small share of it for the answers
    in the other direction. On the loopback everything is both sent and received, so one direction has both.
    """
    received = max(0, last.rx_bytes - first.rx_bytes) - wire.header_bytes * max(0, last.rx_packets - first.rx_packets)
    sent = max(0, last.tx_bytes - first.tx_bytes) - wire.header_bytes * max(0, last.tx_packets - first.tx_packets)

    content = last.moved_bytes - first.moved_bytes
    header_share = BLOCK_HEADER_BYTES / wire.block_bytes if wire.block_bytes else 0.0
    our_forward = content * (1 + FORWARD_SLACK + header_share)
    our_backward = content * BACKWARD_SHARE
    if wire.loopback:
        return received - our_forward - our_backward, 0.0
    if receiving:
        return received - our_forward, sent - our_backward

    sent_again = wire.mtu_bytes * max(0, last.retransmitted - first.retransmitted)
    return sent - our_forward - sent_again, received - our_backward
