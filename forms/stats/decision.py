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
    MOST_EARLIER,
    SeriesGroup,
    Variation,
    alternates,
    judged_variation,
    pooled_run_variance,
    variation,
)
from storage.plan import MARGIN_PERCENT, NOISE_PERCENT

LEAST_RUNS = 3
"""The runs a side that a verdict needs."""

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
    """Why a comparison or a trial is inconclusive."""

    # Documents have "wandered" and "scatter" since version 0.1.

    NO_RUNS = "no runs"
    """A series has no valid run. Set by every function here that decides."""
    FEW_RUNS = "few runs"
    """A side has fewer than :data:`LEAST_RUNS`, or its runs do not tell by how much they vary. Set here too."""
    BASE_VARIED = "wandered"
    """Equal series may differ by as much: the usual doubt about whole series, set here where no other applies."""
    TREND = "trend"
    """Whole series differ, but a steady trend would explain it as well. Set here."""
    VARYING = "scatter"
    """Interleaved runs, or the pairs of a trial, vary by too much. Set here and by trials."""
    CONTRADICTED = "contradicted"
    """What was read from the server denies the claimed change. Set by comparisons (forms/comparison/verdict.py)."""
    SAME_SETTINGS = "same settings"
    """Both sides were measured with the same settings, so nothing could change. Set by comparisons."""
    FEW_PAIRS = "few pairs"
    """Trials only (forms/trial/summary.py): it ended before its last look, and those before gave no verdict."""
    DRIFT = "drift"
    """Trials only: the machine's own fixed work changed as well, and may explain the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a verdict needs, as it was asked for."""

    noise_percent: float = NOISE_PERCENT
    """A change inside ± this is no difference, however certain."""
    margin_percent: float = MARGIN_PERCENT
    """The same: the interval lies inside ± this."""
    alpha: float = 0.05
    """How often, as a share, a verdict may be wrong where nothing changed: two-sided."""

    @property
    def level(self) -> float:
        """Of the interval that decides: two-sided, 0.95 for 95 %."""
        return 1 - self.alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDecision:
    """A verdict and its figures; absent ones mean too few runs or series."""

    verdict: Verdict
    doubt: Doubt | None = None
    """Why it is inconclusive; None beside any other verdict."""
    change_percent: float | None = None
    """From the base's average to the other's, in percent of the base."""
    interval_percent: tuple[float, float] | None = None
    """(low, high) of the change, by which the verdict is given."""
    runs_interval_percent: tuple[float, float] | None = None
    """(low, high) of the change if only the runs varied, and equal series did not differ beyond that."""
    p_value: float | None = None
    """The largest p of the Student's t tests that the verdict needs."""
    variation: Variation | None = None
    """By which whole series were judged; None of interleaved runs, which are judged pair by pair."""
    critical: float | None = None
    """The standard errors each way of the interval between whole series; None as for ``variation``."""
    interleaved: bool = False
    """Whether it was decided pair by pair."""
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
    if refusal := _refuse_too_few(base, other):
        return refusal

    if times is None:
        times = [float(place) for place in range(len(base) + len(other))]
    base_group = SeriesGroup(base, times[: len(base)])
    other_group = SeriesGroup(other, times[len(base) :])
    sides_alternate = alternates(times, len(base))
    judged_by = variation(base_group, other_group, history, sides_alternate=sides_alternate)
    if judged_by is None:
        return _inconclusive_of_few_runs(base, other)

    critical = student_t(limits.level, judged_by.freedom)
    return _decide_groups(base_group, other_group, judged_by, critical, limits)


class Step(NamedTuple):
    """A comparison of two groups, by their places in the list of all groups."""

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
        if refusal := _refuse_too_few(base.series, other.series):
            decisions.append(refusal)
        elif judged_by is None:
            decisions.append(_inconclusive_of_few_runs(base.series, other.series))
        else:
            decisions.append(_decide_groups(base, other, judged_by, critical, limits))
    return decisions


