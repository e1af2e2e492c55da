"""Notebooks of each older format, as an older version left them: the first one's dump, brought on by our migrations."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlite_utils import Database

from storage.migrations import CURRENT_FORMAT, migrations
from tests.builders import FORMAT_1

OLD_FORMATS = tuple(range(1, CURRENT_FORMAT))


def old_notebook(path: Path, format_number: int, more: int = 0, dump: Path = FORMAT_1) -> None:
    """A notebook of that format with the dump's series, and ``more`` copies of each."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(dump.read_text())
    for table, key in (("series", "id"), ("runs", "series_id")):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = ", ".join(f"printf('%06d', n) || {key}" if name == key else f'{table}."{name}"' for name in columns)
        connection.execute(
            f"WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ?)"
            f" INSERT INTO {table} SELECT {values} FROM {table}, copies WHERE ? > 0",
            (more, more),
        )
    db = Database(connection)
    later = [migration.name for migration in migrations().pending(db)][format_number - 1 :]
    migrations().apply(db, stop_before=later)
    connection.close()
