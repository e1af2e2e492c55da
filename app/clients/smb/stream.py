"""The bytes of one TCP connection: received into one buffer and sent whole, a clock and a watch looked at meanwhile."""

import contextlib
import os
import socket
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from app.clients.smb.wire import CREDIT_BYTES, View
from app.clients.stall import StallWatch
from app.errors import CancelledError, ConnectionLostError, StalledError

TICK_SECONDS = 0.1
"""How long the kernel waits before it lets us look at the clock and at a cancellation."""
_SHARED_TICK_SECONDS = 1.0
"""The same where many connections share one thread (gevent's sockets): a cancellation wakes those by itself."""
SLACK_BYTES = 4096
_AHEAD_BYTES = 8192
"""Taken at once where many connections share one thread: most answers are small, and whole after one call."""
_LOW_WATER_BYTES = 512 * 1024
_SWIFT_BYTES_PER_SECOND = 500e6
"""On a link that fast the kernel is told to wake us for half a megabyte at a time, for less processor time.

On a slower one that would only keep the TCP window from opening.
"""
_ENOUGH_FOLLOWS = 3
"""So many answers must be on their way, this one included, for waiting like that.

A ``recv`` takes what is there and then sleeps until the low water mark is reached again: through the end of the file,
until the tick, if nothing followed. Of two more answers one at least is a full block.
"""


class Stream(ABC):
    """A socket that blocks in the kernel, in ticks: a whole block is received by one call, and a stall, a cancellation
    or a shutdown from another thread is still noticed.

    A socket that cannot block there, since gevent made it to share a thread with others, waits by its own timeout.
    """

    def __init__(self, sock: socket.socket, where: str, timeout_seconds: float) -> None:
        self.sock = sock
        self.where = where
        """What is being used, for errors: ``//host/share/file``."""
        self.stall = StallWatch(timeout_seconds, lambda: self.where)
        self.watch: Callable[[int], None] = lambda _bytes: None
        """Called at each tick with the bytes of the current frame so far; may raise to break off."""
        self.handed_bytes = 0
        """All that was given to the socket so far."""
        self.broken = False
        """Nothing more can be asked here: the connection ended, or stopped in the middle of a frame."""
        self.aborted = False
        self._swift = False
        self._ahead = memoryview(b"")
        self._buffer = bytearray(SLACK_BYTES)
        self._view = memoryview(self._buffer)
        sock.settimeout(None)
        self._blocks_in_kernel = os.get_blocking(sock.fileno())
        if not self._blocks_in_kernel:
            sock.settimeout(min(_SHARED_TICK_SECONDS, timeout_seconds))
        tick = struct.pack("ll", 0, int(TICK_SECONDS * 1e6))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, tick)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, tick)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    @abstractmethod
    def outstanding(self) -> int:
        """How many answers are still to come."""

    def _make_room(self, message_bytes: int) -> None:
        if len(self._buffer) < message_bytes + SLACK_BYTES:
            self._buffer = bytearray(message_bytes + SLACK_BYTES)
            self._view = memoryview(self._buffer)

    def fail(self, error: Exception) -> Exception:
        """Mark the connection as unusable, and give the error back to be raised."""
        self.broken = True
        return error

    def abort(self) -> None:
        """End whatever blocks; for another thread."""
        self.aborted = True
        self.shut()

    def shut(self) -> None:
        """End the connection without a word."""
        self.broken = True
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)

    def _fill(self, start: int, end: int) -> None:
        """Receive into the buffer from ``start`` to ``end``."""
        if self._ahead or not self._blocks_in_kernel:
            self._fill_ahead(start, end)
            return
        view, receive, first = self._view, self.sock.recv_into, start
        large = end - start > CREDIT_BYTES // 2
        began = time.monotonic() if large else 0.0
        lazy = large and self._swift and self.outstanding >= _ENOUGH_FOLLOWS
        if lazy:
            buffer_bytes = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
            self._wake_at(min(_LOW_WATER_BYTES, buffer_bytes // 4, end - start))
        while start < end:
            try:
                count = receive(view[start:end], 0, socket.MSG_WAITALL)
            except OSError as error:
                if not _is_tick(error):
                    raise self._lost() from error
                self._idle(start)
                continue
            if not count:
                raise self._lost()
            start += count
            if start < end:
                self._look(start)
                self._check_time()
        if lazy:
            self._wake_at(1)
        if large:
            self._swift = end - first > _SWIFT_BYTES_PER_SECOND * (time.monotonic() - began)

    def _fill_ahead(self, start: int, end: int) -> None:
        """The same by as few calls as possible: what comes behind ``end`` is kept for the next time."""
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
                if not _is_tick(error):
                    raise self._lost() from error
                self._idle(start)
                continue
            if not count:
                raise self._lost()
            self._check_time()

    def _wake_at(self, count: int) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)

    def _push(self, parts: list[View]) -> None:
        left = sum(map(len, parts))
        while True:
            try:
                sent = self.sock.sendmsg(parts)
            except OSError as error:
                if not _is_tick(error):
                    raise self._lost() from error
                self._idle(0)
                continue
            left -= sent
            self.handed_bytes += sent
            if not left:
                return
            self._look(0)
            self._check_time()
            while sent >= len(parts[0]):
                sent -= len(parts.pop(0))
            parts[0] = memoryview(parts[0])[sent:]

    def _look(self, got: int) -> None:
        try:
            self.watch(got)
        except BaseException:
            self.broken = True
            raise

    def _idle(self, got: int) -> None:
        """A tick without a byte: give up when it is the last that is allowed."""
        self._look(got)
        self._check_time()

    def _check_time(self) -> None:
        try:
            self.stall.check()
        except StalledError:
            self.broken = True
            raise

    def _lost(self) -> Exception:
        if self.aborted:
            return self.fail(CancelledError("cancelled"))
        return self.fail(
            ConnectionLostError(
                f"{self.where}: the connection ended in the middle; check that the server still runs, and measure again"
            )
        )


def _is_tick(error: OSError) -> bool:
    """Whether nothing moved for a tick: told by the kernel, or by the timeout of a socket that shares its thread."""
    return isinstance(error, BlockingIOError) or (isinstance(error, TimeoutError) and error.errno is None)
