"""The client for ``ftp://`` and ``ftps://``: what is asked of a server, and timed.

ftplib has the conversation on the control connection; the bytes of files and lists are moved by code of our own.
"""

import builtins
import ftplib
import hashlib
import posixpath
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

from app import __version__
from app.base import errors
from app.clients import base, tcp, tcp_info
from app.clients.ftp import data as transfers
from app.clients.ftp import listing as ftp_listing
from app.clients.ftp import refusals
from app.clients.ftp.control import ControlConnection
from app.clients.ftp.link import FTPLink
from storage import records
from storage.plan import Settings

DEFAULT_BLOCK_BYTES = 1024 * 1024
"""Handed to the socket, or asked of it, at a time."""


class FTPClient(FTPLink):
    """Transfers in passive and binary mode; with TLS the data is protected as well.

    ``_using`` gives the control connection for requests about a path. ``_data_connection``, ``_begin`` and ``_finish``
    open a data connection, begin a transfer on it and read its last reply. All four are of `FTPLink`, which says what
    they do when something fails. ``_stall`` is the `StallWatch` of both connections.
    """

    has_handles = False

    def __init__(self, target: records.Target, secrets: base.Secrets, settings: Settings) -> None:
        super().__init__(target, secrets, settings)
        self._block_bytes = min(settings.block_bytes or DEFAULT_BLOCK_BYTES, base.MAX_BLOCK_BYTES)
        self._buffer = base.receive_buffer(self._block_bytes)

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
            refusal = control.refusal_to_enter(path)
            if refusal is not None:
                raise refusals.folder_refusal(refusal, self._place_of(path)) from refusal

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
                traffic = tcp_info.TcpInfo.of_socket(data)

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
        """Raises CorruptedError where more came, or comes, than the size that the server had named.

        With fewer bytes there is nothing to check here: the reply says why.
        """
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

                # A slow link may take longer to send what the kernel still holds than a reply may take: so the reply's
                # time begins when all of it is sent, or when the server has said something.
                while not control.has_said_something(transfers.TICK_SECONDS) and tcp_info.waiting_bytes(data):
                    meter.advance(content.size_bytes)
                self._finish(control, path)
                ended_at = meter.clock()
                traffic = tcp_info.TcpInfo.of_socket(data)

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
            try:
                control.mkd(path)
            except ftplib.error_perm as error:
                closed_above = self._refusal_of_folder_above(control, path)
                if not str(error).startswith("550") or closed_above is None:
                    raise
                raise closed_above from error

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

    def _size(self, control: ControlConnection, path: str) -> int:
        if not control.knows_size:
            raise errors.MeasurementError(
                f"{self._place_of(path)}: the server has no SIZE, so it cannot say how long the file is; use another "
                "one"
            )

        try:
            return control.size(path)
        except ftplib.error_perm as error:
            refusal = control.refusal_to_enter(path)
            if refusal is None:
                raise errors.NotAFileError(
                    f"{self._place_of(path)}: that is a folder, not a file; name a file in it"
                ) from error
            if not str(error).startswith("550"):
                raise
            if refusals.is_not_allowed(error):
                raise errors.AccessDeniedError(
                    f"{self._place_of(path)}: the server does not say how long the file is "
                    f"({tcp.one_line(str(error))}); check the rights of the file and its folder, and that the server "
                    "allows the command SIZE"
                ) from error
            closed_above = self._refusal_of_folder_above(control, path)
            if closed_above is not None:
                raise closed_above from error
            if self._is_listed_as_folder(path):
                raise refusals.closed_folder(refusal, self._place_of(path)) from error
            raise errors.NoSuchFileError(
                f"{self._place_of(path)}: there is no such file; check the name, case counts"
            ) from error

    def _is_listed_as_folder(self, path: str) -> bool:
        """Whether the folder above, which can be entered, shows a folder of that name."""
        try:
            entries = self.list(_folder_above(path))
        except errors.MeasurementError:
            return False
        return any(entry.is_folder and entry.name == posixpath.basename(path) for entry in entries)

    def _check_stored(self, control: ControlConnection, path: str, size_bytes: int) -> None:
        """A server answers 226 for a part if the data connection was cut."""
        if not control.knows_size:
            return

        try:
            stored_bytes = control.size(path)
        except ftplib.error_perm as error:
            raise errors.AccessDeniedError(
                f"{self._place_of(path)}: the server does not show what it stored ({tcp.one_line(str(error))}), so "
                "nobody knows whether it has all; let this user read there, and ask for SIZE"
            ) from error

        if stored_bytes != size_bytes:
            raise errors.ConnectionLostError(
                f"{self._place_of(path)}: the server stored {stored_bytes} of {size_bytes} bytes and called that "
                "complete; look for what cuts connections in between"
            )

    def _cannot_store(self, control: ControlConnection, path: str, error: ftplib.error_perm) -> errors.MeasurementError:
        if not str(error).startswith(("550", "553")):
            return refusals.reply_error(error, self._place_of(path))

        closed_above = self._refusal_of_folder_above(control, path)
        if closed_above is not None:
            return closed_above
        folder = _folder_above(path)
        return errors.AccessDeniedError(
            f"{self._place_of(folder)}: the server does not let this user write there; check the folder's rights and "
            "the server's settings (vsftpd: write_enable, deny_file)"
        )

    def _refusal_of_folder_above(self, control: ControlConnection, path: str) -> errors.MeasurementError | None:
        folder = _folder_above(path)
        refusal = control.refusal_to_enter(folder)
        return None if refusal is None else refusals.folder_refusal(refusal, self._place_of(folder))


def _folder_above(path: str) -> str:
    return posixpath.dirname(path) or "/"


class _GivenContent(base.Content):
    """Content that somebody has in memory already, such as a small file of a load."""

    def __init__(self, data: memoryview) -> None:
        self.size_bytes = len(data)
        self._data = data

    def block(self, offset: int, length: int) -> memoryview:
        return self._data[offset : offset + length]
