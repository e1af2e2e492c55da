"""The rate of each run of one series, with the average, its deviation, the link and what was expected."""

from app.charts.bars import bars_chart
from app.charts.canvas import LEAST_ROWS, Canvas, Pattern, too_small
from app.charts.marks import EXPECTED, draw_average, draw_link, draw_run, figure
from forms.numbers import byte_rate, link_rate
from forms.report import FAR_ABOVE
from forms.series.summary import SeriesSummary

_AROUND = 4
"""Lines of a chart that hold no values: the axis, two of labels, the legend."""


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
    """The chart in ``width`` columns and ``height`` lines, with ANSI colours where ``colour`` is set.

    ``zoomed`` shows the scatter of the runs instead of the whole from 0. Few lines give horizontal bars.
    """
    small = too_small(width, height)
    rows = summary.all_rows
    rates = [row.measures.bytes_per_second for row in rows if row.measures.bytes_per_second]
    if small is not None or not rates:
        return small if small is not None else "no run has ended yet"
    if height - _AROUND < LEAST_ROWS and not zoomed:
        return bars_chart(summary, width, height, colour=colour)
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
        name = f"{expected_name} {byte_rate(expected)}"
        canvas.level(Pattern.LOOSE, EXPECTED, expected, name, f"{expected_name} {figure(expected, max(shown))}")
    draw_average(canvas, summary, (canvas.low, canvas.high))
    for place, row in enumerate(rows, 1):
        draw_run(canvas, row, place)
    return canvas.text()
