"""One user's SMB connection and its file operations, light enough for a thousand of them in a process."""

import builtins
import contextlib
import socket
from collections.abc import Callable

from impacket import smbconnection

from app.clients.base import DirectoryEntry, FileHandle, FileStatus, OpenMode, Secrets
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.errors import END_OF_FILE, GONE, SUCCESS, place, status_error
from app.clients.smb.session import ChannelConnection, Protection, credentials, mapped, reach
from app.clients.smb.share import Share, charge, list_folder, wire_name
from app.clients.smb.wire import CREDIT_BYTES, Response
from app.errors import AccessDeniedError, CancelledError, LoginError, MeasurementError, ProtocolError, UsageError
from storage.plan import Settings
from storage.records import Target

DEFAULT_BLOCK_BYTES = 1024 * 1024
"""Of one READ or WRITE, as mount.cifs and Windows ask; smaller files take one of their own size."""
_OVERHEAD_BYTES = 256
_POLITE_SECONDS = 1.0
_CREDITS = 64
_RELATED_REQUESTS = 3
_MODES = {
    OpenMode.READ: (wire.ACCESS_READ, wire.DISPOSITION_OPEN),
    OpenMode.UPDATE: (wire.ACCESS_READ_WRITE, wire.DISPOSITION_OPEN),
    OpenMode.CREATE: (wire.ACCESS_READ_WRITE, wire.DISPOSITION_CREATE),
    OpenMode.REPLACE: (wire.ACCESS_READ_WRITE, wire.DISPOSITION_REPLACE),
}


