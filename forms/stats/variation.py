"""How far the averages of equal series differ: the scale by which a change between series is judged.

1. In logarithms of rates. A series counts as the average of its runs without hiccups (:mod:`forms.stats.readings`).
2. v² is the mean of both sides' run variances, times f / (f - 2). f are the degrees of freedom: of the side with fewer,
   runs less series, doubled. Earlier series of the path add the median of their run variances, made unbiased, which no
   single series with hiccups can move.
3. The prior: s0² = (2.5 %)² + (2.6 v)², s0 at most 50 %, worth four degrees of freedom.
4. Repeats of a group weigh min(1, span / gap): the time they cover over the time between the compared sides; half of
   it when older than 30 days, nothing when older than 90.
5. s² = (4 s0² + the sum of w f s_rep²) / (4 + the sum of w f): the variance of a series' average. The sums are over the
   groups of repeats, with w the weight of a group, s_rep² the variance of its series' averages, and f one less than
   their number. Earlier series never make a verdict less certain than the two sides alone would, unless they differ by
   more than s² of the sides.
6. Alternating sides of three series or more: the repeats alone decide, by order and never by result, and every run
   counts; the runs alone (Welch 1947) must agree, which matters where one side varies more.

2.5 %, 2.6 and 4 hold false alarms at 5 % on every recorded kind of path (tests/truth, TRUTH.md) and in simulated
sessions that differ by up to 3 %; with 50 % a change by a factor of seven stays decidable; 30 and 90 days are a
judgement. Half of 2.5 % would be right on a quiet link within minutes, and wrong over days.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from forms.stats.distributions import chi_square_quantile, student_t
from forms.stats.readings import Rates, SeriesReading, plain_reading, read_series
from forms.stats.summary import LEVEL

# The numbers of the rule: why they are what they are stands above.

SESSION = 0.025
"""Step 3: the least assumed difference of equal series, as a logarithm (2.5 %)."""

PER_RUN_DEVIATION = 2.6
"""Step 3: the further difference that is assumed of them, in standard deviations of their runs (v)."""

MOST = 0.5
"""Step 3: the most that s0 is assumed to be, as a logarithm (50 %)."""

PRIOR_FREEDOM = 4
"""Step 3: the degrees of freedom that the prior is worth."""

LEAST_ALTERNATING = 3
"""Step 6: the series a side from which alternating sides are judged by their repeats alone."""

DAY_SECONDS = 86_400.0

# How much of a path's history counts. The notebook is asked for no more of it (storage/statements/earlier.sql).

NONE_AFTER_DAYS = 90
"""Step 4: repeats older than this weigh nothing, and earlier series than this are not read."""

HALF_AFTER_DAYS = 30
"""Step 4: repeats older than this weigh half."""

MOST_EARLIER = 60
"""The newest earlier series of a path that are read; more would hardly change the estimate."""


@dataclass(frozen=True, slots=True)
class SeriesGroup:
    """Series of equal settings, each with the time when it was measured."""

    series: Sequence[Rates]
    times: Sequence[float]
    """In seconds, one for each of ``series``."""


class RunVariance(NamedTuple):
    """The variance of the logarithms of runs, known with that many degrees of freedom."""

    variance: float
    freedom: float

    @property
    def cautious(self) -> float:
        """The variance times f / (f - 2), which allows for runs that happened to agree; infinite up to f = 2.

        f / (f - 2) is the mean of f / chi-square(f), by which the true variance exceeds an estimate on average.
        """
        return self.variance * self.freedom / (self.freedom - 2) if self.freedom > 2 else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """How far the averages of equal series differ, as logarithms."""

    variance: float
    """The s² of the rule: of a series' average."""
    freedom: float
    """The degrees of freedom with which it is known: those of the prior and of the repeats."""
    runs: RunVariance
    """The variance of the runs within a series, from which the prior was made."""
    repeats: float = 0.0
    """The part of ``freedom`` that comes from repeats: the sum of w f of step 5."""
    sides_alternate: bool = False
    """Whether step 6 applies: the repeats alone decide, without a prior; every run counts; the runs must agree."""

    @property
    def deviation_percent(self) -> float:
        """The s of the rule, in percent."""
        return 100 * math.sqrt(self.variance)

    @property
    def run_deviation(self) -> float:
        """The v of the rule, as a logarithm; without its factor where too few runs bound that."""
        return math.sqrt(self.runs.cautious if math.isfinite(self.runs.cautious) else self.runs.variance)

    def error(self, base: int, other: int) -> float:
        """The standard error of a change between averages of that many series: s √(1/p + 1/q)."""
        return math.sqrt(self.variance * (1 / base + 1 / other))

    def least_shown(self, base: int, other: int, level: float) -> float:
        """The logarithm of the change that such averages must exceed: half the interval of ``compare``.

        ``level`` is two-sided, 0.95 for 95 %.
        """
        return student_t(level, self.freedom) * self.error(base, other)


