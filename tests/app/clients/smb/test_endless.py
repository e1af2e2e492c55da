"""Servers that answer without ever bringing what was asked for, and answers that hold more than they may."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pytest

from app.base.errors import CorruptedError, LoginError, ProtocolError, StalledError
from app.clients import base
from app.clients.base import Content
from app.clients.smb import share
from app.clients.smb.wire import Opcode
from tests.app.clients.smb import proxy
from tests.app.clients.smb.proxy import READ, WRITE, Message, Proxy, Raw

SECONDS = 8
"""Longer than any wait of these tests: what is given up before would have been waited for."""
SIZE = 300_000


def filled(every: float, make: Callable[[bytearray], Message]) -> Callable[[bytearray], Iterator[Message]]:
    """The answer comes after a long time that is filled with something else."""

    def act(message: bytearray) -> Iterator[Message]:
        for _ in range(int(SECONDS / every)):
            yield make(message)
            time.sleep(every)
        yield message

    return act


def dripped(message: bytearray) -> Iterator[Message]:
    """The answer comes, a few bytes at a time."""
    whole = len(message).to_bytes(4, "big") + message
    for at in range(SECONDS * 10):
        yield Raw(whole[at : at + 1])
        time.sleep(0.1)
    yield Raw(whole[SECONDS * 10 :])


FILLED = {
    "pending": filled(0.3, proxy.interim),
    "oplock breaks": filled(0.3, lambda _message: proxy.oplock_break()),
    "keep-alives": filled(0.3, lambda _message: proxy.keep_alive()),
    "keep-alives without a pause": filled(0.001, lambda _message: proxy.keep_alive()),
    "single bytes": dripped,
}


class At:
    """Does something to each answer to one command, once armed."""

    def __init__(self, wanted: int, do: Callable[[bytearray], Iterable[Message]]) -> None:
        self.wanted, self.do, self.armed = wanted, do, True

    def __call__(self, message: bytearray) -> Iterable[Message]:
        final = int.from_bytes(message[8:12], "little") != proxy.PENDING
        return self.do(message) if self.armed and final and proxy.command(message) == self.wanted else [message]


@pytest.mark.varied(name=1)
@pytest.mark.parametrize("name", FILLED)
@pytest.mark.parametrize("command", [Opcode.READ, Opcode.NEGOTIATE, Opcode.CREATE], ids=lambda c: c.name)
def test_only_payload_gives_more_time(smbd, make_client, meter, command, name):
    smbd.make_file("endless.bin", bytes(SIZE))
    with Proxy(smbd.host, smbd.port, At(command, FILLED[name])) as between:
        client = make_client(smbd, port=between.port, timeout_seconds=1.5)
        with pytest.raises(StalledError, match=r"nothing moved for 1\.5 s"):
            client.get("endless.bin", meter)


def test_answers_of_one_byte_are_refused(smbd, make_client, meter):
    """However fast they come: one at a time they would bring a gigabyte in days."""
    smbd.make_file("endless.bin", bytes(5_000))
    with Proxy(smbd.host, smbd.port, At(READ, lambda message: [proxy.shortened(message, 1)])) as between:
        with pytest.raises(ProtocolError, match="1 bytes where 5000 were asked for"):
            make_client(smbd, port=between.port).get("endless.bin", meter)


@pytest.mark.long
def test_a_slow_link_is_progress(smbd, make_client, meter):
    """At most 40 KB/s in small pieces, longer than the time without progress."""
    smbd.make_file("endless.bin", bytes(180_000))

    def slow(message: bytearray) -> Iterator[Message]:
        whole = len(message).to_bytes(4, "big") + message
        for at in range(0, len(whole), 2_000):
            yield Raw(whole[at : at + 2_000])
            time.sleep(0.05)

    with Proxy(smbd.host, smbd.port, At(READ, slow)) as between:
        client = make_client(smbd, port=between.port, timeout_seconds=4)  # so late may a piece come on a busy machine
        assert client.get("endless.bin", meter).size_bytes == 180_000


def other_command(message: bytearray) -> Iterable[Message]:
    message[12] ^= READ ^ WRITE
    return [message]


@pytest.mark.parametrize("command", [READ, WRITE], ids=["get", "put"])
def test_an_answer_to_another_command_is_none(smbd, make_client, meter, command):
    smbd.make_file("endless.bin", bytes(SIZE))
    with Proxy(smbd.host, smbd.port, At(command, other_command)) as between:
        client = make_client(smbd, port=between.port)
        move = (
            partial(client.get, "endless.bin", meter)
            if command == READ
            else partial(client.put, "endless put.bin", Content(SIZE), meter)
        )
        with pytest.raises(ProtocolError, match="not asked"):
            move()
    make_client(smbd).remove("endless put.bin")


def test_an_answer_longer_than_was_asked_for_is_refused(smbd, make_client, meter):
    smbd.make_file("endless.bin", bytes(SIZE))
    with Proxy(smbd.host, smbd.port, At(READ, lambda m: [bytes(m) + bytes(8 << 20)])) as between:
        with pytest.raises(ProtocolError, match="more than was asked"):
            make_client(smbd, port=between.port, block_bytes=65536).get("endless.bin", meter)


ENTRY = struct.Struct("<II8x8xq8xQ8xII")


def entry(name: str, following: int) -> bytes:
    raw = name.encode("utf-16-le")
    return ENTRY.pack(following, 0, 0, 1, 0, len(raw)) + raw


def nested_entries(count: int) -> bytes:
    """Entries of which each name is all that follows, so that they are read as the square of their bytes."""
    size = ENTRY.size
    return b"".join(ENTRY.pack(size if n else 0, 0, 0, 1, 0, size * n) for n in reversed(range(count)))


def with_data(message: Message, data: bytes) -> bytes:
    """A QUERY_DIRECTORY answer with other data."""
    return bytes(message[:8]) + bytes(4) + message[12:64] + struct.pack("<HHI", 9, 72, len(data)) + data


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(entry("x" * 500, 8) + bytes(16), id="one in another"),
        pytest.param(nested_entries(20), id="names that are entries"),
        pytest.param(entry("x" * 500, 0)[:-100], id="name beyond the end"),
        pytest.param(entry("x", 8192), id="next beyond the end"),
    ],
)
def test_entries_that_overlap_are_refused(smbd, make_client, data):
    with Proxy(smbd.host, smbd.port, At(Opcode.QUERY_DIRECTORY, lambda m: [with_data(m, data)])) as between:
        with pytest.raises(ProtocolError, match="makes no sense"):
            make_client(smbd, port=between.port).list("")


def test_a_list_without_end_is_given_up(smbd, make_client, monkeypatch):
    monkeypatch.setattr(base, "MOST_ENTRIES", 500)
    answers = iter(range(100))

    def again(message: bytearray) -> Iterable[Message]:
        number = next(answers, None)
        if number is None:
            return [message]
        data = b"".join(entry(f"file {number} {n}", 96).ljust(96, b"\0") for n in range(9)) + entry("last", 0)
        return [with_data(message, data)]

    with Proxy(smbd.host, smbd.port, At(Opcode.QUERY_DIRECTORY, again)) as between:
        with pytest.raises(ProtocolError, match="no end"):
            make_client(smbd, port=between.port).list("")


@pytest.mark.parametrize(
    "dialects", [{0x0202}, {0x0202, 0x0210}, {0x0202, 0x0210, 0x0300}], ids=["2.0.2", "2.1", "3.0"]
)
def test_who_talks_both_ends_down_to_an_old_dialect_is_found(smbd, make_client, dialects):
    with Proxy(smbd.host, smbd.port, requests=proxy.offering(dialects)) as between:
        with pytest.raises(CorruptedError, match="changed on the way"):
            make_client(smbd, port=between.port).connect()


@pytest.mark.parametrize("dialect", ["SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02"])
def test_a_server_that_is_old_by_itself_is_no_suspect(smbd_with, make_client, dialect):
    make_client(smbd_with({"server max protocol": dialect})).connect()


def test_a_refusal_to_answer_that_nobody_signed_is_not_believed(smbd_with, make_client):
    server = smbd_with({"server max protocol": "SMB2_10"})
    refuse = At(Opcode.IOCTL, lambda m: [proxy.refusal(m, 0xC0000010)])
    with Proxy(server.host, server.port, refuse) as between:
        with pytest.raises(CorruptedError, match=r"signed|signature"):
            make_client(server, port=between.port).connect()


def test_a_server_that_knows_ntlm_1_alone_is_told_in_words(smbd, make_client):
    def aged(message: bytearray) -> Iterable[Message]:
        start = message.find(b"NTLMSSP\0\2\0\0\0")
        if start >= 0:
            message[start + 40 : start + 48] = bytes(8)
            flags = int.from_bytes(message[start + 20 : start + 24], "little") & ~0x00800000
            message[start + 20 : start + 24] = flags.to_bytes(4, "little")
        return [message]

    with Proxy(smbd.host, smbd.port, At(Opcode.SESSION_SETUP, aged)) as between:
        with pytest.raises(LoginError, match="NTLMv1"):
            make_client(smbd, port=between.port).connect()


def test_a_named_user_who_became_a_guest_is_a_fact(smbd_with, make_client):
    server = smbd_with({"map to guest": "Bad User"}, {"guest ok": "yes"})
    client = make_client(server, changes={"user": "nobody-knows-me"})
    assert client.facts_of_path()["smb.guest"] == "yes"


def test_a_chain_of_entries_ends_with_the_answer():
    data = entry("a", 96).ljust(96, b"\0") + entry("b", 0)
    message = memoryview(bytes(64) + struct.pack("<HHI", 9, 72, len(data)) + data)
    assert [found.name for found in share.entries(message)] == ["a", "b"]


@pytest.mark.parametrize(
    ("written_ticks", "modified_at"),
    [
        (0, ""),
        (-1, ""),
        (116_444_736_000_000_000, "1970-01-01T00:00:00Z"),
        (116_444_735_999_999_999, "1969-12-31T23:59:59Z"),
        (134_143_278_729_999_999, "2026-01-31T10:11:12Z"),
        (2**63 - 1, ""),
    ],
)
def test_when_a_listed_file_was_written(written_ticks, modified_at):
    data = ENTRY.pack(0, 0, written_ticks, 1, 0, 2) + "a".encode("utf-16-le")
    message = memoryview(bytes(64) + struct.pack("<HHI", 9, 72, len(data)) + data)
    assert [entry.modified_at for entry in share.entries(message)] == [modified_at]


def test_half_a_character_in_a_name_is_refused():
    data = ENTRY.pack(0, 0, 0, 1, 0, 3) + b"a\0b"
    message = memoryview(bytes(64) + struct.pack("<HHI", 9, 72, len(data)) + data)
    with pytest.raises(UnicodeDecodeError):
        share.entries(message)
