"""Message ids, credits and framing, byte for byte, against a socket that answers what each test says."""

import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from app.base.errors import CancelledError, ConnectionLostError, ProtocolError
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.wire import PENDING

RESPONSE, ASYNC = 1, 2
ECHO = 13


class Far:
    """The server's end: reads requests, writes answers."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def request(self) -> bytes:
        """The next request, without its prefix."""
        prefix = self.exactly(4)
        return self.exactly(int.from_bytes(prefix, "big"))

    def exactly(self, count: int) -> bytes:
        return self.sock.recv(count, socket.MSG_WAITALL)

    def send(self, message: bytes) -> None:
        self.sock.sendall(len(message).to_bytes(4, "big") + message)


def answer(
    message_id: int, *, granted: int = 1, status: int = 0, flags: int = RESPONSE, body: bytes = b"\4\0\0\0"
) -> bytes:
    head = struct.pack(
        "<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 0, status, ECHO, granted, flags, 0, message_id, 0, 0, 0, b""
    )
    return head + body


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Far]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    with near, far:
        channel = Channel(near, "//nas/data", 30.0)
        channel.stall.start()
        yield channel, Far(far)


def fields(request: bytes) -> dict[str, int]:
    charge, wanted, message_id = (
        struct.unpack_from("<H", request, 6)[0],
        struct.unpack_from("<H", request, 14)[0],
        struct.unpack_from("<Q", request, 24)[0],
    )
    return {"charge": charge, "wanted": wanted, "id": message_id}


def test_a_request_takes_as_many_ids_as_credits(ends):
    channel, far = ends
    channel.multi_credit, channel.credits = True, 100
    for charge in (1, 16, 3, 1):
        channel.send(wire.frame(*wire.ECHO), charge=charge)
    seen = [fields(far.request()) for _ in range(4)]
    assert [request["id"] for request in seen] == [0, 1, 17, 20]
    assert [request["charge"] for request in seen] == [1, 16, 3, 1]
    assert channel.credits == 79


def test_without_multi_credit_each_request_takes_one_id_and_names_no_charge(ends):
    channel, far = ends
    channel.credits = 10
    for _ in range(3):
        channel.send(wire.frame(*wire.ECHO))
    seen = [fields(far.request()) for _ in range(3)]
    assert [(request["id"], request["charge"]) for request in seen] == [(0, 0), (1, 0), (2, 0)]


def test_credits_are_asked_for_up_to_what_is_wanted_and_never_less_than_the_charge(ends):
    channel, far = ends
    channel.multi_credit, channel.credits, channel.wanted_credits = True, 20, 100
    channel.send(wire.frame(*wire.ECHO), charge=4)
    channel.credits = 500
    channel.send(wire.frame(*wire.ECHO), charge=4)
    assert [fields(far.request())["wanted"] for _ in range(2)] == [84, 4]


def test_an_interim_answer_grants_its_credits_and_is_not_the_answer(ends):
    channel, far = ends
    channel.credits = 5
    message_id = channel.send(wire.frame(*wire.ECHO))
    far.send(answer(message_id, granted=7, status=PENDING, flags=RESPONSE | ASYNC))
    far.send(answer(message_id, granted=0, flags=RESPONSE | ASYNC))
    response = channel.receive()
    assert (response.message_id, response.status) == (message_id, 0)
    assert channel.credits == 5 - 1 + 7
    assert channel.outstanding == 0


def test_an_oplock_break_and_a_keep_alive_are_passed_over(ends):
    channel, far = ends
    message_id = channel.send(wire.frame(*wire.ECHO))
    far.sock.sendall(b"\x85\0\0\0")
    far.send(answer(wire.UNSOLICITED, granted=0))
    far.sock.sendall(b"\x85\0\0\0\x85\0\0\0")
    far.send(answer(message_id))
    assert channel.receive().message_id == message_id


def test_answers_to_requests_given_up_are_dropped(ends):
    channel, far = ends
    channel.credits = 5
    given_up, wanted = channel.send(wire.frame(*wire.ECHO)), channel.send(wire.frame(*wire.ECHO))
    far.send(answer(given_up))
    far.send(answer(wanted))
    assert channel.receive_for(wanted).message_id == wanted


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(answer(77), id="an id that was not asked"),
        pytest.param(answer(0, flags=0), id="a request in place of an answer"),
        pytest.param(b"\xffSMB" + bytes(96), id="SMB 1"),
        pytest.param(b"\xfdSMB" + bytes(96), id="encrypted without a key"),
        pytest.param(bytes(64), id="zeros"),
    ],
)
def test_what_cannot_be_breaks_the_connection(ends, sent):
    channel, far = ends
    channel.send(wire.frame(*wire.ECHO))
    far.send(sent)
    with pytest.raises(ProtocolError, match=r"^//nas/data: "):
        channel.receive()
    assert channel.broken


def test_an_answer_in_small_pieces_is_put_together_and_watched(ends):
    channel, far = ends
    whole = answer(channel.send(wire.frame(*wire.ECHO)), body=bytes(200_000))
    sent = threading.Event()

    def watch(count: int) -> None:
        """At the first tick with half of it there, have the other half sent."""
        if count > 100_000 and not sent.is_set():
            sent.set()
            far.sock.sendall(whole[120_000:])

    channel.watch = watch
    far.sock.sendall(len(whole).to_bytes(4, "big") + whole[:120_000])
    assert bytes(channel.receive().message) == whole
    assert sent.is_set()


def test_larger_answers_make_room(ends):
    channel, far = ends
    whole = answer(channel.send(wire.frame(*wire.ECHO)), body=bytes(range(256)) * 6_000)
    sender = threading.Thread(target=far.send, args=(whole,))
    sender.start()
    assert bytes(channel.receive().message) == whole
    sender.join()


def test_a_closed_connection_is_lost(ends):
    channel, far = ends
    channel.send(wire.frame(*wire.ECHO))
    far.sock.close()
    with pytest.raises(ConnectionLostError, match=r"//nas/data"):
        channel.receive()
    assert channel.broken


def test_abort_ends_a_wait(ends):
    channel, _far = ends
    channel.send(wire.frame(*wire.ECHO))
    channel.watch = lambda _count: channel.abort()
    with pytest.raises(CancelledError):
        channel.receive()
