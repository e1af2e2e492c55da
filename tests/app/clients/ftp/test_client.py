"""The FTP client against vsftpd."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import ssl
import threading

import pytest

from app.base.errors import (
    AccessDeniedError,
    CancelledError,
    ConnectionLostError,
    LoginError,
    NoSpaceError,
    NoSuchFileError,
    NotAFileError,
    StalledError,
    UnreachableError,
)
from app.clients.base import Content, Meter, Secrets
from app.clients.ftp.client import FTPClient
from app.clients.ftp.data import _low_water_stages
from storage.plan import Settings
from storage.records import Target
from tests.app.fakes import meter, offset_in_page

ODD_NAMES = ["with space", "quo'te\"s", "[brackets]", "Grüße 你好", "100%", "%41", "-dash", "{a,b}", "*?"]


@pytest.fixture
def connected(vsftpd):
    client = FTPClient(vsftpd.target(), vsftpd.secrets(), Settings(timeout_seconds=10))
    client.connect()
    yield client
    client.close()


def fetch(client, path):
    blocks: dict[int, bytes] = {}
    done = client.get(path, meter(), lambda offset, block: blocks.__setitem__(offset, bytes(block)))
    return done, b"".join(blocks[offset] for offset in sorted(blocks))


def test_get_brings_every_byte(vsftpd, connected):
    content = os.urandom(1_000_001) * 20  # long enough for a low water mark
    vsftpd.make_file("to-get", content)
    for _ in range(2):
        done, received = fetch(connected, "/to-get")
        assert received == content
        assert done.size_bytes == len(content)
        assert done.seconds > 0
    assert connected.digest("/to-get") == hashlib.sha256(content).hexdigest()


def test_what_is_received_starts_a_page(vsftpd, connected):
    vsftpd.make_file("to-get", bytes(300_000))
    offsets = set()
    connected.get("/to-get", meter(), lambda _, block: offsets.add(offset_in_page(block)))
    assert offsets == {0}


PROBE = 16 * 1024 * 1024


@pytest.mark.parametrize(
    ("size_bytes", "probe_seconds", "timeout", "expected"),
    [
        (PROBE + 1001, 0.033, None, [(PROBE, 1), (PROBE + 1, 128 * 1024), (PROBE + 1001, 1)]),
        (PROBE + 1001, 0.034, None, [(PROBE, 1), (PROBE + 1001, 1)]),  # 500 MB/s are not reached
        (PROBE + 1000, 0.033, None, [(PROBE + 1000, 1)]),
        (PROBE + 1001, 0.033, 1.0, [(PROBE + 1001, 1)]),  # gevent waits in poll
    ],
)
def test_recv_waits_for_much_at_once_only_in_the_middle_of_a_fast_transfer(
    size_bytes, probe_seconds, timeout, expected
):
    clock = iter([5.0, 5.0 + probe_seconds])
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(timeout)
        stages = _low_water_stages(near, 1000, size_bytes, lambda: next(clock))
        assert [(end, near.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)) for end in stages] == expected


@pytest.mark.parametrize(("probe_seconds", "low_water_bytes"), [(0.083, 128 * 1024), (0.084, 1)])
def test_with_tls_a_path_of_200_megabytes_a_second_is_fast(probe_seconds, low_water_bytes):
    clock = iter([5.0, 5.0 + probe_seconds])
    near, far = socket.socketpair()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    with near, far, context.wrap_socket(near, do_handshake_on_connect=False) as protected:
        protected.settimeout(0.1)
        stages = _low_water_stages(protected, 1000, PROBE + 1001, lambda: next(clock))
        marks = [protected.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT) for _end in stages]
    assert marks[1] == low_water_bytes
    assert marks[-1] == 1


@pytest.mark.parametrize("name", ODD_NAMES)
def test_put_list_size_and_remove_under_any_name(vsftpd, connected, name):
    content, path = Content(300_001), f"/{name}"
    connected.put(path, content, meter())
    try:
        assert hashlib.sha256((vsftpd.folder / name).read_bytes()).hexdigest() == content.digest()
        assert connected.size(path) == 300_001
        assert [(e.size_bytes, e.is_folder) for e in connected.list("/") if e.name == name] == [(300_001, False)]
        assert fetch(connected, path)[0].size_bytes == 300_001
    finally:
        connected.remove(path)
    connected.remove(path)
    assert not (vsftpd.folder / name).exists()


@pytest.mark.parametrize("name", ODD_NAMES)
def test_folders_of_any_name_can_be_listed_and_written(vsftpd, connected, name):
    folder = vsftpd.folder / f"folder {name}"
    folder.mkdir()
    shutil.chown(folder, "daemon")
    connected.put(f"/folder {name}/inside", Content(1), meter())
    assert [e.name for e in connected.list(f"/folder {name}")] == ["inside"]
    assert next(e for e in connected.list("/") if e.name == folder.name).is_folder


def test_anonymous_reads_and_writes_where_it_may(vsftpd):
    client = FTPClient(vsftpd.target(anonymous=True), Secrets(), Settings())
    client.put("/upload/by-anonymous", Content(10_000), meter())
    assert fetch(client, "/upload/by-anonymous")[0].size_bytes == 10_000
    client.remove("/upload/by-anonymous")
    with pytest.raises(AccessDeniedError, match="does not let this user write"):
        client.put("/by-anonymous", Content(10), meter())
    client.connect()
    assert "upload" in [entry.name for entry in client.list("/")]
    client.close()


def test_put_replaces_nothing(vsftpd, connected):
    path = vsftpd.make_file("precious", b"precious")
    with pytest.raises(AccessDeniedError, match="none is replaced"):
        connected.put("/precious", Content(10), meter())
    assert path.read_bytes() == b"precious"


def test_what_is_no_file_is_refused_and_the_connection_goes_on(vsftpd, connected):
    vsftpd.make_file("empty", b"")
    vsftpd.make_file("secret", b"secret").chmod(0)
    (vsftpd.folder / "folder").mkdir(exist_ok=True)
    with pytest.raises(NoSuchFileError, match="no such file"):
        connected.get("/missing", meter())
    with pytest.raises(NotAFileError, match="folder"):
        connected.get("/folder", meter())
    with pytest.raises(NotAFileError, match="empty"):
        connected.get("/empty", meter())
    with pytest.raises(NoSuchFileError, match="no such folder"):
        connected.put("/missing/file", Content(10), meter())
    with pytest.raises(NoSuchFileError):
        connected.list("/missing")
    with pytest.raises(AccessDeniedError):
        connected.get("/secret", meter())
    with pytest.raises(AccessDeniedError):
        connected.put("/folder/file", Content(10), meter())
    with pytest.raises(NoSuchFileError):
        connected.size("/line\r\nDELE empty")
    assert connected.size("/empty") == 0


def test_a_disk_that_fills_up_is_told(make_vsftpd, small_disk):
    server = make_vsftpd({"local_root": str(small_disk), "chroot_local_user": "NO"})
    client = FTPClient(server.target(), server.secrets(), Settings())
    with pytest.raises(NoSpaceError, match="full"):
        client.put(f"{small_disk}/file", Content(64 << 20), meter())
    client.remove(f"{small_disk}/file")
    assert list(small_disk.iterdir()) == []
    client.close()


def test_refused_logins_are_told(vsftpd, make_vsftpd):
    with pytest.raises(LoginError, match="check the user and the password"):
        FTPClient(vsftpd.target(), Secrets(password="wrong"), Settings()).connect()
    closed = make_vsftpd({"anonymous_enable": "NO"})
    with pytest.raises(LoginError, match="name a user"):
        FTPClient(closed.target(anonymous=True), Secrets(), Settings()).connect()


def test_servers_that_are_not_there_are_told(vsftpd):
    nobody = Target(protocol="ftp", host="no-such-host.invalid", port=21, path="/")
    with pytest.raises(UnreachableError, match="no host of that name"):
        FTPClient(nobody, Secrets(), Settings()).connect()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(UnreachableError, match=f"nothing listens on port {port} of 127.0.0.1"):
            FTPClient(Target(protocol="ftp", host="127.0.0.1", port=port), Secrets(), Settings()).connect()
        taken.listen()
        with pytest.raises(UnreachableError, match="no greeting"):
            FTPClient(
                Target(protocol="ftp", host="127.0.0.1", port=port), Secrets(), Settings(timeout_seconds=0.2)
            ).connect()


@pytest.mark.parametrize("tls", ["explicit", "implicit"])
def test_tls_protects_both_connections(make_vsftpd, monkeypatch, tls):
    server = make_vsftpd(tls=tls)
    if tls == "implicit":
        monkeypatch.setattr("app.clients.ftp.control.IMPLICIT_PORT", server.port)
    monkeypatch.setenv("SSL_CERT_FILE", str(server.root / "certificate.pem"))
    client = FTPClient(server.target(), server.secrets(), Settings())
    content = Content(30_000_001)  # long enough for a low water mark
    client.put("/over-tls", content, meter())
    done, received = fetch(client, "/over-tls")
    assert hashlib.sha256(received).hexdigest() == content.digest() == client.digest("/over-tls")
    assert done.size_bytes == 30_000_001
    assert [e.name for e in client.list("/") if not e.is_folder] == ["over-tls"]
    assert str(client.facts().encryption).startswith("TLSv1")
    assert client.facts_of_path()["tls.session_reused"] == 1
    client.close()


def test_a_certificate_that_nobody_vouches_for_is_refused(make_vsftpd):
    server = make_vsftpd(tls="explicit")
    with pytest.raises(UnreachableError, match="SSL_CERT_FILE"):
        FTPClient(server.target(), server.secrets(), Settings()).connect()


def test_the_wrong_one_of_ftp_and_ftps_is_told(vsftpd, make_vsftpd):
    plain = Target(protocol="ftps", host=vsftpd.host, port=vsftpd.port, user="bench")
    with pytest.raises(UnreachableError, match="measure ftp:// instead"):
        FTPClient(plain, vsftpd.secrets(), Settings()).connect()
    server = make_vsftpd(tls="explicit")
    secure = Target(protocol="ftp", host=server.host, port=server.port, user="bench")
    with pytest.raises(LoginError, match="measure ftps:// instead"):
        FTPClient(secure, server.secrets(), Settings()).connect()


def slow_server(make_vsftpd):
    server = make_vsftpd({"local_max_rate": "2000000"})
    server.make_file("slow", bytes(40_000_000))
    return server


def transfer(client, command, meter):
    return client.get("/slow", meter) if command == "get" else client.put("/new", Content(400_000_000), meter)


@pytest.mark.parametrize("command", ["get", "put"])
def test_a_server_that_dies_in_a_transfer_is_told(make_vsftpd, command):
    server = slow_server(make_vsftpd)
    client = FTPClient(server.target(), server.secrets(), Settings(timeout_seconds=10))
    dying = meter(on_sample=lambda _seconds, _bytes: server.kill(), interval_seconds=0.05)
    with pytest.raises(ConnectionLostError):
        transfer(client, command, dying)
    with pytest.raises(UnreachableError):
        client.size("/slow")


@pytest.mark.varied(command=1)
@pytest.mark.parametrize("command", ["get", "put"])
def test_a_server_that_stalls_is_told(make_vsftpd, command):
    server = slow_server(make_vsftpd)
    client = FTPClient(server.target(), server.secrets(), Settings(timeout_seconds=3))
    stalling = meter(on_sample=lambda _seconds, _bytes: server.suspend(), interval_seconds=0.05)
    with pytest.raises(StalledError, match="nothing moved for 3 s"):
        transfer(client, command, stalling)


def test_cancelling_and_aborting_end_a_transfer(make_vsftpd):
    server = slow_server(make_vsftpd)
    client = FTPClient(server.target(), server.secrets(), Settings())
    stop = threading.Event()
    stop.set()
    with pytest.raises(CancelledError):
        client.get("/slow", Meter(stop, interval_seconds=0.05))
    assert client.size("/slow") == 40_000_000
    with pytest.raises(ConnectionLostError):
        client.get("/slow", meter(on_sample=lambda _seconds, _bytes: client.abort(), interval_seconds=0.05))
    client.close()
    client.close()
