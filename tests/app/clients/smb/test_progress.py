"""What a put is said to have moved: what has reached the other end, not only what its server has answered."""

from __future__ import annotations

import socket
import threading

from app.clients.base import Content, Meter
from app.clients.smb.channel import Channel
from app.clients.smb.null_server import NullServer
from app.clients.smb.share import Window, write_file
from app.clients.smb.wire import OpenedFile

BLOCK, IN_FLIGHT = 1 << 20, 4


class Late(NullServer):
    """Takes the whole window before it answers anything, as a server behind a slow link seems to."""

    def serve(self) -> None:
        """Answer window by window until the client hangs up."""
        waiting: list[bytes] = []
        while message := self._receive():
            waiting.append(bytes(message))
            if len(waiting) == IN_FLIGHT:
                for one in waiting:
                    self._answer(memoryview(one))
                waiting.clear()


def test_bytes_of_a_put_count_when_they_arrive_although_none_is_answered():
    seen: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    server = threading.Thread(target=Late(far, None, None, BLOCK).serve)
    server.start()
    with near:
        channel = Channel(near, "here", 30.0)
        channel.credits, channel.session_id, channel.multi_credit = 8192, 1, True
        meter = Meter(threading.Event(), lambda _seconds, moved: seen.append(moved), interval_seconds=0.0)
        window, file = Window(block_bytes=BLOCK, in_flight=IN_FLIGHT), OpenedFile(bytes(16), 0, is_folder=False)
        write_file(channel, 1, file, window, meter, Content(2 * BLOCK * IN_FLIGHT))
    server.join()
    far.close()
    assert seen[0] // BLOCK == IN_FLIGHT, "with the first answer all that was sent before is there"
    assert seen == sorted(seen)
