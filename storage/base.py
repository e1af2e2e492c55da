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

from storage.codec import Row, damaged, object_of
from storage.database import NotebookDatabase, open_database, open_in_memory
from storage.queries import in_parts
from storage.records import Ceiling, JSONValue, Worksheet

_READ_LATER = frozenset({"renewed_at", "set_at"})
_TYPES = {"TEXT": frozenset((str,)), "INTEGER": frozenset((int,)), "REAL": frozenset((float,))}


class NotebookBase:
    def __init__(self, path: Path, db: NotebookDatabase | None = None) -> None:
        """``db`` is used in place of the file's own."""
        self.path = path
        self.is_on_disk = True
        self.why_moved = ""
        """Why it goes on elsewhere than where it was opened."""
        self._db = open_database(path) if db is None else db

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

    def move_to(self, path: Path | None, why: str) -> None:
        """Go on in another notebook, a new one or in memory, which takes whatever refers to what it does not have."""
        moved = open_in_memory() if path is None else open_database(path)
        moved.conn.execute("PRAGMA foreign_keys = OFF")
        lost, self._db = self._db, moved
        self.is_on_disk = path is not None
        self.path = path or self.path.with_name(":memory:")
        self.why_moved = why

        with suppress(sqlite3.Error):
            # Else what is in the log of the lost file would become part of a copy that is put in its place.
            lost.conn.execute("PRAGMA busy_timeout = 0")
            lost.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with suppress(sqlite3.Error):
            lost.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def database_in_memory(self) -> NotebookDatabase:
        """A copy of it that is in no file and ends with the program."""
        copy = open_in_memory()
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

    def _insert_all(self, table: str, rows: Iterable[Row], *, unless_there: bool = False) -> None:
        rows = iter(rows)
        if (first := next(rows, None)) is not None:
            values = ", ".join(f":{name}" for name in first)
            insert = f"INSERT{' OR IGNORE' if unless_there else ''} INTO {table}"
            self._db.conn.executemany(f"{insert} ({', '.join(first)}) VALUES ({values})", chain([first], rows))

    def _rows(self, sql: str, arguments: Sequence[object] = ()) -> Iterator[Row]:
        cursor = self._db.conn.execute(sql, arguments)
        names = [column[0] for column in cursor.description]
        kinds = [self._kinds.get(name) for name in names]
        # A lease's time and a baseline's are read by who needs them: they must not close the notebook.
        moments = [at for at, name in enumerate(names) if name.endswith("_at") and name not in _READ_LATER]
        floats: dict[tuple[type, ...], list[int]] = {}  # places, by the types of a row: few rows differ in them
        for row in cursor:
            types = tuple(map(type, row))
            if types not in floats:
                for name, found, kind in zip(names, types, kinds, strict=True):
                    if kind is not None and found not in kind:
                        raise damaged(dict(zip(names, row, strict=True)), f"{name} holds {found.__name__}")
                floats[types] = [place for place, found in enumerate(types) if found is float]
            for place in floats[types]:
                if not isfinite(row[place]):
                    raise damaged(dict(zip(names, row, strict=True)), f"{names[place]} holds no number")
            for place in moments:
                if row[place] or names[place] == "created_at":
                    try:
                        datetime.fromisoformat(str(row[place]))
                    except ValueError as error:
                        raise damaged(dict(zip(names, row, strict=True)), f"{names[place]}: {error}") from error
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
    def ceiling(self, key: str) -> Ceiling | None:
        found = self._rows("SELECT key, bytes_per_second, measured_at FROM ceilings WHERE key = ?", (key,))
        return next((Ceiling(**row) for row in found), None)

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
        found = self._db.execute("SELECT value FROM remembered WHERE key = ?", (key,)).fetchone()
        return object_of(found[0]) if found else None
