"""FTP's data connections: what is received and sent while a transfer is timed, and the lines of a folder's list.

A call that receives or sends ends after a *tick*, so that a cancellation or a stall is noticed.
"""

import os
import socket
import ssl
import struct
from collections.abc import Callable, Iterator

from app.base.errors import ProtocolError
from app.clients.base import Content, Meter, Sink
from app.clients.stall_watch import StallWatch
from app.clients.tcp_info import waiting_bytes

TICK_SECONDS = 0.1
WAITS = (BlockingIOError, TimeoutError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""What a socket raises when nothing moved within a tick."""
_LINE_BYTES = 8192
"""The longest line of a list."""
_LOW_WATER_BYTES = 128 * 1024
"""The low water mark of a fast path: the bytes that must have arrived before ``recv`` returns."""

_PROBE_BYTES = 16 * 1024 * 1024
"""The first bytes of a file, whose speed tells whether the path is fast."""
_SWIFT_BYTES_PER_SECOND = 500e6
"""A path is fast where the first bytes come faster than this."""
_SWIFT_TLS_BYTES_PER_SECOND = 200e6
"""The same with TLS, which takes more time than all else at such rates."""


def receive_all(
    data: socket.socket, buffer: memoryview, size_bytes: int, meter: Meter, into: Sink | None = None
) -> tuple[int, float]:
    """Read until ``size_bytes`` or the server closes. Returns the bytes received and the clock at the last one."""
    received = 0
    receive = data.recv_into
    advance = meter.advance
    stages = _low_water_stages(data, len(buffer), size_bytes, meter.clock)
    stage_end = next(stages)
    while received < size_bytes:
        # Going on in the generator sets the low water mark for what follows.
        while received >= stage_end:
            stage_end = next(stages)

        try:
            count = receive(buffer)
        except WAITS:
            advance(received)
            continue
        if not count:
            break

        if into is not None:
            into(received, buffer[:count])
        received += count
        advance(received)
    return received, meter.clock()


def _low_water_stages(
    data: socket.socket, block_bytes: int, size_bytes: int, clock: Callable[[], float]
) -> Iterator[int]:
    """The stages of receiving a file, each by the byte at which it ends; the next is asked for when that has arrived.

    Between two stages the socket's low water mark is set. There are three on a fast path: the probe, which the
    generator times by when it is asked again; most of the file, with the mark; and the last block, without it. On a
    fast path, waking for each piece that the server sends costs half as much again, and a sixth with TLS; on a slow
    one, and at the end of the file, ``recv`` must not wait for more than is there.
    """
    began_at = clock()
    is_tls = isinstance(data, ssl.SSLSocket)
    is_plain = data.gettimeout() is None  # gevent's sockets have one, and receive in other ways (`wait_in_ticks`)
    if (is_tls or is_plain) and size_bytes > _PROBE_BYTES + block_bytes:
        yield _PROBE_BYTES
        swift_bytes_per_second = _SWIFT_TLS_BYTES_PER_SECOND if is_tls else _SWIFT_BYTES_PER_SECOND
        swift_path_bytes = swift_bytes_per_second * (clock() - began_at)
        if swift_path_bytes < _PROBE_BYTES:
            data.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, _LOW_WATER_BYTES)
            yield size_bytes - block_bytes
            data.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
    yield size_bytes


def send_all(data: socket.socket, content: Content, block_bytes: int, meter: Meter) -> None:
    """Hand all of the content to the kernel, which may not have sent it yet."""

    def arrived_bytes(handed_bytes: int) -> int:
        return max(0, handed_bytes - waiting_bytes(data))

    sent = 0
    size_bytes = content.size_bytes
    send = data.send
    meter.arrived = arrived_bytes
    while sent < size_bytes:
        block = content.block(sent, min(block_bytes, size_bytes - sent))
        try:
            sent += send(block)
        except WAITS:
            meter.advance(sent)  # nothing went out; TLS wants the same block once more
            continue
        meter.advance(sent)


def has_ended(data: socket.socket, buffer: memoryview, stall: StallWatch) -> bool:
    """Whether the server closes instead of sending more. Raises StalledError when it does neither."""
    stall.start()
    while True:
        try:
            return not data.recv_into(buffer)
        except WAITS:
            stall.check()
        except OSError:
            return True


def receive_lines(data: socket.socket, buffer: memoryview, stall: StallWatch, where: str) -> Iterator[tuple[str, int]]:
    """Lines of a folder list with their length in bytes; invalid UTF-8 is preserved."""
    received_bytes = 0
    unfinished_line = b""
    stall.start()
    while True:
        try:
            count = data.recv_into(buffer)
        except WAITS:
            stall.check()
            continue

        if not count:
            yield _decoded(unfinished_line), len(unfinished_line) + 1
            return

        received_bytes += count
        *lines, unfinished_line = (unfinished_line + bytes(buffer[:count])).split(b"\n")
        for line in lines:
            yield _decoded(line), len(line) + 1
        if len(unfinished_line) > _LINE_BYTES:
            raise ProtocolError(f"{where}: the server's list of files makes no sense; see its log")
        stall.note_moved(received_bytes)


def _decoded(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", "surrogateescape")


def wait_in_ticks(sock: socket.socket) -> None:
    """The kernel ends ``recv`` and ``send`` after a tick, which saves a ``poll`` before each call."""
    sock.settimeout(None)
    if isinstance(sock, ssl.SSLSocket) or not os.get_blocking(sock.fileno()):
        sock.settimeout(TICK_SECONDS)  # TLS would try again for ever after the kernel's; gevent's sockets never see it
        return

    timeout = struct.pack("ll", 0, int(TICK_SECONDS * 1_000_000))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
