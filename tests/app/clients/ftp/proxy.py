"""A proxy on the loopback between an FTP client and a server: sees each line, and the bytes of each data connection."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from tests.app.clients.smb.proxy import CutError, HangError

Script = Callable[[bytes], Iterable[bytes]]
_PASSIVE = re.compile(rb"227 .*\(\d+,\d+,\d+,\d+,(\d+),(\d+)\)")
_EXTENDED = re.compile(rb"229 .*\(\|\|\|(\d+)\|\)")
_CHUNK_BYTES = 1 << 16


class HalfCutError(Exception):
    """Raised by a script for data: the receiver sees an end, the sender may go on into nothing."""


def unchanged(piece: bytes) -> Iterable[bytes]:
    """The script that lets everything through."""
    return [piece]


class FtpProxy:
    """Listens on a port of its own; a script is called with each line or each piece of data in its direction."""

    def __init__(
        self,
        host: str,
        port: int,
        replies: Script = unchanged,
        commands: Script = unchanged,
        down: Script = unchanged,
        up: Script = unchanged,
    ) -> None:
        self._server = (host, port)
        self._replies, self._commands, self._down, self._up = replies, commands, down, up
        self._sockets: list[socket.socket] = []
        self.port = self._listen(self._server, data=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close(*self._sockets)

    def _listen(self, server: tuple[str, int], *, data: bool) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        self._sockets.append(listener)
        threading.Thread(target=self._accept, args=(listener, server, data), daemon=True).start()
        port: int = listener.getsockname()[1]
        return port

    def _accept(self, listener: socket.socket, server: tuple[str, int], data: bool) -> None:
        while True:
            try:
                client, _ = listener.accept()
                far = socket.create_connection(server)
            except OSError:
                return
            self._sockets += [client, far]
            if data:
                self._run(self._pour, client, far, self._up)
                self._run(self._pour, far, client, self._down)
            else:
                self._run(self._lines, client, far, self._commands)
                self._run(self._lines, far, client, self._passive_replies)

    def _run(self, work: Callable[..., None], *arguments: object) -> None:
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def _passive_replies(self, line: bytes) -> Iterable[bytes]:
        if match := _PASSIVE.match(line):
            port = self._listen((self._server[0], int(match[1]) << 8 | int(match[2])), data=True)
            line = f"227 Entering Passive Mode (127,0,0,1,{port >> 8},{port & 255}).\r\n".encode()
        elif match := _EXTENDED.match(line):
            port = self._listen((self._server[0], int(match[1])), data=True)
            line = f"229 Entering Extended Passive Mode (|||{port}|).\r\n".encode()
        return self._replies(line)

    def _lines(self, source: socket.socket, sink: socket.socket, script: Script) -> None:
        try:
            with source.makefile("rb") as lines:
                for line in lines:
                    for part in script(line):
                        sink.sendall(part)
            sink.shutdown(socket.SHUT_WR)
        except HangError:
            return
        except (CutError, OSError, ValueError):
            self._close(source, sink)

    def _pour(self, source: socket.socket, sink: socket.socket, script: Script) -> None:
        try:
            while piece := source.recv(_CHUNK_BYTES):
                for part in script(piece):
                    sink.sendall(part)
            sink.shutdown(socket.SHUT_WR)
        except HangError:
            return
        except HalfCutError:
            with contextlib.suppress(OSError):
                sink.shutdown(socket.SHUT_WR)
                while source.recv(_CHUNK_BYTES):
                    pass
        except (CutError, OSError):
            self._close(source, sink)

    @staticmethod
    def _close(*sockets: socket.socket) -> None:
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
