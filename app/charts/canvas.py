"""The canvas that charts are drawn on: plotext's one figure in braille, four heights and two widths to a cell."""

import math
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from typing import Any

from app.charts import ascii_only
from forms.layout import cut
from forms.wording import with_minus

_UNITS = ((10**12, "TB/s"), (10**9, "GB/s"), (10**6, "MB/s"), (10**3, "kB/s"))
_STEPS = (1, 2, 5, 10, 2.5, 4, 1.5, 3, 6, 8)
"""The roundest first."""
_ALIKE = 1e-4
"""Share of the largest value up to which values are one value to a reader."""
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
        return with_minus(f"{rate / self.factor if abs(rate) > 1e-9 * (self.high - self.low) else 0:.6g}")

    def row(self, rate: float) -> float:
        """In rows from the bottom; integers are the centres."""
        return (rate - self.low) / (self.high - self.low) * (self.rows - 1)

    def holds(self, rate: float) -> bool:
        return -0.5 <= self.row(rate) <= self.rows - 0.5

    @property
    def words(self) -> str:
        return f"{self.unit} from {self.label(self.low)}"


RATE = "bytes/sec"


def choose_scale(rates: Sequence[float], rows: int, *, zoomed: bool = False, unit: str = RATE) -> Scale:
    """At most ``rows`` rows: from 0, or zoomed to the variation of the rates."""
    zoomed = zoomed and differ(rates)
    bottom, top = (min(rates), max(rates)) if zoomed else (min(0.0, *rates), max(0.0, *rates))
    if bottom == top == 0:
        top = 1.0
    factor, unit = next(((f, u) for f, u in _UNITS if top >= f), (1, "B/s")) if unit == RATE else (1, unit)
    if zoomed:
        spread = top - bottom
        bottom, top = bottom - spread * 0.1 if bottom < 0 else max(0.0, bottom - spread * 0.1), top + spread * 0.1
    _, low, high, used, intervals = max(_candidates(bottom, top, max(3, rows)), key=lambda found: found[0])
    return Scale(low=low, high=high, rows=used, intervals=intervals, factor=factor, unit=unit)


def differ(values: Sequence[float]) -> bool:
    return max(values) - min(values) > _ALIKE * max(map(abs, values))


