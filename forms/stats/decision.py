"""Decide on a change from throughputs: faster, slower, the same, or inconclusive and why.

- Interleaved runs (A B B A): pair by pair, Student's t of the differences.
- Whole series: the change ± t s √(1/p + 1/q), p and q series a side, s by the rule below.
- Where a steady trend alone would come halfway to a verdict (A A B B), the change must also stand beside a fitted
  trend; the wider interval is reported.
- Faster or slower: the interval excludes zero and the change exceeds the noise threshold. The same: it lies inside
  the margin. All else is inconclusive, as are fewer than three runs a side.

How far equal series differ, for everything that is not interleaved:

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
import random
import statistics as basic
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from forms.stats.summary import LEVEL, chi_square_tail, scale_nodes, student_t, student_tail
from storage.plan import MARGIN_PERCENT, NOISE_PERCENT

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
    sides = [index < base_count for index in sorted(range(len(places)), key=lambda index: places[index])]
    return all(sides[at] != sides[at + 1] for at in range(0, len(sides) - 1, 2))


def variation(
    base: SeriesGroup, other: SeriesGroup, history: Sequence[SeriesGroup] = (), *, sides_alternate: bool = False
) -> Variation | None:
    gap = abs(basic.fmean(base.times) - basic.fmean(other.times))
    now = max(*base.times, *other.times)
    runs = run_variance([base.series, other.series], [rates for group in history for rates in group.series])
    return pooled(runs, [base, other, *history], gap, now, alone=sides_alternate)


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
        return Variation(
            variance=squares / repeats, freedom=repeats, run_deviation=math.sqrt(run), repeats=repeats, alone=True
        )
    if known <= 2:
        return None
    freedom = PRIOR_FREEDOM + repeats
    return Variation(
        variance=(PRIOR_FREEDOM * prior_variance(run, known) + squares) / freedom,
        freedom=freedom,
        run_deviation=math.sqrt(run * known / (known - 2)),
        repeats=repeats,
    )


def _squares(values: Sequence[float]) -> float:
    middle = basic.fmean(values)
    return math.fsum((value - middle) ** 2 for value in values)


@dataclass(frozen=True, slots=True)
class ChangeEstimate:
    """A change with its standard error, both as logarithms of a ratio, and the error's degrees of freedom."""

    log_change: float
    error: float
    freedom: float

    def interval_percent(self, level: float, critical: float | None = None) -> tuple[float, float]:
        """(low, high) in percent of the base, above -100; ``critical`` standard errors each way, if given."""
        half = (student_t(level, self.freedom) if critical is None else critical) * self.error
        return percent_of(self.log_change - half), percent_of(self.log_change + half)

    @property
    def p_value(self) -> float:
        if self.error <= 0:
            return 1.0 if self.log_change == 0 else 0.0
        return student_tail(self.log_change / self.error, self.freedom)


def percent_of(log_change: float) -> float:
    """Percent of the base, from the logarithm of the ratio."""
    return 100 * math.expm1(min(log_change, 700.0))


def average(side: Sequence[Rates]) -> float:
    """The mean of the series' means: each series counts once."""
    return basic.fmean([basic.fmean(rates) for rates in side])


def log_change(base: Sequence[Rates], other: Sequence[Rates]) -> float:
    """The logarithm of the ratio of both averages."""
    return math.log(average(other) / average(base))


def within_series(base: Sequence[Rates], other: Sequence[Rates]) -> ChangeEstimate | None:
    """The change by the variation of the runs alone (Welch 1947); None below two runs in a series."""
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
    error = found.variance * (1 / len(base) + 1 / len(other))
    return ChangeEstimate(log_change(base, other), math.sqrt(error), found.freedom)


