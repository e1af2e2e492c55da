"""What an FTP server's refusal means: of a path, of a command that has none, of a login, or of any conversation."""

import ftplib
import re

from app.base import errors
from app.clients import tcp

IMPLICIT_PORT = 990
"""TLS begins at once on this port; elsewhere AUTH TLS asks for it (RFC 4217)."""

_NOT_ALLOWED = re.compile(r"permission|denied|not allowed|disabled", re.IGNORECASE)
_NOT_THERE = re.compile(r"no such|not found|not exist|doesn't exist|cannot find", re.IGNORECASE)
"""Of a 550, which servers say of what is not there as well as of what they do not show: some with the reason."""

_FULL = re.compile(
    r"no space|disk.{0,20}full|quota|exceeded storage|insufficient (storage|disk)|\[Errno 28\]", re.IGNORECASE
)
_LOCAL_WRITE = re.compile(r"writ.{0,20}(local )?file", re.IGNORECASE)
"""vsftpd's ``426 Failure writing to local file.`` gives no reason; a full disk is the usual one."""

_REPLIES = tcp.refusals("ftp")

_ABOUT_NO_PATH = frozenset({"AUTH", "PBSZ", "PROT", "TYPE", "PASV", "EPSV"})
"""Commands that a transfer needs and that name no file: their refusal says nothing of one."""

_SWITCHES = {
    "RETR": "download_enable",
    "LIST": "dirlist_enable",
    "MLSD": "dirlist_enable",
    "MKD": "write_enable",
    "DELE": "write_enable",
    "RMD": "write_enable",
    "RNFR": "write_enable",
}
"""What switches a command off in vsftpd, beside ``cmds_denied``: its reply is that of a file's rights."""

_QUESTION = "is it an FTP server, and on that port?"
_UNKNOWN_COMMANDS = ("500", "501", "502", "503", "504")

_NEEDS_TLS = re.compile("encrypt|TLS|SSL")
_ANONYMOUS_ONLY = re.compile(r"anonymous\W+only|only\W+anonymous", re.IGNORECASE)
_TOO_MANY = re.compile(r"too many|maximum|limit", re.IGNORECASE)
_OF_SETTINGS = re.compile(r"OOPS|chroot|directory", re.IGNORECASE)
"""What servers say that took the login, or would have, and cannot go on by their own settings; OOPS is vsftpd's."""
_WRITABLE_ROOT = re.compile(r"writable root inside chroot", re.IGNORECASE)


def reply_error(
    error: ftplib.Error, where: str, *, storing: bool = False, command: str = ""
) -> errors.MeasurementError:
    """The error for a refusal; ``command`` is what was refused, such as ``TYPE``."""
    reply = tcp.one_line(str(error))
    if _FULL.search(reply):
        return errors.NoSpaceError(f"{where}: the server's disk or quota is full ({reply}); {tcp.SPACE_ADVICE}")
    if storing and reply.startswith(("426", "451")) and _LOCAL_WRITE.search(reply):
        return errors.NoSpaceError(
            f"{where}: the server cannot write on, its disk or quota is most likely full ({reply}); {tcp.SPACE_ADVICE}"
        )
    if command in _ABOUT_NO_PATH and reply.startswith("5"):
        return errors.MeasurementError(
            f"{where}: the server refuses the command {command} ({reply}), which is not about this file or folder; "
            "allow the command there"
        )

    kind, advice = _REPLIES.get(reply[:3], (errors.ProtocolError, "look that up in the server's log"))
    if kind is errors.AccessDeniedError and command in _SWITCHES:
        advice += f"; or the server does not allow {command} (vsftpd: {_SWITCHES[command]})"
    return kind(f"{where}: the server said: {reply}; {advice}")


def is_not_allowed(error: ftplib.Error) -> bool:
    """Whether the server says that something is there, or may be, and not for this user."""
    return bool(_NOT_ALLOWED.search(str(error)))


def folder_refusal(error: ftplib.error_perm, where: str) -> errors.MeasurementError:
    """The error where a folder cannot be entered: it is missing only where the server says so."""
    reply = tcp.one_line(str(error))
    if is_not_allowed(error):
        return errors.AccessDeniedError(
            f"{where}: the server does not let this user into this folder ({reply}); check its rights and those of the "
            "folders above it, and that the server allows the command CWD"
        )
    if _NOT_THERE.search(reply):
        return errors.NoSuchFileError(f"{where}: there is no such folder; make it, or name another one")
    return errors.NoSuchFileError(
        f"{where}: there is no such folder, or this user may not enter it ({reply}); check the path, and the rights of "
        "the folders"
    )


