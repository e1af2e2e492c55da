"""One open notebook, for one thread, and what the tables' classes share."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from functools import cached_property
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Self

from storage import codec, database, records
from storage.notebook_file import NotebookDatabase
from storage.queries import in_parts

_READ_LATER = frozenset({"renewed_at", "set_at"})
"""A lease's time and a baseline's are read by who needs them: a wrong one must not close the notebook."""

_TYPES = {"TEXT": frozenset((str,)), "INTEGER": frozenset((int,)), "REAL": frozenset((float,))}
_ANY_TYPE: frozenset[type] = frozenset((str, int, float, bytes, type(None)))
_NO_VALUE: frozenset[type] = frozenset((type(None),))


class NotebookBase:
    def __init__(self, path: Path, db: NotebookDatabase | None = None) -> None:
        """``db`` is used in place of the file's own."""
        self.path = path
        self.is_on_disk = True
        self.why_moved = ""
        """Why it goes on elsewhere than where it was opened."""
        self._db = database.open_database(path) if db is None else db

    @property
    def remark(self) -> str:
        return self._db.remark

    @property
    def why_read_only(self) -> str:
        """Empty where the notebook can be written."""
        return self._db.why_read_only

    def check_file(self) -> None:
        """Raises LostNotebookError where the file was deleted, replaced or cut short since it was opened."""
        self._db.check_file()

    @property
    def was_moved(self) -> bool:
        return bool(self.why_moved)

    def move_to(self, path: Path | None, reason: str) -> None:
        """Go on in another notebook, a new one or in memory, which takes whatever refers to what it does not have."""
        moved = database.open_in_memory() if path is None else database.open_database(path)
        moved.conn.execute("PRAGMA foreign_keys = OFF")
        lost_notebook = self._db
        self._db = moved
        self.is_on_disk = path is not None
        self.path = path or self.path.with_name(":memory:")
        self.why_moved = reason

        with suppress(sqlite3.Error):
            # Else what is in the log of the lost file would become part of a copy that is put in its place.
            lost_notebook.conn.execute("PRAGMA busy_timeout = 0")
            lost_notebook.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with suppress(sqlite3.Error):
            lost_notebook.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def database_in_memory(self) -> NotebookDatabase:
        """A copy of it that is in no file and ends with the program."""
        copy = database.open_in_memory()
        self._db.conn.backup(copy.conn)
        return copy

    def be_patient(self, seconds: float) -> None:
        self._db.conn.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    def at_once(self) -> AbstractContextManager[NotebookDatabase]:
        return self._db.atomic()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Whatever is read within is of one moment, however much others write or delete meanwhile."""
        self._db.conn.execute("BEGIN")
        try:
            yield
        finally:
            self._db.rollback()

    def _insert_all(self, table: str, rows: Iterable[codec.Row], *, unless_there: bool = False) -> None:
        """The rows have the same columns."""
        rows = iter(rows)
        first = next(rows, None)
        if first is None:
            return

        columns = ", ".join(first)
        values = ", ".join(f":{name}" for name in first)
        insert = "INSERT OR IGNORE INTO" if unless_there else "INSERT INTO"
        self._db.conn.executemany(f"{insert} {table} ({columns}) VALUES ({values})", chain([first], rows))

    def _rows(self, sql: str, arguments: Sequence[object] = ()) -> Iterator[codec.Row]:
        """Rows whose values can have been stored there. Raises DamagedNotebookError for the first other one."""
        cursor = self._db.conn.execute(sql, arguments)
        names = [column[0] for column in cursor.description]
        moments = [place for place, name in enumerate(names) if name.endswith("_at") and name not in _READ_LATER]

        floats: dict[tuple[type, ...], list[int]] = {}  # places, by the types of a row: few rows differ in them
        for values in cursor:
            row = dict(zip(names, values, strict=True))
            types = tuple(map(type, values))
            if types not in floats:
                self._check_types(row, names, types)
                floats[types] = [place for place, stored in enumerate(types) if stored is float]

            for place in floats[types]:
                if not isfinite(values[place]):
                    raise codec.damaged(row, f"{names[place]} holds no number")
            for place in moments:
                _check_moment(row, names[place], values[place])
            yield row

    def _check_types(self, row: codec.Row, names: Iterable[str], types: Iterable[type]) -> None:
        for name, stored in zip(names, types, strict=True):
            allowed = self._types_by_column.get(name)
            if allowed is not None and stored not in allowed:
                raise codec.damaged(row, f"{name} holds {stored.__name__}")

    @cached_property
    def _types_by_column(self) -> dict[str, frozenset[type]]:
        """What a column of that name may hold, in whichever table."""
        types_by_column: dict[str, frozenset[type]] = {}
        columns = self._db.conn.execute(
            "SELECT c.name, c.type, c.[notnull] FROM sqlite_master AS t, pragma_table_info(t.name) AS c"
            " WHERE t.type = 'table'"
        )
        for name, declared, is_never_null in columns:
            types = _TYPES.get(declared, _ANY_TYPE)
            if not is_never_null:
                types |= _NO_VALUE
            types_by_column[name] = types_by_column.get(name, frozenset()) | types
        return types_by_column

    def _rows_of(self, sql: str, ids: Sequence[str]) -> Iterator[codec.Row]:
        for part_sql, some_ids in in_parts(sql, ids):
            yield from self._rows(part_sql, some_ids)


def _check_moment(row: codec.Row, name: str, value: object) -> None:
    if not value and name != "created_at":
        return
    try:
        datetime.fromisoformat(str(value))
    except ValueError as error:
        raise codec.damaged(row, f"{name}: {error}") from error


class SideTables(NotebookBase):
    def ceiling(self, key: str) -> records.Ceiling | None:
        rows = self._rows("SELECT key, bytes_per_second, measured_at FROM ceilings WHERE key = ?", (key,))
        row = next(rows, None)
        if row is None:
            return None
        return records.Ceiling(key=row["key"], bytes_per_second=row["bytes_per_second"], measured_at=row["measured_at"])

    def set_ceiling(self, ceiling: records.Ceiling) -> None:
        with self._db.atomic():
            self._db.table("ceilings").insert(asdict(ceiling), replace=True)

    def worksheets(self, kind: str) -> list[records.Worksheet]:
        rows = self._rows("SELECT * FROM worksheets WHERE kind = ? ORDER BY saved_at DESC", (kind,))
        return [
            records.Worksheet(
                kind=row["kind"], name=row["name"], saved_at=row["saved_at"], content=codec.object_of(row["content"])
            )
            for row in rows
        ]

    def save_worksheet(self, worksheet: records.Worksheet) -> None:
        with self._db.atomic():
            row = asdict(worksheet) | {"content": json.dumps(dict(worksheet.content))}
            self._db.table("worksheets").insert(row, replace=True)

    def remember(self, key: str, value: Mapping[str, records.JSONValue] | None) -> None:
        with self._db.atomic():
            if value is None:
                self._db.execute("DELETE FROM remembered WHERE key = ?", (key,))
            else:
                self._db.table("remembered").insert({"key": key, "value": json.dumps(dict(value))}, replace=True)

    def remembered(self, key: str) -> dict[str, records.JSONValue] | None:
        row = self._db.execute("SELECT value FROM remembered WHERE key = ?", (key,)).fetchone()
        return codec.object_of(row[0]) if row else None
