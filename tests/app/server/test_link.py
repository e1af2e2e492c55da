from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from app.server import ethtool, routes
from app.server import link_facts as facts
from app.server import link_facts as link
from app.server.link_facts import Link, Shaper, ceiling_of, detect_link, parse_shaper, payload_ceiling_bits_per_second
from app.server.network_counters import LinkCounters, counter_facts, tcp_counts, tcp_segments
from app.server.routes import Route, find_route, is_own_address, is_this_machine
from tests.servers.netns import can_make_namespaces
from tests.servers.process import require, require_localhost, unavailable

ROOT = Path(__file__).parents[3]
TBF = '[{"kind":"tbf","handle":"8001:","root":true,"options":{"rate":12500000,"burst":131062,"lat":100000}}]'


class ShapedPair(NamedTuple):
    """A veth pair at 100 Mbit/s from this machine into a namespace; the names are this process's own."""

    namespace: str
    near: str
    far: str
    near_address: str
    far_address: str


@pytest.fixture
def shaped_pair() -> Iterator[ShapedPair]:
    require("ip", "tc")
    if not can_make_namespaces():
        unavailable("making a network namespace needs root")
    own = os.getpid()
    block = f"10.213.{own // 64 % 256}"
    low = own % 64 * 4
    pair = ShapedPair(f"sbench-{own}", f"sbe{own}a", f"sbe{own}b", f"{block}.{low + 1}", f"{block}.{low + 2}")
    try:
        for words in (
            f"ip netns add {pair.namespace}",
            f"ip link add {pair.near} type veth peer name {pair.far} netns {pair.namespace}",
            f"ip addr add {pair.near_address}/30 dev {pair.near}",
            f"ip link set {pair.near} up",
            f"ip -n {pair.namespace} addr add {pair.far_address}/30 dev {pair.far}",
            f"ip -n {pair.namespace} link set {pair.far} up",
            f"tc qdisc add dev {pair.near} root tbf rate 100mbit burst 128kb latency 100ms",
        ):
            subprocess.run(words.split(), check=True, capture_output=True)
        yield pair
    finally:
        subprocess.run(["ip", "link", "del", pair.near], capture_output=True, check=False)
        subprocess.run(["ip", "netns", "del", pair.namespace], capture_output=True, check=False)


def test_ceiling_of_a_shaper_and_of_a_wire() -> None:
    assert payload_ceiling_bits_per_second(10**8, 1500, on_a_wire=False) == pytest.approx(1448 / 1514 * 10**8)
    assert payload_ceiling_bits_per_second(10**9, 1500) == pytest.approx(1448 / 1538 * 10**9)
    assert payload_ceiling_bits_per_second(10**9, 1500, timestamps=False) == pytest.approx(1460 / 1538 * 10**9)
    assert payload_ceiling_bits_per_second(10**9, 9000, ip_version=6) == pytest.approx(8928 / 9038 * 10**9)


def test_no_ceiling_without_a_rate_or_on_the_loopback() -> None:
    assert ceiling_of(Link(interface="eth0", mtu_bytes=1500)) is None
    assert ceiling_of(Link(interface="eth0", card_bits_per_second=10**9)) is None
    assert ceiling_of(Link(interface="lo", loopback=True, card_bits_per_second=10**9, mtu_bytes=65536)) is None


def test_a_shaper_below_the_cards_rate_is_the_link() -> None:
    slow = Shaper(kind="tbf", bits_per_second=10**8)
    shaped = Link(interface="eth0", card_bits_per_second=10**9, mtu_bytes=1500, shaper=slow)
    assert shaped.bits_per_second == 10**8
    assert ceiling_of(shaped) == pytest.approx(1448 / 1514 * 10**8)
    wide = Link(interface="eth0", card_bits_per_second=10**7, mtu_bytes=1500, shaper=slow)
    assert wide.bits_per_second == 10**7
    assert ceiling_of(wide) == pytest.approx(1448 / 1538 * 10**7)


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        (TBF, Shaper(kind="tbf", bits_per_second=100_000_000)),
        ('[{"kind":"cake","options":{"bandwidth":1250000}}]', Shaper(kind="cake", bits_per_second=10_000_000)),
        ('[{"kind":"cake","options":{"bandwidth":"unlimited"}}]', Shaper(kind="cake", bits_per_second=None)),
        ('[{"kind":"htb","options":{"default":"0x1"}}]', Shaper(kind="htb", bits_per_second=None)),
        ('[{"kind":"htb","options":{}},' + TBF[1:], Shaper(kind="tbf", bits_per_second=100_000_000)),
        (
            '[{"kind":"netem","options":{"rate":{"rate":125000,"packetoverhead":0}}}]',
            Shaper(kind="netem", bits_per_second=1_000_000),
        ),
        ('[{"kind":"fq_codel","options":{}}]', None),
        ("[]", None),
        ("Cannot find device", None),
        ('{"kind":"tbf"}', None),
        (None, None),
    ],
)
def test_shapers_as_tc_prints_them(printed: str | None, found: Shaper | None) -> None:
    assert parse_shaper(printed) == found


