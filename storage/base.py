"""One open SQLite file with a notebook, for one thread; what the tables' classes share; the notebook's migrations,
never by today's readers: limits of today must not decide what is kept.
"""

import errno
import json
import os
import re
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from functools import cached_property
from importlib.resources import files
from itertools import chain, count
from math import isfinite
from pathlib import Path
from time import monotonic, sleep
from typing import Self
from urllib.parse import quote

from portalocker import LockFlags, portalocker
from portalocker.exceptions import LockException
from portalocker.portalocker import BaseLocker
from sqlite_utils import Database, Migrations

from storage import errors
from storage.codec import Row, TextConnection, object_of
from storage.queries import in_parts
from storage.records import Ceiling, JSONValue, Worksheet

_FORMATS = {
    "0.1.0": "m001_series",
    "0.2.0": "m002_experiments m003_evidence m004_baselines_of_several m005_changes m006_isolations m007_loads"
    " m008_series_texts m009_windows_of_trials m010_owners_of_loads",
    "0.3.0": "m011_recordings",
}
_NEEDS = {name: version for version, names in _FORMATS.items() for name in names.split()}
"""The version that each format needs; the statements are in ``formats``, frozen: a change is a new migration."""
CURRENT_FORMAT = len(_NEEDS)


def _is_whole(value: object, least: int, most: float) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and least <= value <= most and value % 1 == 0


def _is_above_zero(value: object, most: float) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 < value <= most


_ENDLESS = 1e300
_SETTINGS_OF_FORMAT_3: dict[str, Callable[[object], bool]] = {
    "block_bytes": lambda value: _is_whole(value, 1, _ENDLESS),
    "in_flight": lambda value: _is_whole(value, 1, 512),
    "sign": lambda value: isinstance(value, bool),
    "encrypt": lambda value: isinstance(value, bool),
    "timeout_seconds": lambda value: _is_above_zero(value, 86_400),
    "drop_cache": lambda value: isinstance(value, bool),
}
_PLAN_OF_FORMAT_3: dict[str, Callable[[object], bool]] = {
    "runs": lambda value: _is_whole(value, 0, 100_000),
    "warmups": lambda value: _is_whole(value, 0, 1000),
    "until_percent": lambda value: _is_above_zero(value, 100),
    "max_runs": lambda value: _is_whole(value, 0, 100_000),
    "size_bytes": lambda value: _is_whole(value, 1, _ENDLESS),
    "make_file": lambda value: isinstance(value, bool),
    "verify": lambda value: isinstance(value, bool),
    "client": lambda value: isinstance(value, str),
    "settings": lambda value: _fits(value, _SETTINGS_OF_FORMAT_3),
    "quiet_time": lambda value: value in ("record", "require", "skip"),
    "server_ssh": lambda value: isinstance(value, str),
    "smb_conf": lambda value: isinstance(value, str),
    "ceiling": lambda value: value in ("record", "renew", "skip"),
}
_VERDICTS_OF_FORMAT_3 = ("quiet", "typical", "busy", "unknown", None)


def _fits(value: object, checks: Mapping[str, Callable[[object], bool]]) -> bool:
    return isinstance(value, dict) and all(value.get(name) is None or fit(value[name]) for name, fit in checks.items())


def _was_quiet(value: object) -> bool:
    if not isinstance(value, dict) or value.get("verdict") not in _VERDICTS_OF_FORMAT_3:
        return False
    reasons = value.get("reasons") or []
    if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
        return False
    figures = (value[name] for name in value if name not in {"verdict", "reasons"})
    return all(
        one is None or (not isinstance(one, bool) and isinstance(one, int | float) and abs(one) < _ENDLESS)
        for one in figures
    )


def sql(name: str, folder: str = "statements") -> str:
    return files("storage").joinpath(folder, f"{name}.sql").read_text(encoding="utf-8")


