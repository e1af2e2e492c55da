"""What every client offers, and which one moves bytes by which protocol; its libraries are loaded when it is made."""

import contextlib
import hashlib
import mmap
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pkgutil import resolve_name
from typing import Any, NamedTuple, Protocol

from app.base import errors
from app.clients.tcp import TcpInfo
from storage import records
from storage.plan import Settings

MAX_BLOCK_BYTES = 8 * 1024 * 1024


def receive_buffer(size_bytes: int) -> memoryview:
    """Starts a page, as files in memory do. 16 bytes behind, where malloc puts it, some processors copy at a fifth."""
    return memoryview(mmap.mmap(-1, size_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


_PERIOD = MAX_BLOCK_BYTES - 4099
"""Not a multiple of any file system's block, so that equal blocks never line up."""


class Content:
    """Incompressible file content in at most 16 MiB of memory, whatever its size."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        period = os.urandom(min(_PERIOD, size_bytes))
        if size_bytes > _PERIOD:
            # Long enough for a whole block that begins at any place of the period.
            period = b"".join((period, period, period[: MAX_BLOCK_BYTES - _PERIOD]))
        self._pool = memoryview(period)

    def block(self, offset: int, length: int) -> memoryview:
        start = offset % _PERIOD
        return self._pool[start : start + length]

    def digest(self) -> str:
        sha = hashlib.sha256()
        for block in self.blocks():
            sha.update(block)
        return sha.hexdigest()

    def blocks(self) -> Iterator[memoryview]:
        for offset in range(0, self.size_bytes, MAX_BLOCK_BYTES):
            yield self.block(offset, min(MAX_BLOCK_BYTES, self.size_bytes - offset))


MOST_ENTRIES = 1_000_000
MOST_LISTING_BYTES = 128 * 1024 * 1024
LISTING_TIMEOUTS = 10
"""A whole folder list may take this many times ``--timeout``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Login secrets: kept in memory and sent through the child's pipe only."""

    password: str | None = None
    nt_hash: str | None = None
    """In place of the password, for SMB."""
    kerberos: bool = False
    """Whether the login is by a ticket, and needs neither."""

    def __repr__(self) -> str:
        return "Secrets(…)"


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryEntry:
    name: str
    is_folder: bool
    size_bytes: int
    modified_at: str = ""
    """UTC, ISO 8601; empty if the server does not say."""


class Listing:
    """A folder's entries as they arrive; limited in number and bytes."""

    def __init__(self, where: str) -> None:
        self.entries: list[DirectoryEntry] = []
        self.received_bytes = 0
        self._where = where

    def add(self, entry: DirectoryEntry | None, received_bytes: int) -> None:
        """None for a line that is no entry. Raises ProtocolError above the limit."""
        self.received_bytes += received_bytes
        if entry is not None and entry.name not in {".", ".."}:
            self.entries.append(entry)
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
    """Of the connection during the transfer; None where nobody knows."""


def _ignore_sample(_seconds: float, _moved_bytes: int) -> None:
    """What a meter tells of its samples while nobody listens."""


def _look_at_nothing(_moved_bytes: int) -> None:
    """What a meter does at its samples while nobody watches for stalls."""


@dataclass(slots=True)
class Meter:
    """Samples a transfer at most ten times a second; a block costs the timed part one clock reading and comparison."""

    cancelled: threading.Event
    on_sample: Callable[[float, int], None] = _ignore_sample
    interval_seconds: float = 0.1
    clock: Callable[[], float] = time.perf_counter
    samples: list[tuple[float, int]] = field(default_factory=list)
    """(seconds since the start, bytes moved) of the transfer under way, or of the last one."""
    arrived: Callable[[int], int] | None = None
    """For uploads, asked once a sample: how many of the bytes sent have reached the server."""
    _started: float = 0.0
    """By the clock; 0 before the first transfer."""
    _due: float = 0.0
    """By the clock: when the next sample is taken."""
    _look: Callable[[int], None] = _look_at_nothing

    def start(self, *, look: Callable[[int], None] = _look_at_nothing) -> float:
        """Returns the clock in seconds; ``look`` may raise at each sample."""
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
        """Bytes since :meth:`start`. Raises CancelledError."""
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
    """A connection to a target: it raises only errors of :mod:`app.base.errors`; paths are as in ``Target.path``."""

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
    READ = "read"
    UPDATE = "update"
    CREATE = "create"
    """Fails if the file exists."""
    REPLACE = "replace"


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
    size_bytes: int
    is_folder: bool


class FileMove(NamedTuple):
    """A whole file to read, or to write where it has ``data``."""

    path: str
    size_bytes: int
    data: memoryview | None = None


Moved = Callable[[FileMove, int], None]
"""Takes a file that was moved and closed, and how many bytes of it."""


class Files(Connection, Protocol):
    """A user's connection, for one thread or greenlet at a time; without ``has_handles`` handles raise UsageError."""

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


def check_folder(files: Files) -> None:
    """Raises NotAFileError or NoSuchFileError unless the target is a folder."""
    path = files.target.path
    if files.is_printer:
        raise printer_error(files.target)

    where = f"{files.target.host}: {path}" if files.target.host else path
    if not path.strip("/"):
        return

    try:
        is_folder = files.query(path).is_folder
    except errors.NoSuchFileError as error:
        raise errors.NoSuchFileError(f"{where}: there is no such folder; make it, or name one that is there") from error
    if not is_folder:
        raise errors.NotAFileError(f"{where} is a file; name the folder to work in")


def printer_error(target: records.Target) -> errors.NotAFileError:
    return errors.NotAFileError(
        f"{records.format_target(target)} is a printer, which keeps no files; name another share, or print there with"
        " `sharebench load --scenario print`"
    )


Caller = Callable[..., Any]
"""Runs a blocking function: directly, or in a thread if other users share this one."""


def call_here(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


OWN = records.OWN_CLIENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientModules:
    """Where the code for one protocol is, as ``MODULE:CLASS``."""

    clients: Mapping[str, str]
    """By client name, the default first."""
    files: str | None = None
    ceiling: str | None = None


_OWN_FTP = "app.clients.ftp.client:FTPClient"
_LOCAL = "app.clients.local:LocalClient"
_FTP = ClientModules(
    clients={OWN: _OWN_FTP, "curl": "app.clients.curl:CurlClient"},
    files=_OWN_FTP,
    ceiling="app.clients.ftp.ceiling",
)
MODULES = {
    "smb": ClientModules(
        clients={
            OWN: "app.clients.smb.client:SMBClient",
            "smbclient": "app.clients.smbclient:SmbclientClient",
            "smbclient-ng": "app.clients.smbclientng:SmbclientNgClient",
        },
        files="app.clients.smb.files:SMBFiles",
        ceiling="app.clients.smb.null_server",
    ),
    "ftp": _FTP,
    "ftps": _FTP,
    "file": ClientModules(clients={OWN: _LOCAL}, files=_LOCAL, ceiling="app.clients.local"),
    "iperf3": ClientModules(clients={"iperf3": "app.clients.iperf3:Iperf3Client"}),
}


def check_client_name(protocol: str, name: str) -> str:
    """The name, or the default if empty. Raises UsageError."""
    names = tuple(MODULES[protocol].clients)
    if name and name not in names:
        raise errors.UsageError(
            f"no client {name!r} for {protocol}://: there are {', '.join(names)}", options="--client NAME"
        )
    return name or names[0]


def make_client(
    target: records.Target, name: str, secrets: Secrets, settings: Settings, size_bytes: int | None = None
) -> Client:
    """Not connected yet; ``size_bytes`` is for clients that move no file. Raises UsageError for an unknown name."""
    make: Callable[..., Client] = resolve_name(
        MODULES[target.protocol].clients[check_client_name(target.protocol, name)]
    )
    if target.abilities.moves_files:
        return make(target, secrets, settings)
    return make(target, secrets, settings, size_bytes=size_bytes)


def make_files(target: records.Target, secrets: Secrets, settings: Settings, call: Caller = call_here) -> Files:
    """Not connected yet; ``call`` runs blocking calls. Raises UsageError for a protocol without files."""
    place = MODULES[target.protocol].files
    if place is None:
        raise errors.UsageError(f"{target.protocol}:// has no files; take an smb://, ftp:// or file:// target")

    make: Callable[..., Files] = resolve_name(place)
    if target.abilities.is_local:
        return make(target, secrets, settings, call)
    return make(target, secrets, settings)


@contextlib.contextmanager
def connected_files(
    target: records.Target, secrets: Secrets, settings: Settings, call: Caller = call_here
) -> Iterator[Files]:
    with contextlib.closing(make_files(target, secrets, settings, call)) as files:
        files.connect()
        yield files
