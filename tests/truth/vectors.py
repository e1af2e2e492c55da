"""The rule of ``forms.stats.decision`` on many trials at once, a row a trial.

The product decides some trials of each cell as well, and must agree. Ranks are its own always: they are asked for only
where the intervals leave a verdict open, which is rare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from forms.stats.change import Variation, steady_trend_score
from forms.stats.decision import TREND_SHARE, ChangeDecision, Limits, Verdict
from forms.stats.distributions import student_t
from forms.stats.mann_whitney import mann_whitney_p, rank_shift
from tests.truth.timelines import Values

LIMITS = Limits()
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Decisions:
    """What is decided of each trial."""

    different: Flags
    same: Flags
    low: Values | None
    """Of the interval, percent; None where no interval is told."""
    high: Values | None
    p: Values

    def agrees(self, trial: int, told: ChangeDecision) -> bool:
        """Whether the product decides that trial alike."""
        different = told.verdict in (Verdict.FASTER, Verdict.SLOWER)
        if (bool(self.different[trial]), bool(self.same[trial])) != (different, told.verdict is Verdict.SAME):
            return False
        if self.low is None or self.high is None:
            return told.interval_percent is None
        edges = (self.low[trial], self.high[trial], self.p[trial])
        expected = (*(told.interval_percent or (np.nan, np.nan)), told.t_p_value)
        return bool(np.allclose(edges, np.array(expected, float), rtol=1e-6, atol=1e-9))


@dataclass(frozen=True, slots=True)
class _Side:
    """The series of one side: a column a series."""

    series: Sequence[Values]
    means: Values
    own: Values
    """The variance of each average by its runs' scatter, as a share of it, squared."""

    @property
    def count(self) -> int:
        return len(self.series)

    @property
    def average(self) -> Values:
        return np.asarray(self.means.mean(axis=1))

    @property
    def squares(self) -> Values:
        """Between the averages, as shares of the side's."""
        return np.asarray(((self.means / self.means.mean(axis=1, keepdims=True) - 1) ** 2).sum(axis=1))


def decide_all(
    base: Sequence[Values], other: Sequence[Values], positions: Sequence[int], history: Sequence[Values] = ()
) -> Decisions:
    """Whole series against whole series."""
    left, right = _side(base), _side(other)
    told = np.log(right.average / left.average)
    groups = [side for side in (left, right, *([_side(history)] if history else ())) if side.count > 1]
    freedom = sum(side.count - 1 for side in groups)
    runs = _by_runs(left, right)
    if not freedom:
        none = np.zeros(len(told), dtype=bool)
        return Decisions(none, none, None, None, _p(told, *runs))
    variance = sum((side.squares for side in groups), np.zeros(len(told))) / freedom
    within = sum(((side.count - 1) * side.own.mean(axis=1) for side in groups), np.zeros(len(told))) / freedom
    error = sum((variance + np.maximum(0, side.own.mean(axis=1) - within)) / side.count for side in (left, right))
    estimates = [(told, np.sqrt(error), np.full(len(told), float(freedom))), (told, *runs)]
    if len(positions) >= 4:
        score = steady_trend_score(positions, left.count, Variation(0.0, freedom, 0.0))
        if score > TREND_SHARE * student_t(LIMITS.level, freedom):
            estimates += _beside_trend(left, right, positions, variance, freedom)
    halves = [(change, stdtrit(known, (1 + LIMITS.level) / 2) * error) for change, error, known in estimates]
    low = np.min([change - half for change, half in halves], axis=0)
    high = np.max([change + half for change, half in halves], axis=0)
    p = np.max([_p(*estimate) for estimate in estimates], axis=0)
    low, high = (100 * np.expm1(edge) for edge in (low, high))
    open_still = ((low > 0) | (high < 0)) & (np.abs(100 * np.expm1(told)) > LIMITS.noise_percent)
    different = np.zeros(len(told), dtype=bool)
    for trial in np.flatnonzero(open_still):
        one, two = (np.concatenate([part[trial] for part in side.series]).tolist() for side in (left, right))
        different[trial] = rank_shift(one, two) * told[trial] > 0 and mann_whitney_p(one, two) < LIMITS.alpha
    same = ~open_still & (low >= -LIMITS.margin_percent) & (high <= LIMITS.margin_percent)
    return Decisions(different, same, low, high, p)


def decide_all_in_turns(base: Values, other: Values) -> Decisions:
    """Runs against their neighbours."""
    differences, count = other - base, base.shape[1]
    before, after = base.mean(axis=1), other.mean(axis=1)
    told = np.log(after / before)
    error = np.sqrt(differences.var(axis=1, ddof=1) / count) / np.sqrt(before * after)
    half = student_t(LIMITS.level, count - 1) * error
    low, high = 100 * np.expm1(told - half), 100 * np.expm1(told + half)
    open_still = ((low > 0) | (high < 0)) & (np.abs(100 * np.expm1(told)) > LIMITS.noise_percent)
    different = open_still & (np.sign(differences).sum(axis=1) * told > 0)
    same = ~open_still & (low >= -LIMITS.margin_percent) & (high <= LIMITS.margin_percent)
    return Decisions(different, same, low, high, _p(told, error, np.full(len(told), count - 1.0)))


def _side(series: Sequence[Values]) -> _Side:
    means = np.stack([part.mean(axis=1) for part in series], axis=1)
    own = np.stack([part.var(axis=1, ddof=1) / part.shape[1] for part in series], axis=1) / means**2
    return _Side(series, means, own)


def _by_runs(left: _Side, right: _Side) -> tuple[Values, Values]:
    """(error, degrees of freedom) of Welch's test."""
    parts = [side.own / side.count**2 for side in (left, right)]
    error = sum(part.sum(axis=1) for part in parts)
    below = sum(
        (part**2 / [runs.shape[1] - 1 for runs in side.series]).sum(axis=1)
        for part, side in zip(parts, (left, right), strict=True)
    )
    return np.sqrt(error), error**2 / below


def _beside_trend(
    left: _Side, right: _Side, positions: Sequence[int], variance: Values, freedom: int
) -> list[tuple[Values, Values, Values]]:
    """The change beside a fitted trend with its error and freedom; nothing where they cannot be told apart."""
    logs = np.log(np.concatenate([left.means, right.means], axis=1))
    places = np.array(positions, float) - np.mean(positions)
    sides = np.repeat([0.0, 1.0], [left.count, right.count])
    sides -= sides.mean()
    logs = logs - logs.mean(axis=1, keepdims=True)
    trend, both = places @ places, sides @ places
    apart = sides @ sides - both**2 / trend
    rest_freedom = len(places) - 3 + freedom - (len(places) - 2)
    if rest_freedom < 1 or apart < 1e-9:
        return []
    slope = logs @ places
    change = (logs @ sides - both * slope / trend) / apart
    rest = np.maximum(0, (logs**2).sum(axis=1) - slope**2 / trend - change**2 * apart)
    elsewhere = np.maximum(0, variance * freedom - left.squares - right.squares)
    error = np.sqrt((rest + elsewhere) / rest_freedom / apart)
    return [(change, error, np.full(len(change), float(rest_freedom)))]


def _p(change: Values, error: Values, freedom: Values) -> Values:
    return np.asarray(2 * stdtr(freedom, -np.abs(change) / error))
