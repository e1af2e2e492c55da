"""Two forms side by side on one scale."""

from __future__ import annotations

from app.charts import canvas as paper
from app.charts.canvas import Canvas, blank_canvas, too_small
from app.charts.rates import LINK_WITHIN, sign_of
from forms.numbers import byte_rate, link_rate
from forms.series.summary import SeriesSummary

_GAP = 1.0


def compared_chart(base: SeriesSummary, other: SeriesSummary, width: int, height: int, *, colour: bool = True) -> str:
    """The measured runs of ``base`` on the left and of ``other`` on the right, each with its average and deviation."""
    small = too_small(width, height)
    rates = [r.measures.bytes_per_second for form in (base, other) for r in form.rows if r.measures.bytes_per_second]
    if small is not None or not rates:
        return small if small is not None else "neither series has a finished run"
    link = base.series.link_bits_per_second
    shown_link = link if link and link == other.series.link_bits_per_second else None
    top = max(rates)
    if shown_link and shown_link / 8 <= LINK_WITHIN * top:
        top = max(top, shown_link / 8)
    with blank_canvas(width, height, top, colour=colour) as drawn:
        middle = len(base.rows) + _GAP / 2 + 0.5
        high = len(base.rows) + _GAP + len(other.rows) + 0.5
        centres = [(1 + len(base.rows)) / 2, len(base.rows) + _GAP + (1 + len(other.rows)) / 2]
        drawn.across(0.5, high, centres, [_named("base", base), _named("other", other)])
        _side(drawn, base, 0.0)
        _side(drawn, other, len(base.rows) + _GAP)
        drawn.upright(middle, 0.0, drawn.top, "base left, other right")
        if shown_link:
            drawn.level(paper.LINK, shown_link / 8, 0.5, high, f"link {link_rate(shown_link)}")
        return drawn.text()


def _named(name: str, form: SeriesSummary) -> str:
    return f"{name}: {byte_rate(form.average.bytes_per_second if form.average else None)}"


def _side(drawn: Canvas, form: SeriesSummary, offset: float) -> None:
    low, high = offset + 0.5, offset + len(form.rows) + 0.5
    average = form.average.bytes_per_second if form.average else None
    deviation = form.deviation.bytes_per_second if form.deviation else None
    if average is not None and deviation:
        drawn.band(average - deviation, average + deviation, low, high, "± deviation")
    if average is not None:
        drawn.level(paper.AVERAGE, average, low, high, "average")
    for place, row in enumerate(form.rows, 1):
        rate = row.measures.bytes_per_second
        if rate is not None:
            sign, name = sign_of(row)
            drawn.points(sign, [offset + place], [rate], name)
