"""Compare sides of one or more series, using earlier series for the variation."""

import statistics as basic
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from types import MappingProxyType

from forms import wording
from forms.comparison import hiccups, settling
from forms.comparison.comparison import OWN_SIGNS, Comparison
from forms.comparison.pairs import paired_runs, rates_of_pairs
from forms.findings.series_warnings import advice
from forms.stats import changes, settle
from forms.stats.decision import (
    LEAST_RUNS,
    ChangeDecision,
    Doubt,
    Limits,
    Step,
    Verdict,
    decide,
    decide_interleaved,
    decide_together,
)
from forms.stats.distributions import student_t
from forms.stats.several import holm
from forms.stats.variation import DAY_SECONDS, SeriesGroup
from forms.trial.summary import TrialSummary
from forms.tuning.change_evidence import own_setting
from forms.tuning.differences import (
    Difference,
    differences,
    effective,
    parameter_of,
)
from storage import records


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What is compared: series of equal settings on each side."""

    base: tuple[records.Series, ...]
    """The series that was named comes first, on either side; the others repeat it."""
    other: tuple[records.Series, ...]
    history: tuple[tuple[records.Series, ...], ...] = ()
    """Earlier series of the path in groups of equal settings, which tell how far equal series differ."""
    equal: bool = False
    """Whether both sides are of the same settings, so that there is no change to find."""
    unseen: bool = False
    """Whether a change on the way from the base to the other is unknown, or was not confirmed."""
    baseline: str = ""
    """The name that the base was given as a baseline; empty without one."""
    stands_in: bool = False
    """Whether these two, whose runs were interleaved, stand for series that were named."""
    interleaved_since: bool = False
    """Whether a comparison of just these two has interleaved runs, and so a better answer."""
    tried: TrialSummary | None = None
    """A whole trial of the change, newer than it."""
    tried_back: bool = False
    """Whether the base has the change, so that the trial says the reverse of these sides."""


def compare(base: records.Series, other: records.Series, limits: Limits | None = None) -> Comparison:
    return compare_sides(Sides(base=(base,), other=(other,)), limits or Limits())


def compare_several(several: Sequence[Sides], limits: Limits) -> list[Comparison]:
    """Several comparisons with a joint error of at most ``limits.alpha`` (Holm 1979)."""
    single = [compare_sides(sides, limits) for sides in several]
    judged = [index for index, comparison in enumerate(single) if _has_verdict_of_its_own(comparison)]
    levels = holm([single[index].p_value or 0.0 for index in judged], limits.alpha)
    level_of = dict(zip(judged, levels, strict=True))

    comparisons = []
    for index, sides in enumerate(several):
        comparison = single[index]
        if index in level_of:
            comparison = compare_sides(sides, replace(limits, alpha=level_of[index]))
        # What settles a comparison by itself settles it, however many others are judged beside it.
        comparisons.append(replace(comparison, settle=single[index].settle or comparison.settle))
    return comparisons


def _has_verdict_of_its_own(comparison: Comparison) -> bool:
    has_test = comparison.p_value is not None and comparison.interval_percent is not None
    return has_test and comparison.doubt not in OWN_SIGNS


def compare_sides(sides: Sides, limits: Limits, *, settles: bool = True) -> Comparison:
    """A contradicted change or equal settings cancel the verdict; ``settles`` seeks a next step, and takes longest."""
    pairs = _pairs_of_sides(sides)
    decision = _decide(sides, pairs, limits)
    comparison = _make_comparison(sides, decision, limits, pairs, settles=settles)
    # Only a doubt that comes of how runs vary may vanish without some of them.
    if comparison.doubt not in _DOUBTS_OF_RUNS:
        return comparison

    names = _series_names(sides, comparison)
    without = hiccups.answer_without((sides.base, sides.other), names, partial(_decide, sides, pairs, limits))
    return replace(comparison, without=without)


# The doubts that come of how runs or series vary.
_DOUBTS_OF_RUNS = (Doubt.BASE_VARIED, Doubt.TREND, Doubt.VARYING)


def _decide(
    sides: Sides, pairs: hiccups.RunPairs | None, limits: Limits, without: hiccups.RunNumbers = MappingProxyType({})
) -> ChangeDecision:
    """The decision ``without`` some runs of the two sides."""
    if pairs is not None:
        # The runs of a pair share a number, so whichever of them is left out takes the other along.
        left_out = set(chain.from_iterable(without.values()))
        base_rates, other_rates = rates_of_pairs(pairs, left_out)
        return decide_interleaved(base_rates, other_rates, limits=limits)

    base = _group(sides.base, without)
    other = _group(sides.other, without)
    history = _groups(sides.history)
    return decide(base.series, other.series, times=[*base.times, *other.times], history=history, limits=limits)


def compare_steps(steps: Sequence[Sides], limits: Limits) -> list[Comparison]:
    """Judge an experiment's steps and total jointly by one variation; interleaved steps pair by pair."""
    pairs = [_pairs_of_sides(step) for step in steps]
    by_series = [index for index, step in enumerate(steps) if pairs[index] is None and not step.equal]

    # Together the steps of whole series get their share of alpha, and each interleaved step gets its own.
    joint_alpha = limits.alpha * (1 if len(by_series) == len(steps) else len(by_series) / len(steps))
    joint_limits = replace(limits, alpha=joint_alpha or limits.alpha)
    own_limits = replace(limits, alpha=limits.alpha / max(1, len(steps)))
    decisions = dict(zip(by_series, _decide_steps(steps, by_series, joint_limits), strict=True))

    comparisons = []
    for index, step in enumerate(steps):
        pairs_of_step = pairs[index]
        if index in decisions:
            comparisons.append(_make_comparison(step, decisions[index], limits))
        elif pairs_of_step is not None:
            decision = _decide(step, pairs_of_step, own_limits)
            comparisons.append(_make_comparison(step, decision, own_limits, pairs_of_step))
        else:
            comparisons.append(compare_sides(step, limits))

    # Of many steps one in five would lean by chance alone.
    return [replace(comparison, leaning_p_value=None) for comparison in comparisons]


