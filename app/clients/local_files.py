"""File operations on a local disk, or on a share that the system has mounted: the kernel's own client."""

import builtins
import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.clients.base import DirectoryEntry, Secrets
from app.clients.files import Caller, FileHandle, FileStatus, OpenMode, call_here
from app.clients.local import list_entries
from app.clients.os_errors import file_error
from app.errors import NoSuchFileError
from storage.plan import Settings
from storage.records import Target

_FLAGS = {
    OpenMode.READ: os.O_RDONLY,
    OpenMode.UPDATE: os.O_RDWR,
    OpenMode.CREATE: os.O_RDWR | os.O_CREAT | os.O_EXCL,
    OpenMode.REPLACE: os.O_RDWR | os.O_CREAT | os.O_TRUNC,
}


class LocalFiles:
    """System calls, each of which may block; ``call`` lets them do so in a thread of their own."""

    has_handles = True

    def __init__(self, target: Target, _secrets: Secrets, _settings: Settings, call: Caller = call_here) -> None:
        self.target = target
        self._call = call

    def connect(self) -> None:
        """Nothing to reach."""

    def open(self, path: str, mode: OpenMode = OpenMode.READ) -> FileHandle:
        file = self._do(path, os.open, path, _FLAGS[mode] | os.O_CLOEXEC | os.O_NOCTTY, 0o600)
        return FileHandle(path, os.fstat(file).st_size, is_folder=False, token=file)

    def read_at(self, handle: FileHandle, offset: int, length: int) -> int:
        """Read that much at that place: the bytes that came."""
        at, end = offset, offset + length
        while at < end and (data := self._do(handle.path, os.pread, handle.token, end - at, at)):
            at += len(data)
        return at - offset

    def write_at(self, handle: FileHandle, offset: int, data: memoryview) -> None:
        done = 0
        while done < len(data):
            done += self._do(handle.path, os.pwrite, handle.token, data[done:], offset + done)

    def flush(self, handle: FileHandle) -> None:
        """Have the file written to the disk."""
        self._do(handle.path, os.fsync, handle.token)

    def close_file(self, handle: FileHandle) -> None:
        self._do(handle.path, os.close, handle.token)

    def query(self, path: str) -> FileStatus:
        return _status(self._do(path, os.stat, path))

    def list(self, path: str) -> builtins.list[DirectoryEntry]:
        found: builtins.list[DirectoryEntry] = self._do(path, list_entries, path)
        return found

    def free_bytes(self, path: str) -> int | None:
        """What this user may still write there."""
        found = self._do(path, os.statvfs, path)
        return int(found.f_bavail * found.f_frsize)

    def rename(self, path: str, new_path: str) -> None:
        """Give a file or folder another name; fails where that is taken."""
        self._do(path, _rename, path, new_path)

    def make_folder(self, path: str) -> None:
        """Make a folder; fails where there is something of that name."""
        self._do(path, os.mkdir, path, 0o700)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder; one that is gone already is no error."""
        with suppress(NoSuchFileError):
            self._do(path, os.rmdir, path)

    def remove(self, path: str) -> None:
        """Remove a file; one that is gone already is no error."""
        with suppress(NoSuchFileError):
            self._do(path, os.unlink, path)

    def read_file(self, path: str, size_bytes: int) -> int:
        """Open a file, read up to so much from its beginning, and close it: the bytes that came."""
        handle = self.open(path)
        try:
            return self.read_at(handle, 0, size_bytes)
        finally:
            self.close_file(handle)

    def write_file(self, path: str, data: memoryview, mode: OpenMode = OpenMode.CREATE) -> None:
        """Open a file, write it from its beginning, and close it."""
        handle = self.open(path, mode)
        try:
            self.write_at(handle, 0, data)
        finally:
            self.close_file(handle)

    def abort(self) -> None:
        """Nothing to hang up: a read or write of the kernel cannot be ended from outside."""

    def close(self) -> None:
        """Nothing to leave."""

    def _do(self, path: str, function: Any, *arguments: Any) -> Any:
        try:
            return self._call(function, *arguments)
        except OSError as error:
            raise file_error(error, path) from error
        except ValueError as error:
            raise NoSuchFileError(f"{path!r}: no file can have such a name; check the name") from error


def _rename(path: str, new_path: str) -> None:
    """Link and unlink: a rename replaces what is there. A folder cannot be linked, nor a file of some mounts."""
    try:
        os.link(path, new_path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(new_path):
            raise FileExistsError(errno.EEXIST, "File exists") from None
        Path(path).rename(new_path)
    else:
        Path(path).unlink()


def _status(found: os.stat_result) -> FileStatus:
    return FileStatus(size_bytes=found.st_size, is_folder=stat.S_ISDIR(found.st_mode))
