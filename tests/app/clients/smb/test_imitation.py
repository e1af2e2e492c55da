"""``--like``: what the clients that people have ask of a server, as it crosses the wire to a real smbd."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from app.base.errors import LoginError, ProtocolError, UsageError
from app.base.targets import parse_target
from app.clients.base import Secrets
from app.clients.smb import wire
from app.clients.smb.client import SMBClient
from app.clients.smb.files import SMBFiles
from app.clients.smb.imitation import offer_of, with_files_imitated, with_imitation
from app.clients.smb.negotiate import negotiate_frame
from app.clients.smb.protection import AES_CMAC, AES_GMAC, HMAC_SHA256
from app.recording.spec import SeriesSpec
from app.series.requests import series_request
from forms.tuning.imitated_clients import imitated_client
from storage.plan import Imitated, Settings
from storage.records import Target
from tests.app.clients.smb import proxy
from tests.app.clients.smb.proxy import Proxy
from tests.app.fakes import meter
from tests.servers.smbd import Smbd

SIZE_BYTES = 3 << 20
SIGNING_CONTEXT = 8
"""Of a NEGOTIATE request (MS-SMB2 2.2.3.1)."""


@dataclass
class Witness:
    """Notes of each message that passes whether it is signed, by its command; not of answers that say only: later."""

    is_signed: dict[int, set[bool]] = field(default_factory=dict)

    def __call__(self, message: bytearray) -> list[bytearray]:
        if struct.unpack_from("<I", message, 8)[0] == proxy.PENDING:
            return [message]
        flags = struct.unpack_from("<I", message, 16)[0]
        self.is_signed.setdefault(proxy.command(message), set()).add(bool(flags & proxy.SIGNED))
        return [message]


@contextlib.contextmanager
def watched(server: Smbd) -> Iterator[tuple[Target, Witness, Witness]]:
    requests, answers = Witness(), Witness()
    with Proxy(server.host, server.port, answers, requests) as between:
        yield replace(server.target("file"), port=between.port), requests, answers


@pytest.fixture
def server(smbd: Smbd) -> Smbd:
    smbd.make_file("file", bytes(SIZE_BYTES))
    return smbd


@pytest.mark.parametrize(
    ("like", "is_signed", "signing"),
    [
        (None, False, "none"),
        (Imitated.WINDOWS_11_24H2, True, "aes-gmac"),
        (Imitated.WINDOWS_SERVER_2025, True, "aes-gmac"),
        (Imitated.WINDOWS_10, False, "none"),
        (Imitated.MACOS_15, False, "none"),
        (Imitated.LINUX_MOUNT, False, "none"),
        (Imitated.SMBCLIENT, False, "none"),
    ],
)
def test_a_session_is_signed_as_that_client_signs_it_where_the_server_only_offers_it(server, like, is_signed, signing):
    with watched(server) as (target, requests, answers):
        client = SMBClient(target, server.secrets(), Settings(like=like))
        with contextlib.closing(client):
            client.connect()
            assert client.get("file", meter()).size_bytes == SIZE_BYTES
            assert client.facts().signing == signing
    assert requests.is_signed[proxy.READ] == {is_signed}
    assert answers.is_signed[proxy.READ] == {is_signed}


def test_who_knows_no_choice_of_algorithms_signs_with_cmac(server):
    settings = Settings(like=Imitated.WINDOWS_10, sign=True)
    with contextlib.closing(SMBClient(server.target("file"), server.secrets(), settings)) as client:
        client.connect()
        assert client.facts().signing == "aes-cmac"


def test_requests_are_as_large_as_a_mount_makes_them_unless_another_size_is_asked_for(server):
    for typed, expected in ((None, 4 << 20), (1 << 20, 1 << 20)):
        settings = Settings(like=Imitated.LINUX_MOUNT, block_bytes=typed)
        with contextlib.closing(SMBClient(server.target("file"), server.secrets(), settings)) as client:
            client.connect()
            assert client.facts().block_bytes == expected


def test_a_guest_is_refused_where_that_client_signs_every_session(server):
    target = server.target("file", guest=True)
    client = SMBClient(target, Secrets(), Settings(like=Imitated.WINDOWS_11_24H2))
    with contextlib.closing(client), pytest.raises(LoginError):
        client.connect()


def test_small_files_are_copied_one_at_a_time_in_requests_of_their_own(server):
    files = SMBFiles(server.target(), server.secrets(), Settings(like=Imitated.WINDOWS_11_24H2))
    with contextlib.closing(files):
        files.connect()
        assert files.connected_share().single_requests


@pytest.mark.parametrize(("typed", "expected"), [(None, 1), (1, 1), (4, 4)])
def test_what_is_typed_goes_before_what_the_client_does(typed, expected):
    assert with_files_imitated(Settings(like=Imitated.WINDOWS_10, in_flight=typed)).in_flight == expected


def test_without_a_client_to_imitate_nothing_changes():
    assert with_imitation(Settings()) == with_files_imitated(Settings()) == Settings()
    assert offer_of(Settings()).dialects == tuple(wire.DIALECTS)


@pytest.mark.parametrize("like", Imitated)
def test_each_client_is_in_the_table_with_a_source_and_offers_what_we_can_speak(like):
    client = imitated_client(like)
    offer = offer_of(Settings(like=like))
    assert client.source
    assert client.not_imitated
    assert set(offer.dialects) <= set(wire.DIALECTS)
    assert wire.SMB_3_1_1 in offer.dialects
    assert set(offer.signing) <= {AES_GMAC, AES_CMAC, HMAC_SHA256}


@pytest.mark.parametrize(
    ("like", "option"), [(Imitated.LINUX_MOUNT, "--like"), (Imitated.SMBCLIENT, None)], ids=["too old", "old enough"]
)
def test_a_server_without_a_dialect_of_the_client_is_told_in_a_line(make_smbd, like, option):
    server = make_smbd({"server max protocol": "SMB2_02", "server min protocol": "SMB2_02"})
    client = SMBClient(server.target(), server.secrets(), Settings(like=like))
    with contextlib.closing(client):
        if option is None:
            client.connect()
            assert client.facts().dialect == "2.0.2"
            return
        with pytest.raises(ProtocolError, match=option) as refusal:
            client.connect()
    assert imitated_client(like).name in str(refusal.value)
    assert "server max protocol" in str(refusal.value)


def test_the_offer_crosses_the_wire():
    message = bytes(negotiate_frame(offer_of(Settings(like=Imitated.LINUX_MOUNT)))[4:])
    body = wire.HEADER_BYTES
    count = struct.unpack_from("<H", message, body + 2)[0]
    assert struct.unpack_from(f"<{count}H", message, body + 36) == (0x0210, 0x0300, 0x0302, 0x0311)

    start, contexts = struct.unpack_from("<IH", message, body + 28)
    kinds = []
    for _ in range(contexts):
        kind, length = struct.unpack_from("<HH", message, start)
        kinds.append(kind)
        start += 8 + length + -length % 8
    assert SIGNING_CONTEXT not in kinds


@pytest.mark.parametrize(
    ("url", "client"), [("ftp://nas/file", ""), ("file:///file", ""), ("smb://nas/public/file", "smbclient")]
)
def test_nothing_else_imitates_them(url, client):
    spec = SeriesSpec(client=client, settings=Settings(like=Imitated.MACOS_15))
    with pytest.raises(UsageError):
        series_request(spec, parse_target(url), Secrets())
