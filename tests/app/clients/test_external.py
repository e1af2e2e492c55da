"""Other programs as clients: smbclient, smbclient-ng and curl against the real servers."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from app.base.errors import (
    AccessDeniedError,
    CancelledError,
    ConnectionLostError,
    CorruptedError,
    LoginError,
    MeasurementError,
    MissingProgramError,
    NoSpaceError,
    NoSuchFileError,
    NotAFileError,
    ProtocolError,
    SharebenchError,
    StalledError,
    UnreachableError,
    UsageError,
)
from app.clients.base import Content, Meter, Secrets
from app.clients.registry import make_client
from app.clients.smbclientng import SmbclientNgClient
from app.server.running_program import ProgramOutcome
from storage.plan import Settings
from storage.records import Target
from tests.app.fakes import meter
from tests.servers.process import require
from tests.waiting import wait_for

ODD_NAMES = ["with space", "[brackets]", "Grüße 你好", "100%", "%41", "-dash", "quo'te;semi"]
SMB = ["smbclient", "smbclient-ng"]
ALL = [*SMB, "curl"]


def place(client, name):
    return f"/{name}" if client.target.protocol == "ftp" else name


@pytest.fixture
def smbd_quick(make_smbd):
    """An smbd to which impacket does not sign, which would be slow."""
    return make_smbd({"server max protocol": "SMB2_10"})


@pytest.fixture
def made(request):
    """A factory of clients by name, with the server that each is for."""
    clients = []
    require("smbclient", "curl", root=False)

    def make(name, server=None, secrets=None, **settings):
        server = server or request.getfixturevalue("vsftpd" if name == "curl" else "smbd_quick")
        clients.append(make_client(server.target(), name, secrets or server.secrets(), Settings(**settings)))
        return clients[-1], server

    yield make
    for client in clients:
        client.close()


@pytest.mark.varied
@pytest.mark.parametrize("name", ALL)
def test_get_is_timed_by_the_program(made, name):
    client, server = made(name)
    server.make_file("to get.bin", os.urandom(64 << 20))
    client.connect()
    done = client.get(place(client, "to get.bin"), meter())
    assert done.size_bytes == 64 << 20
    assert done.seconds > 0
    assert client.facts().name == name
    assert client.facts().version[0].isdigit()


@pytest.mark.varied
@pytest.mark.parametrize("name", ALL)
def test_put_stores_the_content_under_any_name(made, name):
    client, server = made(name)
    content = Content(12_000_001)
    for odd in ODD_NAMES:
        path = place(client, f".sharebench-{odd}")
        assert client.put(path, content, meter()).size_bytes == 12_000_001
        stored = (server.folder / f".sharebench-{odd}").read_bytes()
        assert hashlib.sha256(stored).hexdigest() == content.digest()
        with pytest.raises(AccessDeniedError, match="none is replaced"):
            client.put(path, content, meter())
        client.remove(path)
        client.remove(path)


@pytest.mark.varied
@pytest.mark.parametrize("name", ALL)
def test_what_is_no_file_is_refused(made, name):
    client, server = made(name)
    (server.folder / "folder").mkdir(exist_ok=True)
    server.make_file("empty", b"")
    with pytest.raises(NoSuchFileError):
        client.get(place(client, "missing"), meter())
    for wrong in ("folder", "empty"):
        with pytest.raises(NotAFileError):
            client.get(place(client, wrong), meter())
    with pytest.raises(SharebenchError):
        client.put(place(client, "missing/file"), Content(10_000_000), meter())
    assert "folder" in [entry.name for entry in client.list(place(client, ""))]


@pytest.mark.parametrize("name", ALL)
def test_a_wrong_password_is_told(made, name):
    client, _ = made(name, secrets=Secrets(password="wrong"))
    with pytest.raises(LoginError):
        client.connect()


@pytest.mark.parametrize("name", ["smbclient", "curl"])
def test_a_missing_program_is_told(made, name, monkeypatch):
    client, _ = made(name)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MissingProgramError, match=f"apt install {name}"):
        client.connect()


@pytest.mark.varied
@pytest.mark.parametrize("name", ALL)
def test_a_disk_that_fills_up_is_told(made, make_smbd, make_vsftpd, small_disk, name):
    if name == "curl":
        server = make_vsftpd({"local_root": str(small_disk), "chroot_local_user": "NO"})
    else:
        server = make_smbd({"server max protocol": "SMB2_10"}, {"path": str(small_disk)})
    client, _ = made(name, server)
    path = f"{small_disk}/file" if name == "curl" else "file"
    with pytest.raises(NoSpaceError if name == "smbclient" else MeasurementError):
        client.put(path, Content(32 << 20), meter())

    def is_removed() -> bool:
        with suppress(AccessDeniedError):  # the server notices late that a program is gone, which had it open
            client.remove(path)
        return not list(small_disk.iterdir())

    wait_for(is_removed)


@pytest.mark.varied
@pytest.mark.parametrize("name", ALL)
def test_a_server_that_dies_is_told(made, make_vsftpd, name, request):
    server = make_vsftpd({"local_max_rate": "2000000"}) if name == "curl" else None
    client, server = made(name, server)
    big = server.folder / "big"
    with big.open("wb") as file:
        file.truncate(1 << 34)
    big.chmod(0o644)
    dying = meter(on_sample=lambda _seconds, moved: server.kill() if moved else None)
    with pytest.raises((ConnectionLostError, CorruptedError)):
        client.get(place(client, "big"), dying)
    with pytest.raises((ConnectionLostError, UnreachableError)):
        client.size(place(client, "big"))


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_a_stalled_server_and_a_cancelled_run_end(made, make_vsftpd, name):
    server = make_vsftpd({"local_max_rate": "2000000"}) if name == "curl" else None
    client, server = made(name, server, timeout_seconds=6)
    big = server.folder / "big"
    with big.open("wb") as file:
        file.truncate(1 << 34)
    big.chmod(0o644)
    stop = threading.Event()
    with pytest.raises(CancelledError):
        client.get(place(client, "big"), Meter(stop, on_sample=lambda _seconds, moved: stop.set() if moved else None))
    with pytest.raises((ConnectionLostError, MeasurementError)):
        client.get(place(client, "big"), meter(on_sample=lambda _s, moved: client.abort() if moved else None))
    client.close()
    with pytest.raises(StalledError):
        client.get(place(client, "big"), meter(on_sample=lambda _s, moved: server.suspend() if moved else None))


@pytest.mark.varied(name=1)
@pytest.mark.parametrize("name", ALL)
def test_a_put_can_be_cancelled(made, name):
    client, _ = made(name)
    stop = threading.Event()
    stop.set()
    with pytest.raises(CancelledError):
        client.put(place(client, "cancelled"), Content(1 << 30), Meter(stop))


def test_the_password_is_in_no_argument(made, vsftpd, make_smbd, monkeypatch, tmp_path):
    """Programs that note their arguments and environment stand in for the real ones."""
    for name, server in (("curl", vsftpd), ("smbclient", make_smbd())):
        client, _ = made(name, server)
        client.connect()
        noted = tmp_path / f"{name}.txt"
        fake = tmp_path / name
        fake.write_text(f'#!/bin/sh\n{{ echo "$@"; /usr/bin/env; }} > {noted}\n')
        fake.chmod(0o755)
        server.make_file("file", b"content")
        with monkeypatch.context() as patched:
            patched.setenv("PATH", str(tmp_path))
            with pytest.raises(MeasurementError):
                client.get(place(client, "file"), meter())
        assert noted.read_text()
        assert server.password not in noted.read_text()


def test_smbclient_tells_what_it_negotiated(made, make_smbd):
    signing = made("smbclient", make_smbd({"server signing": "mandatory"}))[0].facts()
    assert (signing.dialect, signing.signing, signing.encryption) == ("3.1.1", "aes-gmac", "none")
    sealed = made("smbclient", make_smbd({"server smb encrypt": "required"}))[0].facts()
    assert (sealed.dialect, sealed.signing, sealed.encryption) == ("3.1.1", "none", "encrypted")
    plain = made("smbclient", make_smbd({"server max protocol": "SMB2_10"}))[0].facts()
    assert (plain.dialect, plain.signing, plain.encryption) == ("2.1", "none", "none")
    asked = made("smbclient", make_smbd(), sign=True)[0].facts()
    assert asked.signing == "aes-gmac"


def test_smbclient_takes_no_double_quote(made):
    client, _ = made("smbclient")
    with pytest.raises(NoSuchFileError, match="cannot be given such a name"):
        client.put('a"b', Content(10), meter())


@pytest.mark.parametrize("rate", ["inf", "0.0", "1000000.0"])
def test_a_run_too_short_for_smbclients_clock_is_refused(rate):
    from app.clients.smbclient import transfer_of

    with pytest.raises(MeasurementError, match="larger file"):
        transfer_of(1000, rate, "//host/share/tiny")
    assert transfer_of(4 << 20, "2048.0", "//host/share/file").seconds == pytest.approx(2.0)


def test_curl_speaks_tls(made, make_vsftpd, monkeypatch):
    server = make_vsftpd(tls="explicit")
    monkeypatch.setenv("SSL_CERT_FILE", str(server.root / "certificate.pem"))
    client, _ = made("curl", server)
    content = Content(5_000_001)
    client.put("/file", content, meter())
    assert client.get("/file", meter()).size_bytes == 5_000_001
    assert client.digest("/file") == content.digest()
    assert str(client.facts().encryption).startswith("TLS")


def test_curl_as_anonymous(vsftpd):
    client = make_client(vsftpd.target(anonymous=True), "curl", Secrets(), Settings())
    client.put("/upload/anonymous", Content(1_000_000), meter())
    assert client.get("/upload/anonymous", meter()).size_bytes == 1_000_000
    client.remove("/upload/anonymous")
    client.close()


def test_unknown_names_are_refused_with_those_that_work():
    with pytest.raises(UsageError, match="sharebench, smbclient, smbclient-ng"):
        make_client(Target(protocol="smb", host="h"), "curl", Secrets(), Settings())
    with pytest.raises(UsageError, match="decides itself about signing") as refused:
        make_client(Target(protocol="smb", host="h"), "smbclient-ng", Secrets(), Settings(sign=True))
    assert "--sign" in refused.value.options


@pytest.mark.parametrize(("size", "rate"), [("9" * 5_000, "1.0"), ("1000", "9" * 5_000 + ".0")])
def test_figures_of_thousands_of_digits_are_no_transfer(monkeypatch, size, rate):
    from app.clients.smbclient import SmbclientClient

    said = f"getting file \\f of size {size} as /dev/null ({rate} KiloBytes/sec) (average 1 KiloBytes/sec)"
    client = SmbclientClient(Target(protocol="smb", host="nas", port=445, share="d"), Secrets(), Settings())
    monkeypatch.setattr(client, "_size_to_get", lambda *_words: 1000)
    monkeypatch.setattr(client, "_run", lambda *_words, **_how: ProgramOutcome(0, said, ""))
    with pytest.raises(ProtocolError):
        client.get("f", meter())


@pytest.mark.parametrize("report", [{"size_download": "many"}, {"time_total": 10**400}, {"time_pretransfer": None}, []])
def test_a_report_of_curl_of_another_shape_is_told(monkeypatch, report):
    from app.clients.curl import CurlClient

    require("curl", root=False)
    sound = {"size_download": 1000, "time_pretransfer": 0.1, "time_total": 0.2}
    said = json.dumps({**sound, **report} if isinstance(report, dict) else report)
    client = CurlClient(Target(protocol="ftp", host="nas", port=21), Secrets(), Settings())
    monkeypatch.setattr(client, "_size_to_get", lambda *_words: 1000)
    monkeypatch.setattr(client._program, "run", lambda *_words, **_how: ProgramOutcome(0, said, ""))
    with pytest.raises(ProtocolError):
        client.get("/f", meter())


class SlowSession:
    """Logs in after ``seconds``; ``step_seconds`` is how often it tells of a step."""

    seconds = 10.0
    step_seconds = 20.0
    smbClient = None  # noqa: N815 - smbclient-ng's name

    def __init__(self, logger: Any, **_how: object) -> None:
        self._logger = logger

    def init_smb_session(self) -> bool:
        until = time.monotonic() + self.seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, self.step_seconds))
            self._logger.debug("a step")
        return True


@pytest.fixture
def slow_login(monkeypatch: pytest.MonkeyPatch) -> SmbclientNgClient:
    target = Target(protocol="smb", host="nas", port=445, share="d")
    client = SmbclientNgClient(target, Secrets(), Settings(timeout_seconds=3))
    monkeypatch.setattr(client, "_own", SimpleNamespace(connect=lambda: None, target=target))
    monkeypatch.setattr("app.clients.smbclientng.SMBSession", SlowSession)
    return client


def test_a_login_of_smbclient_ng_that_gets_no_answer_is_given_up(slow_login):
    with pytest.raises(StalledError):
        slow_login.connect()


def test_a_login_of_smbclient_ng_that_gets_on_may_take_longer_than_an_answer(slow_login, monkeypatch):
    monkeypatch.setattr(SlowSession, "seconds", 3.5)
    monkeypatch.setattr(SlowSession, "step_seconds", 0.05)
    slow_login.connect()


def test_a_login_of_smbclient_ng_that_gets_on_without_end_is_given_up(slow_login, monkeypatch):
    monkeypatch.setattr("app.clients.smbclientng._LOGIN_TIMEOUTS", 1)
    monkeypatch.setattr(SlowSession, "step_seconds", 0.05)
    with pytest.raises(StalledError, match="not done within 3 s"):
        slow_login.connect()
