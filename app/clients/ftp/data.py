"""The timed bytes of FTP: a data connection read into one buffer, or written from one."""

import os
import socket
import ssl
import struct
from collections.abc import Iterator

from app.clients.base import Meter, Sink
from app.clients.content import Content
from app.clients.stall import StallWatch
from app.clients.tcp_info import waiting_bytes
from app.errors import ProtocolError

TICK_SECONDS = 0.1
"""How long the kernel waits before the meter is looked at: for a cancellation, and for a transfer that stands still."""
WAITS = (BlockingIOError, TimeoutError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""What a tick without a byte raises."""
_LINE_BYTES = 8192


def receive_all(
    data: socket.socket, buffer: memoryview, size_bytes: int, meter: Meter, into: Sink | None = None
) -> tuple[int, float]:
    """Read until ``size_bytes`` or the other end closes: the bytes that came, the clock's reading at the last one."""
    received, receive, advance = 0, data.recv_into, meter.advance
    while received < size_bytes:
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


def send_all(data: socket.socket, content: Content, block_bytes: int, meter: Meter) -> None:
    """Write all of ``content``, a block at a time."""
    sent, size_bytes, send = 0, content.size_bytes, data.send
    meter.arrived = lambda handed_bytes: max(0, handed_bytes - waiting_bytes(data))
    while sent < size_bytes:
        block = content.block(sent, min(block_bytes, size_bytes - sent))
        try:
            sent += send(block)
        except WAITS:
            meter.advance(sent)  # nothing went out; TLS wants the same block once more
            continue
        meter.advance(sent)


def has_ended(data: socket.socket, buffer: memoryview, stall: StallWatch) -> bool:
    """Whether the other end closes instead of sending more. Raises StalledError when it does neither."""
    stall.start()
    while True:
        try:
            return not data.recv_into(buffer)
        except WAITS:
            stall.check()
        except OSError:
            return True


def receive_lines(data: socket.socket, buffer: memoryview, stall: StallWatch, where: str) -> Iterator[tuple[str, int]]:
    """The lines of a folder's list with their bytes, any that are no UTF-8 kept as they are."""
    received, rest = 0, b""
    stall.start()
    while True:
        try:
            count = data.recv_into(buffer)
        except WAITS:
            stall.check()
            continue
        received += count
        *lines, rest = (rest + bytes(buffer[:count])).split(b"\n") if count else (rest, b"")
        for line in lines:
            yield line.rstrip(b"\r").decode("utf-8", "surrogateescape"), len(line) + 1
        if not count:
            return
        if len(rest) > _LINE_BYTES:
            raise ProtocolError(f"{where}: the server's list of files makes no sense; see its log")
        stall.moved(received)


def wait_in_ticks(sock: socket.socket) -> None:
    """Let the kernel end a wait in ``recv`` and ``send`` after a tick: no ``poll`` before each call is needed."""
    sock.settimeout(None)
    if isinstance(sock, ssl.SSLSocket) or not os.get_blocking(sock.fileno()):
        sock.settimeout(TICK_SECONDS)  # TLS would try again for ever after the kernel's; gevent's sockets never see it
        return
    timeout = struct.pack("ll", 0, int(TICK_SECONDS * 1_000_000))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