def _migration(number: int, name: str) -> Callable[[Database], None]:
    def migrate(db: Database) -> None:
        parts = dict(part.rstrip("\n").split("\n", 1) for part in sql("shared", "formats").split("-- @")[1:])
        script = sql(name, "formats")
        while "@" in script:
            script = re.sub(r"^ *@(\w+)|@(\w+)", lambda match: parts[match[1] or match[2]], script, flags=re.MULTILINE)
        for statement in filter(str.strip, script.split(";\n")):
            db.execute(statement)  # ``executescript`` would commit the migration's transaction
        if number == 3:  # an earlier version imported them unchecked
            for series_id, *texts in db.execute('SELECT id, "plan", quiet FROM series').fetchall():
                plan, quiet = (json.loads(text or "null") for text in texts)
                if plan is not None and not _fits(plan, _PLAN_OF_FORMAT_3):
                    db.execute("UPDATE series SET \"plan\" = '{}' WHERE id = ?", (series_id,))
                if quiet is not None and not _was_quiet(quiet):
                    db.execute("UPDATE series SET quiet = NULL WHERE id = ?", (series_id,))
        db.table("notebook_formats").insert({"format": number, "needs_version": _NEEDS[name]})

    return migrate


migrations = Migrations("sharebench")
for _number, _name in enumerate(_NEEDS, start=1):
    migrations(name=_name)(_migration(_number, _name))


BUSY_SECONDS = 15.0
_AGAIN_SECONDS = 0.01
_ELSEWHERE = "start sharebench with another notebook"
_VFS = ""
_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES}


class NotebookDatabase(Database):
    """Transactions lock at their start: after a read they would be refused at once (SQLITE_BUSY_SNAPSHOT)."""

    remark: str = ""

    @contextmanager
    def atomic(self) -> "Generator[NotebookDatabase, None, None]":
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


