"""The change between two sides as estimates with standard errors: of runs, of whole series, of runs that took turns.

A series is one draw from its set-up. Its runs say how well its own average is known; only repeated series say how far
averages wander when nothing was changed. The estimates here keep both apart.
"""

import math
import statistics as basic
from collections.abc import Sequence
from dataclasses import dataclass

from forms.stats.summary import student_t

Rates = Sequence[float]
"""The throughputs of the runs of one series, in the order measured, in any unit."""


@dataclass(frozen=True, slots=True)
class ChangeEstimate:
    """A change with its standard error, both as logarithms of a ratio, and the error's degrees of freedom."""

    log_change: float
    error: float
    freedom: float

    def interval_percent(self, level: float) -> tuple[float, float]:
        """(low, high) of the change in percent of the base; never below -100 %, since a ratio is never below 0."""
        half = student_t(level, self.freedom) * self.error
        return percent_of(self.log_change - half), percent_of(self.log_change + half)

    @property
    def p_value(self) -> float:
        """The two-sided p of no change, by Student's t."""
        from scipy.special import stdtr  # noqa: PLC0415  scipy takes a third of a second to load

        if self.error <= 0:
            return 1.0 if self.log_change == 0 else 0.0
        return float(2 * stdtr(self.freedom, -abs(self.log_change) / self.error))


@dataclass(frozen=True, slots=True)
class Variation:
    """How far the averages of series that should be equal lie apart."""

    variance: float
    """Of a series' average, as a share of it, squared; what its runs' scatter adds is part of it."""
    freedom: int
    """The degrees of freedom: series less groups."""
    within: float
    """The part of the variance that the runs' scatter explains."""

    @property
    def deviation_percent(self) -> float:
        """The standard deviation between series, in percent of their average."""
        return 100 * math.sqrt(self.variance)


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
    """The change by the scatter of the runs alone (Welch 1947); None where a series has fewer than two runs.

    Right for these series; it knows nothing of how far a next series would lie from them.
    """
    parts = [(_own_variance(rates) / len(side) ** 2, len(rates) - 1) for side in (base, other) for rates in side]
    if any(freedom < 1 for _, freedom in parts):
        return None
    error = sum(part for part, _ in parts)
    freedom = error**2 / sum(part**2 / freedom for part, freedom in parts) if error > 0 else 1.0
    return ChangeEstimate(log_change(base, other), math.sqrt(error), freedom)


def variation(groups: Sequence[Sequence[Rates]]) -> Variation | None:
    """The variation between series of the same settings, pooled over groups; None where no group has two series.

    One-way random effects: the mean square between the series of a group, of their averages as shares of the group's.
    A group of k series gives k - 1 degrees of freedom.
    """
    repeated = [group for group in groups if len(group) > 1]
    freedom = sum(len(group) - 1 for group in repeated)
    if not freedom:
        return None
    squares = within = 0.0
    for group in repeated:
        means = [basic.fmean(rates) for rates in group]
        middle = basic.fmean(means)
        squares += sum((mean / middle - 1) ** 2 for mean in means)
        within += (len(group) - 1) * basic.fmean([_own_variance(rates) for rates in group])
    return Variation(squares / freedom, freedom, within / freedom)


def between_series(base: Sequence[Rates], other: Sequence[Rates], found: Variation) -> ChangeEstimate:
    """The change by the variation between series: each average is uncertain by it, whatever its runs say.

    Where a side's runs scatter more than those of the repeated series, that is added: the repeats cannot know it.
    """
    error = sum(
        found.variance / len(side)
        + max(0.0, basic.fmean([_own_variance(rates) for rates in side]) - found.within) / len(side)
        for side in (base, other)
    )
    return ChangeEstimate(log_change(base, other), math.sqrt(error), found.freedom)


def beside_trend(
    base: Sequence[Rates], other: Sequence[Rates], positions: Sequence[int], found: Variation
) -> ChangeEstimate | None:
    """The change beside a steady trend over the series; None where trend and change cannot be told apart.

    Least squares of the logarithms of the averages on their place in time and on the side (analysis of covariance);
    ``positions`` are the places of the base's series, then of the other's. ``found`` lends what it knows beyond these
    series.
    """
    logs = [math.log(basic.fmean(rates)) for rates in (*base, *other)]
    sides = [0.0] * len(base) + [1.0] * len(other)
    count = len(logs)
    trend, step, both = _product(positions, positions), _product(sides, sides), _product(sides, positions)
    own = len(base) + len(other) - 2
    freedom = count - 3 + found.freedom - own
    apart = step - both**2 / trend if trend > 0 else 0.0
    if freedom < 1 or apart < 1e-9:
        return None
    slope_part = _product(positions, logs)
    change = (_product(sides, logs) - both * slope_part / trend) / apart
    rest = max(0.0, _product(logs, logs) - slope_part**2 / trend - change**2 * apart)
    elsewhere = max(0.0, found.variance * found.freedom - _squares_within(base) - _squares_within(other))
    return ChangeEstimate(change, math.sqrt((rest + elsewhere) / freedom / apart), freedom)


def steady_trend_score(positions: Sequence[int], base_count: int, found: Variation) -> float:
    """The t that a steady trend without any scatter would give two sides at these places in time.

    0 where both lie around the same middle (A B A); infinite where the sides are single and nothing is repeated.
    """
    sides = positions[:base_count], positions[base_count:]
    own = sum(_product(side, side) for side in sides)
    freedom = found.freedom
    elsewhere = freedom - (len(positions) - 2)
    own += elsewhere * (elsewhere + 1) * (elsewhere + 2) / 12 if elsewhere > 0 else 0
    shift = abs(basic.fmean(sides[1]) - basic.fmean(sides[0]))
    error = own / freedom * sum(1 / len(side) for side in sides)
    return shift / math.sqrt(error) if error else math.inf if shift else 0.0


def in_turns(base: Rates, other: Rates) -> ChangeEstimate | None:
    """The change of runs that took turns (A B B A …), pair by pair, so that what moves both drops out.

    Student's t of the differences, as shares of the base's average; ``base[i]`` and ``other[i]`` are neighbours. None
    for fewer than two pairs.
    """
    if len(base) < 2 or len(base) != len(other):
        return None
    before, after = basic.fmean(base), basic.fmean(other)
    differences = [b - a for a, b in zip(base, other, strict=True)]
    error = math.sqrt(_variance(differences) / len(differences)) / math.sqrt(before * after)
    return ChangeEstimate(math.log(after / before), error, len(base) - 1)


def _own_variance(rates: Rates) -> float:
    """The variance of a series' average by its runs' scatter, as a share of it, squared; 0 for one run."""
    return _variance(rates) / len(rates) / basic.fmean(rates) ** 2 if len(rates) > 1 else 0.0


def _variance(values: Sequence[float]) -> float:
    middle = basic.fmean(values)
    return math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)


def _product(first: Sequence[float], second: Sequence[float]) -> float:
    """The sum of products of both sequences' distances from their means."""
    one, two = basic.fmean(first), basic.fmean(second)
    return math.fsum((a - one) * (b - two) for a, b in zip(first, second, strict=True))


def _squares_within(side: Sequence[Rates]) -> float:
    means = [basic.fmean(rates) for rates in side]
    middle = basic.fmean(means)
    return math.fsum((mean / middle - 1) ** 2 for mean in means)
