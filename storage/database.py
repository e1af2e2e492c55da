"""Opens the SQLite file of a notebook: made, converted, or read as it stands where nothing can be written.

SQLite keeps what is written in a log (``-wal``) beside the file until it moves it there, and the log's index in memory
that all programs share (``-shm``). Where a file system cannot share memory there is no log: readers wait for writers.
"""

import errno
import os
import sqlite3
import stat
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote

from portalocker import LockFlags, portalocker
from portalocker.exceptions import LockException
from portalocker.portalocker import BaseLocker
from sqlite_utils import Database

from storage import errors
from storage.codec import TextConnection
from storage.migrations import CURRENT_FORMAT, migrations
from storage.paths import ForeignLinkError, make_folders, real_path

BUSY_SECONDS = 15.0
"""How long one program waits until another has ended its transaction."""

_AGAIN_SECONDS = 0.01
"""Between two tries of what SQLite does not wait for itself."""

_ELSEWHERE = "start sharebench with another notebook"

_VFS = ""
"""SQLite's own way to reach files, by name, in place of the system's usual one: tests set it."""

_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES}
"""What a file system without locks answers; another error says that somebody has the lock."""

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_ROOM_BYTES = 64 * 1024
"""What SQLite needs to open a notebook: its shared index takes 32 KiB."""


@dataclass(frozen=True, slots=True)
class _OpenFile:
    """The file that a connection has open, as it was when it was last seen at its path."""

    path: Path
    device: int
    inode: int
    size_bytes: int

    @classmethod
    def look_at(cls, path: Path) -> "_OpenFile":
        status = path.stat()
        return cls(path, status.st_dev, status.st_ino, status.st_size)

    def look_again(self) -> "_OpenFile":
        """Raises LostNotebookError where the path has become another file, or none, or an empty one."""
        try:
            now = _OpenFile.look_at(self.path)
        except FileNotFoundError:
            raise errors.LostNotebookError(f"the notebook {self.path} was deleted or moved") from None
        except OSError as error:
            raise errors.LostNotebookError(
                f"the notebook {self.path} cannot be reached any more ({errors.in_one_line(error)})"
            ) from error

        if (now.device, now.inode) != (self.device, self.inode):
            raise errors.LostNotebookError(f"the notebook {self.path} was replaced by another file")

        # One that was empty is still being made.
        if now.size_bytes == 0 < self.size_bytes:
            raise errors.LostNotebookError(f"the notebook {self.path} was emptied")
        return now


class NotebookDatabase(Database):
    """Transactions lock at their start: after a read they would be refused at once (SQLITE_BUSY_SNAPSHOT)."""

    remark: str = ""
    """What people should know of how it was opened; empty for nothing."""
    why_read_only: str = ""
    """Empty where it can be written."""
    _file: _OpenFile | None = None

    def watch_file(self, path: Path) -> None:
        """From now on the file must stay where and what it is."""
        self._file = _OpenFile.look_at(path)

    def check_file(self) -> None:
        """Raises LostNotebookError unless the open file is still the one at its path, and whole."""
        if self._file is None:
            return

        now = self._file.look_again()
        if now.size_bytes < self._file.size_bytes:
            self._check_shorter(now.path)
        self._file = now

    def _check_shorter(self, path: Path) -> None:
        """A notebook shrinks when somebody vacuums it, which is no loss; this connection's memory may be of before."""
        with closing(_connect(_uri(path, "mode=ro"), uri=True)) as fresh:
            try:
                is_sound = fresh.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
            except sqlite3.DatabaseError as error:
                is_sound = not errors.is_damaged(error)
        if not is_sound:
            raise errors.LostNotebookError(f"the notebook {path} was cut short")

    @contextmanager
    def atomic(self) -> "Generator[NotebookDatabase, None, None]":
        """Raises ReadOnlyNotebookError, and LostNotebookError also where the file went while it was written."""
        if self.conn.in_transaction:
            # Within another one it is a savepoint.
            with super().atomic():
                yield self
            return

        if self.why_read_only:
            raise errors.ReadOnlyNotebookError(
                f"the notebook cannot be written: {self.why_read_only}", options=errors.ANOTHER
            )

        self.check_file()
        self.conn.execute("BEGIN IMMEDIATE")
        try:
            yield self
            self.conn.execute("COMMIT")
        except BaseException:
            self.rollback()
            raise
        self.check_file()


def open_database(path: Path) -> NotebookDatabase:
    """Open the notebook at ``path``, creating or migrating it. Raises NotebookFileError."""
    try:
        make_folders(path.parent)
        path = _make_file(path)

        why_not = why_not_writable(path)
        if why_not:
            return _open_to_read(path, why_not)
        return _open_to_write(path)
    except ForeignLinkError as error:
        raise errors.NotebookFileError(
            f"cannot use {path} as a notebook: {error}; {_ELSEWHERE}", options=errors.ANOTHER
        ) from error
    except (OSError, sqlite3.Error) as error:
        if _is_no_room(error, path.parent):
            return _open_without_room(path, error)
        raise _unusable(path, error) from error


