"""The NEGOTIATE exchange: every dialect from 2.0.2 to 3.1.1, with the fast algorithms first (MS-SMB2 2.2.3, 2.2.4)."""

import os
import struct
from dataclasses import dataclass

from app.clients.smb import wire
from app.clients.smb.crypto import AES_128_CCM, AES_CMAC, AES_GMAC, CIPHER_NAMES, HMAC_SHA256, SIGNING_NAMES
from app.clients.smb.wire import HEADER_BYTES, Opcode
from app.errors import ProtocolError

CAPABILITIES = wire.CAP_LARGE_MTU | wire.CAP_ENCRYPTION

LEAST_BLOCK_BYTES = 4096
"""A server that moves less than a page per request is refused, or it would take forever."""

_PREAUTH, _ENCRYPTION, _SIGNING = 1, 2, 8
_SHA_512 = 1
_REQUEST = struct.Struct("<HHHHI16sIHH")
_VALIDATE = 0x00140204
_IOCTL = struct.Struct("<HHI16sIIIIIIII")
_VALIDATED = struct.Struct("<I16sHH")
_VALIDATE_ANSWER_BYTES = 48
_CHALLENGE = b"NTLMSSP\0\2\0\0\0"
_HAS_TARGET_INFO = 0x00800000
_ANSWER = struct.Struct("<HHHH16sIIIIQQHHI")


