"""``make bench``: our clients beside others against real servers, in alternating pairs; it asserts nothing.

Prints a Markdown table and writes it with all numbers to ``.bench/``. ``--size`` and ``--pairs`` make it shorter.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these rows (a part of the name is enough)")
    parser.add_argument("--size", default="1G", help="the file's size (1G)")
    parser.add_argument("--pairs", type=int, default=7, help="alternating pairs (7)")
    parser.add_argument("--folder", help="where the servers' files lie, such as /dev/shm (the usual temporary folder)")
    asked = parser.parse_args()
    if asked.folder:
        tempfile.tempdir = asked.folder
    from app.units import parse_size
    from tests.benchmarks.rows import all_rows, answer_rows
    from tests.benchmarks.table import machine, markdown
    from tests.benchmarks.times import times_table
    from tests.benchmarks.users import users_table

    results = []
    for row in all_rows(parse_size(asked.size), asked.pairs):
        if asked.names and not any(name in row.name for name in asked.names):
            continue
        print(f"{row.name} …", file=sys.stderr, flush=True)
        results.append(row.measure())
        print(f"  {results[-1]}", file=sys.stderr, flush=True)
    answers = []
    for answer in answer_rows(parse_size(asked.size), asked.pairs):
        if asked.names and not any(name in answer.name for name in asked.names):
            continue
        print(f"{answer.name} …", file=sys.stderr, flush=True)
        answers.append(answer.measure())
        print(f"  {answers[-1]}", file=sys.stderr, flush=True)
    text = markdown(results) + ("\n" + times_table(answers) if answers else "")
    if not asked.names or "users" in asked.names:
        print("many users …", file=sys.stderr, flush=True)
        text += "\n" + users_table()
    documents = [*(one.as_document() for one in results), *(one.as_document() for one in answers)]
    folder = ROOT / ".bench"
    folder.mkdir(exist_ok=True)
    (folder / "bench.md").write_text(text)
    (folder / "bench.json").write_text(json.dumps({"machine": machine(), "results": documents}, indent=2) + "\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
