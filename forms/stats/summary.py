"""The statistics of a series: average, deviation, interval, unusual runs and drift, of plain sequences of numbers.

Every function takes the values in the order in which they were measured, in any unit, and says None where too few
values leave it undefined. scipy is loaded by the first call that needs Student's t, never by the import.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

UNUSUAL_SCORE = 3.5
"""The modified z-score beyond which a run is unusual (Iglewicz & Hoaglin 1993)."""

MAD_FLOOR_PERCENT = 0.5
"""The least median absolute deviation that is believed, in percent of the median.

Five runs within a few tenths of a percent have a median absolute deviation near zero, and without a floor the
slightest of differences is unusual. With this one no run is flagged within 2.6 % of the median (3.5 / 0.6745 x 0.5 %).
"""

MIN_FOR_DRIFT = 5
"""The least number of values whose order can be told from chance: 4 in perfect order still have p = 0.083."""

LONGEST_IN_PAIRS = 500
"""The most values that are compared each with each: 10,000 would make 50 million pairs."""

TOO_LITTLE_WARM_UP = "too little warm-up"
DRIFT_ALPHA = 0.05
EXACT_DRIFT_MAX = 60
"""The most values whose trend is tested by counting all orders; beyond it the normal approximation is as good."""


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


def confidence_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float] | None:
    """The interval of the mean by Student's t, (low, high) in the values' unit; None for fewer than two values."""
    half = _half_width(values, level)
    if half is None:
        return None
    middle = statistics.fmean(values)
    return middle - half, middle + half


def half_width_percent(values: Sequence[float], level: float = 0.95) -> float | None:
    """Half the interval of the mean in percent of the mean, as ``--until`` takes it; None as for the deviation."""
    return _percent_of_mean(_half_width(values, level), values)


def student_t(level: float, degrees_of_freedom: float) -> float:
    """The two-sided quantile of Student's t: the interval of ``level`` reaches so many standard errors each way."""
    from scipy.special import stdtrit  # noqa: PLC0415  scipy takes a third of a second to load

    return float(stdtrit(degrees_of_freedom, (1 + level) / 2))


def modified_z_scores(values: Sequence[float]) -> list[float]:
    """0.6745 x (value - median) / MAD of each value (Iglewicz & Hoaglin 1993), the MAD floored.

    The floor is :data:`MAD_FLOOR_PERCENT` of the median. Equal values all have a score of zero.
    """
    if not values:
        return []
    middle = statistics.median(values)
    mad = statistics.median(abs(v - middle) for v in values)
    scale = max(mad, abs(middle) * MAD_FLOOR_PERCENT / 100)
    return [0.6745 * (v - middle) / scale if scale else 0.0 for v in values]


def unusual(rates: Sequence[float]) -> list[str | None]:
    """Why each run is unusual, in words with its figures, or None; ``rates`` in any unit of throughput.

    Slow runs at the start, before any usual one, are named as what they are: too little warm-up.
    """
    scores = modified_z_scores(rates)
    middle = statistics.median(rates) if rates else 0.0
    reasons: list[str | None] = []
    warming = True
    for rate, score in zip(rates, scores, strict=True):
        if abs(score) <= UNUSUAL_SCORE:
            reasons.append(None)
            warming = False
            continue
        slow = score < 0
        how_far = f"{abs(rate - middle) / middle:.1%}" if middle else "far"
        text = (
            f"{how_far.replace('%', ' %')} {'slower' if slow else 'faster'} than the median run"
            f" (modified z-score {score:+.1f}, usual within ±{UNUSUAL_SCORE})"
        )
        warming = warming and slow
        reasons.append(f"{TOO_LITTLE_WARM_UP}: {text}" if warming else text)
    return reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The trend over a series."""

    percent: float
    """From the first run to the last along the Theil-Sen line, in percent of the median; negative: falling."""
    values: tuple[float, ...]
    """What it is the trend of."""

    @property
    def p_value(self) -> float:
        """Of the two-sided Mann-Kendall test: how often chance alone puts values in such an order."""
        from scipy.stats import kendalltau  # noqa: PLC0415  takes longer to load than the rest of a form to be made

        n, different = len(self.values), len(set(self.values))
        if different == 1:
            return 1.0
        exact = different == n <= EXACT_DRIFT_MAX
        return float(kendalltau(range(n), self.values, method="exact" if exact else "asymptotic").pvalue)

    @property
    def significant(self) -> bool:
        """Whether chance is an unlikely explanation (p below 0.05)."""
        return self.p_value < DRIFT_ALPHA


def drift(values: Sequence[float]) -> Drift | None:
    """The trend over the values, in their order; None for fewer than five, where no order is telling.

    Mann 1945 and Kendall 1975 for the test (exact without ties up to 60 values, else normal with the tie correction),
    Theil 1950 and Sen 1968 for the slope. All pairs are compared, so a long series is first thinned to the means of
    neighbours, which keep a trend.
    """
    values = _thinned(values)
    n = len(values)
    if n < MIN_FOR_DRIFT:
        return None
    middle = statistics.median(values)
    slopes = [(values[j] - values[i]) / (j - i) for i in range(n) for j in range(i + 1, n)]
    percent = 100 * statistics.median(slopes) * (n - 1) / middle if middle else 0.0
    return Drift(percent=percent, values=tuple(values))


def _thinned(values: Sequence[float]) -> Sequence[float]:
    """The values, or at most ``LONGEST_IN_PAIRS`` means of as many neighbours each."""
    each = math.ceil(len(values) / LONGEST_IN_PAIRS)
    if each <= 1:
        return values
    return [statistics.fmean(values[start : start + each]) for start in range(0, len(values), each)]


def _half_width(values: Sequence[float], level: float) -> float | None:
    spread = deviation(values)
    if spread is None:
        return None
    return student_t(level, len(values) - 1) * spread / math.sqrt(len(values))


def _percent_of_mean(amount: float | None, values: Sequence[float]) -> float | None:
    middle = mean(values)
    return None if amount is None or not middle else 100 * amount / abs(middle)
