"""FTP servers that say too much, too slowly or nonsense, and connections that are cut on the way."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable
from functools import partial

import pytest

from app.base.errors import (
    AccessDeniedError,
    ConnectionLostError,
    CorruptedError,
    MeasurementError,
    NotAFileError,
    ProtocolError,
    StalledError,
    UnreachableError,
)
from app.clients import base
from app.clients.base import Client, Content, Meter, Secrets
from app.clients.curl import CurlClient
from app.clients.ftp.client import FTPClient
from storage.plan import Settings
from tests.app.clients.ftp.proxy import FtpProxy, HalfCutError
from tests.app.clients.ftp.stand_in import SIZE, Answer, StandIn, dripping, silent

SECONDS = 6
"""Longer than any wait of these tests: what is given up before would have been waited for."""
SOON_SECONDS = 1.5
"""How long they wait for what never comes."""
PATIENT_SECONDS = 4
"""So late may on a busy machine be what does come."""


def meter() -> Meter:
    return Meter(threading.Event())


def client_of(server: StandIn, timeout_seconds: float = 30.0) -> FTPClient:
    return FTPClient(server.target(), Secrets(), Settings(timeout_seconds=timeout_seconds))


def cut_after(count: int):
    """Lets so many bytes through and then ends the connection towards the server alone."""
    left = count

    def act(piece: bytes) -> Iterable[bytes]:
        nonlocal left
        yield piece[:left]
        left -= min(left, len(piece))
        if not left:
            raise HalfCutError

    return act


@pytest.mark.parametrize(("command", "order"), [("get", ["clock", "150"]), ("put", ["150", "clock"])])
def test_a_put_is_timed_from_the_open_file_and_a_get_from_its_request(command, order):
    """As SMB is: the round trip that opens a file is in neither, that of the first request for bytes is in both."""
    seen: list[str] = []

    class Noted(Meter):
        def start(self, *arguments, **more):
            seen.append("clock")
            return super().start(*arguments, **more)

    def begin(sock: socket.socket) -> None:
        seen.append("150")
        sock.sendall(b"150 here it comes\r\n")

    with StandIn({"begin": begin}) as server:
        client, noted = client_of(server), Noted(threading.Event())
        if command == "get":
            client.get("/file", noted)
        else:
            client.put("/new", Content(SIZE), noted)
        client.close()
    assert seen == order


@pytest.mark.parametrize("kind", [FTPClient, CurlClient])
@pytest.mark.parametrize("count", [0, 1_000, 2_900_000])
def test_a_put_that_is_cut_on_the_way_is_not_taken_for_whole(vsftpd, kind, count):
    path = f"/cut {kind.__name__} {count}"
    with FtpProxy(vsftpd.host, vsftpd.port, up=cut_after(count)) as between:
        target = vsftpd.target()
        through = type(target)(protocol="ftp", host="127.0.0.1", port=between.port, user=target.user, path="/")
        client: Client = kind(through, vsftpd.secrets(), Settings(timeout_seconds=10))
        with pytest.raises(ConnectionLostError, match=f"stored {count} of 3000000 bytes"):
            client.put(path, Content(3_000_000), meter())
        client.remove(path)
        client.close()


def test_a_put_that_nobody_cuts_is_whole_through_the_proxy_too(vsftpd):
    with FtpProxy(vsftpd.host, vsftpd.port) as between:
        target = vsftpd.target()
        through = type(target)(protocol="ftp", host="127.0.0.1", port=between.port, user=target.user, path="/")
        client = FTPClient(through, vsftpd.secrets(), Settings(timeout_seconds=10))
        assert client.put("/whole", Content(3_000_000), meter()).size_bytes == 3_000_000
        assert client.get("/whole", meter()).size_bytes == 3_000_000
        client.remove("/whole")


def test_a_server_without_size_is_named_as_a_fact_and_its_puts_are_not_compared():
    with StandIn({"FEAT": b"500 what?\r\n", "SIZE": b"502 no\r\n"}) as server:
        client = client_of(server)
        assert client.put("/new", Content(1000), meter()).size_bytes == 1000
        assert server.received_bytes == 1000
        assert client.facts_of_path()["ftp.size"] == "no"
        with pytest.raises(MeasurementError, match="has no SIZE"):
            client.get("/file", meter())


def test_a_stored_file_that_is_not_shown_cannot_be_believed():
    with StandIn({"SIZE": b"550 hidden\r\n"}) as server:
        with pytest.raises(AccessDeniedError, match="does not show"):
            client_of(server).put("/new", Content(1000), meter())


@pytest.mark.parametrize(
    "answer",
    [b"213 -5", b"213 abc", b"213", b"213 " + b"9" * 5_000, "213 ٣".encode(), b"213 1e3", b"213 5 6"],
    ids=lambda text: text[:12],
)
def test_a_size_that_is_no_number_is_refused(answer):
    with StandIn({"SIZE": answer + b"\r\n"}) as server:
        client = client_of(server)
        for act in (partial(client.size, "/file"), partial(client.get, "/file", meter())):
            with pytest.raises(ProtocolError, match=r"does not say how long|no end") as caught:
                act()
            assert len(str(caught.value)) < 300


@pytest.mark.parametrize("named", [1, 128, SIZE - 1])
def test_more_than_the_named_size_is_no_measurement(named):
    with StandIn({"SIZE": f"213 {named}\r\n".encode()}) as server:
        with pytest.raises(CorruptedError, match="more came"):
            client_of(server).get("/file", meter())


def test_less_than_the_named_size_is_no_measurement():
    with StandIn({"SIZE": f"213 {SIZE + 1}\r\n".encode()}) as server:
        with pytest.raises(ConnectionLostError, match=f"only {SIZE} of {SIZE + 1}"):
            client_of(server).get("/file", meter())


def test_an_empty_file_is_refused():
    with StandIn({"SIZE": b"213 0\r\n"}) as server:
        with pytest.raises(NotAFileError, match="empty"):
            client_of(server).get("/file", meter())


def letter_by_letter(text: bytes):
    """The right answer, but slowly."""

    def send(sock: socket.socket) -> None:
        for byte in text:
            sock.sendall(bytes([byte]))
            time.sleep(0.5)

    return send


CONVERSATIONS = {
    "greeting in single bytes": {"greeting": letter_by_letter(b"220 ready\r\n")},
    "greeting of endless lines": {"greeting": dripping(b"220-hello\r\n", 0.2, SECONDS, b"220 ready\r\n")},
    "greeting of endless lines at once": {"greeting": dripping(b"220-hello\r\n" * 500, 0.0, SECONDS, b"220 ready\r\n")},
    "greeting without a line's end": {"greeting": dripping(b"2" * 500, 0.0, SECONDS)},
    "features without end": {"FEAT": dripping(b"211-x\r\n", 0.2, SECONDS, b"211 End\r\n")},
    "features without end at once": {"FEAT": dripping(b"211-x\r\n" * 500, 0.0, SECONDS, b"211 End\r\n")},
    "a password's answer in single bytes": {"PASS": letter_by_letter(b"230 in\r\n")},
    "silence": {"TYPE": silent},
}


@pytest.mark.varied(name=3)
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation_that_has_no_end_is_given_up(name):
    with StandIn(CONVERSATIONS[name]) as server:
        with pytest.raises((StalledError, ProtocolError, UnreachableError)) as caught:
            client_of(server, SOON_SECONDS).connect()
    assert "127.0.0.1" in str(caught.value)


def test_single_bytes_of_a_file_are_no_progress():
    with StandIn({"data": dripping(b"x", 0.1, SECONDS, bytes(SIZE))}) as server:
        with pytest.raises(StalledError, match=r"/file: nothing moved for 1\.5 s"):
            client_of(server, SOON_SECONDS).get("/file", meter())


@pytest.mark.long
def test_a_slow_link_is_progress():
    """At most 20 KB/s, for longer than the time without progress."""

    def slow(sock: socket.socket) -> None:
        for _ in range(SIZE // 2_000):
            sock.sendall(bytes(2_000))
            time.sleep(0.1)

    with StandIn({"data": slow}) as server:
        assert client_of(server, PATIENT_SECONDS).get("/file", meter()).size_bytes == SIZE


@pytest.mark.long
def test_what_still_leaves_this_machine_is_progress():
    """A put is handed over long before the server has it: what it takes from the socket counts, at 30 KB/s here."""
    taken = threading.Event()
    passive = socket.create_server(("127.0.0.1", 0))
    passive.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)

    def take_slowly(sock: socket.socket) -> None:
        sock.sendall(b"150 go on\r\n")
        data, _ = passive.accept()
        with data:
            while data.recv(3_000):
                time.sleep(0.1)
        taken.set()
        sock.sendall(b"226 done\r\n")

    port = passive.getsockname()[1]
    answers: dict[str, Answer] = {
        "STOR": take_slowly,
        "PASV": f"227 (127,0,0,1,{port >> 8},{port & 255})\r\n".encode(),
        "SIZE": b"502 no\r\n",
    }
    with passive, StandIn({**answers, "FEAT": b"500 what?\r\n"}) as server:
        assert client_of(server, PATIENT_SECONDS).put("/new", Content(160_000), meter()).seconds > 0
    assert taken.is_set()


def test_a_put_that_nobody_takes_is_given_up():
    def refuse_nothing(sock: socket.socket) -> None:
        sock.sendall(b"150 go on\r\n")
        silent(sock)

    with StandIn({"STOR": refuse_nothing}) as server:
        with pytest.raises(StalledError):
            client_of(server, SOON_SECONDS).put("/new", Content(64 << 20), meter())


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(dripping(b"size=1; name\r\n", 0.2, SECONDS), id="one name after another"),
        pytest.param(dripping(b"size=1; name\r\n" * 500, 0.0, SECONDS), id="all at once"),
        pytest.param(dripping(b"x" * 500, 0.0, SECONDS), id="no line's end"),
    ],
)
def test_a_list_without_end_is_given_up(monkeypatch, data):
    monkeypatch.setattr(base, "MOST_ENTRIES", 50_000)
    with StandIn({"data": data}) as server:
        with pytest.raises((StalledError, ProtocolError)):
            client_of(server, SOON_SECONDS).list("/")


@pytest.mark.parametrize("standard", [True, False])
def test_names_that_are_no_utf_8_are_listed(standard):
    name = "Grüße".encode("latin-1")
    lines = b"type=file;size=7; %s\r\n" % name if standard else b"-rw-r--r-- 1 a b 7 Jan  1 2020 %s\r\n" % name
    answers = {"data": lines} if standard else {"data": lines, "FEAT": b"211-x\r\n SIZE\r\n211 End\r\n"}
    with StandIn(answers) as server:
        (found,) = client_of(server).list("/")
    assert (found.name.encode("utf-8", "surrogateescape"), found.size_bytes) == (name, 7)


@pytest.mark.parametrize(
    "reply",
    [b"227 (1,2,3,4,999,999)", b"227 (1,2,3,4,0,0)", b"227 nowhere", b"200 (1,2,3,4,5,6)", b"227 " + b"9" * 8000],
    ids=lambda text: text[:12],
)
def test_a_port_that_is_none_is_refused(reply):
    with StandIn({"PASV": reply + b"\r\n"}) as server:
        with pytest.raises(ProtocolError, match=r"no port|server said"):
            client_of(server).get("/file", meter())
