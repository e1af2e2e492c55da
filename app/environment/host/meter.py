"""Current activity of this machine: processors, a network card, TCP retransmissions."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from app.environment.host.activity import Cpu, parse_cpu
from app.environment.host.procfs import SystemReader, read_text
from app.environment.link.counters import parse_interfaces, tcp_segments


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineNow:
    """Activity between two readings."""

    cpu_percent: float
    interface: str | None
    """The card asked about, or the busiest; absent if nothing moved."""
    received_bytes_per_second: float
    sent_bytes_per_second: float
    retransmitted: int
    """TCP retransmissions of all connections since the first reading."""


@dataclass(frozen=True, slots=True)
class _Counters:
    at_seconds: float
    cpu: Cpu
    bytes_of: dict[str, tuple[int, int]]
    retransmitted: int


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
        self._first = self._last = self._counters()

    def now(self) -> MachineNow | None:
        before, last = self._last, self._counters()
        self._last = last
        if before is None or last is None or self._first is None or last.at_seconds <= before.at_seconds:
            return None
        seconds = last.at_seconds - before.at_seconds
        ticks = max(1, last.cpu.total - before.cpu.total)
        busy = (last.cpu.working + last.cpu.interrupts) - (before.cpu.working + before.cpu.interrupts)
        moved = {
            name: (received - before.bytes_of[name][0], sent - before.bytes_of[name][1])
            for name, (received, sent) in last.bytes_of.items()
            if name in before.bytes_of
        }
        card = self._interface or max(moved, key=lambda name: sum(moved[name]), default=None)
        received, sent = moved.get(card, (0, 0)) if card else (0, 0)
        return MachineNow(
            cpu_percent=max(0.0, min(100.0, 100 * busy / ticks)),
            interface=card if received or sent else None,
            received_bytes_per_second=max(0, received) / seconds,
            sent_bytes_per_second=max(0, sent) / seconds,
            retransmitted=max(0, last.retransmitted - self._first.retransmitted),
        )

    def _counters(self) -> _Counters | None:
        cpu = parse_cpu(self._read("/proc/stat"))
        if cpu is None:
            return None
        interfaces = parse_interfaces(self._read("/proc/net/dev"))
        return _Counters(
            at_seconds=self._clock(),
            cpu=cpu,
            bytes_of={name: (at.get("rx_bytes", 0), at.get("tx_bytes", 0)) for name, at in interfaces.items()},
            retransmitted=tcp_segments(self._read("/proc/net/snmp"))[1],
        )
