"""A sheet's chart as rectangles, lines and texts on a field of 720 by 260, y downwards, for SVG and PDF alike.

Marks are told apart without colour: a rejected bar is hatched and has an x, an unusual one is hollow and has a *,
a failed one has an ! and no bar, the bottleneck has a <.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10

from forms.report import FAR_ABOVE, SIGNS, Bar, Chart, Mark

WIDTH, HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 120, 18, 28
_ACROSS = WIDTH - _LEFT - _RIGHT
_MOST_BARS = 240
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_LABEL_LINE = 15
"""Height of a level line's name; names keep the order of their lines."""
_POINT = 8
"""Width and height of a curve's point."""
_WHISKER = 5
"""Half of a whisker's end."""
_STEPS = (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; ``look`` is ``band``, ``bar``, ``rejected``, ``unusual`` or ``least``."""

    x: float
    y: float
    width: float
    height: float
    look: str


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line; ``look`` is ``grid``, ``level0`` or ``level1``."""

    x1: float
    y1: float
    x2: float
    y2: float
    look: str


@dataclass(frozen=True, slots=True)
class ChartText:
    """A text on its baseline; ``anchor`` is ``start``, ``middle`` or ``end``, ``look`` is empty or ``sign``."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    look: str = ""


Shape = Box | Stroke | ChartText


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartDrawing:
    """The shapes from back to front, and what they show in one sentence."""

    shapes: tuple[Shape, ...]
    description: str


def drawing(chart: Chart) -> ChartDrawing:
    """The chart laid out; long series as means of neighbouring runs, at most 240 bars."""
    bars, each = _thinned(chart.bars)
    shown, beyond = _levels(chart, bars)
    scale = _ChartScale(
        chart,
        [
            *(b.interval[1] if b.interval else b.value or 0 for b in bars),
            *(v for _, v in shown),
            chart.band[2] if chart.band else 0,
        ],
    )
    title = chart.title + (f", each bar the mean of {each}" if each > 1 else "")
    far = "".join(f"{name}: {scale.text(value)}, above the drawing" for name, value in beyond)
    shapes = (
        *_axis(scale),
        *_band(chart, scale),
        *(_curve(bars, scale) if chart.is_curve else ()),
        *_bars(bars, scale, are_points=chart.is_curve),
        *_whiskers(bars, scale),
        *_level_lines(shown, scale, first=1 if chart.is_curve else 0),
        *_signs(bars, scale),
        ChartText(_LEFT, _TOP - 6, title),
        *([ChartText(WIDTH - 4, _TOP - 6, far, "end")] if far else []),
    )
    return ChartDrawing(shapes=shapes, description=_described(chart, title, scale))


class _ChartScale:
    """Values to heights, and values to words."""

    def __init__(self, chart: Chart, values: Sequence[float]) -> None:
        highest = max(values) * 1.08 or 1.0
        power = 10.0 ** floor(log10(highest))
        self.top = next(step * power for step in _STEPS if step * power >= highest)
        self.factor, prefix = next((f, p) for f, p in _SCALES if self.top >= f or f == 1.0)
        self.unit = prefix + {"bytes/sec": "B/s"}.get(chart.unit, chart.unit)

    def y(self, value: float) -> float:
        return round(HEIGHT - _BOTTOM - value / self.top * (HEIGHT - _TOP - _BOTTOM), 1)

    def figure(self, value: float) -> str:
        return f"{value / self.factor:.4g}"

    def text(self, value: float) -> str:
        return f"{value / self.factor:.4g} {self.unit}"


def _thinned(bars: Sequence[Bar]) -> tuple[Sequence[Bar], int]:
    each = ceil(len(bars) / _MOST_BARS)
    if each <= 1:
        return bars, 1
    return [_mean_bar(bars[i : i + each]) for i in range(0, len(bars), each)], each


def _mean_bar(group: Sequence[Bar]) -> Bar:
    values = [b.value for b in group if b.value is not None and b.mark is not Mark.REJECTED]
    return Bar(name=group[0].name, value=sum(values) / len(values) if values else None)


def _levels(chart: Chart, bars: Sequence[Bar]) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """The level lines to draw, and those that lie too far above."""
    highest = max((b.value or 0 for b in bars), default=0) or 1
    shown = [(n, v) for n, v in chart.levels if v <= FAR_ABOVE * highest]
    return shown, [(n, v) for n, v in chart.levels if v > FAR_ABOVE * highest]


def _axis(scale: _ChartScale) -> Iterator[Shape]:
    for fifth in range(6):
        value = scale.top * fifth / 5
        y = scale.y(value)
        yield Stroke(_LEFT, y, _LEFT + _ACROSS, y, "grid")
        yield ChartText(_LEFT - 6, y + 4, scale.text(value) if fifth else "0", "end")


def _band(chart: Chart, scale: _ChartScale) -> Iterator[Shape]:
    if chart.band:
        _, low, high = chart.band
        y = scale.y(high)
        yield Box(_LEFT, y, _ACROSS, round(scale.y(max(low, 0)) - y, 1), "band")


def _curve(bars: Sequence[Bar], scale: _ChartScale) -> Iterator[Shape]:
    step = _ACROSS / len(bars)
    places = [
        (round(_LEFT + step * (index + 0.5), 1), scale.y(bar.value))
        for index, bar in enumerate(bars)
        if bar.value is not None
    ]
    for (x1, y1), (x2, y2) in pairwise(places):
        yield Stroke(x1, y1, x2, y2, "level0")


def _whiskers(bars: Sequence[Bar], scale: _ChartScale) -> Iterator[Shape]:
    step = _ACROSS / len(bars)
    for index, bar in enumerate(bars):
        if bar.interval is not None:
            x, low, high = round(_LEFT + step * (index + 0.5), 1), *(scale.y(max(end, 0)) for end in bar.interval)
            yield Stroke(x, low, x, high, "level0")
            for y in (low, high):
                yield Stroke(x - _WHISKER, y, x + _WHISKER, y, "level0")


def _bars(bars: Sequence[Bar], scale: _ChartScale, *, are_points: bool) -> Iterator[Shape]:
    step = _ACROSS / len(bars)
    thick = _POINT if are_points else round(min(step * 0.7, 60), 2)
    label_each = ceil(len(bars) / 20)
    for index, bar in enumerate(bars):
        middle = _LEFT + step * (index + 0.5)
        if bar.value:
            y = scale.y(bar.value)
            look = {
                Mark.REJECTED: "rejected",
                Mark.PUT_BACK: "rejected",
                Mark.UNUSUAL: "unusual",
                Mark.BOTTLENECK: "least",
            }.get(bar.mark, "bar")
            if are_points:
                yield Box(round(middle - thick / 2, 2), round(y - thick / 2, 1), thick, thick, look)
            else:
                yield Box(round(middle - thick / 2, 2), y, thick, round(HEIGHT - _BOTTOM - y, 1), look)
        if index % label_each == 0:
            yield ChartText(round(middle, 1), HEIGHT - _BOTTOM + 16, bar.name, "middle")


def _signs(bars: Sequence[Bar], scale: _ChartScale) -> Iterator[Shape]:
    step = _ACROSS / len(bars)
    for index, bar in enumerate(bars):
        if bar.mark in SIGNS:
            x = round(_LEFT + step * (index + 0.5), 1)
            yield ChartText(x, scale.y(bar.value or 0) - 4, SIGNS[bar.mark], "middle", "sign")


def _level_lines(levels: Sequence[tuple[str, float]], scale: _ChartScale, first: int) -> Iterator[Shape]:
    text_y = -float(_LABEL_LINE)
    for index, (name, value) in sorted(enumerate(levels), key=lambda level: -level[1][1]):
        y, look = scale.y(value), f"level{min(first + index, 1)}"
        text_y = max(y + 4, text_y + _LABEL_LINE)
        yield Stroke(_LEFT, y, _LEFT + _ACROSS, y, look)
        yield Stroke(_LEFT + _ACROSS, y, _LEFT + _ACROSS + 5, text_y - 4, look)
        yield ChartText(_LEFT + _ACROSS + 7, text_y, f"{name} {scale.figure(value)}")


def _described(chart: Chart, title: str, scale: _ChartScale) -> str:
    values = [b.value for b in chart.bars if b.value is not None]
    said = [title, f"from {scale.text(min(values))} to {scale.text(max(values))}"]
    said += [f"{name} {scale.text(value)}" for name, value in chart.levels]
    return "; ".join(said)
