"""One user's FTP connection and what FTP can of file operations: whole files, lists, names; no open files."""

import ftplib
import threading

from app.clients.base import Meter, Secrets
from app.clients.content import Content
from app.clients.files import FileHandle, FileStatus, OpenMode
from app.clients.ftp.client import FTPClient
from app.errors import AccessDeniedError, UsageError
from storage.plan import Settings
from storage.records import Target

NO_HANDLES = "FTP has no open files: read and write whole ones, or take an smb:// or file:// target"


class FTPFiles(FTPClient):
    """The FTP client with the operations on names that a transfer does not need."""

    has_handles = False

    def __init__(self, target: Target, secrets: Secrets, settings: Settings) -> None:
        super().__init__(target, secrets, settings)
        self._meter = Meter(threading.Event())

    def open(self, path: str, mode: OpenMode = OpenMode.READ) -> FileHandle:
        """FTP has no open files. Raises UsageError, as all that takes a handle."""
        raise UsageError(f"{self._where(path)}: {NO_HANDLES} ({mode.value})")

    def read_at(self, handle: FileHandle, _offset: int, _length: int) -> int:
        """FTP has no open files."""
        raise UsageError(f"{self._where(handle.path)}: {NO_HANDLES}")

    def write_at(self, handle: FileHandle, _offset: int, _data: memoryview) -> None:
        """FTP has no open files."""
        raise UsageError(f"{self._where(handle.path)}: {NO_HANDLES}")

    def flush(self, handle: FileHandle) -> None:
        """FTP has no open files."""
        raise UsageError(f"{self._where(handle.path)}: {NO_HANDLES}")

    def close_file(self, handle: FileHandle) -> None:
        """FTP has no open files."""
        raise UsageError(f"{self._where(handle.path)}: {NO_HANDLES}")

    def query(self, path: str) -> FileStatus:
        with self._using(path) as control:
            if control.is_folder(path):
                return FileStatus(size_bytes=0, is_folder=True)
        return FileStatus(size_bytes=self.size(path), is_folder=False)

    def free_bytes(self, _path: str) -> int | None:
        """FTP does not say."""
        return None

    def rename(self, path: str, new_path: str) -> None:
        """Give a file another name; fails where that is taken, as far as the server can say."""
        with self._using(path) as control:
            if control.has(new_path):
                raise AccessDeniedError(
                    f"{self._where(new_path)}: there is a file already, and none is replaced; name another"
                )
            control.rename(path, new_path)

    def make_folder(self, path: str) -> None:
        """Make a folder; fails where there is something of that name."""
        with self._using(path) as control:
            control.mkd(path)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder; one that is gone already is no error."""
        with self._using(path) as control:
            try:
                control.rmd(path)
            except ftplib.error_perm:
                if control.is_folder(path):
                    raise

    def read_file(self, path: str, size_bytes: int) -> int:
        """Read a whole file; FTP cannot stop in the middle without a new login."""
        return min(size_bytes, self.get(path, self._meter).size_bytes)

    def write_file(self, path: str, data: memoryview, mode: OpenMode = OpenMode.CREATE) -> None:
        if mode is OpenMode.REPLACE:
            self.remove(path)
        self.put(path, _Given(data), self._meter)


class _Given(Content):
    """Bytes that are there already, as the content of a put."""

    def __init__(self, data: memoryview) -> None:
        self.size_bytes = len(data)
        self._data = data

    def block(self, offset: int, length: int) -> memoryview:
        """Those of the bytes."""
        return self._data[offset : offset + length]