def beside_trend(base: SeriesGroup, other: SeriesGroup, found: Variation) -> ChangeEstimate | None:
    """The change beside a steady trend; None where they cannot be told apart.
    Least squares of log averages on time and side (analysis of covariance), with prior and repeats as in ``found``.
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
    """The t that a steady trend alone gives: 0 for A B A, infinite without repeats."""
    positions = _places(places)
    sides = positions[:base_count], positions[base_count:]
    own, freedom = sum(_product(side, side) for side in sides), len(positions) - 2
    shift = abs(basic.fmean(sides[1]) - basic.fmean(sides[0]))
    error = own / freedom * sum(1 / len(side) for side in sides) if freedom else 0.0
    return shift / math.sqrt(error) if error else math.inf if shift else 0.0


def interleaved(base: Rates, other: Rates) -> ChangeEstimate | None:
    """Student's t of neighbours' differences, as shares of the base's average; None below two pairs."""
    if len(base) < 2 or len(base) != len(other):
        return None
    before, after = basic.fmean(base), basic.fmean(other)
    differences = [b - a for a, b in zip(base, other, strict=True)]
    error = basic.stdev(differences) / math.sqrt(len(differences)) / math.sqrt(before * after)
    return ChangeEstimate(math.log(after / before), error, len(base) - 1)


def _own_repeats(base: SeriesGroup, other: SeriesGroup) -> tuple[float, float]:
    """(degrees of freedom, squares) of both sides' repeats, weighted."""
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
    place_of = {index: place for place, index in enumerate(order)}
    return [place_of[index] for index in range(len(times))]


def _product(first: Sequence[float], second: Sequence[float]) -> float:
    one, two = basic.fmean(first), basic.fmean(second)
    return math.fsum((a - one) * (b - two) for a, b in zip(first, second, strict=True))


_DRAWS, _PARTS = 10_000, 40
_EXACT = 0.002


@cache
def critical_of(counts: tuple[int, ...], steps: tuple[tuple[int, int], ...], freedom: float, level: float) -> float:
    """Standard errors at which the intervals of all ``steps`` (pairs of groups) hold jointly at this level.
    ``counts`` are series per group. One step: Student's t; several: random directions (fixed seed) and chi-square.
    """
    if len(steps) < 2:
        return student_t(level, freedom)
    largest, scales = _largest(counts, steps), scale_nodes(freedom)[::4]
    total = math.fsum(weight for _, weight in scales)
    low, high = student_t(level, freedom), student_t(1 - (1 - level) / len(steps), freedom)
    while high - low > _EXACT:
        middle = (low + high) / 2
        beyond = math.fsum(
            weight * chi_square_tail((middle * scale / each) ** 2, len(counts))
            for scale, weight in scales
            for each in largest
        )
        low, high = (middle, high) if beyond > (1 - level) * total * len(largest) else (low, middle)
    return (low + high) / 2


def _largest(counts: Sequence[int], steps: Sequence[tuple[int, int]]) -> list[float]:
    chance = random.Random(2026)  # noqa: S311  no secret
    errors = [math.sqrt(1 / counts[base] + 1 / counts[other]) for base, other in steps]
    scales = [1 / math.sqrt(count) if count else 0.0 for count in counts]
    drawn = []
    for _ in range(_DRAWS):
        normal = [chance.gauss(0.0, 1.0) for _ in counts]
        length = math.hypot(*normal)
        means = [one * scale / length for one, scale in zip(normal, scales, strict=True)]
        drawn.append(
            max(abs(means[other] - means[base]) / error for (base, other), error in zip(steps, errors, strict=True))
        )
    drawn.sort()
    part = _DRAWS // _PARTS
    return [math.fsum(drawn[at : at + part]) / part for at in range(0, _DRAWS, part)]


TREND_SHARE = 0.5
"""A steady trend that gives this share of a verdict is a rival explanation."""


class Verdict(StrEnum):
    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNKNOWN = "unknown"