def _decide_steps(steps: Sequence[Sides], by_series: Sequence[int], limits: Limits) -> list[ChangeDecision]:
    """The decisions on the steps at the places ``by_series``, by the variation of all groups in an experiment."""
    groups: dict[frozenset[str], tuple[records.Series, ...]] = {}
    for step in steps:
        if not step.equal:
            groups[_ids(step.base)] = step.base
            groups[_ids(step.other)] = step.other

    places = {ids: place for place, ids in enumerate(groups)}
    numbered = [Step(places[_ids(steps[index].base)], places[_ids(steps[index].other)]) for index in by_series]
    history = _groups(steps[0].history) if steps else ()
    return decide_together([_group(side) for side in groups.values()], numbered, history=history, limits=limits)


def _make_comparison(
    sides: Sides,
    decision: ChangeDecision,
    limits: Limits,
    pairs: hiccups.RunPairs | None = None,
    *,
    settles: bool = True,
) -> Comparison:
    """The comparison of two sides on which this was decided, by whole series unless ``pairs`` of runs."""
    base = sides.base[0]
    other = sides.other[0]
    differing = differences(base, other)
    claimed = other.change if other.change and other.base_id in (None, base.id) else None
    decision = _unless_contradicted(decision, claimed, sides, differing)

    server_seen = all(_shows_parameters(series) for series in (base, other))
    changed = base.change or other.change or (sides.unseen and other.base_id is not None)
    is_alike = server_seen and not differing and not changed

    step = None
    if settles and not is_alike and _may_be_settled(sides, decision):
        step = _cheapest_step(sides, decision, limits, differing, claimed)

    base_name = wording.name_of(base, beside=other)
    if sides.baseline:
        base_name = f"baseline {wording.plain(sides.baseline)}"
    needed = _needed_runs(decision, pairs, limits, sides)
    # Pairs of runs have no variation between series, so that no earlier series took part in judging them.
    history = list(chain.from_iterable(sides.history)) if decision.variation else []
    newest = max((series.moment for series in history), default=None)

    comparison = Comparison(
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
        needed_runs=needed.runs,
        needed_runs_range=needed.runs_range,
        needed_seconds=needed.seconds,
        base_id=base.id,
        other_id=other.id,
        base_name=base_name,
        other_name=wording.name_of(other, beside=base),
        base_ids=tuple(series.id for series in sides.base),
        other_ids=tuple(series.id for series in sides.other),
        base_runs=sum(len(series.rates()) for series in sides.base),
        other_runs=sum(len(series.rates()) for series in sides.other),
        base_bytes_per_second=_average(sides.base),
        other_bytes_per_second=_average(sides.other),
        base_deviation_bytes_per_second=_deviation(sides.base),
        other_deviation_bytes_per_second=_deviation(sides.other),
        needed_series=step.series_a_side if step else None,
        apart_percent=_apart_percent(decision),
        history_count=len(history),
        history_days=None if newest is None else max(0.0, other.moment - newest) / DAY_SECONDS,
        settle=step,
        base_wander_percent=_wander_percent(sides.base),
        limits=limits,
        differences=differing,
        busy_ids=_busy_ids(sides),
        has_short_runs=decision.doubt is Doubt.SAME_SETTINGS and _has_short_runs(max(base, other, key=_moment)),
        server_seen=server_seen,
        is_alike=is_alike,
        change=claimed,
        tried=sides.tried,
        tried_back=sides.tried_back,
        stands_in=sides.stands_in,
        interleaved_since=sides.interleaved_since,
    )
    # Of interleaved runs and of alternating series every run counts.
    if decision.variation is None or decision.variation.sides_alternate:
        return comparison

    left_out = hiccups.left_out_runs((sides.base, sides.other), _series_names(sides, comparison))
    return replace(
        comparison,
        left_out=left_out,
        judged_base_bytes_per_second=changes.side_average(changes.readings_of(_rates(sides.base))),
        judged_other_bytes_per_second=changes.side_average(changes.readings_of(_rates(sides.other))),
    )


