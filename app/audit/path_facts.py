"""What an audit finds out of the way to a server by itself, and the facts that follow from others."""

import socket
import time
from collections.abc import Mapping
from typing import Any

from app.clients.tcp_info import TcpInfo
from forms.findings.path import FAR_SECONDS
from storage.records import FactValue, Target

_CONNECT_SECONDS = 3
_LOOKS = 3
"""How many connections must all be slow for a server to be far: a busy machine makes one slow."""


def path_facts(target: Target) -> dict[str, FactValue]:
    """``lookup.seconds``, of a name, and ``path.far``, by the round trip that the kernel saw."""
    begun = time.monotonic()
    try:
        addresses = socket.getaddrinfo(target.host, target.port_number, type=socket.SOCK_STREAM)
    except OSError:
        return {}
    seconds = round(time.monotonic() - begun, 3)

    family, kind, protocol, _, address = addresses[0]
    facts: dict[str, FactValue] = {}
    if address[0] != target.host:
        facts["lookup.seconds"] = seconds
    round_trips: list[float] = []
    for _ in range(_LOOKS):
        round_trip = _round_trip_seconds(family, kind, protocol, address)
        if round_trip is None:
            break
        round_trips.append(round_trip)
        if round_trip < FAR_SECONDS:
            break
    if round_trips:
        facts["path.far"] = "yes" if min(round_trips) >= FAR_SECONDS else "no"
    return facts


def _round_trip_seconds(family: int, kind: int, protocol: int, address: Any) -> float | None:
    """Of a connection of its own, as the kernel saw it; None where there is none."""
    with socket.socket(family, kind, protocol) as probe:
        probe.settimeout(_CONNECT_SECONDS)
        try:
            probe.connect(address)
        except OSError:
            return None
        connection = TcpInfo.of_socket(probe)
    return connection.round_trip_seconds if connection else None


def derived_facts(facts: Mapping[str, FactValue]) -> dict[str, FactValue]:
    """The share of the file system that is free, and by how much the path's MTU is smaller than the link's."""
    derived: dict[str, FactValue] = {}
    size = facts.get("filesystem.size_bytes")
    free = facts.get("filesystem.free_bytes")
    if isinstance(size, int) and isinstance(free, int) and size > 0:
        derived["filesystem.free_percent"] = round(100 * free / size, 1)

    link_mtu = facts.get("link.mtu_bytes")
    path_mtu = facts.get("mtu.path_bytes")
    is_loopback = facts.get("link.interface") == "lo"
    if isinstance(link_mtu, int) and isinstance(path_mtu, int) and not is_loopback:
        derived["mtu.lost_bytes"] = max(0, link_mtu - path_mtu)
    return derived
