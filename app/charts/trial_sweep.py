"""The curve of a sweep that sharebench carried out itself."""

from app.charts.sweep import SweepPoint, sweep_chart
from forms.trials.sweep import SweepSummary


def sweep_curve(found: SweepSummary, width: int, height: int, *, colour: bool = True) -> str:
    """Each value's average, with the interval of its change against what was there around it."""
    base = found.values[0].average or 0.0
    points = []
    for one in found.values:
        rate = one.average or 0.0
        ends = one.effect.interval_percent if one.effect else None
        name = "as it was" if one.value is None else (one.value.split()[-1:] or ["empty"])[0].rpartition("=")[2]
        points.append(
            SweepPoint(
                value=name,
                bytes_per_second=rate,
                low=base * (1 + ends[0] / 100) if ends else None,
                high=base * (1 + ends[1] / 100) if ends else None,
            )
        )
    return sweep_chart(points, width, height, colour=colour)
