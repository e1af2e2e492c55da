"""The most that our SMB client moves on this machine: its timed path against a far end that costs next to nothing."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from app.clients.base import Meter
from app.clients.content import Content
from app.clients.loopback_peer import far_process
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.crypto import CIPHER_NAMES, SIGNING_NAMES, Keys, Sealer, signer
from app.clients.smb.null_server import NullServer
from app.clients.smb.transfer import Window, read_file, write_file
from app.clients.smb.wire import OpenedFile
from storage.records import ClientFacts, Command

_CREDITS = 8192
_FILE_ID = bytes(16)


def ceiling_seconds(facts: ClientFacts, command: Command, size_bytes: int) -> float:
    """How long one transfer of ``size_bytes`` takes with the protocol settings of ``facts``."""
    window = Window(block_bytes=facts.block_bytes or wire.CREDIT_BYTES, in_flight=facts.in_flight or 1)
    with null_channel(facts) as channel:
        meter = Meter(threading.Event())
        if command is Command.PUT:
            return write_file(channel, 1, OpenedFile(_FILE_ID, 0, is_folder=False), window, meter, Content(size_bytes))
        return read_file(channel, 1, OpenedFile(_FILE_ID, size_bytes, is_folder=False), window, meter, None)


@contextmanager
def null_channel(facts: ClientFacts, server: type[NullServer] = NullServer) -> Iterator[Channel]:
    """A connection to a far end that costs next to nothing, with the protocol settings of ``facts``."""
    dialect = next(number for number, name in wire.DIALECTS.items() if name == facts.dialect)
    signing = next((number for number, name in SIGNING_NAMES.items() if name == facts.signing), None)
    cipher = next((number for number, name in CIPHER_NAMES.items() if name == facts.encryption), None)
    keys = Keys(os.urandom(16), dialect, os.urandom(64), cipher)
    block = facts.block_bytes or wire.CREDIT_BYTES

    def answer(sock: socket.socket) -> None:
        mirrored = Keys.__new__(Keys)
        mirrored.signing, mirrored.encryption, mirrored.decryption = keys.signing, keys.decryption, keys.encryption
        sealer = None if cipher is None else Sealer(cipher, mirrored, 1)
        server(sock, None if signing is None else signer(signing, keys.signing), sealer, block).serve()

    with far_process(answer) as sock:
        channel = Channel(sock, "the calibration", 30.0)
        channel.credits, channel.session_id, channel.multi_credit = _CREDITS, 1, dialect != wire.SMB_2_0_2
        if signing is not None:
            channel.signer, channel.sign_all = signer(signing, keys.signing), True
        if cipher is not None:
            channel.sealer, channel.seal_all = Sealer(cipher, keys, 1), True
        yield channel
