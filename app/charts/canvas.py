"""The canvas that charts are drawn on, with plotext: signs of braille, in which a cell has 4 by 2 dots.

A caller makes a Canvas with the values that must fit, adds curves and lines to it (``curve``, ``level``, ``upright``),
and calls ``render`` for the lines of text.
"""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from operator import attrgetter
from typing import Any

from app.charts import ascii_only
from app.charts.plotext_library import load_plotext
from app.charts.scale import RATE, Scale, choose_scale, differ
from forms.layout import cut

# The terminal's own sixteen colours; each mark differs without them by its pattern or its sign.
RUN = 12
MUTED = 8
UNUSUAL = 11
BAD = 9
GOOD = 10
AVERAGE = 14
LINK = 13
EXPECTED = 10
INTERVAL = 14

SMALLEST = (24, 6)
"""Columns and lines below which no chart is drawn."""

# plotext has one figure, and views draw from threads.
_figure_lock = threading.Lock()


_AREA_AXIS = 5
"""Least columns of the numbers beside an area, so that one below another begins at the same place."""
_AROUND_LEGEND = 6
"""Lines of a canvas that the legend leaves to the drawing and its axis."""

# Dots 3 and 6 of a braille cell, the third row's left and right one (Unicode, block Braille Patterns).
_BRAILLE = 0x2800
_LEFT_DOT = 0x04
_RIGHT_DOT = 0x20


class Pattern(Enum):
    """How a mark looks without colour: which of each eight sub-cells across are set, and the sign of an ASCII one."""

    SOLID = ("11111111", "*")
    DOTTED = ("01010101", "-")
    DASHED = ("11111100", "=")
    POINTS = ("●", "o")

    @property
    def ascii_sign(self) -> str:
        return self.value[1]

    @property
    def sample(self) -> str:
        """Two cells of it."""
        bits = self.value[0]
        if self is Pattern.POINTS:
            return bits
        return _braille_cell(bits[0], bits[1]) + _braille_cell(bits[2], bits[3])


