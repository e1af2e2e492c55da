"""The rule of ``forms.stats`` on many trials at once, a row a trial.

The product decides some trials of each cell as well, and must agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from forms.stats.changes import steady_trend_score
from forms.stats.decision import ChangeDecision, Limits, Verdict
from forms.stats.distributions import chi_square_quantile, student_t
from forms.stats.readings import LEAST_DEVIATION, hiccup_bound, most_hiccups
from forms.stats.variation import MOST, PER_RUN_DEVIATION, PRIOR_FREEDOM, SESSION, alternates
from forms.stats.verdict_rule import TREND_SHARE
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
class Readings:
    """Series read without their hiccups, a row a trial."""

    average: Values
    variance: Values
    freedom: int


def read_all(runs: Values) -> Readings:
    """The reading of a series of each trial, as :func:`forms.stats.readings.read_series` reads one."""
    count = runs.shape[1]
    logs = np.log(runs)
    from_middle = np.abs(logs - np.median(logs, axis=1, keepdims=True))
    nearest_first = np.argsort(from_middle, axis=1, kind="stable")
    sorted_logs = np.take_along_axis(logs, nearest_first, axis=1)
    sorted_runs = np.take_along_axis(runs, nearest_first, axis=1)

    average = runs.mean(axis=1)
    variance = logs.var(axis=1, ddof=1)
    is_read = np.zeros(len(runs), bool)
    for hiccups in range(most_hiccups(count), 0, -1):
        usual = sorted_logs[:, : count - hiccups]
        suspects = sorted_logs[:, count - hiccups :]
        center = usual.mean(axis=1, keepdims=True)
        deviation = np.maximum(usual.std(axis=1, ddof=1, keepdims=True), LEAST_DEVIATION)
        bound = hiccup_bound(count, hiccups) * deviation
        has_hiccups = (np.abs(suspects[:, :1] - center) > bound)[:, 0] & ~is_read
        pulled_in = np.clip(suspects, center - bound, center + bound)

        without = sorted_runs[:, : count - hiccups].mean(axis=1)
        average = np.where(has_hiccups, without, average)
        winsorised = np.concatenate([usual, pulled_in], axis=1).var(axis=1, ddof=1)
        variance = np.where(has_hiccups, winsorised, variance)
        is_read |= has_hiccups
    return Readings(average, variance, count - 1)


@dataclass(frozen=True, slots=True)
class Side:
    """The series of one side: a column a series."""

    averages: Values
    """Of the series, without hiccups."""
    run_variances: Values
    """Of the runs of each series, as logarithms."""
    run_freedoms: NDArray[np.float64]
    """Of each series."""
    places: Values
    """In time, a column a series: a row a trial, or one row for all."""

    @property
    def count(self) -> int:
        """Series."""
        return int(self.places.shape[1])

    @property
    def average(self) -> Values:
        """Of the side: each series counts once."""
        return np.asarray(self.averages.mean(axis=1))

    @property
    def logs(self) -> Values:
        """Of the series' averages."""
        return np.log(self.averages)

    @property
    def squares(self) -> Values:
        """Between the series."""
        return np.asarray(((self.logs - self.logs.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))

    @property
    def run_freedom(self) -> float:
        """Of all its runs."""
        return float(self.run_freedoms.sum())

    @property
    def run_variance(self) -> Values:
        """Pooled over the series."""
        return np.asarray(self.run_variances @ self.run_freedoms / self.run_freedom)

    @property
    def usual_run_variance(self) -> Values:
        """The median of the series' variances, made unbiased."""
        shares = [chi_square_quantile(0.5, freedom) / freedom for freedom in self.run_freedoms]
        return np.asarray(np.median(self.run_variances / np.array(shares), axis=1))


def plain_all(runs: Values) -> Readings:
    """The reading in which every run counts."""
    return Readings(runs.mean(axis=1), np.log(runs).var(axis=1, ddof=1), runs.shape[1] - 1)


def side(series: Sequence[Values], places: Sequence[float] | Values, *, alternating: bool = False) -> Side:
    """The series of one side, measured at these places in time."""
    readings = [plain_all(runs) if alternating else read_all(runs) for runs in series]
    return Side(
        averages=np.stack([reading.average for reading in readings], axis=1),
        run_variances=np.stack([reading.variance for reading in readings], axis=1),
        run_freedoms=np.array([float(reading.freedom) for reading in readings]),
        places=np.atleast_2d(places),
    )


def cautious(run_variance: Values, freedom: float) -> Values:
    """A run variance that allows for runs that happened to agree."""
    return run_variance * freedom / (freedom - 2)


def prior(cautious_variance: Values, per_run: float = PER_RUN_DEVIATION) -> Values:
    """The prior variance of a series' average."""
    return np.minimum(MOST**2, SESSION**2 + per_run**2 * cautious_variance)


@dataclass(frozen=True, slots=True)
class Scale:
    """How far the averages of equal series differ, a row a trial."""

    variance: Values
    freedom: Values

    @property
    def least_shown(self) -> Values:
        return np.asarray(stdtrit(self.freedom, (1 + LIMITS.level) / 2) * np.sqrt(self.variance))


def _repeats(groups: Sequence[Side], weights: Sequence[Values]) -> tuple[Values, Values]:
    """(squares, freedom) of the repeats in each group, weighted."""
    squares = sum((weight * group.squares for weight, group in zip(weights, groups, strict=True)), np.zeros(1))
    freedom = sum((weight * (group.count - 1) for weight, group in zip(weights, groups, strict=True)), np.zeros(1))
    return squares, freedom


def _updated(
    run_variance: Values, run_freedom: float, groups: Sequence[Side], weights: Sequence[Values], per_run: float
) -> Scale:
    """The prior of the runs, updated by repeats."""
    squares, repeats = _repeats(groups, weights)
    before = prior(cautious(run_variance, run_freedom), per_run)
    freedom = PRIOR_FREEDOM + repeats
    return Scale((PRIOR_FREEDOM * before + squares) / freedom, np.broadcast_to(freedom, before.shape))


def _scale(groups: Sequence[Side], weights: Sequence[Values], per_run: float) -> Scale:
    """By both sides alone, or with the earlier series, whichever claims less, unless those differ by more."""
    base, other, *earlier = groups
    freedom = 2 * min(base.run_freedom, other.run_freedom)
    own = (base.run_variance + other.run_variance) / 2
    alone = _updated(own, freedom, groups[:2], weights[:2], per_run)
    if not earlier:
        return alone
    (history,) = earlier
    together_freedom = freedom + history.run_freedom
    pooled = (own * freedom + history.usual_run_variance * history.run_freedom) / together_freedom
    together = _updated(pooled, together_freedom, groups, weights, per_run)

    squares, repeats = _repeats(earlier, weights[2:])
    by_sides = (squares <= repeats * alone.variance) & (alone.least_shown <= together.least_shown)
    return Scale(
        np.where(by_sides, alone.variance, together.variance), np.where(by_sides, alone.freedom, together.freedom)
    )


def decide_all(
    base: Sequence[Values],
    other: Sequence[Values],
    positions: Sequence[float] | Values,
    history: Sequence[Values] = (),
    history_places: Sequence[float] | Values = (),
    per_run: float = PER_RUN_DEVIATION,
) -> Decisions:
    """Whole series against whole series; ``per_run`` in place of the constant.

    Each trial may have times of its own, a row each, as long as they come in the same order in all.
    """
    times = np.atleast_2d(positions)
    order = np.argsort(np.argsort(times[0], kind="stable")).tolist()
    alone = alternates(order, len(base))
    left = side(base, times[:, : len(base)], alternating=alone)
    right = side(other, times[:, len(base) :], alternating=alone)
    earlier = side(history, history_places) if history else None
    groups = [left, right] if earlier is None else [left, right, earlier]

    told = np.log(right.average / left.average)
    gap = np.abs(left.places.mean(axis=1) - right.places.mean(axis=1))
    weights = [_weight(group, gap) for group in groups]
    if alone:
        squares, freedom = _repeats(groups, weights)
        variance = squares / freedom
    else:
        scale = _scale(groups, weights, per_run)
        variance, freedom = scale.variance, scale.freedom

    estimates: list[tuple[Values, Values, Values | float]] = [
        (told, np.sqrt(variance * (1 / left.count + 1 / right.count)), freedom)
    ]
    if alone:
        estimates.append((told, *_by_runs(left, right)))
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
    differences = other - base
    count = base.shape[1]
    before = base.mean(axis=1)
    after = other.mean(axis=1)
    told = np.log(after / before)
    residuals = other - (after / before)[:, np.newaxis] * base
    error = np.sqrt(residuals.var(axis=1, ddof=1) / count) / after
    half = student_t(LIMITS.level, count - 1) * error
    low, high = told - half, told + half
    order_tells = _signed_rank_p(differences) <= max(LIMITS.alpha, 2.0 ** (1 - count))
    low = np.where(order_tells, low, np.minimum(low, 0.0))
    high = np.where(order_tells, high, np.maximum(high, 0.0))
    return _decided(told, low, high, 2 * stdtr(count - 1.0, -np.abs(told) / error))


def _signed_rank_p(differences: Values) -> Values:
    """Wilcoxon's two-sided p, exact; made-up differences are never equal nor zero."""
    count = differences.shape[1]
    ranks = np.argsort(np.argsort(np.abs(differences), axis=1), axis=1) + 1
    positive = np.where(differences > 0, ranks, 0).sum(axis=1)
    extreme = np.minimum(positive, count * (count + 1) // 2 - positive)
    ways = np.ones(1)
    for rank in range(1, count + 1):
        ways = np.append(ways, np.zeros(rank)) + np.append(np.zeros(rank), ways)
    return np.asarray(np.minimum(1.0, 2 * np.cumsum(ways)[extreme] / 2.0**count))


def _decided(told: Values, low: Values, high: Values, p: Values) -> Decisions:
    low, high = 100 * np.expm1(low), 100 * np.expm1(high)
    different = ((low > 0) | (high < 0)) & (np.abs(100 * np.expm1(told)) > LIMITS.noise_percent)
    same = ~different & (low >= -LIMITS.margin_percent) & (high <= LIMITS.margin_percent)
    return Decisions(different, same, low, high, p)


def _by_runs(left: Side, right: Side) -> tuple[Values, Values]:
    """(error, degrees of freedom) of the runs alone, by Welch."""
    parts: list[tuple[Values, float]] = []
    for one in (left, right):
        for variance, freedom in zip(one.run_variances.T, one.run_freedoms, strict=True):
            parts.append((variance / (freedom + 1) / one.count**2, freedom))
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
