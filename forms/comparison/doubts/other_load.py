"""How much of the client's processors other programs took on each side of a comparison, and whether that is as much."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from forms.comparison.judged_sides import Sides
from storage.records import Series

LEAST_PERCENT = 20.0
"""From as much on the quiet-time check calls other programs busy, because it can change a result by percents."""

ABOUT_EQUAL_POINTS = 10.0
"""Half of that changes less than equal series differ by, which the range of a change allows for.

It is a limit for the difference, and none for what the others leave: where the processors are full, a faster transfer
takes more of them by itself, so that what is left would differ by its own gain.
"""

_EQUAL_TRAFFIC = 0.05
"""Of the rate: what others move over the link beside it is a busy time from as much on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLoad:
    """What other programs took of the client's processors during the runs, in percent: the mean of a side's series."""

    base_percent: float
    other_percent: float

    @property
    def is_about_equal(self) -> bool:
        return abs(self.base_percent - self.other_percent) <= ABOUT_EQUAL_POINTS

    @property
    def is_base_busier(self) -> bool:
        return not self.is_about_equal and self.base_percent > self.other_percent

    @property
    def is_other_busier(self) -> bool:
        return not self.is_about_equal and self.other_percent > self.base_percent


def other_load_of(sides: Sides) -> OtherLoad | None:
    """None where a figure is missing, the processors were not what was busy, or something else was busier as well."""
    base_percent = _mean_figure(sides.base, "others_cpu_percent_during")
    other_percent = _mean_figure(sides.other, "others_cpu_percent_during")
    if base_percent is None or other_percent is None or max(base_percent, other_percent) < LEAST_PERCENT:
        return None
    if not (_has_equal_traffic(sides) and _has_equal_stolen_time(sides)):
        return None
    return OtherLoad(base_percent=base_percent, other_percent=other_percent)


def _has_equal_traffic(sides: Sides) -> bool:
    base_traffic = _mean_figure(sides.base, "others_link_bytes_per_second_during") or 0.0
    other_traffic = _mean_figure(sides.other, "others_link_bytes_per_second_during") or 0.0
    rates = [fmean(series.rates()) for series in (*sides.base, *sides.other) if series.rates()]
    return not rates or abs(base_traffic - other_traffic) < _EQUAL_TRAFFIC * min(rates)


def _has_equal_stolen_time(sides: Sides) -> bool:
    """Whether the hypervisor took about as much of the processors on both sides."""
    base_percent = _mean_figure(sides.base, "stolen_percent_during") or 0.0
    other_percent = _mean_figure(sides.other, "stolen_percent_during") or 0.0
    return abs(base_percent - other_percent) <= ABOUT_EQUAL_POINTS


def _mean_figure(side: Sequence[Series], name: str) -> float | None:
    """The mean of a figure of quiet time; None where a series of the side lacks it."""
    figures = [series.quiet.figures.get(name) if series.quiet else None for series in side]
    known_figures = [figure for figure in figures if figure is not None]
    return fmean(known_figures) if known_figures and len(known_figures) == len(figures) else None
