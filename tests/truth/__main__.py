"""``make truth``: how often the rules of compare, --until and the self-test are right, simulated with a fixed seed.

Prints Markdown and writes it to TRUTH.md. ``--trials`` makes it shorter or longer.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

from tests.truth import hiccups, tables
from tests.truth.corpus_tables import (
    corpus_table,
    interleaved_kinds,
    interleaved_table,
    kinds,
    left_out_table,
    most_percent,
)
from tests.truth.leanings import leanings_table, real_leanings_table
from tests.truth.nights import HISTORY, LEAST_FOUND, MOST_ALARMS, NIGHTS, STRETCHES, nights_table
from tests.truth.sweeps import sweeps_table
from tests.truth.trials import trials_table

ROOT = Path(__file__).resolve().parents[2]
MESSAGE = """\
# How often the verdicts are true

**Where nothing changed, at most 5 of 100 comparisons say "faster" or "slower".** This holds on real paths, and in every
simulated world below whose sessions differ by at most 3 %. One slow run decides nothing.

The smallest change that nine of ten comparisons find depends on how you measure. Two separate series can differ by the
time of day alone, so they show only large changes. Interleaved runs and pairs (`--versus`, `try`) show small ones.
"""
HEAD = """
`make truth` makes this page in some minutes. It applies the program's own rule (`forms/stats/verdict_rule.py`,
`variation.py`) to simulated series, with a fixed seed, and to equal series of real servers. The comparisons are
judged in bulk, and some of each cell also by the program itself, which must agree. A cell has {trials} comparisons,
and {more} where one reads more than {near} %: such a figure is known to ± {error:.2f}. A cell in **bold** misses its
goal, and fails the command.

**The rule.** Equal series are assumed to differ by 2.5 % and by 2.6 times the variation of their runs, with the
weight of four degrees of freedom. Repeats correct this, each for the time that it covers. *Repeats before* are
earlier series of the same path. Three alternating series a side, and interleaved runs, are judged by themselves.

**A hiccup decides nothing.** A run far outside the others of its series (`forms/stats/readings.py`) is left out of
the average. It counts in the variation as if it lay just outside. Of earlier series, the median of their variations
counts. They make no verdict less certain than the two sides alone would, unless they differ by more than that.
Interleaved runs and alternating series are used whole: beside a rhythm, the slow runs of one side would pass for
hiccups. The order of interleaved runs is random within each pair, and the signed ranks must agree with Student's t.

**Where the promise ends.** It ends where sessions differ by more than 3 %, and where a level moves for good and the
base is never measured again. Repeats made before cannot know that. And it is that of one comparison: who measures
again until an answer is not open is wrong more often.
"""
SECTIONS: tuple[tuple[str, str, Callable[[int], Iterator[str]]], ...] = (
    (
        "Nothing changed: called faster or slower, %",
        """With 5 / 10 / 20 runs a series. Asked: at most 5. A session effect belongs to the time: interleaved runs
share it. Each of their runs has a connection of its own, so what belongs to one counts as what runs vary by.""",
        tables.false_alarms,
    ),
    (
        "Nothing changed: the interval that is told holds the truth, %",
        "With 5 / 10 / 20 runs a series. Asked: at least 92.",
        tables.coverage,
    ),
    (
        "A true change: found / inconclusive, %",
        """Five runs a series; the rest is called no change, or, for no change, different. Two series never show that
there is no change: what they show is that it is no larger than the interval says. Asked: 15 % found by two series in 9
of 10 where runs vary by 0.3 %, 20 % where they vary by 1 %, and 3 % there by 3 + 3 alternating.""",
        tables.power,
    ),
    (
        "A true change beside a hiccup: found, %",
        """Two series of five runs, one of which is 20 / 40 % slower than it would be, by the place of that run.
Asked: at least 90.""",
        hiccups.hiccups_table,
    ),
    (
        "Verdicts that a history takes away",
        """True changes of 1.3 times the smallest change that the form of the base shows; runs vary by 0.3, 1, 2 and
