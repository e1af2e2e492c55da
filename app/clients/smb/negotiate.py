"""The NEGOTIATE exchange of SMB 2.0.2 to 3.1.1: dialect, sizes, and algorithms for signing and encryption.

Also what shows that nobody changed it on the way: the check of dialects before 3.1.1, and of an NTLM challenge.

The first number of a body that is packed here is its *structure size*: what MS-SMB2 fixes for that kind of message,
however long it is.
"""

import os
import struct
from dataclasses import dataclass
from typing import NamedTuple

from app.base.errors import ProtocolError
from app.clients.smb import wire
from app.clients.smb.protection import AES_128_CCM, AES_CMAC, AES_GMAC, CIPHER_NAMES, HMAC_SHA256, SIGNING_NAMES
from app.clients.smb.wire import HEADER_BYTES, Opcode

CAPABILITIES = wire.CAP_LARGE_MTU | wire.CAP_ENCRYPTION
"""What we offer: requests of more than 64 KiB, and encryption."""

LEAST_BLOCK_BYTES = 4096
"""A server that moves less than a page per request is refused, or it would take forever."""

_PREAUTH = 1
_ENCRYPTION = 2
_SIGNING = 8
"""Negotiate contexts (MS-SMB2 2.2.3.1)."""
_SHA_512 = 1
"""The one algorithm of the preauthentication hash (MS-SMB2 2.2.3.1.1)."""
_REQUEST = struct.Struct("<HHHHI16sIHH")
"""The fixed part of a NEGOTIATE request (MS-SMB2 2.2.3)."""
_ANSWER = struct.Struct("<HHHH16sIIIIQQHHI")
"""That of its response, as `_Answer` names the fields."""

# The check of the negotiation: an IOCTL that is about no file (MS-SMB2 2.2.31.4, 2.2.32.6).
_VALIDATE = 0x00140204
"""FSCTL_VALIDATE_NEGOTIATE_INFO."""
_IOCTL = struct.Struct("<HHI16sIIIIIIII")
_NO_FILE = b"\xff" * 16
_VALIDATED = struct.Struct("<I16sHH")
"""What it answers: capabilities, GUID, security mode, dialect."""
_VALIDATE_ANSWER_BYTES = 48

_CHALLENGE = b"NTLMSSP\0\2\0\0\0"
"""Begins an NTLM challenge."""
_HAS_TARGET_INFO = 0x00800000
"""The flag of a challenge that NTLMv2 can answer."""


class _Answer(NamedTuple):
    """The fixed part of a NEGOTIATE response (MS-SMB2 2.2.4)."""

    structure_bytes: int
    security_mode: int
    dialect: int
    contexts: int
    server_guid: bytes
    capabilities: int
    max_transact_bytes: int
    max_read_bytes: int
    max_write_bytes: int
    system_time: int
    start_time: int
    token_start: int
    token_bytes: int
    contexts_start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Negotiated:
    """What client and server agreed on; numbers are as in MS-SMB2 2.2.4."""

    dialect: int
    security_mode: int
    """Flags."""
    capabilities: int
    """Flags."""
    server_guid: bytes
    max_transact_bytes: int
    max_read_bytes: int
    max_write_bytes: int
    token: bytes
    signing: int = AES_CMAC
    cipher: int | None = None
    """None where nothing can be encrypted."""

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
    dialects: tuple[int, ...] = tuple(wire.DIALECTS)
    signing: tuple[int, ...] = (AES_GMAC, AES_CMAC, HMAC_SHA256)
    """The algorithms for 3.1.1, the preferred one first; empty for none named. So are the next."""
    ciphers: tuple[int, ...] = tuple(CIPHER_NAMES)

    @property
    def mode(self) -> int:
        return wire.SIGNING_REQUIRED if self.sign else wire.SIGNING_ENABLED


def negotiate_frame(offer: Offer) -> bytearray:
    """The dialects of the offer; for 3.1.1 its ciphers and signing algorithms as well."""
    dialects = offer.dialects
    contexts = [
        (_PREAUTH, struct.pack("<HHH32s", 1, 32, _SHA_512, os.urandom(32))),
        (_ENCRYPTION, _listed(offer.ciphers)),
    ]
    if offer.signing:
        contexts.append((_SIGNING, _listed(offer.signing)))

    # The contexts begin at a multiple of eight, and so does each of them.
    dialects_end = HEADER_BYTES + _REQUEST.size + 2 * len(dialects)
    start = dialects_end + -dialects_end % 8
    body = _REQUEST.pack(36, len(dialects), offer.mode, 0, CAPABILITIES, offer.client_guid, start, len(contexts), 0)
    body += struct.pack(f"<{len(dialects)}H", *dialects)
    body = body.ljust(start - HEADER_BYTES, b"\0")
    for kind, data in contexts:
        padding = b"\0" * (-len(body) % 8)
        body += padding + struct.pack("<HHI", kind, len(data), 0) + data
    return wire.frame(Opcode.NEGOTIATE, body)


