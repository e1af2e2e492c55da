"""The documents campaign: mutated documents of every kind and damaged notebooks, with every command on each taken one.

Case n follows from n alone. With a file of results each case is a line there as soon as it is known, and a campaign
that was ended goes on behind the last one.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app.cli.main import run
from forms.isolation.document import example_documents
from storage.changes import ChangeKind, Slot, TrialPlan
from storage.notebook import Notebook
from storage.records import Change, Experiment, ExperimentKind
from tests.builders import abandoned_change, book_series, every_field, export, full_series, series
from tests.loads import full_load
from tests.recordings import MAKERS
from tests.reliability.figures import Clock, Figures, Share
from tests.reliability.fuzz_inputs import NASTY, VALUES, by_seed, changed_json, changed_text
from tests.reliability.hostile import STEERING

TRIAL, SWEEP = "trial of it", "sweep of it"
SIXTH = 6
"""Of so many cases one is a damaged notebook; the others are documents."""
_SMALL_KINDS = ("audit", "diagnosis", "watch")
_SOME = 4
"""Commands drawn for a case from all that there are: a fault of one of them shows in another case."""
_READ = (
    "list", "list --all", "list --json", "list --isolations --json", "baseline list", "experiment list",
    "worksheet list", "restore --list", "show last", "list nas",
)  # fmt: skip
_OF_ONE = (
    "show {}", "show {} --json", "findings {}", "compare {} {}", "export {} --format csv",
    "export {} --format md", "export {} --format json", "note {} x",
)  # fmt: skip
_NOW_AND_THEN = ("export {} --format html", "export {} --format xlsx", "export {} --format pdf")
_OF_AN_EXPERIMENT = ("experiment show {}", "experiment show {} --json", "export {} --form experiment --format csv")
_SLOW_SECONDS = 30.0
_CODES = {0, 1, 2, 3, 4}


def said(db: Path, words: list[str]) -> tuple[int, str, str]:
    """What the command answers, inside this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())):
        code = run(["--db", str(db), *words], lambda *_a, **_k: 0)
    out.flush()
    err.flush()
    return code, *(stream.detach().getvalue().decode(errors="replace") for stream in (out, err))  # type: ignore[return-value]


def wrong_with(db: Path, words: list[str]) -> str:
    """What is wrong with a command's answer; empty where nothing is."""
    began = time.thread_time()
    try:
        code, out, err = said(db, words)
    except BaseException as error:
        return f"{' '.join(words)}: {type(error).__name__}: {error}"
    binary = words[-1] in {"pdf", "xlsx", "html"}
    steering = STEERING.search(err.replace("\n", "")) or (not binary and STEERING.search(re.sub(r"\r?\n", "", out)))
    if "a fault in sharebench" in err or "Traceback" in err or code not in _CODES:
        return f"{' '.join(words)}: exit {code}: {err[-300:]}"
    if steering:
        return f"{' '.join(words)}: steers a terminal: {steering[0]!r}"
    return f"{' '.join(words)}: slow" if time.thread_time() - began > _SLOW_SECONDS else ""


def _trial(notebook: Notebook, name: str, kind: ExperimentKind, values: tuple[str, ...]) -> list[str]:
    notebook.add_experiment(Experiment(name=name, kind=kind))
    ids = []
    for place, value in enumerate((None, *values)):
        rates = [1e8 * (1 + 0.01 * ((7 * n + place) % 5) - 0.05 * place) for n in range(8)]
        change = Change(name="strict sync", value=value, previous="Yes") if value else None
        one = series(rates, id=f"{kind.value[:2].encode().hex()}{place:08x}", warmups=0, experiment=name, change=change)
        notebook.add(one)
        ids.append(one.id)
    notebook.set_trial(name, TrialPlan(kind=ChangeKind.SMB_CONF, name="strict sync", values=values, looks=(8,)))
    for number, (place, one_id) in itertools.product(range(1, 9), enumerate(ids)):
        position = len(ids) * number + place
        notebook.add_slot(Slot(series_id=one_id, number=number, position=position, control_seconds=0.01))
    return ids


