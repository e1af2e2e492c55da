"""Signatures and encryption of SMB messages, by the algorithms that client and server agreed on (MS-SMB2 3.1.4).

Sealed means encrypted and authenticated, behind a transform header (MS-SMB2 2.2.41).
"""

import hmac
import struct
from typing import cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import GCM
from cryptography.hazmat.primitives.cmac import CMAC

from app.clients.smb.wire import SMB_3_0, SMB_3_1_1, TRANSFORM_BYTES, TRANSFORM_ID, View

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
        self._is_gcm = cipher in {AES_128_GCM, AES_256_GCM}
        make_cipher = AESGCM if self._is_gcm else AESCCM
        self._decrypt = make_cipher(keys.decryption)
        self._key = keys.encryption
        self._nonce_bytes = 12 if self._is_gcm else 11
        self._session_id = session_id
        self._sent = 0
        """How many messages were sealed: the nonce of the next one."""
        self._sealed = bytearray()
        """The buffer of the last message that was sealed."""

    def next_nonce(self) -> bytes:
        self._sent += 1
        return struct.pack("<Q8x", self._sent)

    def seal(self, head: View, payload: View) -> memoryview:
        """The transform header and the encrypted message; ``head`` and ``payload`` are its parts.

        The view is valid until the next call.
        """
        length = len(head) + len(payload)
        end = TRANSFORM_BYTES + length
        if len(self._sealed) < end + SIGNATURE_BYTES:
            self._sealed = bytearray(end + SIGNATURE_BYTES)

        sealed = memoryview(self._sealed)
        # GCM encrypts piece by piece into the buffer; CCM takes the whole message at once.
        field = self.next_nonce()
        nonce = field[: self._nonce_bytes]
        struct.pack_into("<4s16s16sIHHQ", sealed, 0, TRANSFORM_ID, b"", field, length, 0, 1, self._session_id)

        # The header without its protocol id and signature is authenticated with what it protects.
        authenticated = bytes(sealed[20:TRANSFORM_BYTES])
        buffer = sealed[TRANSFORM_BYTES : end + SIGNATURE_BYTES]
        if self._is_gcm:
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
