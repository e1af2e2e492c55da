"""Maps values to terminal rows, with every tick on a row of its own."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_UNITS = ((10**12, "TB/s"), (10**9, "GB/s"), (10**6, "MB/s"), (10**3, "kB/s"))
_STEPS = (1, 2, 5, 10, 2.5, 4, 1.5, 3, 6, 8)
"""The roundest first."""
_LESS_ROUND = 0.04
"""Cost of each position in that list, as a share of the unused height."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Rows from the bottom (0), and the values at their centres, in bytes per second."""

    low: float
    high: float
    rows: int
    intervals: int
    """``rows - 1`` is a multiple of it, so that each tick is at the centre of a row."""
    factor: float
    unit: str

    @property
    def ticks(self) -> list[float]:
        step = (self.high - self.low) / self.intervals
        return [self.low + index * step for index in range(self.intervals + 1)]

    def label(self, rate: float) -> str:
        return f"{rate / self.factor:.6g}"

    def row(self, rate: float) -> float:
        """In rows from the bottom; integers are the centres."""
        return (rate - self.low) / (self.high - self.low) * (self.rows - 1)

    def holds(self, rate: float) -> bool:
        return -0.5 <= self.row(rate) <= self.rows - 0.5

    @property
    def words(self) -> str:
        return f"{self.unit} from {self.label(self.low)}"


def choose_scale(rates: Sequence[float], rows: int, *, zoomed: bool = False) -> Scale:
    """At most ``rows`` rows: from 0, or zoomed to the variation of the rates."""
    top = max(rates) or 1.0
    factor, unit = next(((f, u) for f, u in _UNITS if top >= f), (1, "B/s"))
    bottom = min(rates) if zoomed else 0.0
    if zoomed:
        spread = max(top - bottom, top * 1e-4)
        bottom, top = max(0.0, bottom - spread * 0.1), top + spread * 0.1
    best = max(_candidates(bottom, top, max(3, rows)), key=lambda found: found[0])
    _, low, high, used, intervals = best
    return Scale(low=low, high=high, rows=used, intervals=intervals, factor=factor, unit=unit)


def _candidates(bottom: float, top: float, rows: int) -> Iterator[tuple[float, float, float, int, int]]:
    """(worth, low, high, rows, intervals) of each possible scale."""
    for used in range(max(3, rows - rows // 3), rows + 1):
        for intervals in range(1, min(8, (used - 1) // 2) + 1):
            if (used - 1) % intervals:
                continue
            step, place = _round_step(bottom, top, intervals)
            low = math.floor(bottom / step + 1e-9) * step
            high = low + intervals * step
            shown = (top - bottom) / (high - low) * used / rows
            few = 0.1 if intervals == 1 else 0.0
            yield shown - _LESS_ROUND * place - few, low, high, used, intervals


def _round_step(bottom: float, top: float, intervals: int) -> tuple[float, int]:
    """The smallest round step that covers ``bottom`` to ``top`` in ``intervals``, and its roundness."""
    rough = (top - bottom) / intervals
    power = 10.0 ** math.floor(math.log10(rough))
    steps = sorted((factor * power * scale, place) for place, factor in enumerate(_STEPS) for scale in (1, 10))
    return next(
        (step, place)
        for step, place in steps
        if math.floor(bottom / step + 1e-9) * step + intervals * step >= top * (1 - 1e-12)
    )


def round_ticks(top: float, most: int) -> list[float]:
    """Steps are 1, 2 or 5 times a power of ten; at most ``most`` intervals."""
    rough = top / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    count = math.ceil(top / step - 1e-9)
    return [float(f"{step * index:.12g}") for index in range(max(1, count) + 1)]
