"""The NEGOTIATE exchange of SMB 2.0.2 to 3.1.1, and the signatures and encryption that it chooses (MS-SMB2 3.1.4)."""

import hmac
import os
import struct
from dataclasses import dataclass
from typing import NamedTuple, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import GCM
from cryptography.hazmat.primitives.cmac import CMAC

from app.base.errors import ProtocolError
from app.clients.smb import wire
from app.clients.smb.wire import HEADER_BYTES, SMB_3_0, SMB_3_1_1, TRANSFORM_BYTES, TRANSFORM_ID, Opcode, View

SIGNATURE_BYTES = 16

HMAC_SHA256 = 0
AES_CMAC = 1
AES_GMAC = 2
"""Signing algorithms in the negotiate context (MS-SMB2 2.2.3.1.7)."""
AES_128_CCM = 1
AES_128_GCM = 2
AES_256_CCM = 3
AES_256_GCM = 4
"""Ciphers in the negotiate context (MS-SMB2 2.2.3.1.2)."""

SIGNING_NAMES = {HMAC_SHA256: "hmac-sha256", AES_CMAC: "aes-cmac", AES_GMAC: "aes-gmac"}
CIPHER_NAMES = {
    AES_128_GCM: "aes-128-gcm",
    AES_128_CCM: "aes-128-ccm",
    AES_256_GCM: "aes-256-gcm",
    AES_256_CCM: "aes-256-ccm",
}


