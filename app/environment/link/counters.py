"""Counters of a link and of this machine's TCP; two snapshots give the difference."""

from dataclasses import dataclass, field
from typing import Self

from app.environment.host.facts import SystemReader, read_int, read_text, whole_number
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
TCP_COUNTERS = {
    "segments_sent": ("Tcp:", "OutSegs"),
    "retransmitted": ("Tcp:", "RetransSegs"),
    "segments_received": ("Tcp:", "InSegs"),
    "out_of_order": ("TcpExt:", "TCPOFOQueue"),
    "duplicates": ("TcpExt:", "TCPDSACKOldSent"),
}
"""Where /proc/net/snmp and /proc/net/netstat have them."""
_ALL = (*ERROR_COUNTERS, *DROP_COUNTERS, *DETAIL_COUNTERS, *_TRAFFIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCounters:
    """Counters of one interface and of TCP on the whole machine."""

    interface: str
    interface_counts: dict[str, int] = field(default_factory=dict)
    """Kernel names; since the interface came up."""
    tcp_counts: dict[str, int] = field(default_factory=dict)
    """By the names of :data:`TCP_COUNTERS`."""

    @classmethod
    def snapshot(cls, interface: str, read: SystemReader = read_text) -> Self:
        """Counters that the system lacks are left out."""
        folder = f"/sys/class/net/{interface}/statistics"
        counts = {name: value for name in _ALL if (value := read_int(f"{folder}/{name}", read)) is not None}
        return cls(interface=interface, interface_counts=counts, tcp_counts=tcp_counts(read))

    def since(self, before: "LinkCounters") -> dict[str, int]:
        """Never below zero."""
        counts = self.interface_counts
        grown = {name: counts[name] - old for name, old in before.interface_counts.items() if name in counts}
        told = {name: self.tcp_counts[name] - old for name, old in before.tcp_counts.items() if name in self.tcp_counts}
        return {name: max(0, value) for name, value in (grown | told).items()}


def tcp_counts(read: SystemReader = read_text) -> dict[str, int]:
    """Of this network namespace, by the names of :data:`TCP_COUNTERS`."""
    tables = {"Tcp:": _table(read("/proc/net/snmp"), "Tcp:"), "TcpExt:": _table(read("/proc/net/netstat"), "TcpExt:")}
    found = {name: whole_number([tables[table].get(column, "")]) for name, (table, column) in TCP_COUNTERS.items()}
    return {name: value for name, value in found.items() if value is not None}


def _table(text: str | None, name: str) -> dict[str, str]:
    lines = [line.split() for line in (text or "").splitlines() if line.startswith(name)]
    return dict(zip(lines[0], lines[1], strict=False)) if len(lines) >= 2 else {}


def tcp_segments(snmp: str | None) -> tuple[int, int]:
    """Segments sent and retransmitted, from /proc/net/snmp; (0, 0) without it."""
    table = _table(snmp, "Tcp:")
    return whole_number([table.get("OutSegs", "")]) or 0, whole_number([table.get("RetransSegs", "")]) or 0


def parse_interfaces(text: str | None) -> dict[str, dict[str, int]]:
    """/proc/net/dev by interface, of the reader's network namespace."""
    found: dict[str, dict[str, int]] = {}
    for line in (text or "").splitlines():
        name, colon, rest = line.partition(":")
        fields = rest.split()
        if colon and len(fields) >= 16 and all(field.isdecimal() for field in fields):
            found[name.strip()] = {counter: int(fields[column]) for counter, column in INTERFACE_COLUMNS.items()}
    return found


def counter_facts(before: LinkCounters, after: LinkCounters) -> dict[str, FactValue]:
    """Facts of the link during a series.

    ``link.errors_before`` and ``link.drops_before`` are totals since the interface came up; ``link.NAME_during`` are
    increases. ``tcp.segments_sent_during``, ``tcp.retransmitted_during``, ``tcp.segments_received_during``,
    ``tcp.out_of_order_during`` and ``tcp.duplicates_during`` count all connections of this machine.
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
    return facts | {f"tcp.{name}_during": grown[name] for name in TCP_COUNTERS if name in grown}
