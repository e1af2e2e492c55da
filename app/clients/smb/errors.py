"""One table from NT status to error class and message."""

from typing import NamedTuple

from app.errors import (
    AccessDeniedError,
    ConnectionLostError,
    LoginError,
    MeasurementError,
    NoSpaceError,
    NoSuchFileError,
    NoSuchShareError,
    NotAFileError,
    ProtocolError,
)
from storage.records import Target

SUCCESS = 0x00000000
PENDING = 0x00000103
NO_MORE_FILES = 0x80000006
END_OF_FILE = 0xC0000011
NO_SUCH_FILE = 0xC000000F
ACCESS_DENIED = 0xC0000022
OBJECT_NAME_NOT_FOUND = 0xC0000034
OBJECT_PATH_NOT_FOUND = 0xC000003A
DELETE_PENDING = 0xC0000056
BAD_NETWORK_NAME = 0xC00000CC
FILE_IS_A_DIRECTORY = 0xC00000BA

GONE = frozenset({NO_SUCH_FILE, OBJECT_NAME_NOT_FOUND, OBJECT_PATH_NOT_FOUND, DELETE_PENDING})


class Meaning(NamedTuple):
    """One status: name (MS-ERREF), error class, what happened, what to try."""

    name: str
    error: type[MeasurementError]
    what: str
    advice: str


_LOGIN = "check the user, the password and the domain"
_ACCOUNT = "let the account in on the server, or use another one"
_NAME = "check the name; case counts on some servers"
_RIGHTS = "check the share's and the file's rights for this user"
_IN_USE = "close it there, or name another file"
_SPACE = "free some, or take a smaller file"
_AGAIN = "check that the server still runs, and measure again"
_BUSY = "look into the server's log, and measure again when it has less to do"
_DISK = "look at the server's disk and its log"

