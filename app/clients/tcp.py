"""TCP connections: connect, stall detection, kernel statistics (tcp(7)) and error messages."""

import array
import errno
import math
import os
import signal
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

from app.base import errors

SPACE_ADVICE = "free some, or take a smaller file"


Refusal = tuple[type[errors.MeasurementError], str]
"""The error, and what happened and what to do."""


def refusals(whose: str) -> dict[str, Refusal]:
    """By code: an SMB server's (``smb``), the file system's (``file``), an FTP server's (``ftp``), or ``curl``'s."""
    text = Path(__file__).with_name("refusals.txt").read_text(encoding="utf-8")
    rows = (line.split(" | ") for line in text.splitlines() if line and not line.startswith("#"))
    return {code: (getattr(errors, error), told) for who, code, error, told in rows if who == whose}


_FILE_REFUSALS = refusals("file")


def file_error(error: OSError, where: str) -> errors.MeasurementError:
    unknown = errors.MeasurementError, f"{error.strerror or error}; look at the file system and its rights"
    kind, told = _FILE_REFUSALS.get(errno.errorcode.get(error.errno or 0, ""), unknown)
    return kind(f"{where}: {told}")


def connect_tcp(
    host: str,
    port: int,
    where: str,
    timeout_seconds: float,
    server: str,
    hold: Callable[[socket.socket], None] = lambda _sock: None,
) -> socket.socket:
    """``server`` should listen there; ``hold`` gets each socket first, to shut it down. Raises UnreachableError."""
    try:
        return _first_that_answers(host, port, timeout_seconds, hold)
    except (OSError, UnicodeError) as error:
        if isinstance(error, socket.gaierror | UnicodeError):
            why = "no host of that name is known; check the name, or give its address"
        elif isinstance(error, TimeoutError):
            why = f"no answer within {timeout_seconds:g} s; check the address and the firewall"
        elif isinstance(error, ConnectionRefusedError):
            why = f"nothing listens on port {port} of {host}; start {server} there, or name its port: HOST:PORT"
        else:
            why = f"cannot be reached ({error.strerror or error}); check the name and the network"
        raise errors.UnreachableError(f"{where}: {why}") from error


def _first_that_answers(
    host: str, port: int, timeout_seconds: float, hold: Callable[[socket.socket], None]
) -> socket.socket:
    """All addresses of the host together get ``timeout_seconds``."""
    until = time.monotonic() + timeout_seconds
    last: OSError | None = None
    for family, kind, protocol, _name, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        hold(sock)
        try:
            sock.settimeout(max(0.001, until - time.monotonic()))
            sock.connect(address)
        except OSError as error:
            sock.close()
            last = error
        else:
            sock.settimeout(timeout_seconds)
            return sock
    raise last or OSError("no address")


def connection_error(error: Exception, where: str, timeout_seconds: float) -> errors.MeasurementError:
    if isinstance(error, (TimeoutError, BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)):
        return StallWatch(timeout_seconds, lambda: where).error()
    if isinstance(error, ssl.SSLCertVerificationError):
        return errors.UnreachableError(
            f"{where}: the server's certificate is not trusted ({error.verify_message}); "
            "name the certificate to trust in SSL_CERT_FILE"
        )
    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
        return errors.ProtocolError(f"{where}: TLS failed ({error.reason or error}); check the server's TLS settings")
    return errors.ConnectionLostError(
        f"{where}: the connection was lost; check that the server still runs, and measure again"
    )


def one_line(text: str, limit: int = 200) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


LEAST_BYTES_PER_SECOND = 1024


