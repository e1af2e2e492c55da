"""A chart as shapes on a field of 720 by up to 250, y downwards; marks differ without colour."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, log10

from forms.layout import cut, visible, width, wrap
from forms.report import FAR_ABOVE, SIGNS, Bar, Chart, Level, Mark
from forms.wording import with_minus

WIDTH, HEIGHT, LEAST_HEIGHT = 720, 250, 130
_TOP, _LETTER, _LINE = 32, 7.2, 14
"""Height above the axis; ample width of a letter and height of a line of text."""
_EDGE = 8
_LONGEST_LEVEL = 26
_MOST_BARS = 240
_ALL_NAMED = 16
_NAME_LINES = 3
_SCALES = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
_POINT = 8
_WHISKER = 5
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
    description: str


def drawing(chart: Chart, height: float = HEIGHT) -> ChartDrawing:
    """Lay out the chart, at least 130 high; long series are averaged to at most 240 bars."""
    bars, each = _thinned(chart.bars)
    highest = max((abs(bar.value or 0) for bar in bars), default=0) or 1
    beyond = [level for level in chart.levels if level.value > FAR_ABOVE * highest]
    shown = [level for level in chart.levels if level not in beyond]
    field = _ChartField(chart, bars, shown, height)
    title = chart.title + (f", each bar the mean of {each}" if each > 1 else "")
    beside = [*chart.signs_said, *([f"shaded: {chart.band[0]}"] if chart.band else [])]
    beside += [f"{level.name}: {_with_unit(level.value, chart.unit)}, above the drawing" for level in beyond]
    shapes = (
        *_axis(field),
        *_band(chart, field),
        *(_curve(bars, field) if chart.is_curve else ()),
        *_bars(bars, field, are_points=chart.is_curve or chart.is_dots),
        *_whiskers(bars, field),
        *_level_lines(shown, field),
        *_signs(bars, field),
        *_marks(chart, field, each),
        *_names(field),
        ChartText(0, 12, f"{title}, {field.unit}", look="title"),
        ChartText(WIDTH, 12, ";  ".join(beside), "end"),
    )
    drawn = [bar.value for bar in chart.bars if bar.value is not None]
    values = drawn or [bar.frame for bar in chart.bars if bar.frame is not None]
    said = [title, f"from {_with_unit(min(values), chart.unit)} to {_with_unit(max(values), chart.unit)}"]
    said += [f"{level.name} {_with_unit(level.value, chart.unit)}" for level in chart.levels]
    return ChartDrawing(shapes=shapes, description="; ".join(said))


class _ChartField:
    def __init__(self, chart: Chart, bars: Sequence[Bar], levels: Sequence[Level], height: float) -> None:
        lowest, highest = replace(chart, bars=tuple(bars), levels=tuple(levels)).ends
        highest = max(highest, *(bar.frame or 0.0 for bar in bars), chart.band[2] if chart.band else 0.0)
        lowest, highest = lowest * 1.08, highest * 1.08 or float(not lowest)
        power = 10.0 ** floor(log10(highest - lowest))
        steps = (step * power / 5 for power in (power, 10 * power) for step in _STEPS)
        fifth = next(each for each in steps if floor(lowest / each) * each + 5 * each >= highest)
        self.low = floor(lowest / fifth) * fifth
        self.top = self.low + 5 * fifth
        self.ticks = [self.low + place * fifth for place in range(6)]
        self.factor, self.unit = _scale(self.top, chart.unit)
        self.bars = bars
        self.left = _EDGE + max(len(self.figure(tick)) for tick in self.ticks) * _LETTER
        self.level_names = [f"{cut(visible(each.name), _LONGEST_LEVEL)} {self.figure(each.value)}" for each in levels]
        self.right = _EDGE + max((width(name) * _LETTER + _EDGE for name in self.level_names), default=0.0)
        self.bottom = height - _EDGE - _LINE * max(len(lines) for _, lines in self.names)

    @property
    def across(self) -> float:
        return WIDTH - self.left - self.right

    @property
    def step(self) -> float:
        return self.across / len(self.bars)

    @cached_property
    def names(self) -> list[tuple[int, list[str]]]:
        names = [visible(bar.name) for bar in self.bars]
        for each in (1, 2, 5, 10, 20, 50, len(names)):
            cells = floor(self.step * each / _LETTER) - 1
            lines = [(at, wrap(name, max(1, cells))) for at, name in enumerate(names) if at % each == 0]
            longest = max((width(word) for name in names[::each] for word in name.split()), default=0)
            if longest <= cells and all(len(wrapped) <= _NAME_LINES for _, wrapped in lines):
                return lines
            if len(names) <= _ALL_NAMED:
                return [(at, _cut_lines(wrapped, cells)) for at, wrapped in lines]
        return [(at, _cut_lines(wrapped, cells)) for at, wrapped in lines]

    def middle(self, index: int) -> float:
        return round(self.left + self.step * (index + 0.5), 1)

    def y(self, value: float) -> float:
        return round(self.bottom - (value - self.low) / (self.top - self.low) * (self.bottom - _TOP), 1)

    def figure(self, value: float) -> str:
        return _figure(value / self.factor)


def _scale(top: float, unit: str) -> tuple[float, str]:
    return next(each for each in _SCALES if top >= each[0] or each[0] == 1.0) if unit == "bytes/sec" else (1.0, unit)


def _figure(value: float) -> str:
    return with_minus(f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}")


def _with_unit(value: float, unit: str) -> str:
    factor, scaled = _scale(value, unit)
    return f"{_figure(value / factor)} {scaled}"


def _cut_lines(lines: Sequence[str], cells: int) -> list[str]:
    kept = list(lines[:_NAME_LINES])
    return [*kept[:-1], cut(f"{kept[-1]} {lines[_NAME_LINES]}", cells)] if len(lines) > _NAME_LINES else kept


def _thinned(bars: Sequence[Bar]) -> tuple[Sequence[Bar], int]:
    each = ceil(len(bars) / _MOST_BARS)
    if each <= 1:
        return bars, 1
    return [_mean_bar(bars[i : i + each]) for i in range(0, len(bars), each)], each


def _mean_bar(group: Sequence[Bar]) -> Bar:
    values = [b.value for b in group if b.value is not None and b.mark is not Mark.REJECTED]
    return Bar(name=group[0].name, value=sum(values) / len(values) if values else None)


def _axis(field: _ChartField) -> Iterator[Shape]:
    is_low = (field.bottom - _TOP) / 5 < _LINE
    for value in field.ticks[::5] if is_low else field.ticks:
        y = field.y(value)
        yield Stroke(field.left, y, field.left + field.across, y, "grid")
        yield ChartText(field.left - 5, y + 4, field.figure(value), "end")


def _band(chart: Chart, field: _ChartField) -> Iterator[Shape]:
    if chart.band:
        _, low, high = chart.band
        y = field.y(high)
        yield Box(field.left, y, round(field.across, 1), round(field.y(max(low, 0)) - y, 1), "band")


def _curve(bars: Sequence[Bar], field: _ChartField) -> Iterator[Shape]:
    places = [(field.middle(index), field.y(bar.value)) for index, bar in enumerate(bars) if bar.value is not None]
    for (x1, y1), (x2, y2) in pairwise(places):
        yield Stroke(x1, y1, x2, y2, "curve")


def _whiskers(bars: Sequence[Bar], field: _ChartField) -> Iterator[Shape]:
    for look in ("casing", "whisker"):
        for index, bar in enumerate(bars):
            if bar.interval is not None:
                x, ends = field.middle(index), [min(max(end, field.low), field.top) for end in bar.interval]
                yield Stroke(x, field.y(ends[0]), x, field.y(ends[1]), look)
                for y in (field.y(end) for end in bar.interval if end in ends):
                    yield Stroke(x - _WHISKER, y, x + _WHISKER, y, look)


_LOOKS = {Mark.REJECTED: "rejected", Mark.RESTORED: "rejected", Mark.UNUSUAL: "unusual", Mark.BOTTLENECK: "least"}


def _bars(bars: Sequence[Bar], field: _ChartField, *, are_points: bool) -> Iterator[Shape]:
    thick = _POINT if are_points else round(min(field.step * 0.7, 60), 2)
    for index, bar in enumerate(bars):
        left = round(field.middle(index) - thick / 2, 2)
        if bar.frame:
            yield Box(left - 3, field.y(bar.frame), thick + 6, round(field.bottom - field.y(bar.frame), 1), "frame")
        if bar.value:
            low, high = (field.y(end) for end in bar.ends)
            top, height = (field.y(bar.value) - thick / 2, thick) if are_points else (high, round(low - high, 1))
            yield Box(left, round(top, 1), thick, height, _LOOKS.get(bar.mark, "bar"))


def _signs(bars: Sequence[Bar], field: _ChartField) -> Iterator[Shape]:
    for index, bar in enumerate(bars):
        if bar.mark in SIGNS:
            top = field.y(min(max(bar.ends[1], bar.interval[1] if bar.interval else 0.0), field.top))
            yield ChartText(field.middle(index), top - 4, SIGNS[bar.mark], "middle", "sign")


def _marks(chart: Chart, field: _ChartField, each: int) -> Iterator[Shape]:
    for x, signs in chart.signs_at([field.middle(place // each) for place in range(len(chart.bars))], _LETTER):
        yield Stroke(x, _TOP, x, field.bottom, "grid")
        yield ChartText(x, _TOP - 4, signs, "middle", "sign")


def _names(field: _ChartField) -> Iterator[Shape]:
    for at, lines in field.names:
        for line, text in enumerate(lines, 1):
            yield ChartText(field.middle(at), field.bottom + _LINE * line, text, "middle")


def _level_lines(levels: Sequence[Level], field: _ChartField) -> Iterator[Shape]:
    text_y = -float(_LINE)
    end = round(field.left + field.across, 1)
    for level, name in sorted(zip(levels, field.level_names, strict=True), key=lambda each: -each[0].value):
        y, look = field.y(level.value), "mean" if level.of_bars else "reference"
        text_y = max(y + 4, text_y + _LINE)
        yield Stroke(field.left, y, end, y, look)
        yield Stroke(end, y, end + 6, text_y - 4, look)
        yield ChartText(end + _EDGE, text_y, name)
