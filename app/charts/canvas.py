"""The sheet that charts are drawn on: plotext's one figure, lent to one chart at a time."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

SMALLEST = (24, 6)
"""Columns and lines below which nothing can be read from a chart."""

_BYTE_UNITS = ((10**9, "GB/s"), (10**6, "MB/s"), (10**3, "kB/s"))
_figure_lock = threading.Lock()

RUN, WARM_UP, UNUSUAL, REJECTED, FAILED = "●", "w", "◆", "×", "!"  # noqa: RUF001  a sign, no letter
AVERAGE, BAND, LINK, EXPECTED, MARGIN = "─", "░", "━", "┄", "│"
COLOURS = {
    RUN: 12,
    WARM_UP: 8,
    UNUSUAL: 11,
    REJECTED: 9,
    FAILED: 9,
    AVERAGE: 10,
    BAND: 2,
    LINK: 13,
    EXPECTED: 14,
    MARGIN: 10,
}
"""The terminal's own sixteen colours; each sign differs without them."""


@dataclass(slots=True)
class Canvas:
    """One chart in the making, in rates on the left axis; ``top`` is the highest rate that must fit."""

    width: int
    height: int
    colour: bool
    top: float
    _figure: Any
    _signs: dict[str, str] = field(default_factory=dict)
    _factor: float = 1.0
    unit: str = "B/s"

    def __post_init__(self) -> None:
        for factor, unit in _BYTE_UNITS:
            if self.top >= factor:
                self._factor, self.unit = factor, unit
                break
        ticks = round_ticks(self.top / self._factor, max(2, (self.height - 4) // 2))
        self._figure.ruler("y").lim(0, ticks[-1])
        self._figure.ruler("y").ticks(ticks, labels=[f"{tick:g}" for tick in ticks])

    def across(self, low: float, high: float, ticks: Sequence[float], labels: Sequence[str]) -> None:
        """Set the lower axis."""
        self._figure.ruler("x").lim(low, high)
        self._figure.ruler("x").ticks(list(ticks), labels=list(labels))

    def points(self, sign: str, xs: Sequence[float], rates: Sequence[float], name: str) -> None:
        """Draw separate points; nothing for none."""
        if xs:
            self._draw(sign, xs, rates, name, lines=False)

    def curve(self, sign: str, xs: Sequence[float], rates: Sequence[float], name: str) -> None:
        """Draw points joined by lines."""
        if xs:
            self._draw(sign, xs, rates, name, lines=True)

    def level(self, sign: str, rate: float, low: float, high: float, name: str) -> None:
        """Draw a level line from ``low`` to ``high``; one above the chart is only named."""
        if rate <= self.top:
            self._draw(sign, (low, high), (rate, rate), name, lines=True)
        else:
            self._signs[sign] = f"{name}, above the chart"

    def band(self, low_rate: float, high_rate: float, low: float, high: float, name: str) -> None:
        """Fill between two rates."""
        figure = self._figure
        bounds = (max(0.0, low_rate) / self._factor, min(self.top, high_rate) / self._factor)
        figure.draw(figure.rectangle((low, high), bounds, marker=self._marker(BAND), lines=True, fill=True))
        self._signs[BAND] = name

    def upright(self, x: float, low_rate: float, high_rate: float, name: str) -> None:
        """Draw an upright line between two rates at ``x``."""
        self._draw(MARGIN, (x, x), (max(0.0, low_rate), min(self.top, high_rate)), name, lines=True)

    def _draw(self, sign: str, xs: Sequence[float], rates: Sequence[float], name: str, *, lines: bool) -> None:
        scaled = [rate / self._factor for rate in rates]
        self._figure.draw(self._figure.signal(list(xs), scaled, marker=self._marker(sign)).lines(lines))
        self._signs[sign] = name

    def _marker(self, sign: str) -> Any:
        import plotext  # noqa: PLC0415  loaded when the first chart is drawn

        return plotext.marker(sign, pixel=COLOURS.get(sign, 7) if self.colour else None)

    def text(self) -> str:
        """The chart with a line that names its unit and its signs, in as many lines as were asked for."""
        legend = f"{self.unit}   " + "   ".join(f"{sign} {name}" for sign, name in self._signs.items())
        lines = wrapped(legend, self.width)
        self._figure.plot_size(self.width, max(SMALLEST[1] - 1, self.height - len(lines)))
        drawn = str(self._figure.build().string(colorless=not self.colour)).rstrip("\n")
        return "\n".join([*drawn.split("\n"), *lines])


@contextmanager
def blank_canvas(width: int, height: int, top: float, *, colour: bool) -> Iterator[Canvas]:
    """A blank sheet for rates from 0 to a little over ``top`` bytes per second; one thread draws at a time."""
    import plotext  # noqa: PLC0415  loaded when the first chart is drawn

    with _figure_lock:
        plotext.terminal.limit(width=False, height=False)
        figure = plotext.figure
        figure.clear()
        figure.theme("colorless")
        figure.canvas("default")
        try:
            yield Canvas(width=width, height=height, colour=colour, top=top * 1.05 if top > 0 else 1.0, _figure=figure)
        finally:
            figure.clear()


def prepare() -> None:
    """Load what charts are drawn with, a tenth of a second, before anything is timed."""
    import plotext  # noqa: F401, PLC0415  loaded here so that no chart has to wait for it


def too_small(width: int, height: int) -> str | None:
    """What stands in the place of a chart that nobody could read; None where there is room."""
    if width >= SMALLEST[0] and height >= SMALLEST[1]:
        return None
    return "no room for the chart"[: max(0, width)]


def round_ticks(top: float, most: int) -> list[float]:
    """Ticks from 0 to at least ``top`` in steps of 1, 2 or 5 times a power of ten, ``most`` intervals at most."""
    rough = top / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    count = math.ceil(top / step - 1e-9)
    return [float(f"{step * index:.12g}") for index in range(max(1, count) + 1)]


def wrapped(text: str, width: int) -> list[str]:
    """The legend in lines of at most ``width`` columns, broken between its signs."""
    lines = [""]
    for part in text.split("   "):
        longer = f"{lines[-1]}   {part}" if lines[-1] else part
        if len(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(part)
    return [line[:width] for line in lines]
