"""The client against our own practice server, which speaks SMB 2.0.2 and answers one request at a time."""

from dataclasses import replace

import pytest

from app.base.errors import AccessDeniedError, LoginError, NoSuchFileError, NotAFileError
from app.clients.base import Content, Secrets
from app.clients.smb.client import SMBClient
from app.practice.servers import PracticeServers
from storage.plan import Settings
from tests.app.clients.smb.conftest import Blocks, content_bytes

MIB = 1 << 20


@pytest.fixture(scope="module")
def practice():
    with PracticeServers(report_bytes=2 * MIB) as servers:
        yield servers


@pytest.fixture
def client(practice):
    client = SMBClient(practice.smb, practice.secrets, Settings())
    yield client
    client.close()


@pytest.mark.long
def test_moves_both_ways(client, meter):
    content, blocks = Content(MIB + 99), Blocks(MIB + 99)
    client.put("sent.bin", content, meter)
    client.get("sent.bin", meter, blocks)
    assert blocks.data == content_bytes(content)
    assert client.digest("sent.bin") == content.digest()
    client.remove("sent.bin")
    assert "sent.bin" not in [entry.name for entry in client.list("")]


def test_facts(client):
    facts = client.facts()
    assert (facts.dialect, facts.signing, facts.encryption, facts.block_bytes) == ("2.0.2", "none", "none", 65536)


def test_browsing(client, practice, meter):
    assert practice.smb.share in [name.lower() for name in client.shares()]
    names = [entry.name for entry in client.list("Projects [2026]")]
    assert "plan & budget.ods" in names
    assert client.get("Projects [2026]/plan & budget.ods", meter).size_bytes == 48_000
    assert client.get("Grüße/100% done.txt", meter).size_bytes == client.size("Grüße/100% done.txt")


def test_errors(client, meter):
    with pytest.raises(NoSuchFileError):
        client.size("nothing")
    with pytest.raises(NotAFileError):
        client.get("archive", meter)
    with pytest.raises(AccessDeniedError):
        client.put("read me.txt", Content(10), meter)


def test_wrong_password(practice):
    with pytest.raises(LoginError):
        SMBClient(practice.smb, Secrets(password="wrong"), Settings()).connect()
    with pytest.raises(LoginError):
        SMBClient(replace(practice.smb, user=None), Secrets(), Settings()).connect()


@pytest.mark.long
def test_several_at_once(client, practice, meter):
    """impacket's server has one srvsvc pipe for all: nobody may sit on it."""
    assert client.shares()
    others = [SMBClient(practice.smb, practice.secrets, Settings(sign=sign)) for sign in (False, True)]
    for other in others:
        assert other.shares()
        assert other.get(practice.smb.path, meter).size_bytes == 2 * MIB
    assert others[1].facts().signing == "hmac-sha256"
    for other in others:
        other.close()
