"""What the operating system's errors mean to an admin, for files and for TCP connections."""

import errno
import socket
import ssl
import time
from collections.abc import Callable

from app.errors import (
    AccessDeniedError,
    ConnectionLostError,
    MeasurementError,
    NoSpaceError,
    NoSuchFileError,
    NotAFileError,
    ProtocolError,
    StalledError,
    UnreachableError,
)

SPACE_ADVICE = "free some, or take a smaller file"

_FILE_ERRORS: dict[int, tuple[type[MeasurementError], str]] = {
    errno.ENOENT: (NoSuchFileError, "there is no such file; check the name, case counts"),
    errno.ENOTDIR: (NoSuchFileError, "a part of the path is a file, not a folder; check the path"),
    errno.ENAMETOOLONG: (NoSuchFileError, "the name is too long; take a shorter one"),
    errno.ELOOP: (NoSuchFileError, "the links lead in a circle; name the file itself"),
    errno.EISDIR: (NotAFileError, "that is a folder, not a file; name a file in it"),
    errno.EACCES: (AccessDeniedError, "this user may not do that; check the rights of the file and its folder"),
    errno.EPERM: (AccessDeniedError, "this user may not do that; check the rights of the file and its folder"),
    errno.EROFS: (AccessDeniedError, "the file system is mounted read-only; mount it for writing"),
    errno.EEXIST: (AccessDeniedError, "there is a file already, and none is replaced; name another folder"),
    errno.ETXTBSY: (AccessDeniedError, "the file is in use; name another one"),
    errno.ENOSPC: (NoSpaceError, f"the disk is full; {SPACE_ADVICE}"),
    errno.EDQUOT: (NoSpaceError, f"the quota is used up; {SPACE_ADVICE}"),
    errno.EFBIG: (NoSpaceError, "the file is too large for the file system; take a smaller file"),
    errno.ESTALE: (ConnectionLostError, "the server behind the mount no longer knows the file; mount it again"),
    errno.EHOSTDOWN: (ConnectionLostError, "the server behind the mount went away; check that it runs"),
    errno.ENOTCONN: (ConnectionLostError, "the server behind the mount went away; mount it again"),
    errno.ETIMEDOUT: (StalledError, "the server behind the mount does not answer; check that it runs"),
    errno.EIO: (MeasurementError, "the disk or the mount failed; look at the kernel's log"),
}


def file_error(error: OSError, where: str) -> MeasurementError:
    """The error that a failed file operation is, worded for the admin."""
    kind, what = _FILE_ERRORS.get(
        error.errno or 0, (MeasurementError, f"{error.strerror or error}; look at the file system and its rights")
    )
    return kind(f"{where}: {what}")


def connect_tcp(
    host: str,
    port: int,
    where: str,
    timeout_seconds: float,
    server: str,
    hold: Callable[[socket.socket], None] = lambda _sock: None,
) -> socket.socket:
    """A TCP connection; ``server`` is what should be listening there. Raises UnreachableError.

    ``hold`` is given each socket before it connects, so that another thread can shut it down.
    """
    try:
        return _first_that_answers(host, port, timeout_seconds, hold)
    except (socket.gaierror, UnicodeError) as error:
        raise UnreachableError(
            f"{where}: no host of that name is known; check the name, or give its address"
        ) from error
    except TimeoutError as error:
        raise UnreachableError(
            f"{where}: no answer within {timeout_seconds:g} s; check the address and the firewall"
        ) from error
    except ConnectionRefusedError as error:
        raise UnreachableError(
            f"{where}: nothing listens on that port; is {server} running, and on which port?"
        ) from error
    except OSError as error:
        reason = error.strerror or error
        raise UnreachableError(f"{where}: cannot be reached ({reason}); check the name and the network") from error


def _first_that_answers(
    host: str, port: int, timeout_seconds: float, hold: Callable[[socket.socket], None]
) -> socket.socket:
    """A connection to the first of a host's addresses that answers; all of them together have the time of one."""
    until = time.monotonic() + timeout_seconds
    last: OSError | None = None
    for family, kind, protocol, _name, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        hold(sock)
        try:
            sock.settimeout(max(0.001, until - time.monotonic()))
            sock.connect(address)
        except OSError as error:
            sock.close()
            last = error
        else:
            sock.settimeout(timeout_seconds)
            return sock
    raise last or OSError("no address")


def connection_error(error: Exception, where: str, timeout_seconds: float) -> MeasurementError:
    """The error that a failure on an open connection is, worded for the admin."""
    if isinstance(error, (TimeoutError, BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)):
        return StalledError(
            f"{where}: nothing moved for {timeout_seconds:g} s; look at the server and the network, or allow "
            "it more time"
        )
    if isinstance(error, ssl.SSLCertVerificationError):
        return UnreachableError(
            f"{where}: the server's certificate is not trusted ({error.verify_message}); "
            "name the certificate to trust in SSL_CERT_FILE"
        )
    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
        return ProtocolError(f"{where}: TLS failed ({error.reason or error}); check the server's TLS settings")
    return ConnectionLostError(f"{where}: the connection was lost; check that the server still runs, and measure again")


def one_line(text: str, limit: int = 200) -> str:
    """Text from outside as one printable line of at most ``limit`` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
