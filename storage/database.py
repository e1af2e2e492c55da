"""Opening a notebook: making it, migrating an older one after a copy is kept, refusing a newer one."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from storage.encoding import TextConnection
from storage.errors import NotebookFileError
from storage.migrations import CURRENT_FORMAT, migrations

BUSY_SECONDS = 15.0
"""How long a writer waits for another one."""


class NotebookDatabase(Database):
    """A database whose transactions take the writer's place at their start.

    One that reads before it writes would be refused at once, whatever the timeout, when another connection has
    written in between (SQLITE_BUSY_SNAPSHOT); one that waits its turn first is not.
    """

    @contextmanager
    def atomic(self) -> Generator[NotebookDatabase, None, None]:
        """A transaction, or a savepoint inside one."""
        if self.conn.in_transaction:
            with super().atomic():
                yield self
            return
        self.conn.execute("BEGIN IMMEDIATE")
        try:
            yield self
            self.conn.execute("COMMIT")
        except BaseException:
            self.rollback()
            raise


def open_database(path: Path) -> Database:
    """The notebook at ``path``, made or migrated where needed. Raises NotebookFileError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, factory=TextConnection)
    except (OSError, sqlite3.Error) as error:
        raise NotebookFileError(f"cannot open the notebook {path}: {error}; name another one with --db FILE") from error
    try:
        return _prepare(connection, path)
    except (OSError, sqlite3.Error) as error:
        connection.close()
        raise NotebookFileError(f"cannot use {path} as a notebook: {error}; name another one with --db FILE") from error
    except BaseException:
        connection.close()
        raise


def _prepare(connection: sqlite3.Connection, path: Path) -> Database:
    db = NotebookDatabase(connection)
    tables = set(db.table_names())
    if "notebook_formats" in tables:
        found, needs = db.execute(
            "SELECT format, needs_version FROM notebook_formats ORDER BY format DESC LIMIT 1"
        ).fetchone()
        if found > CURRENT_FORMAT:
            raise NotebookFileError(
                f"the notebook {path} was made by a newer version: it needs sharebench {needs} or newer"
            )
        if found < CURRENT_FORMAT:
            _keep_copy(connection, path, found)
    elif tables:
        raise NotebookFileError(f"{path} is a database, but not a notebook; name another one with --db FILE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    if migrations.pending(db):
        connection.execute("BEGIN IMMEDIATE")
        try:
            migrations.apply(db)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    return db


def _keep_copy(connection: sqlite3.Connection, path: Path, found: int) -> None:
    """A copy of the notebook as it was, beside it; never over an older copy."""
    copy = path.with_name(f"{path.name}.format-{found}")
    number = 1
    while copy.exists():
        number += 1
        copy = path.with_name(f"{path.name}.format-{found}-{number}")
    with sqlite3.connect(copy) as target:
        connection.backup(target)
    target.close()