def _braille_cell(left_bit: str, right_bit: str) -> str:
    dots = _LEFT_DOT if left_bit == "1" else 0
    if right_bit == "1":
        dots |= _RIGHT_DOT
    return chr(_BRAILLE | dots)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curve:
    """A curve through points, or the points alone, and what they are called."""

    xs: Sequence[float]
    rates: Sequence[float]
    pattern: Pattern
    colour: int
    name: str

    @property
    def is_upright(self) -> bool:
        return False


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
    _curves: list[_Curve] = field(default_factory=list)
    _is_filled: bool = False
    """Whether the curves are areas above the axis."""

    def level(self, pattern: Pattern, colour: int, rate: float, name: str) -> None:
        """Add a level line over the whole width; ``name`` goes into the legend."""
        across = (self.low, self.high)
        self._lines.append(Line(across=across, rates=(rate, rate), pattern=pattern, colour=colour, name=name))

    def upright(self, colour: int, x: float, low_rate: float, high_rate: float, name: str = "") -> None:
        """Add an upright line at ``x``."""
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
        """Add a curve through points, or the points alone; ``filled`` makes it an area above the axis."""
        self._is_filled |= filled
        self._curves.append(_Curve(xs=xs, rates=rates, pattern=pattern, colour=colour, name=name))

    def render(self) -> str:
        lines_below = bool(self.labels) + bool(self.signs)
        lines, legend = self._choose_lines(lines_below)
        scale = self._scale(lines_below, legend)

        least_columns = _AREA_AXIS if self._is_filled else 0
        axis_columns = max(least_columns, *(len(scale.label(tick)) for tick in scale.ticks))
        plot_columns = self.width - axis_columns - 1
        drawn = self._draw(scale, lines, axis_columns, plot_columns)

        # An axis that does not begin at 0 is broken where it would be: at its foot, or at its top.
        if scale.low > 0 or scale.high < 0:
            row = scale.rows if scale.low > 0 else 0
            drawn[row] = re.sub("[└┤]", "~" if ascii_only() else "≈", drawn[row], count=1)

        drawn += _label_lines(self, axis_columns + 1, plot_columns)
        return "\n".join([*drawn, *legend])

    def _scale(self, lines_below: int, legend: Sequence[object]) -> Scale:
        rows = self.height - 1 - lines_below - len(legend)
        return choose_scale(self.rates, rows, zoomed=self.zoomed, unit=self.unit)

    def _choose_lines(self, lines_below: int) -> tuple[list[Line], list[str]]:
        """The lines that the scale holds, and the legend's lines of text."""
        legend: list[list[str]] = [[]]
        # Twice: first for a legend of one line. A longer one leaves the scale fewer rows, which may hold other lines.
        for _ in range(2):
            scale = self._scale(lines_below, legend)
            lines = [line for line in self._lines if any(map(scale.holds, line.rates))]
            painted_parts = dict(self._legend_parts(scale, lines))
            most_lines = max(1, self.height - lines_below - _AROUND_LEGEND)
            legend = wrap_parts(list(painted_parts), self.width)[:most_lines]

        for part in painted_parts:
            if len(part) > self.width:
                painted_parts[part] = cut(part, self.width)
        legend_lines = []
        for parts in legend:
            legend_lines.append("   ".join(painted_parts[part] for part in parts))
        return lines, legend_lines

    def _legend_parts(self, scale: Scale, lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
        """The parts, each as it is measured and as it is drawn: a sample has the colour of what it stands for."""
        words = scale.words + (", zoomed" if self.zoomed and differ(self.rates) else "")
        yield words, words

        marks: list[Line | _Curve] = [*lines, *self._curves]
        names: set[str] = set()
        for mark in marks:
            if not mark.name or mark.name in names:
                continue
            names.add(mark.name)
            pattern = mark.pattern.ascii_sign if ascii_only() else mark.pattern.sample
            sample = "|" if mark.is_upright else pattern
            painted_sample = paint(sample, mark.colour if self.colour else None)
            yield f"{sample} {mark.name}", f"{painted_sample} {mark.name}"

        for note in self.notes:
            yield note, note

    def _draw(self, scale: Scale, lines: Sequence[Line], axis_columns: int, plot_columns: int) -> list[str]:
        plotext = load_plotext()
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
            labels = [scale.label(tick).rjust(axis_columns) for tick in scale.ticks]
            figure.ruler("y").ticks(ticks, labels=labels)
            figure.ruler("x").lim(self.low, self.high)
            figure.ruler("x").ticks([], labels=[])

            self._draw_lines(figure, scale, lines, plot_columns)
            self._draw_curves(figure, scale)

            figure.plot_size(axis_columns + 1 + plot_columns, scale.rows + 1)
            text = str(figure.build().string(colorless=not self.colour)).rstrip("\n")
            figure.clear()
        return text.split("\n")

    def _draw_lines(self, figure: Any, scale: Scale, lines: Sequence[Line], plot_columns: int) -> None:
        # Neighbouring lines that look alike are drawn together: plotext takes its time for each call.
        for (pattern, colour), alike in groupby(lines, key=attrgetter("pattern", "colour")):
            points: list[tuple[float, float]] = []
            for line in alike:
                points += _sub_cells(self, line, scale, plot_columns)
            if not points:
                continue

            xs = [x for x, _ in points]
            scaled = [rate / scale.factor for _, rate in points]
            figure.draw(figure.signal(xs, scaled, marker=self._marker(pattern.ascii_sign, colour)))

    def _draw_curves(self, figure: Any, scale: Scale) -> None:
        for curve in self._curves:
            scaled = [rate / scale.factor for rate in curve.rates]
            is_points = curve.pattern is Pattern.POINTS
            sign = curve.pattern.value[0] if is_points else "braille"
            marker = self._marker(curve.pattern.ascii_sign, curve.colour, sign)

            signal = figure.signal(list(curve.xs), scaled, marker=marker)
            if not is_points:
                signal = signal.lines()
                if self._is_filled:
                    signal = signal.fillx()
            figure.draw(signal)

    def _marker(self, ascii_sign: str, colour: int, sign: str = "braille") -> Any:
        return load_plotext().marker(ascii_sign if ascii_only() else sign, pixel=colour if self.colour else None)


def _sub_cells(canvas: Canvas, line: Line, scale: Scale, plot_columns: int) -> list[tuple[float, float]]:
    """Where and at which rates the dots of a line are set."""
    if line.is_upright:
        low, high = (min(max(rate, scale.low), scale.high) for rate in line.rates)
        # A cell has four dots above one another.
        steps = max(1, round(4 * (scale.row(high) - scale.row(low))))
        return [(line.across[0], low + (high - low) * step / steps) for step in range(steps + 1)]

    bits = line.pattern.value[0]
    cell = (canvas.high - canvas.low) / max(1, plot_columns - 1)
    points = []
    # A cell has two dots beside one another, a quarter of a cell from its centre.
    for place in range(2 * plot_columns):
        column, is_right_half = divmod(place, 2)
        offset = 0.25 if is_right_half else -0.25
        x = canvas.low + (column + offset) * cell
        if bits[place % len(bits)] == "1" and canvas.low <= x <= canvas.high:
            points.append((x, line.rates[0]))
    return points


def _label_lines(canvas: Canvas, left: int, plot_columns: int) -> list[str]:
    lines = []
    for row in filter(None, (canvas.signs, canvas.labels)):
        line = ""
        for x, text in row:
            column = left + round((x - canvas.low) / (canvas.high - canvas.low) * (plot_columns - 1))
            start = max(0, min(column - (len(text) - 1) // 2, canvas.width - len(text)))
            if start > len(line) or not line:
                line = line.ljust(start) + text
        lines.append(cut(line, canvas.width))
    return lines


def prepare() -> None:
    """Load what charts are drawn with before anything is timed, so that no chart has to wait for it."""
    load_plotext()


def too_small(width: int, height: int) -> str | None:
    if width >= SMALLEST[0] and height >= SMALLEST[1]:
        return None
    return "no room for the chart"[: max(0, width)]


def paint(text: str, colour: int | None) -> str:
    return text if colour is None else f"\x1b[38;5;{colour}m{text}\x1b[0m"


def wrap_parts(parts: Sequence[str], width: int) -> list[list[str]]:
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
    number_format = ".4g"
    if aligned:
        digits_before_point = len(f"{unit_of / factor:.0f}")
        number_format = f".{max(0, 4 - digits_before_point)}f"
    return f"{rate / factor:,{number_format}}"
