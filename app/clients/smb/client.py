"""The SMB connection, and the client that transfers whole files with a pipeline."""

import builtins
import contextlib
import hashlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple
from uuid import UUID

from app import __version__
from app.base import errors
from app.clients import base, tcp
from app.clients.smb import channel as smb_channel
from app.clients.smb import negotiate, wire
from app.clients.smb import session as smb_session
from app.clients.smb import share as smb_share
from app.clients.smb.connection import ChannelConnection
from app.clients.smb.impacket_errors import mapped
from storage import records
from storage.plan import Settings

_POLITE_SECONDS = 1.0
"""How long a server may take to say goodbye."""
_MOST_CREDITS = 1 << 16
"""More than any server grants: the window is then bounded by its sizes alone."""


class _Link(NamedTuple):
    """A session with its connection, and the share that is open on it."""

    session: smb_session.Session
    channel: smb_channel.Channel
    share: smb_share.Share | None
    """None where the target names none."""
    addresses: tuple[str, str]
    """The client's and the server's."""
    credits: int
    """Which the server had granted when the share was open."""

    @property
    def connection(self) -> ChannelConnection:
        return self.session.connection

    @property
    def negotiated(self) -> negotiate.Negotiated:
        negotiated = self.session.connection.negotiated
        assert negotiated is not None
        return negotiated


class SMBLink:
    """One logged-in connection with one share; base of :class:`SMBClient`, ``SMBFiles`` and the replay."""

    def __init__(self, target: records.Target, secrets: base.Secrets, settings: Settings) -> None:
        self.target = target
        self._secrets = secrets
        self._settings = settings
        self._sock: socket.socket | None = None
        self._channel: smb_channel.Channel | None = None
        self._link: _Link | None = None
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

    def _linked(self) -> _Link:
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

    def _make_link(self) -> _Link:
        where = wire.place(self.target)
        channel = self._channel = self._dial(where)
        with channel.stage():
            session = smb_session.Session(self.target, self._secrets, channel, self._settings)

        with channel.stage(), mapped(where):
            share = None
            if self.target.share:
                tree_id = _connect_tree(session, self.target.share, where)
                share = smb_share.Share(channel, tree_id, single_requests=self._settings.single_requests)
            addresses = channel.sock.getsockname()[0], channel.sock.getpeername()[0]
            self._prepare(session.connection)
        return _Link(session, channel, share, addresses, channel.credits)

    def _prepare(self, connection: ChannelConnection) -> None:
        """Called at the end of the login."""

    def _dial(self, where: str) -> smb_channel.Channel:
        def hold(sock: socket.socket) -> None:
            self._sock = sock
            if self._aborted:
                raise errors.CancelledError("cancelled")

        timeout_seconds = self._settings.timeout_seconds
        channel = smb_channel.Channel(smb_session.reach(self.target, timeout_seconds, hold), where, timeout_seconds)
        channel.aborted = self._aborted
        return channel

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
            raise
        finally:
            channel.watch = smb_channel.watch_nothing
            channel.where = wire.place(self.target)