def _joint_variation(
    groups: Sequence[SeriesGroup], steps: Sequence[Step], history: Sequence[SeriesGroup], limits: Limits
) -> tuple[Variation | None, float]:
    """The one variation of all steps, and the standard errors at which their intervals hold jointly.

    (None, 0.0) where too few runs tell it.
    """
    measured = {index for index, group in enumerate(groups) if group.series and all(group.series)}
    usable = [groups[index] for index in sorted(measured)]
    judged_steps = [step for step in steps if step.base in measured and step.other in measured]

    # The widest step is what the repeats have to cover to count in full.
    middle_times = {index: statistics.fmean(groups[index].times) for index in measured}
    gap = max((abs(middle_times[step.base] - middle_times[step.other]) for step in judged_steps), default=0.0)
    now = max((max(group.times) for group in usable), default=0.0)

    run_variance = pooled_run_variance(list(chain.from_iterable(group.series for group in usable)))
    judged_by = judged_variation(run_variance, usable, history, gap_seconds=gap, now=now)
    if judged_by is None:
        return None, 0.0

    # Of all groups, since the steps name them by their places among all.
    counts = tuple(len(group.series) for group in groups)
    return judged_by, critical_of(counts, tuple(judged_steps), judged_by.freedom, limits.level)


def _decide_groups(
    base: SeriesGroup, other: SeriesGroup, judged_by: Variation, critical: float, limits: Limits
) -> ChangeDecision:
    """Decide between two groups by a variation; ``critical`` standard errors are half the interval between series."""
    # Alternating sides have no prior: every run counts there, and the runs alone must agree with the series.
    sides_alternate = judged_by.sides_alternate
    base_readings = readings_of(base.series, alternating=sides_alternate)
    other_readings = readings_of(other.series, alternating=sides_alternate)
    by_series = between_series(base_readings, other_readings, judged_by)
    by_runs = within_series(base_readings, other_readings)
    by_trend = _rival_trend(base, other, judged_by, limits)

    needed = [by_series]
    if by_trend:
        needed.append(by_trend)
    if by_runs and sides_alternate:
        needed.append(by_runs)

    # Half an interval = widening · t(level, freedom of the estimate) · error of the estimate. Of a single step the
    # widening is 1. Several steps at once have a larger ``critical``, and widen every interval in that proportion.
    widening = critical / student_t(limits.level, judged_by.freedom)
    intervals = [_widened_interval(estimate, widening, limits.level) for estimate in needed]
    interval = _outer_interval(intervals)
    change_percent = percent_of(by_series.log_change)
    verdict = _verdict_of(interval, change_percent, limits)

    doubt = None
    if verdict is Verdict.UNKNOWN:
        series_differ = _excludes_zero(_widened_interval(by_series, widening, limits.level))
        doubt = Doubt.TREND if by_trend is not None and series_differ else Doubt.BASE_VARIED

    p_value = max(estimate.p_value for estimate in needed)
    directions_agree = len({estimate.log_change > 0 for estimate in needed}) == 1
    return ChangeDecision(
        verdict=verdict,
        doubt=doubt,
        change_percent=change_percent,
        interval_percent=interval,
        runs_interval_percent=by_runs.interval_percent(limits.level) if by_runs else None,
        p_value=p_value,
        variation=judged_by,
        critical=critical,
        leaning_p_value=p_value if directions_agree else None,
    )


def _widened_interval(estimate: ChangeEstimate, widening: float, level: float) -> tuple[float, float]:
    return estimate.interval_percent(level, widening * student_t(level, estimate.freedom))


