"""What an audit finds out of the way to a server by itself, and the facts that follow from others."""

import socket
import time
from collections.abc import Mapping

from app.clients.tcp_info import TcpInfo
from forms.findings.path import FAR_SECONDS
from storage.records import FactValue, Target

_CONNECT_SECONDS = 3


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
    with socket.socket(family, kind, protocol) as probe:
        probe.settimeout(_CONNECT_SECONDS)
        try:
            probe.connect(address)
        except OSError:
            return facts
        connection = TcpInfo.of_socket(probe)

    if connection and connection.round_trip_seconds is not None:
        facts["path.far"] = "yes" if connection.round_trip_seconds >= FAR_SECONDS else "no"
    return facts


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
