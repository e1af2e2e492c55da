"""What a user does with files on a server, one operation at a time: for many users at once, and for scripts."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from app.clients.base import DirectoryEntry
from app.errors import NoSuchFileError, NotAFileError
from storage.records import Target


class OpenMode(Enum):
    """What a file is opened for, and what becomes of one that is there."""

    READ = "read"
    UPDATE = "update"
    """Read and write a file that is there."""
    CREATE = "create"
    """Write a new file; fails where there is one."""
    REPLACE = "replace"
    """Write a new file, or empty the one that is there."""


@dataclass(frozen=True, slots=True)
class FileHandle:
    """An open file or folder; only the connection that opened it can use it."""

    path: str
    size_bytes: int
    is_folder: bool
    token: Any
    """What the server or the system knows it by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStatus:
    """What a question about a file or folder tells."""

    size_bytes: int
    is_folder: bool


class Files(Protocol):
    """One user's own connection to a share, and the operations on its files; used by one thread or greenlet at a time.

    Paths are those of ``Target.path``. Each method raises errors of :mod:`app.errors` alone, worded with host, share
    and file. A protocol without open files (FTP) has ``has_handles`` False: there :meth:`read_file`,
    :meth:`write_file` and what names a path work, and what takes a handle raises UsageError.
    """

    target: Target
    has_handles: bool

    def connect(self) -> None:
        """Reach the server, log in and open the share; a second call does nothing while connected."""

    def open(self, path: str, mode: OpenMode = OpenMode.READ) -> FileHandle:
        """Open a file."""

    def read_at(self, handle: FileHandle, offset: int, length: int) -> int:
        """Read that much at that place, however many requests it takes; the bytes that came, fewer at the end."""

    def write_at(self, handle: FileHandle, offset: int, data: memoryview) -> None:
        """Write the bytes at that place, however many requests it takes."""

    def flush(self, handle: FileHandle) -> None:
        """Have the server write to its disk what it holds of the file."""

    def close_file(self, handle: FileHandle) -> None:
        """Close an open file or folder."""

    def query(self, path: str) -> FileStatus:
        """Ask about a path."""

    def list(self, path: str) -> list[DirectoryEntry]:
        """The entries of a folder."""

    def free_bytes(self, path: str) -> int | None:
        """What this user may still write there; None where the server does not say."""

    def rename(self, path: str, new_path: str) -> None:
        """Give a file another name on the same share; fails where that is taken."""

    def make_folder(self, path: str) -> None:
        """Make a folder; fails where there is something of that name."""

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder; one that is gone already is no error."""

    def remove(self, path: str) -> None:
        """Remove a file; one that is gone already is no error."""

    def read_file(self, path: str, size_bytes: int) -> int:
        """Open a file, read up to so much from its beginning, and close it: the bytes that came."""

    def write_file(self, path: str, data: memoryview, mode: OpenMode = OpenMode.CREATE) -> None:
        """Open a file, write it from its beginning, and close it."""

    def abort(self) -> None:
        """End whatever blocks, at once; may be called from another thread or greenlet."""

    def close(self) -> None:
        """Log off and hang up; never raises."""


def check_folder(files: Files) -> None:
    """Whether the target is a folder. Raises NotAFileError, NoSuchFileError."""
    path = files.target.path
    where = f"{files.target.host}: {path}" if files.target.host else path
    if not path.strip("/"):
        return
    try:
        is_folder = files.query(path).is_folder
    except NoSuchFileError as error:
        raise NoSuchFileError(f"{where}: there is no such folder; make it, or name one that is there") from error
    if not is_folder:
        raise NotAFileError(f"{where} is a file; name the folder to work in")


Caller = Callable[..., Any]
"""Calls a function that blocks in the kernel: at once, or in a thread where others share this one."""


def call_here(function: Callable[..., Any], *arguments: Any) -> Any:
    """The caller for a thread of one's own: it just calls."""
    return function(*arguments)
