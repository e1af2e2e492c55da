"""Opens the SQLite file of a notebook: makes it, converts an older format, or reads it where it cannot be written.

SQLite keeps what is written in a log (``-wal``) beside the file until it moves it there, and the log's index in memory
that all programs share (``-shm``). Where a file system cannot share memory there is no log: readers wait for writers.
"""

import os
import sqlite3
import stat
from contextlib import closing, suppress
from itertools import chain, count
from pathlib import Path
from time import monotonic, sleep

from storage import disk, errors, notebook_file
from storage.migrations import CURRENT_FORMAT, migrations
from storage.paths import ForeignLinkError, make_folders, real_path

_AGAIN_SECONDS = 0.01
"""Between two tries of what SQLite does not wait for itself."""

_ELSEWHERE = "start sharebench with another notebook"

_VFS = ""
"""SQLite's own way to reach files, by name, in place of the system's usual one: tests set it."""


def open_database(path: Path) -> notebook_file.NotebookDatabase:
    """Open the notebook at ``path``, creating or migrating it. Raises NotebookFileError."""
    try:
        make_folders(path.parent)
        path = _make_file(path)

        why_not = disk.why_not_writable(path)
        if why_not:
            return _open_to_read(path, why_not)
        return _open_to_write(path)
    except ForeignLinkError as error:
        raise errors.NotebookFileError(
            f"cannot use {path} as a notebook: {error}; {_ELSEWHERE}", options=errors.ANOTHER
        ) from error
    except (OSError, sqlite3.Error) as error:
        if disk.is_from_full_disk(error, path.parent):
            return _open_without_room(path, error)
        raise _unusable(path, error) from error


def copy_notebook(path: Path, to: Path) -> None:
    """Copy a notebook, with what other programs have written and not moved into its file yet. Raises sqlite3.Error."""
    with (
        closing(notebook_file.connect(path, "mode=ro")) as source,
        closing(notebook_file.connect(to)) as target,
    ):
        source.backup(target)


def open_in_memory() -> notebook_file.NotebookDatabase:
    """A notebook without a file, for what can be written nowhere."""
    db = notebook_file.NotebookDatabase(notebook_file.connect(notebook_file.IN_MEMORY))
    migrations().apply(db.library)
    return db


