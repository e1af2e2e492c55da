"""Compare sides of one or more series, using earlier series for the variation."""

import statistics as basic
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, takewhile
from types import MappingProxyType

from forms import wording
from forms.comparison.comparison import OWN_SIGNS, Comparison
from forms.comparison.hiccups import RunNumbers, RunPairs, answer_without, left_out_runs, rates_without
from forms.comparison.settling import OpenComparison, SettlingStep, cheapest_step, interleaved_seconds
from forms.findings.series_warnings import advice
from forms.stats.changes import percent_of, readings_of, side_average
from forms.stats.decision import (
    LEAST_RUNS,
    ChangeDecision,
    Doubt,
    Limits,
    Step,
    Verdict,
    confirmed_changes,
    decide,
    decide_interleaved,
    decide_together,
)
from forms.stats.distributions import student_t
from forms.stats.settle import needed_range, needed_runs, run_variation
from forms.stats.several import holm
from forms.stats.variation import DAY_SECONDS, SeriesGroup
from forms.trial.summary import TrialSummary
from forms.tuning.change_evidence import own_setting
from forms.tuning.differences import Difference, differences, differences_of_repeat, effective, parameter_of, prose
from storage.records import Change, Evidence, QuietVerdict, Run, Series


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What is compared: series of equal settings on each side."""

    base: tuple[Series, ...]
    other: tuple[Series, ...]
    history: tuple[tuple[Series, ...], ...] = ()
    equal: bool = False
    unseen: bool = False
    baseline: str = ""
    """The name that the base was given."""
    stands_in: bool = False
    """Whether these two, whose runs were interleaved, stand for series that were named."""
    interleaved_since: bool = False
    """Whether a comparison of just these two has interleaved runs, and so a better answer."""
    tried: TrialSummary | None = None
    """A whole trial of the change, newer than it."""
    tried_back: bool = False
    """Whether the base has the change, so that the trial says the reverse of these sides."""


def compare(base: Series, other: Series, limits: Limits | None = None) -> Comparison:
    return compare_sides(Sides(base=(base,), other=(other,)), limits or Limits())


def compare_several(several: Sequence[Sides], limits: Limits) -> list[Comparison]:
    """Several comparisons with a joint error of at most ``limits.alpha`` (Holm 1979)."""
    alone = [compare_sides(sides, limits) for sides in several]
    told = [
        index
        for index, one in enumerate(alone)
        if one.p_value is not None and one.interval_percent and one.doubt not in OWN_SIGNS
    ]
    levels = dict(zip(told, holm([alone[index].p_value or 0.0 for index in told], limits.alpha), strict=True))
    found = [
        compare_sides(sides, replace(limits, alpha=levels[index])) if index in levels else alone[index]
        for index, sides in enumerate(several)
    ]
    return [replace(one, settle=pair.settle or one.settle) for one, pair in zip(found, alone, strict=True)]


def compare_sides(sides: Sides, limits: Limits, *, settles: bool = True) -> Comparison:
    """A contradicted change or equal settings cancel the verdict; ``settles`` seeks a next step, and takes longest."""
    pairs = _interleaved_pairs(sides)
    decision = _decide(sides, pairs, limits)
    comparison = _compared(sides, decision, limits, pairs, settles=settles)
    if comparison.doubt not in _DOUBTS_OF_RUNS:
        return comparison
    names = _series_names(sides, comparison)
    without = answer_without((sides.base, sides.other), names, partial(_decide, sides, pairs, limits))
    return replace(comparison, without=without)


_DOUBTS_OF_RUNS = (Doubt.BASE_VARIED, Doubt.TREND, Doubt.VARYING)


def _decide(
    sides: Sides, pairs: RunPairs | None, limits: Limits, without: RunNumbers = MappingProxyType({})
) -> ChangeDecision:
    """The decision ``without`` some runs of the two sides."""
    if pairs is not None:
        left_out = {number for numbers in without.values() for number in numbers}
        return decide_interleaved(*_rates_of(pairs, left_out), limits=limits)
    base = _group(sides.base, without)
    other = _group(sides.other, without)
    history = _groups(sides.history)
    return decide(base.series, other.series, times=[*base.times, *other.times], history=history, limits=limits)


def compare_steps(steps: Sequence[Sides], limits: Limits) -> list[Comparison]:
    """Judge an experiment's steps and total jointly by one variation; interleaved steps pair by pair."""
    sides = {_ids(side): side for step in steps if not step.equal for side in (step.base, step.other)}
    places = {ids: place for place, ids in enumerate(sides)}
    pairs = [_interleaved_pairs(step) for step in steps]
    whole = [index for index, step in enumerate(steps) if pairs[index] is None and not step.equal]

    alpha = limits.alpha * (1 if len(whole) == len(steps) else len(whole) / len(steps))
    shared = replace(limits, alpha=alpha or limits.alpha)
    numbered = [Step(places[_ids(steps[index].base)], places[_ids(steps[index].other)]) for index in whole]
    history = _groups(steps[0].history) if steps else ()
    together = decide_together([_group(side) for side in sides.values()], numbered, history=history, limits=shared)
    decisions = dict(zip(whole, together, strict=True))

    each = replace(limits, alpha=limits.alpha / max(1, len(steps)))
    comparisons = []
    for index, step in enumerate(steps):
        of_step = pairs[index]
        if index in decisions:
            comparisons.append(_compared(step, decisions[index], limits))
        elif of_step is not None:
            comparisons.append(_compared(step, _decide(step, of_step, each), each, of_step))
        else:
            comparisons.append(compare_sides(step, limits))
    return comparisons


