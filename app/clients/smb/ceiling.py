"""How fast the SMB client could be: the same transfer with a server in another process that does almost nothing.

A measured series is compared with this ceiling: near it, the client was the limit and not the server.
"""

import contextlib
import copy
import os
import socket
import threading
from collections.abc import Iterator

from app.clients.base import MAX_BLOCK_BYTES, Content, Meter
from app.clients.calibration import far_process
from app.clients.random_requests import RandomWorkload
from app.clients.smb import protection, transfer, wire
from app.clients.smb.channel import Channel
from app.clients.smb.null_server import NullServer
from app.clients.smb.random_file import RandomFile
from storage.records import ClientFacts, Command

_CREDITS = 8192
"""As many as a server grants at most by default (``smb2 max credits`` of Samba): no window of a series took more."""
_RANDOM_FILE_BYTES = 1 << 30
"""Of the file that random requests go to: any size would do."""
_FILE_ID = bytes(16)
_TREE_ID = 1
_SESSION_ID = 1


def ceiling_seconds(facts: ClientFacts, command: Command, size_bytes: int) -> float:
    window = transfer.Window(block_bytes=facts.block_bytes or wire.CREDIT_BYTES, in_flight=facts.in_flight or 1)
    with null_channel(facts) as channel:
        meter = Meter(threading.Event())
        if command is Command.PUT:
            new_file = wire.OpenedFile(_FILE_ID, 0, is_folder=False)
            return transfer.write_file(channel, _TREE_ID, new_file, window, meter, Content(size_bytes))

        file = wire.OpenedFile(_FILE_ID, size_bytes, is_folder=False)
        return transfer.read_file(channel, _TREE_ID, file, window, meter, None)


def random_bytes_per_second(facts: ClientFacts, workload: RandomWorkload) -> float:
    with null_channel(facts) as channel:
        file = wire.OpenedFile(_FILE_ID, _RANDOM_FILE_BYTES, is_folder=False)
        random_file = RandomFile(channel, _TREE_ID, file, workload, Content(2 * MAX_BLOCK_BYTES))
        seconds = random_file.run(Meter(threading.Event()))
    return random_file.moved_bytes / seconds


@contextlib.contextmanager
def null_channel(facts: ClientFacts) -> Iterator[Channel]:
    """A channel to a :class:`NullServer` in a process of its own, protected as the facts say."""
    dialect = next(number for number, name in wire.DIALECTS.items() if name == facts.dialect)
    signing = next((number for number, name in protection.SIGNING_NAMES.items() if name == facts.signing), None)
    cipher = next((number for number, name in protection.CIPHER_NAMES.items() if name == facts.encryption), None)
    keys = protection.Keys(os.urandom(16), dialect, os.urandom(64), cipher)

    def answer(sock: socket.socket) -> None:
        signer = None if signing is None else protection.Signer(signing, keys.signing)
        sealer = None if cipher is None else protection.Sealer(cipher, _keys_of_server(keys), _SESSION_ID)
        NullServer(sock, signer, sealer, facts.block_bytes or wire.CREDIT_BYTES).serve()

    with far_process(answer) as sock:
        channel = Channel(sock, "the calibration", 30.0)
        channel.credits = _CREDITS
        channel.session_id = _SESSION_ID
        channel.multi_credit = dialect != wire.SMB_2_0_2
        if signing is not None:
            channel.signer = protection.Signer(signing, keys.signing)
            channel.sign_all = True
        if cipher is not None:
            channel.sealer = protection.Sealer(cipher, keys, _SESSION_ID)
            channel.seal_all = True
        yield channel


def _keys_of_server(keys: protection.Keys) -> protection.Keys:
    """One side encrypts with what the other decrypts with."""
    mirrored = copy.copy(keys)
    mirrored.encryption = keys.decryption
    mirrored.decryption = keys.encryption
    return mirrored
