"""The smallest change that each way to measure shows nine times in ten: more series, alternating ones, or a trial.

A *session* is the time of one series: equal series differ by their runs, and by what differs from session to session.
"""

import math
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from forms.stats import distributions
from forms.stats.changes import percent_of
from forms.stats.decision import LEAST_RUNS, Limits
from forms.stats.needed_runs import POWER
from forms.stats.summary import LEVEL
from forms.stats.variation import RunVariance, side_run_variance, updated_prior

NORMAL_QUANTILE_90 = 1.2816
"""z of 90 %: nine times in ten a normal value is less than z standard deviations above its mean."""

PAIRS = (8, 14, 20)
"""The numbers of pairs after which a trial may decide."""

_SHOWN_BY_PAIRS = (
    (0.0, (1.0, 1.0, 1.0)),
    (0.1, (1.1, 1.1, 1.1)),
    (0.3, (1.4, 1.2, 1.2)),
    (1.0, (2.5, 1.8, 1.6)),
    (2.0, (5.0, 3.5, 2.6)),
    (5.0, (13.0, 9.0, 6.4)),
    (10.0, (27.0, 19.0, 13.0)),
)
"""(deviation of the runs in percent, changes in percent that 8, 14 and 20 pairs find), simulated in tests/truth."""


def shown_by_series(
    runs: RunVariance, *, base: int = 1, other: int = 1, repeats: float = 0.0, spread: float = 0.0
) -> float:
    """The change in percent that whole series show, by the variation that ``compare`` judges them by.

    ``base`` and ``other`` are the numbers of series a side, ``runs`` is what their runs vary by. ``repeats`` are the
    degrees of freedom of repeated series, which differ by ``spread`` (a deviation, as a logarithm).

    Half the interval of ``compare``, and what it may be wider by in nine of ten comparisons, combined (as a root of
    squares) with how far the seen change lies from the true one at most: z · spread · √(1/base + 1/other).
    """

    def half_interval(times_as_variable: float) -> float:
        possible_runs = RunVariance(runs.variance * times_as_variable, runs.freedom)
        judged_by = updated_prior(possible_runs, repeats, repeats * spread**2)
        return judged_by.least_shown(base, other, LEVEL)

    usual = half_interval(1.0)
    wide = usual
    if runs.freedom:
        # How many times the variance is what it turns out to be in nine of ten comparisons at most.
        wide = half_interval(distributions.chi_square_quantile(0.9, runs.freedom) / runs.freedom)
    error = spread * math.sqrt(1 / base + 1 / other)
    return percent_of(usual + math.hypot(wide - usual, NORMAL_QUANTILE_90 * error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The changes in percent that measuring like a series finds nine times in ten."""

    series_percent: float
    """By one more series, compared with this one."""
    pairs_percent: float
    """By the first look of a trial (8 interleaved pairs)."""


def shown_like(rates: Sequence[float]) -> Shown | None:
    """What series like this one show, by the rates of its runs; None for fewer runs than a verdict needs."""
    if len(rates) < LEAST_RUNS or min(rates) <= 0:
        return None
    runs = side_run_variance([[rates], [rates]])
    run_deviation = math.sqrt(runs.variance)
    series = shown_by_series(runs, spread=run_deviation / math.sqrt(len(rates)))
    return Shown(series_percent=series, pairs_percent=shown_by_pairs(run_deviation))


def shown_by_alternating(spread: float, series: int, limits: Limits) -> float:
    """The change in percent that alternating series show, ``series`` a side.

    ``spread`` is the deviation of a series' average, as a logarithm.
    """
    # One less for the average of each side.
    freedom = 2 * series - 2
    error = spread * math.sqrt(2 / series)
    bound = distributions.student_t(limits.level, freedom)
    beyond_chance = distributions.noncentral_t_shift(bound, freedom, POWER) * error
    return max(percent_of(beyond_chance), limits.noise_percent + 100 * NORMAL_QUANTILE_90 * error)


def shown_by_pairs(run_deviation: float, pairs: int = PAIRS[0]) -> float:
    """The change in percent that 8, 14 or 20 pairs of a trial show; ``run_deviation`` is a logarithm."""
    column = PAIRS.index(pairs)
    percent = 100 * run_deviation

    # Between two rows of the table in proportion; beyond the last as its last two rows continue.
    place = min(bisect([row[0] for row in _SHOWN_BY_PAIRS], percent), len(_SHOWN_BY_PAIRS) - 1)
    low, below = _SHOWN_BY_PAIRS[place - 1]
    high, above = _SHOWN_BY_PAIRS[place]
    share = (percent - low) / (high - low)
    return below[column] + share * (above[column] - below[column])
