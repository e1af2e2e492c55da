"""The timed bytes of FTP: a data connection read into one buffer, or written from one."""

from __future__ import annotations

import socket
import ssl
import struct

from app.clients.base import Meter, Sink
from app.clients.content import Content
from app.clients.tcp_info import waiting_bytes


def receive_all(
    data: socket.socket, buffer: memoryview, size_bytes: int, meter: Meter, into: Sink | None = None
) -> tuple[int, float]:
    """Read until ``size_bytes`` or the other end closes: the bytes that came, the clock's reading at the last one."""
    received, receive, advance = 0, data.recv_into, meter.advance
    while received < size_bytes and (count := receive(buffer)):
        if into is not None:
            into(received, buffer[:count])
        received += count
        advance(received)
    return received, meter.clock()


def send_all(data: socket.socket, content: Content, block_bytes: int, meter: Meter) -> None:
    """Write all of ``content``, a block at a time."""
    sent, size_bytes = 0, content.size_bytes
    meter.arrived = lambda handed_bytes: max(0, handed_bytes - waiting_bytes(data))
    while sent < size_bytes:
        length = min(block_bytes, size_bytes - sent)
        data.sendall(content.block(sent, length))
        sent += length
        meter.advance(sent)


def limit_waiting(sock: socket.socket, seconds: float) -> None:
    """Let the kernel end a wait in ``recv`` and ``send`` after so long: no ``poll`` before each call is needed."""
    if isinstance(sock, ssl.SSLSocket):  # TLS would try again for ever after the kernel's timeout
        sock.settimeout(seconds)
        return
    timeout = struct.pack("ll", int(seconds), int(seconds % 1 * 1_000_000))
    sock.settimeout(None)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
