"""One SMB2 connection: message ids, credits, signatures and encryption of requests and answers (MS-SMB2 3.2.4, 3.2.5).

A credit is the server's leave to send one request, or 64 KiB of a large one; each answer grants new ones. What a
request takes is its charge. A compound is several requests in one frame, whose answers may come in one frame too, or
each in its own. Sealed is encrypted. A tree is a share that is connected.
"""

import contextlib
import socket
from collections import deque
from collections.abc import Iterator, Sequence

from app.base import errors
from app.clients.smb import wire
from app.clients.smb.frame_socket import SLACK_BYTES, FrameSocket
from app.clients.smb.protection import Sealer, Signer
from app.clients.smb.wire import (
    FRAME_BYTES,
    HEADER_BYTES,
    TRANSFORM_BYTES,
    Answer,
    Request,
    Response,
    View,
)

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

# What is expected of an answer is one number: the protection in its lower bits and, above these, the command.
_PROTECTION_BITS = 2
_PROTECTION_MASK = 3
_NO_SIGNATURE = bytes(16)

# Fields of a header (MS-SMB2 2.2.1.2), in a message behind its frame.
_COMMAND = FRAME_BYTES + 12
_TREE_ID = slice(FRAME_BYTES + 36, FRAME_BYTES + 40)
_SIGNATURE = slice(FRAME_BYTES + 48, FRAME_BYTES + 64)
_ANSWER_FLAGS = wire.FLAG_RESPONSE | wire.FLAG_ASYNC | wire.FLAG_SIGNED


