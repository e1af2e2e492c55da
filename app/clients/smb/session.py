"""smbclient-ng's session on our connection, and the login at an SMB server."""

import contextlib
import os
import re
import socket
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from impacket import smbconnection
from smbclientng.core.SMBSession import SMBSession
from smbclientng.types.Config import Config
from smbclientng.types.Credentials import Credentials

from app.base.errors import (
    AccessDeniedError,
    ConnectionLostError,
    LoginError,
    MeasurementError,
    ProtocolError,
    SharebenchError,
    UsageError,
)
from app.clients.base import Secrets
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.connection import ChannelConnection
from app.clients.smb.impacket_errors import kerberos_error, mapped
from app.clients.smb.kerberos import find_service_login
from app.clients.smb.wire import place
from app.clients.tcp import connect_tcp
from storage.plan import Settings
from storage.records import Target

_NT_HASH = re.compile(r"[0-9A-Fa-f]{32}")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_NOT_A_FOLDER = 0x80000003
"""Printer, device, pipe and administrative share (MS-SRVS 2.2.2.4)."""


class Listener:
    """smbclient-ng's logger: keeps errors, which its methods log instead of raising, and drops all else."""

    def __init__(self) -> None:
        self.heard = 0
        """Messages of any kind: steps of what smbclient-ng does."""
        self._errors: list[tuple[str, BaseException | None]] = []

    def error(self, message: str) -> None:
        self.heard += 1
        cause = sys.exc_info()[1]
        if isinstance(cause, SharebenchError):
            raise cause
        self._errors.append((_COLOURS.sub("", str(message)), cause))

    def debug(self, *_message: object, **_how: object) -> None:
        """Only counted: it may contain passwords and hashes."""
        self.heard += 1

    info = print = debug

    def forget(self) -> None:
        self._errors.clear()

    def check(self, where: str, allowed_statuses: Collection[int] = ()) -> None:
        """Raises the first error since the last check, unless it is of an allowed status."""
        if not self._errors:
            return
        message, cause = self._errors[0]
        self.forget()

        if isinstance(cause, smbconnection.SessionError) and cause.getErrorCode() in allowed_statuses:
            return
        if cause is not None:
            with mapped(where):
                raise cause
        raise MeasurementError(f"{where}: {message}")


class Session(SMBSession):  # type: ignore[misc]
    """Logged in once it is made; what smbclient-ng's public methods cannot do is ours, for the reasons given there."""

    def __init__(self, target: Target, secrets: Secrets, channel: Channel, settings: Settings) -> None:
        self._where = place(Target(protocol="smb", host=target.host, port=target.port))
        with mapped(self._where):
            self.connection = ChannelConnection(channel.sock, channel, target.host, target.port_number, settings)
        self._listener = Listener()
        super().__init__(
            host=target.host,
            port=target.port_number,
            timeout=channel.stall.seconds,
            credentials=login_credentials(target, secrets),
            config=quiet_config(),
            logger=self._listener,
        )
        self._log_in(f"{self._where} as {target.user or 'guest'}")

    def init_smb_session(self) -> bool:
        """Raises what impacket raises.

        smbclient-ng's own takes no connection. It opens two, the first to try the port, and by IPv4 alone; it offers
        neither AES-GCM nor AES-GMAC, logs errors, and opens two pipes, for which Samba starts two programs.
        """
        connection = self.connection
        credentials = self.credentials
        self.smbClient = smbconnection.SMBConnection(
            connection.getRemoteName(), connection.getServerIP(), existingConnection=connection
        )

        if credentials.use_kerberos:
            login = find_service_login(
                Path(credentials.ccacheFile),
                credentials.username,
                credentials.domain,
                connection.getRemoteName(),
                connection.channel.stall.seconds,
            )
            self.connected = self.smbClient.kerberosLogin(login.user, "", login.realm, TGS=login.ticket)
        else:
            self.connected = self.smbClient.login(
                credentials.username,
                credentials.password,
                credentials.domain,
                credentials.lm_hex,
                credentials.nt_hex,
            )
        return bool(self.connected)

    def share_names(self) -> list[str]:
        """Those that are folders and not hidden."""
        with mapped(self._where):
            try:
                shares = self._ask_for_shares()
            except smbconnection.SessionError as error:  # Samba starts and ends what serves its pipes as needed
                if error.getErrorCode() not in wire.PIPE_LOST:
                    raise
                shares = self._ask_for_shares()

        names = [share["name"] for share in shares.values() if not share["rawtype"] & _NOT_A_FOLDER]
        # A share without a name has b"".
        return [name for name in names if isinstance(name, str) and not name.endswith("$")]

    def remove_folder(self, share: str, path: str, where: str) -> None:
        """One that is already gone is no error."""
        self.smb_share = share
        self._listener.forget()
        with mapped(where):
            self.rmdir(wire.wire_name(path))
        self._listener.check(where, wire.GONE)

    def read_file_in_blocks(self, share: str, path: str, take: Callable[[bytes], None]) -> None:
        """smbclient-ng's ``read_file`` would hold the whole file in memory. Raises what impacket raises."""
        self.smbClient.getFile(share, wire.wire_name(path), take)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.close_smb_session()

    def _ask_for_shares(self) -> dict[str, dict[str, Any]]:
        try:
            shares: dict[str, dict[str, Any]] = self.list_shares()
            return shares
        finally:
            if not self.connection.channel.broken:
                self.connection.close_files()

    def _log_in(self, where: str) -> None:
        try:
            with mapped(where):
                is_done = self.init_smb_session()
        except AccessDeniedError as error:
            raise LoginError(f"{where}: the server does not admit this user; log in as another one") from error
        except (ConnectionLostError, ProtocolError) as error:
            if isinstance(error.__cause__, smbconnection.SessionError):
                status = wire.status_name(error.__cause__.getErrorCode())
                raise LoginError(f"{where}: the server refused the login with {status}; see its log") from error
            if self.credentials.use_kerberos and error.__cause__ is not None and not self.connection.channel.broken:
                raise kerberos_error(where, error.__cause__) from error
            raise

        if not is_done:
            raise refused_login(where)


def refused_login(where: str) -> LoginError:
    return LoginError(f"{where}: the server refused the login; check the user, the password and the domain")


def quiet_config() -> Config:
    return Config(debug=False, no_colors=True)


def login_credentials(target: Target, secrets: Secrets) -> Credentials:
    if secrets.nt_hash and not _NT_HASH.fullmatch(secrets.nt_hash):
        raise UsageError("an NT hash is 32 hexadecimal digits; give those, or the password")

    return Credentials(
        domain=target.domain or "",
        username=target.user or "",
        password=secrets.password or "",
        hashes=f":{secrets.nt_hash}" if secrets.nt_hash else None,
        use_kerberos=secrets.kerberos,
        ccacheFile=_ticket_cache(target.host) if secrets.kerberos else None,
    )


def _ticket_cache(host: str) -> str:
    default = f"/tmp/krb5cc_{os.getuid()}"  # noqa: S108 - MIT's own default
    cache = os.environ.get("KRB5CCNAME", default).removeprefix("FILE:")
    if not Path(cache).is_file():
        raise LoginError(f"smb://{host}: no Kerberos ticket in {cache}; get one with kinit, or set KRB5CCNAME")
    return cache


def reach(target: Target, timeout_seconds: float, hold: Callable[[socket.socket], None]) -> socket.socket:
    """``hold`` as in :func:`connect_tcp`. Raises UnreachableError."""
    where = place(Target(protocol="smb", host=target.host, port=target.port))
    return connect_tcp(target.host, target.port_number, where, timeout_seconds, "smbd", hold)
