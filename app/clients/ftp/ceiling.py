"""How fast the FTP client could be: the same data connection with a process at the other end that does nothing else.

A measured series is compared with this ceiling: near it, the client was the limit and not the server.
"""

import os
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

from app.clients.base import MAX_BLOCK_BYTES, Content, Meter, receive_buffer
from app.clients.calibration import far_process
from app.clients.ftp.data import receive_all, send_all, wait_in_ticks
from app.clients.stall_watch import StallWatch
from storage.records import ClientFacts, Command

_TIMEOUT_SECONDS = 30.0
_DONE = b"226"
"""A server's reply that all was received."""


def ceiling_seconds(facts: ClientFacts, command: Command, size_bytes: int) -> float:
    """The seconds for that many bytes; for a get, of the faster of two ways to send: they cost to receive unequally."""
    ways = [_send_content]
    if command is Command.GET and not facts.encryption:
        ways.append(_send_file)
    return min(_transfer_seconds(facts, command, size_bytes, way) for way in ways)


def _transfer_seconds(
    facts: ClientFacts, command: Command, size_bytes: int, send: Callable[[socket.socket, int], None]
) -> float:
    block_bytes = facts.block_bytes or MAX_BLOCK_BYTES
    server_side = _context(ssl.PROTOCOL_TLS_SERVER) if facts.encryption else None

    def answer(sock: socket.socket) -> None:
        data = server_side.wrap_socket(sock, server_side=True) if server_side else sock
        if command is Command.GET:
            send(data, size_bytes)
        else:
            receive_all(data, receive_buffer(block_bytes), size_bytes, Meter(threading.Event()))
            data.sendall(_DONE)
        data.recv(1)  # until this side hangs up: to end earlier could cut off what is still under way

    with far_process(answer) as sock:
        data: socket.socket = _context(ssl.PROTOCOL_TLS_CLIENT).wrap_socket(sock) if server_side else sock
        wait_in_ticks(data)
        stall = StallWatch(_TIMEOUT_SECONDS, lambda: "the calibration")
        buffer = receive_buffer(block_bytes)
        content = Content(size_bytes)
        meter = Meter(threading.Event())

        started_at = meter.start(look=stall.note_moved)
        if command is Command.GET:
            _, ended_at = receive_all(data, buffer, size_bytes, meter)
            return ended_at - started_at
        send_all(data, content, block_bytes, meter)
        receive_all(data, buffer, len(_DONE), Meter(threading.Event()))
        return meter.clock() - started_at


def _send_content(data: socket.socket, size_bytes: int) -> None:
    send_all(data, Content(size_bytes), MAX_BLOCK_BYTES, Meter(threading.Event()))


def _send_file(data: socket.socket, size_bytes: int) -> None:
    file = os.memfd_create("sharebench", os.MFD_CLOEXEC)
    os.write(file, Content(MAX_BLOCK_BYTES).block(0, MAX_BLOCK_BYTES))

    unsent_bytes = size_bytes
    while unsent_bytes:
        start = (size_bytes - unsent_bytes) % MAX_BLOCK_BYTES
        unsent_bytes -= os.sendfile(data.fileno(), file, start, min(unsent_bytes, MAX_BLOCK_BYTES - start))


def _context(side: int) -> ssl.SSLContext:
    """TLS without certificates: nobody but our own process is at the other end."""
    context = ssl.SSLContext(side)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    # Version 1.3 has no ciphers without certificates.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ADH-AES256-GCM-SHA384:@SECLEVEL=0")
    if side == ssl.PROTOCOL_TLS_SERVER:
        context.load_dh_params(str(Path(__file__).with_name("ffdhe2048.pem")))  # RFC 7919, appendix A.1
    return context
