"""One TCP connection that speaks SMB2: framing, message ids, credits, signatures, encryption (MS-SMB2 3.2.4, 3.2.5)."""

import contextlib
import socket
import struct
import time
from collections.abc import Callable, Iterator

from app.clients.smb import wire
from app.clients.smb.crypto import Sealer, Signer
from app.clients.smb.errors import PENDING
from app.clients.smb.wire import CREDIT_BYTES, FRAME_BYTES, HEADER_BYTES, TRANSFORM_BYTES, Response, View
from app.clients.stall import StallWatch
from app.errors import CancelledError, ConnectionLostError, CorruptedError, ProtocolError, StalledError

TICK_SECONDS = 0.1
"""How long the kernel waits before it lets us look at the clock and at a cancellation."""
_FIRST_BYTES = FRAME_BYTES + HEADER_BYTES
"""What every frame has at least: the prefix and a header, or a transform header and more."""
_SLACK_BYTES = 4096
_LONGEST_BYTES = 2 * 1024 * 1024
"""No answer is longer, unless a transfer asks for more: impacket's own requests ask for 1 MiB."""
STAGE_BYTES = 4 * 1024 * 1024
"""So much may be said in a login or a list of shares."""
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
_WANTED_CREDITS = 512
_PLAIN, _SIGNED, _SEALED = range(3)
_PROTECTION_BITS, _PROTECTION_MASK = 2, 3
_NO_SIGNATURE = bytes(16)


