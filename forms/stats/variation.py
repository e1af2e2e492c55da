"""How far equal series differ: the rule for everything that is not interleaved.

1. In logarithms of rates; a series counts as its mean. At least three runs a side.
2. v² is the mean of both sides' run variances, pooled by degrees of freedom with those of earlier series of the path,
   times f / (f - 2); f is twice the runs of the smaller side less its series, plus the earlier series' runs less one.
3. The prior: s0² = (2.5 %)² + (2.3 v)², s0 at most 50 %, worth four degrees of freedom.
4. Repeats of a group weigh min(1, span / gap): the time they cover over the time between the compared sides; half of
   it when older than 30 days, nothing when older than 90.
5. s² = (4 s0² + the sum of w f s_rep²) / (4 + the sum of w f): the variance of a series' average.
6. Alternating sides of three series or more: the repeats alone decide, by order and never by result; the runs alone
   (Welch 1947) must agree, which matters where one side varies more.

2.5 %, 2.3 and 4 hold false alarms at 5 % on every recorded kind of path (tests/truth, TRUTH.md) and in simulated
sessions that differ by up to 3 %; with 50 % a change by a factor of seven stays decidable; 30 and 90 days are a
judgement. Half of 2.5 % would be right on a quiet link within minutes, and wrong over days.
"""

import math
import statistics as basic
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

Rates = Sequence[float]
"""The throughputs of a series' runs in the order measured, in any unit."""

LEAST_RUNS = 3
SESSION = 0.025
"""Least assumed difference of equal series."""
PER_RUN_DEVIATION = 2.3
MOST = 0.5
PRIOR_FREEDOM = 4
DAY_SECONDS = 86_400.0
HALF_AFTER_DAYS, NONE_AFTER_DAYS = 30, 90
LEAST_ALTERNATING = 3


@dataclass(frozen=True, slots=True)
class SeriesGroup:
    """Series of the same settings, one after the other."""

    series: Sequence[Rates]
    times: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """How far the averages of equal series differ, as logarithms."""

    variance: float
    freedom: float
    run_deviation: float
    """v of the rule."""
    repeats: float = 0.0
    """Degrees of freedom from repeats, weighted."""
    alone: bool = False

    @property
    def deviation_percent(self) -> float:
        return 100 * math.sqrt(self.variance)


def log_mean(rates: Rates) -> float:
    """The mean logarithm."""
    return _log_moments(tuple(rates))[0]


def log_squares(rates: Rates) -> float:
    """The sum of squared deviations of the logarithms from their mean."""
    return _log_moments(tuple(rates))[1]


@lru_cache(maxsize=4096)
def _log_moments(rates: tuple[float, ...]) -> tuple[float, float]:
    """(log_mean, log_squares): a history asks for those of the same series again and again."""
    return math.log(basic.fmean(rates)), _squares([math.log(rate) for rate in rates])


def run_variance(sides: Sequence[Sequence[Rates]], history: Sequence[Rates] = ()) -> tuple[float, float]:
    """(v² without its factor f / (f - 2), f) of both sides and of earlier series."""
    own = [sum(len(rates) - 1 for rates in side) for side in sides]
    freedom = float(2 * min(own, default=0))
    squares = 0.0
    if freedom:
        apart = [sum(map(log_squares, side)) / count for side, count in zip(sides, own, strict=True)]
        squares = basic.fmean(apart) * freedom
    earlier = sum(len(rates) - 1 for rates in history)
    squares += sum(map(log_squares, history))
    freedom += earlier
    return (squares / freedom if freedom else 0.0), freedom


def prior_variance(variance: float, freedom: float) -> float:
    """s0² of the rule; ``freedom`` exceeds two."""
    return min(MOST**2, SESSION**2 + PER_RUN_DEVIATION**2 * variance * freedom / (freedom - 2))


def weight(group: SeriesGroup, gap_seconds: float, now: float) -> float:
    """A group's weight for sides ``gap_seconds`` apart, the later one measured ``now``."""
    span, age = max(group.times) - min(group.times), now - max(group.times)
    share = 1.0 if span >= gap_seconds else span / gap_seconds
    if age > NONE_AFTER_DAYS * DAY_SECONDS:
        return 0.0
    return share / 2 if age > HALF_AFTER_DAYS * DAY_SECONDS else share


def alternates(places: Sequence[float], base_count: int) -> bool:
    """Whether base (first in ``places``) and other alternate, pair by pair; one more may follow."""
    return in_pairs(places, base_count) and len(places) // 2 >= LEAST_ALTERNATING


def in_pairs(places: Sequence[float], base_count: int) -> bool:
    """Whether each pair of neighbours has one of either side, in any order; one more may follow."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    sides = [index < base_count for index in order]
    return all(sides[at] != sides[at + 1] for at in range(0, len(sides) - 1, 2))


def variation(
    base: SeriesGroup, other: SeriesGroup, history: Sequence[SeriesGroup] = (), *, sides_alternate: bool = False
) -> Variation | None:
    """The variation of equal series; None for too few runs."""
    gap = abs(basic.fmean(base.times) - basic.fmean(other.times))
    now = max(*base.times, *other.times)
    return pooled(run_variance([base.series, other.series], _joined(history)), [base, other, *history], gap, now,
                  alone=sides_alternate)  # fmt: skip


def pooled(
    runs: tuple[float, float], groups: Sequence[SeriesGroup], gap_seconds: float, now: float, *, alone: bool = False
) -> Variation | None:
    """The prior of ``runs`` (variance, freedom), updated by the repeats in ``groups``."""
    run, known = runs
    squares = repeats = 0.0
    for group in groups:
        if len(group.series) > 1:
            counted = weight(group, gap_seconds, now)
            squares += counted * _squares([log_mean(rates) for rates in group.series])
            repeats += counted * (len(group.series) - 1)
    if alone:
        return Variation(variance=squares / repeats, freedom=repeats, run_deviation=math.sqrt(run), repeats=repeats,
                         alone=True)  # fmt: skip
    if known <= 2:
        return None
    freedom = PRIOR_FREEDOM + repeats
    return Variation(
        variance=(PRIOR_FREEDOM * prior_variance(run, known) + squares) / freedom,
        freedom=freedom,
        run_deviation=math.sqrt(run * known / (known - 2)),
        repeats=repeats,
    )


def _joined(groups: Sequence[SeriesGroup]) -> list[Rates]:
    return [rates for group in groups for rates in group.series]


def _squares(values: Sequence[float]) -> float:
    middle = basic.fmean(values)
    return math.fsum((value - middle) ** 2 for value in values)
