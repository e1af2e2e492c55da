"""Requests asked one after the other by as few calls as possible: whatever way the answers come, they are the same."""

import socket
import struct
from collections.abc import Iterator

import pytest

from app.base.errors import AccessDeniedError, ConnectionLostError, ProtocolError
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.share import Share
from app.clients.smb.wire import PENDING, SUCCESS

CREATE, QUERY, CLOSE = (5, bytes(57)), (16, bytes(41)), (6, bytes(24))
RESPONSE, ASYNC = wire.FLAG_RESPONSE, wire.FLAG_ASYNC


class Far:
    """The server's end: reads requests, writes answers."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def request(self) -> bytes:
        length = int.from_bytes(self.sock.recv(4, socket.MSG_WAITALL), "big")
        return self.sock.recv(length, socket.MSG_WAITALL)

    def send(self, message: bytes) -> None:
        self.sock.sendall(len(message).to_bytes(4, "big") + message)


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Far]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    with near, far:
        channel = Channel(near, "//nas/data", 5.0)
        channel.credits, channel.multi_credit, channel.session_id = 10, True, 9
        yield channel, Far(far)


def answer(
    message_id: int,
    command: int,
    body: bytes = bytes(8),
    *,
    status: int = 0,
    flags: int = RESPONSE,
    chained: bool = False,
) -> bytes:
    following = wire.HEADER_BYTES + len(body) if chained else 0
    head = struct.pack(
        "<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 0, status, command, 1, flags, following, message_id, 0, 0, 9, b""
    )
    return head + body


WHOLE = [answer(0, 5, chained=True) + answer(1, 16, bytes(16), chained=True) + answer(2, 6)]
APART = [answer(0, 5), answer(1, 16, bytes(16)), answer(2, 6)]
PARTLY = [answer(0, 5, chained=True) + answer(1, 16, bytes(16)), answer(2, 6)]
WAITED = [answer(0, 5, status=PENDING, flags=RESPONSE | ASYNC), *WHOLE]
BROKEN_OPLOCK = [answer(wire.UNSOLICITED, 18), *WHOLE]
LONG = [answer(0, 5, chained=True) + answer(1, 16, bytes(16), chained=True) + answer(2, 6, bytes(20_000))]


@pytest.mark.parametrize("frames", [WHOLE, APART, PARTLY, WAITED, BROKEN_OPLOCK, LONG])
def test_related_answers_are_the_same_however_they_come(ends: tuple[Channel, Far], frames: list[bytes]):
    channel, far = ends
    for frame in frames:
        far.send(frame)
    found = channel.ask_at_once(3, (CREATE, QUERY, CLOSE))
    assert [status for status, _message in found] == [SUCCESS] * 3
    assert len(found[1][1]) == wire.HEADER_BYTES + 16
    granted = sum(frame.count(b"\xfeSMB") for frame in frames)
    assert (channel.outstanding, channel.credits) == (0, 10 - 3 + granted)
    far.send(answer(3, 6))
    assert channel.ask_at_once(3, (CLOSE,))[0][0] == SUCCESS, "nothing is left of what came before"


def test_what_is_sent_is_one_frame_of_related_requests(ends: tuple[Channel, Far]):
    channel, far = ends
    far.send(WHOLE[0])
    channel.ask_at_once(3, (CREATE, QUERY, CLOSE))
    sent, at = far.request(), 0
    for message_id, (command, body) in enumerate((CREATE, QUERY, CLOSE)):
        header = wire.parse_header(memoryview(sent)[at:])
        assert (header.command, header.message_id, header.tree_id, header.session_id) == (command, message_id, 3, 9)
        assert header.flags == (wire.FLAG_RELATED if message_id else 0)
        assert sent[at + 64 : at + 64 + len(body)] == body
        assert at % 8 == 0
        at += header.next_command
    assert len(sent) == at + 64 + len(CLOSE[1])


def test_payload_and_charge_go_with_the_request(ends: tuple[Channel, Far]):
    channel, far = ends
    far.send(answer(0, 9))
    channel.ask_at_once(3, ((9, bytes(48)),), b"x" * 70_000, charge=2)
    sent = far.request()
    assert sent[64 + 48 :] == b"x" * 70_000
    assert struct.unpack_from("<H", sent, 6) == (2,)
    far.send(answer(2, 6))
    assert channel.ask_at_once(3, (CLOSE,))[0][0] == SUCCESS


@pytest.mark.parametrize(
    "frame",
    [
        answer(7, 6), answer(0, 5), answer(0, 6, flags=0), answer(0, 6, chained=True) + answer(1, 6),
        b"\xfdSMB" + bytes(80), b"\xffSMB" + bytes(80), bytes(80),
    ],
)  # fmt: skip
def test_what_was_not_asked_is_refused(ends: tuple[Channel, Far], frame: bytes):
    channel, far = ends
    far.send(frame)
    far.sock.shutdown(socket.SHUT_WR)
    with pytest.raises(ProtocolError):
        channel.ask_at_once(3, (CLOSE,))


def test_an_end_in_the_middle_is_told(ends: tuple[Channel, Far]):
    channel, far = ends
    far.sock.sendall((72).to_bytes(4, "big") + answer(0, 6)[:40])
    far.sock.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionLostError):
        channel.ask_at_once(3, (CLOSE,))


OPENED = bytes(64) + b"the file's name!" + bytes(8)
DENIED = 0xC0000022


@pytest.mark.parametrize("closed", [SUCCESS, DENIED])
def test_a_server_that_closes_nothing_after_an_error_is_asked_to_close(ends: tuple[Channel, Far], closed: int):
    """MS-SMB2 3.3.5.2.7.2 lets a server fail every related request after the first that failed."""
    channel, far = ends
    far.send(
        answer(0, 5, OPENED, chained=True)
        + answer(1, 16, status=DENIED, chained=True)
        + answer(2, 6, status=closed)
    )  # fmt: skip
    far.send(answer(3, 6))
    with pytest.raises(AccessDeniedError):
        Share(channel, 3).together("name", wire.ACCESS_READ, QUERY)
    far.request()
    assert channel.outstanding == 0
    if closed == DENIED:
        assert far.request()[64 + 8 :] == b"the file's name!"
    else:
        assert channel.ask_at_once(3, (CLOSE,))[0][0] == SUCCESS
