"""How many runs it takes to be sure of a change, and the smallest change that so many runs can show."""

import math
import statistics as basic
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from forms.stats.decision import Limits
from forms.stats.distributions import (
    chi_square_quantile,
    noncentral_t_shift,
    reaching,
    scale_nodes,
    student_t,
)
from forms.stats.variation import LEAST_RUNS

POWER = 0.9
"""Needed runs and the smallest change are those at which a verdict is reached nine times in ten."""

MOST_RUNS = 1000
"""More runs a side than anybody measures: a change that needs them is smaller than the set-up can show."""

_RANK_EFFICIENCY = 3 / math.pi
"""What the rank test makes of a run, beside Student's t, where the runs scatter normally (Pitman)."""
_STEPS = 8
_CHANGE_LEVEL = 0.88


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """How far the runs of two sides scatter, in percent of the base's mean."""

    percent: float
    """Of the differences of pairs, or the root of the sum of both sides' variances."""
    runs: int
    """A side, from which it is known."""
    paired: bool

    def freedom(self, runs: int) -> int:
        return runs - 1 if self.paired else 2 * runs - 2

    def error(self, runs: int) -> float:
        lost = 1.0 if self.paired else _RANK_EFFICIENCY
        return self.percent / math.sqrt(runs * lost)


def scatter_of(base: Sequence[float], other: Sequence[float], *, paired: bool) -> Scatter | None:
    """The scatter of two sides; ``paired`` where they took turns. None for fewer than two runs a side."""
    runs = min(len(base), len(other))
    if runs < 2:
        return None
    if paired:
        spread = basic.stdev(b - a for a, b in zip(base, other, strict=True))
    else:
        spread = math.sqrt(basic.variance(base) + basic.variance(other))
    return Scatter(percent=100 * spread / basic.fmean(base), runs=runs, paired=paired)


def needed_runs(change_percent: float, scatter: Scatter, limits: Limits) -> int | None:
    """Runs a side that reach a verdict nine times in ten, were change and scatter exactly these.

    Either the change is found, or its interval fits inside the margin, whichever needs less. None where more than
    ``MOST_RUNS`` are needed: the change is smaller than the set-up can show.
    """
    change = abs(change_percent)
    ways = (
        _least(lambda runs: smallest_found_percent(scatter, runs, limits) <= change),
        _least(lambda runs: _room_for_the_same(scatter, runs, limits) <= limits.margin_percent - change),
    )
    return min((runs for runs in ways if runs is not None), default=None)


def needed_range(change_percent: float, scatter: Scatter, limits: Limits) -> tuple[int, int | None]:
    """(fewest, most) runs a side that a verdict may need, by all that change and scatter may really be.

    A first look knows the scatter to a factor only (chi-square, 80 %), and the change as well (Student's t, 88 %):
    together they hold the right number in 85 % of first looks or more (TRUTH.md). None for the most where no number
    may be enough.
    """
    freedom = scatter.freedom(scatter.runs)
    half = student_t(_CHANGE_LEVEL, freedom) * scatter.error(scatter.runs)
    changes = {abs(change_percent + half * step / _STEPS) for step in range(-_STEPS, _STEPS + 1)}
    if abs(change_percent) <= half:
        changes.add(0.0)
    spreads = [scatter.percent * math.sqrt(freedom / chi_square_quantile(share, freedom)) for share in (0.9, 0.1)]
    found = [needed_runs(c, replace(scatter, percent=spread), limits) for spread in spreads for c in changes]
    known = [runs for runs in found if runs is not None]
    return min(known, default=MOST_RUNS), None if len(known) < len(found) else max(known)


def smallest_found_percent(scatter: Scatter, runs: int, limits: Limits) -> float:
    """The change that so many runs a side find nine times in ten, were the scatter exactly this.

    Beyond the noise threshold and beyond Student's t (noncentral), each nine times in ten.
    """
    freedom, error = scatter.freedom(runs), scatter.error(runs)
    beyond_chance = noncentral_t_shift(student_t(limits.level, freedom), freedom, POWER) * error
    return max(limits.noise_percent + student_t(2 * POWER - 1, 1e6) * error, beyond_chance)


def smallest_promised_percent(scatter: Scatter, runs: int, limits: Limits) -> float:
    """The change that so many runs a side will find nine times in ten, with a scatter that is known from few runs.

    As :func:`smallest_found_percent`, but the promise holds for all first looks together: those that happened to
    scatter little promise too much, and have to allow for it.
    """
    freedom, known = scatter.freedom(runs), scatter.freedom(scatter.runs)
    error = scatter.error(runs)
    beyond_noise = limits.noise_percent + student_t(2 * POWER - 1, known) * error
    return max(beyond_noise, _predictive(freedom, known, limits.level) * error)


@cache
def _predictive(freedom: int, known: int, level: float) -> float:
    """How many estimated errors a change must have for t to exceed its bound in a new test nine times in ten."""
    bound = student_t(level, freedom)
    nodes = scale_nodes(freedom)
    terms = [(first, bound * second, one * two) for first, one in scale_nodes(known) for second, two in nodes[::4]]
    total = math.fsum(weight for *_, weight in terms)
    return reaching(POWER, [(factor, at, weight / total) for factor, at, weight in terms])


def _room_for_the_same(scatter: Scatter, runs: int, limits: Limits) -> float:
    """How far inside the margin the change must be for its interval to fit in nine times in ten."""
    freedom = scatter.freedom(runs)
    return (student_t(limits.level, freedom) + student_t(POWER, freedom)) * scatter.error(runs)


def _least(enough: Callable[[int], bool]) -> int | None:
    if not enough(MOST_RUNS):
        return None
    low, high = LEAST_RUNS - 1, MOST_RUNS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
