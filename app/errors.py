"""The errors that an admin can see, as one tree.

    SharebenchError            one line: what happened, where, what to try
    ├── UsageError             exit 2: usage error
    │   └── PasswordInURLError
    ├── MeasurementError       exit 4: the measurement failed or is invalid
    │   ├── UnreachableError       host unknown, port closed, no route, timed out while connecting
    │   ├── LoginError             wrong password, account locked, guest refused
    │   ├── NoSuchShareError
    │   ├── NoSuchFileError
    │   ├── NotAFileError          a folder where a file was named, or an empty file
    │   ├── AccessDeniedError      the share or folder cannot be read or written
    │   ├── NoSpaceError           the disk filled up
    │   ├── ConnectionLostError    the server went away in mid-transfer
    │   ├── StalledError           no progress for --timeout seconds
    │   ├── CorruptedError         a signature, tag or verified content did not match
    │   ├── ProtocolError          the server answered what the protocol does not allow
    │   ├── MissingProgramError    an external program (iperf3, smbclient, curl) is not installed
    │   ├── LinuxNeededError       this machine has not what measuring is made of
    │   ├── NotQuietError          --quiet-time require was not met
    │   └── ChildDiedError         the measuring process ended without a word
    ├── NotebookError          exit 4: the notebook cannot be opened, read or written
    └── CancelledError         exit 130: the user stopped it

A library's exception is mapped to one of these where the library is called, and chained.
"""

from typing import ClassVar


class SharebenchError(Exception):
    """An error that an admin can act on: ``str()`` of it is one line, as good on a screen as on the command line."""

    exit_code: ClassVar[int] = 4

    def __init__(self, text: str = "", *, options: str = "") -> None:
        """``options`` are those of the command line that do what the text advises."""
        super().__init__(text)
        self.options = options


class UsageError(SharebenchError):
    """A usage error: an unknown option value, a bad URL."""

    exit_code = 2


class PasswordInURLError(UsageError):
    """A password stood in a URL or on the command line."""


class MeasurementError(SharebenchError):
    """The measurement failed or is invalid; what was measured before it is kept."""


class UnreachableError(MeasurementError):
    """The host is unknown, the port closed or the way to it blocked."""


class LoginError(MeasurementError):
    """The server refused the user, the password or the ticket."""


class NoSuchShareError(MeasurementError):
    """The server has no share of that name."""


class NoSuchFileError(MeasurementError):
    """There is no file or folder at that path."""


class NotAFileError(MeasurementError):
    """The path is a folder where a file is needed, or a file with nothing in it."""


class AccessDeniedError(MeasurementError):
    """The server lets this user in, but not read or write there."""


class NoSpaceError(MeasurementError):
    """The disk or the quota is full."""


class ConnectionLostError(MeasurementError):
    """The connection ended while it was in use."""


class StalledError(MeasurementError):
    """Nothing moved for as long as ``--timeout`` allows."""


class CorruptedError(MeasurementError):
    """Bytes, a signature or an authentication tag were not what they must be."""


class ProtocolError(MeasurementError):
    """The other side answered what its protocol does not allow."""


class MissingProgramError(MeasurementError):
    """A program that does the work is not installed."""


class LinuxNeededError(MeasurementError):
    """This machine is no Linux: it can read and compare what others measured."""


class NotQuietError(MeasurementError):
    """The time was busy, and ``--quiet-time require`` wants a quiet one."""


class ChildDiedError(MeasurementError):
    """The measuring process ended without saying why."""


class NotebookError(SharebenchError):
    """The notebook cannot be opened, read or written."""


class CancelledError(SharebenchError):
    """The user stopped the measurement."""

    exit_code = 130