def copy_notebook(path: Path, to: Path) -> None:
    """With what other programs have written and not moved into the file yet. Raises sqlite3.Error."""
    with closing(_connect(_uri(path, "mode=ro"), uri=True)) as source, closing(_connect(str(to))) as target:
        source.backup(target)


def open_in_memory() -> NotebookDatabase:
    """A notebook without a file, for what can be written nowhere."""
    db = NotebookDatabase(_connect(":memory:"))
    migrations.apply(db)
    return db


def _make_file(path: Path) -> Path:
    """The file that ``path`` leads to, made if it is missing."""
    real = real_path(path)
    with suppress(FileExistsError):
        os.close(os.open(real, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    if not stat.S_ISREG(real.stat().st_mode):
        raise errors.NotebookFileError(f"{path} is no file; {_ELSEWHERE}", options=errors.ANOTHER)
    return real


def why_not_writable(path: Path) -> str:
    """Why no notebook can be written or made there; empty where one can.

    The file is not opened for it: closing it would give up this process's locks on it.
    """
    folder = next((folder for folder in path.parents if os.access(folder, os.F_OK)), path.parent)
    if not folder.is_dir():
        return ""  # opening it says so

    is_made = os.access(path, os.F_OK)
    if os.access(folder, os.W_OK) and (not is_made or os.access(path, os.W_OK)):
        return ""
    if hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY:
        return f"the file system of {path} is read-only"

    refused = path if is_made and not os.access(path, os.W_OK) else folder
    return f"you may not write to {refused}"


def _unusable(path: Path, error: OSError | sqlite3.Error) -> errors.NotebookFileError:
    """Why the notebook cannot be opened, and what to do."""
    if isinstance(error, sqlite3.Error) and errors.is_damaged(error):
        return errors.DamagedNotebookError(f"{path}: {error}", advice=errors.PUT_BACK)
    if isinstance(error, sqlite3.Error) and errors.is_busy(error):
        return errors.NotebookFileError(
            f"the notebook {path} is held by another program, for more than {BUSY_SECONDS:.0f} s: end it, or"
            f" {_ELSEWHERE}",
            options=errors.ANOTHER,
        )

    is_failing = isinstance(error, sqlite3.Error) and errors.is_failing(error)
    what_to_do = f"the disk gives errors; {errors.SAVE_IT}" if is_failing else _ELSEWHERE
    return errors.NotebookFileError(
        f"cannot use {path} as a notebook: {errors.in_one_line(error)}; {what_to_do}", options=errors.ANOTHER
    )


def _is_no_room(error: OSError | sqlite3.Error, folder: Path) -> bool:
    """SQLite calls it an I/O error where its shared index cannot be made on a full disk."""
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM
    return errors.is_full(error) or (errors.is_failing(error) and has_no_room(folder))


def has_no_room(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder, prefix=".sharebench-") as file:
            file.write(bytes(_ROOM_BYTES))
            file.flush()
    except OSError as error:
        return error.errno in _NO_ROOM
    return False


def _open_without_room(path: Path, error: OSError | sqlite3.Error) -> NotebookDatabase:
    """What is stored can still be read."""
    why_not = f"the disk of {path} is full: make room"
    try:
        is_made = path.stat().st_size > 0
    except OSError:
        is_made = False
    if not is_made:
        raise errors.NotebookFileError(f"cannot make {path}: {why_not}", options=errors.ANOTHER) from error

    try:
        return _open_to_read(path, why_not, is_alone=True)
    except sqlite3.Error as again:
        raise errors.NotebookFileError(
            f"cannot use {path} as a notebook ({errors.in_one_line(again)}): {why_not}", options=errors.ANOTHER
        ) from again


def _connect(place: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None, factory=TextConnection, uri=uri)


def _uri(path: Path, options: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{options}"


def _open_to_write(path: Path) -> NotebookDatabase:
    if not _has_locks(path.parent):
        raise errors.NotebookFileError(
            f"the file system of {path.parent} has no locks, without which a notebook would be damaged sooner or"
            " later: keep it on a local disk",
            options=errors.ANOTHER,
        )

    connection = _connect(_uri(path, f"vfs={_VFS}"), uri=True) if _VFS else _connect(str(path))
    try:
        return _prepare(connection, path)
    except BaseException:
        connection.close()
        raise


def _has_locks(folder: Path) -> bool:
    """Tried with another file, since closing the notebook would unlock it."""
    with tempfile.TemporaryFile(dir=folder, prefix=".sharebench-") as file:
        try:
            # POSIX locks, as SQLite takes them; Windows has none.
            locker: type[BaseLocker] = getattr(portalocker, "LockfLocker", None) or portalocker.MsvcrtLocker
            locker().lock(file, LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING)
        except LockException as error:
            return getattr(error.__cause__, "errno", None) not in _NO_LOCKS
    return True


def _open_to_read(path: Path, why_not: str, *, is_alone: bool = False) -> NotebookDatabase:
    """``is_alone``: where need be, other programs may be locked out while it is read."""
    connection = _connection_to_read(path, is_alone=is_alone)
    db = NotebookDatabase(connection)
    try:
        connection.execute("PRAGMA query_only = ON")
        _check_current(db, path)
    except BaseException:
        connection.close()
        raise
    db.why_read_only = why_not
    db.remark = f"{path} cannot be written ({why_not}): it is read as it stands"
    return db


def _connection_to_read(path: Path, *, is_alone: bool) -> sqlite3.Connection:
    connection = _connect(_uri(path, "mode=ro"), uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError as error:
        connection.close()
        if errors.is_busy(error):
            raise
    else:
        return connection

    # The shared index of a notebook that somebody has open, or left open, cannot be made here.
    wal = path.with_name(f"{path.name}-wal")
    if not wal.exists() or not wal.stat().st_size:
        return _connect(_uri(path, "mode=ro&immutable=1"), uri=True)
    if is_alone:
        return _connection_alone(path)
    raise errors.ReadOnlyNotebookError(
        f"{path.parent} cannot be written, and the notebook there was not closed: copy {path.name} and"
        f" {wal.name} to another folder, and start sharebench with the copy",
        options=errors.ANOTHER,
    )


def _connection_alone(path: Path) -> sqlite3.Connection:
    """With the index in this process's own memory, as SQLite has it for whoever locks everybody else out."""
    connection = _connect(str(path))
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("SELECT 1 FROM sqlite_master")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_current(db: Database, path: Path) -> None:
    if _format_of(db, path) != CURRENT_FORMAT:
        raise errors.ReadOnlyNotebookError(
            f"{path} is of an older version and cannot be written, so it cannot be converted: copy it to another"
            " folder, and start sharebench with the copy",
            options=errors.ANOTHER,
        )


def _format_of(db: Database, path: Path) -> int | None:
    tables = set(db.table_names())
    if "notebook_formats" not in tables:
        if tables:
            raise errors.NotebookFileError(f"{path} is a database, but not a notebook; {_ELSEWHERE}")
        return None

    row = db.execute("SELECT format, needs_version FROM notebook_formats ORDER BY format DESC LIMIT 1").fetchone()
    if row is None or not isinstance(row[0], int):
        raise errors.DamagedNotebookError(f"{path}: it does not say its format", advice=errors.PUT_BACK)

    newest_format, needed_version = row
    if newest_format > CURRENT_FORMAT:
        raise errors.NotebookFileError(
            f"the notebook {path} was made by a newer version: it needs sharebench {needed_version} or newer"
        )
    return int(newest_format)


def _prepare(connection: sqlite3.Connection, path: Path) -> NotebookDatabase:
    db = NotebookDatabase(connection)
    _take_without_shared_memory(connection)
    stored_format = _format_of(db, path)

    if not _is_wal(connection):
        connection.execute("PRAGMA journal_mode = DELETE")
        db.remark = (
            f"the file system of {path.parent} cannot share memory, so readers of the notebook wait for writers; a"
            " local disk is quicker"
        )
    connection.execute("PRAGMA synchronous = FULL")

    connection.execute("PRAGMA foreign_keys = OFF")  # while a migration makes tables anew
    if stored_format != CURRENT_FORMAT:
        _migrate(db, path)
    connection.execute("PRAGMA foreign_keys = ON")

    db.watch_file(path)
    return db


def _take_without_shared_memory(connection: sqlite3.Connection) -> None:
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError as error:
        if errors.is_busy(error):
            raise
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # then its index is in this process's own memory
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA locking_mode = NORMAL")
        connection.execute("SELECT 1 FROM sqlite_master")


def _is_wal(connection: sqlite3.Connection) -> bool:
    """SQLite does not wait here for another connection that makes the notebook, so this does."""
    last_try_at = monotonic() + BUSY_SECONDS
    while True:
        try:
            return bool(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal")
        except sqlite3.OperationalError as error:
            if not errors.is_busy(error):
                return False
            if monotonic() >= last_try_at:
                raise
            sleep(_AGAIN_SECONDS)


def _migrate(db: NotebookDatabase, path: Path) -> None:
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        old_format = _format_of(db, path)  # again: another program may have migrated it meanwhile
        if old_format is not None and old_format < CURRENT_FORMAT:
            _keep_copy(path, old_format)
        migrations.apply(db)
    except BaseException:
        db.conn.execute("ROLLBACK")
        raise
    db.conn.execute("COMMIT")


def _keep_copy(path: Path, old_format: int) -> None:
    """In a transaction, so that one program writes it."""
    name = f"{path.name}.format-{old_format}"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    copy = next(candidate for candidate in map(path.with_name, names) if not candidate.exists())

    # Under its own name once it is whole, so that no half of a copy is taken for one.
    part = path.with_name(f"{name}.part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, stat.S_IMODE(path.stat().st_mode)))

    with closing(_connect(str(path))) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
    part.replace(copy)