def test_the_fastest_mode_of_a_card() -> None:
    gigabit_card = sum(1 << bit for bit in (0, 1, 2, 3, 5, 6, 7))
    assert ethtool.fastest_mode(gigabit_card) == 10**9
    assert ethtool.fastest_mode(gigabit_card | 1 << 47) == 2_500_000_000
    assert ethtool.fastest_mode(1 << 6 | 1 << 7) is None


def test_the_kernel_is_asked_twice_for_a_cards_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def kernel(_: str, request: bytes) -> bytes:
        fields = list(ethtool._LINK_SETTINGS.unpack_from(request))
        asked.append(fields[9])
        fields[9] = -4 if fields[9] == 0 else 4
        return ethtool._LINK_SETTINGS.pack(*fields) + (1 << 48).to_bytes(16, "little") + bytes(32)

    monkeypatch.setattr(ethtool, "_ask", kernel)
    assert ethtool.fastest_bits_per_second("eth0") == 5_000_000_000
    assert asked == [0, 4]


def test_a_driver_with_its_version_and_firmware(monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(version: bytes, firmware: bytes) -> None:
        words = b"".join(word.ljust(32, b"\0") for word in (b"e1000e", version, firmware, b"0000:00:1f.6"))
        monkeypatch.setattr(ethtool, "_ask", lambda *_: struct.pack("=I", 3) + words.ljust(192, b"\0"))

    kernel(b"3.2.6-k", b"0.5-4")
    assert ethtool.driver_of("eth0") == ethtool.Driver("e1000e", "3.2.6-k", "0.5-4")
    kernel(os.uname().release.encode(), b"N/A")
    assert ethtool.driver_of("eth0") == ethtool.Driver("e1000e")


def test_an_interface_that_is_not_there_has_no_driver() -> None:
    assert ethtool.driver_of("nosuch0") == ethtool.Driver()
    assert ethtool.fastest_bits_per_second("nosuch0") is None


def fake_card(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *, speed: str, duplex: str, driver: str, fastest: int | None = None
) -> None:
    """Let eth9 be the way to every host, with the given files in its folder of /sys/class/net."""
    (folder / "eth9" / "device").mkdir(parents=True)
    for name, text in {"speed": speed, "duplex": duplex, "mtu": "1500", "type": "1"}.items():
        (folder / "eth9" / name).write_text(text + "\n")
    found = Route(address="192.0.2.9", local_address="192.0.2.1", interface="eth9", gateway="192.0.2.254")
    monkeypatch.setattr(link, "NET_FOLDER", folder)
    monkeypatch.setattr(link, "find_route", lambda *_: found)
    monkeypatch.setattr(link, "run_text", lambda *_, **__: None)
    monkeypatch.setattr(link, "driver_of", lambda _: ethtool.Driver(driver, "1.2", "0.5-4"))
    monkeypatch.setattr(link, "fastest_bits_per_second", lambda _: fastest)


def link_facts(host: str, port: int | None = None) -> dict[str, Any]:
    """The facts of the way to a host; none where no way leads there."""
    found = link.find_link(host, port)
    return {} if found is None else link.facts_of_link(found)


def test_facts_of_a_gigabit_card_at_100_mbits_half_duplex(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_card(monkeypatch, tmp_path, speed="100", duplex="half", driver="e1000e", fastest=10**9)
    facts = link_facts("server.example", 445)
    assert facts == {
        "link.interface": "eth9",
        "link.kind": "card",
        "link.driver": "e1000e",
        "card.driver_version": "1.2",
        "card.firmware": "0.5-4",
        "link.rate_bits_per_second": 100_000_000,
        "link.card_rate_bits_per_second": 100_000_000,
        "link.fastest_rate_bits_per_second": 1_000_000_000,
        "link.duplex": "half",
        "link.mtu_bytes": 1500,
        "link.shaper": "none",
        "link.route": "through a gateway",
        "link.ip_version": 4,
        "link.payload_ceiling_bits_per_second": 94148244,
    }
    assert detect_link("server.example") == (100_000_000, "eth9 (e1000e) runs at this rate")


@pytest.mark.parametrize(
    ("speed", "driver"), [("-1", "virtio_net"), ("10000", "veth"), ("10", "tun"), ("", "e1000e"), ("junk", "e1000e")]
)
def test_a_rate_that_no_wire_has_is_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, speed: str, driver: str
) -> None:
    fake_card(monkeypatch, tmp_path, speed=speed, duplex="full", driver=driver)
    bits, why = detect_link("server.example")
    assert bits is None
    assert "name the rate" in why
    assert "link.rate_bits_per_second" not in link_facts("server.example")


def test_the_loopback_has_no_rate() -> None:
    facts = link_facts("127.0.0.1", 445)
    assert facts["link.kind"] == "loopback"
    assert facts["link.interface"] == "lo"
    assert "link.rate_bits_per_second" not in facts
    bits, why = detect_link("127.0.0.1")
    assert bits is None
    assert "loopback" in why


def test_a_name_that_nobody_knows_has_no_link() -> None:
    assert link_facts("no-such-host.invalid", 445) == {}
    assert detect_link("no-such-host.invalid")[0] is None
    assert link_facts("", None) == {}
    assert not is_this_machine("no-such-host.invalid")


def test_own_addresses() -> None:
    assert is_own_address("127.0.0.1")
    assert is_own_address("::1")
    assert not is_own_address("192.0.2.250")
    assert not is_own_address("not an address")


def test_a_name_of_this_machine_is_known_by_its_address() -> None:
    require_localhost()
    assert is_this_machine("localhost")


def test_the_interface_is_found_without_the_ip_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "run_text", lambda *_, **__: None)
    found = find_route("127.0.0.1", 445)
    assert found is not None
    assert found.interface == "lo"
    assert routes._interface_of("127.0.0.1") == "lo"
    assert routes._interface_of("::1") == "lo"
    assert routes._interface_of("2001:db8::250") is None
    assert routes._interface_of("192.0.2.250") is None


