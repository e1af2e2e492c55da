"""Known answers: Microsoft's published examples for SMB 3.0 and 3.1.1, RFC 4493, and the GCM specification."""

import pytest

from app.clients.smb import protection, wire
from app.clients.smb.protection import AES_128_CCM, AES_128_GCM, AES_CMAC, AES_GMAC, HMAC_SHA256, Keys, Sealer

# "SMB 2 and SMB 3 security in Windows 10: the anatomy of signing and cryptographic keys", Microsoft, 2017
KEY_3_0 = bytes.fromhex("7CD451825D0450D235424E44BA6E78CC")
KEY_3_1_1 = bytes.fromhex("270E1BA896585EEB7AF3472D3B4C75A7")
HASH_3_1_1 = bytes.fromhex(
    "0DD13628CC3ED218EF9DF9772D436D0887AB9814BFAE63A80AA845F36909DB79"
    "28622DDDAD522D9751640A459762C5A9D6BB084CBB3CE6BDADEF5D5BCE3C6C01"
)
LOGIN_ANSWER = bytes.fromhex(
    "FE534D4240000100000000000100800009000000000000000300000000000000FFFE000000000000"
    "1900000000100000EBE146DA120BA25FC3376A49DFE31BC10900000048001D00A11B3019A0030A01"
    "00A3120410010000003B453CDC3524164200000000"
)

# "Encryption in SMB 3.0: a protocol perspective", Microsoft, 2012, and its sequel for 3.1.1
CCM_KEY = bytes.fromhex("B4546771B515F766A86735532DD6C4F0")
CCM_SESSION = 0x8E40014000011
CCM_NONCE = bytes.fromhex("66E69A111892584FB5ED524A744DA3EE")
CCM_REQUEST = bytes.fromhex(
    "FE534D4240000100000000000900400008000000000000000400000000000000"
    "FFFE0000010000001100001400E4080000000000000000000000000000000000"
    "3100700017000000000000000000000015010000390000020100000039020000"
    "00000000000000007000000000000000536D623320656E6372797074696F6E20"
    "74657374696E67"
)
CCM_SEALED_REQUEST = bytes.fromhex(
    "FD534D4281A286535415445DAE393921E44FA42E66E69A111892584FB5ED524A"
    "744DA3EE87000000000001001100001400E4080025C8FEE16605A437832D1CD5"
    "2DA9F4645333482A175FE5384563F45FCDAFAEF38BC62BA4D5C62897996625A4"
    "4C29BE5658DE2E6117585779E7B59FFD971278D08580D7FA899E410E910EABF5"
    "AA1DB43050B33B49182637759AC15D84BFCDF5B6B238993C0F4CF4D6012023F6"
    "C627297075D84B7803912D0A9639634453595EF3E33FFE4E7AC2AB"
)
CCM_SEALED_ANSWER = bytes.fromhex(
    "FD534D42A6015530A18F6D9AFFE22AFAE8E66484860000000000000011000014"
    "00E4080050000000000001001100001400E40800DBF46435C5F14169293CE079"
    "E344479BF670227E49873F458672C3098DAC467DD5809F369D67409166515787"
    "1483E01F7BECD02064EAC3E235F913668BBC2F097980D4B378F1993EFF6E60D1"
    "77309E5B"
)
CCM_ANSWER = bytes.fromhex(
    "FE534D4240000100000000000900210009000000000000000400000000000000"
    "FFFE0000010000001100001400E4080000000000000000000000000000000000"
    "11000000170000000000000000000000"
)
GCM_KEY = bytes.fromhex("419FDDF34C1E001909D362AE7FB6AF79")
GCM_HASH = bytes.fromhex(
    "B23F3CBFD69487D9832B79B1594A367CDD950909B774C3A4C412B4FCEA9EDDDB"
    "A7DB256BA2EA30E977F11F9B113247578E0E915C6D2A513B8F2FCA5707DC8770"
)
GCM_SESSION = 0x100000000025
GCM_NONCE = bytes.fromhex("C7D6822D269CAF48904C664C00000000")
GCM_REQUEST = bytes.fromhex(
    "FE534D4240000100000000000900010008000000000000000500000000000000FFFE000001000000"
    "25000000001000000000000000000000000000000000000031007000170000000000000000000000"
    "0600000004000000010000000400000000000000000000007000000000000000536D623320656E63"
    "72797074696F6E2074657374696E67"
)
GCM_SEALED_REQUEST = bytes.fromhex(
    "FD534D42BD73D97D2BC9001BCAFAC0FDFF5FEEBCC7D6822D269CAF48904C664C0000000087000000"
    "0000010025000000001000006ECDD2A7AFC7B47763057A041B8FD4DAFFE990B70C9E09D36C084E02"
    "D14EF247F8BDE38ACF6256F8B1D3B56F77FBDEB312FEA5E92CBCC1ED8FB2EBBFAA75E49A4A394BB4"
    "4576545567C24D4C014D47C9FBDFDAFD2C4F9B72F8D256452620A299F48E29E53D6B61D1C13A19E9"
    "1AF013F00D17E3ABC2FC3D36C8C1B6B93973253852DBD442E46EE8"
)
GCM_SEALED_ANSWER = bytes.fromhex(
    "FD534D42ACBE1CB7ED343ADF1725EF144D90D4B0E06831DD2E8EB7B4000000000000000050000000"
    "00000100250000000010000026BBBF949983A6C1C796559D0F2C510CB651D1F7B6AC8DED32A2A0B8"
    "F2D793A815C6F6B848D69767A215841A42D400AE6DDB5F0B44173A014973321FDD7950DA6179159B"
    "82E03C9E18A050FF0EA1C967"
)
GCM_ANSWER = bytes.fromhex(
    "FE534D4240000100000000000900010001000000000000000500000000000000FFFE000001000000"
    "25000000001000000000000000000000000000000000000011000000170000000000000000000000"
)


