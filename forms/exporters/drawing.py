"""Draws a chart of a form as shapes (boxes, lines, texts), which pages of HTML and PDF then show.

The drawing is 720 wide and at most 250 high, in units of its own; y counts downwards. A shape says what it is by its
``look``, which the page gives a colour or pattern; none is told by colour alone. ``drawing`` puts together, from the
bottom: the axis, a band, a curve, bars, their intervals (whiskers), levels that bars are compared with, signs, names.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, log10
from operator import itemgetter

from forms import report
from forms.layout import cut, visible, width, wrap
from forms.wording import with_minus

WIDTH = 720
HEIGHT = 250
LEAST_HEIGHT = 130
_TOP = 32
"""y of the axis' upper end: above it stand title and signs."""
_LETTER = 7.2
_LINE = 14
"""Ample width of a letter, and height of a line of text."""
_ROOM_ABOVE = 1.08
"""What the scale reaches to, in times of the greatest value."""
_EDGE = 8
"""Space at the edges, and before the names of levels."""
_LONGEST_LEVEL = 26
"""Characters of a level's name."""
_MOST_BARS = 240
_ALL_NAMED = 16
"""As few bars are all named, even if their names are cut."""
_NAME_LINES = 3
_SCALES = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
_POINT = 8
"""Side of the square that stands for a point of a curve."""
_WHISKER = 5
"""Half of the width of an interval's ends."""
_STEPS = (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; ``look`` is ``band``, ``frame``, ``bar``, ``rejected``, ``unusual`` or ``least``."""

    x: float
    y: float
    width: float
    height: float
    look: str


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line; ``look`` is ``grid``, ``mean``, ``reference``, ``curve``, ``casing`` or ``whisker``."""

    x1: float
    y1: float
    x2: float
    y2: float
    look: str


@dataclass(frozen=True, slots=True)
class ChartText:
    """A text on its baseline; ``anchor`` is ``start``, ``middle`` or ``end``, ``look`` empty, ``title`` or ``sign``."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    look: str = ""


Shape = Box | Stroke | ChartText


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartDrawing:
    shapes: tuple[Shape, ...]
    """Those behind come first."""
    description: str
    """The chart in words."""


def drawing(chart: report.Chart, height: float = HEIGHT) -> ChartDrawing:
    """Lay out the chart, at least 130 high; long series are averaged to at most 240 bars."""
    bars, bars_per_mean = _thinned(chart.bars)
    highest = max((abs(bar.value or 0) for bar in bars), default=0) or 1
    levels_above = [level for level in chart.levels if level.value > report.FAR_ABOVE * highest]
    levels = [level for level in chart.levels if level not in levels_above]
    field = _ChartField(chart, bars, levels, height)

    title = chart.title
    if bars_per_mean > 1:
        title += f", each bar the mean of {bars_per_mean}"
    notes = list(chart.legend)
    if chart.band:
        notes.append(f"shaded: {chart.band[0]}")
    notes += [f"{level.name}: {_with_unit(level.value, chart.unit)}, above the drawing" for level in levels_above]

    shapes = (
        *_axis(field),
        *_band(chart, field),
        *(_curve(bars, field) if chart.is_curve else ()),
        *_bars(bars, field, are_points=chart.is_curve or chart.is_dots),
        *_whiskers(bars, field),
        *_level_lines(levels, field),
        *_signs(bars, field),
        *_marks(chart, field, bars_per_mean),
        *_names(field),
        ChartText(0, 12, f"{title}, {field.unit}", look="title"),
        ChartText(WIDTH, 12, ";  ".join(notes), "end"),
    )
    return ChartDrawing(shapes=shapes, description=_description(chart, title))


def _description(chart: report.Chart, title: str) -> str:
    """The chart in words, for those who do not see it."""
    values = [bar.value for bar in chart.bars if bar.value is not None]
    values = values or [bar.frame for bar in chart.bars if bar.frame is not None]
    lowest = _with_unit(min(values), chart.unit)
    highest = _with_unit(max(values), chart.unit)
    levels = [f"{level.name} {_with_unit(level.value, chart.unit)}" for level in chart.levels]
    return "; ".join([title, f"from {lowest} to {highest}", *levels])


class _ChartField:
    """Where things stand in a drawing: ``y`` of a value, ``middle`` of a bar, and the names that there is room for.

    The axis is divided into fifths of a round length, with ``ticks`` at their ends.
    """

    def __init__(
        self, chart: report.Chart, bars: Sequence[report.Bar], levels: Sequence[report.Level], height: float
    ) -> None:
        """The bars and levels are those of the chart that are drawn."""
        lowest, highest = replace(chart, bars=tuple(bars), levels=tuple(levels)).ends
        highest = max(highest, *(bar.frame or 0.0 for bar in bars), chart.band[2] if chart.band else 0.0)
        lowest *= _ROOM_ABOVE
        highest *= _ROOM_ABOVE
        # A chart of nothing but zeros has a scale, too.
        if not lowest and not highest:
            highest = 1.0

        fifth = _round_fifth(lowest, highest)
        self.low = floor(lowest / fifth) * fifth
        self.top = self.low + 5 * fifth
        self.ticks = [self.low + place * fifth for place in range(6)]
        self.factor, self.unit = _scale(self.top, chart.unit)

        self.bars = bars
        self.left = _EDGE + max(len(self.figure(tick)) for tick in self.ticks) * _LETTER
        self.level_names = [
            f"{cut(visible(level.name), _LONGEST_LEVEL)} {self.figure(level.value)}" for level in levels
        ]
        self.right = _EDGE + max((width(name) * _LETTER + _EDGE for name in self.level_names), default=0.0)
        self.bottom = height - _EDGE - _LINE * max(len(lines) for _, lines in self.names)

    @property
    def across(self) -> float:
        """The width of the field of bars."""
        return WIDTH - self.left - self.right

    @property
    def step(self) -> float:
        """From the middle of one bar to that of the next."""
        return self.across / len(self.bars)

    @cached_property
    def names(self) -> list[tuple[int, list[str]]]:
        """(number of a bar, lines of its name): of every bar, or of every second, fifth …, as there is room."""
        names = [visible(bar.name) for bar in self.bars]
        for interval in (1, 2, 5, 10, 20, 50, len(names)):
            cells = floor(self.step * interval / _LETTER) - 1
            places = range(0, len(names), interval)
            lines = [(place, wrap(names[place], max(1, cells))) for place in places]

            words = " ".join(names[::interval]).split()
            longest = max(map(width, words), default=0)
            if longest <= cells and all(len(name_lines) <= _NAME_LINES for _, name_lines in lines):
                return lines
            # Few bars are all named, by what fits.
            if len(names) <= _ALL_NAMED:
                break
        return [(place, _cut_lines(name_lines, cells)) for place, name_lines in lines]

    def middle(self, index: int) -> float:
        return round(self.left + self.step * (index + 0.5), 1)

    def y(self, value: float) -> float:
        return round(self.bottom - (value - self.low) / (self.top - self.low) * (self.bottom - _TOP), 1)

    def figure(self, value: float) -> str:
        return _figure(value / self.factor)


def _round_fifth(lowest: float, highest: float) -> float:
    """The smallest round step of which five cover what is drawn."""
    power = 10.0 ** floor(log10(highest - lowest))
    fifths = [step * power / 5 for step in _STEPS] + [step * (10 * power) / 5 for step in _STEPS]
    for fifth in fifths:
        if floor(lowest / fifth) * fifth + 5 * fifth >= highest:
            return fifth
    raise AssertionError("the last step is ten times as long as needed")


def _scale(top: float, unit: str) -> tuple[float, str]:
    """By what values are divided to be written, and their unit then: of bytes/sec MB/s, by 10^6."""
    if unit != "bytes/sec":
        return 1.0, unit
    for factor, name in _SCALES:
        if top >= factor:
            return factor, name
    return _SCALES[-1]


def _figure(value: float) -> str:
    return with_minus(f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}")


def _with_unit(value: float, unit: str) -> str:
    factor, scaled = _scale(value, unit)
    return f"{_figure(value / factor)} {scaled}"


def _cut_lines(lines: Sequence[str], cells: int) -> list[str]:
    """The lines that a name may have; the last one is cut."""
    if len(lines) <= _NAME_LINES:
        return list(lines)
    *first_lines, last = lines[:_NAME_LINES]
    return [*first_lines, cut(f"{last} {lines[_NAME_LINES]}", cells)]


def _thinned(bars: Sequence[report.Bar]) -> tuple[Sequence[report.Bar], int]:
    """The bars, or means of neighbours where they are too many, and of how many each is."""
    count = ceil(len(bars) / _MOST_BARS)
    if count <= 1:
        return bars, 1
    return [_mean_bar(bars[start : start + count]) for start in range(0, len(bars), count)], count


def _mean_bar(group: Sequence[report.Bar]) -> report.Bar:
    values = [bar.value for bar in group if bar.value is not None and bar.mark is not report.Mark.REJECTED]
    return report.Bar(name=group[0].name, value=sum(values) / len(values) if values else None)


def _axis(field: _ChartField) -> Iterator[Shape]:
    is_low = (field.bottom - _TOP) / 5 < _LINE
    for value in field.ticks[::5] if is_low else field.ticks:
        y = field.y(value)
        yield Stroke(field.left, y, field.left + field.across, y, "grid")
        yield ChartText(field.left - 5, y + 4, field.figure(value), "end")


def _band(chart: report.Chart, field: _ChartField) -> Iterator[Shape]:
    """The shaded range of values, behind all else."""
    if chart.band:
        _, low, high = chart.band
        y = field.y(high)
        yield Box(field.left, y, round(field.across, 1), round(field.y(max(low, 0)) - y, 1), "band")


def _curve(bars: Sequence[report.Bar], field: _ChartField) -> Iterator[Shape]:
    places = [(field.middle(index), field.y(bar.value)) for index, bar in enumerate(bars) if bar.value is not None]
    for (x1, y1), (x2, y2) in pairwise(places):
        yield Stroke(x1, y1, x2, y2, "curve")


def _whiskers(bars: Sequence[report.Bar], field: _ChartField) -> Iterator[Shape]:
    """The intervals of bars, each with a casing of the paper's colour, so that it is seen on a bar."""
    for look in ("casing", "whisker"):
        for index, bar in enumerate(bars):
            if bar.interval is None:
                continue
            x = field.middle(index)
            low, high = (min(max(end, field.low), field.top) for end in bar.interval)
            yield Stroke(x, field.y(low), x, field.y(high), look)

            # An end beyond the scale stays open.
            for end in bar.interval:
                if end in (low, high):
                    y = field.y(end)
                    yield Stroke(x - _WHISKER, y, x + _WHISKER, y, look)


_LOOKS = {
    report.Mark.REJECTED: "rejected",
    report.Mark.RESTORED: "rejected",
    report.Mark.UNUSUAL: "unusual",
    report.Mark.BOTTLENECK: "least",
}


def _bars(bars: Sequence[report.Bar], field: _ChartField, *, are_points: bool) -> Iterator[Shape]:
    thick = _POINT if are_points else round(min(field.step * 0.7, 60), 2)
    for index, bar in enumerate(bars):
        left = round(field.middle(index) - thick / 2, 2)
        if bar.frame:
            yield Box(left - 3, field.y(bar.frame), thick + 6, round(field.bottom - field.y(bar.frame), 1), "frame")
        if bar.value:
            low, high = (field.y(end) for end in bar.ends)
            top = high
            height = round(low - high, 1)
            if are_points:
                top = field.y(bar.value) - thick / 2
                height = thick
            yield Box(left, round(top, 1), thick, height, _LOOKS.get(bar.mark, "bar"))


def _signs(bars: Sequence[report.Bar], field: _ChartField) -> Iterator[Shape]:
    """The signs of bars that are rejected, unusual …, above their upper ends."""
    for index, bar in enumerate(bars):
        if bar.mark in report.SIGNS:
            top = field.y(min(max(bar.ends[1], bar.interval[1] if bar.interval else 0.0), field.top))
            yield ChartText(field.middle(index), top - 4, report.SIGNS[bar.mark], "middle", "sign")


def _marks(chart: report.Chart, field: _ChartField, bars_per_mean: int) -> Iterator[Shape]:
    """Lines at the bars where something happened, such as a change of a setting, with signs on top."""
    places = [field.middle(index // bars_per_mean) for index in range(len(chart.bars))]
    for x, signs in chart.signs_at(places, _LETTER):
        yield Stroke(x, _TOP, x, field.bottom, "grid")
        yield ChartText(x, _TOP - 4, signs, "middle", "sign")


def _names(field: _ChartField) -> Iterator[Shape]:
    for index, lines in field.names:
        for line, text in enumerate(lines, 1):
            yield ChartText(field.middle(index), field.bottom + _LINE * line, text, "middle")


def _level_lines(levels: Sequence[report.Level], field: _ChartField) -> Iterator[Shape]:
    text_y = -float(_LINE)
    end = round(field.left + field.across, 1)
    named_levels = [(level.value, level, name) for level, name in zip(levels, field.level_names, strict=True)]
    # From the top, so that a name that has no room beside its line stands below the one before.
    for value, level, name in sorted(named_levels, key=itemgetter(0), reverse=True):
        y = field.y(value)
        look = "mean" if level.of_bars else "reference"
        text_y = max(y + 4, text_y + _LINE)
        yield Stroke(field.left, y, end, y, look)
        yield Stroke(end, y, end + 6, text_y - 4, look)
        yield ChartText(end + _EDGE, text_y, name)