5 %. One of three earlier series has a run that is 20 to 60 % slower. Asked: at most 2 % of the verdicts of the two
series alone become inconclusive.""",
        hiccups.history_table,
    ),
    (
        "Two series of three runs after five repeats: called faster or slower, %",
        "Nothing changed. Asked: at most 2.5.",
        hiccups.three_runs_table,
    ),
    (
        "Probably: said where nothing changed / right where something did, %",
        """What an inconclusive comparison leans to, with five runs a series. Of all pairs, where nothing changed: asked
at most 20. Of the answers "probably" over changes drawn evenly in logarithms from -30 to +43 %, how many have the
direction right, and how many there were: asked at least 85.""",
        leanings_table,
    ),
    (
        "Probably, on real paths: said where nothing changed, %",
        "Pairs of equal series of five runs. Asked: at most 20, with room for chance.",
        real_leanings_table,
    ),
    (
        "Where nothing is promised: called faster or slower, %",
        "Nothing changed; five runs a series.",
        hiccups.beyond_table,
    ),
    (
        "The number of interleaved runs that would settle it",
        "Interleaved. Asked: right in at least 85 %.",
        tables.advice_on_runs,
    ),
    (
        "Measured again until it is settled: where nothing changed, %",
        """Two equal sides of five interleaved runs. Where the answer is open, both are measured again with as many runs
as it advises, up to three comparisons in all. Each by itself is wrong in at most 5 of 100; one of three is so more
often, which nothing corrects.""",
        tables.measured_again,
    ),
    (
        'The self-test\'s "nine times in ten"',
        "How often the stated change is found, %.",
        tables.promises,
    ),
    ("--until 2", "Where it stopped by itself.", tables.until),
    (
        "A trial by `sharebench try`",
        """Pairs A B and B A in random order, exact rank-sum tests of both kinds, at 8, 14 and 20 pairs with
p <= 2/70, .0125 and .0225 (`forms/stats/paired.py`): being the second of a pair makes no difference, nor does anything
that comes and goes meanwhile.
Asked: at most 5 % of false alarms, and a change of 2 % found in nine of ten where pairs vary by 2 %.""",
        trials_table,
    ),
    (
        "A sweep by `sharebench sweep`",
        """Values in complete blocks, each judged beside the best (`forms/trial/sweep.py`). Settled: every value is
