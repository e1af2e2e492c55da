"""One SMB2 connection: framing, message ids, credits, signatures, encryption (MS-SMB2 3.2.4, 3.2.5).

A credit is the server's leave to send one request, or 64 KiB of a large one; each answer grants new ones. A compound is
several requests in one frame, whose answers may come in one frame too, or each in its own.
"""

import contextlib
import functools
import os
import socket
import struct
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from app.base import errors
from app.clients.smb import wire
from app.clients.smb.negotiate import Sealer, Signer
from app.clients.smb.wire import (
    CREDIT_BYTES,
    FRAME_BYTES,
    HEADER_BYTES,
    TRANSFORM_BYTES,
    Answer,
    Request,
    Response,
    View,
)
from app.clients.tcp import StallWatch

TICK_SECONDS = 0.1
"""A call that waits for the network returns after this time, so that a cancellation or a stall is noticed."""
_SHARED_TICK_SECONDS = 1.0
"""With gevent, where one timer looks after all channels, and a cancellation wakes the sockets by itself."""
SLACK_BYTES = 4096
"""Of the buffer beyond the longest message: for headers, and small answers need no larger one."""
_AHEAD_BYTES = 8192
"""Read ahead with gevent: most answers are small, and whole after one call."""
_LOW_WATER_BYTES = 512 * 1024
_SWIFT_BYTES_PER_SECOND = 500e6
"""On fast links, waking for half a megabyte saves processor time; on slower ones it only keeps the TCP window small."""
_ENOUGH_FOLLOWS = 3
"""Answers outstanding, this one included, before using the low water mark.

``recv`` sleeps until the mark is reached, at the end of the file until the tick. Of two more answers at least one is
a full block.
"""


_FIRST_BYTES = FRAME_BYTES + HEADER_BYTES
_LONGEST_BYTES = 2 * 1024 * 1024
"""Limit of an answer unless a transfer asks for more; impacket asks for 1 MiB."""
STAGE_BYTES = 4 * 1024 * 1024
"""Most bytes of all answers in one stage, such as a login: a server that answers without end is refused."""
_WANTED_CREDITS = 512
"""Asked for with each request until the server has granted that number."""

_PLAIN = 0
_SIGNED = 1
_SEALED = 2
"""How a message is protected, the stronger the higher: an answer may be protected more than it has to be."""
_PROTECTION_BITS = 2
_PROTECTION_MASK = 3
_NO_SIGNATURE = bytes(16)
_ANSWER_FLAGS = wire.FLAG_RESPONSE | wire.FLAG_ASYNC | wire.FLAG_SIGNED


def watch_nothing(_frame_bytes: int) -> None:
    """What a channel's ``watch`` is while no transfer looks."""


