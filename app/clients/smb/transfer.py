"""Moves one whole file over SMB, from its first byte to its last, with several requests under way at once.

A file is moved in pieces (blocks). The window is how large a piece is, and how many are under way. These functions are
what a measurement times, so that they do little for each piece.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from app.base.errors import CorruptedError, MeasurementError, ProtocolError
from app.clients.base import MAX_BLOCK_BYTES, Content, Meter, Sink, Transfer
from app.clients.smb import frame_socket, wire
from app.clients.smb.channel import Channel
from app.clients.smb.negotiate import LEAST_BLOCK_BYTES, Negotiated
from app.clients.smb.share import Share
from app.clients.tcp_info import TcpInfo, waiting_bytes

DEFAULT_BLOCK_BYTES = 2 * 1024 * 1024
DEFAULT_IN_FLIGHT = 8
_IN_FLIGHT_WITHOUT_MULTI_CREDIT = 4
"""Measured on the loopback: four requests of 64 KiB move as much as thirty-two."""
_IN_FLIGHT_BEFORE_BLOCKS_SHRINK = 4
"""With few credits, blocks are made so small that at least this many are under way."""
OVERHEAD_BYTES = 256
"""More than the headers of an answer that carries a block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How much of a file is asked for ahead."""

    block_bytes: int
    """Of one request."""
    in_flight: int
    """Requests under way at once."""

    @property
    def credits(self) -> int:
        """What a full window takes."""
        return self.in_flight * charge(self.block_bytes)


def charge(length: int) -> int:
    """Credits for a request of ``length`` bytes (MS-SMB2 3.1.5.2)."""
    return max(1, -(-length // wire.CREDIT_BYTES))  # rounded up


def choose_window(
    negotiated: Negotiated, maximum_bytes: int, available: int, block_bytes: int | None, in_flight: int | None
) -> Window:
    """The window of a transfer; ``block_bytes`` and ``in_flight`` are what was asked for, None for the usual ones.

    No block is larger than ``maximum_bytes``, which the server negotiated. With few of the ``available`` credits,
    blocks of default size shrink before fewer are in flight.
    """
    usual_depth = DEFAULT_IN_FLIGHT if negotiated.multi_credit else _IN_FLIGHT_WITHOUT_MULTI_CREDIT
    depth = in_flight or usual_depth

    most_bytes = wire.CREDIT_BYTES
    if negotiated.multi_credit:
        credits_a_block = available if block_bytes else available // min(depth, _IN_FLIGHT_BEFORE_BLOCKS_SHRINK)
        most_bytes = max(1, credits_a_block) * wire.CREDIT_BYTES
    block = min(block_bytes or DEFAULT_BLOCK_BYTES, maximum_bytes, most_bytes, MAX_BLOCK_BYTES)
    return Window(block_bytes=block, in_flight=max(1, min(depth, available // charge(block))))


class Pipeline:
    """The pieces of one transfer: which to ask for next, which are under way, and what each answer brought."""

    def __init__(self, channel: Channel, window: Window, size_bytes: int) -> None:
        """A piece is (offset in the file, length), both in bytes."""
        self.moved_bytes = 0
        self._channel = channel
        self._window = window
        self._size_bytes = size_bytes
        self._position = 0
        """Where the part of the file begins that was in no piece yet."""
        self._to_repeat: list[tuple[int, int]] = []
        """Pieces that the server moved in part, or for which there were no credits: asked for first."""
        self._under_way: dict[int, tuple[int, int]] = {}
        """By message id."""

    def next_piece(self) -> tuple[int, int] | None:
        """Offset and length; None until an answer comes, or if nothing is left to ask for."""
        if len(self._under_way) >= self._window.in_flight:
            return None
        if self._to_repeat:
            offset, length = self._to_repeat.pop()
        else:
            offset = self._position
            length = min(self._window.block_bytes, self._size_bytes - offset)
            if not length:
                return None
            self._position += length

        available = self._channel.credits
        if charge(length) <= available:
            return offset, length
        if self._under_way:
            # The next answer grants more.
            self._to_repeat.append((offset, length))
            return None
        if available < 1:
            raise ProtocolError(
                f"{self._channel.where}: the server grants no credits, so nothing may be asked; see its log"
            )
        # Nothing is under way that could grant more, so as much is asked for as the credits allow.
        affordable_bytes = available * wire.CREDIT_BYTES
        self._to_repeat.append((offset + affordable_bytes, length - affordable_bytes))
        return offset, affordable_bytes

    def note_sent(self, message_id: int, piece: tuple[int, int]) -> None:
        self._under_way[message_id] = piece

    def take_answer(self, message_id: int, status: int) -> tuple[int, int]:
        """The piece that it is for. Raises the error for a refusal, once all other answers are in."""
        piece = self._under_way.pop(message_id, None)
        if piece is None:
            raise ProtocolError(f"{self._channel.where}: the server answered what was not asked")
        if status == wire.SUCCESS:
            return piece
        while self._under_way:
            self._under_way.pop(self._channel.receive().message_id, None)
        raise status_error(self._channel, status)

    def note_moved(self, piece: tuple[int, int], count: int) -> None:
        """What is missing of the piece is asked for again."""
        offset, length = piece
        if not 0 < count <= length:
            raise ProtocolError(f"{self._channel.where}: the server moved {count} bytes where {length} were asked for")
        self.moved_bytes += count
        if count == length:
            return

        # A server that moves so little at a time would take forever.
        if count < LEAST_BLOCK_BYTES:
            raise ProtocolError(
                f"{self._channel.where}: the server moved {count} bytes where {length} were asked for: the file "
                "became shorter, or something in between holds it up; look there"
            )
        self._to_repeat.append((offset + count, length - count))


def status_error(channel: Channel, status: int) -> MeasurementError:
    """The error for a refused read or write of an open file."""
    if status == wire.END_OF_FILE:
        return ProtocolError(f"{channel.where}: the file became shorter while it was read; leave it alone")
    if status == wire.ACCESS_DENIED and channel.sign_all:
        return CorruptedError(
            f"{channel.where}: the server refused a signed request for an open file: bytes were changed on "
            "the way; look for what is in between"
        )
    return channel.refusal(status)


def read_file(
    channel: Channel, tree_id: int, file: wire.OpenedFile, window: Window, meter: Meter, into: Sink | None
) -> float:
    """Seconds from the first request until the last byte."""
    size_bytes = file.size_bytes
    is_multi_credit = channel.multi_credit
    request = wire.frame(*wire.read(file.file_id, 0, 0), tree_id)
    pipeline = Pipeline(channel, window, size_bytes)

    def advance_within_a_frame(frame_bytes: int) -> None:
        meter.advance(pipeline.moved_bytes + max(0, frame_bytes - OVERHEAD_BYTES))

    channel.reserve(window.block_bytes + OVERHEAD_BYTES)
    channel.watch = advance_within_a_frame
    channel.stall.start()
    started_at = meter.start(look=channel.stall.note_moved)
    while pipeline.moved_bytes < size_bytes:
        while piece := pipeline.next_piece():
            wire.aim(request, *piece)
            message_id = channel.send(request, charge=charge(piece[1]) if is_multi_credit else 1)
            pipeline.note_sent(message_id, piece)

        response = channel.receive()
        piece = pipeline.take_answer(response.message_id, response.status)
        data = wire.read_data(response.message)
        pipeline.note_moved(piece, -1 if data is None else len(data))  # raises for -1, as for any impossible count
        if into is not None and data is not None:
            into(piece[0], data)
        meter.advance(pipeline.moved_bytes)
    return meter.clock() - started_at


def write_file(
    channel: Channel, tree_id: int, file: wire.OpenedFile, window: Window, meter: Meter, content: Content
) -> float:
    """Seconds from the first request until all is acknowledged."""
    size_bytes = content.size_bytes
    is_multi_credit = channel.multi_credit
    handed_before = channel.handed_bytes
    request = wire.frame(*wire.write(file.file_id, 0, 0), tree_id)
    pipeline = Pipeline(channel, window, size_bytes)

    def advance_within_a_frame(_frame_bytes: int) -> None:
        meter.advance(channel.handed_bytes - handed_before)

    def check_progress(arrived_bytes: int) -> None:
        channel.stall.note_moved(arrived_bytes + pipeline.moved_bytes)

    def count_arrived(handed_bytes: int) -> int:
        # What the kernel still holds has not left this machine.
        beyond_this_machine = min(size_bytes, handed_bytes - waiting_bytes(channel.sock))
        return max(pipeline.moved_bytes, beyond_this_machine)

    channel.watch = advance_within_a_frame
    channel.stall.start()
    started_at = meter.start(look=check_progress)
    meter.arrived = count_arrived
    while pipeline.moved_bytes < size_bytes:
        while piece := pipeline.next_piece():
            wire.aim(request, *piece)
            block = content.block(*piece)
            message_id = channel.send(request, block, charge=charge(piece[1]) if is_multi_credit else 1)
            pipeline.note_sent(message_id, piece)

        response = channel.receive()
        piece = pipeline.take_answer(response.message_id, response.status)
        pipeline.note_moved(piece, wire.written_bytes(response.message))
        meter.advance(channel.handed_bytes - handed_before)
    return meter.clock() - started_at


FLUSH_TIMEOUTS = 10
"""A server may take this many times ``--timeout`` to flush a file: gigabytes may wait for its disk, and none move."""


def flush_file(channel: Channel, tree_id: int, file: wire.OpenedFile, meter: Meter) -> float:
    """Seconds until the server has answered. Raises the error that it answered, or StalledError."""
    started_at = meter.clock()
    usual_seconds = channel.stall.seconds
    channel.stall.seconds = FLUSH_TIMEOUTS * usual_seconds
    try:
        answer = channel.ask(wire.frame(*wire.flush(file.file_id), tree_id))
    finally:
        channel.stall.seconds = usual_seconds
    if answer.status != wire.SUCCESS:
        raise channel.refusal(answer.status)
    return meter.clock() - started_at


def timed_transfer(
    share: Share,
    open_file: Callable[[], wire.OpenedFile],
    move: Callable[[wire.OpenedFile], float],
    put_bytes: int | None = None,
) -> Transfer:
    """Open the file, move it and close it, each timed; ``move`` returns its own seconds.

    After a put of ``put_bytes`` the file must have that size: a request altered in transit is acknowledged as well.
    """
    channel = share.channel
    opening_at = time.perf_counter()
    file = open_file()
    open_seconds = time.perf_counter() - opening_at

    tcp_before = TcpInfo.of_socket(channel.sock)
    try:
        seconds = move(file)
    except BaseException as error:
        # What follows moves no bytes of the file that anybody counts.
        channel.watch = frame_socket.watch_nothing
        # A refusal, for example, leaves the connection in order. Not so an interruption, or answers still to come.
        is_in_order = not channel.outstanding and not channel.broken
        if is_in_order and isinstance(error, MeasurementError):
            share.close(file)
        else:
            channel.shut()
        raise
    tcp_after = TcpInfo.of_socket(channel.sock)

    closing_at = time.perf_counter()
    stored_bytes = share.close(file)
    close_seconds = time.perf_counter() - closing_at
    is_known = put_bytes is not None and stored_bytes is not None
    if is_known and stored_bytes != put_bytes:
        raise CorruptedError(
            f"{channel.where}: the server has {stored_bytes} bytes of the {put_bytes} that it acknowledged; look for "
            "what is in between"
        )
    return Transfer(
        size_bytes=file.size_bytes if put_bytes is None else put_bytes,
        seconds=seconds,
        open_seconds=open_seconds,
        close_seconds=close_seconds,
        traffic=tcp_after and tcp_after.since(tcp_before),
    )