def _cheapest_step(
    sides: Sides,
    decision: ChangeDecision,
    limits: Limits,
    differing: tuple[Difference, ...],
    claimed: records.Change | None,
) -> settling.SettlingStep | None:
    if decision.variation is None or decision.change_percent is None:
        return None

    single = student_t(limits.level, decision.variation.freedom)
    return settling.cheapest_step(
        settling.OpenComparison(
            base=sides.base,
            other=sides.other,
            change_percent=decision.change_percent,
            variation=decision.variation,
            differing=differing,
            claimed=claimed,
            limits=limits,
            widening=(decision.critical or 0.0) / single,
        )
    )


def _may_be_settled(sides: Sides, decision: ChangeDecision) -> bool:
    """Whether more measuring could settle it, and nothing has done so since."""
    is_open = decision.doubt in (Doubt.BASE_VARIED, Doubt.TREND)
    same_command = sides.base[0].command is sides.other[0].command
    return is_open and same_command and sides.tried is None and not sides.interleaved_since


def _series_names(sides: Sides, comparison: Comparison) -> dict[str, str]:
    names = {series.id: wording.name_of(series, beside=sides.other[0]) for series in sides.base}
    names |= {series.id: wording.name_of(series, beside=sides.base[0]) for series in sides.other}
    return {**names, comparison.base_id: comparison.base_name, comparison.other_id: comparison.other_name}


def _rates(side: Sequence[records.Series]) -> list[list[float]]:
    return [series.rates() for series in side]


def _average(side: Sequence[records.Series]) -> float | None:
    """The mean of the series' means of all their runs; None where a series has no run."""
    rates = _rates(side)
    return basic.fmean(map(basic.fmean, rates)) if all(rates) else None


def _deviation(side: Sequence[records.Series]) -> float | None:
    """The standard deviation of the runs, pooled over the series; None where a series has only one."""
    rates = _rates(side)
    if any(len(series_rates) < 2 for series_rates in rates):
        return None
    squares = sum(basic.variance(series_rates) * (len(series_rates) - 1) for series_rates in rates)
    freedom = sum(len(series_rates) - 1 for series_rates in rates)
    return float((squares / freedom) ** 0.5)


def _wander_percent(side: Sequence[records.Series]) -> float | None:
    """How far the averages of a side's series lie apart, in percent of their mean; None for a single series."""
    averages = [basic.fmean(rates) for rates in _rates(side) if rates]
    if len(averages) < 2:
        return None
    return 100 * (max(averages) - min(averages)) / basic.fmean(averages)


def _apart_percent(decision: ChangeDecision) -> float | None:
    """The most by which two equal series differ, 19 times in 20."""
    if decision.variation is None or decision.critical is None:
        return None
    return changes.percent_of(decision.critical * decision.variation.error(1, 1))


def _busy_ids(sides: Sides) -> tuple[str, ...]:
    busy: list[str] = []
    for side in (sides.base, sides.other):
        if all(series.quiet_verdict is records.QuietVerdict.BUSY for series in side):
            busy += [series.id for series in side]
    return tuple(busy)


