"""Kerberos by what can go wrong with it: a server of our own that refuses, stalls, hangs up or talks nonsense."""

from __future__ import annotations

import datetime as dt
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from impacket.krb5 import asn1, constants, crypto, types
from pyasn1.codec.der import decoder, encoder
from pyasn1.type.univ import noValue

from app.base.errors import LoginError, ProtocolError, SharebenchError, StalledError, UnreachableError
from app.clients.base import Secrets
from app.clients.smb import kerberos
from app.clients.smb.client import SMBClient
from storage.plan import Settings
from tests.servers.process import free_port
from tests.servers.smbd import Smbd

REALM = "LOCALHOST"
"""The name that the Kerberos server is looked for by; it leads to the loopback."""
SOON_SECONDS = 1.5
"""How long they wait for an answer that never comes; one that comes may be late on a busy machine."""


Attempt = Callable[..., tuple[SharebenchError, "KerberosServer"]]


class KerberosServer:
    """Gives every request the same answer; None keeps it waiting."""

    def __init__(self, answer: bytes | None) -> None:
        self.requests: list[bytes] = []
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._held: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
                self.requests.append(sock.recv(65536))
            except OSError:
                return
            if self._answer is None:
                self._held.append(sock)
                continue
            sock.sendall(self._answer)
            sock.close()

    def close(self) -> None:
        for sock in (self._listener, *self._held):
            sock.close()


def refusal(code: int) -> bytes:
    """A KRB-ERROR (RFC 4120 5.9.1)."""
    error = asn1.KRB_ERROR()
    error["pvno"], error["msg-type"], error["error-code"] = 5, 30, code
    error["stime"], error["susec"] = types.KerberosTime.to_asn1(dt.datetime.now(dt.UTC)), 0
    error["realm"] = REALM
    error["sname"] = noValue
    error["sname"]["name-type"] = constants.PrincipalNameType.NT_SRV_INST.value
    error["sname"]["name-string"][0] = "krbtgt"
    return bytes(encoder.encode(error))


def framed(message: bytes) -> bytes:
    return struct.pack(">i", len(message)) + message


def ticket_cache(path: Path) -> None:
    """A file of tickets (format 4 of MIT's) with one to get others by, made up: only its server could tell."""
    ticket = asn1.Ticket()
    ticket["tkt-vno"], ticket["realm"] = 5, REALM
    ticket["sname"] = noValue
    ticket["sname"]["name-type"] = constants.PrincipalNameType.NT_SRV_INST.value
    ticket["sname"]["name-string"][0], ticket["sname"]["name-string"][1] = "krbtgt", REALM
    ticket["enc-part"] = noValue
    ticket["enc-part"]["etype"], ticket["enc-part"]["kvno"], ticket["enc-part"]["cipher"] = 18, 2, b"x" * 64

    user, server = _principal(1, "bench"), _principal(2, "krbtgt", REALM)
    now = int(time.time())
    times = struct.pack(">4I", now, now, now + 3600, now + 3600)
    key = struct.pack(">HI", 18, 32) + b"k" * 32
    rest = struct.pack(">BIII", 0, 0, 0, 0)  # no session key of another, no flags, addresses and authorizations
    path.write_bytes(
        b"\5\4\0\0" + user + user + server + key + times + rest + _counted(encoder.encode(ticket)) + _counted(b"")
    )


