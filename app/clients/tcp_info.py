"""What the kernel tells of one TCP connection: bytes that wait in it, round trips, segments sent again (tcp(7))."""

import array
import fcntl
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

_SIOCOUTQ = 0x5411
"""The request for the bytes that the other end has not acknowledged (linux/sockios.h)."""
_INFO_BYTES = 256
_LEAST_BYTES = 104
"""As long as Linux 2.6's ``struct tcp_info``, which ends with the segments sent again."""
_OPTIONS_OFFSET, _TIMESTAMPS = 5, 1
_UNKNOWN_MICROSECONDS = 0xFFFFFFFF
_REQUESTS = 3


def waiting_bytes(sock: socket.socket) -> int:
    """Bytes handed to the socket that its other end has not acknowledged; 0 where the system does not say."""
    count = array.array("i", [0])
    try:
        fcntl.ioctl(sock.fileno(), _SIOCOUTQ, count)
    except (OSError, ValueError):
        return 0
    return count[0]


class Segments(NamedTuple):
    """TCP segments of one connection."""

    sent: int = 0
    retransmitted: int = 0
    received: int = 0
    out_of_order: int = 0
    """Received after a gap: what a loss, or two ways through the network, leave behind."""

    def since(self, before: "Segments") -> "Segments":
        """What was counted since an earlier look at the same connection."""
        return Segments(*(now - then for now, then in zip(self, before, strict=True)))

    def plus(self, other: "Segments") -> "Segments":
        """The segments of two stretches of traffic together."""
        return Segments(*(one + more for one, more in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpInfo:
    """One connection at one moment, or one stretch of its traffic."""

    segments: Segments
    round_trip_seconds: float | None = None
    """Smoothed over the last segments: under load, with the queues that the load fills."""
    least_round_trip_seconds: float | None = None
    """Of the last minutes, connecting included: the distance."""
    timestamps: bool = True
    """Whether both ends stamp their segments (RFC 7323), which takes 12 bytes of each."""
    path_mtu_bytes: int | None = None
    """The largest packet that gets through to the other end, as far as the kernel knows (IP_MTU)."""
    segment_bytes: int | None = None
    """The content of one full segment sent (MSS), without TCP options."""

    @classmethod
    def of(cls, sock: socket.socket) -> Self | None:
        """The connection as it is now; None where the system does not tell."""
        try:
            raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
        except (OSError, AttributeError):
            return None
        return cls.parsed(raw)

    @classmethod
    def parsed(cls, raw: bytes) -> Self | None:
        """What a ``struct tcp_info`` of linux/tcp.h says; what an older kernel leaves out at its end is zero."""
        if len(raw) < _LEAST_BYTES:
            return None
        whole = raw.ljust(_INFO_BYTES, b"\0")

        def at(offset: int) -> int:
            return int(struct.unpack_from("=I", whole, offset)[0])

        least = at(148)
        return cls(
            segments=Segments(sent=at(136), retransmitted=at(100), received=at(140), out_of_order=at(224)),
            round_trip_seconds=at(68) / 1e6 or None,
            least_round_trip_seconds=least / 1e6 if 0 < least < _UNKNOWN_MICROSECONDS else None,
            timestamps=bool(whole[_OPTIONS_OFFSET] & _TIMESTAMPS),
            path_mtu_bytes=at(60) or None,
            segment_bytes=at(16) or None,
        )

    def since(self, before: "TcpInfo | None") -> "TcpInfo":
        """The connection's traffic since an earlier look; the round trips are those of now."""
        if before is None:
            return self
        return replace(self, segments=self.segments.since(before.segments))


def connection_facts(info: TcpInfo | None) -> dict[str, str | int | float]:
    """``tcp.round_trip_seconds`` (smoothed), ``tcp.least_round_trip_seconds``, ``tcp.timestamps_used``,
    ``mtu.path_bytes`` and ``mtu.segment_bytes``, if known.
    """
    known = {
        "tcp.round_trip_seconds": info.round_trip_seconds if info else None,
        "tcp.least_round_trip_seconds": info.least_round_trip_seconds if info else None,
        "tcp.timestamps_used": ("yes" if info.timestamps else "no") if info else None,
        "mtu.path_bytes": info.path_mtu_bytes if info else None,
        "mtu.segment_bytes": info.segment_bytes if info else None,
    }
    return {name: value for name, value in known.items() if value is not None}


def request_facts(ask: Callable[[], object]) -> dict[str, str | int | float]:
    """``request.least_round_trip_seconds``: the least time in which the server answered ``ask``, of three."""
    times = []
    for _ in range(_REQUESTS):
        began = time.perf_counter()
        ask()
        times.append(time.perf_counter() - began)
    return {"request.least_round_trip_seconds": round(min(times), 7)}


def traffic_facts(stretches: Sequence[TcpInfo]) -> dict[str, str | int | float]:
    """What the connections of some transfers went through, as facts of the path; empty where nothing was told.

    What :func:`connection_facts` tells, of the last transfer, and the least round trip of all; this end's segments,
    ``tcp.own_segments_sent_during``, ``tcp.own_retransmitted_during``, ``tcp.own_segments_received_during`` and
    ``tcp.own_out_of_order_during``.
    """
    if not stretches:
        return {}
    total = Segments()
    for one in stretches:
        total = total.plus(one.segments)
    least = [one.least_round_trip_seconds for one in stretches if one.least_round_trip_seconds is not None]
    return connection_facts(replace(stretches[-1], least_round_trip_seconds=min(least, default=None))) | {
        "tcp.own_segments_sent_during": total.sent,
        "tcp.own_retransmitted_during": total.retransmitted,
        "tcp.own_segments_received_during": total.received,
        "tcp.own_out_of_order_during": total.out_of_order,
    }
