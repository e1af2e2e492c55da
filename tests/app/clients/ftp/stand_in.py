"""A stand-in for an FTP server, on the loopback, that can be told to answer anything at all."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from storage.records import Target

Answer = bytes | Callable[[socket.socket], None]
"""What goes out, or what sends it; in the latter case for as long as the client listens."""

SIZE = 100_000
_USUAL: dict[str, Answer] = {
    "greeting": b"220 ready\r\n",
    "USER": b"331 password\r\n",
    "PASS": b"230 in\r\n",
    "FEAT": b"211-Features\r\n SIZE\r\n MLST type*;size*;\r\n UTF8\r\n211 End\r\n",
    "OPTS": b"200 ok\r\n",
    "TYPE": b"200 ok\r\n",
    "CWD": b"250 ok\r\n",
    "DELE": b"250 gone\r\n",
    "QUIT": b"221 bye\r\n",
    "SIZE": f"213 {SIZE}\r\n".encode(),
    "begin": b"150 here it comes\r\n",
    "end": b"226 done\r\n",
    "data": bytes(SIZE),
}


class StandIn:
    """Each connection is answered by a thread of its own; ``answers`` replace the usual ones, by command."""

    def __init__(self, answers: Mapping[str, Answer] | None = None) -> None:
        self._answers = {**_USUAL, **(answers or {})}
        self._told_size = "SIZE" in (answers or {})
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.received_bytes = 0
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for sock in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def target(self, path: str = "/file") -> Target:
        """A target on this server."""
        return Target(protocol="ftp", host="127.0.0.1", port=self.port, path=path)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(sock)
            threading.Thread(target=self._converse, args=(sock,), daemon=True).start()

    def _converse(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), sock, sock.makefile("rb") as lines:
            self._say(sock, "greeting")
            passive: socket.socket | None = None
            for line in lines:
                command = line.split(b" ")[0].strip().decode("ascii", "replace").upper()
                if command == "PASV" and "PASV" not in self._answers:
                    passive = socket.create_server(("127.0.0.1", 0))
                    self._open.append(passive)
                    port = passive.getsockname()[1]
                    sock.sendall(f"227 passive (127,0,0,1,{port >> 8},{port & 255})\r\n".encode())
                elif command in {"RETR", "LIST", "MLSD", "STOR"} and command not in self._answers and passive:
                    self._transfer(sock, passive, command)
                elif command == "SIZE" and not line.strip().endswith(b"/file") and not self._told_size:
                    sock.sendall(
                        f"213 {self.received_bytes}\r\n".encode() if self.received_bytes else b"550 no file\r\n"
                    )
                else:
                    self._say(sock, command)

    def _transfer(self, sock: socket.socket, passive: socket.socket, command: str) -> None:
        self._say(sock, "begin")
        data, _ = passive.accept()
        self._open.append(data)
        with data:
            if command != "STOR":
                self._say(data, "data")
            while command == "STOR" and (part := data.recv(1 << 16)):
                self.received_bytes += len(part)
        self._say(sock, "end")

    def _say(self, sock: socket.socket, what: str) -> None:
        answer = self._answers.get(what, b"500 what?\r\n")
        if callable(answer):
            answer(sock)
        else:
            sock.sendall(answer)


def dripping(piece: bytes, every_seconds: float, for_seconds: float, then: bytes = b"") -> Callable[..., None]:
    """Sends the same piece again and again, and something else at last."""

    def send(sock: socket.socket) -> None:
        until = time.monotonic() + for_seconds
        while time.monotonic() < until:
            sock.sendall(piece)
            time.sleep(every_seconds)
        sock.sendall(then)

    return send


def silent(sock: socket.socket) -> None:
    """Says nothing until the client hangs up."""
    while sock.recv(1 << 16):
        pass
