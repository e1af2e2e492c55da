"""Charts: bars from 0 with the interval drawn, the inside of runs, and curves (Using Samba, figure B-1).

Each function of a chart returns its lines as one text, for a place of ``width`` columns and ``height`` lines. Where
that is too small, or there is nothing to draw, it returns a text that says so. ``zoomed`` is what the user asked for by
a key: an axis that does not begin at 0.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.charts import canvas as marks
from app.charts import scale
from app.charts.bar_picture import BarPicture
from forms import wording
from forms.layout import Tone
from forms.report import FAR_ABOVE, Bar, Chart, Level
from forms.series.progress import over_time
from forms.series.run_table import mark_of
from forms.series.summary import SeriesSummary

_LEAST_CURVE = 12
"""Lines from which the rates of many runs are drawn as a curve: below, it says less than the last bars."""
_BELOW_BARS = 3
"""Lines that the average, the axis and the legend take below the bars of runs."""
_BESIDE_CURVE = 10
"""Columns that the numbers of a curve's axis may take."""
_BESIDE_AREA = 12
"""Columns that the numbers of an area's axis may take."""
_LEAVE_ALONE = "BT?"
"""Signs of a history's recordings after which the server is as before: baseline, trial, slower but not confirmed."""
TOO_SHORT = "the run is too short for a curve"


def bars_chart(chart: Chart, width: int, height: int, *, colour: bool = True, zoomed: bool = False) -> str:
    """The bars of a chart; ``zoomed`` shows what differs between them: the axis names both of its ends."""
    if width < marks.SMALLEST[0] or height < 2:
        return marks.too_small(width, height) or ""
    if not any(bar.value for bar in chart.bars):
        return "nothing has been measured yet"
    return "\n".join(BarPicture(chart, width, height, colour=colour, zoomed=zoomed).lines())


def bar(percent: float | None, width: int) -> str:
    """A bar in one line, filled to that percentage; dots where it is unknown."""
    if percent is None:
        return "·" * width
    full = round(max(0.0, min(100.0, percent)) / 100 * width)
    return "█" * full + "░" * (width - full)


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
    """A bar for each run and the average; more runs than lines are one curve; ``zoomed`` shows how they vary."""
    average = summary.average_rate
    bars = [Bar(name=row.label, value=row.measures.bytes_per_second, mark=mark_of(row)) for row in summary.all_rows]

    small = marks.too_small(width, height)  # a text where it is; None where there is room
    if not any(bar.value for bar in bars):
        return "no run has ended yet" if small is None else small

    levels = []
    if average is not None:
        levels.append(Level(name="average", value=average, of_bars=True))
    link = summary.series.link_bits_per_second
    if link:
        levels.append(Level(name="link", value=link / 8))

    has_too_few_lines = len(bars) + _BELOW_BARS > height
    if has_too_few_lines and height >= _LEAST_CURVE and small is None:
        # A curve has no bar for the average, so the lines are named with their rates.
        rate_texts = {"average": wording.rate(average or 0.0), "link": wording.link_rate(link)}
        named_levels = [replace(level, name=f"{level.name} {rate_texts[level.name]}") for level in levels]
        chart = Chart(title="", unit=scale.RATE, bars=tuple(bars), levels=tuple(named_levels))
        return curve_chart(chart, width, height, colour=colour, zoomed=zoomed, name="rate of each run")

    if average is not None:
        bars.append(Bar(name="Average", value=average, interval=summary.confidence))
    if expected_bytes_per_second:
        bars.append(Bar(name=expected_name, value=expected_bytes_per_second, tone=Tone.FAINT))
    chart = Chart(title="", unit=scale.RATE, bars=tuple(bars), levels=tuple(levels))
    return bars_chart(chart, width, height, colour=colour, zoomed=zoomed)


def runs_chart(
    runs: Sequence[tuple[str, Sequence[tuple[float, int]]]],
    width: int,
    height: int,
    *,
    until_seconds: float = 0.0,
    zoomed: bool = False,
    without: str = TOO_SHORT,
) -> str:
    """The throughput within all runs, one after the other; each is named where it begins.

    A run is its name and its samples: (seconds since it began, bytes moved by then). ``until_seconds`` is the end of
    the axis where more is to come; ``without`` is told where no run has two samples.
    """
    runs_with_samples = [(name, progress) for name, progress in runs if progress]
    run_seconds = sum(progress[-1][0] for _, progress in runs_with_samples)
    end_seconds = max(until_seconds, run_seconds)

    # Points of one area: for each run one where it begins, one at the end of each span of it, and a fall to 0.
    bars: list[Bar] = []
    places: list[float] = []
    if any(len(progress) > 1 for _, progress in runs_with_samples):
        start_seconds = 0.0
        for name, progress in runs_with_samples:
            # No more spans than the run has columns.
            columns = int((width - _BESIDE_AREA) * progress[-1][0] / end_seconds)
            spans = over_time(progress, most=max(2, columns))
            if not spans:
                continue

            bars.append(Bar(name=name, value=spans[0].bytes_per_second))
            bars += [Bar(name="", value=span.bytes_per_second) for span in spans]
            bars.append(Bar(name="", value=0.0))

            ends = [start_seconds + span.until_seconds for span in spans]
            places += [start_seconds, *ends, ends[-1]]
            start_seconds = ends[-1]

    if not bars:
        return without[: max(0, width)]
    chart = Chart(title="throughput over time", unit=scale.RATE, bars=tuple(bars), places=tuple(places))
    return area_chart(chart, width, height, until=end_seconds, zoomed=zoomed)


