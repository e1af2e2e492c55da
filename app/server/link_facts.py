"""The route and the link to a target: interface, speed, duplex, MTU, driver, shaper, and its counters."""

import array
import ipaddress
import json
import os
import socket
import struct
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, Self

from app.server.host_facts import SystemReader, read_int, read_text, run_text, whole_number
from storage.records import FactValue

ANY_PORT = 9
"""Discard (RFC 863): a route is the same for all ports, and nothing is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
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

    for family, kind, protocol, _, socket_address in candidates:
        try:
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
    """The interface after the percent sign of a link-local IPv6 address."""
    if len(socket_address) < 4 or not socket_address[3]:
        return None
    try:
        return socket.if_indextoname(int(socket_address[3]))
    except OSError:
        return None


def _ask_kernel(address: str) -> tuple[str | None, str | None]:
    """The interface and the gateway of the route there."""
    text = run_text("ip", "-j", "route", "get", address.partition("%")[0])
    try:
        first = json.loads(text or "[]")[0]
        return str(first["dev"]), first.get("gateway")
    except (ValueError, LookupError, TypeError):
        return None, None


def _interface_of(address: str) -> str | None:
    import psutil

    bare = address.partition("%")[0]
    for name, addresses in psutil.net_if_addrs().items():
        if any(address_of_card.address.partition("%")[0] == bare for address_of_card in addresses):
            return str(name)
    return None


_RATE_KEYS = {"tbf": "rate", "cake": "bandwidth", "netem": "rate"}
_SHAPING = {*_RATE_KEYS, "htb", "hfsc", "cbq"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaper:
    """A queueing discipline that limits or delays outgoing traffic."""

    kind: str
    bits_per_second: int | None
    """Absent if set per class, or if only delay is added."""


def parse_shaper(text: str | None) -> Shaper | None:
    """The slowest shaper in ``tc -j qdisc show``, whose rates are bytes per second."""
    try:
        disciplines: list[dict[str, Any]] = json.loads(text or "[]")
        shapers = [_shaper(discipline) for discipline in disciplines if discipline.get("kind") in _SHAPING]
    except (ValueError, AttributeError, TypeError):
        return None

    with_rate = [shaper for shaper in shapers if shaper.bits_per_second]
    if not with_rate:
        return shapers[0] if shapers else None
    return min(with_rate, key=attrgetter("bits_per_second"))


def _shaper(discipline: dict[str, Any]) -> Shaper:
    kind = str(discipline["kind"])
    # tc prints bytes per second, some versions inside an object of its own.
    rate = discipline.get("options", {}).get(_RATE_KEYS.get(kind, ""))
    if isinstance(rate, dict):
        rate = rate.get("rate")
    return Shaper(kind=kind, bits_per_second=8 * rate if isinstance(rate, int) and rate > 0 else None)


SIOCETHTOOL = 0x8946
GET_DRIVER = 0x00000003
GET_LINK_SETTINGS = 0x0000004C
_LINK_SETTINGS = struct.Struct("=IIBBBBBBBbB3B7I")

LINK_MODE_MBITS = {
    **dict.fromkeys((0, 1), 10),
    **dict.fromkeys((2, 3), 100),
    **dict.fromkeys((4, 5, 17, 41), 1_000),
    **dict.fromkeys((15, 47), 2_500),
    48: 5_000,
    **dict.fromkeys((12, 18, 19, 20, 42, 43, 44, 45, 46), 10_000),
    **dict.fromkeys((21, 22), 20_000),
    **dict.fromkeys((31, 32, 33), 25_000),
    **dict.fromkeys((23, 24, 25, 26), 40_000),
    **dict.fromkeys((34, 35, 40, *range(52, 57)), 50_000),
    **dict.fromkeys((27, 28, 29, 30), 56_000),
    **dict.fromkeys((36, 37, 38, 39, *range(57, 62)), 100_000),
    **dict.fromkeys(range(62, 67), 200_000),
    **dict.fromkeys(range(69, 74), 400_000),
}
"""Bit of the supported-modes mask to Mbit/s (enum ethtool_link_mode_bit_indices)."""


class Driver(NamedTuple):
    name: str | None = None
    version: str | None = None
    """Absent for drivers with the kernel's version."""
    firmware: str | None = None


def driver_of(interface: str) -> Driver:
    # struct ethtool_drvinfo: the command, then texts of 32 bytes each.
    answer = _ask(interface, struct.pack("=I", GET_DRIVER) + bytes(192)) or b""
    return Driver(name=_driver_text(answer, 4), version=_driver_text(answer, 36), firmware=_driver_text(answer, 68))


def _driver_text(answer: bytes, start: int) -> str | None:
    text = answer[start : start + 32].split(b"\0", 1)[0].decode("ascii", "replace").strip()
    return None if text in {"", "N/A", os.uname().release} else text


