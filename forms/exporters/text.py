"""Forms as plain text, with or without ANSI styles; rejected rows are struck through either way."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import NamedTuple

from forms import layout, wording
from forms.layout import Tone, coloured
from forms.report import (
    SIGNS,
    Bar,
    Chart,
    Column,
    Field,
    Level,
    Mark,
    Report,
    ReportKind,
    Role,
    Row,
    Table,
    cell_text,
    remarks,
)

WIDTH = 80
RULE = "─"
_INSIDE = "\ue000"
"""A space inside a text; text from outside has no private characters here."""
_BY_HAND = {
    ReportKind.TEXT: 10,
    ReportKind.WHOLE: 11,
    ReportKind.SECONDS: 10,
    ReportKind.PERCENT: 11,
    ReportKind.DECIMAL: 9,
    ReportKind.RATIO: 7,
    ReportKind.SIGNED: 9,
}
_LEAST_CELLS = 4
_LONG_NUMBER = re.compile(r"[+-]?\d{4,}\.\d+")

_BOLD = "\x1b[1m"
_STRUCK = "\x1b[9m"
_DIM = "\x1b[2m"
_PLAIN = "\x1b[0m"


def report_text(report: Report, *, width: int = WIDTH, ansi: bool = False) -> str:
    return "".join(f"{line.rstrip()}\n" for line in _lines(report, width, ansi))


def figures_text(report: Report, *, width: int = WIDTH, ansi: bool = False) -> str:
    """For a screen that shows title and answer: tables, results and advice before the lines above."""
    fields = [field for field in report.fields if field is not report.answer]
    lines = [*_figures(report, width, ansi), "", *_field_lines(fields, width, ansi=ansi)]
    return "".join(f"{line.rstrip()}\n" for line in lines).lstrip("\n")


def _lines(report: Report, width: int, ansi: bool) -> Iterator[str]:
    for line in layout.wrap(layout.visible(report.title), width):
        yield _styled(line, _BOLD, ansi)
    yield from _field_lines(report.fields, width, blank=report.blank, ansi=ansi)
    yield from _figures(report, width, ansi)


def _figures(report: Report, width: int, ansi: bool) -> Iterator[str]:
    for table in report.tables:
        yield ""
        if table.caption:
            yield from layout.wrap(layout.visible(table.caption), width)
        yield from table_lines(table, width, ansi=ansi)

    if report.results:
        yield ""
        yield from _field_lines(report.results, width, ansi=ansi)

    for chart in report.charts:
        if chart.in_text:
            yield ""
            yield from chart_lines(chart, width, ansi=ansi)

    for text in report.advice:
        yield ""
        for line in layout.hanging_from("→ ", text, width):
            yield coloured(line, Tone.CAUTION) if ansi else line


def _field_lines(fields: Sequence[Field], width: int, *, blank: bool = False, ansi: bool = False) -> Iterator[str]:
    names = [layout.cut(layout.visible(field.name), width // 2) for field in fields]
    name_cells = max(map(layout.width, names), default=0) + 2
    for field, name in zip(fields, names, strict=True):
        start = layout.pad(f"{name}:", name_cells)
        text = "_" * (min(width, WIDTH) - name_cells) if blank and not field.text else field.text
        for line in layout.hanging_from(start, text, width):
            yield coloured(line, field.tone) if ansi else line


def table_lines(table: Table, width: int, *, ansi: bool = False) -> Iterator[str]:
    drawn = drawn_table(table, width, ansi=ansi)
    yield from drawn.headings
    for lines in drawn.rows:
        yield from lines
    yield from drawn.remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class _DrawnTable:
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]


def drawn_table(table: Table, width: int, *, ansi: bool = False) -> _DrawnTable:
    """Lines of at most ``width`` cells; paragraphs where cells are sentences or too many."""
    texts = [_row_texts(table, row) for row in table.rows]
    layout_in_width = None if table.sentences else _fit_columns(table, texts, width)
    if layout_in_width is None:
        return _DrawnTable(headings=(), rows=tuple(_paragraphs(table, texts, width, ansi)), remarks=())
    widths, gap, texts = layout_in_width

    headings = _heading_lines(table, widths, gap, ansi)
    rule = RULE * (sum(widths) + gap * (len(widths) - 1))
    rows: list[tuple[str, ...]] = []
    role_above: Role | None = None
    for row, parts in zip(table.rows, texts, strict=True):
        above = [rule] if role_above is not None and row.role is not role_above else []
        if row.role is Role.HEADING:
            lines = layout.wrap(layout.visible(row.name), width)
        else:
            lines = list(_row_lines(table, row, parts, widths, gap, ansi))
            role_above = row.role
        rows.append((*above, *lines))

    remark_lines: list[str] = []
    for row, text in remarks(table):
        remark_lines += layout.hanging_from(f"{SIGNS.get(row.mark, ' ')} ", text, width)
    return _DrawnTable(headings=(*headings, rule), rows=tuple(rows), remarks=tuple(remark_lines))


def _heading_lines(table: Table, widths: Sequence[int], gap: int, ansi: bool) -> list[str]:
    """The headings, each wrapped in its column, and standing on the line above the rows."""
    wrapped = [layout.wrap(_heading(table, index), cells) for index, cells in enumerate(widths)]
    height = max(len(lines) for lines in wrapped)
    from_bottom = [[""] * (height - len(lines)) + list(lines) for lines in wrapped]

    headings = []
    for parts in zip(*from_bottom, strict=True):
        line = _join_cells(table, parts, widths, gap).replace("\u00a0", " ")
        headings.append(_styled(line, _BOLD, ansi))
    return headings


def _paragraphs(table: Table, texts: Sequence[Sequence[str]], width: int, ansi: bool) -> Iterator[tuple[str, ...]]:
    for row, (first, *others) in zip(table.rows, texts, strict=True):
        lines = [coloured(line, row.tone) if ansi else line for line in layout.hanging(first, width)]
        for column, text in zip(table.columns[1:], others, strict=True):
            if text:
                lines += layout.hanging_from(f"    {layout.visible(column.heading)}: ", text, width)
        yield tuple(lines)


def chart_lines(chart: Chart, width: int, *, ansi: bool = False) -> Iterator[str]:
    """Bars of ``█`` and levels of ``░`` in half cells: few consoles have the eighths; or dots beside their levels."""
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
            tone = bar.tone if bar.tone is not Tone.PLAIN else Tone.DATA
            drawn = "│".join(coloured(part, tone) for part in drawn.split("│"))
        sign = SIGNS.get(bar.mark, " ")
        line = f"{sign} {layout.pad(name, name_cells)}  {layout.pad(value, value_cells, right=True)}  {drawn}"
        yield _styled(line, _BOLD if bar.mark is Mark.BOTTLENECK else "", ansi)

    if chart.is_dots:
        for level in chart.levels:
            centred = max(0, scale.cell(level.value) - len(level.name) // 2)
            yield " " * (start + min(centred, cells - len(level.name))) + level.name


# The sign and a blank before the name, two blanks behind it, and two before the bar.
_CHART_GAPS = 6


class _TextScale(NamedTuple):
    low: float
    span: float
    cells: int

    def cell(self, value: float) -> int:
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
        """Over what is drawn, where it takes three cells or more; an end beyond the line stays open."""
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


def _row_lines(
    table: Table, row: Row, texts: Sequence[str], widths: Sequence[int], gap: int, ansi: bool
) -> Iterator[str]:
    wrapped = [layout.wrap(text, cells) for text, cells in zip(texts, widths, strict=True)]
    if _has_sign(table, row):
        first, *others = layout.wrap(texts[0][2:], max(widths[0] - 2, 1))
        wrapped[0] = [texts[0][:2] + first, *(f"  {line}" for line in others)]

    style = {Mark.WARM_UP: _DIM, Mark.BOTTLENECK: _BOLD}.get(row.mark, "")
    for parts in zip_longest(*wrapped, fillvalue=""):
        if row.struck:
            yield _styled(_struck_line(table, parts, widths, gap), _STRUCK, ansi)
        else:
            line = _styled(_join_cells(table, parts, widths, gap), style, ansi)
            yield coloured(line, row.tone) if ansi else line


def _struck_line(table: Table, parts: Sequence[str], widths: Sequence[int], gap: int) -> str:
    """The line with strokes in the gaps between its cells, but not between the words of a cell."""
    protected = [part.replace(" ", _INSIDE) for part in parts]
    line = _join_cells(table, protected, widths, gap)
    return re.sub(" +", _stroke, line).replace(_INSIDE, " ")


def _row_texts(table: Table, row: Row) -> list[str]:
    texts = [layout.visible(cell_text(cell, column.kind)) for cell, column in table.cells(row)]
    if _has_sign(table, row):
        texts[0] = f"{SIGNS.get(row.mark, ' ')} {texts[0]}"
    return texts


def _has_sign(table: Table, row: Row) -> bool:
    return table.signed and row.role is not Role.HEADING


def _fit_columns(table: Table, texts: list[list[str]], width: int) -> tuple[list[int], int, list[list[str]]] | None:
    """Cells of each column, cells between them and the texts of the rows; None where paragraphs read better."""
    without_commas = [_row_without_commas(table, row) for row in texts]
    rounded = [_rounded_row(table, row) for row in without_commas]

    # From the most generous way to the narrowest: headings of more lines, smaller gaps, then shorter numbers.
    ways = [(gap, texts, lines) for gap, lines in ((2, 1), (2, 2), (1, 2), (2, 3), (1, 3))]
    ways += [(1, without_commas, 2), (1, without_commas, _MOST_HEADING_LINES), (1, rounded, _MOST_HEADING_LINES)]
    for gap, rows, heading_lines in ways:
        needed = _cells_needed(table, rows, heading_lines=heading_lines)
        if sum(needed) + gap * (len(needed) - 1) <= width:
            return needed, gap, rows
    return _narrow_columns(table, texts, needed, rounded, width)


_MOST_HEADING_LINES = 9


def _columns_of(table: Table, row: Sequence[str]) -> Iterator[tuple[str, Column]]:
    return zip(row, table.columns, strict=True)


def _row_without_commas(table: Table, row: Sequence[str]) -> list[str]:
    return [_without_commas(text, column.kind) for text, column in _columns_of(table, row)]


def _rounded_row(table: Table, row: Sequence[str]) -> list[str]:
    return [_rounded(text, column.kind) for text, column in _columns_of(table, row)]


def _without_commas(text: str, kind: ReportKind) -> str:
    return text if kind is ReportKind.TEXT else text.replace(",", "")


def _rounded(text: str, kind: ReportKind) -> str:
    if kind is ReportKind.TEXT or not _LONG_NUMBER.fullmatch(text):
        return text
    return f"{float(text):.0f}"


def _narrow_columns(
    table: Table, texts: list[list[str]], needed: list[int], rounded: list[list[str]], width: int
) -> tuple[list[int], int, list[list[str]]] | None:
    """Take cells from the widest columns of text, or of a blank form, until the table fits."""
    heading_cells = [_heading_cells(_heading(table, index), _MOST_HEADING_LINES) for index in range(len(table.columns))]
    is_blank = not any(chain.from_iterable(texts))
    excess = sum(needed) + len(needed) - 1 - width
    while excess > 0 and max(needed) > _LEAST_CELLS:
        candidates = [
            index
            for index, column in enumerate(table.columns)
            if column.kind is ReportKind.TEXT and needed[index] > max(_LEAST_CELLS, heading_cells[index])
        ]
        if not candidates and not table.marked and not is_blank:
            return None

        if not candidates and is_blank:
            candidates = [index for index, cells in enumerate(needed) if cells > heading_cells[index]]
        widest = max(candidates or range(len(needed)), key=needed.__getitem__)
        needed[widest] -= 1
        excess -= 1
    return needed, 1, rounded


def _cells_needed(table: Table, texts: list[list[str]], *, heading_lines: int) -> list[int]:
    needed: list[int] = []
    counted = [parts for row, parts in zip(table.rows, texts, strict=True) if row.role is not Role.HEADING]
    for index, column in enumerate(table.columns):
        heading = _heading(table, index)
        widest = max((layout.width(parts[index]) for parts in counted), default=0)
        by_hand = 0 if widest else _BY_HAND[column.kind]
        needed.append(max(widest, by_hand, _heading_cells(heading, heading_lines)))
    return needed


def _heading_cells(heading: str, lines: int) -> int:
    cells = max(layout.width(word) for word in heading.split(" "))
    while len(layout.wrap(heading, cells)) > lines:
        cells += 1
    return cells


def _heading(table: Table, index: int) -> str:
    return ("\u00a0\u00a0" if table.signed and not index else "") + layout.visible(table.columns[index].heading)


def _join_cells(table: Table, parts: Sequence[str], widths: Sequence[int], gap: int) -> str:
    return (" " * gap).join(
        layout.pad(part, cells, right=column.kind is not ReportKind.TEXT)
        for part, cells, column in zip(parts, widths, table.columns, strict=True)
    )


def _stroke(gap: re.Match[str]) -> str:
    length = len(gap[0])
    return f" {RULE * (length - 2)} " if length > 2 else RULE * length


def _styled(line: str, style: str, ansi: bool) -> str:
    return f"{style}{line.rstrip()}{_PLAIN}" if ansi and style else line


def render(reports: Sequence[Report], *, paper: str) -> bytes:  # noqa: ARG001 (one signature for every format)
    return f"\n{'═' * WIDTH}\n\n".join(map(report_text, reports)).encode()