class SMBFiles:
    """A login, a share, and single requests on it; what belongs together goes out as one compound request."""

    has_handles = True

    def __init__(self, target: Target, secrets: Secrets, settings: Settings) -> None:
        self.target = target
        self._secrets = secrets
        self._settings = settings
        self._sock: socket.socket | None = None
        self._connection: ChannelConnection | None = None
        self._share: Share | None = None
        self._read_bytes = self._write_bytes = CREDIT_BYTES
        self._aborted = False

    def connect(self) -> None:
        """Reach the server, log in and open the share; a lost connection is made again."""
        if self._share is not None and not self._share.channel.broken:
            return
        self._drop()
        if not self.target.share:
            raise UsageError(f"{place(self.target)}: which share? Name one: smb://HOST/SHARE/PATH")
        try:
            self._share = self._log_in(self.target.share)
        except MeasurementError as error:
            self._drop()
            if self._aborted:
                raise CancelledError("cancelled") from error
            raise
        except BaseException:
            self._drop()
            raise

    @property
    def dialect(self) -> str:
        """The SMB dialect; empty while not connected."""
        found = self._connection.negotiated if self._connection else None
        return wire.DIALECTS[found.dialect] if found else ""

    def open(self, path: str, mode: OpenMode = OpenMode.READ) -> FileHandle:
        access, disposition = _MODES[mode]
        return self._open(path, access, disposition, wire.OPTION_NOT_A_FOLDER)

    def read_at(self, handle: FileHandle, offset: int, length: int) -> int:
        """Read that much at that place: the bytes that came."""
        channel = self._using(handle.path).channel
        end, at = offset + length, offset
        while at < end:
            asked = self._piece(channel, min(end - at, self._read_bytes))
            request = wire.read_frame(self._shared.tree_id, handle.token)
            wire.aim_read(request, at, asked)
            channel.reserve(asked + _OVERHEAD_BYTES)
            response = channel.ask(request, charge=self._charge(channel, asked))
            if response.status == END_OF_FILE:
                break
            data = wire.read_data(_sound(response, channel))
            if not data or len(data) > asked:
                raise channel.fail(ProtocolError(f"{channel.where}: the server's answer is cut off; see its log"))
            at += len(data)
        return at - offset

    def write_at(self, handle: FileHandle, offset: int, data: memoryview) -> None:
        channel, done = self._using(handle.path).channel, 0
        while done < len(data):
            piece = data[done : done + self._piece(channel, min(len(data) - done, self._write_bytes))]
            request = wire.write_frame(self._shared.tree_id, handle.token)
            wire.aim_write(request, offset + done, len(piece))
            channel.stall.start()
            message_id = channel.send(request, piece, charge=self._charge(channel, len(piece)))
            written = wire.written_bytes(_sound(channel.receive_for(message_id), channel))
            if not 0 < written <= len(piece):
                raise channel.fail(ProtocolError(f"{channel.where}: the server wrote nothing; see its log"))
            done += written

    def flush(self, handle: FileHandle) -> None:
        """Have the server write to its disk what it holds of the file."""
        self._ask_about(handle, wire.flush_frame)

    def close_file(self, handle: FileHandle) -> None:
        self._ask_about(handle, wire.close_frame)

    def query(self, path: str) -> FileStatus:
        answers = self._about(path, wire.ACCESS_ATTRIBUTES, wire.query_state_frame)
        return _status(answers[1], self._shared.channel)

    def list(self, path: str) -> builtins.list[DirectoryEntry]:
        return list_folder(self._using(path), path)

    def free_bytes(self, path: str) -> int | None:
        """What this user may still write there."""
        answers = self._about(path, wire.ACCESS_ATTRIBUTES, wire.query_space_frame)
        return wire.parse_free_bytes(answers[1].message)

    def rename(self, path: str, new_path: str) -> None:
        """Give a file or folder another name on the same share."""
        self._about(path, wire.ACCESS_DELETE, lambda tree, file: wire.rename_frame(tree, file, wire_name(new_path)))

    def make_folder(self, path: str) -> None:
        """Make a folder; fails where there is something of that name."""
        share = self._using(path)
        request = wire.create_frame(
            share.tree_id, wire_name(path), access=wire.ACCESS_LIST, disposition=wire.DISPOSITION_CREATE,
            options=wire.OPTION_A_FOLDER,
        )  # fmt: skip
        self._together(share, [request, wire.close_frame(share.tree_id, wire.SAME_FILE)])

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder; one that is gone already is no error."""
        self._remove(path, wire.OPTION_A_FOLDER)

    def remove(self, path: str) -> None:
        """Remove a file; one that is gone already is no error."""
        self._remove(path, wire.OPTION_NOT_A_FOLDER)

    def read_file(self, path: str, size_bytes: int) -> int:
        """Open a file, read up to so much from its beginning, close it: in one request where a credit pays for it."""
        share = self._using(path)
        if not 0 < size_bytes <= CREDIT_BYTES or share.channel.credits < _RELATED_REQUESTS:
            handle = self.open(path)
            try:
                return self.read_at(handle, 0, size_bytes)
            finally:
                self._close_after(handle)
        read = wire.read_frame(share.tree_id, wire.SAME_FILE)
        wire.aim_read(read, 0, size_bytes)
        answers = self._together(
            share, [_open_request(share, path, OpenMode.READ), read, wire.close_frame(share.tree_id, wire.SAME_FILE)]
        )
        data = wire.read_data(answers[1].message) if answers[1].status == SUCCESS else b""
        if data is None:
            raise ProtocolError(f"{share.channel.where}: the server's answer is cut off; see its log")
        return len(data)

    def write_file(self, path: str, data: memoryview, mode: OpenMode = OpenMode.CREATE) -> None:
        """Open a file, write it from its beginning, and close it: in one request where a credit pays for it."""
        share = self._using(path)
        if not 0 < len(data) <= CREDIT_BYTES or share.channel.credits < _RELATED_REQUESTS:
            handle = self.open(path, mode)
            try:
                self.write_at(handle, 0, data)
            finally:
                self._close_after(handle)
            return
        write = wire.write_frame(share.tree_id, wire.SAME_FILE)
        wire.aim_write(write, 0, len(data))
        write += data
        close = wire.close_frame(share.tree_id, wire.SAME_FILE)
        answers = self._together(share, [_open_request(share, path, mode), write, close])
        if wire.written_bytes(answers[1].message) != len(data):
            raise ProtocolError(f"{share.channel.where}: the server wrote less than it was given; see its log")

    def abort(self) -> None:
        """End whatever blocks; nothing more can be done before :meth:`close`."""
        self._aborted = True
        if self._share is not None:
            self._share.channel.abort()
        elif self._sock is not None:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._connection is not None and not self._connection.channel.broken:
            stall = self._connection.channel.stall
            stall.seconds = min(stall.seconds, _POLITE_SECONDS)
            with contextlib.suppress(Exception):
                self._connection.logoff()
        self._drop()
        self._aborted = False

    def _log_in(self, share_name: str) -> Share:
        target, where = self.target, place(self.target)
        server = place(Target(protocol="smb", host=target.host, port=target.port))
        found = credentials(target, self._secrets)

        def hold(sock: socket.socket) -> None:
            self._sock = sock

        channel = Channel(reach(target, self._settings.timeout_seconds, hold), server, self._settings.timeout_seconds)
        channel.wanted_credits = _CREDITS
        protection = Protection(sign=self._settings.sign, encrypt=self._settings.encrypt)
        with channel.stage(), mapped(server):
            connection = ChannelConnection(channel.sock, channel, target.host, target.port_number, protection)
            self._connection = connection
            login = smbconnection.SMBConnection(target.host, target.host, existingConnection=connection)
            try:
                if self._secrets.kerberos:
                    login.kerberosLogin(found.username, "", found.domain, useCache=True)
                else:
                    login.login(found.username, found.password, found.domain, found.lm_hex, found.nt_hex)
            except smbconnection.SessionError as error:
                refused = status_error(error.getErrorCode(), f"{server} as {target.user or 'guest'}")
                raise (LoginError(str(refused)) if isinstance(refused, AccessDeniedError) else refused) from error
        channel.where = where
        with channel.stage(), mapped(where):
            share = Share(channel, connection.connectTree(share_name))
        negotiated = connection.negotiated
        assert negotiated is not None
        block = self._settings.block_bytes or DEFAULT_BLOCK_BYTES
        largest = block if negotiated.multi_credit else min(block, CREDIT_BYTES)
        self._read_bytes = min(largest, negotiated.max_read_bytes)
        self._write_bytes = min(largest, negotiated.max_write_bytes)
        return share

    def _drop(self) -> None:
        """Hang up without a word."""
        share, self._share = self._share, None
        connection, self._connection = self._connection, None
        for held in (share, connection):
            if held is not None:
                held.channel.shut()
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    @property
    def _shared(self) -> Share:
        assert self._share is not None
        return self._share

    def _using(self, path: str) -> Share:
        """The share, connected, with the path in errors."""
        if self._share is None or self._share.channel.broken:
            self.connect()
        share = self._shared
        share.channel.where = place(self.target, path)
        return share

    @staticmethod
    def _charge(channel: Channel, length: int) -> int:
        return charge(length) if channel.multi_credit else 1

    @staticmethod
    def _piece(channel: Channel, length: int) -> int:
        """As much of that length as the credits pay for."""
        if channel.credits < 1:
            raise channel.fail(
                ProtocolError(f"{channel.where}: the server grants no credits, so nothing may be asked; see its log")
            )
        return min(length, channel.credits * CREDIT_BYTES)

    def _open(self, path: str, access: int, disposition: int, options: int) -> FileHandle:
        share = self._using(path)
        request = wire.create_frame(
            share.tree_id, wire_name(path), access=access, disposition=disposition, options=options
        )
        file = wire.parse_created(_sound(share.channel.ask(request), share.channel))
        if file is None:
            raise share.channel.fail(
                ProtocolError(f"{share.channel.where}: the server's answer is cut off; see its log")
            )
        return FileHandle(path, file.size_bytes, file.is_folder, file.file_id)

    def _close_after(self, handle: FileHandle) -> None:
        """Close a file when its operation is over; where that failed with the connection, it is closed already."""
        if self._share is not None and not self._share.channel.broken:
            self.close_file(handle)

    def _ask_about(self, handle: FileHandle, frame: Callable[[int, bytes], bytearray]) -> Response:
        share = self._using(handle.path)
        response = share.channel.ask(frame(share.tree_id, handle.token))
        _sound(response, share.channel)
        return response

    def _about(
        self, path: str, access: int, frame: Callable[[int, bytes], bytearray], options: int = 0
    ) -> builtins.list[Response]:
        """Open whatever is at the path, ask one thing about it, close it."""
        share = self._using(path)
        request = wire.create_frame(
            share.tree_id, wire_name(path), access=access, disposition=wire.DISPOSITION_OPEN, options=options
        )
        close = wire.close_frame(share.tree_id, wire.SAME_FILE)
        return self._together(share, [request, frame(share.tree_id, wire.SAME_FILE), close])

    def _remove(self, path: str, options: int) -> None:
        share = self._using(path)
        request = wire.create_frame(
            share.tree_id, wire_name(path), access=wire.ACCESS_DELETE, disposition=wire.DISPOSITION_OPEN,
            options=options,
        )  # fmt: skip
        remove = wire.remove_frame(share.tree_id, wire.SAME_FILE)
        close = wire.close_frame(share.tree_id, wire.SAME_FILE)
        self._together(share, [request, remove, close], allowed=GONE)

    def _together(
        self, share: Share, requests: builtins.list[bytearray], allowed: frozenset[int] = frozenset()
    ) -> builtins.list[Response]:
        """Related requests as one; the first that fails, if not as is allowed, is the error."""
        channel = share.channel
        if channel.credits < len(requests):
            channel.ask(wire.echo_frame())
        answers = channel.ask_related(requests)
        for answer in answers:
            if answer.status not in {SUCCESS, END_OF_FILE}:
                if answer.status in allowed:
                    return answers
                raise status_error(answer.status, channel.where)
        return answers


def _open_request(share: Share, path: str, mode: OpenMode) -> bytearray:
    access, disposition = _MODES[mode]
    return wire.create_frame(
        share.tree_id, wire_name(path), access=access, disposition=disposition, options=wire.OPTION_NOT_A_FOLDER
    )


def _sound(response: Response, channel: Channel) -> memoryview:
    """The message of an answer that is no error."""
    if response.status != SUCCESS:
        raise status_error(response.status, channel.where)
    return response.message


def _status(response: Response, channel: Channel) -> FileStatus:
    state = wire.parse_state(_sound(response, channel))
    if state is None:
        raise ProtocolError(f"{channel.where}: the server's answer is cut off; see its log")
    return FileStatus(size_bytes=state.size_bytes, is_folder=state.is_folder)
