"""Servers differ: every dialect, signing and encryption required, small sizes and few credits, on real smbd."""

import os
import re

import pytest

from app.base.errors import LoginError, MeasurementError, NoSuchFileError, ProtocolError
from app.clients.base import Content, Meter
from app.clients.smb.client import SMBClient
from app.clients.smb.files import SMBFiles
from storage.plan import Settings
from tests.app.clients.smb.conftest import Blocks, content_bytes

MIB = 1 << 20
SIZE = 3 * MIB + 777

DIALECTS = {"SMB2_02": "2.0.2", "SMB2_10": "2.1", "SMB3_00": "3.0", "SMB3_02": "3.0.2", "SMB3_11": "3.1.1"}
OLD = {"2.0.2", "2.1"}


def moves_both_ways(client: SMBClient, meter: Meter, size: int = SIZE) -> None:
    content, blocks = Content(size), Blocks(size)
    client.put("both ways.bin", content, meter)
    client.get("both ways.bin", meter, blocks)
    digest = client.digest("both ways.bin")
    client.remove("both ways.bin")
    assert blocks.data == content_bytes(content)
    assert digest == content.digest()
    assert client.list("") == []


@pytest.mark.varied
@pytest.mark.parametrize(("limit", "dialect"), DIALECTS.items())
def test_dialects(smbd_with, make_client, meter, limit, dialect):
    client = make_client(smbd_with({"server max protocol": limit}))
    moves_both_ways(client, meter)
    facts = client.facts()
    assert (facts.dialect, facts.signing, facts.encryption) == (dialect, "none", "none")
    if dialect == "2.0.2":
        assert facts.block_bytes == 65536


def test_a_server_that_speaks_smb_1_alone(smbd_with, make_client):
    with pytest.raises(ProtocolError, match="SMB 2"):
        make_client(smbd_with({"server min protocol": "NT1", "server max protocol": "NT1"})).connect()


@pytest.mark.varied
@pytest.mark.parametrize(("limit", "dialect"), DIALECTS.items())
def test_signing_required_by_the_server(smbd_with, make_client, meter, limit, dialect):
    server = smbd_with({"server max protocol": limit, "server signing": "mandatory"})
    client = make_client(server)
    moves_both_ways(client, meter)
    expected = "hmac-sha256" if dialect in OLD else "aes-gmac" if dialect == "3.1.1" else "aes-cmac"
    assert client.facts().signing == expected
    assert client.facts_of_path()["smb.requires_signing"] == "yes"


@pytest.mark.parametrize(
    ("offered", "signing"),
    [("aes-128-gmac", "aes-gmac"), ("aes-128-cmac", "aes-cmac"), ("hmac-sha256", "hmac-sha256")],
)
def test_signing_algorithms_of_3_1_1(smbd_with, make_client, meter, offered, signing):
    client = make_client(smbd_with({"server smb3 signing algorithms": offered, "server signing": "mandatory"}))
    moves_both_ways(client, meter)
    assert client.facts().signing == signing


@pytest.mark.varied(limit=1)
@pytest.mark.parametrize("limit", ["SMB3_00", "SMB3_02", "SMB3_11"])
@pytest.mark.parametrize("scope", ["global", "share"])
def test_encryption_required_by_the_server(smbd_with, make_client, meter, limit, scope):
    required = {"server smb encrypt": "required"}
    options = {"server max protocol": limit} | (required if scope == "global" else {})
    client = make_client(smbd_with(options, required if scope == "share" else {}))
    moves_both_ways(client, meter)
    facts = client.facts()
    assert facts.encryption == ("aes-128-gcm" if limit == "SMB3_11" else "aes-128-ccm")
    assert facts.signing == "none"
    assert client.shares()


@pytest.mark.varied
@pytest.mark.parametrize("cipher", ["aes-128-ccm", "aes-128-gcm", "aes-256-ccm", "aes-256-gcm"])
def test_ciphers_of_3_1_1(smbd_with, make_client, meter, cipher):
    options = {"server smb3 encryption algorithms": cipher, "server smb encrypt": "required"}
    client = make_client(smbd_with(options))
    moves_both_ways(client, meter)
    assert client.facts().encryption == cipher


