"""The connection to a notebook's file: its transactions, and whether the file is still the one that was opened."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from storage import errors
from storage.text_connection import TextConnection

if TYPE_CHECKING:
    from sqlite_utils.db import Table

    from storage.sqlite_library import Database

BUSY_SECONDS = 15.0
"""How long one program waits until another has ended its transaction."""

IN_MEMORY = Path(":memory:")
"""In place of a file, for SQLite."""


def connect(path: Path, options: str = "") -> sqlite3.Connection:
    """A connection to a file, with options of SQLite such as ``mode=ro``; it begins no transaction by itself."""
    place = f"file:{quote(str(path.absolute()))}?{options}" if options else str(path)
    return sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None, factory=TextConnection, uri=bool(options))


class _OpenFile(NamedTuple):
    """The file that a connection has open, as it was when it was last looked at under its path."""

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


class NotebookDatabase:
    """The open notebook: every change is a transaction of ``atomic``, which also sees whether the file is still there.

    Transactions lock at their start: after a read they would be refused at once (SQLITE_BUSY_SNAPSHOT).
    """

    remark: str = ""
    """What people should know of how it was opened; empty for nothing."""
    why_read_only: str = ""
    """Empty where it can be written."""
    _file: _OpenFile | None = None
    """None until ``watch_file``, and for a notebook in memory."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.conn = connection

    @cached_property
    def library(self) -> "Database":
        """The same connection for sqlite-utils, which makes tables and writes rows; who only reads does not load it."""
        from storage.sqlite_library import Database

        # A plugin of sqlite-utils could change what a notebook does, and to look for one takes time at every opening.
        return Database(self.conn, execute_plugins=False)

    def table(self, name: str) -> "Table":
        return self.library.table(name)

    def execute(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> sqlite3.Cursor:
        return self.conn.execute(sql, parameters)

    def rollback(self) -> None:
        """Undo the transaction; does nothing where there is none, as after an error that undid it."""
        if self.conn.in_transaction:
            self.conn.execute("ROLLBACK")

    def close(self) -> None:
        self.conn.close()

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
        with closing(connect(path, "mode=ro")) as fresh:
            try:
                is_sound = fresh.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
            except sqlite3.DatabaseError as error:
                is_sound = not errors.is_damaged(error)
        if not is_sound:
            raise errors.LostNotebookError(f"the notebook {path} was cut short")

    @contextmanager
    def atomic(self) -> "Iterator[NotebookDatabase]":
        """A transaction, undone where its block raises; within another one, a part of it that is undone by itself.

        Raises ReadOnlyNotebookError, and LostNotebookError also where the file went while it was written.
        """
        if self.conn.in_transaction:
            # Within another one it is a savepoint.
            with self.library.atomic():
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
