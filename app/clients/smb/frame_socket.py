"""A socket that carries SMB's frames: all bytes of one are sent or received, and stalls are noticed meanwhile.

A frame is four bytes with its length, and that many bytes. Receiving and sending wake at each *tick*, so that a
cancellation or a stall is seen. Where gevent is in use, as in loads, one timer looks after all sockets instead.
"""

import contextlib
import functools
import os
import socket
import struct
import time
import weakref
from collections.abc import Callable

from app.base import errors
from app.clients.smb.wire import CREDIT_BYTES, View
from app.clients.stall_watch import StallWatch
from app.clients.tcp_info import TcpInfo

TICK_SECONDS = 0.1
"""A call that waits for the network returns after this time, so that a cancellation or a stall is noticed."""
_SHARED_TICK_SECONDS = 1.0
"""With gevent, where one timer looks after all sockets, and a cancellation wakes them by itself."""
SLACK_BYTES = 4096
"""Of the buffer beyond the longest message: for headers, and small answers need no larger one."""
_AHEAD_BYTES = 8192
"""Read ahead with gevent: most answers are small, and whole after one call."""

# The low water mark of a socket: how many bytes must have arrived before a call that receives returns.
_LOW_WATER_BYTES = 512 * 1024
_SWIFT_BYTES_PER_SECOND = 500e6
"""On fast links, waking for half a megabyte saves processor time; on slower ones it only keeps the TCP window small."""
_ENOUGH_FOLLOWS = 3
"""Answers outstanding, this one included, before using the low water mark.

``recv`` sleeps until the mark is reached, at the end of the file until the tick. Of two more answers at least one is
a full block.
"""


def watch_nothing(_frame_bytes: int) -> None:
    """What ``watch`` is while no transfer looks."""