def area_chart(chart: Chart, width: int, height: int, *, until: float = 0.0, zoomed: bool = False) -> str:
    """A chart's points as a filled area above their places (seconds), up to ``until`` or the last.

    The axis begins at 0, and for percentages ends at 100; ``zoomed`` shows how the values above 0 differ.
    """
    small = marks.too_small(width, height)
    points = [(place, bar.value) for place, bar in zip(chart.places, chart.bars, strict=True) if bar.value is not None]
    if small is not None or not points:
        return small or ""

    values = [value for _, value in points]
    values_above_zero = [value for value in values if value]
    scaled_values = (values_above_zero or values) if zoomed else list(values)
    is_percent = chart.unit == "%"
    if is_percent:
        scaled_values = [*scaled_values, 100.0]

    end = max(until, chart.places[-1], 1e-3)  # an axis has a length, even where all is at 0 s
    canvas = marks.Canvas(
        width=width,
        height=height,
        rates=scaled_values,
        low=0.0,
        high=end,
        zoomed=zoomed and not is_percent,
        unit=chart.unit,
    )
    canvas.labels += _time_labels(chart, end, width)
    canvas.curve(marks.RUN, [place for place, _ in points], values, chart.title, filled=True)
    return canvas.render()


def _time_labels(chart: Chart, end_seconds: float, width: int) -> list[tuple[float, str]]:
    """(place, text) of the labels below: the names of the runs, the end, and with one run at most seconds between."""
    names = [(place, bar.name) for bar, place in zip(chart.bars, chart.places, strict=True) if bar.name]
    end_text = f"{round(end_seconds, 1):g} s" if end_seconds >= 1 else f"{end_seconds:.2g} s"

    seconds = []
    if len(names) < 2:
        first = names[0][0] if names else -1
        for tick in scale.round_ticks(end_seconds, max(2, width // 12)):
            text = f"{tick:g} s"
            if first < tick < end_seconds and text != end_text:
                seconds.append((tick, text))
    return [*names, *seconds, (end_seconds, end_text)]


def curve_chart(
    chart: Chart, width: int, height: int, *, colour: bool = True, zoomed: bool = False, name: str = "averages"
) -> str:
    """Points in their order, with their intervals where there is room: a curve, or dots.

    Dots are zoomed at first; ``zoomed`` shows them from 0.
    """
    small = marks.too_small(width, height)
    if small is not None:
        return small

    if chart.is_dots:
        zoomed = not zoomed
    values = [bar.value or 0.0 for bar in chart.bars]
    count = len(values)
    highest_bar = max(values)
    lowest, highest = chart.ends if chart.is_dots else (0.0, FAR_ABOVE * highest_bar)
    # What is far above the points, such as the speed of a link, would press them flat; so would any level beside zoomed
    # points that is not theirs.
    near_levels = [level for level in chart.levels if level.value <= highest and (level.of_bars or not zoomed)]
    has_room_for_intervals = 4 * count <= width
    intervals = [
        (place, max(lowest, bar.interval[0]), min(bar.interval[1], highest))
        for place, bar in enumerate(chart.bars, 1)
        if bar.interval and has_room_for_intervals
    ]

    scaled_values = [*values, *(level.value for level in near_levels)]
    for _, low, high in intervals:
        scaled_values += [low, high]
    canvas = marks.Canvas(
        width=width,
        height=height,
        rates=scaled_values,
        low=0.5,
        high=count + 0.5,
        colour=colour,
        zoomed=zoomed,
        unit=chart.unit,
    )

    for level in chart.levels if chart.is_dots else near_levels:
        if level.of_bars:
            canvas.level(marks.Pattern.DOTTED, marks.AVERAGE, level.value, level.name)
        else:
            canvas.level(marks.Pattern.DASHED, marks.LINK, level.value, level.name)
    for place, low, high in intervals:
        canvas.upright(marks.INTERVAL, place, low, high, chart.intervals)

    _mark_places(canvas, chart, highest_bar)
    if count == 1:
        canvas.upright(marks.RUN, 1, highest_bar, highest_bar)
    else:
        pattern = marks.Pattern.POINTS if chart.is_dots else marks.Pattern.SOLID
        canvas.curve(marks.RUN, range(1, count + 1), values, "change" if chart.is_dots else name, pattern)
    return canvas.render()


def _mark_places(canvas: marks.Canvas, chart: Chart, highest_bar: float) -> None:
    """The signs and names below a curve, and an upright line before a place that begins something."""
    count = len(chart.bars)
    canvas.signs = chart.signs_at(range(1, count + 1), count / (canvas.width - _BESIDE_CURVE))
    canvas.notes = chart.legend
    for place, bar in enumerate(chart.bars, 1):
        if bar.signs.strip(_LEAVE_ALONE):
            canvas.upright(marks.EXPECTED, place - 0.5, 0.0, highest_bar)

    most_labels = max(1, canvas.width // 14)
    step = max(1, -(-count // most_labels))  # rounded up
    canvas.labels += [(place, chart.bars[place - 1].name) for place in range(1, count + 1, step)]
