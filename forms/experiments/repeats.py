"""How far equal series differ: a self-test of two interleaved ones, and repeats at different times."""

import math
import statistics as basic
from collections.abc import Sequence
from dataclasses import dataclass

from forms.comparison.comparison import Comparison
from forms.comparison.pairs import paired_rates
from forms.comparison.verdict import compare
from forms.stats.decision import LEAST_RUNS, Limits, Verdict
from forms.stats.needed_runs import run_variation, smallest_promised_percent
from forms.stats.readings import read_series
from forms.stats.shown import shown_by_series
from forms.stats.trends import drift
from forms.stats.variation import pooled_run_variance
from storage.records import Series

COARSE_PERCENT = 5.0
"""A set-up that shows no smaller change gains little by more runs."""

_RUNS_TO_SHOW = (5, 10, 20, 30, 50)


@dataclass(frozen=True, slots=True)
class Selftest:
    """What two interleaved series of the same thing say about the set-up."""

    series: tuple[Series, Series]
    comparison: Comparison
    runs: int
    """The runs a side of this test."""
    smallest_percent: float | None
    """The smallest change that interleaved runs find nine times in ten with as many; None for too few."""
    by_runs: tuple[tuple[int, float], ...]
    """(runs a side, smallest change in percent) at this variation, this test's own number included."""

    @property
    def differs(self) -> bool:
        """Whether the same thing came out faster or slower, which chance does at most once in 20 times."""
        return self.comparison.verdict in {Verdict.FASTER, Verdict.SLOWER}


def selftest(first: Series, second: Series) -> Selftest:
    comparison = compare(first, second)
    pairs = paired_rates(first, second)
    first_rates, second_rates = pairs or (first.rates(), second.rates())
    variation = run_variation(first_rates, second_rates, paired=pairs is not None)
    if variation is None:
        runs = min(comparison.base_runs, comparison.other_runs)
        return Selftest((first, second), comparison, runs, None, ())

    by_runs = {
        count: smallest_promised_percent(variation, count, Limits())
        for count in sorted({*_RUNS_TO_SHOW, variation.runs})
        if count >= LEAST_RUNS
    }
    smallest = by_runs.get(variation.runs)
    return Selftest((first, second), comparison, variation.runs, smallest, tuple(by_runs.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How far series of the same thing, measured at different times, differ.

    Deviations are standard deviations of logarithms of rates, times 100: percent, where they are small.
    """

    series: tuple[Series, ...]
    """Those that have a valid run, in the order measured."""
    averages_bytes_per_second: tuple[float, ...]
    """The mean of each series' runs, of which every one counts."""
    within_percent: float
    """The deviation of the runs around the average of their own series."""
    between_percent: float | None
    """The deviation of the series' averages; None for a single series."""
    by_chance_percent: float
    """The deviation that the averages would have if only the runs varied: within / √(runs of a series)."""
    trend_percent: float | None
    """From the first average to the last, in percent of the first; None where no trend is beyond chance."""
    smallest_percent: float | None
    """The change that two such series, one a side, show nine times in ten; None where these do not tell it."""


def repeats(all_series: Sequence[Series]) -> Repeats:
    measured = [series for series in all_series if series.rates()]
    rates = [series.rates() for series in measured]
    averages = [basic.fmean(series_rates) for series_rates in rates]
    trend = drift(averages)

    within = pooled_run_variance(rates)
    by_chance = 0.0
    if rates:
        by_chance = math.sqrt(within.variance / basic.fmean(map(len, rates)))

    between = None
    if len(rates) > 1:
        between = basic.stdev(read_series(series_rates).log_average for series_rates in rates)

    # A verdict needs the variance of runs with more than two degrees of freedom (forms/stats/variation.py, step 2).
    smallest = None
    if between is not None and within.freedom > 2:
        # Series around one average have a degree of freedom less than their number.
        freedom_of_repeats = len(rates) - 1
        smallest = shown_by_series(within, repeats=freedom_of_repeats, spread=between)

    return Repeats(
        series=tuple(measured),
        averages_bytes_per_second=tuple(averages),
        within_percent=100 * math.sqrt(within.variance),
        between_percent=None if between is None else 100 * between,
        by_chance_percent=100 * by_chance,
        trend_percent=trend.percent if trend is not None and trend.significant else None,
        smallest_percent=smallest,
    )
