"""smbclient-ng's session on a connection that is logged in already, for what is never timed.

It is a module of its own because smbclient-ng loads what a transfer does not need (rich, LDAP, remote procedure calls):
as much processor time as all else of an SMB client's start.
"""

import re
import sys
from collections.abc import Collection
from typing import Any

from impacket.smbconnection import SessionError, SMBConnection
from smbclientng.core.SMBSession import SMBSession
from smbclientng.types.Config import Config
from smbclientng.types.Credentials import Credentials

from app.base.errors import MeasurementError, SharebenchError
from app.clients.smb import wire
from app.clients.smb.impacket_errors import mapped

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


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

        if isinstance(cause, SessionError) and cause.getErrorCode() in allowed_statuses:
            return
        if cause is not None:
            with mapped(where):
                raise cause
        raise MeasurementError(f"{where}: {message}")


class LoggedInSession(SMBSession):  # type: ignore[misc]
    """smbclient-ng's session on our connection, which it is given after it was made: its login takes none."""

    def __init__(self, client: SMBConnection, port: int, timeout_seconds: float, credentials: Credentials) -> None:
        self._listener = Listener()
        super().__init__(
            host=client.getRemoteName(),
            port=port,
            timeout=timeout_seconds,
            credentials=credentials,
            config=quiet_config(),
            logger=self._listener,
        )
        self.smbClient = client
        self.connected = True

    def ask_for_shares(self) -> dict[str, dict[str, Any]]:
        """By name in small letters. Raises what impacket raises."""
        shares: dict[str, dict[str, Any]] = self.list_shares()
        return shares

    def remove_folder(self, share: str, path: str, where: str) -> None:
        """One that is already gone is no error."""
        self.smb_share = share
        self._listener.forget()
        with mapped(where):
            self.rmdir(wire.wire_name(path))
        self._listener.check(where, wire.GONE)


def quiet_config() -> Config:
    return Config(debug=False, no_colors=True)
