"""What the kernel knows of a TCP connection (tcp(7), TCP_INFO), and the facts of it that a series records."""

import array
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

_SIOCOUTQ = 0x5411
"""The ioctl for the bytes in the send queue (linux/sockios.h)."""

# struct tcp_info (linux/tcp.h): what is read of it are numbers of 32 bits, by their offsets, and one byte of flags.
_INFO_BYTES = 256
"""What is asked for: enough for every field that is read here."""
_LEAST_BYTES = 104
"""With fewer there is not even the count of retransmissions."""
_TIMEOUTS = 2
"""The offset of the number of times that the oldest packet was sent again, each after TCP had waited in vain."""
_OPTIONS = 5
_TIMESTAMPS = 1
"""The offset of the flags, and that of the timestamps among them."""
_SEGMENT_BYTES = 16
_UNACKNOWLEDGED = 24
_PATH_MTU = 60
_ROUND_TRIP_MICROSECONDS = 68
_OWN_SEGMENT_BYTES = 84
_RETRANSMITTED = 100
_SENT = 136
_RECEIVED = 140
_LEAST_ROUND_TRIP_MICROSECONDS = 148
_OUT_OF_ORDER = 224
"""The offsets of its counters and figures."""
_TELLING_TIMEOUTS = 2
"""One may be a lost packet."""
_FULL_SEGMENT_BYTES = 1460
"""Of an Ethernet frame of 1,500 bytes, which every path of Ethernet carries."""
_LOOPBACK_SEGMENT_BYTES = 32_768
"""No card sends as large ones: this is the loopback."""
_UNKNOWN_MICROSECONDS = 0xFFFFFFFF
"""The least round trip before one was measured."""

_REQUESTS = 3
"""How often a request is timed, for its least time."""
_LATE_SECONDS = 0.005
"""Where all took so much longer than the network does, more are timed: a busy server answers late now and then."""
_MOST_REQUESTS = 12
_LATER_EVERY_SECONDS = 0.05
_LATER_WITHIN_SECONDS = 1.0
"""How long those may take in all, with a pause between two of them."""


def waiting_bytes(sock: socket.socket) -> int:
    """Bytes not acknowledged by the peer (SIOCOUTQ, linux/sockios.h); 0 if unknown."""
    import fcntl

    count = array.array("i", [0])
    try:
        fcntl.ioctl(sock.fileno(), _SIOCOUTQ, count)
    except (OSError, ValueError):
        return 0
    return count[0]