def whole_notebook(path: Path) -> None:
    """A notebook with a recording of every kind, and everything that may stand beside them."""
    ids = (f"1d{number:010x}" for number in itertools.count())
    with patch("storage.records.new_series_id", ids.__next__), Notebook(path) as notebook:
        for one in (full_series(), replace(every_field(), id="ef1e1d000000"), book_series()):
            notebook.add(one)
        _trial(notebook, TRIAL, ExperimentKind.TRIAL, ("no",))
        _trial(notebook, SWEEP, ExperimentKind.SWEEP, ("a", "b"))
        notebook.add_load(full_load(id="10ad00000000"))
        for kind in _SMALL_KINDS:
            MAKERS[kind](notebook)
        notebook.set_baseline("before", full_series().id)
        notebook.open_journal(abandoned_change())
    (path.parent / "in.json").write_bytes(example_documents()[0])
    assert said(path, ["import", str(path.parent / "in.json")])[0] == 0


def samples(db: Path) -> list[Any]:
    """A document of each kind, and a list of two."""
    with closing(sqlite3.connect(db)) as connection:
        rows = connection.execute("SELECT id FROM recordings WHERE part_of IS NULL ORDER BY id").fetchall()
    texts = [said(db, ["show", one, "--json"])[1] for (one,) in rows]
    return [*texts, f"[{texts[0]},{texts[1]}]"]