def _compared(
    sides: Sides, decision: ChangeDecision, limits: Limits, pairs: RunPairs | None = None, *, settles: bool = True
) -> Comparison:
    """The comparison of two sides on which this was decided, by whole series unless ``pairs`` of runs."""
    base, other = sides.base[0], sides.other[0]
    differing = differences(base, other)
    claimed = other.change if other.change and other.base_id in (None, base.id) else None
    decision = _unless_contradicted(decision, claimed, sides, differing)

    server_seen = all(_shows_parameters(one) for one in (base, other))
    changed = base.change or other.change or (sides.unseen and other.base_id is not None)
    is_alike = server_seen and not differing and not changed
    step = None
    if settles and not is_alike and _may_be_settled(sides, decision):
        step = _cheapest_step(sides, decision, limits, differing, claimed)

    base_name = wording.name_of(base, beside=other)
    if sides.baseline:
        base_name = f"baseline {wording.plain(sides.baseline)}"
    needed = _needed_runs(decision, pairs, limits, sides)
    history = [one for group in sides.history for one in group] if decision.variation else []
    newest = max((one.moment for one in history), default=None)
    comparison = Comparison(
        verdict=decision.verdict,
        doubt=decision.doubt,
        change_percent=decision.change_percent,
        interval_percent=decision.interval_percent,
        runs_interval_percent=decision.runs_interval_percent,
        p_value=decision.p_value,
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
        base_ids=tuple(one.id for one in sides.base),
        other_ids=tuple(one.id for one in sides.other),
        base_runs=sum(len(one.rates()) for one in sides.base),
        other_runs=sum(len(one.rates()) for one in sides.other),
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
    if decision.variation is None or decision.variation.alone:
        return comparison  # every run counts
    left_out = left_out_runs((sides.base, sides.other), _series_names(sides, comparison))
    return replace(
        comparison,
        left_out=left_out,
        judged_base_bytes_per_second=side_average(readings_of(_rates(sides.base))),
        judged_other_bytes_per_second=side_average(readings_of(_rates(sides.other))),
    )


def _cheapest_step(
    sides: Sides, decision: ChangeDecision, limits: Limits, differing: tuple[Difference, ...], claimed: Change | None
) -> SettlingStep | None:
    if decision.variation is None or decision.change_percent is None:
        return None
    alone = student_t(limits.level, decision.variation.freedom)
    return cheapest_step(
        OpenComparison(
            base=sides.base,
            other=sides.other,
            change_percent=decision.change_percent,
            variation=decision.variation,
            differing=differing,
            claimed=claimed,
            limits=limits,
            widened=(decision.critical or 0.0) / alone,
        )
    )


def _may_be_settled(sides: Sides, decision: ChangeDecision) -> bool:
    """Whether more measuring could settle it, and nothing has done so since."""
    is_open = decision.doubt in (Doubt.BASE_VARIED, Doubt.TREND)
    same_command = sides.base[0].command is sides.other[0].command
    return is_open and same_command and sides.tried is None and not sides.interleaved_since


def _series_names(sides: Sides, comparison: Comparison) -> dict[str, str]:
    names = {one.id: wording.name_of(one, beside=sides.other[0]) for one in sides.base}
    names |= {one.id: wording.name_of(one, beside=sides.base[0]) for one in sides.other}
    return {**names, comparison.base_id: comparison.base_name, comparison.other_id: comparison.other_name}


def _rates(side: Sequence[Series]) -> list[list[float]]:
    return [one.rates() for one in side]


def _average(side: Sequence[Series]) -> float | None:
    """The mean of the series' means of all their runs; None where a series has no run."""
    rates = _rates(side)
    return basic.fmean(map(basic.fmean, rates)) if all(rates) else None


def _deviation(side: Sequence[Series]) -> float | None:
    """The standard deviation of the runs, pooled over the series; None where a series has only one."""
    rates = _rates(side)
    if any(len(of_series) < 2 for of_series in rates):
        return None
    squares = sum(basic.variance(of_series) * (len(of_series) - 1) for of_series in rates)
    return float((squares / sum(len(of_series) - 1 for of_series in rates)) ** 0.5)


def _wander_percent(side: Sequence[Series]) -> float | None:
    """How far the averages of a side's series lie apart, in percent of their mean; None for a single series."""
    averages = [basic.fmean(rates) for rates in _rates(side) if rates]
    if len(averages) < 2:
        return None
    return 100 * (max(averages) - min(averages)) / basic.fmean(averages)


def _apart_percent(decision: ChangeDecision) -> float | None:
    """The most by which two equal series differ, 19 times in 20."""
    if decision.variation is None or decision.critical is None:
        return None
    return percent_of(decision.critical * decision.variation.error(1, 1))


def _busy_ids(sides: Sides) -> tuple[str, ...]:
    busy: list[str] = []
    for side in (sides.base, sides.other):
        if all(one.quiet_verdict is QuietVerdict.BUSY for one in side):
            busy += [one.id for one in side]
    return tuple(busy)


def _has_short_runs(series: Series) -> bool:
    return any(warning.key == "short" for warning in advice(series))


def _shows_parameters(series: Series) -> bool:
    return any(map(parameter_of, series.environment.get("server", {})))


def _moment(series: Series) -> float:
    return series.moment


def _ids(side: Sequence[Series]) -> frozenset[str]:
    return frozenset(one.id for one in side)


def _group(side: Sequence[Series], without: RunNumbers = MappingProxyType({})) -> SeriesGroup:
    rates = [rates_without(one, without.get(one.id, ())) for one in side]
    return SeriesGroup(rates, [one.moment for one in side])


def _groups(history: Sequence[Sequence[Series]]) -> list[SeriesGroup]:
    measured = [[one for one in group if one.measured()] for group in history]
    return [_group(group) for group in measured if group]


def _interleaved_pairs(sides: Sides) -> RunPairs | None:
    return paired_runs(sides.base[0], sides.other[0]) if len(sides.base) == len(sides.other) == 1 else None


def unseen_between(base_id: str, way: Sequence[Series]) -> bool:
    """Whether an unconfirmed change lies on the ``way`` down to the base, or the way ends elsewhere."""
    above = list(takewhile(lambda one: one.id != base_id, way))
    unproven = any(one.change and one.change.evidence is not Evidence.CONFIRMED for one in above)
    return unproven or not above or above[-1].base_id != base_id


def paired_runs(base: Series, other: Series) -> list[tuple[Run, Run]] | None:
    """Valid neighbours in interleaved runs, in either order; None where the runs are not interleaved."""
    mine = {run.number: run for run in base.measured() if run.started_at}
    theirs = {run.number: run for run in other.measured() if run.started_at}
    shared = sorted(mine.keys() & theirs.keys())
    if not shared or len(shared) < min(len(mine), len(theirs)) - 1:
        return None

    spans = [tuple(sorted((mine[number].started_at, theirs[number].started_at))) for number in shared]
    are_apart = all(before[1] <= after[0] for before, after in pairwise(spans))
    base_first = {mine[number].started_at < theirs[number].started_at for number in shared}
    if not are_apart or len(base_first) < 2:
        return None
    pairs = [(mine[number], theirs[number]) for number in shared]
    return [pair for pair in pairs if all(run.bytes_per_second is not None for run in pair)]


def paired_rates(base: Series, other: Series) -> tuple[list[float], list[float]] | None:
    """The rates of :func:`paired_runs`."""
    pairs = paired_runs(base, other)
    return None if pairs is None else _rates_of(pairs)


def _rates_of(pairs: RunPairs, without: Collection[int] = ()) -> tuple[list[float], list[float]]:
    """Both sides' rates, ``without`` the pairs of these numbers."""
    kept = [(base, other) for base, other in pairs if base.number not in without]
    return [base.bytes_per_second or 0.0 for base, _ in kept], [other.bytes_per_second or 0.0 for _, other in kept]


def _unless_contradicted(
    decision: ChangeDecision, claimed: Change | None, sides: Sides, differing: Sequence[Difference]
) -> ChangeDecision:
    base, other = sides.base[0], sides.other[0]
    if claimed is not None and claimed.evidence is Evidence.CONTRADICTED:
        return replace(decision, verdict=Verdict.UNKNOWN, doubt=Doubt.CONTRADICTED)
    within = claimed is None and base.experiment == other.experiment
    taken_back = within and not sides.unseen and _shows_its_change(base, other)
    if (sides.equal or taken_back) and not differing and decision.change_percent is not None:
        return replace(decision, verdict=Verdict.UNKNOWN, doubt=Doubt.SAME_SETTINGS)
    return decision


def _shows_its_change(base: Series, other: Series) -> bool:
    if other.change is None or other.change.evidence is not Evidence.CONFIRMED:
        return False
    seen = (effective(one.environment.get("server", {}), other.change.name) for one in (base, other))
    return own_setting(other.change.name) is not None or all(value is not None for value in seen)


@dataclass(frozen=True, slots=True)
class _NeededRuns:
    """The runs a side that would settle it, as far as they are known."""

    runs: int | None = None
    runs_range: tuple[int, int | None] | None = None
    seconds: float | None = None


def _needed_runs(decision: ChangeDecision, pairs: RunPairs | None, limits: Limits, sides: Sides) -> _NeededRuns:
    if decision.doubt in (Doubt.NO_RUNS, Doubt.FEW_RUNS):
        return _NeededRuns(runs=LEAST_RUNS)
    can_be_told = decision.doubt is Doubt.VARYING and limits.noise_percent < limits.margin_percent
    change = decision.change_percent
    if pairs is None or change is None or not can_be_told:
        return _NeededRuns()
    variation = run_variation(*_rates_of(pairs), paired=True)
    if variation is None:
        return _NeededRuns()

    least = variation.runs + 1
    runs = needed_runs(change, variation, limits)
    low, high = needed_range(change, variation, limits)
    timed = [run.seconds for one in (*sides.base, *sides.other) for run in one.measured() if run.seconds]
    return _NeededRuns(
        runs=None if runs is None else max(least, runs),
        runs_range=(max(least, low), None if high is None else max(least, high)),
        seconds=interleaved_seconds(max(least, runs), basic.fmean(timed)) if runs and timed else None,
    )


@dataclass(frozen=True, slots=True)
class HistoryGroup:
    """Series of one path at one level, and why the group begins: a reason, or the change that was confirmed."""

    series: tuple[Series, ...]
    why: str = ""
    verdict: Verdict | None = None


def groups_of(
    earlier: Sequence[Series], base: Series, new_normal: Collection[str] = ()
) -> tuple[tuple[Series, ...], ...]:
    """Earlier series equal to the base, cut at changes, differences and each ``new_normal``, the oldest first."""
    groups = history_groups([one for one in earlier if path_of(one) == path_of(base)], new_normal)
    return tuple(group.series for group in groups if not differences_of_repeat(group.series[-1], base))


def history_groups(series: Sequence[Series], new_normal: Collection[str] = ()) -> list[HistoryGroup]:
    """The measured series of a path, oldest first, in groups of one level and the same settings."""
    groups: list[tuple[list[Series], str]] = []
    for one in series:
        if not one.measured():
            continue
        why = _why_new(groups[-1][0][-1], one, new_normal) if groups else ""
        if why is None:
            groups[-1][0].append(one)
        else:
            groups.append(([one], why))
    return [part for group, why in groups for part in _at_confirmed_changes(group, why)]


def _why_new(last: Series, one: Series, new_normal: Collection[str]) -> str | None:
    if one.id in new_normal:
        return "new normal"
    if one.change is not None:
        return wording.plain(wording.changed(one.change))
    differing = differences_of_repeat(last, one)
    return wording.plain(prose(differing)) if differing else None


def _at_confirmed_changes(group: Sequence[Series], why: str) -> Iterator[HistoryGroup]:
    changes = confirmed_changes([one.rates() for one in group], [one.moment for one in group])
    begins: list[tuple[int, str, Verdict | None]] = [(0, why, None), *((at, "", verdict) for at, verdict in changes)]
    ends = [*(begin for begin, *_ in begins[1:]), len(group)]
    for (begin, reason, verdict), end in zip(begins, ends, strict=True):
        yield HistoryGroup(tuple(group[begin:end]), reason, verdict)


def path_of(series: Series) -> tuple[object, ...]:
    target = replace(series.target, user=None, domain=None)
    return target, series.client.name, series.command, {run.size_bytes for run in series.measured()}
