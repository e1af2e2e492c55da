"""Moves many whole files over one share, several at a time, as users with folders full of small files do.

A file of at most one credit (64 KiB) is opened, read or written, and closed in one compound request where the server
allows that; a larger one is opened, moved in several requests, and closed.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from app.base.errors import ProtocolError
from app.clients.base import FileMove, Moved, OpenMode
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.share import Share, opening
from app.clients.smb.transfer import DEFAULT_IN_FLIGHT, charge
from storage.plan import Settings

COMPOUND_BYTES = 512
"""Room for all of an answer that is no data, also of three in one frame."""
RELATED_REQUESTS = 3
"""In the compound of a small file: open, read or write, close."""
ACCESS_AND_DISPOSITION = {
    OpenMode.READ: (wire.ACCESS_READ, wire.DISPOSITION_OPEN),
    OpenMode.UPDATE: (wire.ACCESS_READ_WRITE, wire.DISPOSITION_OPEN),
    OpenMode.CREATE: (wire.ACCESS_READ_WRITE, wire.DISPOSITION_CREATE),
    OpenMode.REPLACE: (wire.ACCESS_READ_WRITE, wire.DISPOSITION_REPLACE),
}


def affordable_bytes(channel: Channel, length: int) -> int:
    """How much of that length the credits allow to ask for now. Raises ProtocolError where they allow nothing."""
    if channel.credits < 1:
        raise channel.fail(ProtocolError, "the server grants no credits, so nothing may be asked; see its log")
    return min(length, channel.credits * wire.CREDIT_BYTES)


def request_charge(channel: Channel, length: int) -> int:
    """The credits that a request for that many bytes takes."""
    return charge(length) if channel.multi_credit else 1


@dataclass(slots=True)
class _Moving:
    """A file that is being moved, while others are."""

    file: FileMove
    is_ended: bool
    """All of it was moved, or nothing more can be."""
    awaited_answers: int = 0
    """To the requests about it that are under way."""
    moved_bytes: int = 0
    file_id: bytes = b""
    """Once it is open, until it is closed."""
    is_flushed: bool = False
    """Whether the server was asked to flush it."""

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is asked about it: no answer is awaited, and it is not open (any more)."""
        return not self.awaited_answers and not self.file_id


