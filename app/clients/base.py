"""What every client offers, and the records that it takes and gives.

A ``Client`` measures: it moves one whole file at a time, and times it. ``Files`` is a user's connection: open, read,
write, list, rename. Both are protocols: the classes for SMB, FTP and local files stand in ``app.clients.registry``.
"""

import contextlib
import datetime as dt
import hashlib
import mmap
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

from app.base import errors
from app.clients.tcp_info import TcpInfo
from storage import records
from storage.request_times import RunRequests

MAX_BLOCK_BYTES = 8 * 1024 * 1024
"""The most that a client moves at a time."""


def receive_buffer(size_bytes: int) -> memoryview:
    """A buffer that starts a page, as files in memory do.

    Where malloc puts one, 16 bytes behind the start of a page, some processors copy at a fifth of the speed.
    """
    return memoryview(mmap.mmap(-1, size_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


_PERIOD = MAX_BLOCK_BYTES - 4099
"""After as many bytes content repeats; no multiple of a file system's block, so that no two of its blocks are equal."""


class Content:
    """Incompressible file content in at most 16 MiB of memory, whatever its size."""

    def __init__(self, size_bytes: int, seed: str = "") -> None:
        """Contents of the same ``seed`` and size are equal; without one each differs from all others."""
        self.size_bytes = size_bytes
        period_bytes = min(_PERIOD, size_bytes)
        period = hashlib.shake_128(seed.encode()).digest(period_bytes) if seed else os.urandom(period_bytes)
        if size_bytes > _PERIOD:
            # Long enough for a whole block that begins at any place of the period: it is repeated, and so is its begin.
            period = b"".join((period, period, period[: MAX_BLOCK_BYTES - _PERIOD]))
        self._pool = memoryview(period)

    def block(self, offset: int, length: int) -> memoryview:
        """The bytes from ``offset`` on, `MAX_BLOCK_BYTES` at most: a view, so nothing is copied."""
        start = offset % _PERIOD
        return self._pool[start : start + length]

    def digest(self) -> str:
        """SHA-256 of the whole content."""
        sha = hashlib.sha256()
        for block in self.blocks():
            sha.update(block)
        return sha.hexdigest()

    def blocks(self) -> Iterator[memoryview]:
        for offset in range(0, self.size_bytes, MAX_BLOCK_BYTES):
            yield self.block(offset, min(MAX_BLOCK_BYTES, self.size_bytes - offset))


MOST_ENTRIES = 1_000_000
MOST_LISTING_BYTES = 128 * 1024 * 1024
"""A folder's list that is longer is refused, since it may have no end."""
LISTING_TIMEOUTS = 10
"""A whole folder list may take this many times ``--timeout``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Login secrets: kept in memory and sent through the child's pipe only."""

    password: str | None = None
    nt_hash: str | None = None
    """In hexadecimal digits, in place of the password, for SMB."""
    kerberos: bool = False
    """Whether the login is by a ticket, and needs neither."""

    def __repr__(self) -> str:
        return "Secrets(…)"


class DirectoryEntry(NamedTuple):
    """A file or folder in the list of a folder.

    A tuple, since a folder may have a million of them, and a dataclass takes three times as long to make.
    """

    name: str
    is_folder: bool
    size_bytes: int
    modified_seconds: int | None = None
    """Since 1970; None if the server does not say."""

    @property
    def modified_at(self) -> str:
        """UTC, ISO 8601; empty if the server does not say, or names a time outside of the calendar's years."""
        if self.modified_seconds is None:
            return ""
        try:
            modified = _UNIX_EPOCH + dt.timedelta(seconds=self.modified_seconds)
        except OverflowError:
            return ""
        return modified.strftime("%Y-%m-%dT%H:%M:%SZ")


_UNIX_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


FOLDER_ITSELF = frozenset({".", ".."})
"""What a list calls the folder and its parent."""


class Listing:
    """A folder's entries as they arrive; limited in number and bytes."""

    def __init__(self, where: str) -> None:
        self.entries: list[DirectoryEntry] = []
        self.received_bytes = 0
        self._where = where

    def add(self, entry: DirectoryEntry | None, received_bytes: int) -> None:
        """Take an entry, which came in that many bytes; None for a line that is no entry.

        Raises ProtocolError above the limits.
        """
        self.add_all([] if entry is None else [entry], received_bytes)

    def add_all(self, entries: Iterable[DirectoryEntry], received_bytes: int) -> None:
        """Take entries that came in one answer of that many bytes. Raises ProtocolError above the limits."""
        self.received_bytes += received_bytes
        self.entries += [entry for entry in entries if entry.name not in FOLDER_ITSELF]
        if len(self.entries) > MOST_ENTRIES or self.received_bytes > MOST_LISTING_BYTES:
            raise errors.ProtocolError(
                f"{self._where}: the folder's list has no end ({len(self.entries)} names so far); name a file in it, "
                "or look at the server"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One finished transfer, timed by the monotonic clock."""

    size_bytes: int
    seconds: float
    """From the first request for the open file until the last byte has arrived or is acknowledged."""
    open_seconds: float | None = None
    """Before that, to open the file; None where the client cannot tell."""
    close_seconds: float | None = None
    """After that, to close it; None where the client cannot tell."""
    progress: tuple[tuple[float, int], ...] | None = None
    """(seconds, bytes moved) by the client's own clock; if absent, the meter's samples are used."""
    traffic: TcpInfo | None = None
    """What the kernel counted on the connection during the transfer; None where nobody knows."""
    requests: RunRequests | None = None
    """Of random requests: how long each took; ``size_bytes`` is what all of them moved."""


def _ignore_sample(_seconds: float, _moved_bytes: int) -> None:
    """What a meter tells of its samples while nobody listens."""


def _look_at_nothing(_moved_bytes: int) -> None:
    """What a meter does at its samples while nobody watches for stalls."""


@dataclass(slots=True)
class Meter:
    """Follows a transfer: samples how far it is, raises when it is cancelled, and has stalls looked for.

    A client calls ``start`` when the timed part begins, and ``advance`` after each block. Ten times a second at most,
    ``advance`` takes a sample; else it costs the timed part one reading of the clock and a comparison.
    """

    cancelled: threading.Event
    on_sample: Callable[[float, int], None] = _ignore_sample
    """Told each sample."""
    interval_seconds: float = 0.1
    clock: Callable[[], float] = time.perf_counter
    samples: list[tuple[float, int]] = field(default_factory=list)
    """(seconds since the start, bytes moved) of the transfer under way, or of the last one."""
    arrived: Callable[[int], int] | None = None
    """For uploads, asked once a sample: how many of the bytes sent have reached the server.

    The client sets it after ``start``, which resets it; None where all that was moved counts.
    """
    _started: float = 0.0
    """By the clock; 0 before the first transfer."""
    _due: float = 0.0
    """By the clock: when the next sample is taken."""
    _look: Callable[[int], None] = _look_at_nothing
    """Looks for stalls, given to ``start``."""

    def start(self, *, look: Callable[[int], None] = _look_at_nothing) -> float:
        """Begin, and return the clock in seconds.

        ``look`` is called at each sample with the bytes moved so far, and may raise.
        """
        self.samples = []
        self.arrived = None
        self._look = look
        self._started = self.clock()
        self._due = self._started + self.interval_seconds
        return self._started

    @property
    def has_begun(self) -> bool:
        return self._started > 0

    def advance(self, moved_bytes: int) -> None:
        """Say how many bytes were moved since :meth:`start`. Raises CancelledError, and what ``look`` raises."""
        now = self.clock()
        if now < self._due:
            return

        self._due = now + self.interval_seconds
        if self.cancelled.is_set():
            raise errors.CancelledError("cancelled")

        seconds = now - self._started
        if self.arrived is not None:
            moved_bytes = self.arrived(moved_bytes)
        self._look(moved_bytes)
        self.samples.append((seconds, moved_bytes))
        self.on_sample(seconds, moved_bytes)


Sink = Callable[[int, memoryview], None]
"""Takes a block's offset and bytes, in any order; the view is reused after the call."""


class Connection(Protocol):
    """A connection to a target. It raises only errors of :mod:`app.base.errors`; paths are as in ``Target.path``."""

    target: records.Target

    def connect(self) -> None: ...  # logs in and opens the share; does nothing while connected
    def list(self, path: str) -> list[DirectoryEntry]: ...  # without ``.`` and ``..``, in the server's order
    def remove(self, path: str) -> None: ...  # a file that is already gone is no error
    def abort(self) -> None: ...  # interrupts any blocking call; safe from another thread or greenlet
    def close(self) -> None: ...  # never raises


class Client(Connection, Protocol):
    """Moves files between this machine and one target over one connection at a time.

    Reading and writing raise NoSuchFileError, NotAFileError (a folder, an empty file), AccessDeniedError,
    ConnectionLostError, StalledError, CorruptedError, CancelledError, and writing NoSpaceError.
    """

    def facts(self) -> records.ClientFacts: ...  # complete after :meth:`connect`
    def shares(self) -> list[str]: ...  # those that can be browsed; empty if the protocol has none
    def size(self, path: str) -> int: ...  # in bytes; NoSuchFileError, NotAFileError for a folder
    # into receives the blocks to verify them, which costs time
    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer: ...
    def put(self, path: str, content: Content, meter: Meter) -> Transfer: ...  # never replaces a file
    def digest(self, path: str) -> str: ...  # SHA-256, read by another path than the timed one if there is one
    def facts_of_path(self) -> dict[str, str | int | float]: ...  # credits, maximum sizes, addresses


class OpenMode(Enum):
    """For what a file is opened; the first two only if it exists."""

    READ = "read"
    UPDATE = "update"
    CREATE = "create"
    """Fails if the file exists."""
    REPLACE = "replace"
    """Creates the file, or empties the one that is there."""


@dataclass(frozen=True, slots=True)
class FileHandle:
    """An open file or folder; valid on the connection that opened it."""

    path: str
    size_bytes: int
    """When it was opened."""
    is_folder: bool
    token: Any
    """By which the client knows it, of a type of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStatus:
    """What a query says of a file or folder."""

    size_bytes: int
    is_folder: bool


class FileMove(NamedTuple):
    """A whole file to move: to write where it has ``data``, else to read."""

    path: str
    size_bytes: int
    data: memoryview | None = None


Moved = Callable[[FileMove, int], None]
"""Takes a file that was moved and closed, and how many bytes of it."""


class Files(Connection, Protocol):
    """A user's connection, for one thread or greenlet at a time.

    Where ``has_handles`` is false, as for FTP, files cannot be kept open: what takes a handle raises UsageError.
    """

    has_handles: bool

    @property
    def is_printer(self) -> bool: ...  # prints what is written to it; asked once connected
    def open(self, path: str, mode: OpenMode = OpenMode.READ) -> FileHandle: ...
    def read_at(self, handle: FileHandle, offset: int, length: int) -> int: ...  # bytes read, fewer at the end
    def write_at(self, handle: FileHandle, offset: int, data: memoryview) -> None: ...  # all of ``data``
    def close_file(self, handle: FileHandle) -> None: ...
    def query(self, path: str) -> FileStatus: ...
    def free_bytes(self, path: str) -> int | None: ...  # that this user may write; None if the server does not say
    def rename(self, path: str, new_path: str) -> None: ...  # on the same share; fails if the new name is taken
    def make_folder(self, path: str) -> None: ...  # fails if the name is taken
    def remove_folder(self, path: str) -> None: ...  # an empty one; one that is already gone is no error
    def read_file(self, path: str, size_bytes: int) -> int: ...  # from open to close; returns the bytes read
    def write_file(self, path: str, data: memoryview, mode: OpenMode = OpenMode.CREATE) -> None: ...
    # several at a time if the protocol can, and in any order; new ones are made
    def move_files(self, files: Iterable[FileMove], moved: Moved) -> None: ...


@contextlib.contextmanager
def opened_file(files: Files, path: str, mode: OpenMode = OpenMode.READ) -> Iterator[FileHandle]:
    handle = files.open(path, mode)
    try:
        yield handle
    finally:
        files.close_file(handle)


class OneByOne:
    """For a :class:`Files` whose protocol moves one file at a time, and has neither shares nor printers."""

    is_printer = False

    def shares(self) -> list[str]:
        return []

    def move_files(self: Files, files: Iterable[FileMove], moved: Moved) -> None:
        for file in files:
            if file.data is None:
                moved(file, self.read_file(file.path, file.size_bytes))
            else:
                self.write_file(file.path, file.data)
                moved(file, file.size_bytes)


def printer_error(target: records.Target) -> errors.NotAFileError:
    return errors.NotAFileError(
        f"{records.format_target(target)} is a printer, which keeps no files; name another share, or print there with"
        " `sharebench load --scenario print`"
    )


Caller = Callable[..., Any]
"""Calls a function that may block with its arguments: directly, or in a thread if other users share this one."""


def call_here(function: Callable[..., Any], *arguments: Any) -> Any:
    """The caller for a thread of one's own."""
    return function(*arguments)


OWN = records.OWN_CLIENT
"""The name of sharebench's own client, of whatever protocol."""
