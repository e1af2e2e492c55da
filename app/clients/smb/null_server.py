"""An SMB server without files that answers success as fast as it can, so that the client's own speed is measured.

It runs in a process of its own, at the other end of a loopback connection (``app.clients.smb.ceiling``).
"""

import contextlib
import os
import socket
import struct

from app.clients.smb import wire
from app.clients.smb.protection import Sealer, Signer

_ANSWER_BYTES: dict[int, int] = {wire.Opcode.CREATE: 88, wire.Opcode.CLOSE: 60, wire.Opcode.QUERY_INFO: 8}
"""The lengths of answers whose body is all zeros, header not included."""
_SHORT_BYTES = 4
"""That of the others'."""
_LONGEST_ANSWER = memoryview(bytes(88))
"""As long as any of these."""
_READ_ANSWER = struct.Struct("<HBBIII")
_WRITE_ANSWER = struct.Struct("<HHIIHH")
"""The fixed parts of answers (MS-SMB2 2.2.20, 2.2.22)."""
_SLACK_BYTES = 4096
"""Of the buffer beyond a block: for headers."""


class NullServer:
    """Has every file, lists none, neither stores nor checks data, so that the client is the limit."""

    def __init__(self, sock: socket.socket, signer: Signer | None, sealer: Sealer | None, block_bytes: int) -> None:
        self._sock = sock
        self._signer = signer
        self._sealer = sealer
        self._data = memoryview(os.urandom(block_bytes))
        self._buffer = bytearray(block_bytes + _SLACK_BYTES)
        self._view = memoryview(self._buffer)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def serve(self) -> None:
        """Answer until the client hangs up; each request of a compound in a frame of its own."""
        with contextlib.suppress(ConnectionError):
            while message := self._receive():
                # The header's field NextCommand: where the next request of a compound begins, 0 in the last.
                while next_offset := int.from_bytes(message[20:24], "little"):
                    self._answer(message[:next_offset])
                    message = message[next_offset:]
                self._answer(message)

    def _receive(self) -> memoryview | None:
        if not self._fill(0, wire.FRAME_BYTES):
            return None
        end = wire.FRAME_BYTES + int.from_bytes(self._buffer[1 : wire.FRAME_BYTES], "big")
        if not self._fill(wire.FRAME_BYTES, end):
            return None
        message = self._view[wire.FRAME_BYTES : end]
        if bytes(message[:4]) == wire.TRANSFORM_ID:
            assert self._sealer is not None
            return self._sealer.open(message, self._view[wire.FRAME_BYTES :])
        return message

    def _fill(self, start: int, end: int) -> bool:
        while start < end:
            count = self._sock.recv_into(self._view[start:end], 0, socket.MSG_WAITALL)
            if not count:
                return False
            start += count
        return True

    def _result(self, request: memoryview, command: int) -> tuple[int, bytes, memoryview]:
        """Status, body and payload of the answer to a request."""
        # A READ and a WRITE have their length at the same place.
        length = int.from_bytes(request[wire.HEADER_BYTES + 4 : wire.HEADER_BYTES + 8], "little")
        if command == wire.Opcode.READ:
            head = _READ_ANSWER.pack(17, wire.HEADER_BYTES + _READ_ANSWER.size, 0, length, 0, 0)
            return wire.SUCCESS, head, self._data[:length]

        if command == wire.Opcode.WRITE:
            return wire.SUCCESS, _WRITE_ANSWER.pack(17, 0, length, 0, 0, 0), self._data[:0]

        status = wire.NO_MORE_FILES if command == wire.Opcode.QUERY_DIRECTORY else wire.SUCCESS
        return status, bytes(_LONGEST_ANSWER[: _ANSWER_BYTES.get(command, _SHORT_BYTES)]), self._data[:0]

    def _answer(self, request: memoryview) -> None:
        header = wire.parse_header(request)
        status, body, payload = self._result(request, header.command)
        message = wire.frame(header.command, body, header.tree_id)

        signed = self._signer is not None and self._sealer is None
        flags = wire.FLAG_RESPONSE | (wire.FLAG_SIGNED if signed else 0)
        wire.stamp(message, 0, header.credits, flags, header.message_id, header.session_id)
        head = memoryview(message)[wire.FRAME_BYTES :]
        # The header's fields Status and Signature (MS-SMB2 2.2.1.2).
        head[8:12] = status.to_bytes(4, "little")
        if signed and self._signer is not None:
            head[48:64] = self._signer.sign(header.message_id, head, payload, from_server=True)

        parts: list[wire.View] = [head, payload] if self._sealer is None else [self._sealer.seal(head, payload)]
        self._send([sum(map(len, parts)).to_bytes(wire.FRAME_BYTES, "big"), *parts])

    def _send(self, parts: list[wire.View]) -> None:
        views = [memoryview(part) for part in parts if len(part)]
        while views:
            sent = self._sock.sendmsg(views)
            while views and sent >= len(views[0]):
                sent -= len(views.pop(0))
            if views:
                views[0] = views[0][sent:]
