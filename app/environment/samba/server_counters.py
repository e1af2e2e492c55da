"""Counters of a server that is asked through ssh: what its CPUs, interfaces and TCP did between two answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.environment.host.activity import Cpu, parse_cpu
from app.environment.link.counters import parse_interfaces, tcp_segments
from app.server.shell import Answer
from storage.records import FactValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCounters:
    """A server's counters at one moment."""

    cpu: Cpu | None = None
    segments_sent: int = 0
    retransmitted: int = 0
    interfaces: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Counters by interface, by the kernel's names."""


def server_counters(answer: Answer) -> ServerCounters | None:
    """The counters in a server's answer; None where it could not be asked."""
    if answer.problem or not answer.file("/proc/net/dev"):
        return None
    sent, again = tcp_segments(answer.file("/proc/net/snmp"))
    return ServerCounters(
        cpu=parse_cpu(answer.file("/proc/stat")),
        segments_sent=sent,
        retransmitted=again,
        interfaces=parse_interfaces(answer.file("/proc/net/dev")),
    )


def busy_percent(first: Cpu | None, last: Cpu | None) -> float | None:
    """How busy all CPUs were from one moment to a later one, in percent; None where that is unknown."""
    if first is None or last is None or last.total <= first.total:
        return None
    worked = last.working + last.interrupts - first.working - first.interrupts
    return round(100 * worked / (last.total - first.total), 1)


def server_counter_facts(before: ServerCounters, after: ServerCounters, interface: str | None) -> dict[str, FactValue]:
    """What the server did during a series, as facts of the server.

    ``cpu.busy_percent_during``; ``interface.NAME.rx_bytes_during`` and ``.tx_bytes_during`` of every interface but
    the loopback that carried anything; ``link.errors_during`` and ``link.drops_during`` of the one that carries its
    answers; ``tcp.segments_sent_during`` and ``tcp.retransmitted_during``.
    """
    facts: dict[str, FactValue] = {
        "tcp.segments_sent_during": max(0, after.segments_sent - before.segments_sent),
        "tcp.retransmitted_during": max(0, after.retransmitted - before.retransmitted),
    }
    busy = busy_percent(before.cpu, after.cpu)
    if busy is not None:
        facts["cpu.busy_percent_during"] = busy
    for name, counts in after.interfaces.items():
        old = before.interfaces.get(name)
        if old is None or name == "lo":
            continue
        grown = {counter: max(0, value - old[counter]) for counter, value in counts.items()}
        if grown["rx_bytes"] or grown["tx_bytes"]:
            facts[f"interface.{name}.rx_bytes_during"] = grown["rx_bytes"]
            facts[f"interface.{name}.tx_bytes_during"] = grown["tx_bytes"]
        if name == interface:
            facts["link.errors_during"] = grown["rx_errors"] + grown["tx_errors"]
            facts["link.drops_during"] = grown["rx_dropped"] + grown["tx_dropped"]
    return facts
