"""The bars of a chart on a terminal: from 0 or zoomed, with names, numbers, intervals, an axis and a legend."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.charts import ascii_only, scale
from app.charts import canvas as marks
from forms import layout, wording
from forms.report import FAR_ABOVE, Bar, Chart, Mark


@dataclass(frozen=True, slots=True)
class _Look:
    """How a bar differs from others: each look differs without its colour."""

    colour: int
    sign: str = ""
    """Beside the name."""
    legend: str = ""


_MARK_LOOKS = {
    Mark.WARM_UP: _Look(marks.MUTED, "", "W warm-up"),
    Mark.UNUSUAL: _Look(marks.UNUSUAL, "◆", "◆ unusual"),
    Mark.REJECTED: _Look(marks.BAD, "×", "× rejected"),
    Mark.FAILED: _Look(marks.BAD, "!", "! failed"),
    Mark.RESTORED: _Look(marks.MUTED, "×", "× restored"),
}
_TONE_COLOURS = {
    layout.Tone.GOOD: marks.GOOD,
    layout.Tone.BAD: marks.BAD,
    layout.Tone.CAUTION: marks.UNUSUAL,
    layout.Tone.FAINT: marks.MUTED,
}
# Bars that do not count are drawn hollow, so that they differ without colour.
_HOLLOW = {Mark.REJECTED, Mark.FAILED, Mark.RESTORED}

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_MOST_LINES_PER_BAR = 4
_MOST_INTERVAL = 1.5
"""Times the longest bar: an interval that reaches further is cut there, so that it does not squeeze all bars."""
_BESIDE_NAMES = 30
"""Columns kept for a bar and its number: a name that leaves fewer stands over its bar, or is cut where rows are few."""
_LEAST_BAR_CELLS = 4
_BREAK = 3
"""Cells of a zoomed bar before its scale begins."""
# Room beyond the ends of a zoomed scale, as a share of what lies between them.
_ZOOM_MARGIN = 0.1
_CELLS_PER_TICK = 14
_MOST_NAMED_BARS = 2
"""Bars without room are named, of more the first and the last of them."""
# The end of a scale is found by adding: this much of it may be rounding.
_ROUNDING = 1 + 1e-9
_ASCII_INTERVAL = str.maketrans("├┼┤─→", "|+|->")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A bar with the texts beside it, the name cut to its room."""

    bar: Bar
    name: str
    number: str


