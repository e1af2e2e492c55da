"""What a base that is stored will show after a change, and what is worth measuring of it before, in a sentence each."""

from collections.abc import Sequence
from operator import attrgetter

from forms import verdict_wording, wording
from forms.stats.before_change import BasePower, RepeatPlan, base_power
from forms.stats.variation import SeriesGroup
from storage.records import Series

_BESIDE_RUNS_SECONDS = 3.0
"""About what a series takes besides its runs: to log in, and to look at other load and the server."""

_TIMES = {1: "once", 2: "twice"}


def power_of_base(base: Sequence[Series], history: Sequence[Sequence[Series]] = ()) -> BasePower | None:
    """What the base will show, the usual time after it; None where its runs are too few for any verdict.

    ``history`` are earlier groups of equal series of the path.
    """
    measured = sorted((series for series in base if series.measured()), key=attrgetter("moment"))
    if not measured:
        return None

    earlier = [_group([series for series in group if series.measured()]) for group in history]
    return base_power(
        _group(measured), [group for group in earlier if group.series], series_seconds=_series_seconds(measured[-1])
    )


def _group(several: Sequence[Series]) -> SeriesGroup:
    return SeriesGroup([series.rates() for series in several], [series.moment for series in several])


def _series_seconds(series: Series) -> float:
    return _BESIDE_RUNS_SECONDS + sum(run.seconds for run in series.runs if run.seconds)


def power_sentence(power: BasePower) -> str:
    base = "This base" if power.series == 1 else f"This base of {power.series} series"
    return (
        f"{base} will show a change of {verdict_wording.change_size(power.shows_percent)} or more (nine times in ten)."
    )


def plan_sentence(power: BasePower, plan: RepeatPlan) -> str:
    """``Measure it twice more, 10 min apart: then a change of 12 % will show; as it is, 34 %.``"""
    return f"{plan_title(power, plan, 'it')}: {plan_gain(power, plan)}."


def plan_title(power: BasePower, plan: RepeatPlan, base: str) -> str:
    """``Measure it twice more, 10 min apart``; ``base`` is what is measured."""
    times = _TIMES.get(plan.series, f"{plan.series} times")
    return f"Measure {base} {times} more{_spacing_text(power, plan)}"


def plan_gain(power: BasePower, plan: RepeatPlan) -> str:
    """``then a change of 12 % will show; as it is, 34 %``"""
    before = verdict_wording.change_size(power.shows_percent)
    after = verdict_wording.change_size(plan.shows_percent)
    return f"then a change of {after} will show; as it is, {before}"


def plan_line(power: BasePower, plan: RepeatPlan) -> str:
    """``Measure it twice more, 10 min apart: shows a change of 12 %``, for a list below what shows without it."""
    return f"{plan_title(power, plan, 'it')}: shows a change of {verdict_wording.change_size(plan.shows_percent)}"


def _spacing_text(power: BasePower, plan: RepeatPlan) -> str:
    """How far apart the repeats are; of several plans the one with the shortest pauses is that to measure at once."""
    shortest = min(other.spacing_seconds for other in power.plans)
    if plan.spacing_seconds == shortest and len(power.plans) > 1:
        return " now"
    return f", {wording.duration(plan.spacing_seconds)} apart"