class StallWatch:
    """Fails when too little payload moved in ``seconds``; greetings, keep-alives and single bytes do not count."""

    def __init__(self, seconds: float, where: Callable[[], str], clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._where = where
        self._clock = clock
        self._payload_bytes = 0
        self._deadline = clock() + seconds
        self._stage_end = math.inf

    def start(self) -> None:
        self._payload_bytes = 0
        self._deadline = min(self._clock() + self.seconds, self._stage_end)

    def moved(self, payload_bytes: int) -> None:
        if payload_bytes - self._payload_bytes >= self.seconds * LEAST_BYTES_PER_SECOND:
            self._payload_bytes = payload_bytes
            self._deadline = min(self._clock() + self.seconds, self._stage_end)
        else:
            self.check()

    @property
    def is_over(self) -> bool:
        return self._clock() > self._deadline

    def check(self) -> None:
        if self.is_over:
            raise self.error()

    def left_seconds(self) -> float:
        """At least a millisecond: a socket takes 0 for non-blocking."""
        return max(0.001, self._deadline - self._clock())

    def error(self) -> errors.StalledError:
        return errors.StalledError(
            f"{self._where()}: nothing moved for {self.seconds:g} s; look at the server and the network, or allow it "
            "more time"
        )

    @contextmanager
    def stage(self, seconds: float) -> Iterator[None]:
        before, self._stage_end = self._stage_end, min(self._stage_end, self._clock() + seconds)
        self.start()
        try:
            yield
        finally:
            self._stage_end = before


_SIOCOUTQ = 0x5411
_INFO_BYTES = 256
_LEAST_BYTES = 104
_OPTIONS_OFFSET, _TIMESTAMPS = 5, 1
_UNKNOWN_MICROSECONDS = 0xFFFFFFFF
_REQUESTS = 3


def waiting_bytes(sock: socket.socket) -> int:
    """Bytes not acknowledged by the peer (SIOCOUTQ, linux/sockios.h); 0 if unknown."""
    import fcntl  # noqa: PLC0415  only POSIX systems have it

    count = array.array("i", [0])
    try:
        fcntl.ioctl(sock.fileno(), _SIOCOUTQ, count)
    except (OSError, ValueError):
        return 0
    return count[0]


class Segments(NamedTuple):
    sent: int = 0
    retransmitted: int = 0
    received: int = 0
    out_of_order: int = 0
    """Received after a gap: packet loss, or several paths through the network."""

    def since(self, before: "Segments") -> "Segments":
        return Segments(*(now - then for now, then in zip(self, before, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpInfo:
    segments: Segments
    round_trip_seconds: float | None = None
    least_round_trip_seconds: float | None = None
    timestamps: bool = True
    """RFC 7323; they take 12 bytes of each segment."""
    path_mtu_bytes: int | None = None
    segment_bytes: int | None = None

    @classmethod
    def of(cls, sock: socket.socket) -> Self | None:
        try:
            raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
        except (OSError, AttributeError):
            return None
        return cls.parsed(raw)

    @classmethod
    def parsed(cls, raw: bytes) -> Self | None:
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
        """Differences of the counters; round trips are the current ones."""
        return replace(self, segments=self.segments.since(before.segments)) if before is not None else self


def connection_facts(info: TcpInfo | None) -> dict[str, str | int | float]:
    """Those that are known; the round trip is the kernel's smoothed one."""
    known = {
        "tcp.round_trip_seconds": info.round_trip_seconds if info else None,
        "tcp.least_round_trip_seconds": info.least_round_trip_seconds if info else None,
        "tcp.timestamps_used": ("yes" if info.timestamps else "no") if info else None,
        "mtu.path_bytes": info.path_mtu_bytes if info else None,
        "mtu.segment_bytes": info.segment_bytes if info else None,
    }
    return {name: value for name, value in known.items() if value is not None}


def request_facts(ask: Callable[[], object]) -> dict[str, str | int | float]:
    """``request.least_round_trip_seconds``: the minimum of three calls of ``ask``."""
    times = []
    for _ in range(_REQUESTS):
        began = time.perf_counter()
        ask()
        times.append(time.perf_counter() - began)
    return {"request.least_round_trip_seconds": round(min(times), 7)}


def traffic_facts(stretches: Sequence[TcpInfo]) -> dict[str, str | int | float]:
    """Sums of this machine's segments, and the last transfer's :func:`connection_facts`; empty if unknown."""
    if not stretches:
        return {}
    total = Segments(*map(sum, zip(*(one.segments for one in stretches), strict=True)))
    least = [one.least_round_trip_seconds for one in stretches if one.least_round_trip_seconds is not None]
    return connection_facts(replace(stretches[-1], least_round_trip_seconds=min(least, default=None))) | {
        "tcp.own_segments_sent_during": total.sent,
        "tcp.own_retransmitted_during": total.retransmitted,
        "tcp.own_segments_received_during": total.received,
        "tcp.own_out_of_order_during": total.out_of_order,
    }


@contextmanager
def far_process(answer: Callable[[socket.socket], None]) -> Iterator[socket.socket]:
    """A loopback connection to a forked process that runs ``answer``; for single-threaded processes only."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    child = os.fork()
    if not child:
        code = 1
        try:
            near.close()
            answer(far)
            code = 0
        finally:
            os._exit(code)
    far.close()
    try:
        with near:
            yield near
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