class FrameSocket:
    """Receives into one buffer that is reused, and sends; a subclass knows what the bytes mean.

    The subclass gives ``outstanding``; it calls ``_fill`` for the next bytes of a frame, and ``_push`` for a whole one.
    """

    def __init__(self, sock: socket.socket, where: str, timeout_seconds: float) -> None:
        self.sock = sock
        self.where = where
        """The share or file in use, for errors."""
        self.stall = StallWatch(timeout_seconds, self._current_place)
        self.stall.explain = self._what_tcp_tells
        self.watch: Callable[[int], None] = watch_nothing
        """Called at each tick with the bytes of the current frame so far; may raise."""
        self.handed_bytes = 0
        """Handed to the kernel so far; it may not have sent them yet."""
        self.broken = False
        """Whether nothing can be asked on it any more."""
        self.aborted = False
        """Whether it was shut from here, since somebody cancelled."""

        self._buffer = bytearray(SLACK_BYTES)
        self._view = memoryview(self._buffer)
        self._ahead = memoryview(b"")
        """What was received and belongs to the next answers; only with gevent, and after an answer in odd pieces."""
        self._is_swift = False
        """Whether the last large answer came so fast that the next one is waited for by the low water mark."""
        self._wait_for_answer: Callable[[], None] | None = None
        """With gevent: sleep until there is something to receive, rather than fail to and sleep then."""
        self._prepare_socket()

    def _current_place(self) -> str:
        return self.where

    def _what_tcp_tells(self) -> str:
        info = TcpInfo.of_socket(self.sock)
        return info.stall_text() if info is not None else ""

    def _prepare_socket(self) -> None:
        sock = self.sock
        sock.settimeout(None)
        if not os.get_blocking(sock.fileno()):
            self._wait_for_answer = _share_hub(self)
        tick = struct.pack("ll", 0, int(TICK_SECONDS * 1e6))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, tick)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, tick)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def outstanding(self) -> int:
        """How many answers are still to come."""
        raise NotImplementedError

    # Receiving

    def _make_room(self, message_bytes: int) -> None:
        """Make the buffer large enough for a message of that size; what it held is gone."""
        if len(self._buffer) < message_bytes + SLACK_BYTES:
            self._buffer = bytearray(message_bytes + SLACK_BYTES)
            self._view = memoryview(self._buffer)

    def _fill(self, start: int, end: int) -> None:
        """Receive into these bytes of the buffer, until all are there."""
        if self._ahead or self._wait_for_answer:
            self._fill_ahead(start, end)
            return

        view = self._view
        receive = self.sock.recv_into
        first_byte = start
        is_large = end - start > CREDIT_BYTES // 2
        began_at = time.monotonic() if is_large else 0.0
        sleeps_until_mark = is_large and self._is_swift and self.outstanding >= _ENOUGH_FOLLOWS
        if sleeps_until_mark:
            # Well below the size of the buffer: the server must find the window open while this side sleeps.
            buffer_bytes = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
            self._wake_at(min(_LOW_WATER_BYTES, buffer_bytes // 4, end - start))

        while start < end:
            try:
                count = receive(view[start:end], 0, socket.MSG_WAITALL)
            except OSError as error:
                self._idle(start, error)
                continue
            if not count:
                raise self._lost()
            start += count
            if start < end:
                self._look(start)
                self._check_time()

        if sleeps_until_mark:
            self._wake_at(1)
        if is_large:
            self._is_swift = end - first_byte > _SWIFT_BYTES_PER_SECOND * (time.monotonic() - began_at)

    def _fill_ahead(self, start: int, end: int) -> None:
        """As ``_fill``, but small answers are received together with what follows them."""
        while start < end:
            if self._ahead:
                count = min(len(self._ahead), end - start)
                self._view[start : start + count] = self._ahead[:count]
                self._ahead = self._ahead[count:]
                start += count
                continue

            try:
                if end - start > _AHEAD_BYTES:
                    count = self.sock.recv_into(self._view[start:end])
                    start += count
                else:
                    self._ahead = memoryview(self.sock.recv(_AHEAD_BYTES))
                    count = len(self._ahead)
            except OSError as error:
                self._idle(start, error)
                continue

            if not count:
                raise self._lost()
            self._check_time()

    def _wake_at(self, count: int) -> None:
        """Set the low water mark: a receive sleeps until that number of bytes has arrived."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)

    # Sending

    def _push(self, parts: list[View]) -> None:
        """Hand the parts of a frame to the kernel; changes ``parts``."""
        unsent_bytes = sum(map(len, parts))
        while True:
            try:
                sent = self.sock.sendmsg(parts)
            except OSError as error:
                self._idle(0, error)
                continue

            unsent_bytes -= sent
            self.handed_bytes += sent
            if not unsent_bytes:
                return

            self._look(0)
            self._check_time()
            while sent >= len(parts[0]):
                sent -= len(parts.pop(0))
            parts[0] = memoryview(parts[0])[sent:]

    # Waiting, and the end

    def _idle(self, frame_bytes: int, error: OSError) -> None:
        """Nothing moved within a tick: look, and go on. Raises what ends the connection for another error."""
        # A timeout with a number is the kernel's: it has given up the connection, after minutes without an answer.
        is_python_timeout = isinstance(error, TimeoutError) and error.errno is None
        is_tick = isinstance(error, BlockingIOError) or is_python_timeout
        if not is_tick:
            raise self._lost() from error
        self._look(frame_bytes)
        self._check_time()

    def _look(self, frame_bytes: int) -> None:
        """Let the transfer see how far the frame has come; what it raises ends the connection."""
        try:
            self.watch(frame_bytes)
        except BaseException:
            self.broken = True
            raise

    def _check_time(self) -> None:
        """Raises StalledError where nothing has moved for too long."""
        try:
            self.stall.check()
        except errors.StalledError:
            self.broken = True
            raise

    def _lost(self) -> Exception:
        """Why the connection ended, as an error; raises StalledError where it was shut for that."""
        if self.aborted:
            self.broken = True
            return errors.CancelledError("cancelled")
        self._check_time()
        return self.fail(
            errors.ConnectionLostError,
            "the connection ended in the middle; check that the server still runs, and measure again",
        )

    def fail(self, kind: type[Exception], reason: str) -> Exception:
        self.broken = True
        return kind(f"{self.where}: {reason}")

    def abort(self) -> None:
        self.aborted = True
        self.shut()

    def shut(self) -> None:
        self.broken = True
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)

    def shut_if_stalled(self) -> None:
        """Whoever waits for an answer wakes and finds that it took too long."""
        if self.outstanding and self.stall.is_over:
            self.shut()


_sharing = weakref.WeakSet[FrameSocket]()
"""The sockets of a process with gevent."""
_ticks: list[object] = []
"""The timer that looks after them, once it runs."""


def _share_hub(frame_socket: FrameSocket) -> Callable[[], None]:
    """What waits for this socket's answers; one timer for all sockets sees that none waits too long."""
    from gevent import get_hub
    from gevent.socket import wait

    loop = get_hub().loop
    if not _ticks:
        # Without a reference: it does not keep a program running that has nothing else to wait for.
        tick = loop.timer(_SHARED_TICK_SECONDS, _SHARED_TICK_SECONDS, ref=False)
        _ticks.append(tick)
        tick.start(_look_at_all)

    _sharing.add(frame_socket)
    return functools.partial(wait, loop.io(frame_socket.sock.fileno(), 1))


def _look_at_all() -> None:
    for frame_socket in list(_sharing):
        frame_socket.shut_if_stalled()
