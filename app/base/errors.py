"""The errors that an admin can see. A library's exception is mapped to one where the library is called, and chained."""

from typing import ClassVar


class SharebenchError(Exception):
    """An error an admin can act on; ``str()`` is one line."""

    exit_code: ClassVar[int] = 4

    def __init__(self, text: str = "", *, options: str = "") -> None:
        """``options`` are command-line options that do what the text recommends."""
        super().__init__(text)
        self.options = options


class UsageError(SharebenchError):
    exit_code = 2


class PasswordInURLError(UsageError):
    """A password was given in a URL or on the command line."""


class MeasurementError(SharebenchError):
    """The measurement failed or is invalid; earlier results are kept."""


class UnreachableError(MeasurementError):
    """Unknown host, closed port or no route."""


class LoginError(MeasurementError):
    """The server refused user, password or ticket."""


class LoginDeniedError(LoginError):
    """The server refused the login for another reason than its user or password."""


class GuestDeniedError(LoginError):
    """The server took the login for a guest's and does not open the share to it; another login may help."""


class NoSuchShareError(MeasurementError):
    """The share does not exist."""


class ShareNotOpenedError(NoSuchShareError):
    """The server lists the share and does not open it, so that its name is right."""


class NoSuchFileError(MeasurementError):
    """The path does not exist."""


class ElsewhereError(MeasurementError):
    """The path is a link of a DFS name space, so that it lies on another server."""


class NotAFileError(MeasurementError):
    """The path is a folder, or an empty file."""


class AccessDeniedError(MeasurementError):
    """The user may not read or write there."""


class ShareDeniedError(AccessDeniedError):
    """The user is logged in, and the server does not open the share to it."""


class NoSpaceError(MeasurementError):
    """The disk or the quota is full."""


class ConnectionLostError(MeasurementError):
    """The connection was lost."""


class StalledError(MeasurementError):
    """No progress within ``--timeout``."""


class UnequalFilesError(MeasurementError):
    """The files to compare are not of the same size."""


class CorruptedError(MeasurementError):
    """Wrong data, signature or authentication tag."""


class ProtocolError(MeasurementError):
    """The peer violated its protocol."""


class HungUpError(ProtocolError):
    """The peer hung up before it had answered anything."""


class MissingProgramError(MeasurementError):
    """A required program is not installed."""


class LinuxNeededError(MeasurementError):
    """Measuring needs Linux."""


class NotQuietError(MeasurementError):
    """The time was busy, and ``--quiet-time require`` is set."""


class HookError(MeasurementError):
    """A command that was to run before or after a run failed."""


class ChildDiedError(MeasurementError):
    """The measuring process ended without a reason."""


class NotebookError(SharebenchError):
    """The notebook cannot be opened, read or written."""


class CancelledError(SharebenchError):
    """The user stopped the measurement."""

    exit_code = 130


BY_NAME = {
    name: kind for name, kind in [*vars().items()] if isinstance(kind, type) and issubclass(kind, SharebenchError)
}
"""What our processes can name to each other; any other error is told as the kind above it."""
