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
from app.clients.smb.wire import CREDIT_BYTES, END_OF_FILE, SAME_FILE, SUCCESS, OpenedFile, Request, Response, place
from storage.plan import Settings
from storage.records import Target

DEFAULT_BLOCK_BYTES = 1024 * 1024
"""Size of one READ or WRITE, as mount.cifs and Windows use; smaller files use their own size."""
_OVERHEAD_BYTES, _COMPOUND_BYTES = 256, 512
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
    file: FileMove
    ended: bool
    """All of it was moved, or nothing more can be."""
    answers: int = 0
    at: int = 0
    file_id: bytes = b""
    """Once it is open, until it is closed."""


class SMBFiles(SMBLink):
    """Single requests on a share; open, operation and close form one compound request."""

    has_handles = True
    _read_bytes = _write_bytes = CREDIT_BYTES

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
        file = self._at(path).open(path, access, disposition, wire.OPTION_NOT_A_FOLDER)
        return FileHandle(path, file.size_bytes, file.is_folder, file.file_id)

    def read_at(self, handle: FileHandle, offset: int, length: int) -> int:
        share = self._at(handle.path)
        channel, end, at = share.channel, offset + length, offset
        while at < end:
            asked = self._piece(channel, min(end - at, self._read_bytes))
            request = wire.frame(*wire.read(handle.token, at, asked), share.tree_id)
            channel.reserve(asked + _OVERHEAD_BYTES)
            response = channel.ask(request, charge=_cost(channel, asked))
            if response.status == END_OF_FILE:
                break
            data = wire.read_data(share.sound(response).message)
            if not data or len(data) > asked:
                raise share.cut_off()
            at += len(data)
        return at - offset

    def write_at(self, handle: FileHandle, offset: int, data: memoryview) -> None:
        share, done = self._at(handle.path), 0
        channel = share.channel
        while done < len(data):
            piece = data[done : done + self._piece(channel, min(len(data) - done, self._write_bytes))]
            request = wire.frame(*wire.write(handle.token, offset + done, len(piece)), share.tree_id)
            channel.stall.start()
            message_id = channel.send(request, piece, charge=_cost(channel, len(piece)))
            written = wire.written_bytes(share.sound(channel.receive_for(message_id)).message)
            if not 0 < written <= len(piece):
                raise channel.fail(ProtocolError, "the server wrote nothing; see its log")
            done += written

    def flush(self, handle: FileHandle) -> None:
        self._at(handle.path).ask(wire.flush(handle.token))

    def close_file(self, handle: FileHandle) -> None:
        self._at(handle.path).close(OpenedFile(handle.token, handle.size_bytes, handle.is_folder))

    def query(self, path: str) -> FileStatus:
        share = self._at(path)
        state = wire.parse_state(self._about(share, path, wire.query(SAME_FILE, wire.STANDARD_INFORMATION)))
        if state is None:
            raise ProtocolError(f"{share.channel.where}: the server's answer is cut off; see its log")
        return FileStatus(size_bytes=state[0], is_folder=state[1])

    def free_bytes(self, path: str) -> int | None:
        asked = wire.query(SAME_FILE, wire.FULL_SIZE_INFORMATION, wire.FILE_SYSTEM)
        return wire.parse_free_bytes(self._about(self._at(path), path, asked))

    def rename(self, path: str, new_path: str) -> None:
        renamed = wire.rename(SAME_FILE, wire.wire_name(new_path).encode("utf-16-le"))
        self._about(self._at(path), path, renamed, wire.ACCESS_DELETE)

    def make_folder(self, path: str) -> None:
        # Ours: smbclient-ng's mkdir says nothing where the name is taken, and the puts of trees time it.
        self._at(path).together(
            path, wire.ACCESS_LIST, disposition=wire.DISPOSITION_CREATE, options=wire.OPTION_A_FOLDER
        )

    def remove_folder(self, path: str) -> None:
        where = self._at(path).channel.where
        self._linked().session.remove_folder(self.target.share or "", path, where)

    def read_file(self, path: str, size_bytes: int) -> int:
        share = self._at(path)
        if not 0 < size_bytes <= CREDIT_BYTES or share.channel.credits < _RELATED_REQUESTS:
            handle = self.open(path)
            try:
                return self.read_at(handle, 0, size_bytes)
            finally:
                self._close_after(handle)
        access, disposition = _MODES[OpenMode.READ]
        share.channel.reserve(size_bytes + _COMPOUND_BYTES)
        status, message = share.together(
            path, access, wire.read(SAME_FILE, 0, size_bytes), disposition=disposition,
            options=wire.OPTION_NOT_A_FOLDER,
        )[1]  # fmt: skip
        data = wire.read_data(message) if status == SUCCESS else b""
        if data is None:
            raise ProtocolError(f"{share.channel.where}: the server's answer is cut off; see its log")
        return len(data)

    def write_file(self, path: str, data: memoryview, mode: OpenMode = OpenMode.CREATE) -> None:
        share = self._at(path)
        if not 0 < len(data) <= CREDIT_BYTES or share.channel.credits < _RELATED_REQUESTS:
            handle = self.open(path, mode)
            try:
                self.write_at(handle, 0, data)
            finally:
                self._close_after(handle)
            return
        access, disposition = _MODES[mode]
        command, body = wire.write(SAME_FILE, 0, len(data))
        answer = share.together(
            path, access, (command, b"".join((body, data))), disposition=disposition, options=wire.OPTION_NOT_A_FOLDER
        )[1]
        if wire.written_bytes(answer[1]) != len(data):
            raise ProtocolError(f"{share.channel.where}: the server wrote less than it was given; see its log")

    def move_files(self, files: Iterable[FileMove], moved: Moved) -> None:
        """Raises the first error once every file that was opened is closed."""
        share, coming, waiting, ready = self.connected_share(), iter(files), dict[int, _Moving](), deque[_Moving]()
        channel, depth = share.channel, self._settings.in_flight or DEFAULT_IN_FLIGHT
        under_way, failure = 0, list[Exception]()
        while True:
            while not failure and under_way < depth and (file := next(coming, None)) is not None:
                ready.append(_Moving(file, ended=not file.size_bytes))
                under_way += 1
            while ready and (channel.credits >= _RELATED_REQUESTS or not waiting):
                one = ready.popleft()
                waiting |= dict.fromkeys(self._ask_next(one), one)
            if not waiting:
                break
            channel.stall.start()
            response = channel.receive()
            one = waiting.pop(response.message_id)
            one.answers -= 1
            try:
                self._take(one, response)
                if not one.answers and not one.file_id:
                    moved(one.file, one.at)
            except Exception as error:
                if channel.broken:
                    raise
                failure.append(error)
                one.ended = True
            if not one.answers:
                if one.file_id:
                    ready.append(one)
                else:
                    under_way -= 1
        if failure:
            raise failure[0]

    def _ask_next(self, one: _Moving) -> list[int]:
        """The ids of what follows: everything in one compound if possible."""
        share, (path, size_bytes, data) = self._at(one.file.path), one.file
        channel, most = share.channel, self._read_bytes if data is None else self._write_bytes
        piece = self._piece(channel, min(size_bytes - one.at, most))
        payload = b"" if data is None else data[one.at : one.at + piece]
        move = (wire.read if data is None else wire.write)(one.file_id or SAME_FILE, one.at, piece)
        channel.reserve(piece + _COMPOUND_BYTES)
        if not one.file_id:
            mode = OpenMode.READ if data is None else OpenMode.CREATE
            create = opening(path, *_MODES[mode], wire.OPTION_NOT_A_FOLDER)
            is_whole = 0 < size_bytes == piece <= CREDIT_BYTES and channel.credits >= _RELATED_REQUESTS
            if is_whole and not share.single_requests:
                one.answers, moving = _RELATED_REQUESTS, (move[0], b"".join((move[1], payload)))
                requests = create, moving, wire.close(SAME_FILE)
                return channel.send_related([wire.frame(*request, share.tree_id) for request in requests])
            request, payload, piece = create, b"", 0
        elif one.ended:
            request, one.file_id, payload, piece = wire.close(one.file_id), b"", b"", 0
        else:
            request = move
        one.answers = 1
        return [channel.send(wire.frame(*request, share.tree_id), payload, charge=_cost(channel, piece))]

    def _take(self, one: _Moving, response: Response) -> None:
        share = self._at(one.file.path)
        share.sound(response, (END_OF_FILE,) if response.command == wire.Opcode.READ else ())
        if response.command == wire.Opcode.CREATE:
            opened = wire.parse_created(response.message)
            if opened is None:
                raise share.cut_off()
            one.file_id = opened.file_id
        elif response.command == wire.Opcode.CLOSE:
            one.file_id = b""
        elif response.status == END_OF_FILE:
            one.ended = True
        else:
            data = wire.read_data(response.message) if one.file.data is None else None
            count = len(data or b"") if one.file.data is None else wire.written_bytes(response.message)
            if not 0 < count <= one.file.size_bytes - one.at:
                raise share.cut_off()
            one.at += count
            one.ended = one.at == one.file.size_bytes

    def _dial(self, where: str) -> Channel:
        channel = super()._dial(where)
        channel.wanted_credits = _CREDITS
        return channel

    def _prepare(self, connection: ChannelConnection) -> None:
        found = connection.negotiated
        assert found is not None
        block = self._settings.block_bytes or DEFAULT_BLOCK_BYTES
        largest = block if found.multi_credit else min(block, CREDIT_BYTES)
        self._read_bytes = min(largest, found.max_read_bytes)
        self._write_bytes = min(largest, found.max_write_bytes)

    def _at(self, path: str) -> Share:
        share = self.connected_share()
        share.channel.where = f"{self._root}/{path.strip('/')}"
        return share

    @staticmethod
    def _piece(channel: Channel, length: int) -> int:
        if channel.credits < 1:
            raise channel.fail(ProtocolError, "the server grants no credits, so nothing may be asked; see its log")
        return min(length, channel.credits * CREDIT_BYTES)

    def _close_after(self, handle: FileHandle) -> None:
        """If the connection failed, the file is closed already."""
        if self._link is not None and not self._link.channel.broken:
            self.close_file(handle)

    @staticmethod
    def _about(share: Share, path: str, request: Request, access: int = wire.ACCESS_ATTRIBUTES) -> memoryview:
        return share.together(path, access, request)[1][1]


def _cost(channel: Channel, length: int) -> int:
    return charge(length) if channel.multi_credit else 1
