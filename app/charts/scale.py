"""The scale of a chart: from which value to which it goes, in which unit, and which ticks it has.

Of all scales that fit, the one is chosen that uses most of the height and has the roundest steps.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from forms.wording import with_minus

RATE = "bytes/sec"
"""The unit of a chart whose numbers are shown in kB/s to TB/s."""

_UNITS = ((10**12, "TB/s"), (10**9, "GB/s"), (10**6, "MB/s"), (10**3, "kB/s"))
_STEPS = (1, 2, 5, 10, 2.5, 4, 1.5, 3, 6, 8)
"""The roundest first."""
_ALIKE = 1e-4
"""Share of the largest value up to which values are one value to a reader."""
_LESS_ROUND = 0.04
"""Cost of each position in that list, as a share of the unused height."""
_ONE_INTERVAL = 0.1
"""Cost of a scale with a tick at its ends alone, as a share of the unused height."""
_MOST_INTERVALS = 8
# Room above and below the values of a zoomed scale, as a share of their spread.
_ZOOM_MARGIN = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An upright axis: rows of the terminal, counted from the bottom (0), and the values at their centres."""

    low: float
    """At the centre of the lowest row, in bytes per second or in the chart's own unit."""
    high: float
    """At the centre of the highest row."""
    rows: int
    intervals: int
    """``rows - 1`` is a multiple of it, so that each tick is at the centre of a row."""
    factor: float
    """By which values are divided before they are shown in ``unit``."""
    unit: str

    @property
    def ticks(self) -> list[float]:
        step = (self.high - self.low) / self.intervals
        return [self.low + index * step for index in range(self.intervals + 1)]

    def label(self, rate: float) -> str:
        # A tick at 0 comes out as a tiny number where the steps that lead to it are no binary fractions.
        is_zero = abs(rate) <= 1e-9 * (self.high - self.low)
        value = 0 if is_zero else rate / self.factor
        return with_minus(f"{value:.6g}")

    def row(self, rate: float) -> float:
        """In rows from the bottom; integers are the centres."""
        return (rate - self.low) / (self.high - self.low) * (self.rows - 1)

    def holds(self, rate: float) -> bool:
        return -0.5 <= self.row(rate) <= self.rows - 0.5

    @property
    def words(self) -> str:
        return f"{self.unit} from {self.label(self.low)}"


class _Candidate(NamedTuple):
    """A scale that would do."""

    worth: float
    """The share of the height that the values use, less what its steps cost that are not round, or too few."""
    low: float
    high: float
    rows: int
    intervals: int


def choose_scale(rates: Sequence[float], rows: int, *, zoomed: bool = False, unit: str = RATE) -> Scale:
    """At most ``rows`` rows: from 0, or zoomed to the variation of the rates."""
    zoomed = zoomed and differ(rates)
    bottom = min(rates) if zoomed else min(0.0, *rates)
    top = max(rates) if zoomed else max(0.0, *rates)
    if bottom == top == 0:
        top = 1.0

    factor: float = 1
    if unit == RATE:
        factor, unit = _unit_for(top)

    if zoomed:
        margin = (top - bottom) * _ZOOM_MARGIN
        bottom = bottom - margin if bottom < 0 else max(0.0, bottom - margin)
        top += margin

    best = max(_candidates(bottom, top, max(3, rows)), key=attrgetter("worth"))
    return Scale(low=best.low, high=best.high, rows=best.rows, intervals=best.intervals, factor=factor, unit=unit)


def _unit_for(highest_rate: float) -> tuple[float, str]:
    for factor, unit in _UNITS:
        if highest_rate >= factor:
            return factor, unit
    return 1, "B/s"


def differ(values: Sequence[float]) -> bool:
    """Whether a reader sees a difference between them."""
    return max(values) - min(values) > _ALIKE * max(map(abs, values))


def _candidates(bottom: float, top: float, rows: int) -> Iterator[_Candidate]:
    # Two intervals at least where 0 lies between the ends: it is a tick.
    fewest_intervals = 2 if bottom < 0 < top else 1
    # A scale of fewer rows may have rounder steps; up to a third of the rows may stay unused for that.
    fewest_rows = max(3, rows - rows // 3)
    for candidate_rows in range(fewest_rows, rows + 1):
        most_intervals = max(fewest_intervals, min(_MOST_INTERVALS, (candidate_rows - 1) // 2))
        for intervals in range(fewest_intervals, most_intervals + 1):
            if (candidate_rows - 1) % intervals:
                continue

            step, roundness = _round_step(bottom, top, intervals)
            low = math.floor(bottom / step + 1e-9) * step
            high = low + intervals * step

            used_share = (top - bottom) / (high - low) * candidate_rows / rows
            cost_of_few = _ONE_INTERVAL if intervals == 1 else 0.0
            worth = used_share - _LESS_ROUND * roundness - cost_of_few
            yield _Candidate(worth, low, high, candidate_rows, intervals)


def _round_step(bottom: float, top: float, intervals: int) -> tuple[float, int]:
    """The smallest round step that covers ``bottom`` to ``top`` in ``intervals``, and its position among the steps."""
    rough = (top - bottom) / intervals
    power = 10.0 ** math.floor(math.log10(rough))

    steps = []
    for position, factor in enumerate(_STEPS):
        steps.append((factor * power, position))
        steps.append((factor * power * 10, position))

    for step, position in sorted(steps):
        end = math.floor(bottom / step + 1e-9) * step + intervals * step
        if end >= top * (1 - 1e-12):
            return step, position
    raise AssertionError("the largest step is 100 times as long as needed")


def round_ticks(top: float, most: int) -> list[float]:
    """The ticks of an axis from 0 to ``top`` or just above.

    They are 1, 2 or 5 times a power of ten apart, and have at most ``most`` intervals.
    """
    rough = top / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    intervals = max(1, math.ceil(top / step - 1e-9))
    return [float(f"{step * index:.12g}") for index in range(intervals + 1)]
