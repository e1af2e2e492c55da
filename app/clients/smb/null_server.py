"""A server that answers success without content, as fast as it can: it measures the client ceiling."""

import contextlib
import copy
import os
import socket
import struct
import threading
from collections.abc import Iterator

from app.clients.base import Content, Meter
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.negotiate import CIPHER_NAMES, SIGNING_NAMES, Keys, Sealer, Signer
from app.clients.smb.share import Window, read_file, write_file
from app.clients.tcp import far_process
from storage.records import ClientFacts, Command

_LONGEST_ANSWER = memoryview(bytes(88))
_ANSWER_BYTES: dict[int, int] = {wire.Opcode.CREATE: 88, wire.Opcode.CLOSE: 60, wire.Opcode.QUERY_INFO: 8}
_SHORT_BYTES = 4
_READ_ANSWER = struct.Struct("<HBBIII")
_WRITE_ANSWER = struct.Struct("<HHIIHH")
_SLACK_BYTES = 4096


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
        with contextlib.suppress(ConnectionError):
            while message := self._receive():
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


_CREDITS = 8192
_FILE_ID = bytes(16)
_TREE_ID = 1
_SESSION_ID = 1


def ceiling_seconds(facts: ClientFacts, command: Command, size_bytes: int) -> float:
    window = Window(block_bytes=facts.block_bytes or wire.CREDIT_BYTES, in_flight=facts.in_flight or 1)
    with null_channel(facts) as channel:
        meter = Meter(threading.Event())
        if command is Command.PUT:
            new_file = wire.OpenedFile(_FILE_ID, 0, is_folder=False)
            return write_file(channel, _TREE_ID, new_file, window, meter, Content(size_bytes))

        file = wire.OpenedFile(_FILE_ID, size_bytes, is_folder=False)
        return read_file(channel, _TREE_ID, file, window, meter, None)


@contextlib.contextmanager
def null_channel(facts: ClientFacts) -> Iterator[Channel]:
    """A channel to a :class:`NullServer` in a process of its own, protected as the facts say."""
    dialect = next(number for number, name in wire.DIALECTS.items() if name == facts.dialect)
    signing = next((number for number, name in SIGNING_NAMES.items() if name == facts.signing), None)
    cipher = next((number for number, name in CIPHER_NAMES.items() if name == facts.encryption), None)
    keys = Keys(os.urandom(16), dialect, os.urandom(64), cipher)

    def answer(sock: socket.socket) -> None:
        signer = None if signing is None else Signer(signing, keys.signing)
        sealer = None if cipher is None else Sealer(cipher, _keys_of_server(keys), _SESSION_ID)
        NullServer(sock, signer, sealer, facts.block_bytes or wire.CREDIT_BYTES).serve()

    with far_process(answer) as sock:
        channel = Channel(sock, "the calibration", 30.0)
        channel.credits = _CREDITS
        channel.session_id = _SESSION_ID
        channel.multi_credit = dialect != wire.SMB_2_0_2
        if signing is not None:
            channel.signer = Signer(signing, keys.signing)
            channel.sign_all = True
        if cipher is not None:
            channel.sealer = Sealer(cipher, keys, _SESSION_ID)
            channel.seal_all = True
        yield channel


def _keys_of_server(keys: Keys) -> Keys:
    """One side encrypts with what the other decrypts with."""
    mirrored = copy.copy(keys)
    mirrored.encryption = keys.decryption
    mirrored.decryption = keys.encryption
    return mirrored
