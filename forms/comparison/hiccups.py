"""Runs that stand out in a comparison: those that it leaves out, and those without which it would have an answer.

A *hiccup* is a run so far from the others of its series that averages leave it out (``forms/stats/readings.py``). An
*unusual* run is one that the form of its series marks. Both *stand out* from the others here.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter

from forms.series.summary import unusual_runs
from forms.stats.decision import ChangeDecision, Verdict
from forms.stats.readings import MOST_HICCUPS, read_series
from storage.records import Run, Series

RunPairs = Sequence[tuple[Run, Run]]
"""Neighbours of interleaved runs, the base's first."""

RunNumbers = Mapping[str, Collection[int]]
"""The numbers of runs, by the id of their series."""


@dataclass(frozen=True, slots=True)
class OutstandingRun:
    """A run that stands out from the others of its series."""

    series_id: str
    series_name: str
    """What people call the series."""
    number: int
    percent: float
    """How far from the average of the others; below 0 it is slower."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """What a comparison would say without some runs."""

    runs: tuple[OutstandingRun, ...]
    """Those that are left out."""
    decision: ChangeDecision
    """The decision without them, which has a verdict."""


def left_out_runs(sides: Sequence[Sequence[Series]], names: Mapping[str, str]) -> tuple[OutstandingRun, ...]:
    """The runs that the averages of the sides leave out; ``names`` are what people call the series, by their ids."""
    runs: list[OutstandingRun] = []
    for series in chain.from_iterable(sides):
        runs += _hiccups(series, names[series.id])
    return tuple(runs)


def _hiccups(series: Series, name: str) -> Iterator[OutstandingRun]:
    rates = series.rates()
    if not rates:
        return
    reading = read_series(rates)
    runs = rated_runs(series)
    for place in reading.hiccups:
        percent = 100 * (rates[place] / reading.average - 1)
        yield OutstandingRun(series.id, name, runs[place].number, percent)


def answer_without(
    sides: Sequence[Sequence[Series]],
    names: Mapping[str, str],
    decide_without: Callable[[RunNumbers], ChangeDecision],
) -> Alternative | None:
    """The answer without the fewest outstanding runs, at most two of a series; None where none of them hides one.

    ``decide_without`` decides on the same sides without the runs of some numbers.
    """
    outstanding: dict[str, tuple[OutstandingRun, ...]] = {}
    for series in chain.from_iterable(sides):
        runs = _outstanding_runs(series, names[series.id])
        if runs:
            outstanding[series.id] = runs

    for candidate in _candidates(list(outstanding.values())):
        numbers: dict[str, list[int]] = {series_id: [] for series_id in outstanding}
        for run in candidate:
            numbers[run.series_id].append(run.number)

        decision = decide_without(numbers)
        if decision.verdict is not Verdict.UNKNOWN:
            return Alternative(candidate, decision)
    return None


def _candidates(outstanding: Sequence[tuple[OutstandingRun, ...]]) -> list[tuple[OutstandingRun, ...]]:
    """Runs to leave out together, the fewest first: one, all of a series, all of all series."""
    all_runs = tuple(chain.from_iterable(outstanding))
    candidates: list[tuple[OutstandingRun, ...]] = [(run,) for run in all_runs]
    candidates += [runs for runs in outstanding if len(runs) > 1]
    if len(outstanding) > 1:
        candidates.append(all_runs)
    return candidates


def _outstanding_runs(series: Series, name: str) -> tuple[OutstandingRun, ...]:
    """The runs that the form calls unusual, or the average leaves out; of more than two the furthest two."""
    numbers = {*unusual_runs(series), *(run.number for run in _hiccups(series, name))}
    rates = {run.number: rate for run, rate in zip(rated_runs(series), series.rates(), strict=True)}
    others = [rate for number, rate in rates.items() if number not in numbers]
    if not others:
        return ()

    average = sum(others) / len(others)
    runs = [
        OutstandingRun(series.id, name, number, 100 * (rates[number] / average - 1))
        for number in sorted(numbers)
        if number in rates
    ]
    furthest = sorted(runs, key=_distance_percent, reverse=True)[:MOST_HICCUPS]
    return tuple(sorted(furthest, key=attrgetter("number")))


def _distance_percent(run: OutstandingRun) -> float:
    return abs(run.percent)


def runs_by_series(runs: Sequence[OutstandingRun]) -> Iterator[tuple[str, list[OutstandingRun]]]:
    """The runs of each series running, by its name."""
    for name, series_runs in groupby(runs, key=attrgetter("series_name")):
        yield name, list(series_runs)


def rated_runs(series: Series) -> list[Run]:
    """The runs that count, in the order of ``series.rates()``."""
    return [run for run in series.measured() if run.bytes_per_second is not None]


def rates_without(series: Series, numbers: Collection[int]) -> list[float]:
    return [rate for run, rate in zip(rated_runs(series), series.rates(), strict=True) if run.number not in numbers]