def _outer_interval(intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The smallest interval that contains all of them."""
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def confirmed_changes(series: Sequence[Rates], times: Sequence[float]) -> list[tuple[int, Verdict]]:
    """The places where the level changed for good: two series running that are faster, or slower, than those before."""
    changes: list[tuple[int, Verdict]] = []
    series = [tuple(rates) for rates in series]
    averages = [reading.average for reading in readings_of(series)]
    # The sum of the averages before each place, so that a long history is not added up again at each.
    sums_before = [0.0, *accumulate(averages)]

    level_begin = 0
    # The last series has none after it that could confirm a change.
    for place in range(1, len(series) - 1):
        first = max(level_begin, place - MOST_EARLIER)
        average_before = (sums_before[place] - sums_before[first]) / (place - first)
        change_percent = 100 * abs(averages[place] / average_before - 1)
        # No verdict would be faster or slower, and to look for one takes long.
        if change_percent <= Limits().noise_percent:
            continue

        before = slice(first, place)
        verdict = _verdict_on(place, before, series, times)
        is_change = verdict in {Verdict.FASTER, Verdict.SLOWER}
        if is_change and _verdict_on(place + 1, before, series, times) is verdict:
            changes.append((place, verdict))
            level_begin = place
    return changes


def _verdict_on(place: int, before: slice, series: Sequence[Rates], times: Sequence[float]) -> Verdict:
    """The verdict on the series at a place against those ``before`` it."""
    decision = decide(series[before], [series[place]], times=[*times[before], times[place]])
    return decision.verdict


def decide_interleaved(base: Rates, other: Rates, *, limits: Limits | None = None) -> ChangeDecision:
    """Decide on interleaved runs, as many a side, ``base[i]`` measured beside ``other[i]``."""
    limits = limits or Limits()
    if refusal := _refuse_too_few([base], [other]):
        return refusal

    by_pairs = interleaved(base, other)
    assert by_pairs, "three runs a side are two pairs at least"
    interval = by_pairs.interval_percent(limits.level)
    change_percent = percent_of(by_pairs.log_change)
    differences = [changed - unchanged for unchanged, changed in zip(base, other, strict=True)]

    # Where the ranks do not agree, the interval is stretched to zero, so that no change is claimed.
    if _excludes_zero(interval) and not _order_tells(differences, limits):
        interval = _outer_interval([interval, (0.0, 0.0)])

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
    least_p = 2.0 ** (1 - len(differences))
    return signed_rank_p(differences) <= max(limits.alpha, least_p)


def _refuse_too_few(base: Sequence[Rates], other: Sequence[Rates]) -> ChangeDecision | None:
    """The answer where a side has no run, or fewer than a verdict needs; else None."""
    base_runs = sum(map(len, base))
    other_runs = sum(map(len, other))
    fewest_runs = min(base_runs, other_runs)

    # A series without a run has no average, and so neither has its side.
    if fewest_runs == 0 or not all((*base, *other)):
        return ChangeDecision(verdict=Verdict.UNKNOWN, doubt=Doubt.NO_RUNS)
    return _inconclusive_of_few_runs(base, other) if fewest_runs < LEAST_RUNS else None


def _inconclusive_of_few_runs(base: Sequence[Rates], other: Sequence[Rates]) -> ChangeDecision:
    """The change without a verdict; its interval by the runs alone is that of any average that is shown."""
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
    # A change beside a trend takes three degrees of freedom, and one must be left.
    if len(times) < 4:
        return None
    # The trend alone is judged by the spread of both sides: a degree of freedom less for each.
    halfway = TREND_SHARE * student_t(limits.level, len(times) - 2)
    if steady_trend_score(times, len(base.times)) <= halfway:
        return None
    return beside_trend(base, other, judged_by)


def _verdict_of(interval: tuple[float, float], change_percent: float, limits: Limits) -> Verdict:
    """A verdict by the interval of a change, all in percent."""
    if _excludes_zero(interval) and abs(change_percent) > limits.noise_percent:
        return Verdict.FASTER if change_percent > 0 else Verdict.SLOWER
    low, high = interval
    is_within = -limits.margin_percent <= low and high <= limits.margin_percent
    return Verdict.SAME if is_within else Verdict.UNKNOWN


def _excludes_zero(interval: tuple[float, float]) -> bool:
    return interval[0] > 0 or interval[1] < 0
