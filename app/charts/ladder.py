"""The ladder of an experiment: each series' average with its interval, in the order in which they were made."""

from collections.abc import Sequence

from app.charts.canvas import Canvas, Pattern, too_small
from app.charts.marks import BAD, INTERVAL, RUN, figure
from forms.series.summary import SeriesSummary
from storage.records import Decision


def ladder_chart(
    summaries: Sequence[SeriesSummary], width: int, height: int, *, colour: bool = True, zoomed: bool = False
) -> str:
    """The rungs from left to right, numbered from 0 for the base; one that was put back has its sign.

    Rungs are separate measurements: no line joins them.
    """
    small = too_small(width, height)
    steps = [(place, s) for place, s in enumerate(summaries) if s.average_rate]
    if small is not None or not steps:
        return small if small is not None else "no series of this experiment has a finished run"
    averages = [s.average_rate or 0.0 for _, s in steps]
    ends = [end for _, s in steps if s.confidence for end in s.confidence if 0 <= end <= 2 * max(averages)]
    rates = [*averages, *ends]
    high = len(summaries) - 0.5
    canvas = Canvas(width=width, height=height, rates=rates, low=-0.5, high=high, colour=colour, zoomed=zoomed)
    for (place, summary), average in zip(steps, averages, strict=True):
        back = summary.series.decision is Decision.REVERTED
        if summary.confidence:
            canvas.upright(INTERVAL, place, *summary.confidence, "95 % interval")
        name = "× put back" if back else "average of a series"  # noqa: RUF001  the sign on the form
        pattern = Pattern.LOOSE if back else Pattern.SOLID
        canvas.dash(pattern, BAD if back else RUN, average, place, name)
    measured = dict(zip((place for place, _ in steps), averages, strict=True))
    for place, summary in enumerate(summaries):
        sign = "×" if summary.series.decision is Decision.REVERTED else ""  # noqa: RUF001  the sign on the form
        value = figure(measured[place], max(rates)) if place in measured else "-"
        canvas.labels.append((place, f"{place}{sign}", value))
    return canvas.text()
