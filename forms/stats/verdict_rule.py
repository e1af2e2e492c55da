"""The rule of all verdicts: decide on a change from throughputs: faster, slower, the same, or inconclusive and why.

A *side* is one or more series of equal settings; ``base`` is the side before a change, ``other`` the one after it.
Comparisons, experiments and watches come here with rates and times; trials have a rule of their own
(``forms/trial/summary.py``). There are three ways in: ``decide`` for two sides of whole series, ``decide_together`` for
several such comparisons at once, and ``decide_interleaved`` for two series whose runs were interleaved.

- Interleaved runs (each pair in random order): pair by pair, Student's t of the differences; the signed ranks must
  agree, which are exact whatever comes and goes meanwhile, because the order was random (Fisher 1935).
- Whole series: the change ± t s √(1/p + 1/q), p and q series a side, s by :mod:`forms.stats.variation`.
- Where a steady trend alone would come halfway to a verdict (as when the base was measured twice, and then the other
  side twice), the change must also stand beside a fitted trend; the wider interval is reported.
- Faster or slower: the interval excludes zero and the change exceeds the noise threshold. The same: it lies inside
  the margin. All else is inconclusive, as are fewer than three runs a side.
- One or two hiccups decide nothing: series are read without them (:mod:`forms.stats.readings`). Of interleaved runs
  and alternating series all count: there a rhythm of slow runs would be taken for hiccups of one side.
"""

import statistics
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from forms.stats import changes, decision
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

TREND_SHARE = 0.5
"""A trend is a rival explanation where the t that a steady trend alone gives is this share of the t for a verdict."""


def decide(
    base: Sequence[Rates],
    other: Sequence[Rates],
    *,
    times: Sequence[float] | None = None,
    history: Sequence[SeriesGroup] = (),
    limits: decision.Limits | None = None,
) -> decision.ChangeDecision:
    """Decide between two sides, each a sequence of its series' throughputs.

    ``times`` in seconds, those of the base first; without them the base was measured first. ``history``: earlier groups
    of equal settings on the same path, which tell how far equal series differ.
    """
    limits = limits or decision.Limits()
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
    """A comparison of two groups, by their places in the list of all groups, from 0."""

    base: int
    other: int


def decide_together(
    groups: Sequence[SeriesGroup],
    steps: Sequence[Step],
    *,
    history: Sequence[SeriesGroup] = (),
    limits: decision.Limits | None = None,
) -> list[decision.ChangeDecision]:
    """Decide on all steps by one variation, so that their intervals hold together.

    ``groups`` are the series of each setting; steps name them by their places. The decisions are in the order of the
    steps.
    """
    limits = limits or decision.Limits()
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
    groups: Sequence[SeriesGroup], steps: Sequence[Step], history: Sequence[SeriesGroup], limits: decision.Limits
) -> tuple[Variation | None, float]:
    """The one variation of all steps, and the standard errors each way at which their intervals hold jointly.

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
    base: SeriesGroup, other: SeriesGroup, judged_by: Variation, critical: float, limits: decision.Limits
) -> decision.ChangeDecision:
    """Decide between two groups by a variation; ``critical`` standard errors are half the interval between series.

    Up to three estimates of the change are needed, and the verdict must hold for each: that between series always, that
    beside a trend where a trend is a rival explanation, and that by the runs alone of alternating sides.
    """
    # Alternating sides (base, other, base, other …) have no prior, that is no history: every run counts there, and the
    # runs alone must agree with the series.
    sides_alternate = judged_by.sides_alternate
    base_readings = changes.readings_of(base.series, alternating=sides_alternate)
    other_readings = changes.readings_of(other.series, alternating=sides_alternate)
    by_series = changes.between_series(base_readings, other_readings, judged_by)
    by_runs = changes.within_series(base_readings, other_readings)
    by_trend = _rival_trend(base, other, judged_by, limits)

    needed = [by_series]
    if by_trend:
        needed.append(by_trend)
    if by_runs and sides_alternate:
        needed.append(by_runs)

    # Half an interval = widening · t(level, f) · e, with f the degrees of freedom and e the standard error of the
    # estimate. Of a single step the widening is 1. Several steps at once have a larger ``critical``, and widen every
    # interval in that proportion.
    widening = critical / student_t(limits.level, judged_by.freedom)
    intervals = [_widened_interval(estimate, widening, limits.level) for estimate in needed]
    interval = _outer_interval(intervals)
    change_percent = changes.percent_of(by_series.log_change)
    verdict = _verdict_of(interval, change_percent, limits)

    doubt = None
    if verdict is decision.Verdict.UNKNOWN:
        # By the series alone there would be a change: then it is the trend that may explain it.
        series_differ = _excludes_zero(_widened_interval(by_series, widening, limits.level))
        doubt = decision.Doubt.TREND if by_trend is not None and series_differ else decision.Doubt.BASE_VARIED

    # All that is needed must hold, so the weakest of them says how sure the change is.
    p_value = max(estimate.p_value for estimate in needed)
    directions_agree = len({estimate.log_change > 0 for estimate in needed}) == 1
    return decision.ChangeDecision(
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


def _widened_interval(estimate: changes.ChangeEstimate, widening: float, level: float) -> tuple[float, float]:
    """The estimate's interval in percent, ``widening`` times as wide as that of ``level``."""
    return estimate.interval_percent(level, widening * student_t(level, estimate.freedom))


