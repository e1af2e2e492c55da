"""One user's file operations over SMB: single requests rather than a pipeline, for a thousand users in a process.

SMB counts credits: a request costs one for each 64 KiB that it moves (its *charge*), and answers grant new ones. What
would cost more than the server has granted is asked for in smaller pieces.
"""

from collections.abc import Iterable
from dataclasses import replace

from app.base.errors import ElsewhereError, ProtocolError
from app.clients import base
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.connection import ChannelConnection
from app.clients.smb.file_mover import (
    ACCESS_AND_DISPOSITION,
    COMPOUND_BYTES,
    RELATED_REQUESTS,
    FileMover,
    affordable_bytes,
    request_charge,
)
from app.clients.smb.imitation import with_files_imitated
from app.clients.smb.link import SMBLink
from app.clients.smb.share import Share
from storage.plan import Settings
from storage.records import Target

DEFAULT_BLOCK_BYTES = 1024 * 1024
"""Size of one READ or WRITE, as mount.cifs and Windows use; smaller files use their own size."""
_OVERHEAD_BYTES = 256
"""More than the headers of an answer that carries data."""
_CREDITS = 64
"""Asked for by each of the users, of whom a server may have a thousand."""


class SMBFiles(SMBLink):
    """A user's connection (``Files``); a request by path opens, asks and closes in one compound.

    :class:`SMBLink` calls ``_dial`` for a new connection, and ``_prepare`` when it is logged in.
    """

    has_handles = True
    _read_bytes = wire.CREDIT_BYTES
    _write_bytes = wire.CREDIT_BYTES
    """The most that one request moves; set at the login."""

    def __init__(self, target: Target, secrets: base.Secrets, settings: Settings) -> None:
        super().__init__(target, secrets, with_files_imitated(settings))
        self._root = wire.place(replace(target, path=""))

    def connect(self) -> None:
        self.connected_share()

    @property
    def is_printer(self) -> bool:
        return self.connected_share().is_printer

    def open(self, path: str, mode: base.OpenMode = base.OpenMode.READ) -> base.FileHandle:
        access, disposition = ACCESS_AND_DISPOSITION[mode]
        file = self._share_at(path).open(path, access, disposition, wire.OPTION_NOT_A_FOLDER)
        return base.FileHandle(path, file.size_bytes, file.is_folder, file.file_id)

    def read_at(self, handle: base.FileHandle, offset: int, length: int) -> int:
        share = self._share_at(handle.path)
        channel = share.channel
        end = offset + length
        position = offset
        while position < end:
            asked_bytes = affordable_bytes(channel, min(end - position, self._read_bytes))
            request = wire.frame(*wire.read(handle.token, position, asked_bytes), share.tree_id)
            channel.reserve(asked_bytes + _OVERHEAD_BYTES)
            response = channel.ask(request, charge=request_charge(channel, asked_bytes))
            if response.status == wire.END_OF_FILE:
                break

            data = wire.read_data(share.require_success(response).message)
            if not data or len(data) > asked_bytes:
                raise share.cut_off()
            position += len(data)
        return position - offset

    def write_at(self, handle: base.FileHandle, offset: int, data: memoryview) -> None:
        share = self._share_at(handle.path)
        channel = share.channel
        done_bytes = 0
        while done_bytes < len(data):
            length = affordable_bytes(channel, min(len(data) - done_bytes, self._write_bytes))
            piece = data[done_bytes : done_bytes + length]
            request = wire.frame(*wire.write(handle.token, offset + done_bytes, length), share.tree_id)
            channel.stall.start()
            message_id = channel.send(request, piece, charge=request_charge(channel, length))

            written_bytes = wire.written_bytes(share.require_success(channel.receive_for(message_id)).message)
            if not 0 < written_bytes <= length:
                raise channel.fail(ProtocolError, "the server wrote nothing; see its log")
            done_bytes += written_bytes

    def flush(self, handle: base.FileHandle) -> None:
        self._share_at(handle.path).ask(wire.flush(handle.token))

    def close_file(self, handle: base.FileHandle) -> None:
        self._share_at(handle.path).close(wire.OpenedFile(handle.token, handle.size_bytes, handle.is_folder))

    def query(self, path: str) -> base.FileStatus:
        # Ours: smbclient-ng's path_isdir and path_isfile take every error for "no", and loads time it.
        share = self._share_at(path)
        try:
            answer = self._ask_about(share, path, wire.query(wire.SAME_FILE, wire.STANDARD_INFORMATION))
        except ElsewhereError as error:
            raise self._with_its_target(error, path) from error
        state = wire.parse_state(answer)
        if state is None:
            raise ProtocolError(f"{share.channel.where}: the server's answer is cut off; see its log")
        size_bytes, is_folder = state
        return base.FileStatus(size_bytes=size_bytes, is_folder=is_folder)

    def free_bytes(self, path: str) -> int | None:
        query = wire.query(wire.SAME_FILE, wire.FULL_SIZE_INFORMATION, wire.FILE_SYSTEM)
        return wire.parse_free_bytes(self._ask_about(self._share_at(path), path, query))

    def rename(self, path: str, new_path: str) -> None:
        request = wire.rename(wire.SAME_FILE, wire.wire_name(new_path).encode("utf-16-le"))
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
        if not 0 < size_bytes <= wire.CREDIT_BYTES or share.channel.credits < RELATED_REQUESTS:
            handle = self.open(path)
            try:
                return self.read_at(handle, 0, size_bytes)
            finally:
                self._close_after(handle)

        access, disposition = ACCESS_AND_DISPOSITION[base.OpenMode.READ]
        share.channel.reserve(size_bytes + COMPOUND_BYTES)
        read = wire.read(wire.SAME_FILE, 0, size_bytes)
        _opened, (status, message), _closed = share.together(
            path, access, read, disposition=disposition, options=wire.OPTION_NOT_A_FOLDER
        )
        if status == wire.END_OF_FILE:  # the file is empty by now
            return 0

        data = wire.read_data(message)
        if data is None:
            raise ProtocolError(f"{share.channel.where}: the server's answer is cut off; see its log")
        return len(data)

    def write_file(self, path: str, data: memoryview, mode: base.OpenMode = base.OpenMode.CREATE) -> None:
        share = self._share_at(path)
        if not 0 < len(data) <= wire.CREDIT_BYTES or share.channel.credits < RELATED_REQUESTS:
            handle = self.open(path, mode)
            try:
                self.write_at(handle, 0, data)
            finally:
                self._close_after(handle)
            return

        access, disposition = ACCESS_AND_DISPOSITION[mode]
        command, body = wire.write(wire.SAME_FILE, 0, len(data))
        write = command, b"".join((body, data))
        _opened, (_success, message), _closed = share.together(
            path, access, write, disposition=disposition, options=wire.OPTION_NOT_A_FOLDER
        )
        if wire.written_bytes(message) != len(data):
            raise ProtocolError(f"{share.channel.where}: the server wrote less than it was given; see its log")

    def move_files(self, files: Iterable[base.FileMove], moved: base.Moved) -> None:
        """Raises the first error once every file that was opened is closed."""
        channel = self.connected_share().channel
        FileMover(self._share_at, channel, self._read_bytes, self._write_bytes, self._settings).move(files, moved)

    def _dial(self, where: str) -> Channel:
        channel = super()._dial(where)
        channel.wanted_credits = _CREDITS
        return channel

    def _prepare(self, connection: ChannelConnection) -> None:
        negotiated = connection.negotiated
        assert negotiated is not None
        block_bytes = self._settings.block_bytes or DEFAULT_BLOCK_BYTES
        if not negotiated.multi_credit:
            block_bytes = min(block_bytes, wire.CREDIT_BYTES)
        self._read_bytes = min(block_bytes, negotiated.max_read_bytes)
        self._write_bytes = min(block_bytes, negotiated.max_write_bytes)

    def _share_at(self, path: str) -> Share:
        """The share, whose errors name the path from now on."""
        share = self.connected_share()
        share.channel.where = f"{self._root}/{path.strip('/')}"
        return share

    def _close_after(self, handle: base.FileHandle) -> None:
        """Close the file, unless the connection failed, which closed it already."""
        if self._link is not None and not self._link.channel.broken:
            self.close_file(handle)

    @staticmethod
    def _ask_about(share: Share, path: str, request: wire.Request, access: int = wire.ACCESS_ATTRIBUTES) -> memoryview:
        """The answer to a request about ``SAME_FILE``, which is the file at the path; valid until the next request."""
        _opened, (_success, message), _closed = share.together(path, access, request)
        return message
