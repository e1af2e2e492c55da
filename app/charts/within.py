"""The throughput over time within one run."""

from collections.abc import Sequence

from app.charts.canvas import Canvas, too_small
from app.charts.marks import RUN
from app.charts.scale import round_ticks
from forms.series.progress import over_time


def within_chart(
    progress: Sequence[tuple[float, int]], width: int, height: int, *, colour: bool = True, zoomed: bool = False
) -> str:
    """The chart of samples (seconds, bytes moved so far) in ``width`` columns and ``height`` lines."""
    small = too_small(width, height)
    spans = over_time(progress, most=max(10, width - 12))
    if small is not None or not spans:
        return small if small is not None else "the run is too short for a curve"
    rates = [span.bytes_per_second for span in spans]
    end = spans[-1].until_seconds
    canvas = Canvas(width=width, height=height, rates=rates, low=0.0, high=end, colour=colour, zoomed=zoomed)
    canvas.labels += [(tick, f"{tick:g} s", "") for tick in round_ticks(end, max(2, width // 12)) if tick <= end]
    times = [0.0, *(span.until_seconds for span in spans)]
    canvas.curve(RUN, times, [rates[0], *rates], "throughput over time")
    return canvas.text()
