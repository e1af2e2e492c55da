"""Related requests in one frame, byte for byte, against a socket that answers what each test says."""

import socket
import struct
import threading
from collections.abc import Callable

import pytest

from app.base.errors import ProtocolError
from app.clients.smb import wire
from app.clients.smb.channel import Channel


def message(message_id: int, following: int = 0, command: int = wire.Opcode.ECHO) -> bytes:
    head = struct.pack(
        "<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 0, 0, command, 1, wire.FLAG_RESPONSE, following, message_id, 0, 0, 0, b""
    )
    return head + b"\4\0\0\0\0\0\0\0"


def exchange(answer: Callable[[], bytes], requests: list[bytearray]) -> object:
    """What became of the answer to related requests."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()

    def serve() -> None:
        length = int.from_bytes(far.recv(4, socket.MSG_WAITALL), "big")
        far.recv(length, socket.MSG_WAITALL)
        frame = answer()
        far.sendall(len(frame).to_bytes(4, "big") + frame)

    with near, far:
        channel = Channel(near, "//nas/data", 10.0)
        channel.credits, channel.multi_credit = 10, True
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            return channel._related_answers(channel.send_related(requests))
        except ProtocolError as error:
            return error
        finally:
            thread.join()


def test_one_frame_with_offsets_of_eight_and_answers_in_one():
    requests = [wire.frame(*wire.ECHO), wire.frame(*wire.close(wire.SAME_FILE), 7), wire.frame(*wire.ECHO)]
    answers = exchange(lambda: message(0, 72) + message(1, 72, wire.Opcode.CLOSE) + message(2), requests)
    assert [one.message_id for one in answers] == [0, 1, 2]  # type: ignore[attr-defined]
    sent = [bytes(one[wire.FRAME_BYTES :]) for one in requests]
    following = [struct.unpack_from("<I", one, 20)[0] for one in sent]
    assert following == [len(sent[0]), len(sent[1]), 0]
    assert all(length % 8 == 0 for length in following)
    related = [struct.unpack_from("<I", one, 16)[0] & wire.FLAG_RELATED for one in sent]
    assert related == [0, wire.FLAG_RELATED, wire.FLAG_RELATED]


@pytest.mark.parametrize("following", [4, 70, 4096])
def test_a_next_message_that_cannot_be_is_no_answer(following):
    found = exchange(lambda: message(0, following) + message(1), [wire.frame(*wire.ECHO), wire.frame(*wire.ECHO)])
    assert isinstance(found, ProtocolError)


def test_together_only_where_it_was_asked_together():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    with near, far:
        channel = Channel(near, "//nas/data", 10.0)
        channel.credits = 2
        ids = [channel.send(wire.frame(*wire.ECHO)), channel.send(wire.frame(*wire.ECHO))]
        frame = message(ids[0], 72) + message(ids[1])
        far.sendall(len(frame).to_bytes(4, "big") + frame)
        with pytest.raises(ProtocolError):
            channel.receive()