def _listed(algorithms: tuple[int, ...]) -> bytes:
    """The content of a context that lists algorithms: how many there are, and each."""
    return struct.pack(f"<{1 + len(algorithms)}H", len(algorithms), *algorithms)


def parse_negotiated(message: memoryview, where: str) -> Negotiated:
    """Raises ProtocolError for an impossible answer."""
    if len(message) < HEADER_BYTES + _ANSWER.size:
        raise ProtocolError(f"{where}: the server's first answer is too short; check host and port")

    answer = _Answer._make(_ANSWER.unpack_from(message, HEADER_BYTES))
    dialect = answer.dialect
    if dialect not in wire.DIALECTS:
        raise ProtocolError(f"{where}: the server wants the unknown SMB dialect 0x{dialect:04X}; check its settings")
    if min(answer.max_transact_bytes, answer.max_read_bytes, answer.max_write_bytes) < LEAST_BLOCK_BYTES:
        raise ProtocolError(
            f"{where}: the server moves less than {LEAST_BLOCK_BYTES} bytes at a time; check its settings"
        )

    signing, cipher = _chosen_algorithms(message, answer, where)
    return Negotiated(
        dialect=dialect,
        security_mode=answer.security_mode,
        capabilities=answer.capabilities,
        server_guid=answer.server_guid,
        max_transact_bytes=answer.max_transact_bytes,
        max_read_bytes=answer.max_read_bytes,
        max_write_bytes=answer.max_write_bytes,
        token=bytes(message[answer.token_start : answer.token_start + answer.token_bytes]),
        signing=signing,
        cipher=cipher,
    )


def _chosen_algorithms(message: memoryview, answer: _Answer, where: str) -> tuple[int, int | None]:
    """For signing and, unless the server offers none, for encryption; only 3.1.1 lets a server choose."""
    if answer.dialect < wire.SMB_3_0:
        return HMAC_SHA256, None
    if answer.dialect != wire.SMB_3_1_1:
        return AES_CMAC, AES_128_CCM if answer.capabilities & wire.CAP_ENCRYPTION else None

    chosen = _chosen_by_context(message, answer.contexts_start, answer.contexts)
    signing = chosen.get(_SIGNING, AES_CMAC)
    if signing not in SIGNING_NAMES or chosen.get(_PREAUTH) != _SHA_512:
        raise ProtocolError(f"{where}: the server chose algorithms that were not offered; check its settings")

    cipher = chosen.get(_ENCRYPTION)
    return signing, cipher if cipher in CIPHER_NAMES else None


def validate_frame(offer: Offer, tree_id: int) -> bytearray:
    """A signed IOCTL that repeats the negotiation: the only protection of dialects before 3.1.1 (2.2.31.4)."""
    dialects = offer.dialects
    offered = struct.pack("<I16sHH", CAPABILITIES, offer.client_guid, offer.mode, len(dialects))
    offered += struct.pack(f"<{len(dialects)}H", *dialects)

    start = HEADER_BYTES + _IOCTL.size
    head = _IOCTL.pack(57, 0, _VALIDATE, _NO_FILE, start, len(offered), 0, 0, 0, _VALIDATED.size, 1, 0)
    return wire.frame(Opcode.IOCTL, head + offered, tree_id)


def is_validated(message: memoryview, negotiated: Negotiated) -> bool:
    """Whether the server, asked again, says what was negotiated."""
    if len(message) < HEADER_BYTES + _VALIDATE_ANSWER_BYTES:
        return False

    start, length = struct.unpack_from("<II", message, HEADER_BYTES + 32)
    if length != _VALIDATED.size or start + length > len(message):
        return False
    return _VALIDATED.unpack_from(message, start) == (
        negotiated.capabilities,
        negotiated.server_guid,
        negotiated.security_mode,
        negotiated.dialect,
    )


def is_old_challenge(message: bytes) -> bool:
    """Whether a challenge can only be answered with NTLMv1 (MS-NLMP 2.2.1.2, 3.1.5.1.2)."""
    start = message.find(_CHALLENGE, HEADER_BYTES)
    if start < 0 or start + 48 > len(message):
        return False

    flags = int.from_bytes(message[start + 20 : start + 24], "little")
    length = int.from_bytes(message[start + 40 : start + 42], "little")
    return not flags & _HAS_TARGET_INFO or not length


def _chosen_by_context(message: memoryview, start: int, count: int) -> dict[int, int]:
    """The first algorithm of each context; truncated ones are ignored (MS-SMB2 2.2.4.1)."""
    chosen: dict[int, int] = {}
    for _ in range(count):
        if start + 8 > len(message):
            break
        kind, length = struct.unpack_from("<HH", message, start)
        data = bytes(message[start + 8 : start + 8 + length])

        # The preauthentication context names the length of its salt before its algorithms.
        algorithm_start = 4 if kind == _PREAUTH else 2
        if len(data) >= algorithm_start + 2:
            chosen[kind] = int.from_bytes(data[algorithm_start : algorithm_start + 2], "little")
        start += 8 + length + -length % 8
    return chosen
