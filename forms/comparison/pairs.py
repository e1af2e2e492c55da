"""Pairs of interleaved runs: two series whose runs were measured beside each other, run 1 of both, run 2 of both, ….

Nothing is stored of the pairs: they are seen by the numbers of the runs, and by when these began.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, pairwise
from statistics import median

from forms import wording
from forms.comparison.hiccups import RunPairs
from forms.comparison.settling import interleaved_seconds
from forms.stats.decision import LEAST_RUNS, Limits
from forms.stats.needed_runs import RunVariation, run_variation, smallest_found_percent
from storage.records import Run, Series

_MORE_PAIRS = 4
"""As many times the pairs halve what they can show, or better."""

_USUAL_VARIATIONS = (1.0, 5.0)
"""What runs vary by in percent: on a quiet link, and beside other work."""


def paired_runs(base: Series, other: Series) -> list[tuple[Run, Run]] | None:
    """The valid runs of the same number, (base, other), in either order; None where the runs are not interleaved."""
    base_runs = {run.number: run for run in base.measured() if run.started_at}
    other_runs = {run.number: run for run in other.measured() if run.started_at}
    shared = sorted(base_runs.keys() & other_runs.keys())
    # All have a partner, but for one that may have failed or been interrupted.
    if not shared or len(shared) < min(len(base_runs), len(other_runs)) - 1:
        return None

    # A side that was completed after the other one has runs that were measured beside none.
    resumed_at = (*base.resumed_at, *other.resumed_at)
    all_pairs = [(base_runs[number], other_runs[number]) for number in shared]
    pairs = [pair for pair in all_pairs if not _is_interrupted(*pair, resumed_at)]
    if len(pairs) < min(LEAST_RUNS, len(all_pairs)):
        return None  # too few were interleaved: they are judged as whole series

    spans = [sorted((base_run.started_at, other_run.started_at)) for base_run, other_run in pairs]
    are_apart = all(before[1] <= after[0] for before, after in pairwise(spans))
    orders = {base_run.started_at < other_run.started_at for base_run, other_run in pairs}
    # One order throughout is what any two series have of which one began a moment later; the first few pairs of a
    # comparison may have been drawn so.
    if not are_apart or (len(orders) < 2 and not _are_of_one_comparison(base, other)):
        return None

    return [
        (base_run, other_run)
        for base_run, other_run in pairs
        if base_run.bytes_per_second is not None and other_run.bytes_per_second is not None
    ]


def _are_of_one_comparison(base: Series, other: Series) -> bool:
    comparisons = {series.plan.interleaved_with if series.plan else "" for series in (base, other)}
    return len(comparisons) == 1 and "" not in comparisons


def _is_interrupted(base_run: Run, other_run: Run, resumed_at: Collection[str]) -> bool:
    """Whether the series were resumed between the two runs: what slowed one of them need not have met the other."""
    first, second = sorted((base_run.started_at, other_run.started_at))
    return any(first < moment < second for moment in resumed_at)


def paired_rates(base: Series, other: Series) -> tuple[list[float], list[float]] | None:
    """(rates of the base, rates of the other) of the pairs of runs; None where the runs are not interleaved."""
    pairs = paired_runs(base, other)
    return None if pairs is None else rates_of_pairs(pairs)


def seconds_between_runs(all_series: Iterable[Series]) -> float | None:
    """From the begin of one interleaved run to the begin of the next, in the median; None where there are none."""
    all_runs = chain.from_iterable(series.measured() for series in all_series)
    begins = sorted(datetime.fromisoformat(run.started_at) for run in all_runs if run.started_at)
    seconds_between = [(later - earlier).total_seconds() for earlier, later in pairwise(begins)]
    return median(seconds_between) if seconds_between else None


def smallest_shown_percent(base: Series, other: Series, limits: Limits, pairs: int | None = None) -> float | None:
    """The change in percent that these pairs of runs find nine times in ten, or that as many as ``pairs`` would find.

    None where the runs are not interleaved, or are too few.
    """
    rates = paired_rates(base, other)
    variation = run_variation(*rates, paired=True) if rates else None
    if variation is None:
        return None
    return smallest_found_percent(variation, pairs or variation.runs, limits)


def power_sentences(all_series: Sequence[Series]) -> list[str]:
    """How small a change the pairs of these series show, the first being the base, and more of them.

    None where nobody knows.
    """
    pairs = len(all_series[0].measured())
    more_pairs = _MORE_PAIRS * pairs
    change = _smallest_of_any(all_series, pairs)
    smaller_change = _smallest_of_any(all_series, more_pairs)
    run_seconds = seconds_between_runs(all_series)
    if change is None or smaller_change is None or run_seconds is None:
        return []

    duration = wording.duration(interleaved_seconds(more_pairs, run_seconds, len(all_series)))
    power_text = f"{pairs} pairs find a change of {wording.percent(change)} here, 9 times in 10"
    how_to = f"--runs {more_pairs}, about {duration}"
    more_power_text = f"{more_pairs} pairs one of {wording.percent(smaller_change)} ({how_to})"
    return [f"{power_text}; {more_power_text}"]


def _smallest_of_any(all_series: Sequence[Series], pairs: int) -> float | None:
    """In percent, that many pairs of each with the base find of any of them; None where nobody knows."""
    base = all_series[0]
    others = all_series[1:]
    limits = joint_limits(len(others))
    smallest_changes = [smallest_shown_percent(base, other, limits, pairs) for other in others]
    return max((percent for percent in smallest_changes if percent is not None), default=None)


def joint_limits(others: int) -> Limits:
    """The limits of the widest interval where that number of others is judged at once."""
    limits = Limits()
    return replace(limits, alpha=limits.alpha / others)


def expected_power_sentence(pairs: int, others: int = 1, varies_by_percent: float | None = None) -> str:
    """How small a change that many pairs will show: before they are measured.

    ``varies_by_percent``: what earlier runs there varied by; None where there are none.
    """
    if pairs < LEAST_RUNS:
        return f"{wording.count(pairs, 'pair')} of runs give no verdict: that takes at least {LEAST_RUNS}"
    if varies_by_percent is not None:
        change = _expected_smallest(pairs, others, varies_by_percent)
        return (
            f"{pairs} pairs find a change of {change}, 9 times in 10, if the runs vary as before"
            f" ({wording.percent(varies_by_percent)})"
        )

    quiet_change, busy_change = (_expected_smallest(pairs, others, percent) for percent in _USUAL_VARIATIONS)
    quiet, busy = _USUAL_VARIATIONS
    return (
        f"{pairs} pairs find a change of {quiet_change} if the runs vary by {quiet:g} %, of {busy_change} if by"
        f" {busy:g} %, 9 times in 10"
    )


def _expected_smallest(pairs: int, others: int, varies_by_percent: float) -> str:
    # The ratio of two runs varies by both.
    variation = RunVariation(percent=math.sqrt(2) * varies_by_percent, runs=pairs, paired=True)
    return wording.percent(smallest_found_percent(variation, pairs, joint_limits(others)))


def rates_of_pairs(pairs: RunPairs, without: Collection[int] = ()) -> tuple[list[float], list[float]]:
    """(rates of the base, rates of the other), ``without`` the pairs of these numbers."""
    counted = [(base, other) for base, other in pairs if base.number not in without]
    base_rates = [base.bytes_per_second or 0.0 for base, _ in counted]
    other_rates = [other.bytes_per_second or 0.0 for _, other in counted]
    return base_rates, other_rates