class Campaign:
    """One process's share of the cases."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.figures = folder, Figures()
        self._whole = folder / "whole.db"
        whole_notebook(self._whole)
        with closing(sqlite3.connect(self._whole)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._documents = [changed_json(json.loads(text)) for text in samples(self._whole)]
        csv = export([full_series()], "csv").decode("utf-8-sig")
        self._documents.append(changed_text(csv))
        with closing(sqlite3.connect(self._whole)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%STRICT%'")
            self._columns = [
                (table, column[1])
                for (table,) in tables.fetchall()
                for column in connection.execute(f"PRAGMA table_info({table})")
                if connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            ]
        empty = folder / "empty.db"
        Notebook(empty).close()
        self._empty = empty

    def case(self, number: int) -> str:
        """What is wrong in case ``number``; empty where nothing is."""
        for file in self._folder.glob("case.db*"):
            file.unlink()
        return self._notebook(number) if number % SIXTH == 0 else self._document(number)

    def _document(self, number: int) -> str:
        self.figures.counts["mutated documents"] += 1
        db, file = self._folder / "case.db", self._folder / "in.json"
        shutil.copyfile(self._empty, db)
        text = by_seed(self._documents[number % len(self._documents)], number)
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        if wrong := wrong_with(db, ["import", str(file)]):
            return wrong
        ids, chance = self._ids(db), random.Random(number)
        if not ids:
            return ""
        self.figures.counts["taken"] += 1
        lines = list(self._lines(db, ids[:3], chance))
        drawn = [["list", "--all", "--json"], ["show", ids[0], "--json"], *chance.sample(lines, _SOME)]
        return next(filter(None, (wrong_with(db, line) for line in drawn)), "")

    def _notebook(self, number: int) -> str:
        self.figures.counts["damaged notebooks"] += 1
        db, chance = self._folder / "case.db", random.Random(number)
        shutil.copyfile(self._whole, db)
        damage: Callable[[Path, random.Random], None] = chance.choice((_bytes, _wal, self._values, self._values))
        damage(db, chance)
        ids = self._ids(self._whole)
        lines = [line.split() for line in _READ] + [
            [*(word.format(chance.choice(ids)) for word in line.split())] for line in _OF_ONE
        ]
        lines += [_named(line, name) for line in _OF_AN_EXPERIMENT for name in (TRIAL, SWEEP)]
        return next(filter(None, (wrong_with(db, line) for line in chance.sample(lines, _SOME))), "")

    def _values(self, db: Path, chance: random.Random) -> None:
        """Some cells hold what nobody wrote there, also of a type that their column has not."""
        with closing(sqlite3.connect(db, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'STRICT', '')")
            connection.execute("PRAGMA writable_schema = RESET")
        with closing(sqlite3.connect(db, isolation_level=None)) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            for _ in range(chance.randint(1, 3)):
                table, column = chance.choice(self._columns)
                cells = connection.execute(f"SELECT {column} FROM {table}").fetchall()
                with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                    old = chance.choice(cells)[0]
                    connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (_odd(old, chance), old))

    def _ids(self, db: Path) -> list[str]:
        with closing(sqlite3.connect(db)) as connection:
            return [row[0] for row in connection.execute("SELECT id FROM recordings ORDER BY id")]

    def _lines(self, db: Path, ids: list[str], chance: random.Random) -> Iterator[list[str]]:
        """Every command that reads, on what the notebook holds."""
        yield from (line.split() for line in _READ)
        for one in ids:
            yield from ([word.format(one) for word in line.split()] for line in _OF_ONE)
            if chance.random() < 0.1:
                yield from ([word.format(one) for word in line.split()] for line in _NOW_AND_THEN)
        with closing(sqlite3.connect(db)) as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM experiments")]
        yield from (_named(line, name) for name in names for line in _OF_AN_EXPERIMENT)


def _named(line: str, name: str) -> list[str]:
    return [name if word == "{}" else word for word in line.split()]


def _odd(value: object, chance: random.Random) -> object:
    """A value in place of this one; of a JSON text mostly one with some other value inside."""
    if isinstance(value, str) and value[:1] in {"{", "["} and chance.random() < 0.8:
        with suppress(ValueError):  # what an earlier change of the same cell left
            return by_seed(changed_json(json.loads(value)), chance.randrange(2**32))
    plain = [each for each in VALUES if not isinstance(each, list | dict | bool)]
    return chance.choice([*plain, *NASTY, b"\xff\xfe", 1e-320, 1e300, -(2**63), 2**63 - 1, "{}", "[]", "null"])


def _bytes(db: Path, chance: random.Random) -> None:
    content = bytearray(db.read_bytes())
    kind = chance.randrange(4)
    pages = len(content) // 4096
    if kind == 0:
        for _ in range(chance.randint(1, 40)):
            content[chance.randrange(len(content))] = chance.randrange(256)
    elif kind == 1:
        del content[chance.randrange(len(content)) :]
    elif kind == 2:
        at = chance.randrange(pages) * 4096
        content[at : at + 4096] = chance.randbytes(4096) if chance.random() < 0.5 else bytes(4096)
    else:
        one, other = chance.randrange(pages) * 4096, chance.randrange(pages) * 4096
        kept = content[one : one + 4096]
        content[one : one + 4096] = content[other : other + 4096]
        content[other : other + 4096] = kept
    db.write_bytes(content)


def _wal(db: Path, chance: random.Random) -> None:
    """The journal of a notebook that was not closed is damaged."""
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE recordings SET label = label || 'x', note = ?", ("n" * chance.randint(1, 9_000),))
        wal = db.with_name(f"{db.name}-wal")
        written, main = wal.read_bytes(), db.read_bytes()
    db.write_bytes(main)
    wal.write_bytes(written)
    _bytes(wal if chance.random() < 0.7 and len(written) > 8192 else db, chance)


def campaign(seconds: float, *, share: Share | None = None, most: int = 10**9) -> Figures:
    """Case after case of this share until the time is over."""
    share, clock = share or Share(), Clock(seconds)
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="sharebench-documents-", dir=where))
    try:
        cases = Campaign(folder)
        for number in share.of_mine(range(most)):
            if share.has(str(number)):
                continue
            with share.carrying_out(str(number)) as cases.figures:
                wrong = cases.case(number)
                cases.figures.losses += [f"case {number}: {wrong}"] if wrong else []
            if clock.is_over():
                break
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return share.figures
