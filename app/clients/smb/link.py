"""A logged-in SMB connection with one share, made when it is first needed and again after it broke.

``SMBClient`` (whole files), ``SMBFiles`` (a user's operations) and the replay of isolations rest on it.
"""

import builtins
import contextlib
import socket
from collections.abc import Callable, Iterator

from app.base import errors
from app.clients import base
from app.clients.smb import channel as smb_channel
from app.clients.smb import frame_socket, tree_connect, wire
from app.clients.smb import session as smb_session
from app.clients.smb import share as smb_share
from app.clients.smb.connection import ChannelConnection
from app.clients.smb.imitation import with_imitation
from app.clients.smb.impacket_errors import mapped
from app.clients.smb.open_link import OpenLink
from app.clients.tcp import connect_tcp
from storage import records
from storage.plan import Settings

_POLITE_SECONDS = 1.0
"""How long a server may take to say goodbye."""


class SMBLink:
    """One logged-in connection with one share at a time.

    Another thread may call ``abort`` at any time: the socket and the channel are kept from the moment that they exist.
    A subclass may replace two steps of making the connection: ``_dial``, which makes the channel before the login, and
    ``_prepare``, which is called at the end, when the share is open. Requests about a path go through ``_using``.
    """

    def __init__(self, target: records.Target, secrets: base.Secrets, settings: Settings) -> None:
        self.target = target
        self._secrets = secrets
        self._settings = with_imitation(settings)
        self._sock: socket.socket | None = None
        self._channel: smb_channel.Channel | None = None
        self._link: OpenLink | None = None
        self._aborted = False

    def connect(self) -> None:
        self._linked()

    def connected_share(self) -> smb_share.Share:
        """Raises UsageError if the target names no share."""
        share = self._linked().share
        if share is None:
            raise errors.UsageError(f"{wire.place(self.target)}: which share? Name one: smb://HOST/SHARE/PATH")
        return share

    def list(self, path: str) -> builtins.list[base.DirectoryEntry]:
        # Ours: smbclient-ng's list_contents takes 13 times as long for 10,000 files, fails at names with "@GMT-" in
        # them, has no limit, and loads time it.
        with self._using(path) as share:
            return smb_share.list_folder(share, path)

    def remove(self, path: str) -> None:
        # Ours: smbclient-ng's rm takes the name for a pattern, so that for "[a].bin" it removes "a.bin" as well; it
        # lists the whole folder to find the file, and loads time it.
        with self._using(path) as share:
            share.remove(path)

    def abort(self) -> None:
        self._aborted = True
        channel = self._channel
        sock = self._sock
        if channel is not None:
            channel.abort()
        elif sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._link is not None and not self._link.channel.broken:
            stall = self._link.channel.stall
            stall.seconds = min(stall.seconds, _POLITE_SECONDS)
            self._link.session.close()
        self._drop()
        self._aborted = False

    def _linked(self) -> OpenLink:
        """The connection, made anew where there is none that works."""
        if self._link is not None and not self._link.channel.broken:
            return self._link

        self._drop()
        try:
            self._link = self._make_link()
        except errors.MeasurementError as error:
            self._drop()
            if self._aborted:
                raise errors.CancelledError("cancelled") from error
            raise
        except BaseException:
            self._drop()
            raise
        return self._link

    def _make_link(self) -> OpenLink:
        where = wire.place(self.target)
        channel = self._channel = self._dial(where)
        with channel.stage():
            session = smb_session.Session(self.target, self._secrets, channel, self._settings)

        with channel.stage(), mapped(where):
            share = None
            if self.target.share:
                tree_id = tree_connect.connect_tree(session, self.target, where)
                share = smb_share.Share(channel, tree_id, single_requests=self._settings.single_requests)
            addresses = channel.sock.getsockname()[0], channel.sock.getpeername()[0]
            self._prepare(session.connection)
        return OpenLink(session, channel, share, addresses, channel.credits)

    def _prepare(self, connection: ChannelConnection) -> None:
        """For subclasses, as the class says; nothing by default."""

    def _dial(self, where: str) -> smb_channel.Channel:
        """A channel on a new TCP connection."""
        timeout_seconds = self._settings.timeout_seconds
        channel = smb_channel.Channel(reach(self.target, timeout_seconds, self._hold), where, timeout_seconds)
        channel.aborted = self._aborted
        return channel

    def _hold(self, sock: socket.socket) -> None:
        """Called with each socket before it connects, so that ``abort`` can shut it."""
        self._sock = sock
        if self._aborted:
            raise errors.CancelledError("cancelled")

    def _drop(self) -> None:
        self._link = None
        if self._channel is not None:
            self._channel.shut()
            self._channel = None
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    @contextlib.contextmanager
    def _using(self, path: str) -> Iterator[smb_share.Share]:
        """The share, whose errors name the path inside the block; dropped where the connection broke there."""
        share = self.connected_share()
        if share.is_printer:  # it would print the file
            raise base.printer_error(self.target)

        channel = share.channel
        channel.where = wire.place(self.target, path)
        try:
            yield share
        except BaseException as error:
            if channel.broken or isinstance(error, errors.ConnectionLostError):
                self._drop()
            if isinstance(error, errors.ElsewhereError):
                raise self._with_its_target(error, path) from error
            raise
        finally:
            channel.watch = frame_socket.watch_nothing
            channel.where = wire.place(self.target)

    def _with_its_target(self, error: errors.ElsewhereError, path: str) -> errors.ElsewhereError:
        """The error that names where the path lies, if the server tells it."""
        link = self._link
        if link is None:
            return error

        referred_path = ""
        with contextlib.suppress(errors.MeasurementError):
            referred_path = link.session.referred_path(self.target.host, self.target.share or "", path)
        return tree_connect.elsewhere_error(wire.place(self.target, path), referred_path) if referred_path else error


def reach(target: records.Target, timeout_seconds: float, hold: Callable[[socket.socket], None]) -> socket.socket:
    """A TCP connection to the server; ``hold`` gets each socket before it connects. Raises UnreachableError."""
    where = wire.place(records.Target(protocol="smb", host=target.host, port=target.port))
    return connect_tcp(target.host, target.port_number, where, timeout_seconds, "smbd", hold)
