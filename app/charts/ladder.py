"""The ladder of an experiment: each series' average with its interval, in the order in which they were made."""

from __future__ import annotations

from collections.abc import Sequence

from app.charts import canvas as paper
from app.charts.canvas import blank_canvas, too_small
from forms.series.summary import SeriesSummary


def ladder_chart(forms: Sequence[SeriesSummary], width: int, height: int, *, colour: bool = True) -> str:
    """The steps from left to right, numbered from 0 for the base, joined by a line."""
    small = too_small(width, height)
    steps = [(place, form) for place, form in enumerate(forms) if form.average and form.average.bytes_per_second]
    if small is not None or not steps:
        return small if small is not None else "no series of this experiment has a finished run"
    averages = [form.average.bytes_per_second or 0.0 for _, form in steps if form.average]
    tops = [form.confidence[1] for _, form in steps if form.confidence]
    top = max([*averages, *(reach for reach in tops if reach <= 2 * max(averages))])
    with blank_canvas(width, height, top, colour=colour) as drawn:
        drawn.across(-0.5, len(forms) - 0.5, range(len(forms)), [str(place) for place in range(len(forms))])
        for place, form in steps:
            if form.confidence:
                drawn.upright(place, *form.confidence, "95 % interval")
        places = [float(place) for place, _ in steps]
        drawn.curve("•", places, averages, "in the order made")
        drawn.points(paper.RUN, places, averages, "average of a series")
        return drawn.text()
