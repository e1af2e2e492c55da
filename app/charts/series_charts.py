"""Charts of the rate of each run, of the inside of one run, and of a sweep (Using Samba, figure B-1)."""

from collections.abc import Sequence
from dataclasses import replace

from app.charts.bars import bars_chart
from app.charts.canvas import (
    AVERAGE,
    EXPECTED,
    INTERVAL,
    LINK,
    RATE,
    RUN,
    Canvas,
    Pattern,
    round_ticks,
    too_small,
)
from forms import wording
from forms.layout import Tone
from forms.report import FAR_ABOVE, Bar, Chart, Level
from forms.series.progress import over_time
from forms.series.report import mark_of
from forms.series.summary import SeriesSummary
from forms.wording import link_rate

_ALIKE = 0.9
"""Least share of the longest bar from which all bars look as long."""
_LEAST_CURVE = 12
"""Lines from which more runs than there are lines are drawn as one curve."""
_BELOW = 3
"""Lines of the axis and the legend."""
_BESIDE = 10
"""At most that many columns of numbers stand left of a history's curve."""


def rates_chart(
    summary: SeriesSummary,
    width: int,
    height: int,
    *,
    colour: bool = True,
    zoomed: bool = False,
    begins_zoomed: bool = False,
    expected_bytes_per_second: float | None = None,
    expected_name: str = "expected",
) -> str:
    """A bar for each run and the average; more runs than lines are one curve; ``zoomed`` shows how they vary."""
    average, rows = summary.average_rate, summary.all_rows
    bars = [Bar(name=row.label, value=row.measures.bytes_per_second, mark=mark_of(row)) for row in rows]
    values = [value for value in (*(bar.value for bar in bars), expected_bytes_per_second) if value]
    zoomed ^= begins_zoomed and len(values) > 1 and min(values) >= _ALIKE * max(values)
    small = too_small(width, height)
    if not any(bar.value for bar in bars):
        return "no run has ended yet" if small is None else small
    levels = [Level(name="average", value=average, of_bars=True)] if average is not None else []
    if link := summary.series.link_bits_per_second:
        levels.append(Level(name="link", value=link / 8))
    if len(bars) + _BELOW > height >= _LEAST_CURVE and small is None:
        said = {"average": wording.rate(average or 0.0), "link": link_rate(link)}
        named = tuple(replace(level, name=f"{level.name} {said[level.name]}") for level in levels)
        chart = Chart(title="", unit=RATE, bars=tuple(bars), levels=named)
        return curve_chart(chart, width, height, colour=colour, zoomed=zoomed, name="rate of each run")
    if average is not None:
        bars.append(Bar(name="Average", value=average, interval=summary.confidence))
    if expected_bytes_per_second:
        bars.append(Bar(name=expected_name, value=expected_bytes_per_second, tone=Tone.FAINT))
    chart = Chart(title="", unit=RATE, bars=tuple(bars), levels=tuple(levels))
    return bars_chart(chart, width, height, colour=colour, zoomed=zoomed)


OVER_TIME = "throughput over time"
TOO_SHORT = "the run is too short for a curve"


def runs_chart(
    runs: Sequence[tuple[str, Sequence[tuple[float, int]]]],
    width: int,
    height: int,
    *,
    until_seconds: float = 0.0,
    zoomed: bool = False,
    without: str = TOO_SHORT,
) -> str:
    """The throughput within all runs, from samples of (seconds, bytes moved so far); each is named where it begins."""
    bars: list[Bar] = []
    places: list[float] = []
    at, whole = 0.0, max(until_seconds, sum(progress[-1][0] for _, progress in runs if progress))
    for name, progress in runs:
        spans = over_time(progress, most=max(2, int((width - 12) * progress[-1][0] / whole))) if progress else []
        if spans:
            bars += [Bar(name=name, value=spans[0].bytes_per_second)]
            bars += [Bar(name="", value=span.bytes_per_second) for span in spans] + [Bar(name="", value=0.0)]
            places += [at, *(at + span.until_seconds for span in spans), at + spans[-1].until_seconds]
            at = places[-1]
    chart = Chart(title=OVER_TIME, unit=RATE, bars=tuple(bars), places=tuple(places))
    return area_chart(chart, width, height, until=whole, zoomed=zoomed) if bars else without[: max(0, width)]


def area_chart(chart: Chart, width: int, height: int, *, until: float = 0.0, zoomed: bool = False) -> str:
    """A chart's points as a filled area above their places, up to ``until`` or the last."""
    small = too_small(width, height)
    values = [bar.value or 0.0 for bar in chart.bars]
    if small is not None or not values:
        return small or ""
    end = max(until, chart.places[-1], 1e-3)
    shown = [value for value in values if value] or values if zoomed else values
    shown += [100.0] if chart.unit == "%" else []
    canvas = Canvas(
        width=width, height=height, rates=shown, low=0.0, high=end, zoomed=zoomed and chart.unit != "%", unit=chart.unit
    )
    named = [(at, bar.name) for bar, at in zip(chart.bars, chart.places, strict=True) if bar.name]
    ticks = round_ticks(end, max(2, width // 12)) if len(named) < 2 else []
    seconds = [(tick, f"{tick:g} s") for tick in ticks if tick < end and tick > (named[0][0] if named else -1)]
    canvas.labels += [*named, *seconds, (end, f"{round(end, 1):g} s")]
    canvas.area(RUN, chart.places, values, chart.title)
    return canvas.text()


def curve_chart(
    chart: Chart, width: int, height: int, *, colour: bool = True, zoomed: bool = False, name: str = "averages"
) -> str:
    """Points in their order as a curve, with their intervals where there is room, above their names."""
    small = too_small(width, height)
    if small is not None:
        return small
    values, count = [bar.value or 0.0 for bar in chart.bars], len(chart.bars)
    top = max(values)
    near = [level for level in chart.levels if level.value <= FAR_ABOVE * top and not (zoomed and not level.of_bars)]
    whiskers = [
        (place, max(0.0, bar.interval[0]), min(bar.interval[1], FAR_ABOVE * top))
        for place, bar in enumerate(chart.bars, 1)
        if bar.interval and 4 * count <= width
    ]
    shown = [*values, *(end for _, *ends in whiskers for end in ends), *(level.value for level in near)]
    canvas = Canvas(
        width=width, height=height, rates=shown, low=0.5, high=count + 0.5, colour=colour, zoomed=zoomed,
        unit=chart.unit,
    )  # fmt: skip
    for level in near:
        look = (Pattern.DOTTED, AVERAGE) if level.of_bars else (Pattern.DASHED, LINK)
        canvas.level(*look, level.value, level.name)
    for place, low, high in whiskers:
        canvas.upright(INTERVAL, place, low, high, "95 % interval")
    canvas.signs = chart.signs_at(range(1, count + 1), count / (width - _BESIDE))
    canvas.notes = chart.signs_said
    for place, bar in enumerate(chart.bars, 1):
        if bar.signs.strip("BT?"):
            canvas.upright(EXPECTED, place - 0.5, 0.0, top)
    step = max(1, -(-count // max(1, width // 14)))
    canvas.labels += [(place, chart.bars[place - 1].name) for place in range(1, count + 1, step)]
    if count == 1:
        canvas.upright(RUN, 1, top, top)
    else:
        canvas.curve(RUN, range(1, count + 1), values, name)
    return canvas.text()
