"""The way to a server: its name looked up, a TCP connection made, and words for each way that this fails."""

import socket
import time
from collections.abc import Callable

from app.clients.smb.errors import place
from app.errors import UnreachableError
from storage.records import Target


def reach(target: Target, timeout_seconds: float, hold: Callable[[socket.socket], None]) -> socket.socket:
    """A TCP connection to the target's server, by the first of its addresses that answers. Raises UnreachableError.

    ``hold`` is given each socket before it connects, so that another thread can shut it down.
    """
    where = place(Target(protocol="smb", host=target.host, port=target.port))
    try:
        found = socket.getaddrinfo(target.host, target.port_number, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnreachableError(
            f"{where}: no host of that name is known; check the name, or give its address"
        ) from error
    last: OSError | None = None
    until = time.monotonic() + timeout_seconds
    for family, kind, protocol, _name, address in found:
        sock = socket.socket(family, kind, protocol)
        hold(sock)
        try:
            sock.settimeout(max(0.001, until - time.monotonic()))
            sock.connect(address)
        except OSError as error:
            sock.close()
            last = error
        else:
            return sock
    raise UnreachableError(f"{where}: {_reason(last, timeout_seconds)}") from last


def _reason(error: OSError | None, timeout_seconds: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout_seconds:g} s; check the address and the firewall"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens on that port; is smbd running, and on which port?"
    reason = error.strerror if error is not None else "no address"
    return f"cannot be reached ({reason}); check the name and the network"
