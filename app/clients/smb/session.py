"""smbclient-ng's session on a connection of ours: log in, list shares, browse, ask for rights."""

import contextlib
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import smbclientng.core.SMBSession as smbclientng_session  # noqa: N813 - a module, not the class
from impacket import nmb, smb3, smbconnection
from impacket.dcerpc.v5 import srvs, transport
from impacket.krb5 import kerberosv5
from impacket.krb5.kerberosv5 import KerberosError
from smbclientng.types.Config import Config
from smbclientng.types.Credentials import Credentials

from app.clients.base import Secrets
from app.clients.os_errors import connect_tcp
from app.clients.smb.channel import Channel
from app.clients.smb.connection import ChannelConnection, Protection
from app.clients.smb.errors import place, status_error, status_name
from app.clients.smb.kdc import kerberos_server
from app.errors import (
    AccessDeniedError,
    ConnectionLostError,
    LoginError,
    MeasurementError,
    ProtocolError,
    SharebenchError,
    UsageError,
)
from storage.records import Target

_NT_HASH = re.compile(r"[0-9A-Fa-f]{32}")
_NOT_A_FOLDER = 0x80000003
"""The bits of a share's type that mean a printer, a device, a pipe or an administrative share (MS-SRVS 2.2.2.4)."""
_LOGIN = threading.Lock()
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Listener:
    """The logger that a session is given: keeps errors for us, lets go of the rest, of which some is secret."""

    def __init__(self) -> None:
        self.errors: list[tuple[str, BaseException | None]] = []

    def error(self, message: str) -> None:
        """Keep an error and what was being handled; one of ours goes on upwards."""
        cause = sys.exc_info()[1]
        if isinstance(cause, SharebenchError):
            raise cause
        self.errors.append((_COLOURS.sub("", str(message)), cause))

    def debug(self, _message: str) -> None:
        """Drop it: passwords and hashes are among it."""

    def info(self, _message: str) -> None:
        """Drop it."""

    def print(self, _message: str = "", end: str = "\n") -> None:
        """Drop it."""

    def check(self, where: str) -> None:
        """Raise the first error that was logged, as one of ours."""
        if self.errors:
            message, cause = self.errors[0]
            self.errors.clear()
            if cause is not None:
                with mapped(where):
                    raise cause
            raise MeasurementError(f"{where}: {message}")


@contextlib.contextmanager
def mapped(where: str) -> Iterator[None]:
    """Whatever impacket and smbclient-ng raise, as one of our errors."""
    try:
        yield
    except SharebenchError:
        raise
    except KerberosError as error:
        raise _kerberos_error(where, error) from error
    except smb3.SessionError as error:
        raise status_error(error.get_error_code(), where) from error
    except smbconnection.SessionError as error:
        raise status_error(error.getErrorCode(), where) from error
    except nmb.NetBIOSError as error:
        raise ConnectionLostError(
            f"{where}: the connection ended in the middle; check that the server still runs, and measure again"
        ) from error
    except OSError as error:
        raise ConnectionLostError(f"{where}: {error.strerror or error}; check that the server still runs") from error
    except Exception as error:  # impacket raises bare Exception, KeyError, struct.error and more for odd answers
        raise ProtocolError(f"{where}: the server's answer makes no sense ({_words(error)}); see its log") from error