class BarPicture:
    """The lines of one chart, at most ``height`` of them; at least one bar must have a value.

    A row has the name of a bar, the bar, and its number, with a blank between. Of the lines, the legend may take a
    third, and the axis takes one where there is room; bars that do not fit in the others are left out, the first ones.
    """

    def __init__(self, chart: Chart, width: int, height: int, *, colour: bool, zoomed: bool) -> None:
        self.width = width
        self.height = height
        self.colour = colour
        self.interval_name = chart.intervals
        self.average = next((level for level in chart.levels if level.of_bars), None)
        """Of the bars: drawn as a line through them."""
        self.level = next((level for level in chart.levels if not level.of_bars), None)
        """Something else to compare with, such as the speed of the link: named at the axis, or in the legend."""
        self._choose_scale([bar for bar in chart.bars if bar.value], zoomed=zoomed)

        name_columns = max(width // 3, width - _BESIDE_NAMES)
        widest_name = max(layout.width(layout.visible(bar.name)) for bar in chart.bars)
        # Two lines for each bar, besides the third that the legend may take.
        has_lines_for_names = height - height // 3 > 2 * len(chart.bars)
        self.names_above = widest_name > name_columns and has_lines_for_names
        if self.names_above:
            name_columns = width - 1

        rows = [self._row(bar, name_columns) for bar in chart.bars]
        self.unit = wording.rate(self.longest).rpartition(" ")[2]
        self.name_cells = 0 if self.names_above else max(layout.width(row.name) for row in rows)
        self.number_cells = max(len(self.unit), *(len(row.number) for row in rows))
        self.bar_cells = max(_LEAST_BAR_CELLS, width - self.name_cells - self.number_cells - 2)

        count, self.legend = self._fit_bars(chart.bars)
        self.rows = rows[-count:]

    def _choose_scale(self, measured: Sequence[Bar], *, zoomed: bool) -> None:
        """Set the value of the ``longest`` bar, the scale's ends (``low``, ``high``), and whether it is ``zoomed``.

        It is zoomed only where the bars or their intervals differ; else it begins at 0, and reaches to the level that
        the bars are compared with, unless that lies far above them.
        """
        self.longest = max(bar.value or 0.0 for bar in measured)

        ends: list[float] = []
        for bar in measured:
            ends += [end for end in bar.interval or () if end <= _MOST_INTERVAL * self.longest]

        self.high = max([self.longest, *ends])
        self.low = 0.0
        lowest = min([bar.value or 0.0 for bar in measured] + ends)
        self.zoomed = zoomed and scale.differ((lowest, self.high))
        if self.zoomed:
            margin = _ZOOM_MARGIN * (self.high - lowest)
            self.low = max(0.0, lowest - margin)
            self.high += margin
        elif self.level and self.level.value <= FAR_ABOVE * self.longest:
            self.high = max(self.high, self.level.value)

    def _row(self, bar: Bar, name_columns: int) -> _Row:
        name = layout.cut(layout.visible(bar.name), name_columns) + _look_of(bar).sign
        number = marks.figure(bar.value, self.longest, aligned=True) if bar.value else "-"
        return _Row(bar=bar, name=name, number=number)

    def _fit_bars(self, bars: Sequence[Bar]) -> tuple[int, list[str]]:
        """How many of the last bars fit, and the lines of the legend below them.

        From as many as the height has lines, one bar after the other is given up: each makes room for the legend and
        the axis, which is drawn where these lines leave one over. Warm-up runs are the first bars.
        """
        axis_lines = 1 if self.height > 3 else 0  # in fewer lines the bars come first
        warm_ups = sum(bar.mark is Mark.WARM_UP for bar in bars)
        all_but_warm_ups = len(bars) - warm_ups
        count = min(len(bars), self.height - 1)
        while True:
            legend = self._legend_lines(bars, count, unit="" if axis_lines else self.unit)
            if count == 1 or count + len(legend) + axis_lines <= self.height:
                return count, legend

            # Each bar has its number: the axis goes before a run that counts, unless only it says where bars begin.
            if warm_ups and not self.zoomed and count == all_but_warm_ups and count + len(legend[:1]) <= self.height:
                return count, self._legend_lines(bars, count, unit=self.unit)[: self.height - count]
            count -= 1

    def _legend_lines(self, bars: Sequence[Bar], count: int, *, unit: str = "") -> list[str]:
        """The legend of the last ``count`` bars; that bars are left out is said even where there is hardly room.

        With the ``unit``, where no axis tells it.
        """
        parts = self._legend_parts(bars[-count:])
        if unit:
            parts.insert(0, f"in {unit}")
        least_lines = 0
        if count < len(bars):
            parts.insert(0, _not_shown_text(bars[: len(bars) - count]))
            least_lines = 1
        if not parts:
            return []

        most_lines = max(least_lines, self.height // 3)
        lines = marks.wrap_parts(parts, self.width)[:most_lines]
        return [layout.cut("   ".join(line), self.width) for line in lines]

    def _legend_parts(self, bars: Sequence[Bar]) -> list[str]:
        intervals = [self._interval(bar) for bar in bars]
        drawn_intervals = [interval[1] for interval in intervals if interval]
        parts = []
        if drawn_intervals:
            sample = "|-+-|" if ascii_only() else "├─┼─┤"
            parts.append(f"{sample} {self.interval_name}")

        arrows = {drawn[-1] for drawn in drawn_intervals if drawn[-1] in "→>"}
        parts += sorted(f"{arrow} beyond the chart" for arrow in arrows)
        parts += sorted({_look_of(bar).legend for bar in bars} - {""})
        if self.level is not None and not self._is_level_at_axis():
            is_beyond = not self.low <= self.level.value <= self.high * _ROUNDING
            beyond = ", beyond the chart" if is_beyond else ""
            parts.append(f"{self.level.name} {wording.rate(self.level.value)}{beyond}")
        if self.zoomed:
            parts.append("zoomed")
        return parts

    def lines(self) -> Iterator[str]:
        axis_lines = 1 if self.height > len(self.rows) + len(self.legend) else 0
        # Each bar has a line more than it is thick: its name above it, or a blank one below, which the last needs not.
        lines_for_bars = self.height - axis_lines - len(self.legend) + (0 if self.names_above else 1)
        lines_per_bar = min(_MOST_LINES_PER_BAR, lines_for_bars // len(self.rows))
        thickness = max(1, lines_per_bar - 1)

        for position, row in enumerate(self.rows):
            yield from self._bar_lines(row, thickness)
            is_last = position + 1 == len(self.rows)
            if lines_per_bar > 1 and not is_last and not self.names_above:
                yield ""

        if axis_lines:
            yield self._axis()
        yield from self.legend

    def _bar_lines(self, row: _Row, thickness: int) -> Iterator[str]:
        if self.names_above:
            yield row.name

        # The number and the interval stand in the middle line of a thick bar.
        name_beside = "" if self.names_above else row.name
        bar_alone = replace(row.bar, interval=None)
        for line in range(thickness):
            if line == thickness // 2:
                number = row.number.rjust(self.number_cells)
                yield f"{layout.pad(name_beside, self.name_cells)} {self._draw_bar(row.bar)} {number}"
            else:
                yield f"{' ' * self.name_cells} {self._draw_bar(bar_alone)}"

    def _cell_at(self, value: float) -> float:
        """Where a value lies, in cells from the beginning of a bar."""
        break_cells = _BREAK if self.zoomed else 0
        share = max(0.0, (value - self.low) / (self.high - self.low))
        return break_cells + share * (self.bar_cells - break_cells)

    def _draw_bar(self, bar: Bar) -> str:
        if bar.value is None:
            return " " * self.bar_cells

        cells = _filled_cells(self._cell_at(bar.value), self.bar_cells, hollow=bar.mark in _HOLLOW)
        interval = self._interval(bar)
        if interval:
            start, drawn = interval
            cells = (cells[:start] + drawn).ljust(self.bar_cells)
        if self.zoomed:
            cells = cells[:2] + ("~" if ascii_only() else "≈") + cells[3:]

        colour = _look_of(bar).colour if self.colour else None
        if self.average is None or interval:
            return marks.paint(cells, colour)

        # The line of the average stands in place of a cell of the bar.
        column = min(self.bar_cells - 1, int(self._cell_at(self.average.value)))
        ends_at_average = cells[column] != " " and not cells[column + 1 : column + 2].strip()
        if ends_at_average:  # there is no line: the end of the bar is what is read
            return marks.paint(cells, colour)
        line = marks.paint("|" if ascii_only() else "│", marks.AVERAGE if self.colour else None)
        return marks.paint(cells[:column], colour) + line + marks.paint(cells[column + 1 :], colour)

    def _interval(self, bar: Bar) -> tuple[int, str] | None:
        """Where an interval of at least three cells begins, and how it is drawn; an arrow leads beyond the axis."""
        if bar.interval is None or bar.value is None:
            return None

        low, high = bar.interval
        start = int(self._cell_at(max(self.low, low)))
        end = int(self._cell_at(high))
        last = min(end, self.bar_cells - 1)
        if last - start < 2:
            return None

        middle = min(max(int(self._cell_at(bar.value)), start + 1), last - 1)
        reaches_end = end < self.bar_cells or high <= self.high * _ROUNDING
        cells = ["─"] * (last - start + 1)
        cells[0] = "├"
        cells[middle - start] = "┼"
        cells[-1] = "┤" if reaches_end else "→"
        drawn = "".join(cells)
        return start, drawn.translate(_ASCII_INTERVAL) if ascii_only() else drawn

    def _axis(self) -> str:
        """The numbers of the scale below the bars, and the unit below their numbers."""
        line = [" "] * self.bar_cells
        for column, label in self._axis_labels():
            start = max(0, min(column, self.bar_cells - len(label)))
            # A label keeps a blank between itself and those that are there.
            around = line[max(0, start - 1) : start + len(label) + 1]
            if len(label) <= self.bar_cells and not "".join(around).strip():
                line[start : start + len(label)] = label
        return f"{' ' * self.name_cells} {''.join(line)} {self.unit.rjust(self.number_cells)}"

    def _axis_labels(self) -> list[tuple[int, str]]:
        """Columns and labels, the most wanted first: a label that has no room is left out."""
        last_column = self.bar_cells - 1
        high_label = marks.figure(self.high, self.longest)
        if self.zoomed:
            return [(_BREAK, marks.figure(self.low, self.longest)), (last_column, high_label)]

        labels = []
        if self.level and self._is_level_at_axis():
            name = f"{marks.figure(self.level.value, self.longest)} {self.level.name}"
            labels.append((int(self._cell_at(self.level.value)), name))
        for tick in scale.round_ticks(self.high, max(1, self.bar_cells // _CELLS_PER_TICK)):
            if tick <= self.high * _ROUNDING:
                label = marks.figure(tick, self.longest) if tick else "0"
                labels.append((int(self._cell_at(tick)), label))

        if len(labels) < 2:  # a scale has two numbers
            labels.append((last_column, high_label))
        return labels

    def _is_level_at_axis(self) -> bool:
        """Whether the axis, from 0, reaches to what the bars are compared with and names it; else the legend does."""
        return self.level is not None and not self.zoomed and self.level.value <= self.high * _ROUNDING


def _not_shown_text(bars: Sequence[Bar]) -> str:
    """``W1 and W2 not shown``, or ``W1 to 5 not shown``: the first bars, for which there is no room."""
    names = [layout.visible(bar.name) for bar in bars]
    which = wording.listed(names) if len(names) <= _MOST_NAMED_BARS else f"{names[0]} to {names[-1]}"
    return f"{which} not shown"


def _look_of(bar: Bar) -> _Look:
    return _MARK_LOOKS.get(bar.mark) or _Look(_TONE_COLOURS.get(bar.tone, marks.RUN))


def _filled_cells(cells: float, width: int, *, hollow: bool = False) -> str:
    """A bar of that many cells, to an eighth where the terminal has such characters, filled with blanks to a width."""
    if ascii_only() or hollow:
        return (_whole_cell(hollow=hollow) * round(min(cells, width))).ljust(width)
    full, eighths = divmod(round(min(cells, width) * 8), 8)
    return ("█" * full + (_EIGHTHS[eighths] if eighths else "")).ljust(width)


def _whole_cell(*, hollow: bool) -> str:
    if not hollow:
        return "#"
    return "-" if ascii_only() else "▒"