class SMBClient(SMBLink):
    """Whole files over one connection, SMB 2.0.2 to 3.1.1; signs and encrypts only if required or requested."""

    def facts(self) -> records.ClientFacts:
        link = self._linked()
        negotiated = link.negotiated
        window = self._window(link, negotiated.max_read_bytes)

        is_sealed = link.share.sealed if link.share else link.channel.seal_all
        signing = None if is_sealed else link.connection.signing
        encryption = "none"
        if is_sealed and negotiated.cipher is not None:
            encryption = negotiate.CIPHER_NAMES[negotiated.cipher]
        return records.ClientFacts(
            name="sharebench",
            version=__version__,
            dialect=wire.DIALECTS[negotiated.dialect],
            signing="none" if signing is None else negotiate.SIGNING_NAMES[signing],
            encryption=encryption,
            block_bytes=window.block_bytes,
            in_flight=window.in_flight,
        )

    def shares(self) -> builtins.list[str]:
        link = self._linked()
        with link.channel.stage():
            return link.session.share_names()

    def size(self, path: str) -> int:
        # Ours: smbclient-ng's path_exists, path_isfile and get_entry take every error for a file that is not there,
        # a lost connection as well.
        with self._using(path) as share:
            file = share.open_file(path, wire.ACCESS_ATTRIBUTES)
            share.close(file)
            return file.size_bytes

    def get(self, path: str, meter: base.Meter, into: base.Sink | None = None) -> base.Transfer:
        with self._using(path) as share:
            link = self._linked()
            window = self._window(link, link.negotiated.max_read_bytes)

            def move(file: wire.OpenedFile) -> float:
                if not file.size_bytes:
                    raise errors.NotAFileError(
                        f"{share.channel.where}: the file is empty; name one with something in it"
                    )
                return smb_share.read_file(share.channel, share.tree_id, file, window, meter, into)

            return _timed_transfer(share, lambda: share.open_file(path, wire.ACCESS_READ), move)

    def put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        with self._using(path) as share:
            link = self._linked()
            window = self._window(link, link.negotiated.max_write_bytes)

            def move(file: wire.OpenedFile) -> float:
                seconds = smb_share.write_file(share.channel, share.tree_id, file, window, meter, content)
                if not self._settings.flush:
                    return seconds
                return seconds + smb_share.flush_file(share.channel, share.tree_id, file, meter)

            return _timed_transfer(
                share,
                lambda: share.open_file(path, wire.ACCESS_WRITE, wire.DISPOSITION_CREATE),
                move,
                content.size_bytes,
            )

    def digest(self, path: str) -> str:
        sha = hashlib.sha256()
        size_bytes = self.size(path)
        read_bytes = 0

        def take(block: bytes) -> None:
            nonlocal read_bytes
            read_bytes += len(block)
            if read_bytes > size_bytes:
                raise errors.CorruptedError(
                    f"{wire.place(self.target, path)}: the file became longer; measure a file at rest"
                )
            sha.update(block)

        with self._using(path) as share, mapped(share.channel.where):
            self._linked().session.read_file_in_blocks(self.target.share or "", path, take)
        return sha.hexdigest()

    def facts_of_path(self) -> dict[str, str | int | float]:
        link = self._linked()
        negotiated = link.negotiated
        with link.channel.stage():
            times_of_requests = tcp.request_facts(lambda: link.channel.ask(wire.frame(*wire.ECHO)))

        return {
            "smb.max_read_bytes": negotiated.max_read_bytes,
            "smb.max_write_bytes": negotiated.max_write_bytes,
            "smb.max_transact_bytes": negotiated.max_transact_bytes,
            "smb.put_block_bytes": self._window(link, negotiated.max_write_bytes).block_bytes,
            "smb.credits": link.credits,
            "smb.capabilities": f"0x{negotiated.capabilities:02X}",
            "smb.requires_signing": "yes" if negotiated.requires_signing else "no",
            "smb.guest": "yes" if link.connection.is_guest else "no",
            "smb.server_guid": str(UUID(bytes_le=negotiated.server_guid)),
            "address.client": link.addresses[0],
            "address.server": link.addresses[1],
            **tcp.connection_facts(tcp.TcpInfo.of_socket(link.channel.sock)),
            **times_of_requests,
        }

    def _window(self, link: _Link, maximum_bytes: int) -> smb_share.Window:
        settings = self._settings
        return smb_share.choose_window(
            link.negotiated, maximum_bytes, link.credits, settings.block_bytes, settings.in_flight
        )

    def _prepare(self, connection: ChannelConnection) -> None:
        """Ask for credits until the windows can be filled or the server grants no more."""
        negotiated = connection.negotiated
        assert negotiated is not None
        settings = self._settings
        largest_bytes = max(negotiated.max_read_bytes, negotiated.max_write_bytes)
        widest = smb_share.choose_window(
            negotiated, largest_bytes, _MOST_CREDITS, settings.block_bytes, settings.in_flight
        )

        channel = connection.channel
        channel.wanted_credits = max(channel.wanted_credits, widest.credits)
        credits_before = 0
        while credits_before < channel.credits < widest.credits:
            credits_before = channel.credits
            channel.ask(wire.frame(*wire.ECHO))


_MOST_NAMED = 10


def _connect_tree(session: smb_session.Session, share: str, where: str) -> int:
    try:
        with mapped(where):
            return int(session.connection.connectTree(share))
    except errors.NoSuchShareError as error:
        names: list[str] = []
        with contextlib.suppress(errors.MeasurementError):
            names = session.share_names()
        if not names:
            raise errors.NoSuchShareError(str(error)) from error

        listed = names[:_MOST_NAMED]
        if len(names) > _MOST_NAMED:
            listed.append("…")
        raise errors.NoSuchShareError(f"{error} (it lists {', '.join(listed)})") from error


def _timed_transfer(
    share: smb_share.Share,
    open_file: Callable[[], wire.OpenedFile],
    move: Callable[[wire.OpenedFile], float],
    put_bytes: int | None = None,
) -> base.Transfer:
    """After ``put_bytes`` the file must have that size: a request altered in transit is acknowledged as well."""
    channel = share.channel
    opening_at = time.perf_counter()
    file = open_file()
    open_seconds = time.perf_counter() - opening_at

    tcp_before = tcp.TcpInfo.of_socket(channel.sock)
    try:
        seconds = move(file)
    except BaseException as error:
        channel.watch = smb_channel.watch_nothing
        if channel.outstanding or channel.broken or not isinstance(error, errors.MeasurementError):
            channel.shut()
        else:
            share.close(file)
        raise
    tcp_after = tcp.TcpInfo.of_socket(channel.sock)

    closing_at = time.perf_counter()
    stored_bytes = share.close(file)
    close_seconds = time.perf_counter() - closing_at
    if None not in {put_bytes, stored_bytes} and stored_bytes != put_bytes:
        raise errors.CorruptedError(
            f"{channel.where}: the server has {stored_bytes} bytes of the {put_bytes} that it acknowledged; look for "
            "what is in between"
        )
    return base.Transfer(
        size_bytes=file.size_bytes if put_bytes is None else put_bytes,
        seconds=seconds,
        open_seconds=open_seconds,
        close_seconds=close_seconds,
        traffic=tcp_after and tcp_after.since(tcp_before),
    )
