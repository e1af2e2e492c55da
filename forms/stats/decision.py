"""Decide on a change from throughputs: faster, slower, the same, or inconclusive and why.

- Interleaved runs (each pair in random order): pair by pair, Student's t of the differences; the signed ranks must
  agree, which are exact whatever comes and goes meanwhile, because the order was random (Fisher 1935).
- Whole series: the change ± t s √(1/p + 1/q), p and q series a side, s by :mod:`forms.stats.variation`.
- Where a steady trend alone would come halfway to a verdict (A A B B), the change must also stand beside a fitted
  trend; the wider interval is reported.
- Faster or slower: the interval excludes zero and the change exceeds the noise threshold. The same: it lies inside
  the margin. All else is inconclusive, as are fewer than three runs a side.
- One or two hiccups decide nothing: series are read without them (:mod:`forms.stats.readings`). Of interleaved runs
  and alternating series all count: there a rhythm of slow runs would be taken for hiccups of one side.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, chain
from typing import NamedTuple

from forms.stats.changes import (
    ChangeEstimate,
    beside_trend,
    between_series,
    interleaved,
    log_change,
    percent_of,
    readings_of,
    steady_trend_score,
    within_series,
)
from forms.stats.distributions import student_t
from forms.stats.ranks import signed_rank_p
from forms.stats.readings import Rates
from forms.stats.several import critical_of
from forms.stats.summary import LEVEL
from forms.stats.variation import (
    SeriesGroup,
    Variation,
    alternates,
    judged_variation,
    pooled_run_variance,
    variation,
)
from storage.plan import MARGIN_PERCENT, NOISE_PERCENT

LEAST_RUNS = 3
PROBABLY = 0.9
"""From this probability of the direction on an inconclusive comparison says to which side the evidence leans.

