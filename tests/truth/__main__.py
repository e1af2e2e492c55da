"""``make truth``: how often the rules of compare, --until and the self-test are right, simulated with a fixed seed.

Prints Markdown and writes it to TRUTH.md. ``--trials`` makes it shorter or longer.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.truth import tables
from tests.truth.replay import replayed

ROOT = Path(__file__).resolve().parents[2]
HEAD = """\
# How often the verdicts are true

Made by `make truth`: the program's own rules (`forms/stats/decision.py`) on series that are made up, with a fixed seed,
and on series of a real server. A trial is a comparison; {trials} trials a cell, half of them for ladders; a cell that
reads more than 4.3 % is simulated again with ten times the trials. The rule is exact, so where the noise threshold of
1 % is no help (session effects of 2 %), 5 % is what it gives, and such a cell reads 5.0 ± {error:.1f}.

One series a side without history is never a verdict: whatever the difference, the words are "whether the change did it
is not known". *H* below are earlier repeats of the same thing (`selftest --apart 5`, or a baseline of five series).
"""
SECTIONS: tuple[tuple[str, str, Callable[[int], Iterator[str]]], ...] = (
    (
        "Nothing changed: called faster or slower, %",
        """With 5 / 10 / 20 runs a series. Asked: at most 5. A session effect belongs to the time: runs that take turns
share it. (One that belongs to one connection is nothing that turns could show.)""",
        tables.false_alarms,
    ),
    (
        "Nothing changed: the interval that is told holds the truth, %",
        "With 5 / 10 / 20 runs a series; a dash where no interval is told. Asked: at least 92.",
        tables.coverage,
    ),
    (
        "A true change is found, %",
        """Three series a side alone can do no more than 78.3 % at three deviations between series: that is the power of
Student's t, the most powerful test of this kind. Five earlier repeats lift it. Measured one side after the other, a
trend has to be ruled out as well, which costs most of it: alternate.""",
        tables.power,
    ),
    (
        "The number of runs that would tell",
        "In turns. Asked: right in at least 85 %.",
        tables.advice_on_runs,
    ),
    (
        'The self-test\'s "nine times in ten"',
        "How often the stated change is found, %.",
        tables.promises,
    ),
    ("--until 2", "Where it stopped by itself.", tables.until),
    ("Unusual runs", "Normal scatter of 3 %.", tables.flags),
)
FEWER: dict[object, int] = {tables.advice_on_runs: 4, tables.promises: 2}


def main() -> int:
    """Print the tables, and write them."""
    parser = argparse.ArgumentParser(prog="make truth", description=__doc__)
    parser.add_argument("--trials", type=int, default=2000, help="comparisons a cell (2000)")
    parser.add_argument("--to", type=Path, default=ROOT / "TRUTH.md", help="the file to write")
    asked = parser.parse_args()
    lines = HEAD.format(
        trials=asked.trials, error=100 * (0.05 * 0.95 / asked.trials / tables.MORE) ** 0.5 * 2
    ).splitlines()
    print("\n".join(lines))
    for title, about, table in SECTIONS:
        made = ["", f"## {title}", "", about, "", *table(asked.trials // FEWER.get(table, 1))]
        print("\n".join(made), flush=True)
        lines += made
    made = ["", "## Real series", "", *replayed()]
    print("\n".join(made))
    asked.to.write_text("\n".join([*lines, *made]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