class Doubt(StrEnum):
    NO_RUNS = "no runs"
    FEW_RUNS = "few runs"
    BASE_VARIED = "wandered"  # this and "scatter": documents have them since version 0.1
    TREND = "trend"
    VARYING = "scatter"
    CONTRADICTED = "contradicted"
    SAME_SETTINGS = "same settings"
    FEW_PAIRS = "few pairs"
    DRIFT = "drift"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    noise_percent: float = NOISE_PERCENT
    """A change inside ± this is no difference, however certain."""
    margin_percent: float = MARGIN_PERCENT
    """The same: the interval lies inside ± this."""
    alpha: float = 0.05

    @property
    def level(self) -> float:
        return 1 - self.alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDecision:
    """A verdict and its figures; absent ones mean too few runs or series."""

    verdict: Verdict
    doubt: Doubt | None = None
    change_percent: float | None = None
    interval_percent: tuple[float, float] | None = None
    runs_interval_percent: tuple[float, float] | None = None
    p_value: float | None = None
    """The largest p of the Student's t tests that the verdict needs."""
    variation: Variation | None = None
    critical: float | None = None
    interleaved: bool = False


def decide(
    base: Sequence[Rates],
    other: Sequence[Rates],
    *,
    times: Sequence[float] | None = None,
    history: Sequence[SeriesGroup] = (),
    limits: Limits | None = None,
) -> ChangeDecision:
    """Decide between two sides, each a sequence of its series' throughputs.
    ``times`` in seconds, base first; without them the base came first. ``history``: earlier groups of equal settings.
    """
    limits = limits or Limits()
    short = _too_few(base, other)
    if short:
        return short
    moments = list(times) if times is not None else [float(place) for place in range(len(base) + len(other))]
    one, two = SeriesGroup(base, moments[: len(base)]), SeriesGroup(other, moments[len(base) :])
    found = variation(one, two, history, sides_alternate=alternates(moments, len(base)))
    if found is None:
        return _of_few(base, other)
    return _decided(one, two, found, student_t(limits.level, found.freedom), limits)


class Step(NamedTuple):
    base: int
    other: int


def decide_together(
    groups: Sequence[SeriesGroup],
    steps: Sequence[Step],
    *,
    history: Sequence[SeriesGroup] = (),
    limits: Limits | None = None,
) -> list[ChangeDecision]:
    """All steps by one variation, their intervals jointly valid; ``groups``: one per setting."""
    limits = limits or Limits()
    usable = [group for group in groups if group.series and all(group.series)]
    told = [step for step in steps if groups[step.base] in usable and groups[step.other] in usable]
    runs = run_variance([], [rates for group in (*usable, *history) for rates in group.series])
    middles = {id(group): sum(group.times) / len(group.times) for group in usable}
    gap = max((abs(middles[id(groups[s.base])] - middles[id(groups[s.other])]) for s in told), default=0.0)
    found = pooled(runs, [*usable, *history], gap, max((max(group.times) for group in usable), default=0.0))
    counts = tuple(len(group.series) for group in groups)
    made = []
    critical = critical_of(counts, tuple(told), found.freedom, limits.level) if found else 0
    for step in steps:
        one, two = groups[step.base], groups[step.other]
        short = _too_few(one.series, two.series)
        made.append(
            short or (_decided(one, two, found, critical, limits) if found else _of_few(one.series, two.series))
        )
    return made


def _decided(
    base: SeriesGroup, other: SeriesGroup, found: Variation, critical: float, limits: Limits
) -> ChangeDecision:
    series = between_series(base.series, other.series, found)
    trend = _rival_trend(base, other, found, limits)
    runs = within_series(base.series, other.series)
    needed = [series, *([trend] if trend else []), *([runs] if runs and found.alone else [])]
    widened = critical / student_t(limits.level, found.freedom)
    intervals = [one.interval_percent(limits.level, widened * student_t(limits.level, one.freedom)) for one in needed]
    interval = min(low for low, _ in intervals), max(high for _, high in intervals)
    told = percent_of(series.log_change)
    verdict = _verdict(interval, told, limits)
    doubt = None
    if verdict is Verdict.UNKNOWN:
        doubt = Doubt.TREND if trend and _excludes_zero(intervals[0]) else Doubt.BASE_VARIED
    return ChangeDecision(
        verdict=verdict,
        doubt=doubt,
        change_percent=told,
        interval_percent=interval,
        runs_interval_percent=runs.interval_percent(limits.level) if runs else None,
        p_value=max(one.p_value for one in needed),
        variation=found,
        critical=critical,
    )


MOST_EARLIER = 60
"""Newest earlier series of a path that count; more would hardly change the estimate."""