def open_database(path: Path) -> NotebookDatabase:
    """Open the notebook at ``path``, creating or migrating it. Raises NotebookFileError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        if not stat.S_ISREG(path.stat().st_mode):
            raise errors.NotebookFileError(f"{path} is no file; {_ELSEWHERE}", options=errors.ANOTHER)
        is_writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        return _writable(path) if is_writable else _read_only(path)
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, sqlite3.Error) and errors.is_damaged(error):
            raise errors.DamagedNotebookError(f"{path}: {error}") from error
        if isinstance(error, sqlite3.Error) and errors.is_busy(error):
            raise errors.NotebookFileError(
                f"the notebook {path} is held by another program, for more than {BUSY_SECONDS:.0f} s: end it, or"
                f" {_ELSEWHERE}",
                options=errors.ANOTHER,
            ) from error
        failing = isinstance(error, sqlite3.Error) and errors.is_failing(error)
        what_to_do = f"the disk gives errors; {errors.SAVE_IT}" if failing else _ELSEWHERE
        raise errors.NotebookFileError(
            f"cannot use {path} as a notebook: {errors.in_one_line(error)}; {what_to_do}", options=errors.ANOTHER
        ) from error


def _connect(place: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None, factory=TextConnection, uri=uri)


def _uri(path: Path, options: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{options}"


def _writable(path: Path) -> NotebookDatabase:
    if not _has_locks(path.parent):
        raise errors.NotebookFileError(
            f"the file system of {path.parent} has no locks, without which a notebook would be damaged sooner or"
            " later: keep it on a local disk",
            options=errors.ANOTHER,
        )
    connection = _connect(_uri(path, f"vfs={_VFS}") if _VFS else str(path), uri=bool(_VFS))
    try:
        return _prepare(connection, path)
    except BaseException:
        connection.close()
        raise


def _has_locks(folder: Path) -> bool:
    """Tried with another file, since closing the notebook would unlock it."""
    with tempfile.TemporaryFile(dir=folder, prefix=".sharebench-") as file:
        try:
            kind: type[BaseLocker] = getattr(portalocker, "LockfLocker", None) or portalocker.MsvcrtLocker
            kind().lock(file, LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING)
        except LockException as error:
            return getattr(error.__cause__, "errno", None) not in _NO_LOCKS
    return True


def _read_only(path: Path) -> NotebookDatabase:
    connection = _connect(_uri(path, "mode=ro"), uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        wal = path.with_name(f"{path.name}-wal")
        if wal.exists() and wal.stat().st_size:
            raise errors.ReadOnlyNotebookError(
                f"{path.parent} cannot be written, and the notebook there was not closed: copy {path.name} and"
                f" {wal.name} to another folder, and start sharebench with the copy",
                options=errors.ANOTHER,
            ) from None
        connection = _connect(_uri(path, "mode=ro&immutable=1"), uri=True)
    db = NotebookDatabase(connection)
    try:
        _check_current(db, path)
    except BaseException:
        connection.close()
        raise
    db.remark = f"{path} cannot be written: it is read as it stands"
    return db


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
        raise errors.DamagedNotebookError(f"{path}: it does not say its format")
    if row[0] > CURRENT_FORMAT:
        raise errors.NotebookFileError(
            f"the notebook {path} was made by a newer version: it needs sharebench {row[1]} or newer"
        )
    return row[0]


def _prepare(connection: sqlite3.Connection, path: Path) -> NotebookDatabase:
    db = NotebookDatabase(connection)
    _take_without_shared_memory(connection)
    found = _format_of(db, path)
    if not _is_wal(connection):
        connection.execute("PRAGMA journal_mode = DELETE")
        db.remark = (
            f"the file system of {path.parent} cannot share memory, so readers of the notebook wait for writers; a"
            " local disk is quicker"
        )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = OFF")  # while a migration makes tables anew
    if found != CURRENT_FORMAT:
        _migrate(db, path)
    connection.execute("PRAGMA foreign_keys = ON")
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
    given_up_at = monotonic() + BUSY_SECONDS
    while True:
        try:
            return bool(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal")
        except sqlite3.OperationalError as error:
            if not errors.is_busy(error):
                return False
            if monotonic() >= given_up_at:
                raise
            sleep(_AGAIN_SECONDS)


def _migrate(db: NotebookDatabase, path: Path) -> None:
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        found = _format_of(db, path)  # again: another program may have migrated it meanwhile
        if found is not None and found < CURRENT_FORMAT:
            _keep_copy(path, found)
        migrations.apply(db)
    except BaseException:
        db.conn.execute("ROLLBACK")
        raise
    db.conn.execute("COMMIT")


def _keep_copy(path: Path, found: int) -> None:
    """In a transaction, so that one program writes it."""
    name = f"{path.name}.format-{found}"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    copy = next(one for one in map(path.with_name, names) if not one.exists())
    part = path.with_name(f"{name}.part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, stat.S_IMODE(path.stat().st_mode)))
    with closing(_connect(str(path))) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
    part.replace(copy)


_TYPES = {"TEXT": frozenset((str,)), "INTEGER": frozenset((int,)), "REAL": frozenset((float,))}


class NotebookBase:
    def __init__(self, path: Path, db: NotebookDatabase | None = None) -> None:
        """``db`` is used in place of the file's own."""
        self.path = path
        self._db = open_database(path) if db is None else db

    @property
    def remark(self) -> str:
        return self._db.remark

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def database_in_memory(self) -> NotebookDatabase:
        """A copy of it that is in no file and ends with the program."""
        connection = _connect(":memory:")
        self._db.conn.backup(connection)
        return NotebookDatabase(connection)

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
        moments = [at for at, name in enumerate(names) if name.endswith("_at") and name != "renewed_at"]  # of a lease
        floats: dict[tuple[type, ...], list[int]] = {}  # places, by the types of a row: few rows differ in them
        for row in cursor:
            types = tuple(map(type, row))
            if types not in floats:
                for name, found, kind in zip(names, types, kinds, strict=True):
                    if kind is not None and found not in kind:
                        raise errors.DamagedNotebookError(f"{name} holds {found.__name__}")
                floats[types] = [place for place, found in enumerate(types) if found is float]
            for place in floats[types]:
                if not isfinite(row[place]):
                    raise errors.DamagedNotebookError(f"{names[place]} holds no number")
            for place in moments:
                if row[place] or names[place] == "created_at":
                    try:
                        datetime.fromisoformat(str(row[place]))
                    except ValueError as error:
                        raise errors.DamagedNotebookError(f"{names[place]}: {error}") from error
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