MEANINGS: dict[int, Meaning] = {
    0xC000006D: Meaning("STATUS_LOGON_FAILURE", LoginError, "the server refused the login", _LOGIN),
    0xC000006A: Meaning("STATUS_WRONG_LOGIN", LoginError, "the password is wrong", _LOGIN),
    0xC0000064: Meaning("STATUS_NO_SUCH_USER", LoginError, "the server knows no such user", _LOGIN),
    0xC000006E: Meaning("STATUS_ACCOUNT_RESTRICTION", LoginError, "the account may not log in like this", _ACCOUNT),
    0xC000006F: Meaning("STATUS_INVALID_LOGON_HOURS", LoginError, "the account may not log in now", _ACCOUNT),
    0xC0000070: Meaning("STATUS_INVALID_WORKSTATION", LoginError, "the account may not log in from here", _ACCOUNT),
    0xC0000071: Meaning("STATUS_LOGIN_EXPIRED", LoginError, "the password has expired", "set a new one"),
    0xC0000072: Meaning("STATUS_ACCOUNT_DISABLED", LoginError, "the account is disabled", _ACCOUNT),
    0xC0000193: Meaning("STATUS_ACCOUNT_EXPIRED", LoginError, "the account has expired", _ACCOUNT),
    0xC0000224: Meaning("STATUS_LOGIN_MUST_CHANGE", LoginError, "the password must be changed", "set a new one"),
    0xC0000234: Meaning("STATUS_ACCOUNT_LOCKED_OUT", LoginError, "the account is locked", "wait, or unlock it"),
    0xC000015B: Meaning("STATUS_LOGON_TYPE_NOT_GRANTED", LoginError, "this way to log in is not allowed", _ACCOUNT),
    0xC000005E: Meaning("STATUS_NO_LOGON_SERVERS", LoginError, "the server reaches no domain controller", _ACCOUNT),
    0xC000018D: Meaning("STATUS_TRUSTED_RELATIONSHIP_FAILURE", LoginError, "the domain's trust is broken", _ACCOUNT),
    BAD_NETWORK_NAME: Meaning(
        "STATUS_BAD_NETWORK_NAME", NoSuchShareError, "the server has no such share", "check the share's name"
    ),
    OBJECT_NAME_NOT_FOUND: Meaning("STATUS_OBJECT_NAME_NOT_FOUND", NoSuchFileError, "there is no such file", _NAME),
    NO_SUCH_FILE: Meaning("STATUS_NO_SUCH_FILE", NoSuchFileError, "there is no such file", _NAME),
    OBJECT_PATH_NOT_FOUND: Meaning("STATUS_OBJECT_PATH_NOT_FOUND", NoSuchFileError, "there is no such folder", _NAME),
    0xC0000033: Meaning("STATUS_OBJECT_NAME_INVALID", NoSuchFileError, "the server takes no such name", _NAME),
    0xC0000039: Meaning("STATUS_OBJECT_PATH_INVALID", NoSuchFileError, "the server takes no such path", _NAME),
    0xC000003B: Meaning("STATUS_OBJECT_PATH_SYNTAX_BAD", NoSuchFileError, "the server takes no such path", _NAME),
    DELETE_PENDING: Meaning("STATUS_DELETE_PENDING", NoSuchFileError, "the file is being removed", _NAME),
    0xC0000103: Meaning("STATUS_NOT_A_DIRECTORY", NoSuchFileError, "that is a file, not a folder", "name a folder"),
    FILE_IS_A_DIRECTORY: Meaning(
        "STATUS_FILE_IS_A_DIRECTORY", NotAFileError, "that is a folder, not a file", "name a file in it"
    ),
    ACCESS_DENIED: Meaning("STATUS_ACCESS_DENIED", AccessDeniedError, "the server denies access", _RIGHTS),
    0xC00000CA: Meaning("STATUS_NETWORK_ACCESS_DENIED", AccessDeniedError, "the server denies access", _RIGHTS),
    0xC0000061: Meaning("STATUS_PRIVILEGE_NOT_HELD", AccessDeniedError, "the user lacks a right", _RIGHTS),
    0xC00000A2: Meaning("STATUS_MEDIA_WRITE_PROTECTED", AccessDeniedError, "the share is read-only", _RIGHTS),
    0xC0000121: Meaning("STATUS_CANNOT_DELETE", AccessDeniedError, "the file cannot be removed", _RIGHTS),
    0xC0000043: Meaning("STATUS_SHARING_VIOLATION", AccessDeniedError, "the file is in use", _IN_USE),
    0xC0000054: Meaning("STATUS_FILE_LOCK_CONFLICT", AccessDeniedError, "a part of the file is locked", _IN_USE),
    0xC0000035: Meaning(
        "STATUS_OBJECT_NAME_COLLISION", AccessDeniedError, "there is a file already, and none is replaced", _IN_USE
    ),
    0xC000007F: Meaning("STATUS_DISK_FULL", NoSpaceError, "the disk is full", _SPACE),
    0xC0000044: Meaning("STATUS_QUOTA_EXCEEDED", NoSpaceError, "the quota is used up", _SPACE),
    0xC0000904: Meaning("STATUS_FILE_TOO_LARGE", NoSpaceError, "the file is too large for the file system", _SPACE),
    0xC00000C9: Meaning("STATUS_NETWORK_NAME_DELETED", ConnectionLostError, "the server closed the share", _AGAIN),
    0xC0000203: Meaning("STATUS_USER_SESSION_DELETED", ConnectionLostError, "the server ended the session", _AGAIN),
    0xC000035C: Meaning("STATUS_NETWORK_SESSION_EXPIRED", ConnectionLostError, "the session has expired", _AGAIN),
    0xC0000128: Meaning("STATUS_FILE_CLOSED", ConnectionLostError, "the server closed the file", _AGAIN),
    0xC000020C: Meaning("STATUS_CONNECTION_DISCONNECTED", ConnectionLostError, "the server hung up", _AGAIN),
    0xC000020D: Meaning("STATUS_CONNECTION_RESET", ConnectionLostError, "the server hung up", _AGAIN),
    0xC0000017: Meaning("STATUS_NO_MEMORY", MeasurementError, "the server is out of memory", _BUSY),
    0xC000009A: Meaning("STATUS_INSUFFICIENT_RESOURCES", MeasurementError, "the server is out of resources", _BUSY),
    0xC0000205: Meaning("STATUS_INSUFF_SERVER_RESOURCES", MeasurementError, "the server is out of resources", _BUSY),
    0xC00000D0: Meaning("STATUS_REQUEST_NOT_ACCEPTED", MeasurementError, "the server takes no more sessions", _BUSY),
    0xC000011F: Meaning("STATUS_TOO_MANY_OPENED_FILES", MeasurementError, "too many files are open there", _BUSY),
    0xC0000185: Meaning("STATUS_IO_DEVICE_ERROR", MeasurementError, "the server's disk failed", _DISK),
    0xC00000E9: Meaning("STATUS_UNEXPECTED_IO_ERROR", MeasurementError, "the server's disk failed", _DISK),
    0xC000003E: Meaning("STATUS_DATA_ERROR", MeasurementError, "the server's disk gave bad data", _DISK),
    0xC00000B5: Meaning("STATUS_IO_TIMEOUT", MeasurementError, "the server's disk did not answer in time", _DISK),
}


def place(target: Target, path: str | None = None) -> str:
    """For errors: ``smb://host/share/path``, as far as known."""
    host = target.host if target.port_number == target.abilities.default_port else f"{target.host}:{target.port}"
    parts = [host, target.share or "", (path or "").replace("\\", "/").strip("/")]
    return "smb://" + "/".join(part for part in parts if part)


def status_error(status: int, where: str) -> MeasurementError:
    """ProtocolError if the table has no row for the status."""
    meaning = MEANINGS.get(status)
    if meaning is None:
        return ProtocolError(
            f"{where}: the server answered {status_name(status)}; look it up in the server's log, "
            "or measure with another client"
        )
    return meaning.error(f"{where}: {meaning.what}; {meaning.advice}")


def status_name(status: int) -> str:
    """As MS-ERREF names it, or its number."""
    from impacket.nt_errors import ERROR_MESSAGES  # noqa: PLC0415 - 2,000 names for the rare unknown one

    named: tuple[str, str] | None = ERROR_MESSAGES.get(status)
    return named[0] if named else f"status 0x{status:08X}"
