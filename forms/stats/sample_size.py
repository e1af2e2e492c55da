"""How many runs it takes to be sure of a change, and the smallest change that so many runs can show."""

import math
import statistics as basic
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from forms.stats.change import Variation
from forms.stats.decision import LEAST_RUNS, Limits
from forms.stats.summary import student_t

POWER = 0.9
"""Needed runs and the smallest change are those at which a verdict is reached nine times in ten."""

MOST_RUNS = 1000
"""More runs a side than anybody measures: a change that needs them is smaller than the set-up can show."""

_RANK_EFFICIENCY = 3 / math.pi
"""What the rank test makes of a run, beside Student's t, where the runs scatter normally (Pitman)."""
_GRID = 64
_STEPS = 8
_CHANGE_LEVEL = 0.88
_MOST_SERIES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """How far the runs of two sides scatter, in percent of the base's mean."""

    percent: float
    """Of the differences of pairs, or the root of the sum of both sides' variances."""
    runs: int
    """A side, from which it is known."""
    paired: bool

    def freedom(self, runs: int) -> int:
        """The degrees of freedom of so many runs a side."""
        return runs - 1 if self.paired else 2 * runs - 2

    def error(self, runs: int) -> float:
        """The standard error of a change between so many runs a side, in percent."""
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
    from scipy.special import chdtri  # noqa: PLC0415  scipy takes a third of a second to load

    freedom = scatter.freedom(scatter.runs)
    half = student_t(_CHANGE_LEVEL, freedom) * scatter.error(scatter.runs)
    changes = {abs(change_percent + half * step / _STEPS) for step in range(-_STEPS, _STEPS + 1)}
    if abs(change_percent) <= half:
        changes.add(0.0)
    spreads = [scatter.percent * math.sqrt(freedom / float(chdtri(freedom, tail))) for tail in (0.1, 0.9)]
    found = [needed_runs(c, replace(scatter, percent=spread), limits) for spread in spreads for c in changes]
    known = [runs for runs in found if runs is not None]
    return min(known, default=MOST_RUNS), None if len(known) < len(found) else max(known)


def needed_series(change_percent: float, between_percent: float, limits: Limits) -> int | None:
    """Series a side, measured in alternation, that reach a verdict nine times in ten; None for more than 20.

    ``between_percent`` is the standard deviation between series of the same settings.
    """
    scatter = Scatter(percent=between_percent * math.sqrt(2), runs=2, paired=False)
    least = 2
    for series in range(least, _MOST_SERIES + 1):
        error = scatter.percent / math.sqrt(series)
        room = (student_t(limits.level, 2 * series - 2) + student_t(POWER, 2 * series - 2)) * error
        if smallest_found_percent(scatter, series, limits) <= abs(change_percent) or (
            room <= limits.margin_percent - abs(change_percent)
        ):
            return series
    return None


def smallest_between_percent(found: Variation, limits: Limits) -> float:
    """The change that one series before it and one after it show nine times in ten, with this variation as history."""
    error = found.deviation_percent * math.sqrt(2)
    beyond_noise = limits.noise_percent + student_t(2 * POWER - 1, found.freedom) * error
    return max(beyond_noise, _predictive_of_known(found.freedom, limits.level) * error)


def smallest_found_percent(scatter: Scatter, runs: int, limits: Limits) -> float:
    """The change that so many runs a side find nine times in ten, were the scatter exactly this.

    Beyond the noise threshold and beyond Student's t (noncentral), each nine times in ten.
    """
    from scipy.special import nctdtrinc  # noqa: PLC0415

    freedom, error = scatter.freedom(runs), scatter.error(runs)
    beyond_chance = float(nctdtrinc(freedom, 1 - POWER, student_t(limits.level, freedom))) * error
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
def _predictive_of_known(freedom: int, level: float) -> float:
    """As :func:`_predictive`, where the new test is held against the same estimate of the error, not one of its own."""
    import numpy as np  # noqa: PLC0415
    from scipy.special import chdtri, ndtr  # noqa: PLC0415

    ratios = np.sqrt(chdtri(freedom, (np.arange(_GRID**2) + 0.5) / _GRID**2) / freedom)
    bound = student_t(level, freedom)
    low, high = bound, 4 * bound + 20.0
    for _ in range(40):
        middle = (low + high) / 2
        if float(ndtr((middle - bound) * ratios).mean()) < POWER:
            low = middle
        else:
            high = middle
    return high


@cache
def _predictive(freedom: int, known: int, level: float) -> float:
    """How many estimated errors a change must have for t to exceed its bound in a new test nine times in ten."""
    import numpy as np  # noqa: PLC0415
    from scipy.special import chdtri, ndtr  # noqa: PLC0415

    tails = (np.arange(_GRID) + 0.5) / _GRID
    first = np.sqrt(chdtri(known, tails) / known)[:, None]
    second = np.sqrt(chdtri(freedom, tails) / freedom)[None, :]
    bound = student_t(level, freedom)
    low, high = 0.0, 4 * bound + 20.0
    for _ in range(40):
        middle = (low + high) / 2
        if float(ndtr(middle * first - bound * second).mean()) < POWER:
            low = middle
        else:
            high = middle
    return high


def _room_for_the_same(scatter: Scatter, runs: int, limits: Limits) -> float:
    """How far inside the margin the change must be for its interval to fit in nine times in ten."""
    freedom = scatter.freedom(runs)
    return (student_t(limits.level, freedom) + student_t(POWER, freedom)) * scatter.error(runs)


def _least(enough: Callable[[int], bool]) -> int | None:
    """The least number of runs that is enough; None where ``MOST_RUNS`` are not."""
    if not enough(MOST_RUNS):
        return None
    low, high = LEAST_RUNS - 1, MOST_RUNS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
