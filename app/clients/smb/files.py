"""One user's file operations over SMB, light enough for a thousand users in a process."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.base.errors import ProtocolError
from app.clients.base import FileHandle, FileMove, FileStatus, Moved, OpenMode, Secrets
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.client import SMBLink
from app.clients.smb.connection import ChannelConnection
from app.clients.smb.share import DEFAULT_IN_FLIGHT, Share, charge, opening
from app.clients.smb.wire import (
    CREDIT_BYTES,
    END_OF_FILE,
    SAME_FILE,
    SUCCESS,
    OpenedFile,
    Request,
    Response,
    View,
    place,
)
from storage.plan import Settings
from storage.records import Target

DEFAULT_BLOCK_BYTES = 1024 * 1024
"""Size of one READ or WRITE, as mount.cifs and Windows use; smaller files use their own size."""
_OVERHEAD_BYTES = 256
_COMPOUND_BYTES = 512
"""Room for all of an answer that is no data, also of three in one frame."""
_CREDITS = 64
_RELATED_REQUESTS = 3
_MODES = {
    OpenMode.READ: (wire.ACCESS_READ, wire.DISPOSITION_OPEN),
    OpenMode.UPDATE: (wire.ACCESS_READ_WRITE, wire.DISPOSITION_OPEN),
    OpenMode.CREATE: (wire.ACCESS_READ_WRITE, wire.DISPOSITION_CREATE),
    OpenMode.REPLACE: (wire.ACCESS_READ_WRITE, wire.DISPOSITION_REPLACE),
}


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


class SMBFiles(SMBLink):
    """Single requests on a share; open, operation and close form one compound request."""

    has_handles = True
    _read_bytes = CREDIT_BYTES
    _write_bytes = CREDIT_BYTES

    def __init__(self, target: Target, secrets: Secrets, settings: Settings) -> None:
        super().__init__(target, secrets, settings)
        self._root = place(replace(target, path=""))

    def connect(self) -> None:
        self.connected_share()

    @property
    def is_printer(self) -> bool:
        return self.connected_share().is_printer

    def open(self, path: str, mode: OpenMode = OpenMode.READ) -> FileHandle:
        access, disposition = _MODES[mode]
        file = self._share_at(path).open(path, access, disposition, wire.OPTION_NOT_A_FOLDER)
        return FileHandle(path, file.size_bytes, file.is_folder, file.file_id)

    def read_at(self, handle: FileHandle, offset: int, length: int) -> int:
        share = self._share_at(handle.path)
        channel = share.channel
        end = offset + length
        position = offset
        while position < end:
            asked_bytes = self._affordable(channel, min(end - position, self._read_bytes))
            request = wire.frame(*wire.read(handle.token, position, asked_bytes), share.tree_id)
            channel.reserve(asked_bytes + _OVERHEAD_BYTES)
            response = channel.ask(request, charge=_cost(channel, asked_bytes))
            if response.status == END_OF_FILE:
                break

            data = wire.read_data(share.sound(response).message)
            if not data or len(data) > asked_bytes:
                raise share.cut_off()
            position += len(data)
        return position - offset

    def write_at(self, handle: FileHandle, offset: int, data: memoryview) -> None:
        share = self._share_at(handle.path)
        channel = share.channel
        done_bytes = 0
        while done_bytes < len(data):
            length = self._affordable(channel, min(len(data) - done_bytes, self._write_bytes))
            piece = data[done_bytes : done_bytes + length]
            request = wire.frame(*wire.write(handle.token, offset + done_bytes, length), share.tree_id)
            channel.stall.start()
            message_id = channel.send(request, piece, charge=_cost(channel, length))

            written_bytes = wire.written_bytes(share.sound(channel.receive_for(message_id)).message)
            if not 0 < written_bytes <= length:
                raise channel.fail(ProtocolError, "the server wrote nothing; see its log")
            done_bytes += written_bytes

    def flush(self, handle: FileHandle) -> None:
        self._share_at(handle.path).ask(wire.flush(handle.token))

    def close_file(self, handle: FileHandle) -> None:
        self._share_at(handle.path).close(OpenedFile(handle.token, handle.size_bytes, handle.is_folder))

    def query(self, path: str) -> FileStatus:
        # Ours: smbclient-ng's path_isdir and path_isfile take every error for "no", and loads time it.
        share = self._share_at(path)
        state = wire.parse_state(self._ask_about(share, path, wire.query(SAME_FILE, wire.STANDARD_INFORMATION)))
        if state is None:
            raise ProtocolError(f"{share.channel.where}: the server's answer is cut off; see its log")
        size_bytes, is_folder = state
        return FileStatus(size_bytes=size_bytes, is_folder=is_folder)

    def free_bytes(self, path: str) -> int | None:
        query = wire.query(SAME_FILE, wire.FULL_SIZE_INFORMATION, wire.FILE_SYSTEM)
        return wire.parse_free_bytes(self._ask_about(self._share_at(path), path, query))

    def rename(self, path: str, new_path: str) -> None:
        request = wire.rename(SAME_FILE, wire.wire_name(new_path).encode("utf-16-le"))
        self._ask_about(self._share_at(path), path, request, wire.ACCESS_DELETE)

    def make_folder(self, path: str) -> None:
        # Ours: smbclient-ng's mkdir says nothing where the name is taken, and the puts of trees time it.
        self._share_at(path).together(
            path, wire.ACCESS_LIST, disposition=wire.DISPOSITION_CREATE, options=wire.OPTION_A_FOLDER
        )

    def remove_folder(self, path: str) -> None:
        where = self._share_at(path).channel.where
        self._linked().session.remove_folder(self.target.share or "", path, where)

    def read_file(self, path: str, size_bytes: int) -> int:
        share = self._share_at(path)
        if not 0 < size_bytes <= CREDIT_BYTES or share.channel.credits < _RELATED_REQUESTS:
            handle = self.open(path)
            try:
                return self.read_at(handle, 0, size_bytes)
            finally:
                self._close_after(handle)

        access, disposition = _MODES[OpenMode.READ]
        share.channel.reserve(size_bytes + _COMPOUND_BYTES)
        answers = share.together(
            path,
            access,
            wire.read(SAME_FILE, 0, size_bytes),
            disposition=disposition,
            options=wire.OPTION_NOT_A_FOLDER,
        )
        status, message = answers[1]
        data = wire.read_data(message) if status == SUCCESS else b""
        if data is None:
            raise ProtocolError(f"{share.channel.where}: the server's answer is cut off; see its log")
        return len(data)

    def write_file(self, path: str, data: memoryview, mode: OpenMode = OpenMode.CREATE) -> None:
        share = self._share_at(path)
        if not 0 < len(data) <= CREDIT_BYTES or share.channel.credits < _RELATED_REQUESTS:
            handle = self.open(path, mode)
            try:
                self.write_at(handle, 0, data)
            finally:
                self._close_after(handle)
            return

        access, disposition = _MODES[mode]
        command, body = wire.write(SAME_FILE, 0, len(data))
        write = command, b"".join((body, data))
        answers = share.together(path, access, write, disposition=disposition, options=wire.OPTION_NOT_A_FOLDER)
        _status, message = answers[1]
        if wire.written_bytes(message) != len(data):
            raise ProtocolError(f"{share.channel.where}: the server wrote less than it was given; see its log")

    def move_files(self, files: Iterable[FileMove], moved: Moved) -> None:
        """Raises the first error once every file that was opened is closed."""
        channel = self.connected_share().channel
        depth = self._settings.in_flight or DEFAULT_IN_FLIGHT
        files_to_come = iter(files)
        ready: deque[_Moving] = deque()
        by_message_id: dict[int, _Moving] = {}
        under_way = 0
        failures: list[Exception] = []
        while True:
            while not failures and under_way < depth and (file := next(files_to_come, None)) is not None:
                ready.append(_Moving(file, is_ended=not file.size_bytes))
                under_way += 1
            while ready and (channel.credits >= _RELATED_REQUESTS or not by_message_id):
                moving = ready.popleft()
                for message_id in self._ask_next(moving):
                    by_message_id[message_id] = moving
            if not by_message_id:
                break

            channel.stall.start()
            response = channel.receive()
            moving = by_message_id.pop(response.message_id)
            moving.awaited_answers -= 1
            try:
                self._take_answer(moving, response)
                if not moving.awaited_answers and not moving.file_id:
                    moved(moving.file, moving.moved_bytes)
            except Exception as error:
                if channel.broken:
                    raise
                failures.append(error)
                moving.is_ended = True

            if moving.awaited_answers:
                continue
            if moving.file_id:
                ready.append(moving)
            else:
                under_way -= 1
        if failures:
            raise failures[0]

    def _ask_next(self, moving: _Moving) -> list[int]:
        """The ids of what follows: everything in one compound if possible."""
        path, size_bytes, data = moving.file
        share = self._share_at(path)
        channel = share.channel
        most_bytes = self._read_bytes if data is None else self._write_bytes
        length = self._affordable(channel, min(size_bytes - moving.moved_bytes, most_bytes))
        channel.reserve(length + _COMPOUND_BYTES)

        if not moving.file_id:
            return self._ask_to_open(share, moving, length)
        is_whole = moving.moved_bytes == size_bytes
        if is_whole and self._flushes(moving) and not moving.is_flushed:
            moving.is_flushed = True
            return self._ask_one(share, moving, wire.flush(moving.file_id))
        if moving.is_ended:
            file_id = moving.file_id
            moving.file_id = b""
            return self._ask_one(share, moving, wire.close(file_id))
        if data is None:
            return self._ask_one(share, moving, wire.read(moving.file_id, moving.moved_bytes, length), length)
        request = wire.write(moving.file_id, moving.moved_bytes, length)
        return self._ask_one(share, moving, request, length, data[moving.moved_bytes : moving.moved_bytes + length])

    def _ask_to_open(self, share: Share, moving: _Moving, length: int) -> list[int]:
        """Together with all else if the file is one piece of at most a credit."""
        path, size_bytes, data = moving.file
        channel = share.channel
        access, disposition = _MODES[OpenMode.READ if data is None else OpenMode.CREATE]
        create = opening(path, access, disposition, wire.OPTION_NOT_A_FOLDER)

        is_whole = 0 < size_bytes == length <= CREDIT_BYTES and channel.credits >= _RELATED_REQUESTS
        # Samba before 4.17.1 fails a flush in a compound that its disk does not finish at once.
        if share.single_requests or not is_whole or self._flushes(moving):
            return self._ask_one(share, moving, create)

        if data is None:
            move = wire.read(SAME_FILE, 0, length)
        else:
            command, body = wire.write(SAME_FILE, 0, length)
            move = command, b"".join((body, data[:length]))
        moving.awaited_answers = _RELATED_REQUESTS
        requests = create, move, wire.close(SAME_FILE)
        return channel.send_related([wire.frame(*request, share.tree_id) for request in requests])

    @staticmethod
    def _ask_one(share: Share, moving: _Moving, request: Request, length: int = 0, payload: View = b"") -> list[int]:
        moving.awaited_answers = 1
        message = wire.frame(*request, share.tree_id)
        return [share.channel.send(message, payload, charge=_cost(share.channel, length))]

    def _flushes(self, moving: _Moving) -> bool:
        return self._settings.flush and moving.file.data is not None

    def _take_answer(self, moving: _Moving, response: Response) -> None:
        share = self._share_at(moving.file.path)
        share.sound(response, (END_OF_FILE,) if response.command == wire.Opcode.READ else ())

        if response.command == wire.Opcode.CREATE:
            opened = wire.parse_created(response.message)
            if opened is None:
                raise share.cut_off()
            moving.file_id = opened.file_id
        elif response.command == wire.Opcode.CLOSE:
            moving.file_id = b""
        elif response.command == wire.Opcode.FLUSH:
            return
        elif response.status == END_OF_FILE:
            moving.is_ended = True
        else:
            moved_bytes = _moved_bytes(response, moving.file)
            if not 0 < moved_bytes <= moving.file.size_bytes - moving.moved_bytes:
                raise share.cut_off()
            moving.moved_bytes += moved_bytes
            moving.is_ended = moving.moved_bytes == moving.file.size_bytes

    def _dial(self, where: str) -> Channel:
        channel = super()._dial(where)
        channel.wanted_credits = _CREDITS
        return channel

    def _prepare(self, connection: ChannelConnection) -> None:
        negotiated = connection.negotiated
        assert negotiated is not None
        block_bytes = self._settings.block_bytes or DEFAULT_BLOCK_BYTES
        if not negotiated.multi_credit:
            block_bytes = min(block_bytes, CREDIT_BYTES)
        self._read_bytes = min(block_bytes, negotiated.max_read_bytes)
        self._write_bytes = min(block_bytes, negotiated.max_write_bytes)

    def _share_at(self, path: str) -> Share:
        share = self.connected_share()
        share.channel.where = f"{self._root}/{path.strip('/')}"
        return share

    @staticmethod
    def _affordable(channel: Channel, length: int) -> int:
        if channel.credits < 1:
            raise channel.fail(ProtocolError, "the server grants no credits, so nothing may be asked; see its log")
        return min(length, channel.credits * CREDIT_BYTES)

    def _close_after(self, handle: FileHandle) -> None:
        """If the connection failed, the file is closed already."""
        if self._link is not None and not self._link.channel.broken:
            self.close_file(handle)

    @staticmethod
    def _ask_about(share: Share, path: str, request: Request, access: int = wire.ACCESS_ATTRIBUTES) -> memoryview:
        _status, message = share.together(path, access, request)[1]
        return message


def _moved_bytes(response: Response, file: FileMove) -> int:
    if file.data is not None:
        return wire.written_bytes(response.message)
    return len(wire.read_data(response.message) or b"")


def _cost(channel: Channel, length: int) -> int:
    return charge(length) if channel.multi_credit else 1
