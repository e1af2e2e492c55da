"""The client for ``ftp://`` and ``ftps://``: ftplib for the control connection, own code for the data."""

import builtins
import contextlib
import ftplib
import hashlib
import posixpath
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NoReturn

from app import __version__
from app.base import errors
from app.clients import base, tcp
from app.clients.ftp import data as transfers
from app.clients.ftp import listing as ftp_listing
from app.clients.ftp.control import ControlConnection, connect, reply_error
from storage import records
from storage.plan import Settings

DEFAULT_BLOCK_BYTES = 1024 * 1024
_POLITE_SECONDS = 1.0


class FTPClient(base.OneByOne):
    """A data connection for each transfer; passive, binary, TLS with protected data."""

    has_handles = False

    def __init__(self, target: records.Target, secrets: base.Secrets, settings: Settings) -> None:
        self.target = target
        self._secrets = secrets
        self._settings = settings
        self._block_bytes = min(settings.block_bytes or DEFAULT_BLOCK_BYTES, base.MAX_BLOCK_BYTES)
        self._buffer = base.receive_buffer(self._block_bytes)
        self._path_in_use = ""
        self._stall = tcp.StallWatch(settings.timeout_seconds, self._place_in_use)
        self._control: ControlConnection | None = None
        self._data: socket.socket | None = None

    def connect(self) -> None:
        self._linked()

    def facts(self) -> records.ClientFacts:
        return records.ClientFacts(
            name=base.OWN,
            version=__version__,
            encryption=self._linked().cipher_name(),
            block_bytes=self._block_bytes,
            in_flight=1,
        )

    def list(self, path: str) -> builtins.list[base.DirectoryEntry]:
        path = path or "/"
        listing = base.Listing(self._place_of(path))
        with self._using(path) as control, self._stall.stage(base.LISTING_TIMEOUTS * self._stall.seconds):
            try:
                control.cwd(path)
            except ftplib.error_perm as error:
                raise errors.NoSuchFileError(
                    f"{self._place_of(path)}: there is no such folder, or this user may not see it; check the path"
                ) from error

            if "MLST" in control.features or "MLSD" in control.features:
                self._take_list(control, path, "MLSD", ftp_listing.parse_mlsd, listing)
            else:
                # Our files begin with a dot, and many a LIST hides those.
                self._take_list(control, path, "LIST -a", ftp_listing.parse_line, listing)
                if not listing.entries:  # perhaps because the server took "-a" for the name of what to list
                    self._take_list(control, path, "LIST", ftp_listing.parse_line, listing)
        return listing.entries

    def _take_list(
        self,
        control: ControlConnection,
        path: str,
        command: str,
        parse: Callable[[str], base.DirectoryEntry | None],
        listing: base.Listing,
    ) -> None:
        with self._data_connection(control) as opened:
            data = self._begin(control, opened, command)
            lines = transfers.receive_lines(data, self._buffer, self._stall, self._place_of(path))
            for line, line_bytes in lines:
                listing.add(parse(line), line_bytes)

            control.end_of_data(data)
        self._finish(control, path)

    def size(self, path: str) -> int:
        with self._using(path) as control:
            return self._size(control, path)

    def get(self, path: str, meter: base.Meter, into: base.Sink | None = None) -> base.Transfer:
        with self._using(path) as control:
            size_bytes = self._size(control, path)
            if not size_bytes:
                raise errors.NotAFileError(f"{self._place_of(path)}: the file is empty; name one with something in it")

            opening_at = time.perf_counter()
            with self._data_connection(control) as opened:
                self._stall.start()
                started_at = meter.start(look=self._stall.note_moved)
                data = self._begin(control, opened, f"RETR {path}")
                received_bytes, ended_at = transfers.receive_all(data, self._buffer, size_bytes, meter, into)
                traffic = tcp.TcpInfo.of_socket(data)

                closing_at = time.perf_counter()
                self._check_end(data, path, received_bytes, size_bytes)
                control.end_of_data(data)
            self._finish(control, path)
            closed_at = time.perf_counter()

            if received_bytes < size_bytes:
                raise errors.ConnectionLostError(
                    f"{self._place_of(path)}: only {received_bytes} of {size_bytes} bytes arrived; look at the server's"
                    " log"
                )
            return base.Transfer(
                size_bytes=received_bytes,
                seconds=ended_at - started_at,
                open_seconds=started_at - opening_at,
                close_seconds=closed_at - closing_at,
                traffic=traffic,
            )

    def _check_end(self, data: socket.socket, path: str, received_bytes: int, size_bytes: int) -> None:
        """A server that sends more than it had named is not asked what it will send before it has closed."""
        if received_bytes < size_bytes:
            return
        if received_bytes > size_bytes or not transfers.has_ended(data, self._buffer, self._stall):
            raise errors.CorruptedError(
                f"{self._place_of(path)}: more came than the {size_bytes} bytes that the server had named; "
                "measure a file that nobody writes to"
            )

    def put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        """Timed from the server's 150 (file open, as SMB's CREATE is not counted either) to its 226 (complete)."""
        with self._using(path) as control:
            if control.has(path):
                raise errors.AccessDeniedError(
                    f"{self._place_of(path)}: there is a file already, and none is replaced; name another folder"
                )

            opening_at = time.perf_counter()
            with self._data_connection(control) as opened:
                self._stall.start()
                try:
                    data = self._begin(control, opened, f"STOR {path}")
                except ftplib.error_perm as error:
                    raise self._cannot_store(control, path, error) from error

                self._stall.start()
                started_at = meter.start(look=self._stall.note_moved)
                try:
                    transfers.send_all(data, content, self._block_bytes, meter)
                    control.end_of_data(data)
                except (ConnectionError, ssl.SSLError) as error:
                    raise self._refused_in_transfer(control, path, error) from error

                # A slow link may take longer to send what the kernel still holds than a reply may take.
                while not control.has_said_something(transfers.TICK_SECONDS) and tcp.waiting_bytes(data):
                    meter.advance(content.size_bytes)
                self._finish(control, path)
                ended_at = meter.clock()
                traffic = tcp.TcpInfo.of_socket(data)

            self._check_stored(control, path, content.size_bytes)
            return base.Transfer(
                size_bytes=content.size_bytes,
                seconds=ended_at - started_at,
                open_seconds=started_at - opening_at,
                traffic=traffic,
            )

    def check_stored(self, path: str, size_bytes: int) -> None:
        with self._using(path) as control:
            self._check_stored(control, path, size_bytes)

    def digest(self, path: str) -> str:
        sha = hashlib.sha256()
        read_bytes = 0
        with self._using(path) as control:
            size_bytes = self._size(control, path)
            self._stall.start()

            def take(block: bytes) -> None:
                nonlocal read_bytes
                read_bytes += len(block)
                if read_bytes > size_bytes:
                    raise errors.CorruptedError(
                        f"{self._place_of(path)}: the file became longer; measure a file at rest"
                    )
                self._stall.note_moved(read_bytes)
                sha.update(block)

            control.unfinished = True
            control.retrbinary(f"RETR {path}", take)
            control.unfinished = False
        return sha.hexdigest()

    def remove(self, path: str) -> None:
        with self._using(path) as control:
            try:
                control.delete(path)
            except ftplib.error_perm as error:
                if control.has(path):
                    raise errors.AccessDeniedError(
                        f"{self._place_of(path)}: the server does not let this user remove it; remove it by hand"
                    ) from error

    def facts_of_path(self) -> dict[str, str | int | float]:
        with self._using("") as control:
            return control.path_facts()

    def _no_handles(self, *_: Any) -> NoReturn:
        raise errors.UsageError(
            f"{self._place_of()}: FTP has no open files: read and write whole ones, or take an smb:// or file:// target"
        )

    open = read_at = write_at = close_file = _no_handles

    def query(self, path: str) -> base.FileStatus:
        with self._using(path) as control:
            if control.is_folder(path):
                return base.FileStatus(size_bytes=0, is_folder=True)
        return base.FileStatus(size_bytes=self.size(path), is_folder=False)

    def free_bytes(self, _path: str) -> int | None:
        return None

    def rename(self, path: str, new_path: str) -> None:
        """Fails if the name is taken, as far as the server can say."""
        with self._using(path) as control:
            if control.has(new_path):
                raise errors.AccessDeniedError(
                    f"{self._place_of(new_path)}: there is a file already, and none is replaced; name another"
                )
            control.rename(path, new_path)

    def make_folder(self, path: str) -> None:
        with self._using(path) as control:
            control.mkd(path)

    def remove_folder(self, path: str) -> None:
        with self._using(path) as control:
            try:
                control.rmd(path)
            except ftplib.error_perm:
                if control.is_folder(path):
                    raise

    def read_file(self, path: str, size_bytes: int) -> int:
        return min(size_bytes, self.get(path, base.Meter(threading.Event())).size_bytes)

    def write_file(self, path: str, data: memoryview, mode: base.OpenMode = base.OpenMode.CREATE) -> None:
        if mode is base.OpenMode.REPLACE:
            self.remove(path)
        self.put(path, _GivenContent(data), base.Meter(threading.Event()))

    def abort(self) -> None:
        for sock in (self._data, self._control.sock if self._control else None):
            if sock is not None:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close(self) -> None:
        control = self._control
        self._control = None
        if control is None:
            return

        with contextlib.suppress(OSError, EOFError, ftplib.Error, errors.MeasurementError):
            with self._stall.stage(_POLITE_SECONDS):
                control.quit()
        control.close()

    def _place_in_use(self) -> str:
        return self._place_of(self._path_in_use)

    def _place_of(self, path: str = "") -> str:
        return records.format_target(replace(self.target, path=path), login=False, escaped=False)

    def _linked(self) -> ControlConnection:
        if self._control is None:
            self._control = connect(self.target, self._secrets, self._stall, self._place_of())
        return self._control

    @contextlib.contextmanager
    def _using(self, path: str) -> Iterator[ControlConnection]:
        where = self._place_of(path)
        if "\r" in path or "\n" in path or "\0" in path:
            raise errors.NoSuchFileError(f"{where!r}: no FTP server takes line ends in a name; name another file")

        control = self._linked()
        self._path_in_use = path
        try:
            yield control
        except ftplib.Error as error:
            if isinstance(error, ftplib.error_reply) or str(error).startswith("421"):
                self._drop()
            raise reply_error(error, where) from error
        except (OSError, EOFError) as error:
            self._drop()
            raise tcp.connection_error(error, where, self._settings.timeout_seconds) from error
        except BaseException as error:
            if control.unfinished or isinstance(error, (errors.ProtocolError, errors.StalledError)):
                self._drop()
            raise
        finally:
            self._path_in_use = ""

    def _drop(self) -> None:
        control = self._control
        self._control = None
        if control is not None:
            with contextlib.suppress(OSError):
                control.close()

    def _size(self, control: ControlConnection, path: str) -> int:
        if not control.knows_size:
            raise errors.MeasurementError(
                f"{self._place_of(path)}: the server has no SIZE, so it cannot say how long the file is; use another "
                "one"
            )

        try:
            return control.size(path)
        except ftplib.error_perm as error:
            if control.is_folder(path):
                raise errors.NotAFileError(
                    f"{self._place_of(path)}: that is a folder, not a file; name a file in it"
                ) from error
            if str(error).startswith("550"):
                raise errors.NoSuchFileError(
                    f"{self._place_of(path)}: there is no such file; check the name, case counts"
                ) from error
            raise

    def _check_stored(self, control: ControlConnection, path: str, size_bytes: int) -> None:
        """A server answers 226 for a part if the data connection was cut."""
        if not control.knows_size:
            return

        try:
            stored_bytes = control.size(path)
        except ftplib.error_perm as error:
            raise errors.AccessDeniedError(
                f"{self._place_of(path)}: the server does not show what it stored ({tcp.one_line(str(error))}), so "
                "nobody knows whether it has all; let this user read there"
            ) from error

        if stored_bytes != size_bytes:
            raise errors.ConnectionLostError(
                f"{self._place_of(path)}: the server stored {stored_bytes} of {size_bytes} bytes and called that "
                "complete; look for what cuts connections in between"
            )

    def _cannot_store(self, control: ControlConnection, path: str, error: ftplib.error_perm) -> errors.MeasurementError:
        if not str(error).startswith(("550", "553")):
            return reply_error(error, self._place_of(path))

        folder = posixpath.dirname(path) or "/"
        if not control.is_folder(folder):
            return errors.NoSuchFileError(
                f"{self._place_of(folder)}: there is no such folder; make it, or name another one"
            )
        return errors.AccessDeniedError(
            f"{self._place_of(folder)}: the server does not let this user write there; check the folder's rights and "
            "the server's settings (vsftpd: write_enable)"
        )

    @contextlib.contextmanager
    def _data_connection(self, control: ControlConnection) -> Iterator[socket.socket]:
        control.unfinished = True
        self._data = control.open_data(self._settings.timeout_seconds)
        try:
            yield self._data
        finally:
            self._data.close()
            self._data = None

    def _begin(self, control: ControlConnection, data: socket.socket, command: str) -> socket.socket:
        try:
            control.begin(command)
        except ftplib.Error:
            control.unfinished = False
            raise
        self._data = control.protect(data)
        transfers.wait_in_ticks(self._data)
        return self._data

    def _refused_in_transfer(self, control: ControlConnection, path: str, error: OSError) -> errors.MeasurementError:
        try:
            control.voidresp()
        except ftplib.Error as reply:
            control.unfinished = False
            return reply_error(reply, self._place_of(path), storing=True)
        except (OSError, EOFError):
            pass
        return tcp.connection_error(error, self._place_of(path), self._settings.timeout_seconds)

    def _finish(self, control: ControlConnection, path: str) -> None:
        try:
            control.voidresp()
        except ftplib.Error as error:
            control.unfinished = False
            raise reply_error(error, self._place_of(path), storing=True) from error
        control.unfinished = False


class _GivenContent(base.Content):
    def __init__(self, data: memoryview) -> None:
        self.size_bytes = len(data)
        self._data = data

    def block(self, offset: int, length: int) -> memoryview:
        return self._data[offset : offset + length]
