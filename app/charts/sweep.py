"""A sweep: the average at each value of one numeric setting, as a curve (Using Samba, figure B-1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.charts import canvas as paper
from app.charts.canvas import blank_canvas, too_small


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """One value of the setting and what was measured there."""

    value: str
    """As it was set, such as ``64K``."""
    bytes_per_second: float
    """The average."""
    low: float | None = None
    """The 95 % interval of the average, in bytes per second."""
    high: float | None = None


def sweep_chart(points: Sequence[SweepPoint], width: int, height: int, *, colour: bool = True) -> str:
    """The points from left to right in the order given, evenly spaced."""
    small = too_small(width, height)
    if small is not None or not points:
        return small if small is not None else "nothing has been measured yet"
    highest = max(point.bytes_per_second for point in points)
    tops = [point.high for point in points if point.high is not None and point.high <= 2 * highest]
    with blank_canvas(width, height, max([highest, *tops]), colour=colour) as drawn:
        places = [float(place) for place in range(len(points))]
        drawn.across(-0.5, len(points) - 0.5, places, [point.value[:10] for point in points])
        for place, point in zip(places, points, strict=True):
            if point.low is not None and point.high is not None:
                drawn.upright(place, point.low, point.high, "95 % interval")
        rates = [point.bytes_per_second for point in points]
        drawn.curve("•", places, rates, "in the order given")
        drawn.points(paper.RUN, places, rates, "average")
        return drawn.text()
