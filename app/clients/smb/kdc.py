"""The conversation with a Kerberos server: impacket's own waits for ever, for answers of any length."""

import socket
import struct
from collections.abc import Callable

from impacket.krb5.asn1 import KRB_ERROR
from impacket.krb5.constants import ErrorCodes
from impacket.krb5.kerberosv5 import KerberosError
from pyasn1.codec.der import decoder
from pyasn1.error import PyAsn1Error

from app.clients.os_errors import connect_tcp
from app.clients.stall import StallWatch
from app.errors import LoginError, ProtocolError

PORT = 88
_MOST_BYTES = 1 << 20
"""The longest answer; tickets of users in a thousand groups have some ten thousand bytes."""

Ask = Callable[[bytes, str, str | None], bytes]


def kerberos_server(seconds: float) -> Ask:
    """A function in place of impacket's ``sendReceive``, which ends within so many seconds.

    It raises UnreachableError, StalledError, ProtocolError, LoginError, and KerberosError for a refusal.
    """

    def ask(request: bytes, host: str, kdc_host: str | None) -> bytes:
        server = kdc_host or host
        where = f"Kerberos server {server}:{PORT}"
        watch = StallWatch(seconds, lambda: where)
        with connect_tcp(server, PORT, where, seconds, "a Kerberos server") as sock:
            watch.start()
            try:
                sock.settimeout(watch.left_seconds())
                sock.sendall(struct.pack(">i", len(request)) + request)
                (length,) = struct.unpack(">i", _exactly(sock, 4, watch, where))
                if not 0 < length <= _MOST_BYTES:
                    raise ProtocolError(f"{where}: the answer would be {length} bytes long; is it a Kerberos server?")
                return _checked(_exactly(sock, length, watch, where))
            except TimeoutError as error:
                raise watch.error() from error
            except OSError as error:
                raise _hung_up(where) from error

    return ask


def _exactly(sock: socket.socket, count: int, watch: StallWatch, where: str) -> bytes:
    data = b""
    while len(data) < count:
        watch.check()
        sock.settimeout(watch.left_seconds())
        part = sock.recv(count - len(data))
        if not part:
            raise _hung_up(where)
        data += part
    return data


def _hung_up(where: str) -> LoginError:
    return LoginError(f"{where}: it hung up before it had answered; see its log")


def _checked(answer: bytes) -> bytes:
    """The answer, where it is no refusal; a demand to prove who one is first is none."""
    try:
        refusal = KerberosError(packet=decoder.decode(answer, asn1Spec=KRB_ERROR())[0])
    except PyAsn1Error:
        return answer
    if refusal.getErrorCode() != ErrorCodes.KDC_ERR_PREAUTH_REQUIRED.value:
        raise refusal
    return answer