class Channel:
    """Sends requests with ids and credits, verifies answers in any order; wakes at each tick, to notice stalls.

    The parts of a transfer that are timed call ``send``, ``receive`` and ``ask_at_once``; what these do for each
    request or answer is therefore kept little.
    """

    def __init__(self, sock: socket.socket, where: str, timeout_seconds: float) -> None:
        self.sock = sock
        self.where = where
        self.stall = StallWatch(timeout_seconds, self._current_place)
        self.watch: Callable[[int], None] = watch_nothing
        """Called at each tick with the bytes of the current frame so far; may raise."""
        self.handed_bytes = 0
        """Handed to the kernel so far; it may not have sent them yet."""
        self.broken = False
        """Whether nothing can be asked on it any more."""
        self.aborted = False
        """Whether it was shut from here, since somebody cancelled."""

        self.multi_credit = False
        """Whether a request may take several credits, and so move more than 64 KiB."""
        self.session_id = 0
        self.credits = 1
        """Granted and not spent."""
        self.wanted_credits = _WANTED_CREDITS

        self.signer: Signer | None = None
        """None where nothing can be signed, as before a login."""
        self.sealer: Sealer | None = None
        """None where nothing can be encrypted."""
        self.sign_all = False
        """Whether requests that are not encrypted are signed, and their answers must be."""
        self.seal_all = False
        """Whether all requests are encrypted; else those to ``sealed_trees``."""
        self.sealed_trees: set[int] = set()
        self.printer_trees: set[int] = set()

        self._next_id = 0
        self._outstanding: dict[int, int] = {}
        """By message id: the protection that the answer must have and, in the upper bits, the command."""
        self._longest = _LONGEST_BYTES
        """Bytes of the longest answer that is taken."""
        self._stage_left_bytes: int | None = None
        """How much the answers of the stage may still have; None outside of one."""
        self._chained: set[int] = set()
        """Requests whose answers may share a frame."""
        self._split: deque[tuple[memoryview, int]] = deque()
        """Answers of a frame that was read whole and are not given yet, each with its protection."""

        self._swift = False
        """Whether the last large answer came so fast that the next one is waited for by the low water mark."""
        self._ahead = memoryview(b"")
        """What was received and belongs to the next answers."""
        self._buffer = bytearray(SLACK_BYTES)
        self._view = memoryview(self._buffer)
        self._answer_comes: Callable[[], None] | None = None
        """With gevent: sleep until there is something to receive, rather than fail to and sleep then."""
        self._prepare_socket()

    def _current_place(self) -> str:
        return self.where

    def _prepare_socket(self) -> None:
        sock = self.sock
        sock.settimeout(None)
        if not os.get_blocking(sock.fileno()):
            self._answer_comes = _share_hub(self)
        tick = struct.pack("ll", 0, int(TICK_SECONDS * 1e6))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, tick)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, tick)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def outstanding(self) -> int:
        return len(self._outstanding)

    def send(self, message: bytearray, payload: View = b"", *, charge: int = 1, sign: bool = False) -> int:
        """Returns the message id; the buffers are free again then. The caller has reserved ``charge`` credits."""
        seal = self._seals(message)
        signed = self.signer is not None and (sign or self.sign_all) and not seal
        if seal:
            protection = _SEALED
        elif signed:
            protection = _SIGNED
        else:
            protection = _PLAIN
        message_id = self._stamp(message, charge, protection)

        if seal and self.sealer is not None:
            sealed = self.sealer.seal(memoryview(message)[FRAME_BYTES:], payload)
            self._push([len(sealed).to_bytes(FRAME_BYTES, "big"), sealed])
            return message_id

        if signed and self.signer is not None:
            signature = self.signer.sign(message_id, memoryview(message)[FRAME_BYTES:], payload)
            message[FRAME_BYTES + 48 : FRAME_BYTES + 64] = signature

        message[:FRAME_BYTES] = (len(message) - FRAME_BYTES + len(payload)).to_bytes(FRAME_BYTES, "big")
        self._push([message, payload] if payload else [message])
        return message_id

    def _seals(self, message: bytearray) -> bool:
        tree_id = int.from_bytes(message[FRAME_BYTES + 36 : FRAME_BYTES + 40], "little")
        return self.sealer is not None and (self.seal_all or tree_id in self.sealed_trees)

    def _claim(self, charge: int) -> tuple[int, int, int]:
        """Spend the credits of a request: its message id, the charge to name in it and the credits to ask for."""
        message_id = self._next_id
        self._next_id += charge if self.multi_credit else 1
        self.credits -= charge
        requested_credits = max(charge, self.wanted_credits - self.credits)
        return message_id, charge if self.multi_credit else 0, requested_credits

    def _stamp(self, message: bytearray, charge: int, protection: int, flags: int = 0) -> int:
        """Fill in what the header says of this request, and expect its answer; returns its message id."""
        message_id, named_charge, requested_credits = self._claim(charge)
        flags |= wire.FLAG_SIGNED if protection == _SIGNED else 0
        wire.stamp(message, named_charge, requested_credits, flags, message_id, self.session_id)
        self._outstanding[message_id] = message[FRAME_BYTES + 12] << _PROTECTION_BITS | protection
        return message_id

    def send_related(self, messages: Sequence[bytearray], *, charge: int = 1) -> list[int]:
        """One compound about the file that the first opens; returns the message ids."""
        seal = self._seals(messages[0])
        if seal:
            protection = _SEALED
        elif self.signer is not None and self.sign_all:
            protection = _SIGNED
        else:
            protection = _PLAIN

        ids = []
        compound = bytearray(FRAME_BYTES)
        for number, message in enumerate(messages):
            if number + 1 < len(messages):
                # Each request of a compound begins at a multiple of eight (MS-SMB2 3.2.4.1.4).
                message.extend(bytes(-(len(message) - FRAME_BYTES) % 8))
                wire.chain(message, len(message) - FRAME_BYTES)

            ids.append(self._stamp(message, charge, protection, wire.FLAG_RELATED if number else 0))
            if protection == _SIGNED and self.signer is not None:
                signature = self.signer.sign(ids[-1], memoryview(message)[FRAME_BYTES:], b"")
                message[FRAME_BYTES + 48 : FRAME_BYTES + 64] = signature
            compound += memoryview(message)[FRAME_BYTES:]

        if seal and self.sealer is not None:
            compound[FRAME_BYTES:] = self.sealer.seal(memoryview(compound)[FRAME_BYTES:], b"")
        compound[:FRAME_BYTES] = (len(compound) - FRAME_BYTES).to_bytes(FRAME_BYTES, "big")
        self._chained.update(ids)
        self._push([compound])
        return ids

    def _related_answers(self, ids: Sequence[int]) -> list[Response]:
        """The answers to a compound, in its order, copied so that they outlive the buffer."""
        self._chained.update(ids)
        answers: dict[int, Response] = {}
        while len(answers) < len(ids):
            response = self.receive()
            if response.message_id in ids:
                answers[response.message_id] = response._replace(message=memoryview(bytes(response.message)))
        return [answers[message_id] for message_id in ids]

    def ask_at_once(
        self, tree_id: int, requests: Sequence[Request], payload: View = b"", *, charge: int = 1
    ) -> list[Answer]:
        """One request, or a compound about the file that the first opens, while nothing else is outstanding.

        ``payload`` follows the last; ``charge`` is for each. Answers are valid until the next request.
        """
        self.stall.start()
        if self.sign_all or self.seal_all or tree_id in self.sealed_trees:
            messages = [wire.frame(command, body, tree_id) for command, body in requests]
            if len(messages) > 1:
                return self._answers_one_by_one(self.send_related(messages, charge=charge))
            return self._answers_one_by_one([self.send(messages[0], payload, charge=charge)])

        ids = []
        parts = [b""]  # the first is replaced by the length of all
        last = len(requests) - 1
        for number, (command, content) in enumerate(requests):
            body = content + bytes(-len(content) % 8) if number < last else content
            next_offset = HEADER_BYTES + len(body) if number < last else 0
            message_id, named_charge, requested_credits = self._claim(charge)
            flags = wire.FLAG_RELATED if number else 0
            header = wire.header(
                command, named_charge, requested_credits, flags, next_offset, message_id, tree_id, self.session_id
            )
            parts += header, body
            ids.append(message_id)
            self._outstanding[message_id] = command << _PROTECTION_BITS

        parts[0] = (sum(map(len, parts)) + len(payload)).to_bytes(FRAME_BYTES, "big")
        compound = b"".join(parts)
        self._push([compound, payload] if payload else [compound])
        return self._answers_at_once(ids, requests) or self._answers_one_by_one(ids)

    def _answers_one_by_one(self, ids: Sequence[int]) -> list[Answer]:
        responses = self._related_answers(ids) if len(ids) > 1 else [self.receive_for(ids[0])]
        return [(response.status, response.message) for response in responses]

    def _answers_at_once(self, ids: Sequence[int], requests: Sequence[Request]) -> list[Answer] | None:
        """None if they are not exactly what was asked in one frame; then nothing was taken in yet."""
        if self._ahead:
            return None
        if self._answer_comes:
            self._answer_comes()
        try:
            received_bytes = self.sock.recv_into(self._buffer)
        except OSError:  # a tick perhaps: who looks more closely meets it again
            return None

        view = self._view
        end = FRAME_BYTES + int.from_bytes(view[:FRAME_BYTES], "big")
        if FRAME_BYTES < received_bytes < end <= len(self._buffer):
            self._fill(received_bytes, end)
            received_bytes = end

        answers: list[Answer] = []
        start = FRAME_BYTES
        granted_credits = 0
        for message_id, (command, _body) in zip(ids, requests, strict=True):
            if end != received_bytes or end < start + HEADER_BYTES:
                break
            protocol, status, answered, credits_given, flags, next_start, answered_id = wire.parse_answer(view, start)
            if answered_id != message_id or answered != command or protocol != wire.SMB2_ID:
                break
            if flags & _ANSWER_FLAGS != wire.FLAG_RESPONSE:
                break
            next_start = start + next_start if next_start else end
            answers.append((status, view[start:next_start]))
            granted_credits += credits_given
            start = next_start

        if len(answers) < len(ids) or start != end:
            # Whoever takes them one by one reads them from here.
            self._ahead = memoryview(bytes(self._view[:received_bytes]))
            return None

        self.credits += granted_credits
        for message_id in ids:
            del self._outstanding[message_id]
        return answers

    def receive(self) -> Response:
        """The next final answer, verified, its credits counted. Interim answers and oplock breaks are skipped."""
        while True:
            message, protection = self._message()
            header = wire.parse_header(message)
            self.credits += header.credits
            if header.message_id == wire.UNSOLICITED:
                self._check_time()
                continue

            pending = header.status == wire.PENDING and header.flags & wire.FLAG_ASYNC
            if pending:
                expected = self._outstanding.get(header.message_id)
            else:
                expected = self._outstanding.pop(header.message_id, None)
            if (
                expected is None
                or header.command != expected >> _PROTECTION_BITS
                or not header.flags & wire.FLAG_RESPONSE
            ):
                raise self._not_asked()

            if header.flags & wire.FLAG_SIGNED and protection == _PLAIN and self.signer is not None:
                self._verify(message, header.message_id)
                protection = _SIGNED
            if pending:
                self._check_time()
                continue

            self._chained.discard(header.message_id)
            if protection < expected & _PROTECTION_MASK:
                kind = "encrypted" if expected & _PROTECTION_MASK == _SEALED else "signed"
                raise self.fail(
                    errors.CorruptedError, f"an answer that must be {kind} is not; look for what is in between"
                )

            ids = header.message_id, header.tree_id, header.session_id
            return Response(header.status, header.command, *ids, message)

    def ask(self, message: bytearray, *, charge: int = 1, sign: bool = False) -> Response:
        self.stall.start()
        return self.receive_for(self.send(message, charge=charge, sign=sign))

    def receive_for(self, message_id: int | None) -> Response:
        """The answer to that request, others being dropped; the next one of any for None."""
        while True:
            response = self.receive()
            if self._stage_left_bytes is not None:
                self._stage_left_bytes -= len(response.message)
                if self._stage_left_bytes < 0:
                    raise self.fail(errors.ProtocolError, "the server's answers have no end; see its log and the port")
            if message_id is None or response.message_id == message_id:
                return response

    @contextlib.contextmanager
    def stage(self) -> Iterator[None]:
        """Requests that belong together, such as those of a login: their answers are limited in time and bytes."""
        self._stage_left_bytes = STAGE_BYTES
        try:
            with self.stall.stage(self.stall.seconds):
                yield
        finally:
            self._stage_left_bytes = None

    def reserve(self, message_bytes: int) -> None:
        """Allow answers of that size, and make room for them before anything is timed."""
        self._longest = max(self._longest, message_bytes)
        self._make_room(message_bytes)

    def _not_asked(self) -> Exception:
        return self.fail(
            errors.ProtocolError, "the server answered what was not asked; see its log, and look for what is in between"
        )

    def _verify(self, message: memoryview, message_id: int) -> None:
        signature = bytes(message[48:64])
        message[48:64] = _NO_SIGNATURE
        assert self.signer is not None
        if self.signer.sign(message_id, message, from_server=True) != signature:
            raise self.fail(errors.CorruptedError, "a signature does not match: bytes were changed on the way")

    def _message(self) -> tuple[memoryview, int]:
        """The next answer, decrypted, and how it was protected; its signature is not verified yet."""
        if self._split:
            return self._split.popleft()

        self._fill(0, _FIRST_BYTES)
        while self._buffer[0] == wire.KEEP_ALIVE:
            # It is a frame of four bytes without content: what was read beyond it begins the next one.
            self._check_time()
            self._buffer[: _FIRST_BYTES - FRAME_BYTES] = self._buffer[FRAME_BYTES:_FIRST_BYTES]
            self._fill(_FIRST_BYTES - FRAME_BYTES, _FIRST_BYTES)

        length = int.from_bytes(self._buffer[1:FRAME_BYTES], "big")
        if self._buffer[0] or length < HEADER_BYTES:
            raise self.fail(errors.ProtocolError, "the server sent what is not SMB; check host and port")
        if length > self._longest:
            raise self.fail(
                errors.ProtocolError, f"the server announced more than was asked for ({length} bytes); see its log"
            )

        end = FRAME_BYTES + length
        if len(self._buffer) < end + SLACK_BYTES // 2:
            first_bytes = self._buffer[:_FIRST_BYTES]
            self._make_room(end)
            self._buffer[:_FIRST_BYTES] = first_bytes
        self._fill(_FIRST_BYTES, end)

        message = self._view[FRAME_BYTES:end]
        protocol = bytes(self._buffer[FRAME_BYTES : FRAME_BYTES + 4])
        if protocol == wire.TRANSFORM_ID:
            return self._first_of(self._open(message), _SEALED)
        if protocol != wire.SMB2_ID:
            raise self.fail(errors.ProtocolError, "the server does not speak SMB 2 or newer; allow it there")
        return self._first_of(message, _PLAIN)

    def _first_of(self, message: memoryview, protection: int) -> tuple[memoryview, int]:
        """The first message of a compound; the others come after it."""
        while next_offset := int.from_bytes(message[20:24], "little"):
            if next_offset % 8 or not HEADER_BYTES <= next_offset <= len(message) - HEADER_BYTES or not self._chained:
                raise self._not_asked()
            self._split.append((message[:next_offset], protection))
            message = message[next_offset:]
        self._split.append((message, protection))
        return self._split.popleft()

    def _open(self, sealed: memoryview) -> memoryview:
        if self.sealer is None or len(sealed) < TRANSFORM_BYTES + HEADER_BYTES:
            raise self.fail(errors.ProtocolError, "the server encrypts although nothing was agreed")
        message = self.sealer.open(sealed, self._view[FRAME_BYTES:])
        if message is None:
            raise self.fail(errors.CorruptedError, "an encryption tag does not match: bytes were changed on the way")
        return message

    def _make_room(self, message_bytes: int) -> None:
        if len(self._buffer) < message_bytes + SLACK_BYTES:
            self._buffer = bytearray(message_bytes + SLACK_BYTES)
            self._view = memoryview(self._buffer)

    def fail(self, kind: type[Exception], reason: str) -> Exception:
        self.broken = True
        return kind(f"{self.where}: {reason}")

    def refusal(self, status: int) -> errors.MeasurementError:
        """The error for a refusing status; of an ended session, the connection counts as broken from now on."""
        if status in wire.SESSION_OVER:
            self.broken = True
        return wire.status_error(status, self.where)

    def abort(self) -> None:
        self.aborted = True
        self.shut()

    def shut_if_stalled(self) -> None:
        """Whoever waits for an answer wakes and finds that it took too long."""
        if self._outstanding and self.stall.is_over:
            self.shut()

    def shut(self) -> None:
        self.broken = True
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)

    def _fill(self, start: int, end: int) -> None:
        """Receive into these bytes of the buffer, until all are there."""
        if self._ahead or self._answer_comes:
            self._fill_ahead(start, end)
            return

        view = self._view
        receive = self.sock.recv_into
        first = start
        large = end - start > CREDIT_BYTES // 2
        began = time.monotonic() if large else 0.0
        lazy = large and self._swift and self.outstanding >= _ENOUGH_FOLLOWS
        if lazy:
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

        if lazy:
            self._wake_at(1)
        if large:
            self._swift = end - first > _SWIFT_BYTES_PER_SECOND * (time.monotonic() - began)

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

    def _push(self, parts: list[View]) -> None:
        """Hand all to the kernel; changes ``parts``."""
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

    def _look(self, frame_bytes: int) -> None:
        """Let the transfer see how far the frame has come; what it raises ends the connection."""
        try:
            self.watch(frame_bytes)
        except BaseException:
            self.broken = True
            raise

    def _idle(self, frame_bytes: int, error: OSError) -> None:
        """Nothing moved within a tick: look, and go on. Raises what ends the connection for another error."""
        is_tick = isinstance(error, BlockingIOError) or (isinstance(error, TimeoutError) and error.errno is None)
        if not is_tick:
            raise self._lost() from error
        self._look(frame_bytes)
        self._check_time()

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


_sharing = weakref.WeakSet[Channel]()
"""The channels of a process with gevent."""
_ticks: list[object] = []
"""The timer that looks after them, once it runs."""


def _share_hub(channel: Channel) -> Callable[[], None]:
    """What waits for the channel's answers; one timer for all channels sees that none waits too long."""
    from gevent import get_hub
    from gevent.socket import wait

    loop = get_hub().loop
    if not _ticks:
        tick = loop.timer(_SHARED_TICK_SECONDS, _SHARED_TICK_SECONDS, ref=False)
        _ticks.append(tick)
        tick.start(_look_at_all)

    _sharing.add(channel)
    return functools.partial(wait, loop.io(channel.sock.fileno(), 1))


def _look_at_all() -> None:
    for channel in list(_sharing):
        channel.shut_if_stalled()