def confirmed_changes(series: Sequence[Rates], times: Sequence[float]) -> list[tuple[int, Verdict]]:
    """The places where the level changed for good: two series running that are faster, or slower, than those before."""
    found: list[tuple[int, Verdict]] = []
    series, begin = [tuple(rates) for rates in series], 0
    means = [basic.fmean(rates) for rates in series]
    sums = [0.0, *accumulate(means)]
    for place in range(1, len(series) - 1):
        first = max(begin, place - MOST_EARLIER)
        before = (sums[place] - sums[first]) / (place - first)
        if abs(means[place] / before - 1) * 100 <= Limits().noise_percent:
            continue  # no verdict would be faster or slower
        verdicts = (
            decide(series[first:place], [series[next_]], times=[*times[first:place], times[next_]]).verdict
            for next_ in (place, place + 1)
        )
        verdict = next(verdicts)
        if verdict in {Verdict.FASTER, Verdict.SLOWER} and next(verdicts) is verdict:
            found.append((place, verdict))
            begin = place
    return found


def decide_interleaved(base: Rates, other: Rates, *, limits: Limits | None = None) -> ChangeDecision:
    """Decide on interleaved runs, as many a side, ``base[i]`` measured beside ``other[i]``."""
    limits = limits or Limits()
    short = _too_few([base], [other])
    if short:
        return short
    pairs = interleaved(base, other)
    assert pairs
    interval = pairs.interval_percent(limits.level)
    told = percent_of(pairs.log_change)
    verdict = _verdict(interval, told, limits)
    return ChangeDecision(
        verdict=verdict,
        doubt=Doubt.VARYING if verdict is Verdict.UNKNOWN else None,
        change_percent=told,
        interval_percent=interval,
        runs_interval_percent=interval,
        p_value=pairs.p_value,
        interleaved=True,
    )


def holm(p_values: Sequence[float], alpha: float) -> list[float]:
    """Each test's alpha, so that all together err at most ``alpha`` (Holm 1979):
    alpha / m for the smallest p, alpha / (m - 1) for the next, constant from the first that fails on.
    """
    levels = [alpha] * len(p_values)
    failed: float | None = None
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        level = alpha / (len(p_values) - rank) if failed is None else failed
        if failed is None and p_values[index] >= level:
            failed = level
        levels[index] = level
    return levels


def _too_few(base: Sequence[Rates], other: Sequence[Rates]) -> ChangeDecision | None:
    counts = [sum(len(rates) for rates in side) for side in (base, other)]
    if min(counts) == 0 or any(not rates for side in (base, other) for rates in side):
        return ChangeDecision(verdict=Verdict.UNKNOWN, doubt=Doubt.NO_RUNS)
    return _of_few(base, other) if min(counts) < LEAST_RUNS else None


def _of_few(base: Sequence[Rates], other: Sequence[Rates]) -> ChangeDecision:
    runs = within_series(base, other)
    return ChangeDecision(
        verdict=Verdict.UNKNOWN,
        doubt=Doubt.FEW_RUNS,
        change_percent=percent_of(log_change(base, other)),
        runs_interval_percent=runs.interval_percent(LEVEL) if runs else None,
    )


def _rival_trend(base: SeriesGroup, other: SeriesGroup, found: Variation, limits: Limits) -> ChangeEstimate | None:
    times = [*base.times, *other.times]
    if len(times) < 4:
        return None
    if steady_trend_score(times, len(base.times)) <= TREND_SHARE * student_t(limits.level, len(times) - 2):
        return None
    return beside_trend(base, other, found)


def _verdict(interval: tuple[float, float], told: float, limits: Limits) -> Verdict:
    if _excludes_zero(interval) and abs(told) > limits.noise_percent:
        return Verdict.FASTER if told > 0 else Verdict.SLOWER
    margin = limits.margin_percent
    return Verdict.SAME if -margin <= interval[0] and interval[1] <= margin else Verdict.UNKNOWN


def _excludes_zero(interval: tuple[float, float]) -> bool:
    return interval[0] > 0 or interval[1] < 0
