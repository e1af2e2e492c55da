"""What every client offers: whole transfers with a meter, and single file operations."""

import hashlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from app.clients.tcp import TcpInfo
from app.errors import CancelledError, NoSuchFileError, NotAFileError, ProtocolError
from storage.records import ClientFacts, Target

MAX_BLOCK_BYTES = 8 * 1024 * 1024
"""The longest block that :meth:`Content.block` gives."""

_PERIOD = MAX_BLOCK_BYTES - 4099
"""The bytes repeat after this; no multiple of a file system's block, so that equal blocks never line up."""


class Content:
    """A file's worth of incompressible bytes, in 16 MiB of memory whatever its size."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        period = os.urandom(_PERIOD)
        self._pool = memoryview(b"".join((period, period, period[: MAX_BLOCK_BYTES - _PERIOD])))

    def block(self, offset: int, length: int) -> memoryview:
        """The ``length`` bytes (at most MAX_BLOCK_BYTES) at ``offset``, without copying."""
        start = offset % _PERIOD
        return self._pool[start : start + length]

    def digest(self) -> str:
        """The SHA-256 of all ``size_bytes``, in hexadecimal."""
        sha = hashlib.sha256()
        for offset in range(0, self.size_bytes, MAX_BLOCK_BYTES):
            sha.update(self.block(offset, min(MAX_BLOCK_BYTES, self.size_bytes - offset)))
        return sha.hexdigest()


MOST_ENTRIES = 1_000_000
MOST_LISTING_BYTES = 128 * 1024 * 1024
LISTING_TIMEOUTS = 10
"""A whole list may take this many times ``--timeout``, however many names arrive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What a login needs and nobody may keep: lives in memory and on the child's pipe only."""

    password: str | None = None
    nt_hash: str | None = None
    """The NT hash in hexadecimal, in place of a password."""
    kerberos: bool = False
    """Use the ticket in the credential cache."""

    def __repr__(self) -> str:
        return "Secrets(…)"


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryEntry:
    """One name in a folder."""

    name: str
    is_folder: bool
    size_bytes: int
    modified_at: str = ""
    """UTC, ISO 8601; empty where the server does not say."""


class Listing:
    """A folder's entries as they arrive; a server whose list never comes to an end is given up."""

    def __init__(self, where: str) -> None:
        self.entries: list[DirectoryEntry] = []
        self.received_bytes = 0
        self._where = where

    def add(self, entry: DirectoryEntry | None, received_bytes: int) -> None:
        """Take an entry (None for a line that is none) and count its bytes. Raises ProtocolError for one too many."""
        self.received_bytes += received_bytes
        if entry is not None and entry.name not in {".", ".."}:
            self.entries.append(entry)
        if len(self.entries) > MOST_ENTRIES or self.received_bytes > MOST_LISTING_BYTES:
            raise ProtocolError(
                f"{self._where}: the folder's list has no end ({len(self.entries)} names so far); name a file in it, "
                "or look at the server"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One finished transfer, timed by the monotonic clock."""

    size_bytes: int
    seconds: float
    """From the first read or write request of the open file until the last byte arrived or was acknowledged."""
    open_seconds: float | None = None
    close_seconds: float | None = None
    progress: tuple[tuple[float, int], ...] | None = None
    """(seconds, bytes moved) by a clock of the client's own; where absent, the meter's samples hold."""
    traffic: TcpInfo | None = None
    """What the connection went through meanwhile; absent where the bytes were moved by another program."""


@dataclass(slots=True)
class Meter:
    """Where a client reports bytes while it moves them, ten samples a second at most; raises when cancelled.

    A client calls :meth:`start` right before its first request and :meth:`advance` after each block. Both are cheap
    enough for the timed section: one clock reading and one comparison. With each sample goes a look at what the
    client gave to :meth:`start`, which raises when too little has moved.

    A client that sends reports what it has handed over; ``arrived`` says how much of that has reached the other end,
    and is asked for each sample, not for each block.
    """

    cancelled: threading.Event
    on_sample: Callable[[float, int], None] = lambda _seconds, _bytes: None
    interval_seconds: float = 0.1
    clock: Callable[[], float] = time.perf_counter
    samples: list[tuple[float, int]] = field(default_factory=list)
    arrived: Callable[[int], int] | None = None
    _started: float = 0.0
    _due: float = 0.0
    _look: Callable[[int], None] = lambda _moved_bytes: None

    def start(
        self,
        arrived: Callable[[int], int] | None = None,
        *,
        look: Callable[[int], None] = lambda _moved_bytes: None,
    ) -> float:
        """The clock's reading as the transfer begins, in seconds; ``look`` may break it off at each sample."""
        self.samples = []
        self.arrived = arrived
        self._look = look
        self._started = self.clock()
        self._due = self._started + self.interval_seconds
        return self._started

    def advance(self, moved_bytes: int) -> None:
        """Record the number of bytes moved since :meth:`start`. Raises CancelledError."""
        now = self.clock()
        if now < self._due:
            return
        self._due = now + self.interval_seconds
        if self.cancelled.is_set():
            raise CancelledError("cancelled")
        seconds = now - self._started
        if self.arrived is not None:
            moved_bytes = self.arrived(moved_bytes)
        self._look(moved_bytes)
        self.samples.append((seconds, moved_bytes))
        self.on_sample(seconds, moved_bytes)


Sink = Callable[[int, memoryview], None]
"""Takes a block's offset in bytes and its bytes, in any order; the view is reused after the call."""


class Client(Protocol):
    """A program that moves files between this machine and one target, one connection at a time.

    Each method raises errors of :mod:`app.errors` alone, worded with host, share and file. Paths are those of
    ``Target.path``: relative to the share for SMB, absolute for the others.
    """

    target: Target

    def connect(self) -> None:
        """Reach the server, log in and open the share; a second call does nothing while connected."""

    def facts(self) -> ClientFacts:
        """What this client is and what it negotiated; complete after :meth:`connect`."""

    def shares(self) -> list[str]:
        """The shares that can be browsed; empty where the protocol has none."""

    def list(self, path: str) -> list[DirectoryEntry]:
        """The entries of the folder, without ``.`` and ``..``, in the server's order."""

    def size(self, path: str) -> int:
        """The file's size in bytes. Raises NoSuchFileError, NotAFileError for a folder."""

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:
        """Read the whole file and let its bytes go, or hand each block to ``into`` (to verify; costs time).

        Raises NoSuchFileError, NotAFileError (a folder, an empty file), AccessDeniedError, ConnectionLostError,
        StalledError, CorruptedError, CancelledError.
        """

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:
        """Write ``content`` as a new file; never replaces one. Raises as ``get`` does, and NoSpaceError."""

    def digest(self, path: str) -> str:
        """The SHA-256 in hexadecimal of the file, read by another way than the timed one where there is one."""

    def remove(self, path: str) -> None:
        """Remove a file that :meth:`put` made; one that is gone already is no error."""

    def facts_of_path(self) -> dict[str, str | int | float]:
        """Facts of the connection worth keeping: credits, maximum sizes, local and peer address; may be empty."""

    def abort(self) -> None:
        """End whatever blocks, at once; may be called from another thread, any number of times."""

    def close(self) -> None:
        """Leave politely; never raises."""


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
