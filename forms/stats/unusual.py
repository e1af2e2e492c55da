"""Which runs of a series are unusual: further from the median than the others vary.

A run is judged by its modified z-score. The score from which it is unusual depends on the number of runs, so that
about one healthy series in twenty has a run that is called unusual, however many runs it has.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

UNUSUAL_SCORES = {3: 22.0, 4: 6.9, 5: 7.9, 6: 5.5, 7: 5.9, 8: 4.9, 9: 5.1, 10: 4.6, 12: 4.4, 15: 4.3, 18: 4.1, 25: 3.9}
"""By the number of runs: the score beyond which a run is unusual, so that one is in 5 % of healthy series (simulated).

The 3.5 of Iglewicz & Hoaglin 1993 holds for many values; of five it would flag one in every fifth healthy series.
"""

_UNUSUAL_OF_MANY = 3.8
"""From 30 runs to hundreds: more runs, but better known variation."""

MAD_FLOOR_PERCENT = 0.5
"""Least median absolute deviation, in percent of the median: else five nearly equal runs flag the slightest difference.
With it no run of five is flagged within 5.9 % of the median (7.9 / 0.6745 x 0.5 %), none of thirty within 2.8 %.
"""


def modified_z_scores(values: Sequence[float], clock_percent: float = 0.0) -> list[float]:
    """0.6745 · (value - median) / MAD (Iglewicz & Hoaglin 1993); 0 for equal values.

    MAD is the median of |value - median|, at least :data:`MAD_FLOOR_PERCENT` of the median, or half of
    ``clock_percent``. Of normal values MAD is 0.6745 standard deviations, so that the score counts these.
    """
    if not values:
        return []
    middle = statistics.median(values)
    mad = statistics.median(abs(value - middle) for value in values)
    scale = max(mad, abs(middle) * max(MAD_FLOOR_PERCENT, clock_percent / 2) / 100)
    if not scale:
        return [0.0] * len(values)
    return [0.6745 * (value - middle) / scale for value in values]


def unusual_score(runs: int) -> float:
    """The modified z-score beyond which a run is unusual; between two rows of the table the higher."""
    scores = [score for count, score in UNUSUAL_SCORES.items() if count <= runs]
    if not scores:
        return math.inf
    return scores[-1] if runs < 30 else _UNUSUAL_OF_MANY


def clock_percent(seconds: Sequence[float]) -> float:
    """One clock step in percent of a run: the coarsest of 1, 0.1, 0.01, 0.001 s that divides all times; 0 if finer."""
    if not seconds:
        return 0.0
    for step in (1.0, 0.1, 0.01, 0.001):
        if all(abs(time / step - round(time / step)) < 1e-6 for time in seconds):
            return 100 * step / statistics.median(seconds)
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusualRate:
    """A rate that lies further from the median than the others vary."""

    share_of_median: float | None
    """How far from the median, as a share of it; None of a median of zero."""
    score: float
    """The modified z-score; below 0 the rate is slow."""
    bound: float
    """The score beyond which it is unusual."""
    is_warm_up: bool
    """Whether it is slow, and so are all rates before it: there was too little warm-up."""

    @property
    def is_slow(self) -> bool:
        return self.score < 0


def unusual_rates(rates: Sequence[float], seconds: Sequence[float] = ()) -> list[UnusualRate | None]:
    """What is unusual of each rate, in their order; None for a usual one.

    ``rates`` in any unit; ``seconds`` are the times of the runs, which tell how finely the clock measures.
    """
    if not rates:
        return []
    scores = modified_z_scores(rates, clock_percent(seconds))
    bound = unusual_score(len(rates))
    middle = statistics.median(rates)

    answers: list[UnusualRate | None] = []
    is_warming_up = True
    for rate, score in zip(rates, scores, strict=True):
        if abs(score) <= bound:
            answers.append(None)
            is_warming_up = False
            continue

        is_warming_up = is_warming_up and score < 0
        share = abs(rate - middle) / middle if middle else None
        answers.append(UnusualRate(share_of_median=share, score=score, bound=bound, is_warm_up=is_warming_up))
    return answers