shown to be worse than the best by more than 1 %, or slower by less than 5 %. Right: the sweep names the smallest of the
best values, or a smaller one that is slower by less than 5 %. Asked: at least 95 % right among the settled. Unsettled
sweeps name the number of blocks that would settle them, or say that the runs vary too much.""",
        sweeps_table,
    ),
    ("Unusual runs", "Normal variation of 3 %.", tables.flags),
)
FEWER: dict[object, int] = {
    tables.smallest_found: 20,
    leanings_table: 10,
    tables.advice_on_runs: 100,
    tables.measured_again: 20,
    tables.promises: 20,
    tables.until: 20,
    tables.flags: 20,
    sweeps_table: 50,
    hiccups.history_table: 20,
}
"""By how much fewer trials a table has that the program itself decides one by one, or that is a search."""

LEAST = 400
"""Trials a cell has at least."""

HALVES = ((0, 2), (2, len(SECTIONS)))
"""The sections that one of two processors makes each; the first two are made of the same trials."""


def main() -> int:
    """Print the tables, and write them."""
    parser = argparse.ArgumentParser(prog="make truth", description=__doc__)
    parser.add_argument("--trials", type=int, default=50_000, help="comparisons a cell (50000)")
    parser.add_argument("--to", type=Path, default=ROOT / "TRUTH.md", help="the file to write")
    parser.add_argument("--stretches", type=int, default=STRETCHES, help=f"stretches of nights ({STRETCHES})")
    asked = parser.parse_args()
    more = asked.trials * tables.MORE
    error = 100 * 2 * (0.05 * 0.95 / more) ** 0.5
    lines = MESSAGE.splitlines()
    lines += ["", *tables.smallest_found(max(LEAST, asked.trials // FEWER[tables.smallest_found]))]
    lines += HEAD.format(trials=asked.trials, more=more, near=tables.NEAR, error=error).splitlines()
    print("\n".join(lines))
    with ProcessPoolExecutor(2) as pool:
        for made in pool.map(_lines, *zip(*HALVES, strict=True), repeat(asked.trials)):
            print("\n".join(made), flush=True)
            lines += made
    made = [*_corpus(), *_nights(asked.stretches)]
    print("\n".join(made))
    lines += made
    asked.to.write_text("\n".join(lines) + "\n")
    return int(any("**" in line for line in lines if line.startswith("|")))


def _nights(stretches: int) -> Iterator[str]:
    """What `sharebench watch` says of nights that are made up."""
    yield from (
        "",
        "## A watch: alarms where nothing changed, and slowdowns reported within two nights",
        "",
        (
            f"{stretches} stretches of {NIGHTS} nights after {HISTORY} nights of history, five runs a night that vary"
            " by 0.5 %; a slowdown is measured again at once and reported when that agrees. A slowdown is for good,"
            f" from the night after the history. Asked: at most {MOST_ALARMS:g} alarm in 100 nights, and 5 %"
            f" reported in {LEAST_FOUND:g} of 100."
        ),
        "",
        *nights_table(stretches),
    )


def _corpus() -> Iterator[str]:
    """What the recorded series say; the corpus says how long it is, and nothing is claimed beyond it."""
    spans = [kind.hours for kind in kinds() if kind.hours is not None]
    longest = f"{max(spans):.0f} hours" if spans else "minutes"
    smallest = min(kinds(), key=lambda kind: len(kind.times))
    least = len(smallest.times)
    yield from (
        "",
        "## Real paths: nothing changed, called faster or slower, %",
        "",
        (
            f"{len(kinds())} kinds of path, {sum(len(kind.times) for kind in kinds())} equal series of five runs,"
            f" recorded on one machine with two busy processors; the longest kind spans {longest}, and nothing is"
            " claimed beyond that. Kinds with a span were recorded in three sittings beside much other work (load"
            " 0.1 to 45), which had to wait for them. Asked: at most 5, with room for"
            " chance: an exact 5 % passes in 95 of 100. Pairs share series, so a kind has as many trials as series, and"
            f" one of {least} may read up to {most_percent(smallest):.1f}; *minutes*: no times were noted."
        ),
        "",
        *corpus_table(),
        "",
        "## Real paths, interleaved: nothing changed",
        "",
        (
            "Two equal series of ten runs, interleaved, each run with a connection of its own, as `sharebench run"
            f" --versus` measures them: {sum(map(len, interleaved_kinds().values()))} comparisons, recorded on one"
            " machine with two processors by `python -m tests.truth.record --interleaved`. Asked: at most 5 % called"
            " faster or slower, with room for chance: an exact 5 % passes in 95 of 100."
        ),
        "",
        *interleaved_table(),
        "",
        "## The constant, fitted with each kind left out",
        "",
        (
            "The least multiple of what runs differ by that holds two series of five at 5 % on all other kinds, and"
            " what it gives on the kind left out. Asked: at most 10 there. The constant in use is 2.6."
        ),
        "",
        *left_out_table(),
    )


def _lines(first: int, last: int, trials: int) -> list[str]:
    """The sections from one to another, the last one excluded."""
    found: list[str] = []
    for title, about, table in SECTIONS[first:last]:
        found += ["", f"## {title}", "", about, "", *table(max(LEAST, trials // FEWER.get(table, 1)))]
    return found


if __name__ == "__main__":
    raise SystemExit(main())
