"""Compare two sides of one or more series: the decision of the statistics, and what it leaves out or leads to.

One comparison alone is :func:`compare_sides`. Where several are made at once, an error in any of them counts:
:func:`compare_several` keeps the verdicts that somebody asked for together at the level of one (Holm 1979), and
:func:`compare_steps` those of an experiment, whose steps share one variation. A *pair* is two neighbouring runs of
interleaved series; without pairs the averages of whole series are judged.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from types import MappingProxyType

from forms.comparison import hiccups, judged_sides, what_settles
from forms.comparison.comparison import OWN_SIGNS, Comparison
from forms.comparison.doubts.outstanding_series import outstanding_series
from forms.comparison.making import make_comparison
from forms.comparison.pairs import rates_of_pairs
from forms.comparison.side_values import names_of_sides
from forms.stats import verdict_rule
from forms.stats.decision import ChangeDecision, Doubt, Limits
from forms.stats.several import holm
from storage import records

_DOUBTS_OF_RUNS = (Doubt.BASE_VARIED, Doubt.TREND, Doubt.VARYING)
"""The doubts that come of how runs or series vary, and so may vanish without some of the runs."""


def compare(base: records.Series, other: records.Series, limits: Limits | None = None) -> Comparison:
    """Compare two series by themselves."""
    return compare_sides(judged_sides.Sides(base=(base,), other=(other,)), limits or Limits())


def compare_sides(sides: judged_sides.Sides, limits: Limits, *, finds_settling_step: bool = True) -> Comparison:
    """Compare two sides.

    A contradicted change, or equal settings, take the verdict back. ``finds_settling_step``: whether to look for a
    measurement that would settle an open answer, which takes longest.
    """
    pairs = judged_sides.interleaved_pairs(sides)
    decision = _decide(sides, pairs, limits)
    comparison = make_comparison(sides, decision, limits, pairs, finds_settling_step=finds_settling_step)
    if finds_settling_step and pairs is None:
        interval = what_settles.interval_after_repeat(sides, comparison, partial(_decide, pairs=None, limits=limits))
        comparison = replace(comparison, interval_after_repeat_percent=interval)
    if sides.with_repeats is not None:
        with_repeats = compare_sides(sides.with_repeats, limits, finds_settling_step=False)
        comparison = replace(comparison, with_repeats=with_repeats)
    if pairs is None and comparison.doubt not in OWN_SIGNS:
        outstanding = outstanding_series(sides, partial(_decide, pairs=None, limits=limits))
        comparison = replace(comparison, outstanding=tuple(outstanding))
    if comparison.doubt not in _DOUBTS_OF_RUNS:
        return comparison

    decide_without = partial(_decide, sides, pairs, limits)
    alternative = hiccups.answer_without((sides.base, sides.other), comparison.names, decide_without)
    return replace(comparison, without=alternative)


def compare_several(several: Sequence[judged_sides.Sides], limits: Limits) -> list[Comparison]:
    """Several comparisons, of which the chance that any verdict is wrong is at most ``limits.alpha`` (Holm 1979).

    Their intervals are of one level, so that a surer change has no wider one, and hold together (Bonferroni). Where
    only Holm's level gives a verdict, that comparison has its interval of that level.
    """
    names = names_of_sides(several)
    several = [replace(sides, called=names) for sides in several]
    by_themselves = [compare_sides(sides, limits) for sides in several]
    judged = [place for place, comparison in enumerate(by_themselves) if _is_judged_by_its_p(comparison)]
    alphas = holm([by_themselves[place].p_value or 0.0 for place in judged], limits.alpha)
    alpha_of = dict(zip(judged, alphas, strict=True))

    comparisons = []
    for place, sides in enumerate(several):
        comparison = by_themselves[place]
        # One that is judged alone has all of alpha, as it had by itself.
        if place in alpha_of and len(judged) > 1:
            joint_limits = replace(limits, alpha=limits.alpha / len(judged))
            own_limits = replace(limits, alpha=alpha_of[place])
            comparison = _compare_beside_others(sides, joint_limits, own_limits)
        # What settles a comparison by itself settles it, however many others are judged beside it.
        step = by_themselves[place].settle or comparison.settle
        comparisons.append(replace(comparison, settle=step))
    return comparisons


def _compare_beside_others(sides: judged_sides.Sides, joint_limits: Limits, own_limits: Limits) -> Comparison:
    """The comparison at the level of all, or at its own one where only that gives a verdict."""
    joint = compare_sides(sides, joint_limits)
    if joint.known or own_limits.alpha <= joint_limits.alpha:
        return joint
    own = compare_sides(sides, own_limits)
    return own if own.known else joint


def _is_judged_by_its_p(comparison: Comparison) -> bool:
    """Whether its verdict depends on alpha: there are figures for one, and the settings do not deny it."""
    has_test = comparison.p_value is not None and comparison.interval_percent is not None
    return has_test and comparison.doubt not in OWN_SIGNS


def compare_steps(steps: Sequence[judged_sides.Sides], limits: Limits) -> list[Comparison]:
    """Judge an experiment's steps, and its gain in all, so that all of them hold together.

    The steps of whole series are judged by one variation; each interleaved step by its own pairs of runs.
    """
    pairs = [judged_sides.interleaved_pairs(step) for step in steps]
    by_series = [place for place, step in enumerate(steps) if pairs[place] is None and not step.equal]

    # Each step gets an equal part of alpha: those of whole series together theirs, each interleaved one its own.
    joint_share = 1 if len(by_series) == len(steps) else len(by_series) / len(steps)
    joint_alpha = limits.alpha * joint_share
    # Without a step of whole series nothing is judged by the joint limits: any alpha will do, but for 0.
    joint_limits = replace(limits, alpha=joint_alpha or limits.alpha)
    own_limits = replace(limits, alpha=limits.alpha / max(1, len(steps)))
    decisions = dict(zip(by_series, _decide_steps(steps, by_series, joint_limits), strict=True))

    comparisons = []
    for place, step in enumerate(steps):
        pairs_of_step = pairs[place]
        if place in decisions:
            comparisons.append(make_comparison(step, decisions[place], limits))
        elif pairs_of_step is not None:
            decision = _decide(step, pairs_of_step, own_limits)
            comparisons.append(make_comparison(step, decision, own_limits, pairs_of_step))
        else:
            comparisons.append(compare_sides(step, limits))

    # Of many steps one in five would lean by chance alone.
    return [replace(comparison, leaning_p_value=None) for comparison in comparisons]


def _decide_steps(
    steps: Sequence[judged_sides.Sides], by_series: Sequence[int], limits: Limits
) -> list[ChangeDecision]:
    """The decisions on the steps at the places ``by_series``, by the variation of all groups in an experiment."""
    # A group is named by the ids of its series: the base of one step may be the other side of the step before.
    groups: dict[frozenset[str], tuple[records.Series, ...]] = {}
    for step in steps:
        if not step.equal:
            groups[judged_sides.ids_of_side(step.base)] = step.base
            groups[judged_sides.ids_of_side(step.other)] = step.other
    place_of_group = {ids: place for place, ids in enumerate(groups)}

    steps_of_groups = []
    for place in by_series:
        base_place = place_of_group[judged_sides.ids_of_side(steps[place].base)]
        other_place = place_of_group[judged_sides.ids_of_side(steps[place].other)]
        steps_of_groups.append(verdict_rule.Step(base_place, other_place))

    measured_groups = [judged_sides.group_of_side(side) for side in groups.values()]
    # All steps are of one path, so that each has the same history.
    history = judged_sides.groups_of_history(steps[0].history) if steps else ()
    return verdict_rule.decide_together(measured_groups, steps_of_groups, history=history, limits=limits)


def _decide(
    sides: judged_sides.Sides,
    pairs: hiccups.RunPairs | None,
    limits: Limits,
    without: hiccups.RunNumbers = MappingProxyType({}),
) -> ChangeDecision:
    """The decision on two sides, by ``pairs`` of runs if there are any; ``without`` some of their runs."""
    if pairs is not None:
        # The runs of a pair share a number, so whichever of them is left out takes the other along.
        left_out = set(chain.from_iterable(without.values()))
        base_rates, other_rates = rates_of_pairs(pairs, left_out)
        return verdict_rule.decide_interleaved(base_rates, other_rates, limits=limits)

    base = judged_sides.group_of_side(sides.base, without)
    other = judged_sides.group_of_side(sides.other, without)
    times = [*base.times, *other.times]
    history = judged_sides.groups_of_history(sides.history)
    return verdict_rule.decide(base.series, other.series, times=times, history=history, limits=limits)
