"""The comparison of two sides, one series or several each: faster, slower, the same, or not known and why."""

import statistics as basic
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from forms import wording
from forms.comparison.comparison import OWN_SIGNS, Comparison
from forms.comparison.differences import Difference, differences, effective, parameter_of
from forms.stats import change as changes
from forms.stats.decision import ChangeDecision, Doubt, Limits, Verdict, decide, decide_in_turns, holm
from forms.stats.mann_whitney import mann_whitney_p
from forms.stats.sample_size import needed_range, needed_runs, scatter_of, smallest_found_percent
from forms.stats.sample_size import needed_series as series_that_tell
from forms.tuning.client_settings import own_setting
from storage.records import Change, Evidence, Series

NOISE_PERCENT = 1.0
MARGIN_PERCENT = 5.0
ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What is compared with what: series of equal settings on each side."""

    base: tuple[Series, ...]
    other: tuple[Series, ...]
    history: tuple[tuple[Series, ...], ...] = ()
    """Groups of repeated series of the same path: what shows how far equal series lie apart."""
    equal: bool = False
    """Whether the settings of both are known to be the same, so that only variation can differ."""
    unseen: bool = False
    """Whether a change lies between both that nobody could see: where nothing shows a difference there may be one."""


def compare(
    base: Series,
    other: Series,
    *,
    noise_percent: float = NOISE_PERCENT,
    margin_percent: float = MARGIN_PERCENT,
    alpha: float = ALPHA,
) -> Comparison:
    """One series against another: a verdict where their runs took turns, for lack of repeats none where not."""
    limits = Limits(noise_percent=noise_percent, margin_percent=margin_percent, alpha=alpha)
    return compare_sides(Sides(base=(base,), other=(other,)), limits)


def compare_several(several: Sequence[Sides], limits: Limits) -> list[Comparison]:
    """Several comparisons of one command: together they are wrong in ``limits.alpha`` at most (Holm 1979)."""
    alone = [compare_sides(sides, limits) for sides in several]
    told = [
        index
        for index, one in enumerate(alone)
        if one.p_value is not None and one.interval_percent and one.doubt not in OWN_SIGNS
    ]
    levels = dict(zip(told, holm([alone[index].p_value or 0.0 for index in told], limits.alpha), strict=True))
    return [
        compare_sides(sides, replace(limits, alpha=levels[index])) if index in levels else alone[index]
        for index, sides in enumerate(several)
    ]


def compare_sides(sides: Sides, limits: Limits) -> Comparison:
    """The other side against the base, by the bytes per second of their valid measured runs.

    The rule is that of :mod:`forms.stats.decision`. A contradicted change and equal settings take its verdict away:
    what differs then is not what was to be compared.
    """
    base, other = sides.base[0], sides.other[0]
    left, right = [rates_of(one) for one in sides.base], [rates_of(one) for one in sides.other]
    turns = paired_rates(base, other) if len(sides.base) == len(sides.other) == 1 else None
    if turns:
        decision = decide_in_turns(*turns, limits=limits)
        p_value = decision.t_p_value
    else:
        history = [[rates_of(one) for one in group if rates_of(one)] for group in sides.history]
        decision = decide(left, right, positions=_positions(sides), history=history, limits=limits)
        p_value = _largest_p(decision, left, right)
    differing = differences(base, other)
    claimed = _claimed(base, other)
    decision = _unless_contradicted(decision, claimed, sides, differing)
    needs = _needs(decision, turns, left, right, limits)
    return Comparison(
        base_id=base.id,
        other_id=other.id,
        base_name=wording.name_of(base, beside=other),
        other_name=wording.name_of(other, beside=base),
        base_ids=tuple(one.id for one in sides.base),
        other_ids=tuple(one.id for one in sides.other),
        verdict=decision.verdict,
        doubt=decision.doubt,
        base_runs=sum(map(len, left)),
        other_runs=sum(map(len, right)),
        base_bytes_per_second=changes.average(left) if all(left) else None,
        other_bytes_per_second=changes.average(right) if all(right) else None,
        change_percent=decision.change_percent,
        interval_percent=decision.interval_percent,
        runs_interval_percent=decision.runs_interval_percent,
        p_value=p_value,
        needed_runs=needs.runs,
        needed_runs_range=needs.runs_range,
        needed_series=needs.series,
        smallest_percent=needs.smallest_percent,
        between_percent=decision.variation.deviation_percent if decision.variation else None,
        between_freedom=decision.variation.freedom if decision.variation else None,
        base_wander_percent=_wander(left),
        in_turns=decision.in_turns,
        level=limits.level,
        noise_percent=limits.noise_percent,
        margin_percent=limits.margin_percent,
        alpha=limits.alpha,
        differences=differing,
        server_seen=all(_shows_its_server(one) for one in (base, other)),
        change=claimed,
    )


def unseen_between(base_id: str, way: Sequence[Series]) -> bool:
    """Whether the way from a series down to its base has a change that is not confirmed, or does not lead there.

    ``way`` is the series, the one that it was made from, and so on; the base itself may be the last.
    """
    above = list(takewhile(lambda one: one.id != base_id, way))
    unproven = any(one.change and one.change.evidence is not Evidence.CONFIRMED for one in above)
    return unproven or not above or above[-1].base_id != base_id


def rates_of(series: Series) -> list[float]:
    """The bytes per second of the valid measured runs, in order."""
    return [rate for run in series.measured() if (rate := run.bytes_per_second) is not None]


def paired_rates(base: Series, other: Series) -> tuple[list[float], list[float]] | None:
    """The throughputs of runs that took turns, neighbour by neighbour; None where the series did not take turns.

    They did where the runs of the same numbers, in the order in which they began, come in pairs of both series
    (A B B A …), also with runs of further series between them. Pairs of which a run is not valid are left out.
    """
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


def _positions(sides: Sides) -> list[int]:
    """The places in time of the base's series, then of the other's."""
    every = [*sides.base, *sides.other]
    order = sorted(range(len(every)), key=lambda index: every[index].created_at)
    return [order.index(index) for index in range(len(every))]


def _largest_p(
    decision: ChangeDecision, left: Sequence[Sequence[float]], right: Sequence[Sequence[float]]
) -> float | None:
    runs = [[rate for rates in side for rate in rates] for side in (left, right)]
    if not all(runs):
        return None
    ranks = mann_whitney_p(*runs)
    return ranks if decision.t_p_value is None or decision.interval_percent is None else max(ranks, decision.t_p_value)


def _claimed(base: Series, other: Series) -> Change | None:
    """The change that the other claims, where it was made from this base; else the states speak for themselves."""
    return other.change if other.change and other.base_id in (None, base.id) else None


def _unless_contradicted(
    decision: ChangeDecision, claimed: Change | None, sides: Sides, differing: Sequence[Difference]
) -> ChangeDecision:
    """The decision, or none where the claimed change is not what was made, or where no setting differs after all."""
    base, other = sides.base[0], sides.other[0]
    if claimed is not None and claimed.evidence is Evidence.CONTRADICTED:
        return replace(decision, verdict=Verdict.UNKNOWN, doubt=Doubt.CONTRADICTED)
    within = claimed is None and base.experiment == other.experiment
    taken_back = within and not sides.unseen and _shows_its_change(base, other)
    if (sides.equal or taken_back) and not differing and decision.change_percent is not None:
        return replace(decision, verdict=Verdict.UNKNOWN, doubt=Doubt.SAME_SETTINGS)
    return decision


def _shows_its_change(base: Series, other: Series) -> bool:
    """Whether the setting that the other claims to have changed can be seen in both: only then equal ones are equal."""
    if other.change is None or other.change.evidence is not Evidence.CONFIRMED:
        return False
    seen = (effective(one.environment.get("server", {}), other.change.name) for one in (base, other))
    return own_setting(other.change.name) is not None or all(value is not None for value in seen)


def _shows_its_server(series: Series) -> bool:
    return any(parameter_of(fact) for fact in series.environment.get("server", {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Needs:
    """What would tell, as in :class:`Comparison`; nothing where it is not that which is missing."""

    runs: int | None = None
    runs_range: tuple[int, int | None] | None = None
    series: int | None = None
    smallest_percent: float | None = None


def _needs(
    decision: ChangeDecision,
    turns: tuple[list[float], list[float]] | None,
    left: Sequence[Sequence[float]],
    right: Sequence[Sequence[float]],
    limits: Limits,
) -> _Needs:
    change = decision.change_percent
    if decision.doubt in (Doubt.NO_RUNS, Doubt.FEW_RUNS):
        return _Needs(runs=4)
    if change is None or limits.noise_percent >= limits.margin_percent:
        return _Needs()
    if decision.doubt in (Doubt.WANDERED, Doubt.TREND) and decision.variation:
        return _Needs(series=series_that_tell(change, decision.variation.deviation_percent, limits))
    if decision.doubt not in (Doubt.SCATTER, Doubt.RANKS):
        return _Needs()
    flat = turns or tuple([rate for rates in side for rate in rates] for side in (left, right))
    scatter = scatter_of(*flat, paired=turns is not None)
    if scatter is None:
        return _Needs()
    least = scatter.runs + 1
    runs, (low, high) = needed_runs(change, scatter, limits), needed_range(change, scatter, limits)
    return _Needs(
        runs=None if runs is None else max(least, runs),
        runs_range=(max(least, low), None if high is None else max(least, high)),
        smallest_percent=smallest_found_percent(scatter, scatter.runs, limits),
    )


def _wander(left: Sequence[Sequence[float]]) -> float | None:
    means = [basic.fmean(rates) for rates in left if rates]
    return 100 * (max(means) - min(means)) / basic.fmean(means) if len(means) > 1 else None
