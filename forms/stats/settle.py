"""How much of each way to measure would settle a comparison of whole series, nine times in ten.

A comparison is *settled* where the change that was seen is found, if it is real, or where it is shown that there is no
change that counts. How much a way shows is computed in ``shown.py``; the commands are made in ``forms/comparison``.
"""

import math
import statistics
from dataclasses import dataclass
from enum import StrEnum

from forms.stats import distributions
from forms.stats.decision import Limits
from forms.stats.needed_runs import MOST_RUNS, RunVariation, needed_runs
from forms.stats.shown import NORMAL_QUANTILE_90, PAIRS, shown_by_alternating, shown_by_pairs, shown_by_series
from forms.stats.variation import LEAST_ALTERNATING, RunVariance, SeriesGroup, weight
from forms.stats.verdict_rule import is_trend_rival

SWITCH_SECONDS = 1.5
"""About what it takes to set a value, prove it and connect."""


def slot_seconds(run_seconds: float) -> float:
    """How long one value of a trial takes: the change, a warm-up and a run."""
    return 2 * run_seconds + SWITCH_SECONDS


UNKNOWN_SESSION = 0.005
"""By how much series are assumed to differ beyond their runs, as a logarithm, where there are no repeats yet."""

MOST_ALTERNATING = 10
"""More alternating series a side are not advised."""

LEAST_INTERLEAVED = 5
"""Fewer interleaved runs a side are not advised to settle a comparison of series."""

MOST_INTERLEAVED = 60
"""More of them are not advised either."""


MOST_OTHER_AGAIN = 6
"""More series of the other side alone are not advised: by then they hardly show a smaller change."""

_SAME_BY_PAIRS = (0.5, 2.0, 3.0)
"""Deviation of the runs in percent up to which 8, 14 and 20 pairs show that both sides are the same (tests/truth)."""


class Way(StrEnum):
    """What to measure so that a comparison is settled."""

    TRY = "try"
    """A trial, which changes the server and restores it."""
    INTERLEAVED = "interleaved"
    """Two series with interleaved runs, which differ in what this client is told."""
    BASE_AGAIN = "base again"
    """One more series of the base."""
    ALTERNATING = "alternating"
    """Series of both sides in turn."""
    OTHER_AGAIN = "other again"
    """More series of the other side alone, where the base is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settles:
    """A way that settles it nine times in ten if the observed change is real."""

    way: Way
    count: int
    """How many: pairs of a trial, interleaved runs a side, or further series of both sides together."""
    shows_percent: float
    """The smallest change that it shows nine times in ten."""


def by_pairs(change_percent: float, run_deviation: float, limits: Limits) -> Settles | None:
    """The fewest pairs of a trial that settle it; None where 20 do not. ``run_deviation`` is a logarithm."""
    for pairs, most_deviation_percent in zip(PAIRS, _SAME_BY_PAIRS, strict=True):
        shows_percent = shown_by_pairs(run_deviation, pairs)
        finds_change = shows_percent <= abs(change_percent)
        is_noise = abs(change_percent) <= limits.noise_percent
        shows_the_same = is_noise and 100 * run_deviation <= most_deviation_percent
        if finds_change or shows_the_same:
            return Settles(way=Way.TRY, count=pairs, shows_percent=shows_percent)
    return None


def by_interleaved_runs(change_percent: float, run_deviation: float, limits: Limits) -> Settles | None:
    """The fewest interleaved runs a side that settle it; None where ``MOST_INTERLEAVED`` do not."""
    # Each side varies in proportion to its average. With v the deviation of the base's runs, that of the ratio of two
    # runs is v √2, as a share of it; see RunVariation for the change's part.
    percent = 100 * run_deviation * math.sqrt(2 * (1 + change_percent / 100))
    variation = RunVariation(percent=percent, runs=LEAST_INTERLEAVED, paired=True)
    runs = needed_runs(change_percent, variation, limits) or MOST_RUNS
    if runs > MOST_INTERLEAVED:
        return None
    return Settles(way=Way.INTERLEAVED, count=max(LEAST_INTERLEAVED, runs), shows_percent=abs(change_percent))


def by_base_again(
    change_percent: float, runs: RunVariance, *, base: int, other: int, repeats: float, spread: float
) -> Settles | None:
    """One more series of the base; None where it does not settle it.

    ``runs``, ``base``, ``other``, ``repeats`` and ``spread`` as for :func:`forms.stats.shown.shown_by_series`, with the
    series that there are now.
    """
    shows_percent = shown_by_series(runs, base=base + 1, other=other, repeats=repeats + 1, spread=spread)
    if shows_percent > abs(change_percent):
        return None
    return Settles(way=Way.BASE_AGAIN, count=1, shows_percent=shows_percent)


def by_other_again(
    change_percent: float,
    runs: RunVariance,
    limits: Limits,
    *,
    base: SeriesGroup,
    other: SeriesGroup,
    repeats: float,
    spread: float,
    spacing_seconds: float,
) -> Settles | None:
    """The fewest more series of the other side alone, ``spacing_seconds`` apart, that settle it; None where none do.

    They are repeats, which weigh as much as the time that they cover has of the time between the sides. ``runs``,
    ``repeats`` and ``spread`` as for :func:`forms.stats.shown.shown_by_series`, with the series that there are now.
    """
    last = max(other.times)
    for count in range(1, MOST_OTHER_AGAIN + 1):
        times = [*other.times, *(last + spacing_seconds * (number + 1) for number in range(count))]
        if is_trend_rival([*base.times, *times], len(base.times), limits):
            # The change would have to stand beside a fitted trend, for which these series tell too little.
            continue
        gap_seconds = abs(statistics.fmean(times) - statistics.fmean(base.times))
        share = weight(SeriesGroup(other.series, times), gap_seconds, max(times))
        shows_percent = shown_by_series(
            runs, base=len(base.times), other=len(times), repeats=repeats + share * count, spread=spread
        )
        if shows_percent <= abs(change_percent):
            return Settles(way=Way.OTHER_AGAIN, count=count, shows_percent=shows_percent)
    return None


def by_alternating(change_percent: float, spread: float, limits: Limits, *, have: int) -> Settles | None:
    """The fewest alternating series that settle it, less the ``have`` ones of both sides that alternate already.

    ``spread`` is the deviation of a series' average, as a logarithm.
    """
    for series in range(LEAST_ALTERNATING, MOST_ALTERNATING + 1):
        shows_percent = shown_by_alternating(spread, series, limits)
        freedom = 2 * series - 2
        half = distributions.student_t(limits.level, freedom) * spread * math.sqrt(2 / series)
        # Half the interval, as nine in ten such measurements estimate it at most: an estimated deviation has itself a
        # deviation of 1 / √(2 · freedom) of its value.
        room = 100 * (1 + NORMAL_QUANTILE_90 / math.sqrt(2 * freedom)) * half

        finds_change = shows_percent <= abs(change_percent)
        shows_the_same = room <= limits.margin_percent - abs(change_percent)
        if (finds_change or shows_the_same) and 2 * series > have:
            return Settles(way=Way.ALTERNATING, count=2 * series - have, shows_percent=shows_percent)
    return None
