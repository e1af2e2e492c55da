"""Compare sides of one or more series, using earlier series for the variation."""

import statistics as basic
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import Any

from forms import wording
from forms.comparison.comparison import OWN_SIGNS, Comparison, cheapest_step, interleaved_seconds
from forms.comparison.differences import Difference, differences, differences_of_repeat, effective, parameter_of, prose
from forms.findings.series_warnings import advice
from forms.stats.decision import (
    DAY_SECONDS,
    LEAST_RUNS,
    ChangeDecision,
    Doubt,
    Limits,
    SeriesGroup,
    Step,
    Verdict,
    average,
    confirmed_changes,
    decide,
    decide_interleaved,
    decide_together,
    holm,
    percent_of,
)
from forms.stats.settle import needed_range, needed_runs, run_variation
from forms.stats.summary import student_t
from forms.trials.summary import TrialSummary
from forms.tuning.change_evidence import own_setting
from storage.json_reader import named
from storage.records import Change, Evidence, QuietVerdict, Series


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
    turns = _interleaved(sides)
    if turns:
        return _compared(sides, decide_interleaved(*turns, limits=limits), limits, turns)
    one, two = _group(sides.base), _group(sides.other)
    decision = decide(
        one.series, two.series, times=[*one.times, *two.times], history=_groups(sides.history), limits=limits
    )
    return _compared(sides, decision, limits, settles=settles)


def compare_steps(steps: Sequence[Sides], limits: Limits) -> list[Comparison]:
    """Judge an experiment's steps and total jointly by one variation; interleaved steps pair by pair."""
    sides = {_ids(side): side for step in steps if not step.equal for side in (step.base, step.other)}
    places = {ids: place for place, ids in enumerate(sides)}
    turns = [_interleaved(step) for step in steps]
    whole = [index for index, found in enumerate(turns) if found is None and not steps[index].equal]
    alpha = limits.alpha * (1 if len(whole) == len(steps) else len(whole) / len(steps))
    shared = replace(limits, alpha=alpha or limits.alpha)
    numbered = [Step(places[_ids(steps[index].base)], places[_ids(steps[index].other)]) for index in whole]
    history = _groups(steps[0].history) if steps else ()
    together = decide_together([_group(side) for side in sides.values()], numbered, history=history, limits=shared)
    decided = dict(zip(whole, together, strict=True))
    each = replace(limits, alpha=limits.alpha / max(1, len(steps)))
    return [
        _compared(step, decided[index], limits)
        if index in decided
        else _compared(step, decide_interleaved(*found, limits=each), each, found)
        if (found := turns[index])
        else compare_sides(step, limits)
        for index, step in enumerate(steps)
    ]


def _compared(
    sides: Sides,
    decision: ChangeDecision,
    limits: Limits,
    turns: tuple[list[float], list[float]] | None = None,
    *,
    settles: bool = True,
) -> Comparison:
    base, other = sides.base[0], sides.other[0]
    left, right = [one.rates() for one in sides.base], [one.rates() for one in sides.other]
    differing = differences(base, other)
    claimed = other.change if other.change and other.base_id in (None, base.id) else None
    decision = _unless_contradicted(decision, claimed, sides, differing)
    found, wide = decision.variation, decision.critical
    server_seen = all(any(map(parameter_of, one.environment.get("server", {}))) for one in (base, other))
    changed = base.change or other.change or (sides.unseen and other.base_id is not None)
    is_alike = server_seen and not differing and not changed
    step = None
    settles = (
        settles
        and sides.tried is None
        and not sides.interleaved_since
        and not is_alike
        and base.command is other.command
        and decision.doubt in (Doubt.BASE_VARIED, Doubt.TREND)
    )
    if settles and found and decision.change_percent is not None:
        step = cheapest_step(
            sides.base, sides.other, decision.change_percent, found.run_deviation, repeats=found.repeats,
            differing=differing, claimed=claimed, limits=limits,
            widened=(wide or 0.0) / student_t(limits.level, found.freedom),
        )  # fmt: skip
    history = [one for group in sides.history for one in group] if found else []
    newest, means = max((one.moment for one in history), default=None), [basic.fmean(rates) for rates in left if rates]
    return Comparison(
        **named(decision, *ChangeDecision.__dataclass_fields__), **_needs(decision, turns, limits, sides),
        base_id=base.id,
        other_id=other.id,
        base_name=f"baseline {wording.plain(sides.baseline)}"
        if sides.baseline
        else wording.name_of(base, beside=other), other_name=wording.name_of(other, beside=base),
        base_ids=tuple(one.id for one in sides.base), other_ids=tuple(one.id for one in sides.other),
        base_runs=sum(map(len, left)), other_runs=sum(map(len, right)),
        base_bytes_per_second=average(left) if all(left) else None,
        other_bytes_per_second=average(right) if all(right) else None,
        needed_series=step.series_a_side if step else None,
        apart_percent=percent_of(wide * found.deviation_percent / 100 * 2**0.5) if found and wide is not None else None,
        history_count=len(history),
        history_days=None if newest is None else max(0.0, other.moment - newest) / DAY_SECONDS, settle=step,
        base_wander_percent=100 * (max(means) - min(means)) / basic.fmean(means) if len(means) > 1 else None,
        limits=limits, differences=differing,
        busy_ids=tuple(
            one.id
            for side in (sides.base, sides.other)
            for one in side
            if all(each.quiet_verdict is QuietVerdict.BUSY for each in side)
        ),
        has_short_runs=decision.doubt is Doubt.SAME_SETTINGS
        and any(said.key == "short" for said in advice(max((base, other), key=lambda one: one.moment))),
        server_seen=server_seen, is_alike=is_alike,
        change=claimed, **named(sides, "tried", "tried_back", "stands_in", "interleaved_since"),
    )  # fmt: skip