def derive_key(key: bytes, label: bytes, context: bytes, bits: int = 128) -> bytes:
    """SP800-108 in counter mode with HMAC-SHA256, up to 256 bits (MS-SMB2 3.1.4.2)."""
    text = struct.pack(">I", 1) + label + b"\0" + context + struct.pack(">I", bits)
    return hmac.digest(key, text, "sha256")[: bits // 8]


class Keys:
    """Keys of one session (MS-SMB2 3.2.5.3)."""

    def __init__(self, session_key: bytes, dialect: int, preauth_hash: bytes, cipher: int | None = None) -> None:
        bits = 256 if cipher in {AES_256_CCM, AES_256_GCM} else 128
        key = session_key[:16].ljust(16, b"\0")
        if dialect == SMB_3_1_1:
            self.signing = derive_key(key, b"SMBSigningKey\0", preauth_hash)
            self.encryption = derive_key(key, b"SMBC2SCipherKey\0", preauth_hash, bits)
            self.decryption = derive_key(key, b"SMBS2CCipherKey\0", preauth_hash, bits)
        elif dialect >= SMB_3_0:
            self.signing = derive_key(key, b"SMB2AESCMAC\0", b"SmbSign\0")
            self.encryption = derive_key(key, b"SMB2AESCCM\0", b"ServerIn \0")
            self.decryption = derive_key(key, b"SMB2AESCCM\0", b"ServerOut\0")
        else:
            self.signing = self.encryption = self.decryption = key


class Signer:
    """A negotiated signing algorithm with its key; the nonce of AES-GMAC is the message id and the sender."""

    def __init__(self, algorithm: int, key: bytes) -> None:
        self._algorithm = algorithm
        self._key = key
        self._aes = None if algorithm == HMAC_SHA256 else AES(key)

    def sign(self, message_id: int, *parts: View, from_server: bool = False) -> bytes:
        """16 bytes; the parts form the message with its signature field zeroed."""
        if self._aes is None:
            code = hmac.new(self._key, None, "sha256")
            for part in parts:
                code.update(part)
            return code.digest()[:SIGNATURE_BYTES]

        if self._algorithm == AES_CMAC:
            mac = CMAC(self._aes)
            for part in parts:
                mac.update(cast("bytes", part))  # any buffer will do
            return mac.finalize()

        stream = Cipher(self._aes, GCM(struct.pack("<QI", message_id, int(from_server)))).encryptor()
        for part in parts:
            stream.authenticate_additional_data(part)
        stream.finalize()
        return stream.tag


class Sealer:
    """One session's encryption with transform headers (MS-SMB2 2.2.41, 3.1.4.3)."""

    def __init__(self, cipher: int, keys: Keys, session_id: int) -> None:
        self._streams = cipher in {AES_128_GCM, AES_256_GCM}
        make = AESGCM if self._streams else AESCCM
        self._decrypt = make(keys.decryption)
        self._key = keys.encryption
        self._nonce_bytes = 12 if self._streams else 11
        self._session_id = session_id
        self._sent = 0
        self._sealed = bytearray()

    def next_nonce(self) -> bytes:
        self._sent += 1
        return struct.pack("<Q8x", self._sent)

    def seal(self, head: View, payload: View) -> memoryview:
        """The view is reused by the next call."""
        length = len(head) + len(payload)
        end = TRANSFORM_BYTES + length
        if len(self._sealed) < end + SIGNATURE_BYTES:
            self._sealed = bytearray(end + SIGNATURE_BYTES)

        sealed = memoryview(self._sealed)
        field = self.next_nonce()
        nonce = field[: self._nonce_bytes]
        struct.pack_into("<4s16s16sIHHQ", sealed, 0, TRANSFORM_ID, b"", field, length, 0, 1, self._session_id)

        # The header without its protocol id and signature is authenticated with what it protects.
        authenticated = bytes(sealed[20:TRANSFORM_BYTES])
        buffer = sealed[TRANSFORM_BYTES : end + SIGNATURE_BYTES]
        if self._streams:
            stream = Cipher(AES(self._key), GCM(nonce)).encryptor()
            stream.authenticate_additional_data(authenticated)
            head_end = stream.update_into(head, buffer)
            if payload:
                stream.update_into(payload, buffer[head_end:])
            stream.finalize()
            sealed[4:20] = stream.tag
        else:
            AESCCM(self._key).encrypt_into(nonce, b"".join((head, payload)), authenticated, buffer)
            sealed[4:20] = sealed[end : end + SIGNATURE_BYTES]
        return sealed[:end]

    def open(self, sealed: memoryview, buffer: memoryview) -> memoryview | None:
        """Decrypts in place, with 16 bytes of ``buffer`` behind ``sealed`` overwritten; None if the tag is wrong."""
        end = len(sealed)
        # The libraries expect the tag behind what it protects; the transform header carries it in front.
        buffer[end : end + SIGNATURE_BYTES] = sealed[4:20]

        plain = sealed[TRANSFORM_BYTES:]
        try:
            self._decrypt.decrypt_into(
                bytes(sealed[20 : 20 + self._nonce_bytes]),
                buffer[TRANSFORM_BYTES : end + SIGNATURE_BYTES],
                bytes(sealed[20:TRANSFORM_BYTES]),
                plain,
            )
        except InvalidTag:
            return None
        return plain


CAPABILITIES = wire.CAP_LARGE_MTU | wire.CAP_ENCRYPTION

LEAST_BLOCK_BYTES = 4096
"""A server that moves less than a page per request is refused, or it would take forever."""

_PREAUTH = 1
_ENCRYPTION = 2
_SIGNING = 8
"""Negotiate contexts (MS-SMB2 2.2.3.1)."""
_SHA_512 = 1
_REQUEST = struct.Struct("<HHHHI16sIHH")
_VALIDATE = 0x00140204
_IOCTL = struct.Struct("<HHI16sIIIIIIII")
_NO_FILE = b"\xff" * 16
_VALIDATED = struct.Struct("<I16sHH")
_VALIDATE_ANSWER_BYTES = 48
_CHALLENGE = b"NTLMSSP\0\2\0\0\0"
_HAS_TARGET_INFO = 0x00800000
_ANSWER = struct.Struct("<HHHH16sIIIIQQHHI")


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
    dialects = list(wire.DIALECTS)
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
