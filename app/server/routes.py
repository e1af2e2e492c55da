"""Which interface and address of this machine lead to a host, and whether a host is this machine."""

import ipaddress
import json
import socket
from dataclasses import dataclass

from app.server.host_facts import run_text

ANY_PORT = 9
"""Discard (RFC 863): a route is the same for all ports, and nothing is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The way from this machine to a host."""

    address: str
    """The host's, a link-local one with its interface behind a percent sign."""
    local_address: str
    """That of this machine on the interface."""
    interface: str
    gateway: str | None = None
    """None if the host is on the link, or is this machine."""

    @property
    def ip_version(self) -> int:
        return ipaddress.ip_address(self.address.partition("%")[0]).version


def find_route(host: str, port: int | None = None) -> Route | None:
    """The kernel's choice, without sending a packet; None for an unknown name or without a route.

    The interface is, in this order: that of a link-local address; what ``ip route get`` says; or where that program is
    missing, the loopback or the interface that has our address.
    """
    try:
        candidates = socket.getaddrinfo(host, port or ANY_PORT, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        return None

    for family, kind, protocol, _, socket_address in candidates:
        try:
            # To connect a datagram socket sends nothing: the kernel only chooses our address for that way.
            with socket.socket(family, kind, protocol) as probe:
                probe.connect(socket_address)
                local = str(probe.getsockname()[0])
        except OSError:
            continue

        address = str(socket_address[0])
        interface = _scope(socket_address)
        gateway = None
        if interface is None:
            interface, gateway = _ask_kernel(address)
        if interface is None:
            interface = "lo" if is_own_address(address) else _interface_of(local)
        if interface is not None:
            return Route(address=address, local_address=local, interface=interface, gateway=gateway)
    return None


def is_this_machine(host: str) -> bool:
    """Whether one of the host's addresses is our own; False for an unknown name."""
    try:
        candidates = socket.getaddrinfo(host, None, type=socket.SOCK_DGRAM)
        return any(is_own_address(str(socket_address[0])) for *_, socket_address in candidates)
    except (OSError, UnicodeError):
        return False


def is_own_address(address: str) -> bool:
    bare = address.partition("%")[0]
    try:
        if ipaddress.ip_address(bare).is_loopback:
            return True
        family = socket.AF_INET6 if ":" in bare else socket.AF_INET
        socket_address = socket.getaddrinfo(address, 0, family, socket.SOCK_DGRAM)[0][4]
        # Only an address of this machine can be bound.
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind(socket_address)
    except (OSError, ValueError):
        return False
    return True


def _scope(socket_address: tuple[int | str | bytes, ...]) -> str | None:
    """The interface of a link-local IPv6 address, which its fourth part numbers; None for other addresses."""
    if len(socket_address) < 4 or not socket_address[3]:
        return None
    try:
        return socket.if_indextoname(int(socket_address[3]))
    except OSError:
        return None


def _ask_kernel(address: str) -> tuple[str | None, str | None]:
    """The interface and the gateway of the route there; None where ``ip`` does not say."""
    text = run_text("ip", "-j", "route", "get", address.partition("%")[0])
    try:
        first = json.loads(text or "[]")[0]
        return str(first["dev"]), first.get("gateway")
    except (ValueError, LookupError, TypeError):
        return None, None


def _interface_of(address: str) -> str | None:
    """The interface of this machine that has the address."""
    import psutil

    bare = address.partition("%")[0]
    for name, addresses in psutil.net_if_addrs().items():
        if any(address_of_card.address.partition("%")[0] == bare for address_of_card in addresses):
            return str(name)
    return None
