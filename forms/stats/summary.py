"""Averages, deviations and intervals of values in any unit; None where there are too few values for one."""

import math
import statistics
from collections.abc import Sequence

from forms.stats.distributions import student_t

LEVEL = 0.95
"""Of every confidence interval that is shown, unless another is named."""

VARIATION_PERCENT = 5.0
"""The deviation of a series' runs above which its form warns of it and a list marks it."""

_RISK_A_RUN = 0.0008
"""One-sided risk for each run, of the interval that ``--until`` waits for."""

_LEAST_ONE_SIDED_LEVEL = 0.978
"""Its one-sided level of many runs."""


def values_needed(share: float) -> int:
    """How many values a percentile needs so that at least one lies beyond it."""
    return round(1 / (1 - share))


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None for no values."""
    return statistics.fmean(values) if values else None


def median(values: Sequence[float]) -> float | None:
    """The middle value, or the mean of the two middle ones; None for no values."""
    return statistics.median(values) if values else None


def deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation (n - 1); None for fewer than two values."""
    return statistics.stdev(values) if len(values) > 1 else None


def deviation_percent(values: Sequence[float]) -> float | None:
    """The deviation in percent of the mean; None for fewer than two values or a mean of zero."""
    return _percent_of_mean(deviation(values), values)


def confidence_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float] | None:
    """The interval of the mean by Student's t, (low, high); None below two values."""
    half = half_width(values, level)
    if half is None:
        return None
    middle = statistics.fmean(values)
    return middle - half, middle + half


def half_width(values: Sequence[float], level: float = LEVEL) -> float | None:
    """Half the interval of the mean by Student's t: t(level, n - 1) · s / √n; None below two values."""
    spread = deviation(values)
    if spread is None:
        return None
    return student_t(level, len(values) - 1) * spread / math.sqrt(len(values))


def half_width_percent(values: Sequence[float], level: float = LEVEL) -> float | None:
    """Half the interval in percent of the mean; None as for the deviation."""
    return _percent_of_mean(half_width(values, level), values)


def known_to_percent(values: Sequence[float]) -> float | None:
    """The ± in percent of the mean that ``--until`` waits for; None as for the deviation.

    Whoever stops at the first interval that is narrow enough picks lucky ones. So its level is higher for few runs:
    99.2 % of five, 95.6 % from 28 on. Then 95 % of the intervals at which runs stop hold the true mean, up to a
    deviation of 5 % (simulated, TRUTH.md).
    """
    one_sided_level = max(_LEAST_ONE_SIDED_LEVEL, 1 - _RISK_A_RUN * len(values))
    return half_width_percent(values, 2 * one_sided_level - 1)


def _percent_of_mean(amount: float | None, values: Sequence[float]) -> float | None:
    middle = mean(values)
    if amount is None or not middle:
        return None
    return 100 * amount / abs(middle)
