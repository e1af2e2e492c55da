"""One open SQLite file with a notebook, for one thread; what the tables' classes share."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import datetime
from functools import cached_property
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Self

from storage.codec import Row, object_of
from storage.errors import DamagedNotebookError
from storage.queries import in_parts
from storage.records import Ceiling, JSONValue, Worksheet

_TYPES = {"TEXT": frozenset((str,)), "INTEGER": frozenset((int,)), "REAL": frozenset((float,))}


def _check_moment(column: str, value: object) -> None:
    try:
        datetime.fromisoformat(str(value))
    except ValueError as error:
        raise DamagedNotebookError(f"{column}: {error}") from error


class NotebookBase:
    """The open file. Every writing method is one transaction."""

    def __init__(self, path: Path) -> None:
        from storage.database import open_database  # noqa: PLC0415  sqlite-utils takes a tenth of a second to load

        self.path = path
        self._db = open_database(path)

    @property
    def remark(self) -> str:
        return self._db.remark

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def copy(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as target:
            self._db.conn.backup(target)

    def be_patient(self, seconds: float) -> None:
        """Wait this long for another writer before an error."""
        self._db.conn.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    @contextmanager
    def at_once(self) -> Iterator[None]:
        with self._db.atomic():
            yield

    def _insert_all(self, table: str, rows: Iterable[Row], *, unless_there: bool = False) -> None:
        rows = iter(rows)
        first = next(rows, None)
        if first is not None:
            values = ", ".join(f":{name}" for name in first)
            insert = f"INSERT{' OR IGNORE' if unless_there else ''} INTO {table}"
            sql = f"{insert} ({', '.join(first)}) VALUES ({values})"
            self._db.conn.executemany(sql, chain([first], rows))

    def _rows(self, sql: str, arguments: Sequence[object] = ()) -> Iterator[Row]:
        cursor = self._db.conn.execute(sql, arguments)
        names = [column[0] for column in cursor.description]
        kinds = [self._kinds.get(name) for name in names]
        for row in cursor:
            for name, value, kind in zip(names, row, kinds, strict=True):
                if kind is not None and type(value) not in kind:
                    raise DamagedNotebookError(f"{name} holds {type(value).__name__}")
                if isinstance(value, float) and not isfinite(value):
                    raise DamagedNotebookError(f"{name} holds no number")
                if (value or name == "created_at") and name.endswith("_at") and name != "renewed_at":  # of a lease
                    _check_moment(name, value)
            yield dict(zip(names, row, strict=True))

    @cached_property
    def _kinds(self) -> dict[str, frozenset[type]]:
        found: dict[str, frozenset[type]] = {}
        sql = "SELECT c.name, c.type, c.[notnull] FROM sqlite_master AS t, pragma_table_info(t.name) AS c"
        for name, declared, filled in self._db.conn.execute(f"{sql} WHERE t.type = 'table'"):
            kinds = _TYPES.get(declared, frozenset((str, int, float, bytes, type(None))))
            found[name] = found.get(name, frozenset()) | kinds | (frozenset() if filled else {type(None)})
        return found

    def _rows_of(self, sql: str, ids: Sequence[str]) -> Iterator[Row]:
        for asked, part in in_parts(sql, ids):
            yield from self._rows(asked, part)


class SideTables(NotebookBase):
    """Ceilings, worksheets, and values under keys."""

    def ceiling(self, key: str) -> Ceiling | None:
        for row in self._rows("SELECT key, bytes_per_second, measured_at FROM ceilings WHERE key = ?", (key,)):
            return Ceiling(**row)
        return None

    def set_ceiling(self, ceiling: Ceiling) -> None:
        with self._db.atomic():
            self._db.table("ceilings").insert(asdict(ceiling), replace=True)

    def worksheets(self, kind: str) -> list[Worksheet]:
        rows = self._rows("SELECT * FROM worksheets WHERE kind = ? ORDER BY saved_at DESC", (kind,))
        return [Worksheet(**row | {"content": object_of(row["content"])}) for row in rows]

    def save_worksheet(self, worksheet: Worksheet) -> None:
        with self._db.atomic():
            row = asdict(worksheet) | {"content": json.dumps(dict(worksheet.content))}
            self._db.table("worksheets").insert(row, replace=True)

    def remember(self, key: str, value: Mapping[str, JSONValue] | None) -> None:
        with self._db.atomic():
            if value is None:
                self._db.execute("DELETE FROM remembered WHERE key = ?", (key,))
            else:
                self._db.table("remembered").insert({"key": key, "value": json.dumps(dict(value))}, replace=True)

    def remembered(self, key: str) -> dict[str, JSONValue] | None:
        for (value,) in self._db.execute("SELECT value FROM remembered WHERE key = ?", (key,)):
            return object_of(value)
        return None
