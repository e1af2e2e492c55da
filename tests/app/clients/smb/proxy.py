"""A TCP proxy on the loopback that sees each SMB message and may change, hold back, add or cut them."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

READ, WRITE = 8, 9
PENDING = 0x103
RESPONSE, ASYNC, SIGNED = 1, 2, 8


class CutError(Exception):
    """Raised by a script: close the connection in both directions."""


class HangError(Exception):
    """Raised by a script: let nothing more through, and stay open."""


class Raw(bytes):
    """Bytes that a script sends as they are, without the prefix of a message."""


Message = bytes | bytearray
Script = Callable[[bytearray], Iterable[Message]]


def unchanged(message: bytearray) -> Iterable[Message]:
    """The script that lets everything through."""
    return [message]


class Proxy:
    """Listens on a port of its own; ``answers`` and ``requests`` are called with each message of their direction."""

    def __init__(self, host: str, port: int, answers: Script = unchanged, requests: Script = unchanged) -> None:
        self._server = (host, port)
        self._scripts = {"answers": answers, "requests": requests}
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._run(self._accept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._close(*self._sockets)
        for thread in self._threads:
            thread.join(timeout=5)

    def _run(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            self._sockets += [client, server]
            self._run(self._forward, client, server, self._scripts["requests"])
            self._run(self._forward, server, client, self._scripts["answers"])

    def _forward(self, source: socket.socket, sink: socket.socket, script: Script) -> None:
        try:
            while True:
                prefix = _exactly(source, 4)
                message = _exactly(source, int.from_bytes(prefix[1:], "big"))
                for part in script(message):
                    sink.sendall(part if isinstance(part, Raw) else len(part).to_bytes(4, "big") + part)
        except HangError:
            return
        except (CutError, OSError, EOFError):
            self._close(source, sink)

    @staticmethod
    def _close(*sockets: socket.socket) -> None:
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


def _exactly(source: socket.socket, count: int) -> bytearray:
    data = bytearray()
    while len(data) < count:
        part = source.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def command(message: Message) -> int:
    """The command of a message; -1 for an encrypted one."""
    return int.from_bytes(message[12:14], "little") if message[:4] == b"\xfeSMB" else -1


def is_success(message: Message, wanted: int) -> bool:
    """Whether a message answers a command with success."""
    return command(message) == wanted and message[8:12] == bytes(4)


def with_credits(message: Message, count: int) -> bytes:
    """The same message granting another number of credits."""
    return bytes(message[:14]) + struct.pack("<H", count) + message[16:]


def granted(message: Message) -> int:
    """The credits that a message grants."""
    return int.from_bytes(message[14:16], "little")


def interim(message: Message) -> bytes:
    """The STATUS_PENDING answer that would have come before this one, with its credits (MS-SMB2 3.3.4.4)."""
    flags = RESPONSE | ASYNC
    return (
        bytes(message[:8])
        + struct.pack("<IHHI", PENDING, command(message) & 0xFFFF, granted(message), flags)
        + message[20:32]
        + struct.pack("<Q", 77)
        + message[40:48]
        + bytes(16)
        + struct.pack("<HBBIB", 9, 0, 0, 0, 0)
    )


def refusal(message: Message, status: int) -> bytes:
    """An answer with that status in place of this one (MS-SMB2 2.2.2)."""
    return bytes(message[:8]) + struct.pack("<I", status) + message[12:64] + struct.pack("<HBBIB", 9, 0, 0, 0, 0)


def keep_alive() -> Raw:
    """A NetBIOS keep-alive (RFC 1002 4.3.5)."""
    return Raw(b"\x85\0\0\0")


def oplock_break() -> bytes:
    """An oplock break notification that nobody asked for (MS-SMB2 2.2.23.1)."""
    head = struct.pack("<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 0, 0, 18, 0, RESPONSE, 0, 2**64 - 1, 0, 0, 0, b"")
    return head + struct.pack("<HBBI16s", 24, 0, 0, 0, b"\xff" * 16)


def shortened(message: Message, length: int) -> bytes:
    """A READ answer that brings only the first ``length`` bytes."""
    start = message[66]
    return bytes(message[:68]) + struct.pack("<II", length, 0) + message[76 : start + length]


def offering(dialects: set[int]) -> Script:
    """Takes all other dialects out of the first request, as somebody in between would."""

    def act(message: bytearray) -> Iterable[Message]:
        if command(message) == 0:
            count = int.from_bytes(message[66:68], "little")
            offered = struct.unpack_from(f"<{count}H", message, 100)
            kept = [dialect for dialect in offered if dialect in dialects]
            return [
                bytes(message[:66]) + struct.pack("<H", len(kept)) + message[68:92] + bytes(8)
                + struct.pack(f"<{len(kept)}H", *kept)
            ]  # fmt: skip
        return [message]

    return act