Where nothing changed, equal series of real paths reach it in at most 18 of 100 pairs; with 0.85 it would be 24, with
0.8 it would be 34 (tests/truth/leanings.py).
"""

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
    leaning_p_value: float | None = None
    """Two-sided, of the tests that a leaning needs; None where a verdict is refused for another reason."""

    @property
    def direction_probability(self) -> float | None:
        """The probability that the true change has the sign that is seen, 0.5 to 1; None where nobody knows."""
        if self.verdict is not Verdict.UNKNOWN or self.leaning_p_value is None:
            return None
        return 1 - self.leaning_p_value / 2

    @property
    def leaning(self) -> Verdict | None:
        """Faster or slower, where an inconclusive comparison leans to one side; else None."""
        probability = self.direction_probability
        if probability is None or probability < PROBABLY or self.change_percent is None:
            return None
        return Verdict.FASTER if self.change_percent > 0 else Verdict.SLOWER


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
    if undecided := _decide_too_few(base, other):
        return undecided

    if times is None:
        times = [float(place) for place in range(len(base) + len(other))]
    base_group = SeriesGroup(base, times[: len(base)])
    other_group = SeriesGroup(other, times[len(base) :])
    sides_alternate = alternates(times, len(base))
    judged_by = variation(base_group, other_group, history, sides_alternate=sides_alternate)
    if judged_by is None:
        return _few_runs(base, other)
    return _decide_groups(base_group, other_group, judged_by, student_t(limits.level, judged_by.freedom), limits)


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
    judged_by, critical = _joint_variation(groups, steps, history, limits)

    decisions = []
    for step in steps:
        base = groups[step.base]
        other = groups[step.other]
        if undecided := _decide_too_few(base.series, other.series):
            decisions.append(undecided)
        elif judged_by is None:
            decisions.append(_few_runs(base.series, other.series))
        else:
            decisions.append(_decide_groups(base, other, judged_by, critical, limits))
    return decisions


def _joint_variation(
    groups: Sequence[SeriesGroup], steps: Sequence[Step], history: Sequence[SeriesGroup], limits: Limits
) -> tuple[Variation | None, float]:
    """The one variation of all steps, and the standard errors at which their intervals hold jointly."""
    measured = {index for index, group in enumerate(groups) if group.series and all(group.series)}
    usable = [groups[index] for index in sorted(measured)]
    judged_steps = [step for step in steps if step.base in measured and step.other in measured]

    middle_times = {index: statistics.fmean(groups[index].times) for index in measured}
    gap = max((abs(middle_times[step.base] - middle_times[step.other]) for step in judged_steps), default=0.0)
    now = max((max(group.times) for group in usable), default=0.0)

    run_variance = pooled_run_variance(list(chain.from_iterable(group.series for group in usable)))
    judged_by = judged_variation(run_variance, usable, history, gap, now)
    if judged_by is None:
        return None, 0.0
    counts = tuple(len(group.series) for group in groups)
    return judged_by, critical_of(counts, tuple(judged_steps), judged_by.freedom, limits.level)


def _decide_groups(
    base: SeriesGroup, other: SeriesGroup, judged_by: Variation, critical: float, limits: Limits
) -> ChangeDecision:
    base_readings = readings_of(base.series, alternating=judged_by.alone)
    other_readings = readings_of(other.series, alternating=judged_by.alone)
    by_series = between_series(base_readings, other_readings, judged_by)
    by_runs = within_series(base_readings, other_readings)
    by_trend = _rival_trend(base, other, judged_by, limits)

    needed = [by_series]
    if by_trend:
        needed.append(by_trend)
    if by_runs and judged_by.alone:
        needed.append(by_runs)

    # Several steps at once widen every interval by as much as they widen that between series.
    widened = critical / student_t(limits.level, judged_by.freedom)
    intervals = [_widened_interval(estimate, widened, limits.level) for estimate in needed]
    interval = min(low for low, _ in intervals), max(high for _, high in intervals)
    change_percent = percent_of(by_series.log_change)
    verdict = _verdict_of(interval, change_percent, limits)

    p_value = max(estimate.p_value for estimate in needed)
    agree = len({estimate.log_change > 0 for estimate in needed}) == 1
    doubt = None
    if verdict is Verdict.UNKNOWN:
        is_trend = by_trend is not None and _excludes_zero(intervals[0])
        doubt = Doubt.TREND if is_trend else Doubt.BASE_VARIED
    return ChangeDecision(
        verdict=verdict,
        doubt=doubt,
        change_percent=change_percent,
        interval_percent=interval,
        runs_interval_percent=by_runs.interval_percent(limits.level) if by_runs else None,
        p_value=p_value,
        variation=judged_by,
        critical=critical,
        leaning_p_value=p_value if agree else None,
    )


def _widened_interval(estimate: ChangeEstimate, widened: float, level: float) -> tuple[float, float]:
    return estimate.interval_percent(level, widened * student_t(level, estimate.freedom))


MOST_EARLIER = 60
"""Newest earlier series of a path that count; more would hardly change the estimate."""


def confirmed_changes(series: Sequence[Rates], times: Sequence[float]) -> list[tuple[int, Verdict]]:
    """The places where the level changed for good: two series running that are faster, or slower, than those before."""
    changes: list[tuple[int, Verdict]] = []
    series = [tuple(rates) for rates in series]
    averages = [reading.average for reading in readings_of(series)]
    sums = [0.0, *accumulate(averages)]
    begin = 0
    for place in range(1, len(series) - 1):
        first = max(begin, place - MOST_EARLIER)
        average_before = (sums[place] - sums[first]) / (place - first)
        if abs(averages[place] / average_before - 1) * 100 <= Limits().noise_percent:
            continue  # no verdict would be faster or slower

        verdict = _verdict_on(place, series, times, first, place)
        is_change = verdict in {Verdict.FASTER, Verdict.SLOWER}
        if is_change and _verdict_on(place + 1, series, times, first, place) is verdict:
            changes.append((place, verdict))
            begin = place
    return changes


def _verdict_on(place: int, series: Sequence[Rates], times: Sequence[float], first: int, last: int) -> Verdict:
    """The verdict on one series against those from ``first`` up to, but without, ``last``."""
    decision = decide(series[first:last], [series[place]], times=[*times[first:last], times[place]])
    return decision.verdict


def decide_interleaved(base: Rates, other: Rates, *, limits: Limits | None = None) -> ChangeDecision:
    """Decide on interleaved runs, as many a side, ``base[i]`` measured beside ``other[i]``."""
    limits = limits or Limits()
    if undecided := _decide_too_few([base], [other]):
        return undecided

    by_pairs = interleaved(base, other)
    assert by_pairs, "three runs a side are two pairs at least"
    interval = by_pairs.interval_percent(limits.level)
    change_percent = percent_of(by_pairs.log_change)
    differences = [changed - unchanged for unchanged, changed in zip(base, other, strict=True)]
    if _excludes_zero(interval) and not _order_tells(differences, limits):
        interval = min(interval[0], 0.0), max(interval[1], 0.0)
    verdict = _verdict_of(interval, change_percent, limits)
    return ChangeDecision(
        verdict=verdict,
        doubt=Doubt.VARYING if verdict is Verdict.UNKNOWN else None,
        change_percent=change_percent,
        interval_percent=interval,
        runs_interval_percent=interval,
        p_value=by_pairs.p_value,
        interleaved=True,
        leaning_p_value=max(by_pairs.p_value, signed_rank_p(differences)),
    )


def _order_tells(differences: Sequence[float], limits: Limits) -> bool:
    """Whether the random order of the pairs tells the change from a rhythm of slow runs (Wilcoxon 1945).

    Of few pairs it can tell no better than 1 in 2^(pairs - 1): then all of them have to agree.
    """
    least = 2.0 ** (1 - len(differences))
    return signed_rank_p(differences) <= max(limits.alpha, least)


def _decide_too_few(base: Sequence[Rates], other: Sequence[Rates]) -> ChangeDecision | None:
    """The answer where a side has no run, or fewer than a verdict needs; else None."""
    base_runs = sum(map(len, base))
    other_runs = sum(map(len, other))
    fewest_runs = min(base_runs, other_runs)

    # A series without a run has no average, and so neither has its side.
    if fewest_runs == 0 or not all((*base, *other)):
        return ChangeDecision(verdict=Verdict.UNKNOWN, doubt=Doubt.NO_RUNS)
    return _few_runs(base, other) if fewest_runs < LEAST_RUNS else None


def _few_runs(base: Sequence[Rates], other: Sequence[Rates]) -> ChangeDecision:
    base_readings = readings_of(base)
    other_readings = readings_of(other)
    by_runs = within_series(base_readings, other_readings)
    return ChangeDecision(
        verdict=Verdict.UNKNOWN,
        doubt=Doubt.FEW_RUNS,
        change_percent=percent_of(log_change(base_readings, other_readings)),
        runs_interval_percent=by_runs.interval_percent(LEVEL) if by_runs else None,
    )


def _rival_trend(base: SeriesGroup, other: SeriesGroup, judged_by: Variation, limits: Limits) -> ChangeEstimate | None:
    """The change beside a trend, where a steady trend alone would come halfway to a verdict."""
    times = [*base.times, *other.times]
    if len(times) < 4:
        return None
    halfway = TREND_SHARE * student_t(limits.level, len(times) - 2)
    if steady_trend_score(times, len(base.times)) <= halfway:
        return None
    return beside_trend(base, other, judged_by)


def _verdict_of(interval: tuple[float, float], change_percent: float, limits: Limits) -> Verdict:
    if _excludes_zero(interval) and abs(change_percent) > limits.noise_percent:
        return Verdict.FASTER if change_percent > 0 else Verdict.SLOWER
    low, high = interval
    is_within = -limits.margin_percent <= low and high <= limits.margin_percent
    return Verdict.SAME if is_within else Verdict.UNKNOWN


def _excludes_zero(interval: tuple[float, float]) -> bool:
    return interval[0] > 0 or interval[1] < 0