class FileMover:
    """Used once, for one call of ``move``.

    ``share_at`` gives the connected share, and has its errors name the path. ``read_bytes`` and ``write_bytes`` are the
    most that one request moves.
    """

    def __init__(
        self, share_at: Callable[[str], Share], channel: Channel, read_bytes: int, write_bytes: int, settings: Settings
    ) -> None:
        self._share_at = share_at
        self._channel = channel
        self._read_bytes = read_bytes
        self._write_bytes = write_bytes
        self._settings = settings

        self._depth = settings.in_flight or DEFAULT_IN_FLIGHT
        """How many files are moved at a time."""
        self._under_way = 0
        """How many are."""
        self._ready: deque[_Moving] = deque()
        """The files under way whose next request can be sent."""
        self._by_message_id: dict[int, _Moving] = {}
        """The files whose answers are awaited, by the requests' ids."""
        self._failures: list[Exception] = []

    def move(self, files: Iterable[FileMove], moved: Moved) -> None:
        """Calls ``moved`` for each file that was moved and closed.

        After a failure no further file is begun. Raises the first error once every file that was opened is closed.
        """
        files_to_come = iter(files)
        while True:
            self._begin_files(files_to_come)
            self._send_requests()
            if not self._by_message_id:
                break
            self._take_next_answer(moved)
        if self._failures:
            raise self._failures[0]

    def _begin_files(self, files_to_come: Iterator[FileMove]) -> None:
        while not self._failures and self._under_way < self._depth:
            file = next(files_to_come, None)
            if file is None:
                return
            self._ready.append(_Moving(file, is_ended=not file.size_bytes))
            self._under_way += 1

    def _send_requests(self) -> None:
        # With fewer credits than a compound takes, an answer that grants more is awaited first, if one is under way.
        while self._ready and (self._channel.credits >= RELATED_REQUESTS or not self._by_message_id):
            moving = self._ready.popleft()
            for message_id in self._send_next(moving):
                self._by_message_id[message_id] = moving

    def _take_next_answer(self, moved: Moved) -> None:
        self._channel.stall.start()
        response = self._channel.receive()
        moving = self._by_message_id.pop(response.message_id)
        moving.awaited_answers -= 1
        try:
            self._take_answer(moving, response)
            if moving.is_closed:
                moved(moving.file, moving.moved_bytes)
        except Exception as error:
            if self._channel.broken:
                raise
            # Only this file has failed: it is closed if it is open, and the others under way are moved to their end.
            self._failures.append(error)
            moving.is_ended = True

        if moving.is_closed:
            self._under_way -= 1
        elif not moving.awaited_answers:
            self._ready.append(moving)
        # Else further answers of its compound are still to come.

    def _send_next(self, moving: _Moving) -> list[int]:
        """Send what follows for the file, everything in one compound if possible; returns the message ids."""
        path, size_bytes, data = moving.file
        share = self._share_at(path)
        channel = share.channel
        most_bytes = self._read_bytes if data is None else self._write_bytes
        length = affordable_bytes(channel, min(size_bytes - moving.moved_bytes, most_bytes))
        channel.reserve(length + COMPOUND_BYTES)  # allows an answer of that size

        if not moving.file_id:
            return self._send_open(share, moving, length)

        is_whole = moving.moved_bytes == size_bytes
        if is_whole and self._flushes(moving) and not moving.is_flushed:
            moving.is_flushed = True
            return _send_single(share, moving, wire.flush(moving.file_id))
        if moving.is_ended:
            file_id = moving.file_id
            moving.file_id = b""
            return _send_single(share, moving, wire.close(file_id))

        start = moving.moved_bytes
        if data is None:
            return _send_single(share, moving, wire.read(moving.file_id, start, length), length)
        request = wire.write(moving.file_id, start, length)
        return _send_single(share, moving, request, length, data[start : start + length])

    def _send_open(self, share: Share, moving: _Moving, length: int) -> list[int]:
        """Open the file, together with all else if it is one piece of at most a credit."""
        path, size_bytes, data = moving.file
        channel = share.channel
        access, disposition = ACCESS_AND_DISPOSITION[OpenMode.READ if data is None else OpenMode.CREATE]
        create = opening(path, access, disposition, wire.OPTION_NOT_A_FOLDER)

        is_one_piece = 0 < size_bytes == length <= wire.CREDIT_BYTES
        fits_in_compound = is_one_piece and channel.credits >= RELATED_REQUESTS
        # Samba before 4.17.1 fails a flush in a compound that its disk does not finish at once.
        if share.single_requests or not fits_in_compound or self._flushes(moving):
            return _send_single(share, moving, create)

        if data is None:
            move = wire.read(wire.SAME_FILE, 0, length)
        else:
            command, body = wire.write(wire.SAME_FILE, 0, length)
            move = command, b"".join((body, data[:length]))
        moving.awaited_answers = RELATED_REQUESTS
        requests = create, move, wire.close(wire.SAME_FILE)
        return channel.send_related([wire.frame(*request, share.tree_id) for request in requests])

    def _flushes(self, moving: _Moving) -> bool:
        return self._settings.flush and moving.file.data is not None

    def _take_answer(self, moving: _Moving, response: wire.Response) -> None:
        """Note in ``moving`` what an answer brought. Raises the error for a refusal."""
        share = self._share_at(moving.file.path)
        allowed_statuses = (wire.END_OF_FILE,) if response.command == wire.Opcode.READ else ()
        share.require_success(response, allowed_statuses)

        if response.command == wire.Opcode.CREATE:
            opened = wire.parse_created(response.message)
            if opened is None:
                raise share.cut_off()
            moving.file_id = opened.file_id
        elif response.command == wire.Opcode.CLOSE:
            moving.file_id = b""
        elif response.command == wire.Opcode.FLUSH:
            return
        elif response.status == wire.END_OF_FILE:
            moving.is_ended = True
        else:
            # A READ or a WRITE that moved something, be it a part of what was asked for.
            moved_bytes = _moved_bytes(response, moving.file)
            if not 0 < moved_bytes <= moving.file.size_bytes - moving.moved_bytes:
                raise share.cut_off()
            moving.moved_bytes += moved_bytes
            moving.is_ended = moving.moved_bytes == moving.file.size_bytes


def _send_single(
    share: Share, moving: _Moving, request: wire.Request, length: int = 0, payload: wire.View = b""
) -> list[int]:
    moving.awaited_answers = 1
    message = wire.frame(*request, share.tree_id)
    return [share.channel.send(message, payload, charge=request_charge(share.channel, length))]


def _moved_bytes(response: wire.Response, file: FileMove) -> int:
    if file.data is not None:
        return wire.written_bytes(response.message)
    return len(wire.read_data(response.message) or b"")
