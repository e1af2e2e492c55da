"""What this machine's processors and network cards do now: shown on the screen while something is measured."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from app.server import network_counters
from app.server.host_activity import ProcessorTicks, parse_cpu
from app.server.host_facts import SystemReader, read_text


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineNow:
    """What this machine did since it was asked last."""

    cpu_percent: float
    """Of all processors together."""
    interface: str | None
    """The card asked about, or the busiest; None if nothing moved."""
    received_bytes_per_second: float
    sent_bytes_per_second: float
    retransmitted: int
    """TCP retransmissions of all connections since the first reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCounters:
    """A machine's counters at one moment, all since it was started."""

    at_seconds: float
    """By the clock that the reader names."""
    cpu: ProcessorTicks | None
    """None where the machine does not say."""
    segments_sent: int
    """TCP segments of all connections; so is the next."""
    retransmitted: int
    interfaces: Mapping[str, Mapping[str, int]]
    """The counters of each interface, as `parse_interfaces` reads them."""

    @classmethod
    def read(cls, read: SystemReader = read_text, at_seconds: float = 0.0) -> Self | None:
        """The counters now; None where the system has none."""
        interfaces = read("/proc/net/dev")
        if not interfaces:
            return None
        sent, retransmitted = network_counters.tcp_segments(read("/proc/net/snmp"))
        return cls(
            at_seconds=at_seconds,
            cpu=parse_cpu(read("/proc/stat")),
            segments_sent=sent,
            retransmitted=retransmitted,
            interfaces=network_counters.parse_interfaces(interfaces),
        )

    def moved_since(self, before: Self) -> dict[str, tuple[int, int]]:
        """Bytes received and sent, by interface."""
        moved = {}
        for name, counts in self.interfaces.items():
            if name in before.interfaces:
                counts_before = before.interfaces[name]
                received = counts["rx_bytes"] - counts_before["rx_bytes"]
                sent = counts["tx_bytes"] - counts_before["tx_bytes"]
                moved[name] = (received, sent)
        return moved


def busy_percent(first: ProcessorTicks | None, last: ProcessorTicks | None) -> float | None:
    """How busy all processors were in between; None where that is not known, or no tick has passed."""
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
        self._interface = interface
        self._read = read
        self._clock = clock
        self._first = MachineCounters.read(read, clock())
        self._last = self._first

    def now(self) -> MachineNow | None:
        """What happened since the last call; None where no tick has passed, or nothing is known."""
        before = self._last
        last = MachineCounters.read(self._read, self._clock())

        # Asked too soon: the next call still counts from the reading before.
        if before and last and before.cpu and last.cpu and last.cpu.total <= before.cpu.total:
            return None
        self._last = last
        if before is None or last is None or self._first is None or last.at_seconds <= before.at_seconds:
            return None

        seconds = last.at_seconds - before.at_seconds
        moved = last.moved_since(before)
        card = self._interface or _busiest(moved)
        received, sent = moved.get(card, (0, 0)) if card else (0, 0)
        return MachineNow(
            cpu_percent=max(0.0, busy_percent(before.cpu, last.cpu) or 0.0),
            interface=card if received or sent else None,
            received_bytes_per_second=max(0, received) / seconds,
            sent_bytes_per_second=max(0, sent) / seconds,
            retransmitted=max(0, last.retransmitted - self._first.retransmitted),
        )


def _busiest(moved: Mapping[str, tuple[int, int]]) -> str | None:
    """The interface that moved most; None where there is none."""
    busiest: str | None = None
    most_bytes = -math.inf
    for name, (received, sent) in moved.items():
        if received + sent > most_bytes:
            busiest = name
            most_bytes = received + sent
    return busiest
