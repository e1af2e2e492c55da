"""What would settle a decision that is inconclusive: the quickest step for whole series, or more interleaved runs.

And what one more series would make of one that is certain.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from forms.comparison import hiccups, judged_sides, settling
from forms.comparison.pairs import rates_of_pairs, seconds_between_runs
from forms.stats.decision import LEAST_RUNS, ChangeDecision, Doubt, Limits, Verdict
from forms.stats.distributions import student_t
from forms.stats.needed_runs import needed_range, needed_runs, run_variation
from forms.tuning.differences import Difference
from storage import records


def step_that_settles(
    sides: judged_sides.Sides,
    decision: ChangeDecision,
    limits: Limits,
    differing: tuple[Difference, ...],
    claimed: records.Change | None,
) -> settling.SettlingStep | None:
    """The quickest step that would settle a comparison of whole series; None where none would.

    ``differing`` are the settings that differ between the sides, ``claimed`` the change that somebody said was made.
    """
    if not _may_be_settled(sides, decision) or decision.variation is None or decision.change_percent is None:
        return None

    # The standard errors of the interval beside those of a single comparison: 1, or more for several at once.
    standard_errors_of_single = student_t(limits.level, decision.variation.freedom)
    widening = (decision.critical or 0.0) / standard_errors_of_single
    return settling.cheapest_step(
        settling.OpenComparison(
            base=sides.base,
            other=sides.other,
            change_percent=decision.change_percent,
            variation=decision.variation,
            differing=differing,
            claimed=claimed,
            limits=limits,
            widening=widening,
            base_told_gone=sides.base_told_gone,
            is_change_unseen=sides.asks_for_unseen_change and claimed is None and not differing,
        )
    )


def _may_be_settled(sides: judged_sides.Sides, decision: ChangeDecision) -> bool:
    """Whether more measuring could settle it, and nothing has done so since."""
    is_open = decision.doubt in (Doubt.BASE_VARIED, Doubt.TREND)
    same_command = sides.base[0].command is sides.other[0].command
    return is_open and same_command and sides.tried is None and not sides.interleaved_since


def interval_after_repeat(
    sides: judged_sides.Sides, decision: ChangeDecision, decide: Callable[[judged_sides.Sides], ChangeDecision]
) -> tuple[float, float] | None:
    """The interval of a certain change after the same again of its one later series, right behind it.

    It may be wider: beside more series, a steady trend may explain the change as well. Of several later series one more
    adds little. ``decide`` decides on sides.
    """
    is_certain = decision.verdict in (Verdict.FASTER, Verdict.SLOWER)
    is_other_newest = judged_sides.newest_moment(sides.other) >= judged_sides.newest_moment(sides.base)
    if not is_certain or not is_other_newest or len(sides.other) != 1:
        return None

    (series,) = sides.other
    seconds = sum(run.seconds for run in series.runs if run.seconds)
    again = replace(series, created_at=records.moment_at(series.moment + seconds))
    return decide(replace(sides, other=(series, again))).interval_percent


@dataclass(frozen=True, slots=True)
class NeededRuns:
    """The runs a side that would settle it, those there are included; None where that is not known."""

    runs: int | None = None
    runs_range: tuple[int, int | None] | None = None
    """(fewest, most) that the runs so far leave open; None for most: no number may be enough."""
    seconds: float | None = None
    """How long ``runs`` interleaved runs a side take, with warm-up."""


def runs_that_settle(
    sides: judged_sides.Sides, decision: ChangeDecision, limits: Limits, pairs: hiccups.RunPairs | None
) -> NeededRuns:
    """The runs a side that a verdict needs at least, or that would settle a comparison of interleaved ``pairs``."""
    if decision.doubt in (Doubt.NO_RUNS, Doubt.FEW_RUNS):
        return NeededRuns(runs=LEAST_RUNS)

    margin_is_noise = limits.noise_percent >= limits.margin_percent
    if pairs is None or decision.doubt is not Doubt.VARYING or margin_is_noise or decision.change_percent is None:
        return NeededRuns()
    variation = run_variation(*rates_of_pairs(pairs), paired=True)
    if variation is None:
        return NeededRuns()

    # As many as there are did not settle it, so it takes one more at least.
    least = variation.runs + 1
    low, high = needed_range(decision.change_percent, variation, limits)
    runs_range = (max(least, low), None if high is None else max(least, high))

    runs = needed_runs(decision.change_percent, variation, limits)
    if runs is None:
        return NeededRuns(runs_range=runs_range)
    runs = max(least, runs)
    return NeededRuns(runs=runs, runs_range=runs_range, seconds=_seconds_for_runs(runs, sides))


def _seconds_for_runs(runs: int, sides: judged_sides.Sides) -> float | None:
    """How long interleaved runs take, at the pace of those so far; None where that is not known."""
    seconds_between = seconds_between_runs((*sides.base, *sides.other))
    return None if seconds_between is None else settling.interleaved_seconds(runs, seconds_between)
