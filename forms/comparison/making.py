"""From the decision on two sides to the comparison that people read.

The decision is that of the statistics (``forms/stats/verdict_rule.py``), by rates alone. Here it is taken back where
the settings contradict it. It gets names, averages, what differs between the sides, and what would settle it.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from forms.comparison import hiccups, side_values, what_settles
from forms.comparison.comparison import Comparison
from forms.comparison.doubts.other_load import other_load_of
from forms.comparison.judged_sides import Sides, newest_moment
from forms.findings.full_links import full_links_of
from forms.stats import changes
from forms.stats.decision import ChangeDecision, Doubt, Limits, Verdict
from forms.stats.variation import DAY_SECONDS
from forms.tuning.differences import Difference, differences
from storage import records


def make_comparison(
    sides: Sides,
    decision: ChangeDecision,
    limits: Limits,
    pairs: hiccups.RunPairs | None = None,
    *,
    finds_settling_step: bool = True,
) -> Comparison:
    """The comparison of two sides on which this was decided: by whole series, or by ``pairs`` of interleaved runs.

    ``finds_settling_step``: whether to look for a measurement that would settle an open answer, which takes longest.
    """
    base = sides.base[0]
    other = sides.other[0]
    differing = differences(base, other)
    claimed = other.change if other.change and other.base_id in (None, base.id) else None
    decision = _unless_settings_deny(decision, claimed, sides, differing)

    old_link = side_values.old_link_of(sides, differing, claimed)
    # A link that is outgrown was replaced, so that nobody measures over it again.
    if old_link is not None:
        sides = replace(sides, base_told_gone=True)

    server_seen = side_values.shows_parameters(base) and side_values.shows_parameters(other)
    was_changed = base.change or other.change or (sides.unseen and other.base_id is not None)
    is_alike = server_seen and not differing and not was_changed

    step = None
    if finds_settling_step and not is_alike:
        step = what_settles.step_that_settles(sides, decision, limits, differing, claimed)
    needed = what_settles.runs_that_settle(sides, decision, limits, pairs)

    side_names = sides.called or side_values.names_of_sides([sides])
    # Pairs of runs have no variation between series, so that no earlier series took part in judging them.
    history = list(chain.from_iterable(sides.history)) if decision.variation else []
    newest = max((series.moment for series in history), default=None)
    is_judged_as_same = decision.doubt is Doubt.SAME_SETTINGS

    comparison = Comparison(
        # The decision.
        verdict=decision.verdict,
        doubt=decision.doubt,
        change_percent=decision.change_percent,
        interval_percent=decision.interval_percent,
        runs_interval_percent=decision.runs_interval_percent,
        p_value=decision.p_value,
        leaning_p_value=decision.leaning_p_value,
        variation=decision.variation,
        critical=decision.critical,
        interleaved=decision.interleaved,
        # The two sides.
        base_id=base.id,
        other_id=other.id,
        base_name=side_names[base.id],
        other_name=side_names[other.id],
        base_baseline=sides.baselines.get(base.id, ""),
        other_baseline=sides.baselines.get(other.id, ""),
        names=side_values.names_of_series(sides),
        base_ids=tuple(series.id for series in sides.base),
        other_ids=tuple(series.id for series in sides.other),
        base_runs=sum(map(len, side_values.rates_of_side(sides.base))),
        other_runs=sum(map(len, side_values.rates_of_side(sides.other))),
        pair_count=None if pairs is None else len(pairs),
        base_bytes_per_second=side_values.average_rate(sides.base),
        other_bytes_per_second=side_values.average_rate(sides.other),
        base_deviation_bytes_per_second=side_values.rate_deviation(sides.base),
        other_deviation_bytes_per_second=side_values.rate_deviation(sides.other),
        base_wander_percent=side_values.wander_percent(sides.base),
        busy_ids=side_values.busy_ids(sides),
        other_load=other_load_of(sides),
        stands_in=sides.stands_in,
        unnamed_ids=sides.unnamed_ids,
        left_out_members=sides.left_out_members,
        # What it was judged by.
        limits=limits,
        apart_percent=_equal_series_differ_by_percent(decision),
        history_count=len(history),
        history_days=None if newest is None else max(0.0, other.moment - newest) / DAY_SECONDS,
        # What changed between the sides.
        differences=differing,
        change=claimed,
        server_seen=server_seen,
        is_alike=is_alike,
        old_link=old_link,
        base_told_gone=sides.base_told_gone,
        is_other_newest=newest_moment(sides.other) >= newest_moment(sides.base),
        has_short_runs=is_judged_as_same and side_values.newer_has_short_runs(base, other),
        # What answers it better.
        tried=sides.tried,
        tried_back=sides.tried_back,
        interleaved_since=sides.interleaved_since,
        # What would settle it.
        settle=step,
        needed_series=step.series_a_side if step else None,
        needed_runs=needed.runs,
        needed_runs_range=needed.runs_range,
        needed_seconds=needed.seconds,
    )
    return _with_full_links(_with_judged_averages(comparison, sides), sides)


def _with_judged_averages(comparison: Comparison, sides: Sides) -> Comparison:
    """The comparison with the averages that were judged, and the runs that those leave out.

    Of interleaved runs and of alternating series every run counts, so that nothing is left out.
    """
    if comparison.variation is None or comparison.variation.sides_alternate:
        return comparison

    base_readings = changes.readings_of(side_values.rates_of_side(sides.base))
    other_readings = changes.readings_of(side_values.rates_of_side(sides.other))
    return replace(
        comparison,
        left_out=hiccups.left_out_runs((sides.base, sides.other), comparison.names),
        judged_base_bytes_per_second=changes.side_average(base_readings),
        judged_other_bytes_per_second=changes.side_average(other_readings),
    )


def _with_full_links(comparison: Comparison, sides: Sides) -> Comparison:
    """The comparison with the links that explain its change, where it has one."""
    if comparison.verdict not in (Verdict.FASTER, Verdict.SLOWER):
        return comparison
    links = full_links_of(sides.base, sides.other, comparison.counted_base_rate, comparison.counted_other_rate)
    return replace(comparison, full_links=links)


def _equal_series_differ_by_percent(decision: ChangeDecision) -> float | None:
    """The most by which two equal series differ, 19 times in 20: c s √(1/1 + 1/1), one series a side.

    c are the standard errors of the interval (``critical``), and s the deviation of a series' average. None of
    interleaved runs, and of too few runs.
    """
    if decision.variation is None or decision.critical is None:
        return None
    return changes.percent_of(decision.critical * decision.variation.error(1, 1))


def _unless_settings_deny(
    decision: ChangeDecision, claimed: records.Change | None, sides: Sides, differing: Sequence[Difference]
) -> ChangeDecision:
    """The decision, or an inconclusive one where the claimed change was not in effect, or nothing was changed."""
    base = sides.base[0]
    other = sides.other[0]
    if claimed is not None and claimed.evidence is records.Evidence.CONTRADICTED:
        return replace(decision, verdict=Verdict.UNKNOWN, doubt=Doubt.CONTRADICTED, leaning_p_value=None)

    # In an experiment a restored change leaves the settings as they were.
    is_within_experiment = claimed is None and base.experiment == other.experiment
    was_restored = is_within_experiment and not sides.unseen and side_values.shows_its_change(base, other)
    is_same = (sides.equal or was_restored) and not differing
    if is_same and not sides.asks_for_unseen_change and decision.change_percent is not None:
        return replace(decision, verdict=Verdict.UNKNOWN, doubt=Doubt.SAME_SETTINGS, leaning_p_value=None)
    return decision
