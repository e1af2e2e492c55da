"""A series that stands out among the repeats of its side: further from the others than these are from one another."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import fmean

from forms.comparison.judged_sides import Sides
from forms.stats.decision import ChangeDecision
from forms.stats.readings import read_series
from storage.records import Series

LEAST_SERIES = 3
"""Of two nobody can say which one stands out."""

LEAST_PERCENT = 5.0
"""From the mean of the others: less counts as no change in a comparison either (its margin)."""

TIMES_APART = 4.0
"""How many times further than the others lie apart among themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutstandingSeries:
    """A series whose average is far from those of the other series of its side."""

    series_id: str
    side_id: str
    """Of the first series of its side."""
    number: int
    """Its place among them in the order in which they were measured, from 1."""
    count: int
    """The number of series of the side."""
    percent: float
    """How far it is from the mean of the others; below 0 it is slower."""
    decision: ChangeDecision
    """The decision without it."""


def outstanding_series(sides: Sides, decide: Callable[[Sides], ChangeDecision]) -> Iterator[OutstandingSeries]:
    """Those of both sides, at most one of each; ``decide`` decides on sides that lack it."""
    place = _outstanding_place(sides.base)
    if place is not None:
        others = (*sides.base[:place], *sides.base[place + 1 :])
        yield _outstanding(sides.base, place, decide(replace(sides, base=others)))

    place = _outstanding_place(sides.other)
    if place is not None:
        others = (*sides.other[:place], *sides.other[place + 1 :])
        yield _outstanding(sides.other, place, decide(replace(sides, other=others)))


def _outstanding_place(side: Sequence[Series]) -> int | None:
    """The place of the series that stands out on a side; None where none does."""
    if len(side) < LEAST_SERIES or not all(series.rates() for series in side):
        return None

    averages = _averages_of(side)
    for place in range(len(side)):
        others = [*averages[:place], *averages[place + 1 :]]
        apart_percent = 100 * (max(others) - min(others)) / fmean(others)
        percent = abs(_percent_from_others(averages, place))
        if percent >= max(LEAST_PERCENT, TIMES_APART * apart_percent):
            return place
    return None


def _averages_of(side: Sequence[Series]) -> list[float]:
    """Without runs that a verdict leaves out: they make no series stand out."""
    return [read_series(series.rates()).average for series in side]


def _percent_from_others(averages: Sequence[float], place: int) -> float:
    return 100 * (averages[place] / fmean([*averages[:place], *averages[place + 1 :]]) - 1)


def _outstanding(side: Sequence[Series], place: int, decision: ChangeDecision) -> OutstandingSeries:
    series = side[place]
    in_time = sorted(side, key=attrgetter("created_at"))
    return OutstandingSeries(
        series_id=series.id,
        side_id=side[0].id,
        number=in_time.index(series) + 1,
        count=len(side),
        percent=_percent_from_others(_averages_of(side), place),
        decision=decision,
    )
