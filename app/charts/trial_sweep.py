"""The curve of a sweep that sharebench carried out itself."""

from app.charts.sweep import SweepPoint, sweep_chart
from forms.stats.summary import mean
from forms.trials.sweep import SweepSummary


def sweep_curve(found: SweepSummary, width: int, height: int, *, colour: bool = True) -> str:
    """Each value's average, with the interval of its change against what was there around it."""
    base = _average(found, 0)
    points = []
    for place, one in enumerate(found.values):
        rate = _average(found, place)
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


def _average(found: SweepSummary, place: int) -> float:
    rates = [run.bytes_per_second for run in found.values[place].series.measured() if run.bytes_per_second]
    return mean(rates) or 0.0