def _make_file(path: Path) -> Path:
    """The file that ``path`` leads to over links, made if it is missing: empty, and for its owner alone."""
    real = real_path(path)
    with suppress(FileExistsError):
        os.close(os.open(real, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    if not stat.S_ISREG(real.stat().st_mode):
        raise errors.NotebookFileError(f"{path} is no file; {_ELSEWHERE}", options=errors.ANOTHER)
    return real


def _unusable(path: Path, error: OSError | sqlite3.Error) -> errors.NotebookFileError:
    """Why the notebook cannot be opened, and what to do."""
    if isinstance(error, sqlite3.Error) and errors.is_damaged(error):
        return errors.DamagedNotebookError(f"{path}: {error}", advice=errors.PUT_BACK)
    if isinstance(error, sqlite3.Error) and errors.is_busy(error):
        return errors.NotebookFileError(
            f"the notebook {path} is held by another program, for more than {notebook_file.BUSY_SECONDS:.0f} s:"
            f" end it, or {_ELSEWHERE}",
            options=errors.ANOTHER,
        )

    is_failing = isinstance(error, sqlite3.Error) and errors.is_failing(error)
    what_to_do = f"the disk gives errors; {errors.SAVE_IT}" if is_failing else _ELSEWHERE
    return errors.NotebookFileError(
        f"cannot use {path} as a notebook: {errors.in_one_line(error)}; {what_to_do}", options=errors.ANOTHER
    )


def _open_without_room(path: Path, error: OSError | sqlite3.Error) -> notebook_file.NotebookDatabase:
    """Open a notebook on a full disk to be read. Raises NotebookFileError where there is none yet."""
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


def _open_to_write(path: Path) -> notebook_file.NotebookDatabase:
    """Open a notebook that can be written. Raises NotebookFileError where its file system has no locks."""
    if not disk.has_locks(path.parent):
        raise errors.NotebookFileError(
            f"the file system of {path.parent} has no locks, without which a notebook would be damaged sooner or"
            " later: keep it on a local disk",
            options=errors.ANOTHER,
        )

    connection = notebook_file.connect(path, f"vfs={_VFS}") if _VFS else notebook_file.connect(path)
    try:
        return _prepare(connection, path)
    except BaseException:
        connection.close()
        raise


def _open_to_read(path: Path, why_not: str, *, is_alone: bool = False) -> notebook_file.NotebookDatabase:
    """Open a notebook that cannot be written. ``is_alone``: other programs may be locked out while it is read."""
    connection = _connection_to_read(path, is_alone=is_alone)
    db = notebook_file.NotebookDatabase(connection)
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
    """A connection that reads: in SQLite's usual way, or as a file that nobody changes, or with others locked out."""
    connection = notebook_file.connect(path, "mode=ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError as error:
        connection.close()
        if errors.is_busy(error):
            raise
    else:
        return connection

    # The shared index of the log (-shm) cannot be made here. Without a log all is in the file, which is then read as a
    # file that does not change; a log that is left over has what the file has not.
    wal = path.with_name(f"{path.name}-wal")
    if not wal.exists() or not wal.stat().st_size:
        return notebook_file.connect(path, "mode=ro&immutable=1")
    if is_alone:
        return _connection_alone(path)
    raise errors.ReadOnlyNotebookError(
        f"{path.parent} cannot be written, and the notebook there was not closed: copy {path.name} and"
        f" {wal.name} to another folder, and start sharebench with the copy",
        options=errors.ANOTHER,
    )


def _connection_alone(path: Path) -> sqlite3.Connection:
    """A connection with the log's index in this process's own memory, as SQLite has it where others are locked out."""
    connection = notebook_file.connect(path)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("SELECT 1 FROM sqlite_master")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_current(db: notebook_file.NotebookDatabase, path: Path) -> None:
    """Raises ReadOnlyNotebookError for a notebook of an older format: it would have to be converted."""
    if _format_of(db, path) != CURRENT_FORMAT:
        raise errors.ReadOnlyNotebookError(
            f"{path} is of an older version and cannot be written, so it cannot be converted: copy it to another"
            " folder, and start sharebench with the copy",
            options=errors.ANOTHER,
        )


def _format_of(db: notebook_file.NotebookDatabase, path: Path) -> int | None:
    """The number of the notebook's format; None for an empty file. Raises NotebookFileError for another database."""
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
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


def _prepare(connection: sqlite3.Connection, path: Path) -> notebook_file.NotebookDatabase:
    """The notebook of a new connection: with a log if possible, and in the current format."""
    db = notebook_file.NotebookDatabase(connection)
    _end_log_without_shared_memory(connection)
    stored_format = _format_of(db, path)

    if not _begin_log(connection):
        connection.execute("PRAGMA journal_mode = DELETE")
        db.remark = (
            f"the file system of {path.parent} cannot share memory, so readers of the notebook wait for writers; a"
            " local disk is quicker"
        )
    connection.execute("PRAGMA synchronous = FULL")  # what was measured survives a power failure

    connection.execute("PRAGMA foreign_keys = OFF")  # while a migration makes tables anew
    if stored_format != CURRENT_FORMAT:
        _migrate(db, path)
    connection.execute("PRAGMA foreign_keys = ON")

    db.watch_file(path)
    return db


def _end_log_without_shared_memory(connection: sqlite3.Connection) -> None:
    """Where memory cannot be shared, move what a log still has into the file, and go on without one."""
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError as error:
        if errors.is_busy(error):
            raise
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # then its index is in this process's own memory
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA locking_mode = NORMAL")
        connection.execute("SELECT 1 FROM sqlite_master")


def _begin_log(connection: sqlite3.Connection) -> bool:
    """Have SQLite keep a log (WAL); False where the file system cannot share memory.

    SQLite does not wait here for another connection that makes the notebook, so this does.
    """
    last_try_at = monotonic() + notebook_file.BUSY_SECONDS
    while True:
        try:
            return bool(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal")
        except sqlite3.OperationalError as error:
            if not errors.is_busy(error):
                return False
            if monotonic() >= last_try_at:
                raise
            sleep(_AGAIN_SECONDS)


def _migrate(db: notebook_file.NotebookDatabase, path: Path) -> None:
    """Make the tables of a new notebook, or convert an older one after a copy of it is kept."""
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        old_format = _format_of(db, path)  # again: another program may have migrated it meanwhile
        if old_format is not None and old_format < CURRENT_FORMAT:
            _keep_copy(path, old_format)
        migrations().apply(db.library)
    except BaseException:
        db.conn.execute("ROLLBACK")
        raise
    db.conn.execute("COMMIT")


def _keep_copy(path: Path, old_format: int) -> None:
    """Copy the notebook beside itself before it is converted; in its transaction, so that one program does so."""
    name = f"{path.name}.format-{old_format}"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    copy = next(candidate for candidate in map(path.with_name, names) if not candidate.exists())

    # Under its own name once it is whole, so that no half of a copy is taken for one.
    part = path.with_name(f"{name}.part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, stat.S_IMODE(path.stat().st_mode)))

    with closing(notebook_file.connect(path)) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
    part.replace(copy)
