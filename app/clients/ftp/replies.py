"""What an FTP server's replies mean to an admin: one table from reply code to our error tree and words."""

import ftplib
import re

from app.clients.os_errors import SPACE_ADVICE, one_line
from app.errors import (
    AccessDeniedError,
    ConnectionLostError,
    LoginError,
    MeasurementError,
    NoSpaceError,
    NoSuchFileError,
    ProtocolError,
)

_FULL = re.compile(
    r"no space|disk.{0,20}full|quota|exceeded storage|insufficient (storage|disk)|\[Errno 28\]", re.IGNORECASE
)
_LOCAL_WRITE = re.compile(r"writ.{0,20}(local )?file", re.IGNORECASE)
"""vsftpd's ``426 Failure writing to local file.``: it does not say why, and a full disk is the usual reason."""

_REPLIES: dict[str, tuple[type[MeasurementError], str]] = {
    "421": (ConnectionLostError, "check that the server still runs and takes more connections, and measure again"),
    "425": (ConnectionLostError, "check the firewall between here and the server's passive ports"),
    "426": (ConnectionLostError, "look at the server's log, and measure again"),
    "450": (AccessDeniedError, "the file is in use; name another one"),
    "451": (MeasurementError, "look at the server's disk and its log"),
    "452": (NoSpaceError, SPACE_ADVICE),
    "522": (LoginError, "the server wants the data connection's TLS otherwise; look at its log"),
    "530": (LoginError, "check the user and the password"),
    "532": (LoginError, "the user needs an account for that; take another one"),
    "550": (AccessDeniedError, "check the name, and the rights of the file and its folder"),
    "552": (NoSpaceError, SPACE_ADVICE),
    "553": (NoSuchFileError, "the server takes no such name; name another file"),
}


def reply_error(error: ftplib.Error, where: str, *, storing: bool = False) -> MeasurementError:
    """The error that a refusing reply is; a reply that no table row explains is a ProtocolError."""
    said = one_line(str(error))
    if _FULL.search(said):
        return NoSpaceError(f"{where}: the server's disk or quota is full ({said}); {SPACE_ADVICE}")
    if storing and said.startswith(("426", "451")) and _LOCAL_WRITE.search(said):
        return NoSpaceError(
            f"{where}: the server cannot write on, its disk or quota is most likely full ({said}); {SPACE_ADVICE}"
        )
    kind, advice = _REPLIES.get(said[:3], (ProtocolError, "look that up in the server's log"))
    return kind(f"{where}: the server said: {said}; {advice}")
