"""Several series side by side on one scale."""

from app.charts.canvas import Canvas, too_small
from app.charts.marks import draw_average, draw_link, draw_run
from forms.numbers import byte_rate, link_rate
from forms.report import FAR_ABOVE
from forms.series.summary import SeriesSummary

_GAP = 1.0


def compared_chart(
    base: SeriesSummary,
    *others: SeriesSummary,
    width: int,
    height: int,
    colour: bool = True,
    zoomed: bool = False,
) -> str:
    """The measured runs of ``base`` on the left and of the others to the right, each with its average and deviation."""
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
        canvas.notes.append(f"{name}: {byte_rate(side.average_rate)}")
        for number, row in enumerate(side.rows, 1):
            draw_run(canvas, row, offset + number)
        offset += len(side.rows) + _GAP
    return canvas.text()