def _candidates(bottom: float, top: float, rows: int) -> Iterator[tuple[float, float, float, int, int]]:
    """(worth, low, high, rows, intervals) of each possible scale."""
    least = 2 if bottom < 0 < top else 1  # 0 is a tick
    for used in range(max(3, rows - rows // 3), rows + 1):
        for intervals in range(least, max(least, min(8, (used - 1) // 2)) + 1):
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
    return [float(f"{step * index:.12g}") for index in range(max(1, math.ceil(top / step - 1e-9)) + 1)]


RUN, MUTED, UNUSUAL, BAD, GOOD, AVERAGE, LINK, EXPECTED, INTERVAL = 12, 8, 11, 9, 10, 14, 13, 10, 14
"""The terminal's own sixteen colours; each mark differs without them by its pattern or its sign."""
SMALLEST = (24, 6)

_figure_lock = threading.Lock()


_AREA_AXIS = 5
"""Least columns of the numbers beside an area, so that one below another begins at the same place."""


class Pattern(Enum):
    """How a mark looks without colour: which of each eight sub-cells across are set, and the sign of an ASCII one."""

    SOLID = ("11111111", "*")
    DOTTED = ("01010101", "-")
    DASHED = ("11111100", "=")
    POINTS = ("●", "o")

    @property
    def sample(self) -> str:
        bits = self.value[0]
        if self is Pattern.POINTS:
            return bits
        return "".join(chr(0x2800 | (4 if bits[i] == "1" else 0) | (32 if bits[i + 1] == "1" else 0)) for i in (0, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Sub-cells from one place across to another, level or upright, and what they are called."""

    across: tuple[float, float]
    rates: tuple[float, float]
    pattern: Pattern
    colour: int
    name: str

    @property
    def is_upright(self) -> bool:
        return self.across[0] == self.across[1]


@dataclass(slots=True)
class Canvas:
    """One chart in the making: ``rates`` are those that must fit, ``low`` and ``high`` the ends of the lower axis."""

    width: int
    height: int
    rates: Sequence[float]
    low: float
    high: float
    colour: bool = True
    zoomed: bool = False
    unit: str = RATE
    labels: list[tuple[float, str]] = field(default_factory=list)
    """Place across and label below the axis."""
    signs: list[tuple[float, str]] = field(default_factory=list)
    """Place across and letters, right below the axis."""
    notes: list[str] = field(default_factory=list)
    _lines: list[Line] = field(default_factory=list)
    _curves: list[tuple[Sequence[float], Sequence[float], Line]] = field(default_factory=list)
    _is_filled: bool = False

    def level(self, pattern: Pattern, colour: int, rate: float, name: str) -> None:
        across = (self.low, self.high)
        self._lines.append(Line(across=across, rates=(rate, rate), pattern=pattern, colour=colour, name=name))

    def upright(self, colour: int, x: float, low_rate: float, high_rate: float, name: str = "") -> None:
        rates = (low_rate, high_rate)
        self._lines.append(Line(across=(x, x), rates=rates, pattern=Pattern.SOLID, colour=colour, name=name))

    def curve(
        self,
        colour: int,
        xs: Sequence[float],
        rates: Sequence[float],
        name: str,
        pattern: Pattern = Pattern.SOLID,
        *,
        filled: bool = False,
    ) -> None:
        self._is_filled |= filled
        self._curves.append((xs, rates, Line(across=(0, 1), rates=(0, 0), pattern=pattern, colour=colour, name=name)))

    def text(self) -> str:
        below = bool(self.labels) + bool(self.signs)
        shown, legend = self._shown(below)
        scale = self._scale(below, legend)
        axis = max(_AREA_AXIS * self._is_filled, *(len(scale.label(tick)) for tick in scale.ticks))
        inside = self.width - axis - 1
        drawn = self._drawn(scale, shown, axis, inside)
        if scale.low > 0 or scale.high < 0:
            row = scale.rows if scale.low > 0 else 0
            drawn[row] = re.sub("[└┤]", "~" if ascii_only() else "≈", drawn[row], count=1)
        drawn += _labels(self, axis + 1, inside)
        return "\n".join([*drawn, *legend])

    def _scale(self, below: int, legend: Sequence[object]) -> Scale:
        return choose_scale(self.rates, self.height - 1 - below - len(legend), zoomed=self.zoomed, unit=self.unit)

    def _shown(self, below: int) -> tuple[list[Line], list[str]]:
        lines: list[list[str]] = [[]]
        for _ in range(2):  # the legend takes its lines from the scale that it names
            scale = self._scale(below, lines)
            shown = [line for line in self._lines if any(map(scale.holds, line.rates))]
            parts = dict(self._legend(scale, shown))
            lines = wrapped(list(parts), self.width)[: max(1, self.height - below - 6)]
        drawn = {part: parts[part] if len(part) <= self.width else cut(part, self.width) for part in parts}
        return shown, ["   ".join(drawn[part] for part in line) for line in lines]

    def _legend(self, scale: Scale, shown: Sequence[Line]) -> Iterator[tuple[str, str]]:
        """The parts, each as it is measured and as it is drawn: a sample has the colour of what it stands for."""
        words = scale.words + (", zoomed" if self.zoomed and differ(self.rates) else "")
        yield words, words
        named: set[str] = set()
        for line in [*shown, *(line for _, _, line in self._curves)]:
            if line.name and line.name not in named:
                named.add(line.name)
                pattern = line.pattern.value[1] if ascii_only() else line.pattern.sample
                sample = "|" if line.is_upright else pattern
                yield f"{sample} {line.name}", f"{painted(sample, line.colour if self.colour else None)} {line.name}"
        yield from ((note, note) for note in self.notes)

    def _drawn(self, scale: Scale, shown: Sequence[Line], axis: int, inside: int) -> list[str]:
        import plotext  # noqa: PLC0415  loaded when the first chart is drawn

        def marker(sign: str, colour: int, drawn: str = "braille") -> Any:
            return plotext.marker(sign if ascii_only() else drawn, pixel=colour if self.colour else None)

        with _figure_lock:
            plotext.terminal.limit(width=False, height=False)
            figure = plotext.figure
            figure.clear()
            figure.theme("colorless")
            figure.canvas("default")
            figure.axes(active=False, axis="x", side="upper")
            figure.axes(active=False, axis="y", side="right")
            figure.ruler("y").lim(scale.low / scale.factor, scale.high / scale.factor)
            ticks = [tick / scale.factor for tick in scale.ticks]
            figure.ruler("y").ticks(ticks, labels=[scale.label(tick).rjust(axis) for tick in scale.ticks])
            figure.ruler("x").lim(self.low, self.high)
            figure.ruler("x").ticks([], labels=[])
            # neighbouring lines that look alike are drawn together: plotext takes its time for each call
            for (pattern, colour), alike in groupby(shown, key=lambda line: (line.pattern, line.colour)):
                if points := [point for line in alike for point in _sub_cells(self, line, scale, inside)]:
                    scaled = [rate / scale.factor for _, rate in points]
                    figure.draw(figure.signal([x for x, _ in points], scaled, marker=marker(pattern.value[1], colour)))
            for places, heights, line in self._curves:
                scaled = [height / scale.factor for height in heights]
                is_points = line.pattern is Pattern.POINTS
                sign = marker(line.pattern.value[1], line.colour, line.pattern.value[0] if is_points else "braille")
                signal = figure.signal(list(places), scaled, marker=sign)
                figure.draw(signal if is_points else signal.lines().fillx() if self._is_filled else signal.lines())
            figure.plot_size(axis + 1 + inside, scale.rows + 1)
            text = str(figure.build().string(colorless=not self.colour)).rstrip("\n")
            figure.clear()
        return text.split("\n")


def _sub_cells(canvas: Canvas, line: Line, scale: Scale, inside: int) -> list[tuple[float, float]]:
    if line.is_upright:
        low, high = (min(max(rate, scale.low), scale.high) for rate in line.rates)
        steps = max(1, round(4 * (scale.row(high) - scale.row(low))))
        return [(line.across[0], low + (high - low) * step / steps) for step in range(steps + 1)]
    bits, cell = line.pattern.value[0], (canvas.high - canvas.low) / max(1, inside - 1)
    return [
        (x, line.rates[0])
        for column in range(inside)
        for place, half in ((2 * column, -0.25), (2 * column + 1, 0.25))
        if bits[place % len(bits)] == "1" and canvas.low <= (x := canvas.low + (column + half) * cell) <= canvas.high
    ]


def _labels(canvas: Canvas, left: int, inside: int) -> list[str]:
    lines = []
    for row in filter(None, (canvas.signs, canvas.labels)):
        line = ""
        for x, text in row:
            column = left + round((x - canvas.low) / (canvas.high - canvas.low) * (inside - 1))
            start = max(0, min(column - (len(text) - 1) // 2, canvas.width - len(text)))
            if start > len(line) or not line:
                line = line.ljust(start) + text
        lines.append(cut(line, canvas.width))
    return lines


def prepare() -> None:
    """Load what charts are drawn with, a tenth of a second, before anything is timed."""
    import plotext  # noqa: F401, PLC0415  loaded here so that no chart has to wait for it


def too_small(width: int, height: int) -> str | None:
    if width >= SMALLEST[0] and height >= SMALLEST[1]:
        return None
    return "no room for the chart"[: max(0, width)]


def painted(text: str, colour: int | None) -> str:
    return text if colour is None else f"\x1b[38;5;{colour}m{text}\x1b[0m"


def wrapped(parts: Sequence[str], width: int) -> list[list[str]]:
    """The parts of a legend, three blanks apart, in lines of at most ``width`` columns; a longer part has its own."""
    lines: list[list[str]] = [[]]
    for part in parts:
        if lines[-1] and len("   ".join([*lines[-1], part])) > width:
            lines.append([])
        lines[-1].append(part)
    return lines


def figure(rate: float, unit_of: float, *, aligned: bool = False) -> str:
    """A rate without its unit, in the unit of another; ``aligned`` gives all the decimals of that one."""
    factor = next((factor for factor in (10**12, 10**9, 10**6, 10**3) if unit_of >= factor), 1)
    digits = f".{max(0, 4 - len(f'{unit_of / factor:.0f}'))}f" if aligned else ".4g"
    return f"{rate / factor:,{digits}}"
