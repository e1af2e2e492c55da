"""The change between two sides as estimates with standard errors: of whole series, beside a trend, of interleaved runs.

A series is one draw from its set-up. Its runs say how well its own average is known; how far averages of equal series
differ is what :mod:`forms.stats.variation` says.
"""

import math
import statistics as basic
from collections.abc import Sequence
from dataclasses import dataclass

from forms.stats.distributions import student_t, student_tail
from forms.stats.variation import Rates, SeriesGroup, Variation, log_mean, log_squares, weight


@dataclass(frozen=True, slots=True)
class ChangeEstimate:
    """A change with its standard error, both as logarithms of a ratio, and the error's degrees of freedom."""

    log_change: float
    error: float
    freedom: float

    def interval_percent(self, level: float, critical: float | None = None) -> tuple[float, float]:
        """(low, high) of the change in percent of the base, above -100; ``critical`` errors each way, if given."""
        half = (student_t(level, self.freedom) if critical is None else critical) * self.error
        return percent_of(self.log_change - half), percent_of(self.log_change + half)

    @property
    def p_value(self) -> float:
        if self.error <= 0:
            return 1.0 if self.log_change == 0 else 0.0
        return student_tail(self.log_change / self.error, self.freedom)


def percent_of(log_change: float) -> float:
    """A change in percent, of the logarithm of the ratio."""
    return 100 * math.expm1(min(log_change, 700.0))


def average(side: Sequence[Rates]) -> float:
    """The average of the series' averages: each series counts once."""
    return basic.fmean([basic.fmean(rates) for rates in side])


def log_change(base: Sequence[Rates], other: Sequence[Rates]) -> float:
    """The logarithm of the ratio of both averages."""
    return math.log(average(other) / average(base))


def within_series(base: Sequence[Rates], other: Sequence[Rates]) -> ChangeEstimate | None:
    """The change by the variation of the runs alone (Welch 1947); None where a series has fewer than two runs.

    Right for these series; it knows nothing of how far a next series would lie from them.
    """
    parts = [
        (log_squares(rates) / (len(rates) - 1) / len(rates) / len(side) ** 2, len(rates) - 1)
        for side in (base, other)
        for rates in side
        if len(rates) > 1
    ]
    if len(parts) < len(base) + len(other):
        return None
    error = sum(part for part, _ in parts)
    freedom = error**2 / sum(part**2 / freedom for part, freedom in parts) if error > 0 else 1.0
    return ChangeEstimate(log_change(base, other), math.sqrt(error), freedom)


def between_series(base: Sequence[Rates], other: Sequence[Rates], found: Variation) -> ChangeEstimate:
    """The change by the variation between equal series: each average is uncertain by it, whatever its runs say."""
    error = found.variance * (1 / len(base) + 1 / len(other))
    return ChangeEstimate(log_change(base, other), math.sqrt(error), found.freedom)


def beside_trend(base: SeriesGroup, other: SeriesGroup, found: Variation) -> ChangeEstimate | None:
    """The change beside a steady trend over the series; None where trend and change cannot be told apart.

    Least squares of the logarithms of the averages on their place in time and on the side (analysis of covariance),
    with the prior and what is known beyond these series as in ``found``.
    """
    logs = [log_mean(rates) for rates in (*base.series, *other.series)]
    positions = _places([*base.times, *other.times])
    sides = [0.0] * len(base.series) + [1.0] * len(other.series)
    trend, step, both = _product(positions, positions), _product(sides, sides), _product(sides, positions)
    apart = step - both**2 / trend if trend > 0 else 0.0
    if apart < 1e-9:
        return None
    slope_part = _product(positions, logs)
    change = (_product(sides, logs) - both * slope_part / trend) / apart
    rest = max(0.0, _product(logs, logs) - slope_part**2 / trend - change**2 * apart)
    own, squares = _own_repeats(base, other)
    counted = own / (len(logs) - 2) if len(logs) > 2 else 0.0
    freedom = found.freedom - own + counted * (len(logs) - 3)
    known = max(0.0, found.variance * found.freedom - squares)
    return ChangeEstimate(change, math.sqrt((known + counted * rest) / freedom / apart), freedom)


def steady_trend_score(places: Sequence[float], base_count: int) -> float:
    """The t that a steady trend without any variation would give two sides of repeats at these places in time.

    0 where both lie around the same middle (A B A); infinite where nothing is repeated.
    """
    positions = _places(places)
    sides = positions[:base_count], positions[base_count:]
    own, freedom = sum(_product(side, side) for side in sides), len(positions) - 2
    shift = abs(basic.fmean(sides[1]) - basic.fmean(sides[0]))
    error = own / freedom * sum(1 / len(side) for side in sides) if freedom else 0.0
    return shift / math.sqrt(error) if error else math.inf if shift else 0.0


def in_turns(base: Rates, other: Rates) -> ChangeEstimate | None:
    """The change of interleaved runs (A B B A …), pair by pair, so that what moves both drops out.

    Student's t of the differences, as shares of the base's average; ``base[i]`` and ``other[i]`` are neighbours. None
    for fewer than two pairs.
    """
    if len(base) < 2 or len(base) != len(other):
        return None
    before, after = basic.fmean(base), basic.fmean(other)
    differences = [b - a for a, b in zip(base, other, strict=True)]
    error = basic.stdev(differences) / math.sqrt(len(differences)) / math.sqrt(before * after)
    return ChangeEstimate(math.log(after / before), error, len(base) - 1)


def _own_repeats(base: SeriesGroup, other: SeriesGroup) -> tuple[float, float]:
    """(degrees of freedom, squares) that the repeats of both sides have in their variation, weighted."""
    gap = abs(basic.fmean(base.times) - basic.fmean(other.times))
    now = max(*base.times, *other.times)
    freedom = squares = 0.0
    for side in (base, other):
        counted = weight(side, gap, now)
        logs = [log_mean(rates) for rates in side.series]
        freedom += counted * (len(logs) - 1)
        squares += counted * _product(logs, logs)
    return freedom, squares


def _places(times: Sequence[float]) -> list[int]:
    order = sorted(range(len(times)), key=lambda index: times[index])
    return [order.index(index) for index in range(len(times))]


def _product(first: Sequence[float], second: Sequence[float]) -> float:
    one, two = basic.fmean(first), basic.fmean(second)
    return math.fsum((a - one) * (b - two) for a, b in zip(first, second, strict=True))
