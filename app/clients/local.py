"""The client for ``file://``: a local disk, or a share that the system has mounted."""

import builtins
import hashlib
import os
import re
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from app import __version__
from app.clients.base import DirectoryEntry, Meter, Secrets, Sink, Transfer
from app.clients.content import MAX_BLOCK_BYTES, Content
from app.clients.os_errors import file_error
from app.errors import NoSuchFileError, NotAFileError
from storage.plan import Settings
from storage.records import ClientFacts, Command, Target

DEFAULT_BLOCK_BYTES = 1024 * 1024
"""From 128 KiB to 8 MiB all sizes were alike in the page cache; a mounted share sends what it is given at once."""

_ESCAPED = re.compile(r"\\([0-7]{3})")
"""A space, tab, line end or backslash in ``/proc/self/mounts``."""
_MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108  a file system in memory, on every Linux
_LARGEST_CALIBRATION_BYTES = 256 * 1024 * 1024


class LocalClient:
    """Reads and writes of one file in large blocks, through the page cache as any program's are."""

    def __init__(self, target: Target, _secrets: Secrets, settings: Settings) -> None:
        self.target = target
        self._settings = settings
        self._block_bytes = min(settings.block_bytes or DEFAULT_BLOCK_BYTES, MAX_BLOCK_BYTES)
        self._buffer: memoryview | None = None

    def connect(self) -> None:
        """Nothing to reach; a folder that is not there shows when it is used."""

    def facts(self) -> ClientFacts:
        """This program, with the block size of its reads and writes."""
        return ClientFacts(name="sharebench", version=__version__, block_bytes=self._block_bytes, in_flight=1)

    def shares(self) -> list[str]:
        """None: a path has no shares."""
        return []

    def list(self, path: str) -> builtins.list[DirectoryEntry]:
        with self._mapped(path):
            return list_entries(path)

    def size(self, path: str) -> int:
        with self._mapped(path):
            return _size(path, Path(path).stat())

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:
        """Read the whole file into one buffer, over and over."""
        buffer = self._reused_buffer()
        with self._mapped(path):
            began = time.perf_counter()
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
            try:
                size_bytes = _size(path, os.fstat(file))
                if not size_bytes:
                    raise NotAFileError(f"{path}: the file is empty; name one with something in it")
                if self._settings.drop_cache:
                    _drop_cache(file)
                started = meter.start()
                open_seconds = started - began
                moved = 0
                while moved < size_bytes and (read := os.preadv(file, [buffer], moved)):
                    if into is not None:
                        into(moved, buffer[:read])
                    moved += read
                    meter.advance(moved)
                ended = meter.clock()
            finally:
                closing = time.perf_counter()
                os.close(file)
        return Transfer(
            size_bytes=moved,
            seconds=ended - started,
            open_seconds=open_seconds,
            close_seconds=time.perf_counter() - closing,
        )

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:
        """Write ``content`` as a new file; ``seconds`` ends when the disk or the server has acknowledged it (fsync)."""
        with self._mapped(path):
            began = time.perf_counter()
            try:
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileNotFoundError as error:
                folder = Path(path).parent
                raise NoSuchFileError(f"{folder}: there is no such folder; make it, or name another one") from error
            try:
                started = meter.start()
                open_seconds = started - began
                moved = 0
                while moved < content.size_bytes:
                    length = min(self._block_bytes, content.size_bytes - moved)
                    moved += os.pwrite(file, content.block(moved, length), moved)
                    meter.advance(moved)
                os.fsync(file)
                ended = meter.clock()
            finally:
                closing = time.perf_counter()
                os.close(file)
        return Transfer(
            size_bytes=moved,
            seconds=ended - started,
            open_seconds=open_seconds,
            close_seconds=time.perf_counter() - closing,
        )

    def digest(self, path: str) -> str:
        """The SHA-256 of the file, read through buffered input of the standard library."""
        with self._mapped(path), Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def remove(self, path: str) -> None:
        """Remove a file; one that is gone already is no error."""
        with self._mapped(path):
            Path(path).unlink(missing_ok=True)

    def facts_of_path(self) -> dict[str, str | int | float]:
        """The mount that the path lies on: its file system, source and options."""
        try:
            lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return {}
        return mount_facts(os.path.realpath(self.target.path), lines)

    def abort(self) -> None:
        """Nothing to hang up: a read or write of the kernel cannot be ended from outside."""

    def close(self) -> None:
        self._buffer = None

    def _reused_buffer(self) -> memoryview:
        if self._buffer is None:
            self._buffer = memoryview(bytearray(self._block_bytes))
        return self._buffer

    @contextmanager
    def _mapped(self, path: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise file_error(error, path) from error
        except ValueError as error:
            raise NoSuchFileError(f"{path!r}: no file can have such a name; check the name") from error


def mount_facts(path: str, mounts: list[str]) -> dict[str, str | int | float]:
    """The facts of the mount with the longest matching folder; ``mounts`` are lines of ``/proc/self/mounts``."""
    best: tuple[int, list[str]] | None = None
    for line in mounts:
        fields = line.split(" ")
        folder = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[1]).rstrip("/")
        inside = path == folder or path.startswith(folder + "/")
        if inside and (best is None or len(folder) >= best[0]):
            best = (len(folder), fields)
    if best is None:
        return {}
    source, folder, kind, options = best[1][:4]
    return {"mount.source": source, "mount.folder": folder, "mount.type": kind, "mount.options": options}


def list_entries(path: str) -> list[DirectoryEntry]:
    """The entries of a folder. Raises OSError."""
    with os.scandir(path or "/") as found:
        return [_entry(entry) for entry in found]


def _entry(entry: os.DirEntry[str]) -> DirectoryEntry:
    try:
        status = entry.stat()
    except OSError:  # a link that leads nowhere, or a file removed meanwhile: it is listed all the same
        status = entry.stat(follow_symlinks=False)
    modified = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    is_folder = stat.S_ISDIR(status.st_mode)
    return DirectoryEntry(
        name=entry.name, is_folder=is_folder, size_bytes=0 if is_folder else status.st_size, modified_at=modified
    )


def _size(path: str, status: os.stat_result) -> int:
    if stat.S_ISDIR(status.st_mode):
        raise NotAFileError(f"{path}: that is a folder, not a file; name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise NotAFileError(f"{path}: that is a device or a pipe, not a file; name a file")
    return status.st_size


def _drop_cache(file: int) -> None:
    """Have the kernel forget the file's pages; only clean pages can be dropped, so write them out first."""
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


def ceiling_seconds(facts: ClientFacts, command: Command, size_bytes: int) -> float:
    """How long a transfer of ``size_bytes`` takes by a file in memory, from the time of one of at most 256 MiB.

    Raises OSError where this machine has no file system in memory.
    """
    size = min(size_bytes, _LARGEST_CALIBRATION_BYTES)
    with tempfile.TemporaryDirectory(dir=_MEMORY_FOLDER, prefix=".sharebench-") as folder:
        path = str(Path(folder) / "calibration")
        client = LocalClient(Target(protocol="file", path=path), Secrets(), Settings(block_bytes=facts.block_bytes))
        seconds = client.put(path, Content(size), Meter(threading.Event())).seconds
        if command is Command.GET:
            seconds = client.get(path, Meter(threading.Event())).seconds
    return seconds * size_bytes / size
