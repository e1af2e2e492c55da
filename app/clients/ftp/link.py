"""A logged-in FTP connection, made when it is first needed and again after it broke, and its data connections.

Each transfer or list has a data connection of its own: ``_data_connection`` opens it, ``_begin`` sends the command and
has TLS protect it, the bytes move, ``end_of_data`` closes our side, and ``_finish`` reads the server's last reply.
Between the first and the last of these the control connection is ``unfinished``: after an error it is of no more use.
It ends with the server's last reply about the transfer, be that a refusal: then the next request may follow.
"""

import contextlib
import ftplib
import socket
from collections.abc import Iterator
from dataclasses import replace

from app.base import errors
from app.clients import base, tcp
from app.clients.ftp import data as transfers
from app.clients.ftp.control import ControlConnection, connect
from app.clients.ftp.refusals import reply_error
from app.clients.stall_watch import StallWatch
from storage import records
from storage.plan import Settings

_POLITE_SECONDS = 1.0
"""How long a server may take to say goodbye."""


class FTPLink(base.OneByOne):
    """One logged-in connection; base of ``FTPClient``. Another thread may call ``abort`` at any time."""

    def __init__(self, target: records.Target, secrets: base.Secrets, settings: Settings) -> None:
        self.target = target
        self._secrets = secrets
        self._settings = settings
        self._path_in_use = ""
        """The file or folder that is asked for, for errors."""
        self._stall = StallWatch(settings.timeout_seconds, self._place_in_use)
        self._control: ControlConnection | None = None
        self._data: socket.socket | None = None

    def connect(self) -> None:
        self._linked()

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
        """The control connection, made anew where there is none."""
        if self._control is None:
            self._control = connect(self.target, self._secrets, self._stall, self._place_of())
        return self._control

    @contextlib.contextmanager
    def _using(self, path: str) -> Iterator[ControlConnection]:
        """The control connection, for requests about the path: errors of ftplib and sockets become ours.

        The connection is dropped where it cannot be used any more: after a reply that was not expected, after 421 (the
        server closes), and in the middle of a transfer.
        """
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
            raise reply_error(error, where, command=control.last_command) from error
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
        """The data connection, protected by TLS where that is in use, once the server has said that it begins."""
        try:
            control.begin(command)
        except ftplib.Error:
            control.unfinished = False
            raise

        self._data = control.protect(data)
        transfers.wait_in_ticks(self._data)
        return self._data

    def _finish(self, control: ControlConnection, path: str) -> None:
        """Read the server's last reply. Raises the error that it says."""
        try:
            control.voidresp()
        except ftplib.Error as error:
            control.unfinished = False
            raise reply_error(error, self._place_of(path), storing=True) from error
        control.unfinished = False

    def _refused_in_transfer(self, control: ControlConnection, path: str, error: OSError) -> errors.MeasurementError:
        """Why the server ended the data connection while we sent: by its reply, else by the error of the socket."""
        try:
            control.voidresp()
        except ftplib.Error as reply:
            control.unfinished = False
            return reply_error(reply, self._place_of(path), storing=True)
        except (OSError, EOFError):
            pass
        return tcp.connection_error(error, self._place_of(path), self._settings.timeout_seconds)
