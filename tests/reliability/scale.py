"""The scale campaign: a notebook of a thousand times as many runs answers nearly as fast, in bounded memory."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from app.base.child_process import own_command, own_environment
from storage.notebook import Notebook
from tests.builders import one
from tests.reliability.figures import Figures
from tests.reliability.scale_tui import tui_seconds

RATIO = 1.5
FEW_SERIES = 10
MANY_SERIES, RUNS_EACH = 10_000, 100
IMPORT_BYTES = 500 * 10**6
MOST_BYTES = 10**9
REPEATS = 5
"""The least of so many tries counts: other work on the machine only ever adds to it."""
FIRST, SECOND = f"{1:012x}", f"{2:012x}"
NOT_ON_FEW = ("page down", "go to the end")
"""What there is no place for where all series are on the screen: it may take ``NOTICED_SECONDS`` more."""
NOTICED_SECONDS = 0.2


def _filled(path: Path, series_count: int, runs_each: int) -> Path:
    """A notebook of so many series with so many runs each, made by SQLite alone."""
    with Notebook(path) as notebook:
        notebook.add(one(1, (100e6,) * 5, warmups=0))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    later = "strftime('%Y-%m-%dT%H:%M:%S.000Z', '2026-01-01', printf('+%d minutes', i))"
    made = {"id": "printf('%012x', i)", "stored_order": "i", "created_at": later}
    counting = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
    for table in ("recordings", "series"):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = ", ".join(made.get(column, f'{table}."{column}"') for column in columns)
        connection.execute(f"INSERT INTO {table} {counting} SELECT {values} FROM n, {table}", (series_count,))
    connection.execute("DELETE FROM runs")
    connection.execute(
        "INSERT INTO runs (series_id, phase, number, status, started_at, size_bytes, seconds)"
        f" {counting.replace('SELECT 2', 'SELECT 1')} SELECT id, 'measured', i, 'valid', '', 1 << 30, 9.0 + i / 1000.0"
        " FROM series, n",
        (runs_each,),
    )
    connection.commit()
    connection.execute("ANALYZE")
    connection.close()
    return path


def _command(*words: str) -> tuple[float, int, int]:
    """What a command takes of the processor in seconds, its exit code and its memory in bytes."""
    process = subprocess.Popen(
        own_command("app", *words),
        env=own_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, process.returncode, used.ru_maxrss * 1024


COMMANDS = {
    "list": ("list",),
    "list as JSON": ("list", "--limit", "20", "--json"),
    "show": ("show", FIRST),
    "compare": ("compare", FIRST, SECOND),
    "note": ("note", FIRST, "a note"),
}


def _commands(figures: Figures, few: Path, many: Path, *, long: bool) -> dict[str, list[float]]:
    """The least processor time of each command on few and on many runs, in seconds; they take turns."""
    found: dict[str, list[float]] = {}
    repeats = REPEATS if long else 1
    for name, words in COMMANDS.items() if long else [("list", COMMANDS["list"])]:
        shortest = [float("inf"), float("inf")]
        for _ in range(repeats):
            for index, book in enumerate((few, many)):
                took, code, memory = _command("--db", str(book), *words)
                shortest[index] = min(shortest[index], took)
                if code not in {0, 3} or memory > MOST_BYTES:
                    figures.losses.append(f"{name}: exit {code}, {memory:,} bytes")
        found[name] = shortest
    return found


def campaign(seconds: float) -> Figures:
    """A million runs where there is time, ten thousand where there is not; only with time do ratios count."""
    figures, long = Figures(), seconds >= 60
    folder = Path(tempfile.mkdtemp(prefix="sharebench-scale-"))
    try:
        series_count, runs_each = (MANY_SERIES, RUNS_EACH) if long else (300, 20)
        few = _filled(folder / "few.db", FEW_SERIES, RUNS_EACH)
        many = _filled(folder / "many.db", series_count, runs_each)
        figures.counts["runs"] = series_count * runs_each
        took = _commands(figures, few, many, long=long)
        if long:
            small, large = tui_seconds(few, many)
            took |= {f"{name} in the TUI": [small[name], large[name]] for name in small}
        for name, (on_few, on_many) in took.items():
            figures.took(on_many)
            figures.counts[f"percent of the time of {FEW_SERIES * RUNS_EACH} runs to {name}"] = round(
                100 * on_many / on_few
            )
            most = on_few + NOTICED_SECONDS if name.startswith(NOT_ON_FEW) else RATIO * on_few
            if long and on_many > most:
                figures.losses.append(f"{name}: {on_many:.3f} s, not {on_few:.3f} s")
        _huge_series(folder, figures, long=long)
        _import(folder, figures, IMPORT_BYTES if long else 70 * 10**6)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return figures


def _huge_series(folder: Path, figures: Figures, *, long: bool) -> None:
    """One series of very many runs is shown, exported, listed and compared in bounded memory."""
    runs = 100_000 if long else 2_000
    book = _filled(folder / "huge.db", 2, runs)
    figures.counts["runs of one series"] = runs
    commands = [
        ("show", FIRST, "--json"), ("list",), ("show", FIRST), ("compare", FIRST, SECOND),
        *(("export", FIRST, "-o", str(folder / f"huge.{ending}")) for ending in ("json", "csv", "xlsx", "html")),
    ]  # fmt: skip
    for words in commands if long else commands[:1]:
        took, code, memory = _command("--db", str(book), *words)
        figures.took(took)
        figures.counts["MB of memory for it"] = max(figures.counts["MB of memory for it"], memory // 10**6)
        if code not in {0, 3} or memory > MOST_BYTES:
            figures.losses.append(f"{runs:,} runs, {words[0]} {words[-1]}: exit {code}, {memory:,} bytes")


def _import(folder: Path, figures: Figures, size_bytes: int) -> None:
    """A file that is too large is refused before it takes memory."""
    file = folder / "large.json"
    with file.open("wb") as opened:
        opened.truncate(size_bytes)
    took, code, memory = _command("--db", str(folder / "new.db"), "import", str(file))
    figures.took(took)
    figures.counts["MB of an import refused"] = size_bytes // 10**6
    if code != 2 or memory > MOST_BYTES:
        figures.losses.append(f"an import of {size_bytes:,} bytes: exit {code}, {memory:,} bytes of memory")
