"""``make bench``: our clients beside others against real servers, in random order; it asserts nothing.

Each row is printed and written to ``.bench/`` (Markdown, and JSON with all numbers) as soon as it is measured. A row
whose programs are not installed says so; one that fails says why, and the exit code is 1 at the end.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.base.units import parse_size
from tests.benchmarks.contests import CONTEST_HEAD, contest_lines
from tests.benchmarks.memory import MEMORY_HEAD, memory_line, memory_rows
from tests.benchmarks.rows import answer_rows, contest_rows, drawing_rows
from tests.benchmarks.table import PAIRS_HEAD, machine, pair_line, where
from tests.benchmarks.times import TIMES_HEAD, times_line
from tests.benchmarks.users import USERS_HEAD, users_line, users_rows
from tests.servers.process import missing

FOLDER = Path(__file__).resolve().parents[2] / ".bench"


def tables(size_bytes: int, pairs: int) -> Iterator[tuple[str, Iterator[Any], Callable[[Any], str]]]:
    """The head of each table, its rows, and how a result becomes a line."""
    yield CONTEST_HEAD, contest_rows(size_bytes, pairs), contest_lines
    yield PAIRS_HEAD, drawing_rows(size_bytes, pairs), pair_line
    yield TIMES_HEAD, answer_rows(size_bytes, pairs), times_line
    yield USERS_HEAD, users_rows(), users_line
    yield MEMORY_HEAD, memory_rows(), memory_line


class Output:
    """What has been measured so far: on stdout, and in two files that are whole after each row."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._markdown, self._json = folder / "bench.md", folder / "bench.json"
        self._document: dict[str, Any] = {"machine": machine(), "results": []}
        self._markdown.write_text("")
        self.line(where(tempfile.gettempdir()))

    def line(self, text: str) -> None:
        """One line of the tables."""
        print(text, flush=True)
        with self._markdown.open("a") as file:
            file.write(f"{text}\n")

    def result(self, line: str, document: dict[str, Any]) -> None:
        """One row."""
        self.line(line)
        self._document["results"].append(document)
        self._json.write_text(json.dumps(self._document, indent=2) + "\n")


def main() -> int:
    """Measure the rows that are asked for, or all."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these rows (a part of the name is enough)")
    parser.add_argument("--rows", default="", metavar="NAME,…", help="the same, separated by commas")
    parser.add_argument("--list", action="store_true", help="print the names of the rows, and measure nothing")
    parser.add_argument("--long", action="store_true", help="the rows that take long as well (all that --rows names)")
    parser.add_argument("--size", default="256M", help="the file's size (256M)")
    parser.add_argument("--pairs", type=int, default=7, help="rounds of a row (7)")
    parser.add_argument("--folder", help="where the servers' files lie (the usual temporary folder)")
    asked = parser.parse_args()
    tempfile.tempdir = asked.folder
    wanted = [*asked.names, *(name.strip() for name in asked.rows.split(",") if name.strip())]

    def is_chosen(row: Any) -> bool:
        if wanted:
            return any(name in row.name for name in wanted)
        return asked.long or asked.list or not getattr(row, "long", False)

    chosen = [
        (head, [row for row in rows if is_chosen(row)], line_of)
        for head, rows, line_of in tables(parse_size(asked.size), asked.pairs)
    ]
    if not any(rows for _, rows, _ in chosen):
        parser.error(f"no row is called {', '.join(wanted)}; --list names them all")
    if asked.list:
        print("\n".join(row.name for _, rows, _ in chosen for row in rows))
        return 0
    output, failed = Output(FOLDER), False
    for head, rows, line_of in chosen:
        if rows:
            output.line(f"\n{head}")
        for row in rows:
            print(f"{row.name} …", file=sys.stderr, flush=True)
            failed = not measure(row, line_of, output) or failed
    return int(failed)


def measure(row: Any, line_of: Callable[[Any], str], output: Output) -> bool:
    """Measure one row and write it down; whether it did not fail."""
    if absent := missing(*row.needs):
        why = f"not measured: {', '.join(absent)} not installed"
        output.result(f"| {row.name} | {why} |", {"name": row.name, "not_measured": why})
        return True
    try:
        result = row.measure()
    except Exception as error:
        why = f"failed: {' '.join(str(error).split()) or type(error).__name__}"
        output.result(f"| {row.name} | {why} |", {"name": row.name, "not_measured": why})
        return False
    output.result(line_of(result), result.as_document())
    return True


if __name__ == "__main__":
    sys.exit(main())
