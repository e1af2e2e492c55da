"""Estimates of the change between two sides, each with its standard error.

A change is estimated in four ways: by how far whole series differ, beside a trend, by the variation of the runs alone,
and pair by pair of interleaved runs. The rule of verdicts (``verdict_rule.py``) says which of them count. Everything is
computed with logarithms: a change is log(average of the other side / average of the base).
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from forms.stats.distributions import student_t, student_tail
from forms.stats.readings import Rates, SeriesReading, plain_reading, read_series
from forms.stats.variation import SeriesGroup, Variation, squared_deviations, weight


@dataclass(frozen=True, slots=True)
class ChangeEstimate:
    """A change with its standard error."""

    log_change: float
    """The logarithm of the ratio of both averages."""
    error: float
    """Its standard error, as a logarithm too."""
    freedom: float
    """The degrees of freedom with which the error is known."""

    def interval_percent(self, level: float, critical: float | None = None) -> tuple[float, float]:
        """(low, high) in percent of the base, above -100.

        ``critical`` standard errors each way; without it those of Student's t at the two-sided ``level``.
        """
        standard_errors = student_t(level, self.freedom) if critical is None else critical
        half = standard_errors * self.error
        return percent_of(self.log_change - half), percent_of(self.log_change + half)

    @property
    def p_value(self) -> float:
        """Of Student's t, two-sided: half of it is the probability that the true change has the other sign."""
        if self.error <= 0:
            return 1.0 if self.log_change == 0 else 0.0
        return student_tail(self.log_change / self.error, self.freedom)


def percent_of(log_change: float) -> float:
    """Percent of the base, from the logarithm of the ratio."""
    # From exp(710) on there would be no number for it.
    return 100 * math.expm1(min(log_change, 700.0))


def readings_of(side: Sequence[Rates], *, alternating: bool = False) -> list[SeriesReading]:
    """The series of a side, read without hiccups unless the sides alternate.

    Alternating series decide by themselves, without a prior. A rhythm of slow runs can keep step with them, so that one
    side has two in each series, which would be left out, and the other three, which would not.
    """
    return [plain_reading(rates) if alternating else read_series(rates) for rates in side]


def side_average(readings: Sequence[SeriesReading]) -> float:
    """The mean of the series' averages: each series counts once."""
    return statistics.fmean(reading.average for reading in readings)


def log_change(base: Sequence[SeriesReading], other: Sequence[SeriesReading]) -> float:
    """The logarithm of the ratio of both averages."""
    return math.log(side_average(other) / side_average(base))


def within_series(base: Sequence[SeriesReading], other: Sequence[SeriesReading]) -> ChangeEstimate | None:
    """The change by the variation of the runs alone (Welch 1947); None below two runs in a series.

    e² = the sum of v_i² / (r_i k²), for series i of r_i runs with the variance v_i², on a side of k series. Its degrees
    of freedom are e⁴ / the sum of (v_i² / (r_i k²))² / (r_i - 1) (Welch-Satterthwaite).
    """
    if any(reading.freedom < 1 for reading in (*base, *other)):
        return None

    squared_errors = []
    for side in (base, other):
        for reading in side:
            runs = reading.freedom + 1
            squared_errors.append((reading.variance / runs / len(side) ** 2, reading.freedom))

    squared_error = sum(part for part, _ in squared_errors)
    freedom = 1.0
    if squared_error > 0:
        freedom = squared_error**2 / sum(part**2 / part_freedom for part, part_freedom in squared_errors)
    return ChangeEstimate(log_change(base, other), math.sqrt(squared_error), freedom)


def between_series(
    base: Sequence[SeriesReading], other: Sequence[SeriesReading], variation: Variation
) -> ChangeEstimate:
    """The change by how far equal series differ: e = s √(1/p + 1/q), p and q series a side, s by ``variation``."""
    error = variation.error(len(base), len(other))
    return ChangeEstimate(log_change(base, other), error, variation.freedom)


