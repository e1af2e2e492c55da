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
    rows = [line.split(" | ") for line in text.splitlines() if line and not line.startswith("#")]
    return {code: (getattr(errors, error), text) for owner, code, error, text in rows if owner == whose}


_FILE_REFUSALS = refusals("file")


def file_error(error: OSError, where: str) -> errors.MeasurementError:
    unknown = errors.MeasurementError, f"{error.strerror or error}; look at the file system and its rights"
    kind, text = _FILE_REFUSALS.get(errno.errorcode.get(error.errno or 0, ""), unknown)
    return kind(f"{where}: {text}")


def _hold_nothing(_sock: socket.socket) -> None:
    """For who cannot be interrupted while connecting."""


def connect_tcp(
    host: str,
    port: int,
    where: str,
    timeout_seconds: float,
    server: str,
    hold: Callable[[socket.socket], None] = _hold_nothing,
) -> socket.socket:
    """``server`` should listen there; ``hold`` gets each socket first, to shut it down. Raises UnreachableError."""
    try:
        return _first_that_answers(host, port, timeout_seconds, hold)
    except (OSError, UnicodeError) as error:
        if isinstance(error, socket.gaierror | UnicodeError):
            reason = "no host of that name is known; check the name, or give its address"
        elif isinstance(error, TimeoutError):
            reason = f"no answer within {timeout_seconds:g} s; check the address and the firewall"
        elif isinstance(error, ConnectionRefusedError):
            reason = f"nothing listens on port {port} of {host}; start {server} there, or name its port: HOST:PORT"
        else:
            reason = f"cannot be reached ({error.strerror or error}); check the name and the network"

        raise errors.UnreachableError(f"{where}: {reason}") from error


def _first_that_answers(
    host: str, port: int, timeout_seconds: float, hold: Callable[[socket.socket], None]
) -> socket.socket:
    """All addresses of the host together get ``timeout_seconds``."""
    until = time.monotonic() + timeout_seconds
    last_error: OSError | None = None

    for family, kind, protocol, _name, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        hold(sock)
        try:
            sock.settimeout(max(0.001, until - time.monotonic()))
            sock.connect(address)
        except OSError as error:
            sock.close()
            last_error = error
        else:
            sock.settimeout(timeout_seconds)
            return sock
    raise last_error or OSError("no address")


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
_ALMOST = 0.9
"""Of the seconds: whoever waited so long for one answer waited for that one, and not for the stage's end."""


class StallWatch:
    """Fails when too little payload moved in ``seconds``; greetings, keep-alives and single bytes do not count."""

    def __init__(self, seconds: float, where: Callable[[], str], clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._where = where
        self._clock = clock
        self._payload_bytes = 0
        self._began_at = clock()
        self._deadline = self._began_at + seconds
        self._stage_end = math.inf
        self._stage_seconds = math.inf

    def start(self) -> None:
        self._payload_bytes = 0
        self._began_at = self._clock()
        self._deadline = min(self._began_at + self.seconds, self._stage_end)

    def note_moved(self, payload_bytes: int) -> None:
        if payload_bytes - self._payload_bytes >= self.seconds * LEAST_BYTES_PER_SECOND:
            self._payload_bytes = payload_bytes
            self._began_at = self._clock()
            self._deadline = min(self._began_at + self.seconds, self._stage_end)
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
        now = self._clock()
        happened = f"nothing moved for {self.seconds:g} s"
        if now > self._stage_end and now - self._began_at < _ALMOST * self.seconds:
            happened = f"it was not done within {self._stage_seconds:g} s"
        return errors.StalledError(
            f"{self._where()}: {happened}; look at the server and the network, or allow it more time"
        )

    @contextmanager
    def stage(self, seconds: float) -> Iterator[None]:
        """Several requests that have to be done in ``seconds`` together."""
        outer_end = self._stage_end
        outer_seconds = self._stage_seconds
        end = self._clock() + seconds
        if end < outer_end:
            self._stage_end = end
            self._stage_seconds = seconds
        self.start()
        try:
            yield
        finally:
            self._stage_end = outer_end
            self._stage_seconds = outer_seconds


_SIOCOUTQ = 0x5411
_INFO_BYTES = 256
_LEAST_BYTES = 104
_OPTIONS_OFFSET = 5
_TIMESTAMPS = 1
_UNKNOWN_MICROSECONDS = 0xFFFFFFFF
_REQUESTS = 3


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

        least_microseconds = number_at(148)
        is_least_known = 0 < least_microseconds < _UNKNOWN_MICROSECONDS
        return cls(
            segments=Segments(
                sent=number_at(136),
                retransmitted=number_at(100),
                received=number_at(140),
                out_of_order=number_at(224),
            ),
            round_trip_seconds=number_at(68) / 1e6 or None,
            least_round_trip_seconds=least_microseconds / 1e6 if is_least_known else None,
            timestamps=bool(padded[_OPTIONS_OFFSET] & _TIMESTAMPS),
            path_mtu_bytes=number_at(60) or None,
            segment_bytes=number_at(16) or None,
        )

    def since(self, before: "TcpInfo | None") -> "TcpInfo":
        """Differences of the counters; round trips are the current ones."""
        return replace(self, segments=self.segments.since(before.segments)) if before is not None else self


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


def request_facts(ask: Callable[[], object]) -> dict[str, str | int | float]:
    """``request.least_round_trip_seconds``: the minimum of three calls of ``ask``."""
    durations = []
    for _ in range(_REQUESTS):
        began_at = time.perf_counter()
        ask()
        durations.append(time.perf_counter() - began_at)
    return {"request.least_round_trip_seconds": round(min(durations), 7)}


def traffic_facts(stretches: Sequence[TcpInfo]) -> dict[str, str | int | float]:
    """Sums of this machine's segments, and the last transfer's :func:`connection_facts`; empty if unknown."""
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