class Segments(NamedTuple):
    """TCP segments of a connection since it was made, as this machine's kernel counts them."""

    sent: int = 0
    retransmitted: int = 0
    received: int = 0
    out_of_order: int = 0
    """Received after a gap: packet loss, or several paths through the network."""

    def since(self, before: "Segments") -> "Segments":
        return Segments(*(now - then for now, then in zip(self, before, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpInfo:
    """What the kernel says of a connection; None for what it does not know."""

    segments: Segments
    round_trip_seconds: float | None = None
    least_round_trip_seconds: float | None = None
    timestamps: bool = True
    """RFC 7323; they take 12 bytes of each segment."""
    path_mtu_bytes: int | None = None
    segment_bytes: int | None = None
    """The most that a segment carries (MSS)."""

    own_segment_bytes: int | None = None
    """The most that this machine lets the server put into one."""
    unacknowledged: int = 0
    """Segments that the server has not acknowledged."""
    timeouts: int = 0
    """How often the oldest of them was sent again in vain."""

    @classmethod
    def of_socket(cls, sock: socket.socket) -> Self | None:
        try:
            raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
        except (OSError, AttributeError):
            return None
        return cls.parsed(raw)

    @classmethod
    def parsed(cls, raw: bytes) -> Self | None:
        if len(raw) < _LEAST_BYTES:
            return None
        padded = raw.ljust(_INFO_BYTES, b"\0")  # an older kernel knows fewer fields

        def number_at(offset: int) -> int:
            return int(struct.unpack_from("=I", padded, offset)[0])

        least_microseconds = number_at(_LEAST_ROUND_TRIP_MICROSECONDS)
        is_least_known = 0 < least_microseconds < _UNKNOWN_MICROSECONDS
        return cls(
            segments=Segments(
                sent=number_at(_SENT),
                retransmitted=number_at(_RETRANSMITTED),
                received=number_at(_RECEIVED),
                out_of_order=number_at(_OUT_OF_ORDER),
            ),
            round_trip_seconds=number_at(_ROUND_TRIP_MICROSECONDS) / 1e6 or None,
            least_round_trip_seconds=least_microseconds / 1e6 if is_least_known else None,
            timestamps=bool(padded[_OPTIONS] & _TIMESTAMPS),
            path_mtu_bytes=number_at(_PATH_MTU) or None,
            segment_bytes=number_at(_SEGMENT_BYTES) or None,
            own_segment_bytes=number_at(_OWN_SEGMENT_BYTES) or None,
            unacknowledged=number_at(_UNACKNOWLEDGED),
            timeouts=padded[_TIMEOUTS],
        )

    def since(self, before: "TcpInfo | None") -> "TcpInfo":
        """Differences of the counters; round trips are the current ones."""
        return replace(self, segments=self.segments.since(before.segments)) if before is not None else self

    def stall_text(self) -> str:
        """What this tells of why nothing moves, as a clause; empty where it tells nothing."""
        if self.unacknowledged and self.timeouts >= _TELLING_TIMEOUTS and self.segment_bytes:
            return (
                f"TCP sent a segment of up to {self.segment_bytes:,} bytes {self.timeouts + 1} times and heard nothing,"
                " as where the path is cut, or carries no packets as large"
            )

        is_large = _FULL_SEGMENT_BYTES < (self.own_segment_bytes or 0) < _LOOPBACK_SEGMENT_BYTES
        if is_large:
            return (
                f"this card lets the server send segments of {self.own_segment_bytes:,} bytes, which a part of the path"
                " may not carry (`sharebench check` tries it)"
            )
        return ""


def connection_facts(info: TcpInfo | None) -> dict[str, str | int | float]:
    """Those that are known; the round trip is the kernel's smoothed one."""
    if info is None:
        return {}
    values = {
        "tcp.round_trip_seconds": info.round_trip_seconds,
        "tcp.least_round_trip_seconds": info.least_round_trip_seconds,
        "tcp.timestamps_used": "yes" if info.timestamps else "no",
        "mtu.path_bytes": info.path_mtu_bytes,
        "mtu.segment_bytes": info.segment_bytes,
    }
    return {name: value for name, value in values.items() if value is not None}


def request_facts(ask: Callable[[], object], network: TcpInfo | None = None) -> dict[str, str | int | float]:
    """``request.least_round_trip_seconds``: the least time of three calls of ``ask``, or of more where all were late.

    ``network`` tells what the network takes of it, by the connection that ``ask`` uses.
    """
    network_seconds = (network.least_round_trip_seconds if network else None) or 0.0
    least = min(_seconds_of(ask) for _ in range(_REQUESTS))
    began_at = time.perf_counter()
    for _ in range(_MOST_REQUESTS - _REQUESTS):
        is_late = least - network_seconds >= _LATE_SECONDS
        if not is_late or time.perf_counter() - began_at >= _LATER_WITHIN_SECONDS:
            break
        time.sleep(_LATER_EVERY_SECONDS)
        least = min(least, _seconds_of(ask))
    return {"request.least_round_trip_seconds": round(least, 7)}


def _seconds_of(ask: Callable[[], object]) -> float:
    began_at = time.perf_counter()
    ask()
    return time.perf_counter() - began_at


def traffic_facts(stretches: Sequence[TcpInfo]) -> dict[str, str | int | float]:
    """Sums of the segments of all transfers, and the last transfer's :func:`connection_facts`.

    Each stretch is one transfer's part of its connection; without any, the facts are empty.
    """
    if not stretches:
        return {}

    round_trips = [stretch.least_round_trip_seconds for stretch in stretches]
    least_round_trip = min((seconds for seconds in round_trips if seconds is not None), default=None)
    facts = connection_facts(replace(stretches[-1], least_round_trip_seconds=least_round_trip))

    segments = [stretch.segments for stretch in stretches]
    facts["tcp.own_segments_sent_during"] = sum(count.sent for count in segments)
    facts["tcp.own_retransmitted_during"] = sum(count.retransmitted for count in segments)
    facts["tcp.own_segments_received_during"] = sum(count.received for count in segments)
    facts["tcp.own_out_of_order_during"] = sum(count.out_of_order for count in segments)
    return facts