class Channel(FrameSocket):
    """Sends requests with ids and credits, and verifies their answers, which come in any order.

    ``ask`` sends one request and waits for its answer. ``send`` and ``receive`` let several be under way.
    ``ask_at_once`` is for small files: a request or compound by the shortest way. These are timed in a transfer, and
    so do little for each request or answer. ``stage`` limits what belongs together, such as a login.

    `FrameSocket` has the bytes: ``_fill`` receives into ``_buffer``, of which ``_view`` is the view, ``_ahead`` is what
    was received beyond an answer, ``_push`` sends. Its ``fail`` makes an error after which the connection counts as
    broken.
    """

    def __init__(self, sock: socket.socket, where: str, timeout_seconds: float) -> None:
        super().__init__(sock, where, timeout_seconds)

        # What login and negotiation agreed on; set by whoever logs in
        self.multi_credit = False
        """Whether a request may take several credits, and so move more than 64 KiB."""
        self.most_read_bytes = wire.CREDIT_BYTES
        """The most that one READ may ask for."""
        self.most_write_bytes = wire.CREDIT_BYTES
        """The most that one WRITE may carry."""
        self.most_answer_bytes = wire.CREDIT_BYTES
        """The most that may be asked for of a listing or a control: one credit, or less where the server says so."""
        self.session_id = 0
        self.signer: Signer | None = None
        """None where nothing can be signed, as before a login."""
        self.sealer: Sealer | None = None
        """None where nothing can be encrypted."""
        self.sign_all = False
        """Whether requests that are not encrypted are signed, and their answers must be."""
        self.seal_all = False
        """Whether all requests are encrypted; else those to ``sealed_trees``."""
        self.sealed_trees: set[int] = set()
        """By tree id, as are the printers."""
        self.printer_trees: set[int] = set()

        self.credits = 1
        """Granted and not spent."""
        self.wanted_credits = _WANTED_CREDITS
        """Each request asks for as many more as reach this."""

        self._next_id = 0
        self._outstanding: dict[int, int] = {}
        """The requests that are not answered yet, by message id: what is expected of the answer, as a number."""
        self._longest_answer_bytes = _LONGEST_BYTES
        """A longer one is refused."""
        self._stage_left_bytes: int | None = None
        """How much the answers of the stage may still have; None outside of one."""
        self._compound_ids: set[int] = set()
        """Message ids of requests in a compound, whose answers may share a frame."""
        self._answers_read: deque[tuple[memoryview, int]] = deque()
        """Answers of a frame that was read whole and are not given yet, each with its protection."""

    @property
    def outstanding(self) -> int:
        """How many answers are still to come."""
        return len(self._outstanding)

    def send(self, message: bytearray, payload: View = b"", *, charge: int = 1, sign: bool = False) -> int:
        """Send one request, ``payload`` following ``message``, and return its message id; it changes ``message``.

        The caller has seen that there are ``charge`` credits, and may reuse both buffers.
        """
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
            message[_SIGNATURE] = self.signer.sign(message_id, memoryview(message)[FRAME_BYTES:], payload)

        message[:FRAME_BYTES] = (len(message) - FRAME_BYTES + len(payload)).to_bytes(FRAME_BYTES, "big")
        self._push([message, payload] if payload else [message])
        return message_id

    def _seals(self, message: bytearray) -> bool:
        """Whether a request has to be encrypted, by its tree."""
        tree_id = int.from_bytes(message[_TREE_ID], "little")
        return self.sealer is not None and (self.seal_all or tree_id in self.sealed_trees)

    def _claim(self, charge: int) -> tuple[int, int, int]:
        """Spend the credits of a request: its message id, the charge to name in it and the credits to ask for.

        A request of several credits takes as many message ids. Where a server knows no charge, 0 is named.
        """
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
        self._outstanding[message_id] = message[_COMMAND] << _PROTECTION_BITS | protection
        return message_id

    def send_related(self, messages: Sequence[bytearray], *, charge: int = 1) -> list[int]:
        """One compound about the file that the first opens; returns the message ids."""
        # All are to one tree, so they are encrypted together or not at all; signed is each by itself.
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
                message[_SIGNATURE] = self.signer.sign(ids[-1], memoryview(message)[FRAME_BYTES:], b"")
            compound += memoryview(message)[FRAME_BYTES:]

        if seal and self.sealer is not None:
            compound[FRAME_BYTES:] = self.sealer.seal(memoryview(compound)[FRAME_BYTES:], b"")
        compound[:FRAME_BYTES] = (len(compound) - FRAME_BYTES).to_bytes(FRAME_BYTES, "big")
        self._compound_ids.update(ids)
        self._push([compound])
        return ids

    def _related_answers(self, ids: Sequence[int]) -> list[Response]:
        """The answers to a compound, in its order, copied so that they outlive the buffer."""
        self._compound_ids.update(ids)
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

        # What is to be protected takes the usual way.
        if self.sign_all or self.seal_all or tree_id in self.sealed_trees:
            messages = [wire.frame(command, body, tree_id) for command, body in requests]
            if len(messages) > 1:
                return self._answers_one_by_one(self.send_related(messages, charge=charge))
            return self._answers_one_by_one([self.send(messages[0], payload, charge=charge)])

        ids = []
        parts = [b""]  # the first is replaced by the length of all
        last = len(requests) - 1
        for number, (command, content) in enumerate(requests):
            # Filled up to a multiple of eight, where the next request of a compound begins.
            body = content + bytes(-len(content) % 8) if number < last else content
            next_offset = HEADER_BYTES + len(body) if number < last else 0
            message_id, named_charge, requested_credits = self._claim(charge)
            flags = wire.FLAG_RELATED if number else 0
            header = wire.header(
                command, named_charge, requested_credits, flags, next_offset, message_id, tree_id, self.session_id
            )
            parts += header, body
            ids.append(message_id)
            self._outstanding[message_id] = command << _PROTECTION_BITS | _PLAIN

        parts[0] = (sum(map(len, parts)) + len(payload)).to_bytes(FRAME_BYTES, "big")
        compound = b"".join(parts)
        self._push([compound, payload] if payload else [compound])
        return self._answers_at_once(ids, requests) or self._answers_one_by_one(ids)

    # How ask_at_once hears: by one reading of the socket, else by the way of all other answers

    def _answers_one_by_one(self, ids: Sequence[int]) -> list[Answer]:
        responses = self._related_answers(ids) if len(ids) > 1 else [self.receive_for(ids[0])]
        return [(response.status, response.message) for response in responses]

    def _answers_at_once(self, ids: Sequence[int], requests: Sequence[Request]) -> list[Answer] | None:
        """The answers, if exactly they come: in one frame, and in the order of the requests.

        None for whatever else comes: it is kept (``_ahead``), for ``receive`` to look more closely.
        """
        if self._ahead:
            return None
        if self._wait_for_answer:
            self._wait_for_answer()
        try:
            received_bytes = self.sock.recv_into(self._buffer)
        except OSError:  # a tick perhaps: who looks more closely meets it again
            return None

        # A frame that is longer than was received is completed; one that is shorter is no answer of the usual kind.
        view = self._view
        end = FRAME_BYTES + int.from_bytes(view[:FRAME_BYTES], "big")
        is_cut_off = FRAME_BYTES < received_bytes < end
        if is_cut_off and end <= len(self._buffer):
            self._fill(received_bytes, end)
            received_bytes = end

        answers: list[Answer] = []
        start = FRAME_BYTES
        granted_credits = 0
        for message_id, (command, _body) in zip(ids, requests, strict=True):
            if end != received_bytes or end < start + HEADER_BYTES:
                break
            protocol, status, answered, credits_given, flags, next_offset, answered_id = wire.parse_answer(view, start)
            if answered_id != message_id or answered != command or protocol != wire.SMB2_ID:
                break
            if flags & _ANSWER_FLAGS != wire.FLAG_RESPONSE:
                break
            next_start = start + next_offset if next_offset else end  # 0 in the last of a compound
            answers.append((status, view[start:next_start]))
            granted_credits += credits_given
            start = next_start

        is_as_asked = len(answers) == len(ids) and start == end
        if not is_as_asked:
            self._ahead = memoryview(bytes(self._view[:received_bytes]))
            return None

        self.credits += granted_credits
        for message_id in ids:
            del self._outstanding[message_id]
        return answers

    def receive(self) -> Response:
        """The next final answer, verified, its credits counted. Interim answers and oplock breaks are skipped."""
        while True:
            message, protection = self._next_message()
            header = wire.parse_header(message)
            self.credits += header.credits
            if header.message_id == wire.UNSOLICITED:
                self._check_time()
                continue

            # An interim answer: the server has begun, and its final answer comes later.
            is_pending = header.status == wire.PENDING and header.flags & wire.FLAG_ASYNC
            if is_pending:
                expected = self._outstanding.get(header.message_id)
            else:
                expected = self._outstanding.pop(header.message_id, None)
            is_answer = header.flags & wire.FLAG_RESPONSE
            if expected is None or header.command != expected >> _PROTECTION_BITS or not is_answer:
                raise self._not_asked()

            # The signature of a message that was encrypted as well is that of the encryption.
            if header.flags & wire.FLAG_SIGNED and protection == _PLAIN and self.signer is not None:
                self._verify(message, header.message_id)
                protection = _SIGNED
            if is_pending:
                self._check_time()
                continue

            self._compound_ids.discard(header.message_id)
            expected_protection = expected & _PROTECTION_MASK
            if protection < expected_protection:
                kind = "encrypted" if expected_protection == _SEALED else "signed"
                raise self.fail(
                    errors.CorruptedError, f"an answer that must be {kind} is not; look for what is in between"
                )

            ids = header.message_id, header.tree_id, header.session_id
            return Response(header.status, header.command, *ids, message)

    def ask(self, message: bytearray, *, charge: int = 1, sign: bool = False) -> Response:
        """Send one request and wait for its answer."""
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
        """Allow answers of that size, and make the buffer large enough for them before anything is timed."""
        self._longest_answer_bytes = max(self._longest_answer_bytes, message_bytes)
        self._make_room(message_bytes)

    def _not_asked(self) -> Exception:
        return self.fail(
            errors.ProtocolError, "the server answered what was not asked; see its log, and look for what is in between"
        )

    def _verify(self, message: memoryview, message_id: int) -> None:
        """Raises CorruptedError unless the message has the right signature, which is 0 while it is computed."""
        signature = bytes(message[48:64])
        message[48:64] = _NO_SIGNATURE
        assert self.signer is not None
        if self.signer.sign(message_id, message, from_server=True) != signature:
            raise self.fail(errors.CorruptedError, "a signature does not match: bytes were changed on the way")

    def _next_message(self) -> tuple[memoryview, int]:
        """The next answer, decrypted, and how it was protected; its signature is not verified yet."""
        if self._answers_read:
            return self._answers_read.popleft()

        self._fill(0, _FIRST_BYTES)
        while self._buffer[0] == wire.KEEP_ALIVE:
            # It is a frame of four bytes without content: what was read beyond it begins the next one.
            self._check_time()
            self._buffer[: _FIRST_BYTES - FRAME_BYTES] = self._buffer[FRAME_BYTES:_FIRST_BYTES]
            self._fill(_FIRST_BYTES - FRAME_BYTES, _FIRST_BYTES)

        length = int.from_bytes(self._buffer[1:FRAME_BYTES], "big")
        if self._buffer[0] or length < HEADER_BYTES:
            raise self.fail(errors.ProtocolError, "the server sent what is not SMB; check host and port")
        if length > self._longest_answer_bytes:
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
            return self._first_of(self._decrypted(message), _SEALED)
        if protocol != wire.SMB2_ID:
            raise self.fail(errors.ProtocolError, "the server does not speak SMB 2 or newer; allow it there")
        return self._first_of(message, _PLAIN)

    def _first_of(self, message: memoryview, protection: int) -> tuple[memoryview, int]:
        """The first message of a frame; the others of a compound are kept for the next calls."""
        # The header's field NextCommand: where the next message begins, 0 in the last.
        while next_offset := int.from_bytes(message[20:24], "little"):
            is_in_message = HEADER_BYTES <= next_offset <= len(message) - HEADER_BYTES
            if next_offset % 8 or not is_in_message or not self._compound_ids:
                raise self._not_asked()
            self._answers_read.append((message[:next_offset], protection))
            message = message[next_offset:]
        self._answers_read.append((message, protection))
        return self._answers_read.popleft()

    def _decrypted(self, sealed: memoryview) -> memoryview:
        """The messages of an encrypted frame, which lie in the buffer in its place."""
        if self.sealer is None or len(sealed) < TRANSFORM_BYTES + HEADER_BYTES:
            raise self.fail(errors.ProtocolError, "the server encrypts although nothing was agreed")
        message = self.sealer.open(sealed, self._view[FRAME_BYTES:])
        if message is None:
            raise self.fail(errors.CorruptedError, "an encryption tag does not match: bytes were changed on the way")
        return message

    def refusal(self, status: int) -> errors.MeasurementError:
        """The error for a refusing status; of an ended session, the connection counts as broken from now on."""
        if status in wire.SESSION_OVER:
            self.broken = True
        return wire.status_error(status, self.where)
