"""The link to a target: the interface of this machine that leads there, its speed, duplex, MTU, driver and shaper.

`find_link` reads it, `facts_of_link` says it as facts of a series. The *ceiling* of a link is the most payload that TCP
can move over it. A *shaper* is a queueing discipline of Linux (``tc``) that limits or delays what is sent.
"""

import json
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from app.server.ethtool import driver_of, fastest_bits_per_second
from app.server.host_facts import read_int, read_text, run_text
from app.server.routes import find_route
from storage.records import FactValue

_RATE_KEYS = {"tbf": "rate", "cake": "bandwidth", "netem": "rate"}
"""Where ``tc`` says the rate of each kind of shaper."""
_SHAPING = {*_RATE_KEYS, "htb", "hfsc", "cbq"}
"""The kinds that shape; the last three have a rate for each class of traffic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaper:
    """A queueing discipline that limits or delays outgoing traffic."""

    kind: str
    bits_per_second: int | None
    """None if it is set for each class, or if only delay is added."""


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


NET_FOLDER = Path("/sys/class/net")
_LOOPBACK_TYPE = 772
"""ARPHRD_LOOPBACK of if_arp.h."""


MADE_UP_RATES = {"veth", "tun", "bridge", "dummy", "ifb", "openvswitch"}
"""Drivers whose reported speed is fictitious (a veth always says 10 Gbit/s)."""

ETHERNET_HEADER_BYTES = 14
ETHERNET_WIRE_BYTES = 38
"""What a frame takes on the wire besides its content: header 14, checksum 4, preamble 8, gap 12 (IEEE 802.3)."""
TCP_HEADER_BYTES = 20
TCP_TIMESTAMP_BYTES = 12
IP_HEADER_BYTES = {4: 20, 6: 40}
"""By IP version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The interface that leads to a target; None is what is not known, or what it does not have."""

    interface: str
    loopback: bool = False
    wireless: bool = False
    hardware: bool = False
    """Whether it is a device, be it a virtual machine's; False for veth, VLAN, bridge or bond."""
    driver: str | None = None
    driver_version: str | None = None
    firmware: str | None = None

    card_bits_per_second: int | None = None
    """Its speed now; None also where it reports one that is made up."""
    fastest_bits_per_second: int | None = None
    """The fastest speed that the card supports."""
    duplex: str | None = None
    """``full`` or ``half``."""
    mtu_bytes: int | None = None
    shaper: Shaper | None = None

    gateway: str | None = None
    """The next machine on the way; None if the target is on the link, or is this machine."""
    ip_version: int = 4

    @property
    def bits_per_second(self) -> int | None:
        """The slower of the card and its shaper."""
        rates = [self.card_bits_per_second, self.shaper.bits_per_second if self.shaper else None]
        return min((rate for rate in rates if rate), default=None)

    @property
    def shaped(self) -> bool:
        """Whether the shaper, not the card, limits the rate."""
        return bool(self.shaper and self.shaper.bits_per_second and self.bits_per_second != self.card_bits_per_second)


def find_link(host: str, port: int | None = None) -> Link | None:
    """Read what is known of the link to the host; None where no route leads there."""
    route = find_route(host, port)
    if route is None:
        return None

    name = route.interface
    folder = NET_FOLDER / name
    driver = driver_of(name)
    is_loopback = name == "lo" or read_int(f"{folder}/type") == _LOOPBACK_TYPE
    is_wireless = (folder / "wireless").exists() or (folder / "phy80211").exists()

    # What other interfaces say of their rate is made up, or changes all the time.
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
    """The most payload of TCP, of which SMB's headers are a part: 94.1 % of a wire's speed at MTU 1500.

    payload = link * (MTU - IP header - TCP header) / (MTU + what Ethernet adds to a frame). A shaper counts no more of
    Ethernet than its header, so the payload is 95.6 % of its rate.
    """
    headers = IP_HEADER_BYTES[ip_version] + TCP_HEADER_BYTES + (TCP_TIMESTAMP_BYTES if timestamps else 0)
    frame = mtu + (ETHERNET_WIRE_BYTES if on_a_wire else ETHERNET_HEADER_BYTES)
    return link * (mtu - headers) / frame


def ceiling_of(link: Link, *, timestamps: bool = True) -> float | None:
    """The link's payload ceiling in bits per second; None if speed or MTU is unknown, or for the loopback."""
    rate = link.bits_per_second
    mtu = link.mtu_bytes
    if not rate or not mtu or link.loopback:
        return None
    return payload_ceiling_bits_per_second(
        rate, mtu, timestamps=timestamps, on_a_wire=not link.shaped, ip_version=link.ip_version
    )


def detect_link(host: str, port: int | None = None) -> tuple[int | None, str]:
    """The link's nominal speed in bits per second, None where it has none, and the reason of either in words."""
    link = find_link(host, port)
    if link is None:
        return None, f"no way leads to {host or 'a local path'}, so there is no link to read a rate from"

    name = f"{link.interface} ({link.driver})" if link.driver else link.interface
    if link.loopback:
        return None, f"traffic to {host} stays on this machine: the loopback has no rate"
    if link.shaped and link.shaper:
        return link.bits_per_second, f"this machine's interface {link.interface} has a traffic shaper (tc) of this rate"
    if link.bits_per_second:
        return link.bits_per_second, f"{name} runs at this rate"
    if link.wireless:
        return None, f"{name} is wireless and its rate changes all the time; name a rate for a percentage"
    return None, f"{name} does not say its rate; name the rate yourself"


def facts_of_link(link: Link, *, timestamps: bool = True) -> dict[str, FactValue]:
    """What is known of the link, as facts of a series; ``timestamps``: whether TCP's headers have them."""
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
