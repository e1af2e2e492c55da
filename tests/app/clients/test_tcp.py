"""What the kernel tells of a TCP connection, from a real one and from bytes of another kernel's."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from app.base.errors import StalledError, UnreachableError
from app.clients import tcp
from app.clients.base import Content, Meter
from app.clients.ftp.data import send_all
from app.clients.smb import link
from app.clients.stall_watch import LEAST_BYTES_PER_SECOND, StallWatch
from app.clients.tcp_info import Segments, TcpInfo, connection_facts, request_facts, traffic_facts, waiting_bytes
from storage.records import Target


@pytest.fixture
def pair():
    """Both ends of a connection over the loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    with near, far:
        yield near, far


def test_what_the_other_end_has_not_taken_waits(pair):
    near, far = pair
    assert waiting_bytes(near) == 0
    sent = 0
    with suppress(BlockingIOError):
        while True:
            sent += near.send(bytes(1 << 16), socket.MSG_DONTWAIT)
    assert 0 < waiting_bytes(near) < sent
    while sent:
        sent -= len(far.recv(min(sent, 1 << 20)))
    far.send(b"!")
    near.recv(1)
    assert waiting_bytes(near) == 0


def test_a_socket_that_is_closed_or_no_tcp_tells_nothing(pair):
    pair[0].close()
    assert waiting_bytes(pair[0]) == 0
    assert TcpInfo.of_socket(pair[0]) is None
    with socket.socketpair()[0] as local:
        assert TcpInfo.of_socket(local) is None


def test_a_real_connection_has_a_distance_and_counts(pair):
    near, far = pair
    before = TcpInfo.of_socket(near)
    near.sendall(bytes(100_000))
    far.recv(100_000, socket.MSG_WAITALL)
    far.send(b"!")
    near.recv(1)
    now = TcpInfo.of_socket(near)
    assert before
    assert now
    assert now.least_round_trip_seconds
    assert now.round_trip_seconds
    assert 0 < now.least_round_trip_seconds <= now.round_trip_seconds
    traffic = now.since(before)
    assert traffic.segments.sent > 0
    assert traffic.segments.retransmitted == 0
    told = {"tcp.round_trip_seconds", "tcp.least_round_trip_seconds", "tcp.timestamps_used"}
    assert set(connection_facts(now)) == told | {"mtu.path_bytes", "mtu.segment_bytes"}
    assert now.path_mtu_bytes == near.getsockopt(socket.IPPROTO_IP, 14)  # IP_MTU
    assert now.segment_bytes == near.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    assert connection_facts(None) == {}


def info(size: int = 256, **numbers: int) -> bytes:
    """A ``struct tcp_info`` of so many bytes; offsets as in linux/tcp.h."""
    offsets = {
        "mss": 16,
        "pmtu": 60,
        "rtt": 68,
        "again": 100,
        "sent": 136,
        "received": 140,
        "min_rtt": 148,
        "out_of_order": 224,
    }
    raw = bytearray(256)
    for name, value in numbers.items():
        struct.pack_into("=I", raw, offsets[name], value)
    return bytes(raw[:size])


def test_figures_of_a_kernels_bytes():
    found = TcpInfo.parsed(info(rtt=52_000, min_rtt=50_000, again=3, sent=1000, received=900, out_of_order=7))
    assert found == TcpInfo(
        segments=Segments(sent=1000, retransmitted=3, received=900, out_of_order=7),
        round_trip_seconds=0.052,
        least_round_trip_seconds=0.05,
        timestamps=False,
    )
    stamped = bytearray(info())
    stamped[5] = 0b111
    assert getattr(TcpInfo.parsed(bytes(stamped)), "timestamps", None) is True


def test_mtu_and_segment_of_a_kernels_bytes():
    found = TcpInfo.parsed(info(mss=1348, pmtu=1400))
    assert connection_facts(found) == {"tcp.timestamps_used": "no", "mtu.path_bytes": 1400, "mtu.segment_bytes": 1348}


def test_a_request_takes_the_least_of_three(monkeypatch: pytest.MonkeyPatch):
    clock, waits = [5.0], iter((0.003, 0.001, 0.002))
    monkeypatch.setattr("app.clients.tcp.time.perf_counter", lambda: clock[0])

    def ask() -> None:
        clock[0] += next(waits)

    assert request_facts(ask) == {"request.least_round_trip_seconds": pytest.approx(0.001)}
    assert next(waits, None) is None