class Channel:
    """One connection: requests go out with ids and credits by the book, and come back verified, in any order.

    The socket blocks in the kernel, in ticks, so that a whole block is received by one call and a stall, a
    cancellation or a shutdown from another thread is still noticed.
    """

    def __init__(self, sock: socket.socket, where: str, timeout_seconds: float) -> None:
        self.sock = sock
        self.where = where
        """What is being used, for errors: ``//host/share/file``."""
        self.stall = StallWatch(timeout_seconds, lambda: self.where)
        self.watch: Callable[[int], None] = lambda _bytes: None
        """Called at each tick with the bytes of the current frame so far; may raise to break off."""
        self.multi_credit = False
        self.session_id = 0
        self.credits = 1
        self.signer: Signer | None = None
        self.sealer: Sealer | None = None
        self.sign_all = False
        self.seal_all = False
        self.sealed_trees: set[int] = set()
        self.wanted_credits = _WANTED_CREDITS
        self.handed_bytes = 0
        """All that was given to the socket so far."""
        self.broken = False
        """Nothing more can be asked here: the connection ended, or stopped in the middle of a frame."""
        self.aborted = False
        self._next_id = 0
        self._outstanding: dict[int, int] = {}
        """By message id, how the answer must be protected and, above that, the command."""
        self._longest = _LONGEST_BYTES
        self._stage_left_bytes: int | None = None
        self._swift = False
        self._buffer = bytearray(_SLACK_BYTES)
        self._view = memoryview(self._buffer)
        sock.settimeout(None)
        tick = struct.pack("ll", 0, int(TICK_SECONDS * 1e6))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, tick)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, tick)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def outstanding(self) -> int:
        """How many requests wait for their final answer."""
        return len(self._outstanding)

    def send(self, message: bytearray, payload: View = b"", *, charge: int = 1, sign: bool = False) -> int:
        """Send a request made by :func:`wire.frame` and give its message id.

        ``charge`` is what it costs in credits, which the caller has made sure of; ``sign`` signs this one although
        the session does not sign all. The buffers are free again when this returns.
        """
        message_id = self._next_id
        self._next_id += charge if self.multi_credit else 1
        self.credits -= charge
        tree_id = int.from_bytes(message[FRAME_BYTES + 36 : FRAME_BYTES + 40], "little")
        seal = self.sealer is not None and (self.seal_all or tree_id in self.sealed_trees)
        signed = self.signer is not None and (sign or self.sign_all) and not seal
        wanted = max(charge, self.wanted_credits - self.credits)
        flags = wire.FLAG_SIGNED if signed else 0
        asked = message[FRAME_BYTES + 12] << _PROTECTION_BITS
        wire.stamp(message, charge if self.multi_credit else 0, wanted, flags, message_id, self.session_id)
        if seal and self.sealer is not None:
            self._outstanding[message_id] = asked | _SEALED
            sealed = self.sealer.seal(memoryview(message)[FRAME_BYTES:], payload)
            self._push([len(sealed).to_bytes(FRAME_BYTES, "big"), sealed])
            return message_id
        if signed and self.signer is not None:
            signature = self.signer.sign(message_id, memoryview(message)[FRAME_BYTES:], payload)
            message[FRAME_BYTES + 48 : FRAME_BYTES + 64] = signature
        self._outstanding[message_id] = asked | (_SIGNED if signed else _PLAIN)
        message[:FRAME_BYTES] = (len(message) - FRAME_BYTES + len(payload)).to_bytes(FRAME_BYTES, "big")
        self._push([message, payload] if payload else [message])
        return message_id

    def receive(self) -> Response:
        """The next final answer, whichever request it belongs to; verified, its credits counted.

        Interim answers and oplock breaks are taken in on the way: no oplock is ever held here.
        """
        while True:
            message, protection = self._message()
            header = wire.parse_header(message)
            self.credits += header.credits
            if header.message_id == wire.UNSOLICITED:
                self._check_time()
                continue
            pending = header.status == PENDING and header.flags & wire.FLAG_ASYNC
            asked = (
                self._outstanding.get(header.message_id) if pending else self._outstanding.pop(header.message_id, None)
            )
            if (
                asked is None
                or header.command != asked >> _PROTECTION_BITS
                or not header.flags & wire.FLAG_RESPONSE
                or header.next_command
            ):
                raise self.fail(
                    ProtocolError(
                        f"{self.where}: the server answered what was not asked; see its log, and look for what is in "
                        "between"
                    )
                )
            if header.flags & wire.FLAG_SIGNED and protection == _PLAIN and self.signer is not None:
                self._verify(message, header.message_id)
                protection = _SIGNED
            if pending:
                self._check_time()
                continue
            if protection < asked & _PROTECTION_MASK:
                kind = "encrypted" if asked & _PROTECTION_MASK == _SEALED else "signed"
                raise self.fail(
                    CorruptedError(f"{self.where}: an answer that must be {kind} is not; look for what is in between")
                )
            return Response(
                header.status,
                header.command,
                header.flags,
                header.message_id,
                header.tree_id,
                header.session_id,
                message,
            )

    def ask(self, message: bytearray, *, charge: int = 1, sign: bool = False) -> Response:
        """Send one request and wait for its answer; answers to requests given up before are dropped."""
        self.stall.start()
        return self.receive_for(self.send(message, charge=charge, sign=sign))

    def receive_for(self, message_id: int | None) -> Response:
        """The answer to one request; None takes the next answer."""
        while True:
            response = self.receive()
            if self._stage_left_bytes is not None:
                self._stage_left_bytes -= len(response.message)
                if self._stage_left_bytes < 0:
                    raise self.fail(
                        ProtocolError(
                            f"{self.where}: the server's answers have no end; see its log, and check the port"
                        )
                    )
            if message_id is None or response.message_id == message_id:
                return response

    @contextlib.contextmanager
    def stage(self) -> Iterator[None]:
        """A login or another conversation of several answers, together within the time and length of a stage."""
        self._stage_left_bytes = STAGE_BYTES
        try:
            with self.stall.stage(self.stall.seconds):
                yield
        finally:
            self._stage_left_bytes = None

    def reserve(self, message_bytes: int) -> None:
        """Make room for answers of that size, so that no time is lost on it later; longer ones are refused."""
        self._longest = max(self._longest, message_bytes)
        self._make_room(message_bytes)

    def _make_room(self, message_bytes: int) -> None:
        if len(self._buffer) < message_bytes + _SLACK_BYTES:
            self._buffer = bytearray(message_bytes + _SLACK_BYTES)
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

    def _verify(self, message: memoryview, message_id: int) -> None:
        signature = bytes(message[48:64])
        message[48:64] = _NO_SIGNATURE
        assert self.signer is not None
        if self.signer.sign(message_id, message, from_server=True) != signature:
            raise self.fail(CorruptedError(f"{self.where}: a signature does not match: bytes were changed on the way"))

    def _message(self) -> tuple[memoryview, int]:
        """The next message and how it was protected."""
        self._fill(0, _FIRST_BYTES)
        while self._buffer[0] == wire.KEEP_ALIVE:
            self._check_time()
            self._buffer[: _FIRST_BYTES - FRAME_BYTES] = self._buffer[FRAME_BYTES:_FIRST_BYTES]
            self._fill(_FIRST_BYTES - FRAME_BYTES, _FIRST_BYTES)
        length = int.from_bytes(self._buffer[1:FRAME_BYTES], "big")
        if self._buffer[0] or length < HEADER_BYTES:
            raise self.fail(ProtocolError(f"{self.where}: the server sent what is not SMB; check host and port"))
        if length > self._longest:
            raise self.fail(
                ProtocolError(
                    f"{self.where}: the server announced more than was asked for ({length} bytes); see its log"
                )
            )
        end = FRAME_BYTES + length
        if len(self._buffer) < end + _SLACK_BYTES // 2:
            old = self._buffer[:_FIRST_BYTES]
            self._make_room(end)
            self._buffer[:_FIRST_BYTES] = old
        self._fill(_FIRST_BYTES, end)
        message, protocol = self._view[FRAME_BYTES:end], bytes(self._buffer[FRAME_BYTES : FRAME_BYTES + 4])
        if protocol == wire.TRANSFORM_ID:
            return self._open(message), _SEALED
        if protocol != wire.SMB2_ID:
            raise self.fail(ProtocolError(f"{self.where}: the server does not speak SMB 2 or newer; allow it there"))
        return message, _PLAIN

    def _open(self, sealed: memoryview) -> memoryview:
        if self.sealer is None or len(sealed) < TRANSFORM_BYTES + HEADER_BYTES:
            raise self.fail(ProtocolError(f"{self.where}: the server encrypts although nothing was agreed"))
        message = self.sealer.open(sealed, self._view[FRAME_BYTES:])
        if message is None:
            raise self.fail(
                CorruptedError(f"{self.where}: an encryption tag does not match: bytes were changed on the way")
            )
        return message

    def _fill(self, start: int, end: int) -> None:
        """Receive into the buffer from ``start`` to ``end``."""
        view, receive, first = self._view, self.sock.recv_into, start
        large = end - start > CREDIT_BYTES // 2
        began = time.monotonic() if large else 0.0
        lazy = large and self._swift and len(self._outstanding) >= _ENOUGH_FOLLOWS
        if lazy:
            buffer_bytes = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
            self._wake_at(min(_LOW_WATER_BYTES, buffer_bytes // 4, end - start))
        while start < end:
            try:
                count = receive(view[start:end], 0, socket.MSG_WAITALL)
            except BlockingIOError:
                self._idle(start)
                continue
            except OSError as error:
                raise self._lost() from error
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

    def _wake_at(self, count: int) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)

    def _push(self, parts: list[View]) -> None:
        """Send all the parts."""
        left = sum(len(part) for part in parts)
        while True:
            try:
                sent = self.sock.sendmsg(parts)
            except BlockingIOError:
                self._idle(0)
                continue
            except OSError as error:
                raise self._lost() from error
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
