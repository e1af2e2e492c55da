"""Signatures and encryption of SMB 2 and 3, by the ``cryptography`` library (MS-SMB2 3.1.4)."""

import hmac
import struct
from collections.abc import Callable
from typing import Protocol, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import GCM
from cryptography.hazmat.primitives.cmac import CMAC

from app.clients.smb.wire import SMB_3_0, SMB_3_1_1, TRANSFORM_BYTES, TRANSFORM_ID, View

SIGNATURE_BYTES = 16

HMAC_SHA256, AES_CMAC, AES_GMAC = 0, 1, 2
"""Signing algorithms in the negotiate context (MS-SMB2 2.2.3.1.7)."""
AES_128_CCM, AES_128_GCM, AES_256_CCM, AES_256_GCM = 1, 2, 3, 4
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


class Signer(Protocol):
    """A signing algorithm with its key."""

    def sign(self, message_id: int, *parts: View, from_server: bool = False) -> bytes:
        """16 bytes; the parts form the message with its signature field zeroed."""


class HMACSigner:
    """HMAC-SHA256, for SMB 2 and, if negotiated, 3.1.1."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, message_id: int, *parts: View, from_server: bool = False) -> bytes:  # noqa: ARG002 - no nonce here
        mac = hmac.new(self._key, None, "sha256")
        for part in parts:
            mac.update(part)
        return mac.digest()[:SIGNATURE_BYTES]


class CMACSigner:
    """AES-128-CMAC, for SMB 3."""

    def __init__(self, key: bytes) -> None:
        self._algorithm = AES(key)

    def sign(self, message_id: int, *parts: View, from_server: bool = False) -> bytes:  # noqa: ARG002 - no nonce here
        mac = CMAC(self._algorithm)
        for part in parts:
            mac.update(cast("bytes", part))  # any buffer will do
        return mac.finalize()


class GMACSigner:
    """AES-128-GMAC, for SMB 3.1.1; the nonce is the message id and the sender."""

    def __init__(self, key: bytes) -> None:
        self._algorithm = AES(key)

    def sign(self, message_id: int, *parts: View, from_server: bool = False) -> bytes:
        mac = Cipher(self._algorithm, GCM(struct.pack("<QI", message_id, int(from_server)))).encryptor()
        for part in parts:
            mac.authenticate_additional_data(part)
        mac.finalize()
        return mac.tag


def signer(algorithm: int, key: bytes) -> Signer:
    """The signer of a negotiated algorithm."""
    makers: dict[int, Callable[[bytes], Signer]] = {
        HMAC_SHA256: HMACSigner,
        AES_CMAC: CMACSigner,
        AES_GMAC: GMACSigner,
    }
    return makers[algorithm](key)


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
        authenticated, buffer = bytes(sealed[20:TRANSFORM_BYTES]), sealed[TRANSFORM_BYTES : end + SIGNATURE_BYTES]
        if self._streams:
            sealed[4:20] = self._stream(nonce, authenticated, head, payload, buffer)
        else:
            AESCCM(self._key).encrypt_into(nonce, b"".join((head, payload)), authenticated, buffer)
            sealed[4:20] = sealed[end : end + SIGNATURE_BYTES]
        return sealed[:end]

    def _stream(self, nonce: bytes, authenticated: bytes, head: View, payload: View, buffer: memoryview) -> bytes:
        stream = Cipher(AES(self._key), GCM(nonce)).encryptor()
        stream.authenticate_additional_data(authenticated)
        at = stream.update_into(head, buffer)
        if payload:
            stream.update_into(payload, buffer[at:])
        stream.finalize()
        return stream.tag

    def open(self, sealed: memoryview, buffer: memoryview) -> memoryview | None:
        """Decrypts in place; None if the tag is wrong.

        ``buffer`` is ``sealed`` and at least 16 bytes after it, which are overwritten.
        """
        end = len(sealed)
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
