"""What the runs of one series say together, where one or two of them may be hiccups.

A machine that pauses now and then has one slow run in a series whose other runs agree. Averaged like the others, it
moves the average by a fifth of its own deviation, and multiplies the variation by which a change is judged. So:

- A *hiccup* is a run further from the others than :func:`hiccup_bound` times their standard deviation: the deleted
  residual of Grubbs (1969), or of Rosner (1983) for two, at a level that depends on the number of runs.
- The average is that of the other runs.
- The variance still counts the hiccup, pulled in to the bound (winsorised: Tukey & McLaughlin 1963; as Yuen 1974 does
  for a trimmed mean), so that a series with a hiccup is less certain than one without.

At most one run in five is a hiccup, and at most two: where more of them are slow, that is how the path behaves. Of
three or four runs none can be told from the others.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from forms.stats.distributions import student_t

Rates = Sequence[float]
"""The throughputs of a series' runs in the order measured, in any unit."""

HICCUP_SHARE = 0.25
"""The share of series of normal runs in which one is read as a hiccup, about.

That costs little, as the run still counts at the bound. With 0.1, a run 20 % slower among runs that vary by 2 % hides a
change of -40 % in 17 of 100, with 0.25 in 6 (simulated: tests/truth).
"""

LEAST_DEVIATION = 0.005
"""The least standard deviation assumed of the other runs, so that the slightest difference is no hiccup; as in the
floor under the MAD of unusual runs."""

RUNS_A_HICCUP = 5
MOST_HICCUPS = 2


@dataclass(frozen=True, slots=True)
class SeriesReading:
    """A series as one value and what its runs vary by."""

    average: float
    """The mean of the runs without hiccups, in the unit of the rates."""
    variance: float
    """Of the logarithms of the runs, with hiccups pulled in to the bound."""
    freedom: int
    hiccups: tuple[int, ...] = ()
    """The places of the runs that the average leaves out."""

    @property
    def log_average(self) -> float:
        return math.log(self.average)


def read_series(rates: Rates) -> SeriesReading:
    return _read(tuple(rates))


def without_hiccups(rates: Rates) -> list[float]:
    """The rates that the average of comparisons is of."""
    if not rates or min(rates) <= 0:
        return list(rates)
    hiccups = read_series(rates).hiccups
    return [rate for place, rate in enumerate(rates) if place not in hiccups]


def plain_reading(rates: Rates) -> SeriesReading:
    """The reading of values that have no hiccups: all of them count."""
    variance = statistics.variance(math.log(rate) for rate in rates) if len(rates) > 1 else 0.0
    return SeriesReading(average=statistics.fmean(rates), variance=variance, freedom=len(rates) - 1)


def most_hiccups(runs: int) -> int:
    return min(MOST_HICCUPS, runs // RUNS_A_HICCUP)


@lru_cache(maxsize=1024)
def hiccup_bound(runs: int, hiccups: int) -> float:
    """The standard deviations of the other runs beyond which the nearest of ``hiccups`` runs is one."""
    others = runs - hiccups
    return student_t(1 - HICCUP_SHARE / runs, others - 1) * math.sqrt(1 + 1 / others)


@lru_cache(maxsize=4096)
def _read(rates: tuple[float, ...]) -> SeriesReading:
    """The reading of a series; kept, because a history asks for those of the same series again and again."""
    logs = [math.log(rate) for rate in rates]
    middle = statistics.median(logs)
    nearest_first = sorted(range(len(logs)), key=lambda place: abs(logs[place] - middle))

    for count in range(most_hiccups(len(rates)), 0, -1):
        others = nearest_first[:-count]
        suspects = nearest_first[-count:]
        usual_logs = [logs[place] for place in others]
        center = statistics.fmean(usual_logs)
        deviation = max(statistics.stdev(usual_logs), LEAST_DEVIATION)
        bound = hiccup_bound(len(rates), count) * deviation

        if abs(logs[suspects[0]] - center) > bound:
            pulled_in = [_pull_in(logs[place], center, bound) for place in suspects]
            return SeriesReading(
                average=statistics.fmean([rates[place] for place in others]),
                variance=statistics.variance([*usual_logs, *pulled_in]),
                freedom=len(rates) - 1,
                hiccups=tuple(sorted(suspects)),
            )

    return plain_reading(rates)


def _pull_in(log: float, center: float, bound: float) -> float:
    """The value nearest to ``log`` that lies within the bound around the center."""
    return min(max(log, center - bound), center + bound)
