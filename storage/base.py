"""One open SQLite file that holds a notebook, for one thread; what the tables' classes share."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Self

from storage.codec import Row
from storage.errors import DamagedNotebookError
from storage.queries import in_parts

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
        """What is unusual about the way the file is used (read only, no WAL), for people; empty where nothing is."""
        return self._db.remark

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def be_patient(self, seconds: float) -> None:
        """Wait for so long for another program that writes, before an error says that the notebook is held."""
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
                if value and name.endswith("_at") and name != "renewed_at":  # of a lease, which then has nobody
                    _check_moment(name, value)
            yield dict(zip(names, row, strict=True))

    @cached_property
    def _kinds(self) -> dict[str, frozenset[type]]:
        """The types of each column's values, over all tables; SQLite holds them only where nobody changed the file."""
        found: dict[str, frozenset[type]] = {}
        sql = "SELECT c.name, c.type, c.[notnull] FROM sqlite_master AS t, pragma_table_info(t.name) AS c"
        for name, declared, filled in self._db.conn.execute(f"{sql} WHERE t.type = 'table'"):
            kinds = _TYPES.get(declared, frozenset((str, int, float, bytes, type(None))))
            found[name] = found.get(name, frozenset()) | kinds | (frozenset() if filled else {type(None)})
        return found

    def _rows_of(self, sql: str, ids: Sequence[str]) -> Iterator[Row]:
        for asked, part in in_parts(sql, ids):
            yield from self._rows(asked, part)