def beside_trend(base: SeriesGroup, other: SeriesGroup, variation: Variation) -> ChangeEstimate | None:
    """The change beside a steady trend; None where they cannot be told apart.

    Least squares of y = a + b x + c z (analysis of covariance): y the log averages of the series, x their places in
    time (0, 1, 2 …), z the side (0 for the base, 1 for the other). With S_uv the sum of products of the deviations of u
    and v from their means:

        c = (S_zy - S_zx S_xy / S_xx) / A, with A = S_zz - S_zx² / S_xx (``side_squares``)
        unexplained squares = S_yy - S_xy² / S_xx - c² A
        e = √(s² / A), where s² combines the prior and the repeats of ``variation`` with the unexplained squares
    """
    logs = [reading.log_average for reading in readings_of([*base.series, *other.series])]
    places = _places([*base.times, *other.times])
    sides = [0.0] * len(base.series) + [1.0] * len(other.series)

    s_xx = _products(places, places)
    s_zx = _products(sides, places)
    side_squares = _products(sides, sides) - s_zx**2 / s_xx if s_xx > 0 else 0.0
    # But for rounding it is 0: the sides follow one another as the places do.
    if side_squares < 1e-9:
        return None

    s_xy = _products(places, logs)
    change = (_products(sides, logs) - s_zx * s_xy / s_xx) / side_squares
    unexplained = max(0.0, _products(logs, logs) - s_xy**2 / s_xx - change**2 * side_squares)

    # The sides' own repeats are replaced by what the trend leaves unexplained of them: one degree of freedom less, as
    # the two averages take 2 of them, and the trend a third.
    own_freedom, own_squares = _own_repeats(base, other)
    share = own_freedom / (len(logs) - 2) if len(logs) > 2 else 0.0
    freedom = variation.freedom - own_freedom + share * (len(logs) - 3)
    squares = max(0.0, variation.variance * variation.freedom - own_squares) + share * unexplained
    return ChangeEstimate(change, math.sqrt(squares / freedom / side_squares), freedom)


def steady_trend_score(times: Sequence[float], base_count: int) -> float:
    """The t of Student's test between the places of both sides: what a steady trend alone would give.

    It is 0 where the other side was measured in the middle of the base, and infinite without repeats.
    """
    places = _places(times)
    base = places[:base_count]
    other = places[base_count:]
    shift = abs(statistics.fmean(other) - statistics.fmean(base))
    # Each side has an average of its own.
    freedom = len(places) - 2
    squares = squared_deviations(base) + squared_deviations(other)
    error = math.sqrt(squares / freedom * (1 / len(base) + 1 / len(other))) if freedom else 0.0
    if error:
        return shift / error
    return math.inf if shift else 0.0


def interleaved(base: Rates, other: Rates) -> ChangeEstimate | None:
    """Student's t of neighbours; None below two pairs.

    e = s / √n, with s the deviation of their ratios in n pairs.
    """
    if len(base) < 2 or len(base) != len(other):
        return None
    change = math.log(statistics.fmean(other) / statistics.fmean(base))
    error = pair_deviation(base, other) / math.sqrt(len(base))
    return ChangeEstimate(change, error, len(base) - 1)


def pair_deviation(base: Rates, other: Rates) -> float:
    """The deviation of the ratio of interleaved runs, as a share of it; they are two pairs or more.

    Of the other's rates from r times the base's, r being the ratio of the averages, over the other's average: the ratio
    estimator (Cochran, Sampling Techniques). Plain differences would hold a slow side against what the fast one varies
    by: runs at 100 ± 30 MB/s beside runs at 1 MB/s would then show no change.
    """
    after = statistics.fmean(other)
    ratio = after / statistics.fmean(base)
    residuals = [changed - ratio * unchanged for unchanged, changed in zip(base, other, strict=True)]
    return statistics.stdev(residuals) / after


def _own_repeats(base: SeriesGroup, other: SeriesGroup) -> tuple[float, float]:
    """(degrees of freedom, squared deviations) of both sides' repeats, weighted."""
    gap = abs(statistics.fmean(base.times) - statistics.fmean(other.times))
    now = max(*base.times, *other.times)
    freedom = squares = 0.0
    for side in (base, other):
        share = weight(side, gap, now)
        freedom += share * (len(side.series) - 1)
        squares += share * squared_deviations([reading.log_average for reading in readings_of(side.series)])
    return freedom, squares


def _places(times: Sequence[float]) -> list[int]:
    """The place of each time in their order."""
    order = sorted(range(len(times)), key=times.__getitem__)
    place_of = {index: place for place, index in enumerate(order)}
    return [place_of[index] for index in range(len(times))]


def _products(first: Sequence[float], second: Sequence[float]) -> float:
    """The sum of products of deviations from the means."""
    first_mean = statistics.fmean(first)
    second_mean = statistics.fmean(second)
    return math.fsum((a - first_mean) * (b - second_mean) for a, b in zip(first, second, strict=True))
