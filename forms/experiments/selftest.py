"""Self-tests and repeats: how far equal series differ."""

import math
import statistics as basic
from collections.abc import Sequence
from dataclasses import dataclass

from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.verdict import compare, paired_rates
from forms.stats.decision import Limits
from forms.stats.settle import run_variation, shown_by_series, smallest_promised_percent
from forms.stats.summary import drift
from forms.stats.variation import LEAST_RUNS, log_mean, run_variance
from storage.records import Series

COARSE_PERCENT = 5.0
_RUNS_TO_SHOW = (5, 10, 20, 30, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selftest:
    """What two interleaved series of the same thing say about the set-up."""

    series: tuple[Series, Series]
    comparison: Comparison
    runs: int
    smallest_percent: float | None
    by_runs: tuple[tuple[int, float], ...]
    """(runs a side, smallest change in percent) at this variation, this test's own number included."""

    @property
    def differs(self) -> bool:
        return self.comparison.verdict in {"faster", "slower"}


def selftest(first: Series, second: Series) -> Selftest:
    """The self-test of two series of the same thing."""
    comparison = compare(first, second)
    pairs = paired_rates(first, second)
    variation = run_variation(*(pairs or (first.rates(), second.rates())), paired=pairs is not None)
    runs = variation.runs if variation else min(comparison.base_runs, comparison.other_runs)
    counts = sorted({*_RUNS_TO_SHOW, runs}) if variation else []
    by_runs = tuple(
        (count, smallest_promised_percent(variation, count, Limits()))
        for count in counts
        if variation is not None and count >= LEAST_RUNS
    )
    smallest = dict(by_runs).get(runs)
    return Selftest(
        series=(first, second), comparison=comparison, runs=runs, smallest_percent=smallest, by_runs=by_runs
    )


def sentences(test: Selftest) -> list[str]:
    """What the self-test can show, how it came out, and what to do."""
    said = []
    if test.smallest_percent is None:
        said.append(
            f"{wording.count(test.runs, 'run')} a side can show no change at all: measure at least"
            f" {LEAST_RUNS}, better ten."
        )
    else:
        said.append(
            f"With {wording.count(test.runs, 'run')} a side this set-up shows a change of"
            f" {wording.percent(test.smallest_percent)} or more, nine times in ten."
        )
        if test.smallest_percent > COARSE_PERCENT:
            said.append(
                "That is coarse, and more runs help slowly: make each run longer by a larger file, and measure at a"
                " quiet time."
            )
    if test.differs:
        said.append(
            f"But the same thing, measured twice, interleaved, came out {test.comparison.verdict}"
            f" ({test.comparison.figures}): chance does that at most once in twenty times, so something else may be"
            " at work. Measure again with more warm-up and at a quiet time before you trust a comparison."
        )
    elif test.comparison.change_percent is not None:
        said.append(f"The same thing, measured twice, interleaved, came out no different: {test.comparison.figures}.")
    return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How far series of the same thing, measured at different times, differ."""

    series: tuple[Series, ...]
    averages_bytes_per_second: tuple[float, ...]
    within_percent: float
    between_percent: float | None
    by_chance_percent: float
    trend_percent: float | None
    smallest_percent: float | None


def repeats(series: Sequence[Series]) -> Repeats:
    """Repeats in the order measured, without series that have no valid run."""
    known = [one for one in series if one.rates()]
    rates = [one.rates() for one in known]
    means = [basic.fmean(each) for each in rates]
    run, freedom = run_variance([], rates)
    between = basic.stdev(map(log_mean, rates)) if len(rates) > 1 else None
    runs = basic.fmean(map(len, rates)) if rates else 0.0
    trend = drift(means)
    smallest = None
    if between is not None and freedom > 2:
        smallest = shown_by_series(math.sqrt(run), freedom, repeats=len(rates) - 1, spread=between)
    return Repeats(
        series=tuple(known),
        averages_bytes_per_second=tuple(means),
        within_percent=100 * math.sqrt(run),
        between_percent=None if between is None else 100 * between,
        by_chance_percent=100 * math.sqrt(run / runs) if runs else 0.0,
        trend_percent=trend.percent if trend is not None and trend.significant else None,
        smallest_percent=smallest,
    )


def repeats_sentences(found: Repeats) -> list[str]:
    """How far the series differ, what that means for comparisons, and what to do."""
    if found.between_percent is None or found.smallest_percent is None:
        return ["One series says nothing about the next: measure at least three, over hours if you can."]
    apart, smallest = wording.percent(found.between_percent), wording.percent(found.smallest_percent)
    within, by_chance = wording.percent(found.within_percent), wording.percent(found.by_chance_percent)
    said = [
        f"The averages of {len(found.series)} equal series vary by {apart} (standard deviation).",
        f"The runs vary by {within}, which alone would make it {by_chance}.",
        f"One series before a change and one after it, no further apart, show {smallest} or more, nine times in ten.",
        "Compare takes these repeats as its history for series of the same path, for as much time as they cover.",
    ]
    if found.trend_percent is not None:
        way = "rose" if found.trend_percent > 0 else "fell"
        said.append(
            f"The averages {way} by {wording.percent(abs(found.trend_percent))} from the first series to the last: what"
            " is measured later comes out different by itself. Interleave where you can; where you cannot, restore the"
            " base and measure it once more at the end."
        )
    return said
