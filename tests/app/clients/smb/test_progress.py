"""What a put is said to have moved: what has reached the other end, not only what its server has answered."""

from __future__ import annotations

import socket
import threading

from app.clients.base import Content, Meter
from app.clients.smb.channel import Channel
from app.clients.smb.null_server import NullServer
from app.clients.smb.transfer import Window, write_file
from app.clients.smb.wire import OpenedFile
from tests.waiting import HANG_SECONDS

BLOCK, IN_FLIGHT = 1 << 20, 4


class Late(NullServer):
    """Takes the whole window before it answers anything, as a server behind a slow link seems to.

    After the first answer it waits until the client has counted the whole window.
    """

    counted: threading.Event
    was_counted = True

    def serve(self) -> None:
        """Answer window by window until the client hangs up."""
        waiting: list[bytes] = []
        while received := self._receive():
            waiting.append(bytes(received))
            if len(waiting) == IN_FLIGHT:
                first, *others = waiting
                self._answer(memoryview(first))
                self.was_counted = self.was_counted and self.counted.wait(HANG_SECONDS)
                for message in others:
                    self._answer(memoryview(message))
                waiting.clear()


def test_bytes_of_a_put_count_when_they_arrive_although_none_is_answered():
    seen: list[int] = []
    counted = threading.Event()

    def see(_seconds: float, moved_bytes: int) -> None:
        seen.append(moved_bytes)
        if moved_bytes // BLOCK == IN_FLIGHT:
            counted.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    late = Late(far, None, None, BLOCK)
    late.counted = counted
    server = threading.Thread(target=late.serve)
    server.start()
    with near:
        channel = Channel(near, "here", 30.0)
        channel.credits, channel.session_id, channel.multi_credit = 8192, 1, True
        meter = Meter(threading.Event(), see, interval_seconds=0.0)
        window, file = Window(block_bytes=BLOCK, in_flight=IN_FLIGHT), OpenedFile(bytes(16), 0, is_folder=False)
        write_file(channel, 1, file, window, meter, Content(2 * BLOCK * IN_FLIGHT))
    server.join()
    far.close()
    assert late.was_counted, "with the first answer all that was sent before is there"
    assert seen == sorted(seen)