@pytest.mark.parametrize(
    ("waits", "network_seconds", "looks"),
    [
        ([0.0049] * 3, None, 3),
        ([0.02] * 3, 0.0151, 3),
        ([0.02, 0.03, 0.02, 0.001], None, 4),
        ([0.02] * 12, 0.0149, 12),
        ([0.6] * 12, None, 5),
    ],
)
def test_a_request_that_is_late_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, waits: list[float], network_seconds: float | None, looks: int
):
    clock, to_come = [5.0], iter(waits)
    monkeypatch.setattr("app.clients.tcp.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("app.clients.tcp_info.time.sleep", lambda _: None)

    def ask() -> None:
        clock[0] += next(to_come)

    network = TcpInfo(segments=Segments(), least_round_trip_seconds=network_seconds)
    least = request_facts(ask, network)["request.least_round_trip_seconds"]
    assert len(list(to_come)) == len(waits) - looks
    assert least == pytest.approx(min(waits[:looks]))


def test_an_older_kernel_tells_less():
    old = TcpInfo.parsed(info(104, rtt=52_000, again=3, min_rtt=50_000))
    assert old
    assert (old.segments.retransmitted, old.round_trip_seconds, old.least_round_trip_seconds) == (3, 0.052, None)
    assert TcpInfo.parsed(bytes(100)) is None
    never = TcpInfo.parsed(info(min_rtt=0xFFFFFFFF))
    assert never
    assert never.least_round_trip_seconds is None


def test_the_traffic_of_several_transfers_adds_up():
    first = TcpInfo(segments=Segments(100, 1, 50, 5), round_trip_seconds=0.09, least_round_trip_seconds=0.05)
    second = TcpInfo(segments=Segments(200, 2, 60, 6), round_trip_seconds=0.07, least_round_trip_seconds=0.06)
    assert traffic_facts([first, second]) == {
        "tcp.round_trip_seconds": 0.07,
        "tcp.least_round_trip_seconds": 0.05,
        "tcp.timestamps_used": "yes",
        "tcp.own_segments_sent_during": 300,
        "tcp.own_retransmitted_during": 3,
        "tcp.own_segments_received_during": 110,
        "tcp.own_out_of_order_during": 11,
    }
    assert traffic_facts([]) == {}
    assert second.since(first).segments == Segments(100, 1, 10, 1)


def test_ftp_counts_what_the_other_end_has_and_not_what_it_handed_over(pair, monkeypatch):
    near, _far = pair
    seen: list[int] = []
    meter = Meter(threading.Event(), lambda _seconds, moved: seen.append(moved), interval_seconds=0.0)
    meter.start(look=StallWatch(0.2, lambda: "here").note_moved)
    near.settimeout(0.05)
    handed: list[int] = []
    advance = meter.advance

    def counted(_meter: Meter, handed_bytes: int) -> None:
        handed.append(handed_bytes)
        advance(handed_bytes)

    monkeypatch.setattr(Meter, "advance", counted)
    with pytest.raises(StalledError):
        send_all(near, Content(1 << 26), 1 << 16, meter)
    assert seen == sorted(seen)
    assert seen[-1] < handed[-1] - (1 << 16)


@dataclass
class Hands:
    """A clock's hands."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def watch(clock: Hands, seconds: float = 10.0) -> StallWatch:
    return StallWatch(seconds, lambda: "//nas/data", clock)


def test_enough_payload_starts_the_time_anew():
    clock = Hands()
    stall = watch(clock)
    stall.start()
    for turn in range(1, 20):
        clock.now += 9
        stall.note_moved(turn * 10 * LEAST_BYTES_PER_SECOND)


def test_a_trickle_does_not():
    clock = Hands()
    stall = watch(clock)
    stall.start()
    clock.now += 9
    stall.note_moved(10 * LEAST_BYTES_PER_SECOND - 1)
    clock.now += 2
    with pytest.raises(StalledError, match=r"//nas/data: nothing moved for 10 s"):
        stall.note_moved(10 * LEAST_BYTES_PER_SECOND - 1)


def test_payload_that_was_counted_already_does_not():
    """What is sent again, or a frame that came to nothing, is not counted twice."""
    clock = Hands()
    stall = watch(clock)
    stall.start()
    stall.note_moved(1_000_000)
    clock.now += 9
    stall.note_moved(500_000)
    stall.note_moved(1_000_000)
    clock.now += 2
    with pytest.raises(StalledError):
        stall.check()


def test_a_stage_that_gets_on_until_it_is_over_does_not_say_that_nothing_moved():
    clock = Hands()
    stall = watch(clock)
    with stall.stage(15):
        for _ in range(2):
            stall.start()
            clock.now += 7
        stall.start()
        clock.now += 2
        with pytest.raises(StalledError, match="it was not done within 15 s"):
            stall.check()


def test_a_stage_in_which_nothing_comes_says_so():
    clock = Hands()
    stall = watch(clock)
    with stall.stage(10):
        stall.start()
        clock.now += 10.1
        with pytest.raises(StalledError, match="nothing moved for 10 s"):
            stall.check()


def test_a_stage_ends_however_much_moves():
    clock = Hands()
    stall = watch(clock)
    with stall.stage(15):
        for turn in (1, 2):
            clock.now += 7
            stall.start()
            stall.note_moved(turn * 1_000_000)
        clock.now += 2
        with pytest.raises(StalledError):
            stall.check()
        assert 0 < stall.left_seconds() < 0.01
    stall.start()
    assert stall.left_seconds() == 10


@dataclass
class Nowhere:
    """In place of sockets: each waits for all of its time in vain."""

    clock: Hands
    waited: list[float] = field(default_factory=list)

    def __call__(self, *_family: object) -> Nowhere:
        return self

    def settimeout(self, seconds: float) -> None:
        self.waited.append(seconds)

    def connect(self, _address: object) -> None:
        self.clock.now += self.waited[-1]
        raise TimeoutError

    def close(self) -> None:
        """Nothing to close."""


@pytest.mark.parametrize(
    "connect",
    [
        pytest.param(lambda: tcp.connect_tcp("nas", 21, "ftp://nas", 3.0, "an FTP server"), id="ftp"),
        pytest.param(lambda: link.reach(Target(protocol="smb", host="nas", port=445), 3.0, lambda _s: None), id="smb"),
    ],
)
def test_all_addresses_of_a_host_have_the_time_of_one(monkeypatch: pytest.MonkeyPatch, connect: Callable[[], object]):
    clock = Hands()
    nowhere = Nowhere(clock)
    found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (f"192.0.2.{n}", 21)) for n in range(5)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_what, **_how: found)
    monkeypatch.setattr(socket, "socket", nowhere)
    monkeypatch.setattr(time, "monotonic", clock)
    with pytest.raises(UnreachableError, match="no answer within 3 s"):
        connect()
    assert sum(nowhere.waited) == pytest.approx(3.0, abs=0.01)
