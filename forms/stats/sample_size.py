"""The change between two sides: its size, its interval, and how many runs it takes to be sure of it."""

from __future__ import annotations

import math
import statistics as basic
from collections.abc import Callable, Sequence

from forms.stats.mann_whitney import runs_to_reach
from forms.stats.summary import student_t

LEVEL = 0.95
"""Of the interval of a change."""

POWER = 0.9
"""Needed runs and the smallest change are those at which a change of that size is found nine times in ten."""

_RANK_EFFICIENCY = 3 / math.pi
"""What the rank test makes of a run, beside Student's t, where the runs scatter normally (Pitman)."""
_MOST_RUNS = 1_000_000


def change_percent(base: Sequence[float], other: Sequence[float]) -> float | None:
    """The change of the mean in percent of the base's mean; None where a side is empty or the base's mean is zero."""
    if not base or not other:
        return None
    before = basic.fmean(base)
    return 100 * (basic.fmean(other) - before) / before if before else None


def spread_percent(base: Sequence[float], other: Sequence[float]) -> float | None:
    """The root of the sum of both variances, in percent of the base's mean; None for fewer than two runs a side."""
    if len(base) < 2 or len(other) < 2:
        return None
    before = basic.fmean(base)
    return 100 * math.sqrt(basic.variance(base) + basic.variance(other)) / before if before else None


def welch_interval(base: Sequence[float], other: Sequence[float]) -> tuple[float, float] | None:
    """(low, high) of the change of the mean in percent of the base's mean, 95 %, by Welch 1947.

    None for fewer than two runs a side.
    """
    change = change_percent(base, other)
    if change is None or len(base) < 2 or len(other) < 2:
        return None
    parts = [basic.variance(side) / len(side) for side in (base, other)]
    error = sum(parts)
    if error <= 0:
        return change, change
    freedom = 1 / sum((part / error) ** 2 / (len(side) - 1) for part, side in zip(parts, (base, other), strict=True))
    half = 100 * student_t(LEVEL, freedom) * math.sqrt(error) / basic.fmean(base)
    return change - half, change + half


def needed_runs(
    base: Sequence[float], other: Sequence[float], noise_percent: float, margin_percent: float, alpha: float
) -> int | None:
    """Runs a side after which the verdict would likely be known, taking change and scatter as they are now.

    Either the change is found nine times in ten, or its interval fits inside the margin, whichever needs less; never
    fewer than can reach ``alpha`` at all, and more than there are. None where neither can ever happen.
    """
    least = max(runs_to_reach(alpha), min(len(base), len(other)) + 1)
    change, spread = change_percent(base, other), spread_percent(base, other)
    if change is None or spread is None:
        return least
    ways = []
    if abs(change) > noise_percent:
        ways.append(_least(lambda runs: smallest_change_percent(spread, runs, alpha) <= abs(change)))
    if abs(change) < margin_percent:
        ways.append(_least(lambda runs: _half_width(spread, runs, LEVEL) <= margin_percent - abs(change)))
    return max(least, min(ways)) if ways else None


def smallest_change_percent(spread: float, runs: int, alpha: float) -> float:
    """The change in percent that so many runs a side would find nine times in ten, at least two runs.

    ``spread`` is that of :func:`spread_percent`. The sum of both quantiles of Student's t times the standard error,
    widened by what the rank test loses against Student's.
    """
    power = _half_width(spread, runs, 2 * POWER - 1)
    return (_half_width(spread, runs, 1 - alpha) + power) / math.sqrt(_RANK_EFFICIENCY)


def _half_width(spread: float, runs: int, level: float) -> float:
    return student_t(level, 2 * runs - 2) * spread / math.sqrt(runs)


def _least(enough: Callable[[int], bool]) -> int:
    """The least number of runs, from two on, that is enough."""
    low, high = 1, 2
    while high < _MOST_RUNS and not enough(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