def test_keys_of_3_0_are_those_of_the_example():
    keys = Keys(KEY_3_0, wire.SMB_3_0, b"")
    assert keys.signing.hex().upper() == "0B7E9C5CAC36C0F6EA9AB275298CEDCE"
    assert keys.encryption.hex().upper() == "FAD27796665B313EBB578F388632B4F7"
    assert keys.decryption.hex().upper() == "B0F0427F7CEB416D1D9DCC0CD4F99447"


def test_keys_of_3_1_1_are_those_of_the_example():
    keys = Keys(KEY_3_1_1, wire.SMB_3_1_1, HASH_3_1_1)
    assert keys.signing.hex().upper() == "73FE7A9A77BEF0BDE49C650D8CCB5F76"
    assert keys.encryption.hex().upper() == "629BCBC54422A0F572B97F45989B6073"
    assert keys.decryption.hex().upper() == "E2AF0DCEFAC68DA71A0DFBD0D1350D74"


def test_keys_of_smb_2_are_the_session_key_itself_filled_up():
    assert Keys(b"short", wire.SMB_2_1, b"").signing == b"short".ljust(16, b"\0")


def test_the_signature_of_the_examples_login_answer_is_right():
    signature, zeroed = LOGIN_ANSWER[48:64], LOGIN_ANSWER[:48] + bytes(16) + LOGIN_ANSWER[64:]
    signer = protection.Signer(AES_CMAC, Keys(KEY_3_1_1, wire.SMB_3_1_1, HASH_3_1_1).signing)
    assert signer.sign(3, zeroed, from_server=True) == signature