@dataclass(frozen=True, slots=True, kw_only=True)
class Negotiated:
    """Result of NEGOTIATE, before the login."""

    dialect: int
    security_mode: int
    capabilities: int
    server_guid: bytes
    max_transact_bytes: int
    max_read_bytes: int
    max_write_bytes: int
    token: bytes
    signing: int = AES_CMAC
    cipher: int | None = None

    @property
    def requires_signing(self) -> bool:
        return bool(self.security_mode & wire.SIGNING_REQUIRED)

    @property
    def multi_credit(self) -> bool:
        return self.dialect != wire.SMB_2_0_2 and bool(self.capabilities & wire.CAP_LARGE_MTU)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What the client announces before the login, unprotected."""

    client_guid: bytes
    sign: bool

    @property
    def mode(self) -> int:
        return wire.SIGNING_REQUIRED if self.sign else wire.SIGNING_ENABLED


def negotiate_frame(offer: Offer) -> bytearray:
    """All dialects; for 3.1.1 ciphers and signing algorithms, the fastest first."""
    dialects = list(wire.DIALECTS)
    contexts = [
        (_PREAUTH, struct.pack("<HHH32s", 1, 32, _SHA_512, os.urandom(32))),
        (_ENCRYPTION, struct.pack(f"<{1 + len(CIPHER_NAMES)}H", len(CIPHER_NAMES), *CIPHER_NAMES)),
        (_SIGNING, struct.pack("<HHHH", 3, AES_GMAC, AES_CMAC, HMAC_SHA256)),
    ]
    at = -(-(HEADER_BYTES + _REQUEST.size + 2 * len(dialects)) // 8) * 8
    body = _REQUEST.pack(36, len(dialects), offer.mode, 0, CAPABILITIES, offer.client_guid, at, len(contexts), 0)
    body = (body + struct.pack(f"<{len(dialects)}H", *dialects)).ljust(at - HEADER_BYTES, b"\0")
    for kind, data in contexts:
        body += b"\0" * (-len(body) % 8) + struct.pack("<HHI", kind, len(data), 0) + data
    return wire.frame(Opcode.NEGOTIATE, body)


def parse_negotiated(message: memoryview, where: str) -> Negotiated:
    """Raises ProtocolError for an impossible answer."""
    if len(message) < HEADER_BYTES + _ANSWER.size:
        raise ProtocolError(f"{where}: the server's first answer is too short; check host and port")
    (_size, mode, dialect, contexts, guid, capabilities, transact, read, write, _now, _boot, start, length, at) = (
        _ANSWER.unpack_from(message, HEADER_BYTES)
    )
    if dialect not in wire.DIALECTS:
        raise ProtocolError(f"{where}: the server wants the unknown SMB dialect 0x{dialect:04X}; check its settings")
    if min(transact, read, write) < LEAST_BLOCK_BYTES:
        raise ProtocolError(
            f"{where}: the server moves less than {LEAST_BLOCK_BYTES} bytes at a time; check its settings"
        )
    cipher: int | None = AES_128_CCM if dialect >= wire.SMB_3_0 and capabilities & wire.CAP_ENCRYPTION else None
    signing = AES_CMAC if dialect >= wire.SMB_3_0 else HMAC_SHA256
    if dialect == wire.SMB_3_1_1:
        chosen = _contexts(message, at, contexts)
        cipher = chosen.get(_ENCRYPTION)
        if cipher not in CIPHER_NAMES:
            cipher = None
        signing = chosen.get(_SIGNING, AES_CMAC)
        if signing not in SIGNING_NAMES or chosen.get(_PREAUTH) != _SHA_512:
            raise ProtocolError(f"{where}: the server chose algorithms that were not offered; check its settings")
    return Negotiated(
        dialect=dialect,
        security_mode=mode,
        capabilities=capabilities,
        server_guid=guid,
        max_transact_bytes=transact,
        max_read_bytes=read,
        max_write_bytes=write,
        token=bytes(message[start : start + length]),
        signing=signing,
        cipher=cipher,
    )


def validate_frame(offer: Offer, tree_id: int) -> bytearray:
    """A signed IOCTL that repeats the negotiation: the only protection of dialects before 3.1.1 (2.2.31.4)."""
    dialects = list(wire.DIALECTS)
    said = struct.pack("<I16sHH", CAPABILITIES, offer.client_guid, offer.mode, len(dialects))
    said += struct.pack(f"<{len(dialects)}H", *dialects)
    head = _IOCTL.pack(
        57, 0, _VALIDATE, b"\xff" * 16, HEADER_BYTES + _IOCTL.size, len(said), 0, 0, 0, _VALIDATED.size, 1, 0
    )
    return wire.frame(Opcode.IOCTL, head + said, tree_id)


def is_validated(message: memoryview, found: Negotiated) -> bool:
    """Whether the answer to :func:`validate_frame` agrees with the negotiation."""
    if len(message) < HEADER_BYTES + _VALIDATE_ANSWER_BYTES:
        return False
    start, length = struct.unpack_from("<II", message, HEADER_BYTES + 32)
    said = (found.capabilities, found.server_guid, found.security_mode, found.dialect)
    fits = length == _VALIDATED.size and start + length <= len(message)
    return fits and _VALIDATED.unpack_from(message, start) == said


def is_old_challenge(message: bytes) -> bool:
    """Whether a challenge can only be answered with NTLMv1 (MS-NLMP 2.2.1.2, 3.1.5.1.2)."""
    start = message.find(_CHALLENGE, HEADER_BYTES)
    if start < 0 or start + 48 > len(message):
        return False
    flags = int.from_bytes(message[start + 20 : start + 24], "little")
    length = int.from_bytes(message[start + 40 : start + 42], "little")
    return not flags & _HAS_TARGET_INFO or not length


def _contexts(message: memoryview, at: int, count: int) -> dict[int, int]:
    """The first algorithm of each context; truncated ones are ignored (MS-SMB2 2.2.4.1)."""
    chosen: dict[int, int] = {}
    for _ in range(count):
        if at + 8 > len(message):
            break
        kind, length = struct.unpack_from("<HH", message, at)
        data = bytes(message[at + 8 : at + 8 + length])
        first = 4 if kind == _PREAUTH else 2
        if len(data) >= first + 2:
            chosen[kind] = int.from_bytes(data[first : first + 2], "little")
        at += 8 + length + -length % 8
    return chosen
