"""A sweep: the average at each value of one numeric setting (Using Samba, figure B-1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.charts.canvas import EXPECTED, INTERVAL, RUN, Canvas, Pattern, figure, too_small
from forms.trials.sweep import SweepSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """One value of the setting, such as ``64K``, and the average measured with it."""

    value: str
    bytes_per_second: float
    low: float | None = None
    """The 95 % interval of the average, in bytes per second."""
    high: float | None = None


def sweep_chart(
    points: Sequence[SweepPoint],
    width: int,
    height: int,
    *,
    base: float | None = None,
    colour: bool = True,
    zoomed: bool = False,
) -> str:
    """Points evenly spaced in the given order; ``base`` is the previous setting, in bytes per second."""
    small = too_small(width, height)
    if small is not None or not points:
        return small if small is not None else "nothing has been measured yet"
    highest = max(point.bytes_per_second for point in points)
    ends = [end for point in points for end in (point.low, point.high) if end is not None and 0 <= end <= 2 * highest]
    rates = [*(point.bytes_per_second for point in points), *ends, *([base] if base else [])]
    canvas = Canvas(
        width=width, height=height, rates=rates, low=-0.5, high=len(points) - 0.5, colour=colour, zoomed=zoomed
    )
    if base:
        canvas.level(Pattern.LOOSE, EXPECTED, base, "as it was", f"was {figure(base, highest, aligned=True)}")
    for place, point in enumerate(points):
        canvas.labels.append((place, point.value[:10], figure(point.bytes_per_second, highest, aligned=True)))
        if point.low is not None and point.high is not None:
            canvas.upright(INTERVAL, place, point.low, point.high, "95 % interval")
        canvas.dash(Pattern.SOLID, RUN, point.bytes_per_second, place, "average")
    canvas.curve(RUN, range(len(points)), [point.bytes_per_second for point in points], "in the order given")
    return canvas.text()


def sweep_curve(found: SweepSummary, width: int, height: int, *, colour: bool = True) -> str:
    """Each value's average, with the interval of its change against what was there around it, which is a level."""
    base, *tried = found.values
    points = []
    for one in tried:
        low, high = found.interval_of(one) or (None, None)
        points.append(SweepPoint(value=one.short_name, bytes_per_second=one.average or 0.0, low=low, high=high))
    return sweep_chart(points, width, height, base=base.average, colour=colour)
