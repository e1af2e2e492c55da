"""The route to a host: which interface it uses, and whether it leaves this machine."""

import ipaddress
import json
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass

from app.environment.host.procfs import read_text, run_text

ANY_PORT = 9
"""Discard (RFC 863); nothing is sent."""

_SIOCGIFADDR = 0x8915
"""Address of an interface (netdevice(7))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """First hop towards one address."""

    address: str
    local_address: str
    interface: str
    gateway: str | None = None
    """Absent if the target is on the link or on this machine."""

    @property
    def ip_version(self) -> int:
        return ipaddress.ip_address(self.address.partition("%")[0]).version


def find_route(host: str, port: int | None = None) -> Route | None:
    """The kernel's choice, without sending a packet; None for an unknown name or without a route."""
    try:
        candidates = socket.getaddrinfo(host, port or ANY_PORT, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        return None
    for family, kind, protocol, _, where in candidates:
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.connect(where)
                local = str(probe.getsockname()[0])
        except OSError:
            continue
        address = str(where[0])
        interface, gateway = _scope(where), None
        if interface is None:
            interface, gateway = _ask_kernel(address)
        if interface is None:
            interface = "lo" if is_own_address(address) else _interface_of(local)
        if interface is not None:
            return Route(address=address, local_address=local, interface=interface, gateway=gateway)
    return None


def is_this_machine(host: str) -> bool:
    """False if the name is unknown."""
    try:
        return any(
            is_own_address(str(where[0])) for *_, where in socket.getaddrinfo(host, None, type=socket.SOCK_DGRAM)
        )
    except (OSError, UnicodeError):
        return False


def is_own_address(address: str) -> bool:
    """Tested by binding a socket to it."""
    bare = address.partition("%")[0]
    try:
        if ipaddress.ip_address(bare).is_loopback:
            return True
        family = socket.AF_INET6 if ":" in bare else socket.AF_INET
        scope = socket.getaddrinfo(address, 0, family, socket.SOCK_DGRAM)[0][4]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind(scope)
    except (OSError, ValueError):
        return False
    return True


def _scope(where: tuple[int | str | bytes, ...]) -> str | None:
    """The interface after the percent sign of a link-local IPv6 address."""
    if len(where) < 4 or not where[3]:
        return None
    try:
        return socket.if_indextoname(int(where[3]))
    except OSError:
        return None


def _ask_kernel(address: str) -> tuple[str | None, str | None]:
    text = run_text("ip", "-j", "route", "get", address.partition("%")[0])
    try:
        first = json.loads(text or "[]")[0]
        return str(first["dev"]), first.get("gateway")
    except (ValueError, LookupError, TypeError):
        return None, None


def _interface_of(address: str) -> str | None:
    from fcntl import ioctl  # noqa: PLC0415  only POSIX systems have it

    bare = address.partition("%")[0]
    if ":" in bare:
        written = ipaddress.ip_address(bare).packed.hex()
        lines = (read_text("/proc/net/if_inet6") or "").splitlines()
        return next((line.split()[-1] for line in lines if line.startswith(written)), None)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # it has no address
                answer = ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()))
                if answer[20:24] == socket.inet_aton(bare):
                    return name
    return None