def _counted(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _principal(kind: int, *parts: str) -> bytes:
    words = b"".join(_counted(part.encode()) for part in (REALM, *parts))
    return struct.pack(">II", kind, len(parts)) + words


@pytest.fixture
def log_in(smbd: Smbd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Attempt]:
    ticket_cache(tmp_path / "tickets")
    monkeypatch.setenv("KRB5CCNAME", str(tmp_path / "tickets"))
    servers: list[KerberosServer] = []

    def attempt(answer: bytes | None, *, gone: bool = False) -> tuple[SharebenchError, KerberosServer]:
        server = KerberosServer(answer)
        servers.append(server)
        monkeypatch.setattr(kerberos, "PORT", free_port() if gone else server.port)
        target = replace(smbd.target(), domain=REALM)
        settings = Settings(timeout_seconds=SOON_SECONDS) if answer is None else Settings()
        client = SMBClient(target, Secrets(kerberos=True), settings)
        with pytest.raises(SharebenchError) as caught:
            client.connect()
        client.close()
        assert "\n" not in str(caught.value)
        return caught.value, server

    yield attempt
    for server in servers:
        server.close()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (6, "KDC_ERR_C_PRINCIPAL_UNKNOWN"),
        (7, "KDC_ERR_S_PRINCIPAL_UNKNOWN"),
        (14, "KDC_ERR_ETYPE_NOSUPP"),
        (31, "KRB_AP_ERR_BAD_INTEGRITY"),
        (32, "KRB_AP_ERR_TKT_EXPIRED"),
        (37, "KRB_AP_ERR_SKEW"),
        (60, "KRB_ERR_GENERIC"),
        (68, "KDC_ERR_WRONG_REALM"),
    ],
)
def test_a_refusal_is_named_with_what_to_do(log_in, code, words):
    error, server = log_in(framed(refusal(code)))
    assert len(server.requests) == 1, str(error)
    assert isinstance(error, LoginError)
    assert words in str(error)
    assert "kinit" in str(error)


def test_a_kerberos_server_that_does_not_answer_is_given_up(log_in):
    error, _ = log_in(None)
    assert isinstance(error, StalledError)
    assert f"Kerberos server {REALM}" in str(error)


@pytest.mark.parametrize(
    "answer", [b"", b"\0\0", framed(b"x" * 100)[:50]], ids=["nothing", "half a length", "half an answer"]
)
def test_one_that_hangs_up_is_told(log_in, answer):
    error, _ = log_in(answer)
    assert "hung up before it had answered" in str(error)


@pytest.mark.parametrize("length", [-1, 0, 2**31 - 1])
def test_an_answer_of_impossible_length_is_refused_before_it_takes_memory(log_in, length):
    error, _ = log_in(struct.pack(">i", length) + b"x" * 1000)
    assert isinstance(error, ProtocolError)
    assert f"{length} bytes long" in str(error)


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 400 Bad Request", bytes(60), refusal(25), refusal(6)[:40]],
    ids=["a web server's", "zeros", "a refusal without its end", "half a refusal"],
)
def test_nonsense_is_told_in_one_line(log_in, answer):
    error, _ = log_in(framed(answer))
    assert isinstance(error, LoginError)


def test_one_that_is_not_there_is_named(log_in):
    error, _ = log_in(b"", gone=True)
    assert isinstance(error, UnreachableError)
    assert f"Kerberos server {REALM}" in str(error)


def test_a_request_proves_that_it_was_not_changed(log_in):
    """MIT's server refuses a request whose authenticator has no checksum of its body."""
    _, server = log_in(framed(refusal(60)))
    request, _ = decoder.decode(server.requests[0][4:], asn1Spec=asn1.TGS_REQ())
    presented, _ = decoder.decode(bytes(request["padata"][0]["padata-value"]), asn1Spec=asn1.AP_REQ())
    key = crypto.Key(crypto.Enctype.AES256, b"k" * 32)
    plain = crypto.decrypt(key, 7, bytes(presented["authenticator"]["cipher"]))
    authenticator, _ = decoder.decode(plain, asn1Spec=asn1.Authenticator())

    tagged = encoder.encode(request["req-body"])
    body = tagged[2 + (tagged[1] & 0x7F if tagged[1] & 0x80 else 0) :]
    checksum = authenticator["cksum"]
    crypto.verify_checksum(int(checksum["cksumtype"]), key, 6, body, bytes(checksum["checksum"]))
