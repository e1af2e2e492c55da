"""The requests that begin and end a session and connect a share; how they are protected is the channel's affair."""

import struct

from app.clients.smb import wire

_SETUP = struct.Struct("<HBBIIHHQ")
_SETUP_ANSWER = struct.Struct("<2x2xHH")
_TREE_CONNECT = struct.Struct("<HHHH")

LOGOFF: wire.Request = (wire.Opcode.LOGOFF, struct.pack("<HH", 4, 0))
"""MS-SMB2 2.2.7."""


def session_setup(token: bytes, *, requires_signing: bool) -> wire.Request:
    """One step of a login, with the client's token (MS-SMB2 2.2.5)."""
    security_mode = wire.SIGNING_REQUIRED if requires_signing else wire.SIGNING_ENABLED
    token_at = wire.HEADER_BYTES + _SETUP.size
    return wire.Opcode.SESSION_SETUP, _SETUP.pack(25, 0, security_mode, 0, 0, token_at, len(token), 0) + token


def security_token(message: bytes) -> bytes:
    """The server's token in an answer to SESSION_SETUP; what there is of it if the message is cut (MS-SMB2 2.2.6)."""
    if len(message) < wire.HEADER_BYTES + _SETUP_ANSWER.size:
        return b""
    start, length = _SETUP_ANSWER.unpack_from(message, wire.HEADER_BYTES)
    return message[start : start + length]


def tree_connect(server: str, share: str) -> wire.Request:
    """The request that connects a share (MS-SMB2 2.2.9)."""
    path = f"\\\\{server}\\{share}".encode("utf-16-le")
    path_at = wire.HEADER_BYTES + _TREE_CONNECT.size
    return wire.Opcode.TREE_CONNECT, _TREE_CONNECT.pack(9, 0, path_at, len(path)) + path
