"""Charts: bars from 0 with the interval drawn, the inside of runs, and curves (Using Samba, figure B-1)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.charts import ascii_only
from app.charts import canvas as marks
from forms import wording
from forms.layout import Tone, cut, pad, visible
from forms.layout import width as cells_of
from forms.report import FAR_ABOVE, Bar, Chart, Level, Mark
from forms.series.progress import over_time
from forms.series.run_table import mark_of
from forms.series.summary import SeriesSummary
from forms.wording import link_rate

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_MARKS = {
    Mark.WARM_UP: (marks.MUTED, "", "W warm-up"),
    Mark.UNUSUAL: (marks.UNUSUAL, "◆", "◆ unusual"),
    Mark.REJECTED: (marks.BAD, "×", "× rejected"),
    Mark.FAILED: (marks.BAD, "!", "! failed"),
    Mark.RESTORED: (marks.MUTED, "×", "× restored"),
}
"""Colour, sign beside the name, and name in the legend: each differs without its colour."""
_TONES = {Tone.GOOD: marks.GOOD, Tone.BAD: marks.BAD, Tone.CAUTION: marks.UNUSUAL, Tone.FAINT: marks.MUTED}
_HOLLOW = {Mark.REJECTED, Mark.FAILED, Mark.RESTORED}
_THICKEST = 4
_MOST_INTERVAL = 1.5
"""Times the longest bar: an interval that reaches further is cut there, so that it does not squeeze all bars."""
_BESIDE_NAMES = 30
"""Columns kept for a bar and its number: a name that leaves fewer stands over its bar, or is cut where rows are few."""
_BREAK = 3
"""Cells of a zoomed bar before its scale begins."""


def bars_chart(chart: Chart, width: int, height: int, *, colour: bool = True, zoomed: bool = False) -> str:
    """The bars of a chart; ``zoomed`` shows what differs between them: the axis names both of its ends."""
    measured = [bar for bar in chart.bars if bar.value]
    if width < marks.SMALLEST[0] or height < 2:
        return marks.too_small(width, height) or ""
    if not measured:
        return "nothing has been measured yet"
    return "\n".join(_Picture(chart, measured, width, height, colour, zoomed).lines())


class _Picture:
    def __init__(
        self, chart: Chart, measured: Sequence[Bar], width: int, height: int, colour: bool, zoomed: bool
    ) -> None:
        self.width, self.height, self.colour = width, height, colour
        self.intervals = chart.intervals
        self.longest = max(bar.value or 0.0 for bar in measured)
        self.average = next((level for level in chart.levels if level.of_bars), None)
        self.level = next((level for level in chart.levels if not level.of_bars), None)
        ends = [end for bar in measured for end in bar.interval or () if end <= _MOST_INTERVAL * self.longest]
        self.high = max([self.longest, *ends])
        self.low, least = 0.0, min([bar.value or 0.0 for bar in measured] + ends)
        self.zoomed = zoomed and marks.differ((least, self.high))
        if self.zoomed:
            spread = self.high - least
            self.low, self.high = max(0.0, least - 0.1 * spread), self.high + 0.1 * spread
        elif self.level and self.level.value <= FAR_ABOVE * self.longest:
            self.high = max(self.high, self.level.value)
        room = max(width // 3, width - _BESIDE_NAMES)
        longest = max(cells_of(visible(bar.name)) for bar in chart.bars)
        self.over = longest > room and height - height // 3 > 2 * len(chart.bars)
        room = width - 1 if self.over else room
        names = [cut(visible(bar.name), room) + _mark(bar)[1] for bar in chart.bars]
        figures = [marks.figure(bar.value, self.longest, aligned=True) if bar.value else "-" for bar in chart.bars]
        self.unit = wording.rate(self.longest).rpartition(" ")[2]
        self.left, self.right = 0 if self.over else max(map(cells_of, names)), max(map(len, [*figures, self.unit]))
        self.inside = max(4, width - self.left - self.right - 2)
        count, self.below = self._fitting(chart.bars)
        self.rows = list(zip(chart.bars, names, figures, strict=True))[-count:]

    def _legend(self, bars: Sequence[Bar]) -> list[str]:
        said = []
        drawn = [found[1] for bar in bars if (found := self._interval(bar))]
        if drawn:
            said.append(f"{'|-+-|' if ascii_only() else '├─┼─┤'} {self.intervals}")
        said += sorted({f"{one[-1]} beyond the chart" for one in drawn if one[-1] in "→>"})
        said += sorted({_mark(bar)[2] for bar in bars} - {""})
        if self.level is not None and (self.zoomed or self.level.value > self.high):
            said.append(f"{self.level.name} {wording.rate(self.level.value)}, beyond the chart")
        return said + (["zoomed"] if self.zoomed else [])

    def _fitting(self, bars: Sequence[Bar]) -> tuple[int, list[str]]:
        for count in range(min(len(bars), self.height - 1), 0, -1):
            hidden = [f"{wording.count(len(bars) - count, 'more bar')} not shown"] * (count < len(bars))
            legend = hidden + self._legend(bars[-count:])
            rows = marks.wrapped(legend, self.width)[: max(len(hidden), self.height // 3)] if legend else []
            if count + len(rows) + (self.height > 3) <= self.height:
                break
        return count, [cut("   ".join(parts), self.width) for parts in rows]

    def lines(self) -> Iterator[str]:
        axis = 1 if self.height > len(self.rows) + len(self.below) else 0
        each = min(_THICKEST, (self.height - axis - len(self.below) + (not self.over)) // len(self.rows))
        thick = max(1, each - 1)
        for place, (bar, name, number) in enumerate(self.rows):
            if self.over:
                yield name
            for row in range(thick):
                if row == thick // 2:
                    yield f"{pad('' if self.over else name, self.left)} {self._cells(bar)} {number.rjust(self.right)}"
                else:
                    yield f"{' ' * self.left} {self._cells(replace(bar, interval=None))}"
            if each > 1 and place + 1 < len(self.rows) and not self.over:
                yield ""
        if axis:
            yield self._axis()
        yield from self.below

    def _at(self, value: float) -> float:
        before = _BREAK if self.zoomed else 0
        return before + max(0.0, (value - self.low) / (self.high - self.low)) * (self.inside - before)

    def _cells(self, bar: Bar) -> str:
        colour = _mark(bar)[0] if self.colour else None
        if bar.value is None:
            return " " * self.inside
        cells = _filled(self._at(bar.value), self.inside, hollow=bar.mark in _HOLLOW)
        if interval := self._interval(bar):
            start, drawn = interval
            cells = (cells[:start] + drawn).ljust(self.inside)
        if self.zoomed:
            cells = cells[:2] + ("~" if ascii_only() else "≈") + cells[3:]
        at = None if self.average is None or interval else min(self.inside - 1, int(self._at(self.average.value)))
        if at is None or (cells[at] != " " and not cells[at + 1 : at + 2].strip()):
            return marks.painted(cells, colour)  # a bar that ends at the average has no line: its end is what is read
        line = marks.painted("|" if ascii_only() else "│", None if colour is None else marks.AVERAGE)
        return marks.painted(cells[:at], colour) + line + marks.painted(cells[at + 1 :], colour)

    def _interval(self, bar: Bar) -> tuple[int, str] | None:
        """Where an interval of at least three cells begins, and how it is drawn; an arrow leads beyond the axis."""
        if bar.interval is None or bar.value is None:
            return None
        start, end = int(self._at(max(self.low, bar.interval[0]))), int(self._at(bar.interval[1]))
        last = min(end, self.inside - 1)
        if last - start < 2:
            return None
        middle = min(max(int(self._at(bar.value)), start + 1), last - 1)
        cells = ["─"] * (last - start + 1)
        cells[0], cells[middle - start] = "├", "┼"
        cells[-1] = "┤" if end < self.inside or bar.interval[1] <= self.high * (1 + 1e-9) else "→"
        drawn = "".join(cells)
        return start, drawn.translate(str.maketrans("├┼┤─→", "|+|->")) if ascii_only() else drawn

    def _axis(self) -> str:
        line = [" "] * self.inside
        if self.zoomed:
            labels = [
                (_BREAK, marks.figure(self.low, self.longest)),
                (self.inside - 1, marks.figure(self.high, self.longest)),
            ]
        else:
            end = self.level if self.level and math.isclose(self.level.value, self.high) else None
            labels = [(self.inside - 1, f"{marks.figure(end.value, self.longest)} {end.name}")] if end else []
            labels += [
                (int(self._at(tick)), marks.figure(tick, self.longest) if tick else "0")
                for tick in marks.round_ticks(self.high, max(1, self.inside // 14))
                if tick <= self.high * (1 + 1e-9)
            ]
            if len(labels) < 2:  # a scale has two numbers
                labels.append((self.inside - 1, marks.figure(self.high, self.longest)))
        for at, label in labels:
            start = max(0, min(at, self.inside - len(label)))
            around = line[max(0, start - 1) : start + len(label) + 1]
            if len(label) <= self.inside and not "".join(around).strip():
                line[start : start + len(label)] = label
        return f"{' ' * self.left} {''.join(line)} {self.unit.rjust(self.right)}"


def _mark(bar: Bar) -> tuple[int, str, str]:
    return _MARKS.get(bar.mark) or (_TONES.get(bar.tone, marks.RUN), "", "")


def _filled(cells: float, width: int, *, hollow: bool = False) -> str:
    if ascii_only() or hollow:
        sign = "#" if not hollow else "-" if ascii_only() else "▒"
        return (sign * round(min(cells, width))).ljust(width)
    full, rest = divmod(round(min(cells, width) * 8), 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def bar(percent: float | None, width: int) -> str:
    if percent is None:
        return "·" * width
    full = round(max(0.0, min(100.0, percent)) / 100 * width)
    return "█" * full + "░" * (width - full)


_ALIKE = 0.9
"""Least share of the longest bar from which all bars look as long."""
_LEAST_CURVE = 12
_BELOW = 3
_BESIDE = 10


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
    small = marks.too_small(width, height)
    if not any(bar.value for bar in bars):
        return "no run has ended yet" if small is None else small
    levels = [Level(name="average", value=average, of_bars=True)] if average is not None else []
    if link := summary.series.link_bits_per_second:
        levels.append(Level(name="link", value=link / 8))
    if len(bars) + _BELOW > height >= _LEAST_CURVE and small is None:
        said = {"average": wording.rate(average or 0.0), "link": link_rate(link)}
        named = tuple(replace(level, name=f"{level.name} {said[level.name]}") for level in levels)
        chart = Chart(title="", unit=marks.RATE, bars=tuple(bars), levels=named)
        return curve_chart(chart, width, height, colour=colour, zoomed=zoomed, name="rate of each run")
    if average is not None:
        bars.append(Bar(name="Average", value=average, interval=summary.confidence))
    if expected_bytes_per_second:
        bars.append(Bar(name=expected_name, value=expected_bytes_per_second, tone=Tone.FAINT))
    chart = Chart(title="", unit=marks.RATE, bars=tuple(bars), levels=tuple(levels))
    return bars_chart(chart, width, height, colour=colour, zoomed=zoomed)


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
    for name, progress in runs if any(len(progress) > 1 for _, progress in runs) else ():
        spans = over_time(progress, most=max(2, int((width - 12) * progress[-1][0] / whole))) if progress else []
        if spans:
            bars += [Bar(name=name, value=spans[0].bytes_per_second)]
            bars += [Bar(name="", value=span.bytes_per_second) for span in spans] + [Bar(name="", value=0.0)]
            places += [at, *(at + span.until_seconds for span in spans), at + spans[-1].until_seconds]
            at = places[-1]
    chart = Chart(title="throughput over time", unit=marks.RATE, bars=tuple(bars), places=tuple(places))
    return area_chart(chart, width, height, until=whole, zoomed=zoomed) if bars else without[: max(0, width)]


def area_chart(chart: Chart, width: int, height: int, *, until: float = 0.0, zoomed: bool = False) -> str:
    """A chart's points as a filled area above their places, up to ``until`` or the last."""
    small = marks.too_small(width, height)
    known = [(at, bar.value) for at, bar in zip(chart.places, chart.bars, strict=True) if bar.value is not None]
    values = [value for _, value in known]
    if small is not None or not values:
        return small or ""
    end = max(until, chart.places[-1], 1e-3)
    shown = [value for value in values if value] or values if zoomed else values
    shown += [100.0] if chart.unit == "%" else []
    canvas = marks.Canvas(
        width=width, height=height, rates=shown, low=0.0, high=end, zoomed=zoomed and chart.unit != "%", unit=chart.unit
    )
    named = [(at, bar.name) for bar, at in zip(chart.bars, chart.places, strict=True) if bar.name]
    ticks = marks.round_ticks(end, max(2, width // 12)) if len(named) < 2 else []
    ended = f"{round(end, 1):g} s" if end >= 1 else f"{end:.2g} s"
    first = named[0][0] if named else -1
    seconds = [(tick, f"{tick:g} s") for tick in ticks if first < tick < end and f"{tick:g} s" != ended]
    canvas.labels += [*named, *seconds, (end, ended)]
    canvas.curve(marks.RUN, [at for at, _ in known], values, chart.title, filled=True)
    return canvas.text()


def curve_chart(
    chart: Chart, width: int, height: int, *, colour: bool = True, zoomed: bool = False, name: str = "averages"
) -> str:
    """Points in their order, with their intervals where there is room: a curve, or dots, which begin zoomed."""
    if (small := marks.too_small(width, height)) is not None:
        return small
    zoomed ^= chart.is_dots
    values, count = [bar.value or 0.0 for bar in chart.bars], len(chart.bars)
    top = max(values)
    least, most = chart.ends if chart.is_dots else (0.0, FAR_ABOVE * top)
    near = [level for level in chart.levels if level.value <= most and not (zoomed and not level.of_bars)]
    whiskers = [
        (place, max(least, bar.interval[0]), min(bar.interval[1], most))
        for place, bar in enumerate(chart.bars, 1)
        if bar.interval and 4 * count <= width
    ]
    shown = [*values, *(end for _, *ends in whiskers for end in ends), *(level.value for level in near)]
    canvas = marks.Canvas(
        width=width, height=height, rates=shown, low=0.5, high=count + 0.5, colour=colour, zoomed=zoomed,
        unit=chart.unit,
    )  # fmt: skip
    for level in chart.levels if chart.is_dots else near:
        look = (marks.Pattern.DOTTED, marks.AVERAGE) if level.of_bars else (marks.Pattern.DASHED, marks.LINK)
        canvas.level(*look, level.value, level.name)
    for place, low, high in whiskers:
        canvas.upright(marks.INTERVAL, place, low, high, chart.intervals)
    canvas.signs = chart.signs_at(range(1, count + 1), count / (width - _BESIDE))
    canvas.notes = chart.signs_said
    for place, bar in enumerate(chart.bars, 1):
        if bar.signs.strip("BT?"):
            canvas.upright(marks.EXPECTED, place - 0.5, 0.0, top)
    step = max(1, -(-count // max(1, width // 14)))
    canvas.labels += [(place, chart.bars[place - 1].name) for place in range(1, count + 1, step)]
    if count == 1:
        canvas.upright(marks.RUN, 1, top, top)
    else:
        pattern = marks.Pattern.POINTS if chart.is_dots else marks.Pattern.SOLID
        canvas.curve(marks.RUN, range(1, count + 1), values, "change" if chart.is_dots else name, pattern)
    return canvas.text()