@pytest.mark.parametrize(
    ("length", "mac"),
    [
        (0, "bb1d6929e95937287fa37d129b756746"),
        (16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (40, "dfa66747de9ae63030ca32611497c827"),
        (64, "51f0bebf7e3b9d92fc49741779363cfe"),
    ],
)
def test_cmac_gives_the_answers_of_rfc_4493(length, mac):
    message = bytes.fromhex(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )[:length]
    signer = protection.Signer(AES_CMAC, bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"))
    assert signer.sign(0, message).hex() == mac
    assert signer.sign(0, message[:7], message[7:]).hex() == mac


def test_gmac_of_nothing_is_the_first_tag_of_the_gcm_specification():
    # McGrew & Viega, test case 1: zero key, zero nonce, no text; message 0 from the client has that nonce
    signer = protection.Signer(AES_GMAC, bytes(16))
    assert signer.sign(0).hex() == "58e2fccefa7e3061367f1d57a4e7455a"


def test_gmac_depends_on_the_message_id_and_on_who_sends():
    signer = protection.Signer(AES_GMAC, KEY_3_0)
    tags = {
        signer.sign(1, b"text"),
        signer.sign(2, b"text"),
        signer.sign(1, b"text", from_server=True),
        signer.sign(1, b"texts"),
    }
    assert len(tags) == 4
    assert signer.sign(1, b"te", b"xt") == signer.sign(1, b"text")


def test_hmac_is_the_first_half_of_the_rfc_4231_answer():
    signer = protection.Signer(HMAC_SHA256, b"Jefe")
    assert signer.sign(9, b"what do ya want ", b"for nothing?").hex() == "5bdcc146bf60754e6a042426089575c7"


class FixedNonce(Sealer):
    nonce = b""

    def next_nonce(self) -> bytes:
        return self.nonce


SEALED = [
    pytest.param(
        AES_128_CCM,
        Keys(CCM_KEY, wire.SMB_3_0, b""),
        CCM_SESSION,
        (CCM_NONCE, CCM_REQUEST, CCM_SEALED_REQUEST, CCM_ANSWER, CCM_SEALED_ANSWER),
        id="ccm-3.0",
    ),
    pytest.param(
        AES_128_GCM,
        Keys(GCM_KEY, wire.SMB_3_1_1, GCM_HASH),
        GCM_SESSION,
        (GCM_NONCE, GCM_REQUEST, GCM_SEALED_REQUEST, GCM_ANSWER, GCM_SEALED_ANSWER),
        id="gcm-3.1.1",
    ),
]


@pytest.mark.parametrize(("cipher", "keys", "session_id", "example"), SEALED)
def test_sealing_gives_the_bytes_of_the_example(cipher, keys, session_id, example):
    nonce, request, sealed_request, _answer, _sealed_answer = example
    sealer = FixedNonce(cipher, keys, session_id)
    sealer.nonce = nonce
    assert bytes(sealer.seal(request[:112], request[112:])) == sealed_request
    assert bytes(sealer.seal(request, b"")) == sealed_request


@pytest.mark.parametrize(("cipher", "keys", "session_id", "example"), SEALED)
def test_opening_gives_the_message_of_the_example(cipher, keys, session_id, example):
    *_, answer, sealed_answer = example
    buffer = memoryview(bytearray(sealed_answer + bytes(64)))
    opened = Sealer(cipher, keys, session_id).open(buffer[: len(sealed_answer)], buffer)
    assert opened is not None
    assert bytes(opened) == answer


@pytest.mark.parametrize("at", [4, 20, 44, 60, -1], ids=["tag", "nonce", "session", "first byte", "last byte"])
@pytest.mark.parametrize(("cipher", "keys", "session_id", "example"), SEALED)
def test_one_flipped_bit_is_found(cipher, keys, session_id, example, at):
    changed = bytearray(example[-1])
    changed[at] ^= 1
    buffer = memoryview(changed + bytes(64))
    assert Sealer(cipher, keys, session_id).open(buffer[: len(changed)], buffer) is None


def test_no_nonce_is_used_twice():
    sealer = Sealer(AES_128_GCM, Keys(GCM_KEY, wire.SMB_3_1_1, GCM_HASH), GCM_SESSION)
    nonces = {bytes(sealer.seal(b"the same text", b""))[20:32] for _ in range(100)}
    assert len(nonces) == 100
