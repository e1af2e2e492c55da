"""Charts of one series, several side by side, an experiment's steps, or the inside of one run."""

from collections.abc import Sequence

from app.charts.bars import bars_chart
from app.charts.canvas import SMALLEST, Canvas, Pattern, too_small
from app.charts.marks import BAD, EXPECTED, INTERVAL, RUN, draw_average, draw_link, draw_run, figure
from app.charts.scale import round_ticks
from forms import wording
from forms.report import FAR_ABOVE
from forms.series.progress import over_time
from forms.series.summary import SeriesSummary
from forms.wording import link_rate
from storage.records import Decision

_NARROW = 56
"""Columns below which bars with figures are easier to read."""
_BELOW_BARS = 3


def rates_chart(
    summary: SeriesSummary,
    width: int,
    height: int,
    *,
    colour: bool = True,
    zoomed: bool = False,
    expected_bytes_per_second: float | None = None,
    expected_name: str = "expected",
) -> str:
    """``zoomed`` shows the variation of the runs instead of starting at 0. Small sizes give bars."""
    small = too_small(width, height)
    rows = summary.all_rows
    rates = [row.measures.bytes_per_second for row in rows if row.measures.bytes_per_second]
    narrow = width < _NARROW and len(rows) + _BELOW_BARS <= height and not zoomed and not expected_bytes_per_second
    if (narrow or small is not None) and rates and width >= SMALLEST[0] and height > 1:
        return bars_chart(summary, width, height, colour=colour)
    if small is not None or not rates:
        return small if small is not None else "no run has ended yet"
    link, expected = summary.series.link_bits_per_second, expected_bytes_per_second
    shown = list(rates)
    if expected and not zoomed:
        shown.append(expected)
    if link and not zoomed and link / 8 <= FAR_ABOVE * max(rates):
        shown.append(link / 8)
    canvas = Canvas(
        width=width, height=height, rates=shown, low=0.5, high=len(rows) + 0.5, colour=colour, zoomed=zoomed
    )
    draw_link(canvas, link, f"link {link_rate(link)}")
    if expected and (not zoomed or min(rates) <= expected <= max(rates)):
        name, number = f"{expected_name} {wording.rate(expected)}", figure(expected, max(shown), aligned=True)
        canvas.level(Pattern.LOOSE, EXPECTED, expected, name, f"{expected_name} {number}")
    draw_average(canvas, summary, (canvas.low, canvas.high))
    for place, row in enumerate(rows, 1):
        draw_run(canvas, row, place)
    return bars_chart(summary, width, height, colour=colour) if canvas.is_flat and not zoomed else canvas.text()


_GAP = 1.0


def compared_chart(
    base: SeriesSummary,
    *others: SeriesSummary,
    width: int,
    height: int,
    colour: bool = True,
    zoomed: bool = False,
) -> str:
    """Measured runs of ``base`` on the left, then the others, each with average and deviation."""
    small = too_small(width, height)
    sides = (base, *others)
    rates = [r.measures.bytes_per_second for side in sides for r in side.rows if r.measures.bytes_per_second]
    if small is not None or not rates:
        return small if small is not None else "neither series has a finished run"
    links = {side.series.link_bits_per_second for side in sides}
    link = links.pop() if len(links) == 1 else None
    if link and not zoomed and link / 8 <= FAR_ABOVE * max(rates):
        rates = [*rates, link / 8]
    high = sum(len(side.rows) for side in sides) + _GAP * (len(sides) - 1) + 0.5
    canvas = Canvas(width=width, height=height, rates=rates, low=0.5, high=high, colour=colour, zoomed=zoomed)
    draw_link(canvas, link, f"link {link_rate(link)}")
    offset = 0.0
    for place, side in enumerate(sides):
        name = "base" if not place else "other" if len(sides) == 2 else f"other {place}"
        across = (offset + 0.5, offset + len(side.rows) + 0.5)
        draw_average(canvas, side, across, name)
        if side.average_rate is None:
            canvas.notes.append(f"{name}: no valid run")
        for number, row in enumerate(side.rows, 1):
            draw_run(canvas, row, offset + number)
        offset += len(side.rows) + _GAP
    return canvas.text()


def ladder_chart(
    summaries: Sequence[SeriesSummary], width: int, height: int, *, colour: bool = True, zoomed: bool = False
) -> str:
    """Steps from left to right, 0 is the base; separate measurements, so no line joins them."""
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
        name = "× put back" if back else "average of a series"
        pattern = Pattern.LOOSE if back else Pattern.SOLID
        canvas.dash(pattern, BAD if back else RUN, average, place, name)
    measured = dict(zip((place for place, _ in steps), averages, strict=True))
    for place, summary in enumerate(summaries):
        sign = "×" if summary.series.decision is Decision.REVERTED else ""
        value = figure(measured[place], max(rates), aligned=True) if place in measured else "-"
        canvas.labels.append((place, f"{place}{sign}", value))
    return canvas.text()


TOO_SHORT = "the run is too short for a curve"


def within_chart(
    progress: Sequence[tuple[float, int]],
    width: int,
    height: int,
    *,
    colour: bool = True,
    zoomed: bool = False,
    without: str = TOO_SHORT,
) -> str:
    """Chart of samples (seconds, bytes so far); ``without`` is the message for too few samples."""
    small = too_small(width, height)
    spans = over_time(progress, most=max(10, width - 12))
    if small is not None or not spans:
        return small if small is not None else without
    rates = [span.bytes_per_second for span in spans]
    end = spans[-1].until_seconds
    canvas = Canvas(width=width, height=height, rates=rates, low=0.0, high=end, colour=colour, zoomed=zoomed)
    canvas.labels += [(tick, f"{tick:g} s", "") for tick in round_ticks(end, max(2, width // 12)) if tick <= end]
    times = [0.0, *(span.until_seconds for span in spans)]
    canvas.curve(RUN, times, [rates[0], *rates], "throughput over time")
    return canvas.text()