def _ids(side: Sequence[Series]) -> frozenset[str]:
    return frozenset(one.id for one in side)


def _group(side: Sequence[Series]) -> SeriesGroup:
    return SeriesGroup([one.rates() for one in side], [one.moment for one in side])


def _groups(history: Sequence[Sequence[Series]]) -> list[SeriesGroup]:
    measured = [[one for one in group if one.measured()] for group in history]
    return [_group(group) for group in measured if group]


def _interleaved(sides: Sides) -> tuple[list[float], list[float]] | None:
    return paired_rates(sides.base[0], sides.other[0]) if len(sides.base) == len(sides.other) == 1 else None


def unseen_between(base_id: str, way: Sequence[Series]) -> bool:
    """Whether an unconfirmed change lies on the ``way`` down to the base, or the way ends elsewhere."""
    above = list(takewhile(lambda one: one.id != base_id, way))
    unproven = any(one.change and one.change.evidence is not Evidence.CONFIRMED for one in above)
    return unproven or not above or above[-1].base_id != base_id


def paired_rates(base: Series, other: Series) -> tuple[list[float], list[float]] | None:
    """Rates of valid neighbours in interleaved runs (A B B A …); None where the runs are not interleaved."""
    mine, theirs = ({run.number: run for run in one.measured() if run.started_at} for one in (base, other))
    shared = sorted(mine.keys() & theirs.keys())
    if not shared or len(shared) < min(len(mine), len(theirs)) - 1:
        return None
    spans = [tuple(sorted((mine[number].started_at, theirs[number].started_at))) for number in shared]
    apart = all(before[1] <= after[0] for before, after in pairwise(spans))
    first = [mine[number].started_at < theirs[number].started_at for number in shared]
    if not apart or len(set(first)) < 2:
        return None
    pairs = [(mine[number].bytes_per_second, theirs[number].bytes_per_second) for number in shared]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return [a for a, _ in known], [b for _, b in known]


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


def _needs(
    decision: ChangeDecision, turns: tuple[list[float], list[float]] | None, limits: Limits, sides: Sides
) -> dict[str, Any]:
    change = decision.change_percent
    if decision.doubt in (Doubt.NO_RUNS, Doubt.FEW_RUNS):
        return {"needed_runs": LEAST_RUNS}
    told = decision.doubt is Doubt.VARYING and limits.noise_percent < limits.margin_percent
    variation = run_variation(*turns, paired=True) if turns and told else None
    if variation is None or change is None:
        return {}
    least = variation.runs + 1
    runs, (low, high) = needed_runs(change, variation, limits), needed_range(change, variation, limits)
    timed = [run.seconds for one in (*sides.base, *sides.other) for run in one.measured() if run.seconds]
    return {
        "needed_seconds": interleaved_seconds(max(least, runs), basic.fmean(timed)) if runs and timed else None,
        "needed_runs": None if runs is None else max(least, runs),
        "needed_runs_range": (max(least, low), None if high is None else max(least, high)),
    }


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
