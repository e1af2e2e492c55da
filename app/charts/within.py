"""The throughput over time within one run."""

from __future__ import annotations

from collections.abc import Sequence

from app.charts.canvas import blank_canvas, round_ticks, too_small
from forms.series.progress import over_time


def within_chart(progress: Sequence[tuple[float, int]], width: int, height: int, *, colour: bool = True) -> str:
    """The chart of samples (seconds, bytes moved so far) in ``width`` columns and ``height`` lines."""
    small = too_small(width, height)
    spans = over_time(progress, most=max(10, width - 12))
    if small is not None or not spans:
        return small if small is not None else "the run is too short for a curve"
    with blank_canvas(width, height, max(span.bytes_per_second for span in spans), colour=colour) as drawn:
        end = spans[-1].until_seconds
        ticks = [tick for tick in round_ticks(end, max(2, width // 12)) if tick <= end]
        drawn.across(0, end, ticks, [f"{tick:g} s" for tick in ticks])
        times = [0.0, *(span.until_seconds for span in spans)]
        rates = [spans[0].bytes_per_second, *(span.bytes_per_second for span in spans)]
        drawn.curve("•", times, rates, "throughput over time")
        return drawn.text()
