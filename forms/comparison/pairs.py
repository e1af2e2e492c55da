"""Pairs of interleaved runs: two series whose runs were measured beside each other, run 1 of both, run 2 of both, ….

Nothing is stored of the pairs: they are seen by the numbers of the runs, and by when these began.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from itertools import chain, pairwise
from statistics import median

from forms.comparison.hiccups import RunPairs
from forms.stats.decision import Limits
from forms.stats.needed_runs import run_variation, smallest_found_percent
from storage.records import Run, Series


def paired_runs(base: Series, other: Series) -> list[tuple[Run, Run]] | None:
    """The valid runs of the same number, (base, other), in either order; None where the runs are not interleaved."""
    base_runs = {run.number: run for run in base.measured() if run.started_at}
    other_runs = {run.number: run for run in other.measured() if run.started_at}
    shared = sorted(base_runs.keys() & other_runs.keys())
    # All have a partner, but for one that may have failed or been interrupted.
    if not shared or len(shared) < min(len(base_runs), len(other_runs)) - 1:
        return None

    spans = [sorted((base_runs[number].started_at, other_runs[number].started_at)) for number in shared]
    are_apart = all(before[1] <= after[0] for before, after in pairwise(spans))
    orders = {base_runs[number].started_at < other_runs[number].started_at for number in shared}
    # One order throughout is what any two series have of which one began a moment later; the first few pairs of a
    # comparison may have been drawn so.
    if not are_apart or (len(orders) < 2 and not _are_of_one_comparison(base, other)):
        return None

    resumed_at = (*base.resumed_at, *other.resumed_at)
    pairs = [(base_runs[number], other_runs[number]) for number in shared]
    return [
        (base_run, other_run)
        for base_run, other_run in pairs
        if base_run.bytes_per_second is not None
        and other_run.bytes_per_second is not None
        and not _is_interrupted(base_run, other_run, resumed_at)
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


def rates_of_pairs(pairs: RunPairs, without: Collection[int] = ()) -> tuple[list[float], list[float]]:
    """(rates of the base, rates of the other), ``without`` the pairs of these numbers."""
    counted = [(base, other) for base, other in pairs if base.number not in without]
    base_rates = [base.bytes_per_second or 0.0 for base, _ in counted]
    other_rates = [other.bytes_per_second or 0.0 for _, other in counted]
    return base_rates, other_rates
