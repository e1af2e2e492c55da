"""The base of `Notebook`: the open database of one notebook, and how its rows are written and read with checks.

`Notebook` is composed of classes of tables (`TextTables`, `RecordingTables`, `LoadTables` …), all derived from this.
One notebook object is for one thread.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from functools import cached_property
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Self

from storage import codec, database
from storage.notebook_file import NotebookDatabase
from storage.queries import in_parts

_UNCHECKED_MOMENTS = frozenset({"renewed_at", "set_at"})
"""A lease's time and a baseline's are checked by who needs them: a wrong one must not make all else unreadable."""

_TYPES = {"TEXT": frozenset((str,)), "INTEGER": frozenset((int,)), "REAL": frozenset((float,))}
"""What SQLite may return of a column that was declared so."""
_ANY_TYPE: frozenset[type] = frozenset((str, int, float, bytes, type(None)))
_NO_VALUE: frozenset[type] = frozenset((type(None),))


class NotebookBase:
    """The open database (``_db``), and the ways to it that every class of tables uses.

    ``_rows`` and ``_rows_of`` read rows and check each value; ``_insert_all`` writes many.
    """

    def __init__(self, path: Path, db: NotebookDatabase | None = None) -> None:
        """Open the notebook at ``path``; or use ``db``, which is open already and in memory."""
        self.path = path
        self.is_on_disk = True
        """False after the disk failed and it goes on in memory."""
        self.why_moved = ""
        """Why it goes on elsewhere than where it was opened; empty where it does not."""
        self._db = database.open_database(path) if db is None else db

    @property
    def remark(self) -> str:
        """What people should know of how it was opened; empty for nothing."""
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
        """Go on in another notebook: at that path, or in memory, after the file was lost or its disk failed.

        It is empty, so that it takes rows which refer to others that it does not have.
        """
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
        """A copy of its content that is in no file and ends with the program."""
        copy = database.open_in_memory()
        self._db.conn.backup(copy.conn)
        return copy

    def be_patient(self, seconds: float) -> None:
        """Wait that long from now on for another program that writes."""
        self._db.conn.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    def transaction(self) -> AbstractContextManager[NotebookDatabase]:
        """Whatever is written within is one transaction."""
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
        """Insert rows of the same columns; ``unless_there`` leaves out those whose key is in the table already."""
        rows = iter(rows)
        first = next(rows, None)
        if first is None:
            return

        columns = ", ".join(first)
        values = ", ".join(f":{name}" for name in first)
        insert = "INSERT OR IGNORE INTO" if unless_there else "INSERT INTO"
        self._db.conn.executemany(f"{insert} {table} ({columns}) VALUES ({values})", chain([first], rows))

    def _rows(self, sql: str, arguments: Sequence[object] = ()) -> Iterator[codec.Row]:
        """The rows of a query, each checked: whether its values are of the types that their columns hold, numbers are
        finite, and moments (columns ``…_at``) are times. Raises DamagedNotebookError for the first that is not.
        """
        cursor = self._db.conn.execute(sql, arguments)
        names = [column[0] for column in cursor.description]
        moments = [place for place, name in enumerate(names) if name.endswith("_at") and name not in _UNCHECKED_MOMENTS]

        # The places of floats in a row, by the row's types: few rows differ in their types, so each is checked once.
        float_places: dict[tuple[type, ...], list[int]] = {}
        for values in cursor:
            row = dict(zip(names, values, strict=True))
            types = tuple(map(type, values))
            if types not in float_places:
                self._check_types(row, names, types)
                float_places[types] = [place for place, stored in enumerate(types) if stored is float]

            for place in float_places[types]:
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
        """As ``_rows``; ``IN (ids)`` in the query stands for the ids, of which there may be any number."""
        for part_sql, some_ids in in_parts(sql, ids):
            yield from self._rows(part_sql, some_ids)


def _check_moment(row: codec.Row, name: str, value: object) -> None:
    """Raises DamagedNotebookError for what is no time; only ``created_at`` may not be empty."""
    if not value and name != "created_at":
        return
    try:
        datetime.fromisoformat(str(value))
    except ValueError as error:
        raise codec.damaged(row, f"{name}: {error}") from error