def test_a_shaped_veth_has_the_shapers_rate(shaped_pair: ShapedPair) -> None:
    facts = link_facts(shaped_pair.far_address, 445)
    assert facts["link.interface"] == shaped_pair.near
    assert facts["link.driver"] == "veth"
    assert facts["link.kind"] == "virtual"
    assert facts["link.route"] == "direct"
    assert facts["link.rate_bits_per_second"] == 100_000_000
    assert facts["link.shaper"] == "tbf"
    assert "link.card_rate_bits_per_second" not in facts
    assert facts["link.payload_ceiling_bits_per_second"] == round(1448 / 1514 * 10**8)
    told = f"this machine's interface {shaped_pair.near} has a traffic shaper (tc) of this rate"
    assert detect_link(shaped_pair.far_address) == (100_000_000, told)
    subprocess.run(["tc", "qdisc", "del", "dev", shaped_pair.near, "root"], check=True)
    assert detect_link(shaped_pair.far_address)[0] is None


def test_the_link_is_read_inside_a_namespace_too(shaped_pair: ShapedPair) -> None:
    code = (
        "import json; from app.server.link_facts import facts_of_link, find_link;"
        f" print(json.dumps(facts_of_link(find_link('{shaped_pair.near_address}', 445))))"
    )
    printed = subprocess.run(
        ["ip", "netns", "exec", shaped_pair.namespace, sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout
    facts = json.loads(printed)
    assert facts["link.interface"] == shaped_pair.far
    assert facts["link.shaper"] == "none"


def test_counters_see_what_went_over_the_link(shaped_pair: ShapedPair) -> None:
    before = LinkCounters.snapshot(shaped_pair.near)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(20):
            sender.sendto(bytes(1000), (shaped_pair.far_address, 9))
    facts = counter_facts(before, LinkCounters.snapshot(shaped_pair.near))
    assert int(facts["link.tx_bytes_during"]) > 0
    assert facts["link.errors_during"] == 0


def test_counters_grow_and_never_shrink() -> None:
    before = LinkCounters(
        interface="eth9",
        interface_counts={"rx_errors": 5, "tx_errors": 1, "rx_dropped": 2, "rx_bytes": 1000},
        tcp_counts={"segments_sent": 100, "retransmitted": 10, "out_of_order": 5},
    )
    after = LinkCounters(
        interface="eth9",
        interface_counts={"rx_errors": 9, "tx_errors": 0, "rx_dropped": 2, "rx_bytes": 5000},
        tcp_counts={"segments_sent": 300, "retransmitted": 13, "out_of_order": 5, "segments_received": 9},
    )
    facts = counter_facts(before, after)
    assert facts["link.errors_before"] == 6
    assert facts["link.errors_during"] == 4
    assert facts["link.drops_during"] == 0
    assert facts["link.rx_bytes_during"] == 4000
    assert facts["tcp.segments_sent_during"] == 200
    assert facts["tcp.retransmitted_during"] == 3
    assert facts["tcp.out_of_order_during"] == 0
    assert "tcp.segments_received_during" not in facts
    assert "link.collisions_during" not in facts


def test_tcp_segments_of_an_snmp_file() -> None:
    text = "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm OutSegs RetransSegs\nTcp: 1 500 7\n"
    assert tcp_segments(text) == (500, 7)
    assert tcp_segments(None) == (0, 0)
    assert tcp_segments("Tcp: OutSegs\n") == (0, 0)


def test_what_the_receivers_side_counts() -> None:
    files = {
        "/proc/net/snmp": "Tcp: InSegs OutSegs RetransSegs\nTcp: 900 500 7\n",
        "/proc/net/netstat": "TcpExt: TCPOFOQueue TCPDSACKOldSent\nTcpExt: 40 2\nIpExt: InOctets\nIpExt: 1\n",
    }
    assert tcp_counts(files.get) == {
        "segments_sent": 500,
        "retransmitted": 7,
        "segments_received": 900,
        "out_of_order": 40,
        "duplicates": 2,
    }
    assert tcp_counts(lambda _path: None) == {}
    assert {"out_of_order", "segments_received"} <= set(tcp_counts())


def test_no_shaper_without_tc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "run_text", lambda *_, **__: None)
    found = link.find_link("127.0.0.1")
    assert found is not None
    assert found.shaper is None