def variation(
    base: SeriesGroup, other: SeriesGroup, history: Sequence[SeriesGroup] = (), *, sides_alternate: bool = False
) -> Variation | None:
    """The variation by which two sides are judged; None where too few runs tell it."""
    gap = abs(statistics.fmean(base.times) - statistics.fmean(other.times))
    now = max(*base.times, *other.times)
    own_runs = side_run_variance([base.series, other.series])
    return judged_variation(own_runs, [base, other], history, gap_seconds=gap, now=now, sides_alternate=sides_alternate)


def judged_variation(
    own_runs: RunVariance,
    sides: Sequence[SeriesGroup],
    history: Sequence[SeriesGroup],
    *,
    gap_seconds: float,
    now: float,
    sides_alternate: bool = False,
) -> Variation | None:
    """The variation by the sides' own runs and repeats, or with those of earlier groups, whichever claims less.

    Where earlier series differ by more than the sides alone would allow for, they are always counted. ``gap_seconds``
    lie between the compared sides, the later of which was measured ``now``. None where too few runs tell it.
    """
    if sides_alternate:
        return _variation_of_repeats_alone(own_runs, [*sides, *history], gap_seconds=gap_seconds, now=now)

    by_sides = _updated_by_groups(own_runs, sides, gap_seconds=gap_seconds, now=now)
    if not history:
        return by_sides

    earlier_runs = usual_run_variance(list(chain.from_iterable(group.series for group in history)))
    all_runs = pooled_variance(own_runs, earlier_runs)
    together = _updated_by_groups(all_runs, [*sides, *history], gap_seconds=gap_seconds, now=now)
    if by_sides is None or together is None:
        return together

    # Step 5: earlier series may only make a verdict surer, unless they differ by more than the sides allow for.
    earlier_squares, earlier_freedom = _squares_of_repeats(history, gap_seconds=gap_seconds, now=now)
    if earlier_squares > earlier_freedom * by_sides.variance:
        return together
    return min(by_sides, together, key=_least_shown)


def _least_shown(variation: Variation) -> float:
    return variation.least_shown(1, 1, LEVEL)


def _updated_by_groups(
    runs: RunVariance, groups: Sequence[SeriesGroup], *, gap_seconds: float, now: float
) -> Variation | None:
    """The prior that these runs give, updated by the repeats in ``groups``; None where too few runs tell it."""
    # Step 2: up to two degrees of freedom f / (f - 2) has no bound.
    if runs.freedom <= 2:
        return None
    squares, freedom = _squares_of_repeats(groups, gap_seconds=gap_seconds, now=now)
    return updated_prior(runs, freedom, squares)


def _variation_of_repeats_alone(
    runs: RunVariance, groups: Sequence[SeriesGroup], *, gap_seconds: float, now: float
) -> Variation:
    """Step 6: the variation of alternating sides, which is that of their repeats, in which every run counts."""
    squares, freedom = _squares_of_repeats(groups, gap_seconds=gap_seconds, now=now, read=plain_reading)
    return Variation(variance=squares / freedom, freedom=freedom, runs=runs, repeats=freedom, sides_alternate=True)


def _squares_of_repeats(
    groups: Sequence[SeriesGroup],
    *,
    gap_seconds: float,
    now: float,
    read: Callable[[Rates], SeriesReading] = read_series,
) -> tuple[float, float]:
    """(squared deviations, degrees of freedom) of the repeats in each group, weighted as in step 4."""
    squares = freedom = 0.0

    for group in groups:
        if len(group.series) > 1:
            share = weight(group, gap_seconds, now)
            squares += share * squared_deviations([read(rates).log_average for rates in group.series])
            freedom += share * (len(group.series) - 1)
    return squares, freedom