def _outer_interval(intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The smallest interval that contains all of them."""
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def decide_interleaved(base: Rates, other: Rates, *, limits: decision.Limits | None = None) -> decision.ChangeDecision:
    """Decide on interleaved runs, as many a side, ``base[i]`` measured beside ``other[i]``."""
    limits = limits or decision.Limits()
    if refusal := _refuse_too_few([base], [other]):
        return refusal

    by_pairs = changes.interleaved(base, other)
    assert by_pairs, "with three runs a side there are pairs"
    interval = by_pairs.interval_percent(limits.level)
    change_percent = changes.percent_of(by_pairs.log_change)
    differences = [changed - unchanged for unchanged, changed in zip(base, other, strict=True)]

    # Where the ranks do not agree with the pairs' change, the interval is stretched to zero: no change is claimed.
    if _excludes_zero(interval) and not _order_tells(differences, limits):
        interval = _outer_interval([interval, (0.0, 0.0)])

    verdict = _verdict_of(interval, change_percent, limits)
    return decision.ChangeDecision(
        verdict=verdict,
        doubt=decision.Doubt.VARYING if verdict is decision.Verdict.UNKNOWN else None,
        change_percent=change_percent,
        interval_percent=interval,
        runs_interval_percent=interval,
        p_value=by_pairs.p_value,
        interleaved=True,
        leaning_p_value=max(by_pairs.p_value, signed_rank_p(differences)),
    )


def _order_tells(differences: Sequence[float], limits: decision.Limits) -> bool:
    """Whether the signed ranks of the pairs, which their random order makes exact, agree (Wilcoxon 1945).

    They tell the change from a rhythm of slow runs. The least p of n pairs is 2 / 2^n, where all of them have the same
    sign: of few pairs that must do.
    """
    least_p = 2.0 ** (1 - len(differences))
    return signed_rank_p(differences) <= max(limits.alpha, least_p)


def _refuse_too_few(base: Sequence[Rates], other: Sequence[Rates]) -> decision.ChangeDecision | None:
    """The decision where a side has no run, or fewer than a verdict needs; None where there are enough."""
    base_runs = sum(map(len, base))
    other_runs = sum(map(len, other))
    fewest_runs = min(base_runs, other_runs)

    # A series without a run has no average, and so neither has its side.
    if fewest_runs == 0 or not all((*base, *other)):
        return decision.ChangeDecision(verdict=decision.Verdict.UNKNOWN, doubt=decision.Doubt.NO_RUNS)
    return _inconclusive_of_few_runs(base, other) if fewest_runs < decision.LEAST_RUNS else None


def _inconclusive_of_few_runs(base: Sequence[Rates], other: Sequence[Rates]) -> decision.ChangeDecision:
    """The change without a verdict; its interval by the runs alone has the level of all intervals that are shown."""
    base_readings = changes.readings_of(base)
    other_readings = changes.readings_of(other)
    by_runs = changes.within_series(base_readings, other_readings)
    return decision.ChangeDecision(
        verdict=decision.Verdict.UNKNOWN,
        doubt=decision.Doubt.FEW_RUNS,
        change_percent=changes.percent_of(changes.log_change(base_readings, other_readings)),
        runs_interval_percent=by_runs.interval_percent(LEVEL) if by_runs else None,
    )


def _rival_trend(
    base: SeriesGroup, other: SeriesGroup, judged_by: Variation, limits: decision.Limits
) -> changes.ChangeEstimate | None:
    """The change beside a trend, where a steady trend alone would come halfway to a verdict."""
    if not is_trend_rival([*base.times, *other.times], len(base.times), limits):
        return None
    return changes.beside_trend(base, other, judged_by)


def is_trend_rival(times: Sequence[float], base_count: int, limits: decision.Limits) -> bool:
    """Whether a steady trend alone would come halfway to a verdict, by the times of all series, the base's first."""
    # A change beside a trend takes three degrees of freedom (both averages and the slope), and one must be left.
    if len(times) < 4:
        return False
    # The trend alone is judged by the spread of both sides: a degree of freedom less for each average.
    halfway = TREND_SHARE * student_t(limits.level, len(times) - 2)
    return changes.steady_trend_score(times, base_count) > halfway


def _verdict_of(interval: tuple[float, float], change_percent: float, limits: decision.Limits) -> decision.Verdict:
    """A verdict by the interval of a change, all in percent."""
    if _excludes_zero(interval) and abs(change_percent) > limits.noise_percent:
        return decision.Verdict.FASTER if change_percent > 0 else decision.Verdict.SLOWER
    low, high = interval
    is_within = -limits.margin_percent <= low and high <= limits.margin_percent
    return decision.Verdict.SAME if is_within else decision.Verdict.UNKNOWN


def _excludes_zero(interval: tuple[float, float]) -> bool:
    return interval[0] > 0 or interval[1] < 0
