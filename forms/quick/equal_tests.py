"""The rate that an equal quick test hardly exceeds, by the three runs of one.

Equal quick tests differ by more than the runs within one of them. How far equal series differ is assumed as verdicts
assume it (`forms.stats.variation`): the average of the next one lies below the interval's upper end in 19 of 20. What
disturbs a run only slows it, so that no quick test is faster than the fastest run by much.
"""

import math
from collections.abc import Sequence

from forms.stats.readings import read_series
from forms.stats.variation import side_run_variance, updated_prior

TWO_SIDED_LEVEL = 0.9
"""One in twenty lies above such an interval, and one below."""
MOST_FACTOR = 1.75
"""Of the fastest run; what is assumed of three runs that differ much would else have no bound."""


def most_bytes_per_second(rates: Sequence[float]) -> float:
    """No less than the fastest run; that itself of fewer than three runs, which do not tell how they vary."""
    fastest = max(rates)
    # Both sides have these runs: the next quick test is like this one.
    runs = side_run_variance([[rates], [rates]])
    if runs.freedom <= 2:
        return fastest

    variation = updated_prior(runs, 0.0, 0.0)
    by_interval = math.exp(read_series(rates).log_average + variation.least_shown(1, 1, TWO_SIDED_LEVEL))
    return max(fastest, min(by_interval, MOST_FACTOR * fastest))