def test_signing_and_encryption_that_only_the_person_asks_for(smbd, make_client, meter):
    smbd.make_file("asked.bin", os.urandom(SIZE))
    signed, sealed = make_client(smbd, sign=True), make_client(smbd, encrypt=True)
    assert signed.get("asked.bin", meter).size_bytes == sealed.get("asked.bin", meter).size_bytes == SIZE
    assert (signed.facts().signing, signed.facts().encryption) == ("aes-gmac", "none")
    assert (sealed.facts().signing, sealed.facts().encryption) == ("none", "aes-128-gcm")


@pytest.mark.parametrize(
    ("option", "value", "dialect"), [("server max protocol", "SMB2_10", "2.1"), ("smb encrypt", "off", "3.1.1")]
)
def test_encryption_asked_of_a_server_that_has_none(smbd_with, make_client, option: str, value: str, dialect: str):
    said = f"the server offers none with SMB {dialect}; allow it there (smb encrypt, SMB 3), or measure without"
    with pytest.raises(MeasurementError, match=re.escape(said)):
        make_client(smbd_with({option: value}), encrypt=True).connect()


def test_guest_where_signing_is_mandatory(smbd_with, make_client):
    with pytest.raises(LoginError):
        make_client(smbd_with({"server signing": "mandatory"}), guest=True).connect()


@pytest.mark.varied
@pytest.mark.parametrize("credits_allowed", ["1", "3", "20"])
def test_few_credits(smbd_with, make_client, meter, credits_allowed):
    client = make_client(smbd_with({"smb2 max credits": credits_allowed}))
    moves_both_ways(client, meter)
    facts = client.facts()
    assert facts.block_bytes * facts.in_flight <= 65536 * int(credits_allowed)


@pytest.mark.parametrize("credits_allowed", ["1", "3"])
def test_file_operations_where_credits_are_too_few_for_a_compound_request(smbd_with, credits_allowed):
    server = smbd_with({"smb2 max credits": credits_allowed})
    files = SMBFiles(server.target(), server.secrets(), Settings())
    try:
        files.make_folder("few")
        files.write_file("few/one", memoryview(b"\xff" * 40))
        assert files.query("few/one").size_bytes == files.read_file("few/one", 1000) == 40
        files.rename("few/one", "few/two")
        assert [entry.name for entry in files.list("few")] == ["two"]
        assert files.free_bytes("few")
        with pytest.raises(NoSuchFileError):
            files.query("few/one")
        files.remove("few/two")
        files.remove("few/two")
        files.remove_folder("few")
        assert files.list("") == []
    finally:
        files.close()


def test_large_blocks_asked_for_where_credits_are_few(smbd_with, make_client, meter):
    client = make_client(smbd_with({"smb2 max credits": "10"}), block_bytes=MIB, in_flight=4)
    moves_both_ways(client, meter)
    assert (client.facts().block_bytes, client.facts().in_flight) == (10 * 65536, 1)


@pytest.mark.varied
@pytest.mark.parametrize(("read", "write"), [("65536", "65536"), ("70000", "100000"), ("1048576", "65536")])
def test_small_maximum_sizes(smbd_with, make_client, meter, read, write):
    client = make_client(smbd_with({"smb2 max read": read, "smb2 max write": write}))
    moves_both_ways(client, meter)
    facts = client.facts_of_path()
    assert client.facts().block_bytes <= facts["smb.max_read_bytes"] <= max(65536, int(read))
    assert facts["smb.put_block_bytes"] <= facts["smb.max_write_bytes"]


@pytest.mark.long
@pytest.mark.varied(largest=1)
@pytest.mark.parametrize("largest", ["4096", "16384", "65535"])
def test_answers_of_less_than_64_kib(smbd_with, make_client, meter, largest):
    options = {"smb2 max read": largest, "smb2 max write": largest, "smb2 max trans": largest}
    server = smbd_with(options)
    for number in range(200):
        server.make_file(f"small {number}", b"")
    client = make_client(server)
    assert len(client.list("")) == 200
    assert server.share in client.shares()
    for number in range(200):
        client.remove(f"small {number}")
    moves_both_ways(client, meter)


@pytest.mark.long
def test_answers_through_the_thread_pool_in_any_order(smbd_with, make_client, meter):
    server = smbd_with({"aio max threads": "8"}, {"aio read size": "1", "aio write size": "1"})
    moves_both_ways(make_client(server, block_bytes=65536, in_flight=16), meter, 16 * MIB)