def fastest_bits_per_second(interface: str) -> int | None:
    """The card's maximum, by ETHTOOL_GLINKSETTINGS: the first answer has the masks' length, the second the masks."""
    length_answer = _ask(interface, _request(0))
    # The kernel gives the length in words of 32 bits, negative as long as the request has another.
    mask_words = -_LINK_SETTINGS.unpack_from(length_answer)[9] if length_answer else 0
    answer = _ask(interface, _request(mask_words)) if mask_words > 0 else None
    if not answer:
        return None
    start = _LINK_SETTINGS.size
    return fastest_mode(int.from_bytes(answer[start : start + 4 * mask_words], "little"))


def fastest_mode(supported: int) -> int | None:
    rates = [mbits for bit, mbits in LINK_MODE_MBITS.items() if supported >> bit & 1]
    return max(rates) * 1_000_000 if rates else None


def _request(mask_words: int) -> bytes:
    header = _LINK_SETTINGS.pack(GET_LINK_SETTINGS, 0, *[0] * 7, mask_words, *[0] * 11)
    # Room for three masks of the greatest length that the kernel's signed byte can name.
    return header + bytes(3 * 4 * 127)


def _ask(interface: str, request: bytes) -> bytes | None:
    try:
        import fcntl

        buffer = array.array("B", request)
        # struct ifreq: the interface's name and the address of the request, which the answer overwrites.
        interface_request = struct.pack("16sP16x", interface.encode()[:15], buffer.buffer_info()[0])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
            fcntl.ioctl(handle, SIOCETHTOOL, interface_request)
    except (ImportError, OSError):
        return None
    return buffer.tobytes()


NET_FOLDER = Path("/sys/class/net")
_LOOPBACK_TYPE = 772
"""ARPHRD_LOOPBACK of if_arp.h."""

MADE_UP_RATES = {"veth", "tun", "bridge", "dummy", "ifb", "openvswitch"}
"""Drivers whose reported speed is fictitious (a veth always says 10 Gbit/s)."""

ETHERNET_HEADER_BYTES = 14
ETHERNET_WIRE_BYTES = 38
"""Header 14, checksum 4, preamble 8, gap 12 (IEEE 802.3)."""
TCP_HEADER_BYTES = 20
TCP_TIMESTAMP_BYTES = 12
IP_HEADER_BYTES = {4: 20, 6: 40}


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    interface: str
    loopback: bool = False
    wireless: bool = False
    hardware: bool = False
    """A real or virtual device; false for veth, VLAN, bridge or bond."""
    driver: str | None = None
    driver_version: str | None = None
    firmware: str | None = None
    card_bits_per_second: int | None = None
    """Current speed; absent if the interface has none or a fictitious one."""
    fastest_bits_per_second: int | None = None
    duplex: str | None = None
    mtu_bytes: int | None = None
    shaper: Shaper | None = None
    gateway: str | None = None
    ip_version: int = 4

    @property
    def bits_per_second(self) -> int | None:
        rates = [self.card_bits_per_second, self.shaper.bits_per_second if self.shaper else None]
        return min((rate for rate in rates if rate), default=None)

    @property
    def shaped(self) -> bool:
        return bool(self.shaper and self.shaper.bits_per_second and self.bits_per_second != self.card_bits_per_second)


def find_link(host: str, port: int | None = None) -> Link | None:
    route = find_route(host, port)
    if route is None:
        return None

    name = route.interface
    folder = NET_FOLDER / name
    driver = driver_of(name)
    is_loopback = name == "lo" or read_int(f"{folder}/type") == _LOOPBACK_TYPE
    is_wireless = (folder / "wireless").exists() or (folder / "phy80211").exists()

    # The rate of others is fictitious, or changes all the time.
    has_rate = not is_loopback and not is_wireless and driver.name not in MADE_UP_RATES
    megabits = read_int(f"{folder}/speed") if has_rate else None
    duplex = (read_text(f"{folder}/duplex") or "").strip() if has_rate else ""

    return Link(
        interface=name,
        loopback=is_loopback,
        wireless=is_wireless,
        hardware=(folder / "device").exists(),
        driver=driver.name,
        driver_version=driver.version,
        firmware=driver.firmware,
        card_bits_per_second=megabits * 1_000_000 if megabits and megabits > 0 else None,
        fastest_bits_per_second=fastest_bits_per_second(name) if has_rate else None,
        duplex=duplex if duplex in {"full", "half"} else None,
        mtu_bytes=read_int(f"{folder}/mtu"),
        shaper=parse_shaper(run_text("tc", "-j", "qdisc", "show", "dev", name, timeout_seconds=10)),
        gateway=route.gateway,
        ip_version=route.ip_version,
    )


def payload_ceiling_bits_per_second(
    link: int, mtu: int, *, timestamps: bool = True, on_a_wire: bool = True, ip_version: int = 4
) -> float:
    """Maximum TCP payload, without what SMB adds: 94.1 % of a wire's speed at MTU 1500, 95.6 % of a shaper's."""
    headers = IP_HEADER_BYTES[ip_version] + TCP_HEADER_BYTES + (TCP_TIMESTAMP_BYTES if timestamps else 0)
    frame = mtu + (ETHERNET_WIRE_BYTES if on_a_wire else ETHERNET_HEADER_BYTES)
    return link * (mtu - headers) / frame


