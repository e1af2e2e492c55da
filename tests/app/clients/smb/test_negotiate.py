"""The first exchange: what is offered, what is understood, what is refused."""

import struct

import pytest
from impacket.smb3structs import SMB2Negotiate

from app.base.errors import ProtocolError
from app.clients.smb import wire
from app.clients.smb.negotiate import Offer, negotiate_frame, parse_negotiated
from app.clients.smb.protection import (
    AES_128_CCM,
    AES_128_GCM,
    AES_256_CCM,
    AES_256_GCM,
    AES_CMAC,
    AES_GMAC,
    HMAC_SHA256,
)

BODY = 64
GUID = bytes(range(16))


def answer(
    dialect: int = wire.SMB_3_1_1,
    *,
    contexts: tuple[tuple[int, bytes], ...] = (),
    capabilities: int = 0x47,
    mode: int = 1,
    token: bytes = b"token",
) -> memoryview:
    """A NEGOTIATE response as a server would send it (MS-SMB2 2.2.4)."""
    at = -(-(BODY + 64 + len(token)) // 8) * 8
    sizes = (8 << 20, 4 << 20, 2 << 20)
    fixed = struct.pack(
        "<HHHH16sIIIIQQHHI",
        *(65, mode, dialect, len(contexts), GUID, capabilities, *sizes, 0, 0, BODY + 64, len(token), at),
    )
    body = (fixed + token).ljust(at - BODY, b"\0")
    for kind, data in contexts:
        body += b"\0" * (-len(body) % 8) + struct.pack("<HHI", kind, len(data), 0) + data
    return memoryview(bytearray(bytes(BODY) + body))


PREAUTH = (1, struct.pack("<HHH4s", 1, 4, 1, b"salt"))


def test_request_offers_every_dialect_and_the_fast_algorithms_first():
    message = bytes(negotiate_frame(Offer(client_guid=GUID, sign=False))[4:])
    parsed = SMB2Negotiate(message[BODY:])
    assert parsed["DialectCount"] == 5
    assert struct.unpack_from("<5H", message, BODY + 36) == (0x0202, 0x0210, 0x0300, 0x0302, 0x0311)
    at, count = struct.unpack_from("<IH", message, BODY + 28)
    assert at % 8 == 0
    found = {}
    for _ in range(count):
        assert at % 8 == 0
        kind, length = struct.unpack_from("<HH", message, at)
        found[kind] = message[at + 8 : at + 8 + length]
        at += 8 + length + -length % 8
    assert found[2] == struct.pack("<HHHHH", 4, AES_128_GCM, AES_128_CCM, AES_256_GCM, AES_256_CCM)
    assert found[8] == struct.pack("<HHHH", 3, AES_GMAC, AES_CMAC, HMAC_SHA256)
    assert len(found[1]) == 6 + 32


@pytest.mark.parametrize(("sign", "mode"), [(False, wire.SIGNING_ENABLED), (True, wire.SIGNING_REQUIRED)])
def test_signing_is_required_only_when_asked(sign, mode):
    assert negotiate_frame(Offer(client_guid=GUID, sign=sign))[4 + BODY + 4] == mode


def test_answer_is_understood():
    contexts = (PREAUTH, (2, struct.pack("<HH", 1, AES_128_GCM)), (8, struct.pack("<HH", 1, AES_GMAC)))
    found = parse_negotiated(answer(contexts=contexts, mode=3), "//nas")
    assert (found.dialect, found.cipher, found.signing) == (wire.SMB_3_1_1, AES_128_GCM, AES_GMAC)
    assert (found.max_transact_bytes, found.max_read_bytes, found.max_write_bytes) == (8 << 20, 4 << 20, 2 << 20)
    assert (found.server_guid, found.token) == (GUID, b"token")
    assert found.requires_signing
    assert found.multi_credit


def test_3_1_1_without_contexts_for_them_signs_with_cmac_and_cannot_encrypt():
    found = parse_negotiated(answer(contexts=(PREAUTH,)), "//nas")
    assert (found.cipher, found.signing) == (None, AES_CMAC)


def test_a_cipher_that_was_not_offered_is_none():
    assert parse_negotiated(answer(contexts=(PREAUTH, (2, struct.pack("<HH", 1, 9)))), "//nas").cipher is None


@pytest.mark.parametrize(
    ("dialect", "capabilities", "cipher", "signing"),
    [
        (wire.SMB_2_0_2, 0x47, None, HMAC_SHA256),
        (wire.SMB_2_1, 0x47, None, HMAC_SHA256),
        (wire.SMB_3_0, 0x47, AES_128_CCM, AES_CMAC),
        (wire.SMB_3_0_2, 0x07, None, AES_CMAC),
    ],
)
def test_older_dialects_have_fixed_algorithms(dialect, capabilities, cipher, signing):
    found = parse_negotiated(answer(dialect, capabilities=capabilities), "//nas")
    assert (found.cipher, found.signing) == (cipher, signing)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(answer()[:100], id="cut off"),
        pytest.param(answer(0x02FF), id="a dialect that was not offered"),
        pytest.param(answer(contexts=(PREAUTH, (8, struct.pack("<HH", 1, 9)))), id="an unknown signing algorithm"),
        pytest.param(answer(), id="3.1.1 without pre-authentication integrity"),
        pytest.param(answer(contexts=((1, struct.pack("<HHH", 1, 0, 7)),)), id="an unknown hash"),
        pytest.param(answer(contexts=(PREAUTH,))[:-8], id="a context that is cut off"),
    ],
)
def test_answers_that_cannot_be(message):
    with pytest.raises(ProtocolError, match=r"^//nas: .*;"):
        parse_negotiated(message, "//nas")


@pytest.mark.parametrize("at", [28, 32, 36])
def test_a_server_that_moves_a_few_bytes_at_a_time_is_refused(at):
    message = answer(wire.SMB_2_1)
    struct.pack_into("<I", message, BODY + at, 1)
    with pytest.raises(ProtocolError, match="at a time"):
        parse_negotiated(message, "//nas")
