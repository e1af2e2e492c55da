"""The login at an SMB server, and what is asked of it apart from the timed transfers: its shares, removing folders.

impacket logs in, on our connection; smbclient-ng is asked for the rest, on the same one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from impacket.smbconnection import SessionError, SMBConnection

from app.base import errors
from app.clients.base import Secrets
from app.clients.smb import credentials as smb_credentials
from app.clients.smb import impacket_errors, referral, wire
from app.clients.smb.channel import Channel
from app.clients.smb.connection import ChannelConnection
from storage import records
from storage.plan import Settings

if TYPE_CHECKING:
    from app.clients.smb.smbclientng_session import LoggedInSession

_NOT_A_FOLDER = 0x80000003
"""Printer, device, pipe and administrative share (MS-SRVS 2.2.2.4)."""


_OF_SETTINGS = {
    "STATUS_INVALID_PARAMETER_MIX": "it may have to be the member of a domain (security), and have joined none",
    "STATUS_NO_MEMORY": "it may not know its own character set (unix charset), or be out of memory",
}
"""Statuses with which Samba 4.17 refuses every login for a setting, and what that may be."""


class Session:
    """A login by impacket, done once this is made. Raises LoginError and what a connection raises.

    smbclient-ng's own login cannot be used: it takes no connection. It opens two, the first to try the port, and by
    IPv4 alone; it offers neither AES-GCM nor AES-GMAC, logs errors, and opens two pipes, for which Samba starts two
    programs.
    """

    def __init__(self, target: records.Target, secrets: Secrets, channel: Channel, settings: Settings) -> None:
        self._where = wire.place(records.Target(protocol="smb", host=target.host, port=target.port))
        self._port = target.port_number
        with impacket_errors.mapped(self._where):
            self.connection = ChannelConnection(channel.sock, channel, target.host, target.port_number, settings)
        self._client = SMBConnection(
            self.connection.getRemoteName(), self.connection.getServerIP(), existingConnection=self.connection
        )
        self._credentials = smb_credentials.login_credentials(target, secrets)
        self._loaded_session: LoggedInSession | None = None
        self.connection.named_user = self._credentials.username or ""
        if smb_credentials.names_nobody(self._credentials) and self._is_let_in_as_guest():
            return

        try:
            self._log_in(f"{self._where} as {target.user or 'guest'}")
        except errors.LoginError as error:
            advice = smb_credentials.realm_advice(target.user or "", kerberos=secrets.kerberos)
            if advice:
                raise type(error)(f"{error}{advice}", options=error.options) from error
            raise

    def share_names(self) -> list[str]:
        """Those that are folders and not hidden."""
        with impacket_errors.mapped(self._where):
            try:
                shares = self._ask_for_shares()
            except SessionError as error:  # Samba starts and ends what serves its pipes as needed
                if error.getErrorCode() not in wire.PIPE_LOST:
                    raise
                shares = self._ask_for_shares()

        names = [share["name"] for share in shares.values() if not share["rawtype"] & _NOT_A_FOLDER]
        # A share without a name has b"".
        return [name for name in names if isinstance(name, str) and not name.endswith("$")]

    def referred_path(self, host: str, share: str, path: str = "") -> str:
        """Where a share or a path of a DFS name space lies, as ``//HOST/SHARE``; empty where the server tells none."""
        with impacket_errors.mapped(self._where):
            pipe_tree_id = int(self.connection.connectTree("IPC$"))
        names = [host, share, *wire.wire_name(path).split("\\")]
        unc_path = "".join(f"\\{name}" for name in names if name)
        return referral.referred_path(self.connection.channel, pipe_tree_id, unc_path)

    def remove_folder(self, share: str, path: str, where: str) -> None:
        """One that is already gone is no error."""
        self._smbclientng_session().remove_folder(share, path, where)

    def read_file_in_blocks(self, share: str, path: str, take: Callable[[bytes], None]) -> None:
        """smbclient-ng's ``read_file`` would hold the whole file in memory. Raises what impacket raises."""
        self._client.getFile(share, wire.wire_name(path), take)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.connection.log_off()
        with contextlib.suppress(Exception):
            self.connection.close_session()

    def _smbclientng_session(self) -> LoggedInSession:
        if self._loaded_session is None:
            # Loaded only when it is needed: most measurements end without it.
            from app.clients.smb.smbclientng_session import LoggedInSession

            timeout_seconds = self.connection.channel.stall.seconds
            self._loaded_session = LoggedInSession(self._client, self._port, timeout_seconds, self._credentials)
        return self._loaded_session

    def _ask_for_shares(self) -> dict[str, dict[str, Any]]:
        try:
            return self._smbclientng_session().ask_for_shares()
        finally:
            if not self.connection.channel.broken:
                self.connection.close_files()

    def _is_let_in_as_guest(self) -> bool:
        """Log in as a guest, as smbclient and Windows do where nobody is named; False where the server has none.

        Samba (4.17, without winbind) lets an anonymous session make a folder, and then nothing inside it.
        """
        self._credentials.username = smb_credentials.GUEST
        try:
            self._log_in(f"{self._where} as {smb_credentials.GUEST}")
        except errors.LoginError:
            self._credentials.username = ""
            self.connection.forget_login()
            return False
        return True

    def _log_in(self, where: str) -> None:
        try:
            with impacket_errors.mapped(where):
                is_done = self._present_credentials()
        except errors.MeasurementError as error:
            explained = self._explained_refusal(error, where)
            if explained is None:
                raise
            raise explained from error

        if not is_done:
            raise refused_login(where)

    def _explained_refusal(self, error: errors.MeasurementError, where: str) -> errors.LoginError | None:
        """What an error means of a login; None where it says that itself, or means the same of any request."""
        if isinstance(error, errors.LoginError):
            return None

        status = ""
        if isinstance(error.__cause__, SessionError):
            status = wire.status_name(error.__cause__.getErrorCode())
        if isinstance(error, errors.AccessDeniedError):
            return errors.LoginDeniedError(
                f"{where}: the server refuses this login for another reason than its password; it may want encryption, "
                "which no guest can do (server smb encrypt), or not let this account in: log in as another user"
            )
        if status in _OF_SETTINGS:
            return errors.LoginDeniedError(
                f"{where}: the server cannot log anybody in as it is set up ({status}); {_OF_SETTINGS[status]}: its log"
                " tells more"
            )

        # Also a status whose meaning is not known refuses a login, and so does whatever Kerberos raises.
        if not isinstance(error, errors.ConnectionLostError | errors.ProtocolError):
            return None
        if status:
            return errors.LoginError(f"{where}: the server refused the login with {status}; see its log")
        if self._credentials.use_kerberos and error.__cause__ is not None and not self.connection.channel.broken:
            return impacket_errors.kerberos_error(where, error.__cause__)
        return None

    def _present_credentials(self) -> bool:
        """Raises what impacket raises."""
        credentials = self._credentials
        if credentials.use_kerberos:
            return self._present_ticket(Path(credentials.ccacheFile))

        return bool(
            self._client.login(
                credentials.username,
                credentials.password,
                credentials.domain,
                credentials.lm_hex,
                credentials.nt_hex,
            )
        )

    def _present_ticket(self, cache_path: Path) -> bool:
        from app.clients.smb.kerberos import find_service_login

        login = find_service_login(
            cache_path,
            self._credentials.username,
            self._credentials.domain,
            self.connection.getRemoteName(),
            self.connection.channel.stall.seconds,
        )
        return bool(self._client.kerberosLogin(login.user, "", login.realm, TGS=login.ticket))


def refused_login(where: str) -> errors.LoginError:
    return errors.LoginError(f"{where}: the server refused the login; check the user, the password and the domain")