def _words(error: BaseException) -> str:
    """A foreign error in one line; some of impacket's cannot even say what they are."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - whatever its own __str__ raises, the kind of error remains
        text = ""
    return text or type(error).__name__


def _kerberos_error(where: str, error: BaseException) -> LoginError:
    return LoginError(
        f"{where}: Kerberos does not let this in ({_words(error)}); renew the ticket with kinit, name the server as "
        "its domain does, and check the clocks"
    )


class Session:
    """One login: smbclient-ng's SMBSession with our connection under it."""

    def __init__(self, target: Target, secrets: Secrets, channel: Channel, protection: Protection) -> None:
        self._where = place(Target(protocol="smb", host=target.host, port=target.port))
        port = target.port_number
        with mapped(self._where):
            self.connection = ChannelConnection(channel.sock, channel, target.host, port, protection)
        self._host = target.host
        self._listener = Listener()
        self._kerberos = secrets.kerberos
        self._smb = smbclientng_session.SMBSession(
            host=target.host,
            port=port,
            timeout=channel.stall.seconds,
            credentials=credentials(target, secrets),
            config=Config(debug=False, no_colors=True),
            logger=self._listener,
        )
        self._log_in(f"{self._where} as {target.user or 'guest'}")

    @property
    def client(self) -> Any:
        """The SMBConnection of impacket."""
        return self._smb.smbClient

    def share_names(self) -> list[str]:
        """The folders that the server shares, without hidden ones."""
        with mapped(self._where):
            pipe = transport.SMBTransport(
                self.client.getRemoteName(), self.client.getRemoteHost(), filename="srvsvc", smb_connection=self.client
            )
            rpc = pipe.get_dce_rpc()
            rpc.connect()
            try:
                rpc.bind(srvs.MSRPC_UUID_SRVS)
                found = srvs.hNetrShareEnum(rpc, 1, serverName=f"\\\\{self._host}")
            finally:
                if not self.connection.channel.broken:
                    self.connection.close_files()
                    rpc.disconnect()
            rows = found["InfoStruct"]["ShareInfo"]["Level1"]["Buffer"]
            names = [row["shi1_netname"].rstrip("\0") for row in rows if not row["shi1_type"] & _NOT_A_FOLDER]
        return [name for name in names if not name.endswith("$")]

    def close(self) -> None:
        """Log off and hang up; whatever fails is too late to matter."""
        with contextlib.suppress(Exception):
            self._smb.close_smb_session()

    def _log_in(self, where: str) -> None:
        try:
            with mapped(where), _own_network(self.connection):
                done = self._smb.init_smb_session()
            if not done:
                self._listener.check(where)
                raise LoginError(f"{where}: the server refused the login; check the user, the password and the domain")
            self._listener.errors.clear()  # it misses its pipes
        except AccessDeniedError as error:
            raise LoginError(f"{where}: the server lets this user not in; log in as another one") from error
        except (ConnectionLostError, ProtocolError) as error:
            if isinstance(error.__cause__, smbconnection.SessionError):
                status = status_name(error.__cause__.getErrorCode())
                raise LoginError(f"{where}: the server refused the login with {status}; see its log") from error
            if self._kerberos and error.__cause__ is not None and not self.connection.channel.broken:
                raise _kerberos_error(where, error.__cause__) from error
            raise


class _NoPipes:
    """In place of the pipes that smbclient-ng opens at each login: they cost time, and not every server has them."""

    def __init__(self, *_connection: Any) -> None:
        raise ConnectionError("opened when they are needed")


@contextlib.contextmanager
def _own_network(connection: ChannelConnection) -> Iterator[None]:
    """Let a session that logs in use our connections in place of those that it makes; one login at a time."""

    def made(**_how: Any) -> smbconnection.SMBConnection:
        return smbconnection.SMBConnection(
            connection.getRemoteName(), connection.getServerIP(), existingConnection=connection
        )

    ours = {
        "SMBConnection": made,
        "is_port_open": lambda *_whom: (True, None),
        "SIDResolver": _NoPipes,
        "transport": SimpleNamespace(SMBTransport=_NoPipes),
    }
    with _LOGIN:
        theirs = {name: getattr(smbclientng_session, name) for name in ours}
        their_kerberos = kerberosv5.sendReceive
        try:
            for name, value in ours.items():
                setattr(smbclientng_session, name, value)
            kerberosv5.sendReceive = kerberos_server(connection.channel.stall.seconds)
            yield
        finally:
            kerberosv5.sendReceive = their_kerberos
            for name, value in theirs.items():
                setattr(smbclientng_session, name, value)


def reach(target: Target, timeout_seconds: float, hold: Callable[[socket.socket], None]) -> socket.socket:
    """A TCP connection to the target's server; ``hold`` as in :func:`connect_tcp`. Raises UnreachableError."""
    where = place(Target(protocol="smb", host=target.host, port=target.port))
    return connect_tcp(target.host, target.port_number, where, timeout_seconds, "smbd", hold)


def credentials(target: Target, secrets: Secrets) -> Credentials:
    """What smbclient-ng logs in with. Raises LoginError where Kerberos is asked for and there is no ticket."""
    if secrets.nt_hash and not _NT_HASH.fullmatch(secrets.nt_hash):
        raise UsageError("an NT hash is 32 hexadecimal digits; give those, or the password")
    cache = os.environ.get("KRB5CCNAME", f"/tmp/krb5cc_{os.getuid()}") if secrets.kerberos else None  # noqa: S108 - MIT's own default
    cache = cache.removeprefix("FILE:") if cache else None
    if cache and not Path(cache).is_file():
        raise LoginError(f"smb://{target.host}: no Kerberos ticket in {cache}; get one with kinit, or set KRB5CCNAME")
    return Credentials(
        domain=target.domain or "",
        username=target.user or "",
        password=secrets.password or "",
        hashes=f":{secrets.nt_hash}" if secrets.nt_hash else None,
        use_kerberos=secrets.kerberos,
        ccacheFile=cache,
    )
