"""The kernel's counters of an interface and of TCP, and what a measurement added to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from app.server.host_facts import SystemReader, read_int, read_text, whole_number
from storage.records import FactValue

ERROR_COUNTERS = ("rx_errors", "tx_errors")
DROP_COUNTERS = ("rx_dropped", "tx_dropped")
DETAIL_COUNTERS = ("rx_crc_errors", "rx_missed_errors", "tx_carrier_errors", "collisions")
"""Drivers count most of them among errors and drops too, so they are not added up."""
_TRAFFIC = ("rx_bytes", "tx_bytes", "rx_packets", "tx_packets")
INTERFACE_COLUMNS = {
    "rx_bytes": 0,
    "rx_packets": 1,
    "rx_errors": 2,
    "rx_dropped": 3,
    "tx_bytes": 8,
    "tx_packets": 9,
    "tx_errors": 10,
    "tx_dropped": 11,
}
"""Where a line of /proc/net/dev has them, behind the interface's name."""
TCP_COUNTERS = {
    "segments_sent": ("Tcp:", "OutSegs"),
    "retransmitted": ("Tcp:", "RetransSegs"),
    "segments_received": ("Tcp:", "InSegs"),
    "out_of_order": ("TcpExt:", "TCPOFOQueue"),
    "duplicates": ("TcpExt:", "TCPDSACKOldSent"),
}
"""In which table of /proc/net/snmp or /proc/net/netstat they are, and under which name, by our word for them."""
_ALL = (*ERROR_COUNTERS, *DROP_COUNTERS, *DETAIL_COUNTERS, *_TRAFFIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCounters:
    """The counters of an interface, and of TCP, at one moment."""

    interface: str
    interface_counts: Mapping[str, int] = field(default_factory=dict)
    """By the kernel's names; since the interface came up."""
    tcp_counts: Mapping[str, int] = field(default_factory=dict)
    """By the names of :data:`TCP_COUNTERS`, of all connections of this machine."""

    @classmethod
    def snapshot(cls, interface: str, read: SystemReader = read_text) -> Self:
        folder = f"/sys/class/net/{interface}/statistics"
        counts = {}
        for name in _ALL:
            count = read_int(f"{folder}/{name}", read)
            if count is not None:
                counts[name] = count
        return cls(interface=interface, interface_counts=counts, tcp_counts=tcp_counts(read))

    def since(self, before: "LinkCounters") -> dict[str, int]:
        """What came to each counter that both have; a counter that was set back grew by nothing."""
        counts = {**self.interface_counts, **self.tcp_counts}
        counts_before = {**before.interface_counts, **before.tcp_counts}
        return {name: max(0, counts[name] - old) for name, old in counts_before.items() if name in counts}


def tcp_counts(read: SystemReader = read_text) -> dict[str, int]:
    """Of this network namespace, by the names of :data:`TCP_COUNTERS`."""
    tables = {"Tcp:": _table(read("/proc/net/snmp"), "Tcp:"), "TcpExt:": _table(read("/proc/net/netstat"), "TcpExt:")}
    counts = {name: whole_number([tables[table].get(column, "")]) for name, (table, column) in TCP_COUNTERS.items()}
    return {name: count for name, count in counts.items() if count is not None}


def _table(text: str | None, name: str) -> dict[str, str]:
    """A table of the kernel's that has two lines, the names and the counts, each behind the table's name."""
    lines = [line.split() for line in (text or "").splitlines() if line.startswith(name)]
    return dict(zip(lines[0], lines[1], strict=False)) if len(lines) >= 2 else {}


def tcp_segments(snmp: str | None) -> tuple[int, int]:
    """The numbers of segments that were sent, and sent again."""
    table = _table(snmp, "Tcp:")
    return whole_number([table.get("OutSegs", "")]) or 0, whole_number([table.get("RetransSegs", "")]) or 0


def parse_interfaces(text: str | None) -> dict[str, dict[str, int]]:
    """The counters in the text of /proc/net/dev, by interface."""
    interfaces: dict[str, dict[str, int]] = {}
    for line in (text or "").splitlines():
        name, colon, counts = line.partition(":")
        fields = counts.split()
        if colon and len(fields) >= 16 and all(field.isdecimal() for field in fields):
            interfaces[name.strip()] = {counter: int(fields[column]) for counter, column in INTERFACE_COLUMNS.items()}
    return interfaces


def counter_facts(before: LinkCounters, after: LinkCounters) -> dict[str, FactValue]:
    """Facts of the link during a series: errors and drops before, and what came to each counter meanwhile.

    TCP's are those of the whole machine.
    """
    grown = after.since(before)
    facts: dict[str, FactValue] = {}
    for word, names in (("errors", ERROR_COUNTERS), ("drops", DROP_COUNTERS)):
        if any(name in before.interface_counts for name in names):
            facts[f"link.{word}_before"] = sum(before.interface_counts.get(name, 0) for name in names)
            facts[f"link.{word}_during"] = sum(grown.get(name, 0) for name in names)

    for name in _ALL:
        if name in grown:
            facts[f"link.{name}_during"] = grown[name]
    for name in TCP_COUNTERS:
        if name in grown:
            facts[f"tcp.{name}_during"] = grown[name]
    return facts
