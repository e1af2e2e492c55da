"""The rate of each run of one form, with the average, its deviation, the link and what was expected."""

from __future__ import annotations

from collections.abc import Iterable

from app.charts import canvas as paper
from app.charts.canvas import Canvas, blank_canvas, too_small
from forms.numbers import byte_rate, link_rate
from forms.series.summary import RunRow, SeriesSummary
from storage.records import Phase, RunStatus

LINK_WITHIN = 2.5
"""The link is drawn to scale up to so many times the fastest run; beyond, the runs would lie on the floor."""


def rates_chart(
    form: SeriesSummary,
    width: int,
    height: int,
    *,
    colour: bool = True,
    expected_bytes_per_second: float | None = None,
    expected_name: str = "expected",
) -> str:
    """The chart in ``width`` columns and ``height`` lines, with ANSI colours where ``colour`` is set."""
    small = too_small(width, height)
    rows = [row for row in form.all_rows if row.measures.bytes_per_second]
    if small is not None or not rows:
        return small if small is not None else "no run has ended yet"
    fastest = max(row.measures.bytes_per_second or 0.0 for row in rows)
    link = form.series.link_bits_per_second
    levels = [fastest, expected_bytes_per_second or 0.0]
    if link and link / 8 <= LINK_WITHIN * fastest:
        levels.append(link / 8)
    with blank_canvas(width, height, max(levels), colour=colour) as drawn:
        low, high = 0.5, len(form.all_rows) + 0.5
        shown = _spaced(form.all_rows, width)
        drawn.across(low, high, [index + 1 for index in shown], [form.all_rows[index].label for index in shown])
        _average(drawn, form, low, high)
        if link:
            drawn.level(paper.LINK, link / 8, low, high, f"link {link_rate(link)}")
        if expected_bytes_per_second:
            name = f"{expected_name} {byte_rate(expected_bytes_per_second)}"
            drawn.level(paper.EXPECTED, expected_bytes_per_second, low, high, name)
        _points(drawn, form)
        return drawn.text()


def _average(drawn: Canvas, form: SeriesSummary, low: float, high: float) -> None:
    average = form.average.bytes_per_second if form.average else None
    deviation = form.deviation.bytes_per_second if form.deviation else None
    if average is None:
        return
    if deviation:
        drawn.band(average - deviation, average + deviation, low, high, "± deviation")
    drawn.level(paper.AVERAGE, average, low, high, f"average {byte_rate(average)}")


def _points(drawn: Canvas, form: SeriesSummary) -> None:
    kinds: dict[str, tuple[str, list[float], list[float]]] = {}
    for place, row in enumerate(form.all_rows, 1):
        sign, name = sign_of(row)
        rate = row.measures.bytes_per_second
        found = kinds.setdefault(sign, (name, [], []))
        if rate is not None:
            found[1].append(place)
            found[2].append(rate)
    for sign, (name, places, rates) in kinds.items():
        drawn.points(sign, places, rates, name)


def sign_of(row: RunRow) -> tuple[str, str]:
    """The sign of a run and its name."""
    if row.status is RunStatus.REJECTED:
        return paper.REJECTED, "rejected"
    if row.status is RunStatus.FAILED:
        return paper.FAILED, "failed"
    if row.phase is Phase.WARM_UP:
        return paper.WARM_UP, "warm-up"
    if row.unusual:
        return paper.UNUSUAL, "unusual"
    return paper.RUN, "run"


def _spaced(rows: Iterable[RunRow], width: int) -> list[int]:
    """Which runs are numbered below the axis: all that fit."""
    places = list(range(len(list(rows))))
    step = max(1, -(-len(places) * 4 // max(1, width - 10)))
    return places[::step]
