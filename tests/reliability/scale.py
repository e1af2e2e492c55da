"""The scale campaign: a notebook of a thousand times as many runs answers nearly as fast, in bounded memory."""

from __future__ import annotations

import resource
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from app.children import own_command, own_environment
from storage.notebook import Notebook
from storage.queries import SeriesQuery
from tests.builders import one
from tests.reliability.figures import Figures

RATIO = 1.5
FEW_SERIES = 10
MANY_SERIES, RUNS_EACH = 10_000, 100
IMPORT_BYTES = 500 * 10**6
MOST_BYTES = 10**9
REPEATS = 5


def _filled(path: Path, series_count: int, runs_each: int) -> Path:
    """A notebook of so many series with so many runs each, made by SQLite alone."""
    with Notebook(path) as notebook:
        notebook.add(one(1, (100e6,) * 5, warmups=0))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    columns = [
        row[1] for row in connection.execute("PRAGMA table_info(series)") if row[1] not in {"id", "stored_order"}
    ]
    named = ", ".join(f'"{column}"' for column in columns)
    counting = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
    connection.execute(
        f"INSERT INTO series (id, stored_order, {named}) {counting}"
        f" SELECT printf('%012x', i), i, {named} FROM n, series",
        (series_count,),
    )
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


def _seconds(do: Callable[[], object]) -> float:
    """The shortest of several times, in seconds."""
    found = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        do()
        found.append(time.perf_counter() - began)
    return min(found)


def _answers(path: Path) -> dict[str, float]:
    """How long each kind of question takes, in seconds."""

    def list_newest() -> None:
        with Notebook(path) as notebook:
            heads = notebook.heads(10)
            notebook.runs_of(head.id for head in heads)

    def show() -> None:
        with Notebook(path) as notebook:
            notebook.series(f"{1:012x}")

    def open_only() -> None:
        Notebook(path).close()

    return {"open": _seconds(open_only), "list": _seconds(list_newest), "show": _seconds(show)}


def _find(path: Path) -> float:
    def find() -> None:
        with Notebook(path) as notebook:
            notebook.find(SeriesQuery(text="nas series"))

    return _seconds(find)


def _command(*words: str) -> tuple[float, int, int]:
    """A command's time in seconds, its exit code and the memory of the largest process so far, in bytes."""
    began = time.perf_counter()
    done = subprocess.run(
        own_command("app", *words),
        env=own_environment(),
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return time.perf_counter() - began, done.returncode, memory


def campaign(seconds: float) -> Figures:
    """A million runs where there is time, ten thousand where there is not; only with time do ratios count."""
    figures, long = Figures(), seconds >= 60
    folder = Path(tempfile.mkdtemp(prefix="sharebench-scale-"))
    try:
        series_count, runs_each = (MANY_SERIES, RUNS_EACH) if long else (300, 20)
        few = _filled(folder / "few.db", FEW_SERIES, RUNS_EACH)
        many = _filled(folder / "many.db", series_count, runs_each)
        figures.counts["runs"] = series_count * runs_each
        small, large = _answers(few), _answers(many)
        for name in small:
            figures.took(large[name])
            figures.counts[f"percent of the time of {FEW_SERIES * RUNS_EACH} runs to {name}"] = round(
                100 * large[name] / small[name]
            )
            if long and large[name] > RATIO * small[name] + 0.01:
                figures.losses.append(f"{name}: {large[name]:.3f} s, not {small[name]:.3f} s")
        figures.counts["ms to find"] = round(1000 * _find(many))
        for words in (("list",), ("list", "--limit", "20", "--json"), ("compare", f"{1:012x}", f"{2:012x}")):
            took, code, memory = _command("--db", str(many), *words)
            figures.counts[f"ms to {words[0]}"] = round(1000 * took)
            if code not in {0, 3} or memory > MOST_BYTES:
                figures.losses.append(f"{words}: exit {code}, {memory:,} bytes")
        _import(folder, figures, IMPORT_BYTES if long else 70 * 10**6)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return figures


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
