"""The rule of ``forms.stats`` on many trials at once, a row a trial.

The product decides some trials of each cell as well, and must agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from forms.stats.decision import (
    MOST,
    PER_RUN_DEVIATION,
    PRIOR_FREEDOM,
    SESSION,
    TREND_SHARE,
    ChangeDecision,
    Limits,
    Verdict,
    alternates,
    steady_trend_score,
)
from forms.stats.summary import student_t
from tests.truth.timelines import Values

LIMITS = Limits()
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Decisions:
    """What is decided of each trial."""

    different: Flags
    same: Flags
    low: Values
    """Of the interval, percent."""
    high: Values
    p: Values

    def agrees(self, trial: int, told: ChangeDecision) -> bool:
        """Whether the product decides that trial alike."""
        different = told.verdict in (Verdict.FASTER, Verdict.SLOWER)
        if (bool(self.different[trial]), bool(self.same[trial])) != (different, told.verdict is Verdict.SAME):
            return False
        edges = (self.low[trial], self.high[trial], self.p[trial])
        expected = (*(told.interval_percent or (np.nan, np.nan)), told.p_value)
        return bool(np.allclose(edges, np.array(expected, float), rtol=1e-6, atol=1e-9))


@dataclass(frozen=True, slots=True)
class Side:
    """The series of one side: a column a series."""

    logs: Values
    """Of the series' means."""
    average: Values
    run_squares: Values
    """Of the runs about their series' mean, as logarithms, summed."""
    run_freedom: int
    places: Values
    """In time, a column a series: a row a trial, or one row for all."""

    @property
    def count(self) -> int:
        """Series."""
        return int(self.places.shape[1])

    @property
    def squares(self) -> Values:
        """Between the series."""
        return np.asarray(((self.logs - self.logs.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))


def side(series: Sequence[Values], places: Sequence[float] | Values) -> Side:
    """The series of one side, measured at these places in time."""
    logs = [np.log(part) for part in series]
    squares = sum(((one - one.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) for one in logs)
    means = np.stack([part.mean(axis=1) for part in series], axis=1)
    freedom = sum(part.shape[1] - 1 for part in series)
    return Side(np.log(means), means.mean(axis=1), np.asarray(squares), freedom, np.atleast_2d(places))


def prior(run_variance: Values, freedom: float) -> Values:
    """The prior variance of a series' average."""
    return np.minimum(MOST**2, SESSION**2 + PER_RUN_DEVIATION**2 * run_variance * freedom / (freedom - 2))


def decide_all(
    base: Sequence[Values],
    other: Sequence[Values],
    positions: Sequence[float] | Values,
    history: Sequence[Values] = (),
    history_places: Sequence[float] | Values = (),
    per_run: float | None = None,
) -> Decisions:
    """Whole series against whole series; ``per_run`` in place of the constant.

    Each trial may have times of its own, a row each, as long as they come in the same order in all.
    """
    times = np.atleast_2d(positions)
    left, right = side(base, times[:, : len(base)]), side(other, times[:, len(base) :])
    order = np.argsort(np.argsort(times[0], kind="stable")).tolist()
    groups = [left, right, *([side(history, history_places)] if history else [])]
    told = np.log(right.average / left.average)
    gap = np.abs(left.places.mean(axis=1) - right.places.mean(axis=1))
    weights = [_weight(group, gap) for group in groups]
    repeats = sum((weight * (group.count - 1) for weight, group in zip(weights, groups, strict=True)), np.zeros(1))
    squares = sum((weight * group.squares for weight, group in zip(weights, groups, strict=True)), np.zeros(len(told)))
    alone = alternates(order, left.count)
    if alone:
        variance, freedom = squares / repeats, repeats
    else:
        known = 2 * min(left.run_freedom, right.run_freedom)
        runs = (left.run_squares / left.run_freedom + right.run_squares / right.run_freedom) / 2 * known
        for group in groups[2:]:
            runs, known = runs + group.run_squares, known + group.run_freedom
        scale = 1.0 if per_run is None else (per_run / PER_RUN_DEVIATION) ** 2
        before = prior(scale * runs / known, known)
        freedom = PRIOR_FREEDOM + repeats
        variance = (PRIOR_FREEDOM * before + squares) / freedom
    estimates: list[tuple[Values, Values, Values | float]] = [
        (told, np.sqrt(variance * (1 / left.count + 1 / right.count)), freedom)
    ]
    if alone:
        estimates.append((told, *_by_runs(base, other)))
    if len(order) >= 4:
        score = steady_trend_score(order, left.count)
        if score > TREND_SHARE * student_t(LIMITS.level, len(order) - 2):
            estimates += _beside_trend(left, right, order, weights[:2], variance * freedom, freedom)
    halves = [(change, stdtrit(known, (1 + LIMITS.level) / 2) * error) for change, error, known in estimates]
    low = np.min([change - half for change, half in halves], axis=0)
    high = np.max([change + half for change, half in halves], axis=0)
    p = np.max([2 * stdtr(known, -np.abs(change) / error) for change, error, known in estimates], axis=0)
    return _decided(told, low, high, p)


def decide_all_interleaved(base: Values, other: Values) -> Decisions:
    """Runs against their neighbours."""
    differences, count = other - base, base.shape[1]
    before, after = base.mean(axis=1), other.mean(axis=1)
    told = np.log(after / before)
    error = np.sqrt(differences.var(axis=1, ddof=1) / count) / np.sqrt(before * after)
    half = student_t(LIMITS.level, count - 1) * error
    return _decided(told, told - half, told + half, 2 * stdtr(count - 1.0, -np.abs(told) / error))


def _decided(told: Values, low: Values, high: Values, p: Values) -> Decisions:
    low, high = 100 * np.expm1(low), 100 * np.expm1(high)
    different = ((low > 0) | (high < 0)) & (np.abs(100 * np.expm1(told)) > LIMITS.noise_percent)
    same = ~different & (low >= -LIMITS.margin_percent) & (high <= LIMITS.margin_percent)
    return Decisions(different, same, low, high, p)


def _by_runs(base: Sequence[Values], other: Sequence[Values]) -> tuple[Values, Values]:
    """(error, degrees of freedom) of the runs alone, by Welch."""
    parts = [
        (np.log(part).var(axis=1, ddof=1) / part.shape[1] / len(sides) ** 2, part.shape[1] - 1)
        for sides in (base, other)
        for part in sides
    ]
    error = np.asarray(sum(part for part, _ in parts))
    return np.sqrt(error), error**2 / sum(part**2 / freedom for part, freedom in parts)


def _weight(group: Side, gap: Values) -> Values:
    """What the repeats of a group count; made-up series are never old."""
    span = np.ptp(group.places, axis=1)
    return np.asarray(np.divide(span, gap, out=np.ones(np.broadcast(span, gap).shape), where=span < gap))


def _beside_trend(
    left: Side, right: Side, order: Sequence[int], weights: Sequence[Values], known: Values, freedom: Values
) -> list[tuple[Values, Values, Values | float]]:
    """The change beside a fitted trend with its error and freedom; nothing where they cannot be told apart."""
    logs = np.concatenate([left.logs, right.logs], axis=1)
    places = np.array(order) - np.mean(order)
    sides = np.repeat([0.0, 1.0], [left.count, right.count])
    sides -= sides.mean()
    logs = logs - logs.mean(axis=1, keepdims=True)
    trend, both = places @ places, sides @ places
    apart = sides @ sides - both**2 / trend
    if apart < 1e-9:
        return []
    slope = logs @ places
    change = (logs @ sides - both * slope / trend) / apart
    rest = np.maximum(0, (logs**2).sum(axis=1) - slope**2 / trend - change**2 * apart)
    own = sum(weight * (part.count - 1) for weight, part in zip(weights, (left, right), strict=True))
    own_squares = weights[0] * left.squares + weights[1] * right.squares
    counted = own / (len(places) - 2)
    left_over = freedom - own + counted * (len(places) - 3)
    error = np.sqrt((np.maximum(0, known - own_squares) + counted * rest) / left_over / apart)
    return [(change, error, left_over)]