def side_run_variance(sides: Sequence[Sequence[Rates]]) -> RunVariance:
    """The mean of both sides' run variances, known as well as the smaller side knows its own."""
    pooled = [pooled_run_variance(side) for side in sides]
    # Step 2: doubled because both sides contribute, each as much as the smaller one.
    freedom = 2 * min(side.freedom for side in pooled)
    if not freedom:
        return RunVariance(0.0, 0.0)
    return RunVariance(statistics.fmean(side.variance for side in pooled), freedom)


def pooled_run_variance(series: Sequence[Rates]) -> RunVariance:
    """The variance of runs around the average of their own series, each series by its degrees of freedom."""
    readings = [read_series(rates) for rates in series]
    freedom = sum(reading.freedom for reading in readings)
    if not freedom:
        return RunVariance(0.0, 0.0)
    squares = math.fsum(reading.variance * reading.freedom for reading in readings)
    return RunVariance(squares / freedom, freedom)


def usual_run_variance(series: Sequence[Rates]) -> RunVariance:
    """The median of the series' run variances, each over the median of chi-square / f, so that it is unbiased."""
    readings = [reading for reading in map(read_series, series) if reading.freedom]
    if not readings:
        return RunVariance(0.0, 0.0)
    unbiased = [reading.variance / _median_share(reading.freedom) for reading in readings]
    return RunVariance(statistics.median(unbiased), sum(reading.freedom for reading in readings))


def _median_share(freedom: int) -> float:
    """The median of an estimated variance, as a share of the true one."""
    return chi_square_quantile(0.5, freedom) / freedom


def pooled_variance(later: RunVariance, earlier: RunVariance) -> RunVariance:
    """The variance of both, each by its degrees of freedom."""
    freedom = later.freedom + earlier.freedom
    if not freedom:
        return later
    squares = later.variance * later.freedom + earlier.variance * earlier.freedom
    return RunVariance(squares / freedom, freedom)


def prior_variance(runs: RunVariance) -> float:
    """s0² of the rule."""
    return min(MOST**2, SESSION**2 + PER_RUN_DEVIATION**2 * runs.cautious)


def updated_prior(runs: RunVariance, repeats: float, squares: float) -> Variation:
    """Step 5: s² = (4 s0² + ``squares``) / (4 + ``repeats``).

    ``repeats`` are the weighted degrees of freedom of repeated series, and ``squares`` their squared deviations.
    """
    freedom = PRIOR_FREEDOM + repeats
    variance = (PRIOR_FREEDOM * prior_variance(runs) + squares) / freedom
    return Variation(variance=variance, freedom=freedom, runs=runs, repeats=repeats)


def weight(group: SeriesGroup, gap_seconds: float, now: float) -> float:
    """A group's weight w of step 4, 0 to 1, for sides ``gap_seconds`` apart, the later one measured ``now``."""
    span = max(group.times) - min(group.times)
    age = now - max(group.times)
    # Step 4: repeats within minutes do not tell by how much days differ.
    share = 1.0 if span >= gap_seconds else span / gap_seconds
    if age > NONE_AFTER_DAYS * DAY_SECONDS:
        return 0.0
    return share / 2 if age > HALF_AFTER_DAYS * DAY_SECONDS else share


def squared_deviations(values: Sequence[float]) -> float:
    """The sum of the squared deviations from the mean."""
    middle = statistics.fmean(values)
    return math.fsum((value - middle) ** 2 for value in values)


def alternates(places: Sequence[float], base_count: int) -> bool:
    """Whether base (first in ``places``) and other alternate, pair by pair; one more may follow."""
    pairs = len(places) // 2
    return in_pairs(places, base_count) and pairs >= LEAST_ALTERNATING


def in_pairs(places: Sequence[float], base_count: int) -> bool:
    """Whether each pair of neighbours has one of either side, in any order; one more may follow."""
    in_order = sorted(range(len(places)), key=places.__getitem__)
    is_base = [index < base_count for index in in_order]
    firsts_of_pairs = range(0, len(is_base) - 1, 2)
    return all(is_base[first] != is_base[first + 1] for first in firsts_of_pairs)
