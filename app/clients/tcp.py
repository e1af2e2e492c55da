"""TCP connections: how they are made, and what an admin is told when that or a transfer fails.

``where`` is the target as a person writes it, which begins each message.
"""

import errno
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path

from app.base import errors
from app.clients.stall_watch import StallWatch

SPACE_ADVICE = "free some, or take a smaller file"


Refusal = tuple[type[errors.MeasurementError], str]
"""The error to raise for a code, and its text: what happened and what to do."""


def refusals(whose: str) -> dict[str, Refusal]:
    """The rows of ``refusals.txt`` that are an SMB server's (``smb``), the file system's (``file``), an FTP server's
    (``ftp``) or ``curl``'s, by the code that these give.
    """
    text = Path(__file__).with_name("refusals.txt").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line and not line.startswith("#")]
    return {code: (getattr(errors, error), text) for owner, code, error, text in rows if owner == whose}


_FILE_REFUSALS = refusals("file")


def file_error(error: OSError, where: str) -> errors.MeasurementError:
    """The error of a local file, folder or disk."""
    unknown = errors.MeasurementError, f"{error.strerror or error}; look at the file system and its rights"
    kind, text = _FILE_REFUSALS.get(errno.errorcode.get(error.errno or 0, ""), unknown)
    return kind(f"{where}: {text}")


def _hold_nothing(_sock: socket.socket) -> None:
    """For callers who never shut a socket while it connects."""


def connect_tcp(
    host: str,
    port: int,
    where: str,
    timeout_seconds: float,
    server: str,
    hold: Callable[[socket.socket], None] = _hold_nothing,
) -> socket.socket:
    """A connection to the first address of the host that answers. Raises UnreachableError.

    ``server`` is what should listen there, for the message. ``hold`` gets each socket before it connects, so that
    another thread can shut it down.
    """
    try:
        return _first_that_answers(host, port, timeout_seconds, hold)
    except (OSError, UnicodeError) as error:
        if isinstance(error, socket.gaierror | UnicodeError):
            reason = "no host of that name is known; check the name, or give its address"
        elif isinstance(error, TimeoutError):
            reason = f"no answer within {timeout_seconds:g} s; check the address and the firewall"
        elif isinstance(error, ConnectionRefusedError):
            reason = f"nothing listens on port {port} of {host}; start {server} there, or name its port: HOST:PORT"
        else:
            reason = f"cannot be reached ({error.strerror or error}); check the name and the network"

        raise errors.UnreachableError(f"{where}: {reason}") from error


def _first_that_answers(
    host: str, port: int, timeout_seconds: float, hold: Callable[[socket.socket], None]
) -> socket.socket:
    """All addresses of the host together get ``timeout_seconds``."""
    until = time.monotonic() + timeout_seconds
    last_error: OSError | None = None

    for family, kind, protocol, _name, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        hold(sock)
        try:
            sock.settimeout(max(0.001, until - time.monotonic()))
            sock.connect(address)
        except OSError as error:
            sock.close()
            last_error = error
        else:
            sock.settimeout(timeout_seconds)
            return sock
    raise last_error or OSError("no address")


def connection_error(error: Exception, where: str, timeout_seconds: float) -> errors.MeasurementError:
    """The error of a connection that was made: stalled, not trusted, TLS, or lost."""
    if isinstance(error, (TimeoutError, BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)):
        return StallWatch(timeout_seconds, lambda: where).error()
    if isinstance(error, ssl.SSLCertVerificationError):
        return errors.UnreachableError(
            f"{where}: the server's certificate is not trusted ({error.verify_message}); "
            "name the certificate to trust in SSL_CERT_FILE"
        )
    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
        return errors.ProtocolError(f"{where}: TLS failed ({error.reason or error}); check the server's TLS settings")
    return errors.ConnectionLostError(
        f"{where}: the connection was lost; check that the server still runs, and measure again"
    )


def one_line(text: str, limit: int = 200) -> str:
    """A text from elsewhere, fit to be shown: without line ends and control characters, and not too long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
