"""Makes one of our errors, in one line, of whatever impacket raises."""

import contextlib
import traceback
from collections.abc import Iterator

from impacket import nmb, smb3, smbconnection

from app.base.errors import ConnectionLostError, LoginError, ProtocolError, SharebenchError
from app.clients.smb.wire import status_error

_OUR_PACKAGES = {"app", "forms", "storage"}
_MISTAKES = TypeError | AttributeError | AssertionError | NameError


@contextlib.contextmanager
def mapped(where: str) -> Iterator[None]:
    """Raises our error for what impacket raises inside the block; ``where`` begins its message."""
    try:
        yield
    except SharebenchError:
        raise
    except smb3.SessionError as error:
        raise status_error(error.get_error_code(), where) from error
    except smbconnection.SessionError as error:
        if _is_kerberos_refusal(error):
            raise kerberos_error(where, error) from error
        raise status_error(error.getErrorCode(), where) from error
    except nmb.NetBIOSError as error:
        raise ConnectionLostError(
            f"{where}: the connection ended in the middle; check that the server still runs, and measure again"
        ) from error
    except OSError as error:
        raise ConnectionLostError(f"{where}: {error.strerror or error}; check that the server still runs") from error
    except Exception as error:  # impacket raises bare Exception, KeyError, struct.error and more for odd answers
        if _is_our_mistake(error):
            raise

        text = _text_of(error)
        raise ProtocolError(f"{where}: the server's answer makes no sense ({text}); see its log") from error


def kerberos_error(where: str, error: BaseException) -> LoginError:
    return LoginError(
        f"{where}: Kerberos does not let this in ({_text_of(error)}); renew the ticket with kinit, name the server as "
        "its domain does, and check the clocks"
    )


def _is_kerberos_refusal(error: smbconnection.SessionError) -> bool:
    # Loaded only after a failure, because a login by password needs nothing of Kerberos.
    from impacket.krb5.kerberosv5 import KerberosError

    return isinstance(error, KerberosError)


def _is_our_mistake(error: Exception) -> bool:
    """Whether our own code raised it and is wrong; the same of a library may be about what a server answered."""
    *_, (frame, _line) = traceback.walk_tb(error.__traceback__)
    package = frame.f_globals["__name__"].partition(".")[0]
    return package in _OUR_PACKAGES and isinstance(error, _MISTAKES)


def _text_of(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - whatever its own __str__ raises, the kind of error remains
        text = ""
    return text or type(error).__name__
