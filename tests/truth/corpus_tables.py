"""Equal series of real paths, decided as if something had been changed; and each kind left out of the fit."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import scipy

from forms.stats.decision import Limits, Verdict
from forms.stats.variation import PER_RUN_DEVIATION
from forms.stats.verdict_rule import decide_interleaved
from tests.truth.timelines import Values
from tests.truth.vectors import decide_all

FOLDER = Path(__file__).with_name("corpus")
RUNS = (3, 4, 5)
MOST_LEFT_OUT = 10.0
"""Percent of false alarms that are asked for on a kind that the constant was not fitted on."""
_TRIED = [round(0.1 * step, 1) for step in range(36)]


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """Equal series of one path."""

    name: str
    rates: Values
    """A row a series, in the order measured."""
    times: Sequence[float]
    """In seconds; the places in the order where nobody noted them."""
    hours: float | None
    """That the series span; None where nobody noted it."""


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind of the corpus that is long enough, by name."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        document = json.loads(path.read_text())
        series = document.get("series")
        rates = (
            [one.get("bytes_per_second") or one["requests_per_second"] for one in series]
            if series
            else document["bytes_per_second"]
        )
        noted = [datetime.fromisoformat(one["started_at"]).timestamp() for one in series] if series else None
        runs = min(map(len, rates))
        times = noted or [float(place) for place in range(len(rates))]
        hours = (times[-1] - times[0]) / 3600 if noted else None
        if len(rates) >= 20:
            found.append(Kind(path.stem, np.array([one[:runs] for one in rates]), times, hours))
    return tuple(found)


def most_percent(kind: Kind) -> float:
    """Asked: at most 5 %, with room for chance, so that an exact 5 % passes in 95 of 100.

    Sets share series: a kind has no more independent trials than it has series.
    """
    series = len(kind.times)
    return 100 * float(scipy.stats.binom.ppf(0.95, series, 0.05)) / series


def two_series(kind: Kind, runs: int, per_run: float = PER_RUN_DEVIATION) -> tuple[int, int]:
    """How many pairs are called different, of how many."""
    return _called(kind, runs, list(combinations(range(len(kind.times)), 2)), 1, per_run)


def three_then_later(kind: Kind) -> tuple[int, int]:
    """A baseline of three in a row, and any later series."""
    count = len(kind.times)
    sets = [(at, at + 1, at + 2, later) for at in range(count - 3) for later in range(at + 3, count)]
    return _called(kind, 5, sets, 3)


def base_again(kind: Kind) -> tuple[int, int]:
    """Base, other, base again: any three in their order."""
    return _called(kind, 5, [(a, c, b) for a, b, c in combinations(range(len(kind.times)), 3)], 2)


def history_then_later(kind: Kind) -> tuple[int, int]:
    """Five repeats in a row, then any two later ones."""
    count = len(kind.times)
    sets = [
        (*range(at, at + 5), one, two) for at in range(count - 6) for one, two in combinations(range(at + 5, count), 2)
    ]
    return _called(kind, 5, sets, 1, history=5)


def alternating(kind: Kind) -> tuple[int, int]:
    """Three and three in a row, in alternation."""
    return _called(kind, 5, [(at, at + 2, at + 4, at + 1, at + 3, at + 5) for at in range(len(kind.times) - 5)], 3)


def _called(
    kind: Kind,
    runs: int,
    sets: Sequence[tuple[int, ...]],
    base: int,
    per_run: float = PER_RUN_DEVIATION,
    history: int = 0,
) -> tuple[int, int]:
    """How many of these sets of series are called different; each is its history, its base and then the others.

    All sets come in the same order in time and are decided at once.
    """
    columns = [kind.rates[list(places), :runs] for places in zip(*sets, strict=True)]
    times = np.array(kind.times)[np.array(sets)]
    assert (np.argsort(times, kind="stable") == np.argsort(times[0], kind="stable")).all()
    told = decide_all(
        columns[history : history + base], columns[history + base :], times[:, history:],
        columns[:history], times[:, :history], per_run,
    )  # fmt: skip
    return int(told.different.sum()), len(sets)


def corpus_table(_trials: int = 0) -> Iterator[str]:
    """Nothing changed: how often each kind is called different."""
    headings = (
        "kind", "series", "span", *(f"two of {runs} runs" for runs in RUNS), "3, then any later", "A B A",
        "5 repeats, then 2 later", "3 + 3 alternating",
    )  # fmt: skip
    yield f"| {' | '.join(headings)} |"
    yield f"| --- | ---: | --- |{' ---: |' * (len(RUNS) + 4)}"
    for kind in kinds():
        designs = [two_series(kind, runs) for runs in RUNS]
        designs += [three_then_later(kind), base_again(kind), history_then_later(kind)]
        cells = [_cell(kind, called, of) for called, of in designs]
        called, of = alternating(kind)
        span = "minutes" if kind.hours is None else f"{kind.hours:.1f} h"
        yield f"| {kind.name} | {len(kind.times)} | {span} | {' | '.join(cells)} | {called} of {of} |"


def _cell(kind: Kind, called: int, of: int) -> str:
    percent = 100 * called / of
    return f"{percent:.1f}" if percent <= most_percent(kind) else f"**{percent:.1f}**"


@cache
def interleaved_kinds() -> dict[str, list[tuple[list[float], list[float]]]]:
    """By kind of path: the rates of two equal series whose runs were interleaved, for each comparison."""
    found = {}
    for path in sorted((FOLDER / "interleaved").glob("*.json")):
        found[path.stem] = [tuple(one["interleaved"]) for one in json.loads(path.read_text())["series"]]
    return found


def interleaved_called(pairs: Sequence[tuple[list[float], list[float]]]) -> int:
    """How many of the comparisons say faster or slower."""
    verdicts = (decide_interleaved(*each, limits=Limits()).verdict for each in pairs)
    return sum(verdict in {Verdict.FASTER, Verdict.SLOWER} for verdict in verdicts)


def interleaved_table(_trials: int = 0) -> Iterator[str]:
    """Nothing changed: how often each kind is called different, and how wide its intervals are."""
    yield "| kind | comparisons | called faster or slower | at most | half of the interval, %, in half of them |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, pairs in interleaved_kinds().items():
        most, called = int(scipy.stats.binom.ppf(0.95, len(pairs), 0.05)), interleaved_called(pairs)
        found = [decide_interleaved(*each, limits=Limits()).interval_percent for each in pairs]
        half = float(np.median([(ends[1] - ends[0]) / 2 for ends in found if ends]))
        told = f"{called}" if called <= most else f"**{called}**"
        yield f"| {name} | {len(pairs)} | {told} | {most} | {half:.1f} |"


@cache
def least_per_run(kind: Kind) -> float:
    """The least constant that holds two series of five runs of this kind at 5 %."""
    for tried in _TRIED:
        called, of = two_series(kind, 5, tried)
        if called <= 0.05 * of:
            return tried
    return _TRIED[-1]


def left_out(kind: Kind) -> tuple[float, float]:
    """(the least constant that holds all other kinds at 5 %, the percentage of false alarms it gives on this one)."""
    fitted = max(least_per_run(other) for other in kinds() if other is not kind)
    called, of = two_series(kind, 5, fitted)
    return fitted, 100 * called / of


def left_out_table(_trials: int = 0) -> Iterator[str]:
    """The constant fitted without each kind, and what it gives there."""
    yield "| kind left out | it needs | fitted on the others | false alarms there, % | with 2.6 |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for kind in kinds():
        fitted, percent = left_out(kind)
        cell = f"{percent:.1f}" if percent <= MOST_LEFT_OUT else f"**{percent:.1f}**"
        yield f"| {kind.name} | {least_per_run(kind)} | {fitted} | {cell} | {_cell(kind, *two_series(kind, 5))} |"