def ceiling_of(link: Link, *, timestamps: bool = True) -> float | None:
    """Bits per second; None if speed or MTU is unknown, or for the loopback."""
    rate = link.bits_per_second
    mtu = link.mtu_bytes
    if not rate or not mtu or link.loopback:
        return None
    return payload_ceiling_bits_per_second(
        rate, mtu, timestamps=timestamps, on_a_wire=not link.shaped, ip_version=link.ip_version
    )


def detect_link(host: str, port: int | None = None) -> tuple[int | None, str]:
    """Nominal speed in bits per second, or None, and the reason for the admin."""
    link = find_link(host, port)
    if link is None:
        return None, f"no way leads to {host or 'a local path'}, so there is no link to read a rate from"

    name = f"{link.interface} ({link.driver})" if link.driver else link.interface
    if link.loopback:
        return None, f"traffic to {host} stays on this machine: the loopback has no rate"
    if link.shaped and link.shaper:
        return link.bits_per_second, f"the shaper ({link.shaper.kind}) on {name} lets no more through"
    if link.bits_per_second:
        return link.bits_per_second, f"{name} runs at this rate"
    if link.wireless:
        return None, f"{name} is wireless and its rate changes all the time; name a rate for a percentage"
    return None, f"{name} does not say its rate; name the rate yourself"


def facts_of_link(link: Link, *, timestamps: bool = True) -> dict[str, FactValue]:
    ceiling = ceiling_of(link, timestamps=timestamps)

    facts: dict[str, FactValue | None] = {
        "link.interface": link.interface,
        "link.kind": _kind_of(link),
        "link.driver": link.driver,
        "card.driver_version": link.driver_version if link.hardware else None,
        "card.firmware": link.firmware,
        "link.rate_bits_per_second": link.bits_per_second,
        "link.card_rate_bits_per_second": link.card_bits_per_second,
        "link.fastest_rate_bits_per_second": link.fastest_bits_per_second,
        "link.duplex": link.duplex,
        "link.mtu_bytes": link.mtu_bytes,
        "link.shaper": link.shaper.kind if link.shaper else "none",
        "link.shaper_bits_per_second": link.shaper.bits_per_second if link.shaper else None,
        "link.route": _route_of(link),
        "link.ip_version": link.ip_version,
        "link.payload_ceiling_bits_per_second": round(ceiling) if ceiling else None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _kind_of(link: Link) -> str:
    if link.loopback:
        return "loopback"
    if link.wireless:
        return "wireless"
    return "card" if link.hardware else "virtual"


def _route_of(link: Link) -> str:
    if link.loopback:
        return "stays here"
    return "through a gateway" if link.gateway else "direct"


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
"""Where /proc/net/snmp and /proc/net/netstat have them."""
_ALL = (*ERROR_COUNTERS, *DROP_COUNTERS, *DETAIL_COUNTERS, *_TRAFFIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCounters:
    interface: str
    interface_counts: dict[str, int] = field(default_factory=dict)
    """Kernel names; since the interface came up."""
    tcp_counts: dict[str, int] = field(default_factory=dict)

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
        counts = self.interface_counts | self.tcp_counts
        counts_before = before.interface_counts | before.tcp_counts
        return {name: max(0, counts[name] - old) for name, old in counts_before.items() if name in counts}


def tcp_counts(read: SystemReader = read_text) -> dict[str, int]:
    """Of this network namespace, by the names of :data:`TCP_COUNTERS`."""
    tables = {"Tcp:": _table(read("/proc/net/snmp"), "Tcp:"), "TcpExt:": _table(read("/proc/net/netstat"), "TcpExt:")}
    counts = {name: whole_number([tables[table].get(column, "")]) for name, (table, column) in TCP_COUNTERS.items()}
    return {name: count for name, count in counts.items() if count is not None}


def _table(text: str | None, name: str) -> dict[str, str]:
    """A table of two lines, the names and the counts."""
    lines = [line.split() for line in (text or "").splitlines() if line.startswith(name)]
    return dict(zip(lines[0], lines[1], strict=False)) if len(lines) >= 2 else {}


def tcp_segments(snmp: str | None) -> tuple[int, int]:
    """The numbers of segments that were sent, and sent again."""
    table = _table(snmp, "Tcp:")
    return whole_number([table.get("OutSegs", "")]) or 0, whole_number([table.get("RetransSegs", "")]) or 0


def parse_interfaces(text: str | None) -> dict[str, dict[str, int]]:
    """/proc/net/dev by interface, of the reader's network namespace."""
    interfaces: dict[str, dict[str, int]] = {}
    for line in (text or "").splitlines():
        name, colon, counts = line.partition(":")
        fields = counts.split()
        if colon and len(fields) >= 16 and all(field.isdecimal() for field in fields):
            interfaces[name.strip()] = {counter: int(fields[column]) for counter, column in INTERFACE_COLUMNS.items()}
    return interfaces


def counter_facts(before: LinkCounters, after: LinkCounters) -> dict[str, FactValue]:
    """Of the link during a series: totals since it came up, and what came to them; TCP is the machine's."""
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
