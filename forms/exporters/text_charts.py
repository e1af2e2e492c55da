"""Charts of forms as plain text: a line a bar, with its name, its value, and blocks as long as the value."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forms import layout, wording
from forms.exporters.text_styles import BOLD, styled
from forms.report import SIGNS, Bar, Chart, Level, Mark

_LEAST_CELLS = 4
"""Of the scale, however narrow the screen is."""


def chart_lines(chart: Chart, width: int, *, ansi: bool = False) -> Iterator[str]:
    """The lines of a chart in at most ``width`` cells.

    Bars are drawn of ``█``, the levels that they are compared with as bars of ``░``; both to half a cell, since few
    consoles have blocks of an eighth. A chart of dots has one dot a line, with the levels as vertical lines beside it.
    """
    rows = [(bar, "●" if chart.is_dots else "█") for bar in chart.bars]
    if not chart.is_dots:
        rows += [(Bar(name=level.name, value=level.value), "░") for level in chart.levels]

    low, high = chart.ends
    names = [layout.cut(layout.visible(bar.name), width // 3) for bar, _ in rows]
    values = [_value_text(bar, chart.unit, high) for bar, _ in rows]
    name_cells = max(map(layout.width, names))
    value_cells = max(map(layout.width, values))
    start = name_cells + value_cells + _CHART_GAPS
    cells = max(width - start, _LEAST_CELLS)
    scale = _TextScale(low, (high - low) or 1.0, cells)

    yield from layout.wrap(layout.visible(chart.title), width)
    for name, value, (bar, block) in zip(names, values, rows, strict=True):
        drawn = scale.draw_dot(bar, chart.levels) if chart.is_dots else scale.draw_blocks(bar, block)
        if ansi and block != "░":
            tone = bar.tone if bar.tone is not layout.Tone.PLAIN else layout.Tone.DATA
            drawn = "│".join(layout.coloured(part, tone) for part in drawn.split("│"))
        sign = SIGNS.get(bar.mark, " ")
        line = f"{sign} {layout.pad(name, name_cells)}  {layout.pad(value, value_cells, right=True)}  {drawn}"
        yield styled(line, BOLD if bar.mark is Mark.BOTTLENECK else "", ansi)

    if chart.is_dots:
        for level in chart.levels:
            centred = max(0, scale.cell(level.value) - len(level.name) // 2)
            yield " " * (start + min(centred, cells - len(level.name))) + level.name


# The sign and a blank before the name, two blanks behind it, and two before the bar.
_CHART_GAPS = 6


class _TextScale(NamedTuple):
    """Where values stand on a line of ``cells`` cells."""

    low: float
    """The value at the line's begin."""
    span: float
    """From there to the value at its end."""
    cells: int

    def cell(self, value: float) -> int:
        """The cell, from 0, in which a value stands."""
        return min(self.cells - 1, int(self.cells * max(0.0, value - self.low) / self.span))

    def draw_blocks(self, bar: Bar, block: str) -> str:
        if not bar.value:
            return self._with_interval(bar, "", "┼")
        low, high = bar.ends
        start = self._half_cell(low)
        end = max(self._half_cell(high), start + 1)
        return self._with_interval(bar, _half_cells(block, start, end), "┼")

    def _half_cell(self, value: float) -> int:
        return round(2 * self.cells * (value - self.low) / self.span)

    def draw_dot(self, bar: Bar, levels: Sequence[Level]) -> str:
        line = [" "] * self.cells
        for level in levels:
            line[self.cell(level.value)] = "│"
        if bar.value is not None:
            line[self.cell(bar.value)] = "●"
        return self._with_interval(bar, "".join(line), "●").rstrip()

    def _with_interval(self, bar: Bar, drawn: str, middle: str) -> str:
        """What is drawn, with the bar's interval over it where that takes three cells or more.

        An end beyond the line is an arrow.
        """
        if bar.interval is None or bar.value is None:
            return drawn

        low, high = bar.interval
        start = self.cell(low)
        end = self.cell(high)
        if end - start < 2:
            return drawn

        value_cell = min(max(self.cell(bar.value), start + 1), end - 1)
        first = "├" if low >= self.low else "←"
        last = "┤" if high <= self.low + self.span else "→"
        left_line = "─" * (value_cell - start - 1)
        right_line = "─" * (end - value_cell - 1)
        whisker = f"{first}{left_line}{middle}{right_line}{last}"
        return drawn[:start].ljust(start) + whisker + drawn[end + 1 :]


def _half_cells(block: str, start: int, end: int) -> str:
    """Blocks from one half cell to another, both counted from 0."""
    if block != "█":
        return block * max((end + 1) // 2, 1)
    first = " " * (start // 2) + "▐" * (start % 2)
    return first + block * (end // 2 - len(first)) + "▌" * (end % 2)


def _value_text(bar: Bar, unit: str, highest: float) -> str:
    if bar.value is None:
        return "-"
    if unit == "bytes/sec":
        return wording.rate(bar.value, beside=highest)
    value = wording.with_minus(f"{bar.value:,.1f}")
    if bar.interval is None:
        return f"{value} {unit}"
    low, high = bar.interval
    interval = wording.with_minus(f"({low:,.1f} to {high:,.1f})")
    return f"{value} {unit} {interval}"