def closed_folder(error: ftplib.error_perm, where: str) -> errors.AccessDeniedError:
    """The error where a folder that the server lists cannot be entered."""
    return errors.AccessDeniedError(
        f"{where}: that is a folder which this user may not enter ({tcp.one_line(str(error))}); check its rights"
    )


def passive_refusal(error: ftplib.Error, where: str) -> errors.MeasurementError:
    """The error where the server names no port for data, by whichever command it was asked."""
    reply = tcp.one_line(str(error))
    return errors.MeasurementError(
        f"{where}: the server refuses passive mode ({reply}), without which no file and no list is moved; switch it on "
        "there (vsftpd: pasv_enable)"
    )


def no_data_connection(error: OSError, where: str, port: int, timeout_seconds: float) -> errors.MeasurementError:
    """The error where the server has named a port for data, and it cannot be reached."""
    advice = (
        "open the server's passive ports in the firewalls on the way, and where they are forwarded (vsftpd: "
        "pasv_min_port and pasv_max_port)"
    )
    problem = f"{where}: the server named port {port} for the data"
    if isinstance(error, TimeoutError):
        return errors.StalledError(f"{problem}, and nothing answers there within {timeout_seconds:g} s; {advice}")
    if isinstance(error, ConnectionRefusedError):
        return errors.ConnectionLostError(f"{problem}, and a connection to it is refused; {advice}")
    return errors.ConnectionLostError(f"{problem}, which cannot be reached ({error.strerror or error}); {advice}")


def login_refusal(error: ftplib.error_perm, where: str, user: str, *, command: str) -> errors.LoginError:
    """The error for a login that is refused to the command USER or PASS; ``user`` is empty for an anonymous one."""
    reply = tcp.one_line(str(error))
    refused = f"{where}: the server refused {user or 'anonymous'} ({reply})"

    if _NEEDS_TLS.search(reply):
        return errors.LoginError(f"{refused}; measure ftps:// instead")
    if _TOO_MANY.search(reply):
        return errors.LoginDeniedError(f"{refused}; wait until others have ended, or let it take more connections")
    if _OF_SETTINGS.search(reply):
        return errors.LoginDeniedError(f"{refused}; its settings stop it, not the password: {_settings_advice(reply)}")
    if reply.startswith(_UNKNOWN_COMMANDS):
        return errors.LoginDeniedError(f"{refused}: it does not know the command {command}; {_QUESTION}")

    if not user:
        return errors.LoginError(f"{refused}; name a user: ftp://USER@HOST/PATH")
    if _ANONYMOUS_ONLY.search(reply):
        return errors.LoginDeniedError(f"{refused}; leave out the user: ftp://HOST/PATH")
    if command == "USER":
        return errors.LoginDeniedError(
            f"{refused} before it asked for a password; check the user's name, and whom it lets in (vsftpd: "
            "userlist_file)"
        )
    return errors.LoginError(f"{refused}; check the user and the password")


def _settings_advice(reply: str) -> str:
    if _WRITABLE_ROOT.search(reply):
        return "take from this user the right to write in its root folder there, or set allow_writeable_chroot = YES"
    return "correct what it names there"


def no_welcome(error: Exception, where: str, timeout_seconds: float) -> errors.MeasurementError:
    """The error for a connection that was not greeted."""
    if isinstance(error, ftplib.error_perm):
        text = f"the server takes no connection ({tcp.one_line(str(error))}); look at its settings and its log"
    elif isinstance(error, ftplib.error_temp):
        text = f"the server takes no connection now ({tcp.one_line(str(error))}); try later"
    elif isinstance(error, ftplib.Error):
        text = f"what it sends is no FTP ({tcp.one_line(str(error), 60)}); {_QUESTION}"
    elif isinstance(error, TimeoutError):
        text = (
            f"connected, but no greeting within {timeout_seconds:g} s; {_QUESTION} One that begins with TLS is spoken "
            f"to on port {IMPLICIT_PORT} alone"
        )
    else:
        connection_error = tcp.connection_error(error, where, timeout_seconds)
        if not isinstance(connection_error, errors.ConnectionLostError):
            return connection_error
        text = f"the server hung up without a greeting; {_QUESTION}"

    return errors.UnreachableError(f"{where}: {text}")