def _has_short_runs(series: records.Series) -> bool:
    return any(warning.key == "short" for warning in advice(series))


def _shows_parameters(series: records.Series) -> bool:
    return any(map(parameter_of, series.environment.get("server", {})))


def _moment(series: records.Series) -> float:
    return series.moment


def _ids(side: Sequence[records.Series]) -> frozenset[str]:
    return frozenset(series.id for series in side)


def _group(side: Sequence[records.Series], without: hiccups.RunNumbers = MappingProxyType({})) -> SeriesGroup:
    rates = [hiccups.rates_without(series, without.get(series.id, ())) for series in side]
    return SeriesGroup(rates, [series.moment for series in side])


def _groups(history: Sequence[Sequence[records.Series]]) -> list[SeriesGroup]:
    groups = []
    for series_of_group in history:
        measured = [series for series in series_of_group if series.measured()]
        if measured:
            groups.append(_group(measured))
    return groups


def _pairs_of_sides(sides: Sides) -> hiccups.RunPairs | None:
    """The pairs of interleaved runs, where a series stands on each side; else None."""
    if len(sides.base) != 1 or len(sides.other) != 1:
        return None
    return paired_runs(sides.base[0], sides.other[0])


def unseen_between(base_id: str, way: Sequence[records.Series]) -> bool:
    """Whether an unconfirmed change lies on the ``way`` down to the base, or the way ends elsewhere."""
    above: list[records.Series] = []
    for series in way:
        if series.id == base_id:
            break
        above.append(series)
    if not above or above[-1].base_id != base_id:
        return True
    return any(series.change and series.change.evidence is not records.Evidence.CONFIRMED for series in above)


def _unless_contradicted(
    decision: ChangeDecision, claimed: records.Change | None, sides: Sides, differing: Sequence[Difference]
) -> ChangeDecision:
    base = sides.base[0]
    other = sides.other[0]
    if claimed is not None and claimed.evidence is records.Evidence.CONTRADICTED:
        return replace(decision, verdict=Verdict.UNKNOWN, doubt=Doubt.CONTRADICTED, leaning_p_value=None)

    # In an experiment a restored change leaves the settings as they were.
    is_within = claimed is None and base.experiment == other.experiment
    taken_back = is_within and not sides.unseen and _shows_its_change(base, other)
    if (sides.equal or taken_back) and not differing and decision.change_percent is not None:
        return replace(decision, verdict=Verdict.UNKNOWN, doubt=Doubt.SAME_SETTINGS, leaning_p_value=None)
    return decision


def _shows_its_change(base: records.Series, other: records.Series) -> bool:
    if other.change is None or other.change.evidence is not records.Evidence.CONFIRMED:
        return False
    if own_setting(other.change.name) is not None:
        return True
    return all(
        effective(series.environment.get("server", {}), other.change.name) is not None for series in (base, other)
    )


@dataclass(frozen=True, slots=True)
class _NeededRuns:
    """The runs a side that would settle it, as far as they are known."""

    runs: int | None = None
    runs_range: tuple[int, int | None] | None = None
    seconds: float | None = None


def _needed_runs(decision: ChangeDecision, pairs: hiccups.RunPairs | None, limits: Limits, sides: Sides) -> _NeededRuns:
    if decision.doubt in (Doubt.NO_RUNS, Doubt.FEW_RUNS):
        return _NeededRuns(runs=LEAST_RUNS)
    can_be_told = decision.doubt is Doubt.VARYING and limits.noise_percent < limits.margin_percent
    change = decision.change_percent
    if pairs is None or change is None or not can_be_told:
        return _NeededRuns()
    variation = settle.run_variation(*rates_of_pairs(pairs), paired=True)
    if variation is None:
        return _NeededRuns()

    least = variation.runs + 1
    runs = settle.needed_runs(change, variation, limits)
    low, high = settle.needed_range(change, variation, limits)
    runs_of_both = chain.from_iterable(series.measured() for series in (*sides.base, *sides.other))
    timed = [run.seconds for run in runs_of_both if run.seconds]
    return _NeededRuns(
        runs=None if runs is None else max(least, runs),
        runs_range=(max(least, low), None if high is None else max(least, high)),
        seconds=settling.interleaved_seconds(max(least, runs), basic.fmean(timed)) if runs and timed else None,
    )
