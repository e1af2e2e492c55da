"""The curve of a sweep that sharebench carried out itself."""

from app.charts.sweep import SweepPoint, sweep_chart
from forms.trials.sweep import SweepSummary


def sweep_curve(found: SweepSummary, width: int, height: int, *, colour: bool = True) -> str:
    """Each value's average with the interval of its change; the previous value is a level line."""
    base, *tried = found.values
    points = []
    for one in tried:
        low, high = found.interval_of(one) or (None, None)
        points.append(SweepPoint(value=one.short_name, bytes_per_second=one.average or 0.0, low=low, high=high))
    return sweep_chart(points, width, height, base=base.average, colour=colour)
