"""Forms as plain text, with or without ANSI styles; rejected rows are struck through either way."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forms import layout, wording
from forms.layout import Tone, coloured
from forms.report import SIGNS, Bar, Chart, Field, Level, Mark, Report, ReportKind, Role, Row, Table, cell_text, remarks

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
_BOLD, _STRUCK, _DIM, _PLAIN = "\x1b[1m", "\x1b[9m", "\x1b[2m", "\x1b[0m"


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
    fitted = None if table.sentences else _fitted(table, texts, width)
    if fitted is None:
        return _DrawnTable(headings=(), rows=tuple(_paragraphs(table, texts, width, ansi)), remarks=())
    widths, gap, texts = fitted
    split = [layout.wrap(_heading(table, index), cells) for index, cells in enumerate(widths)]
    height = max(len(lines) for lines in split)
    headings = []
    for level in range(height):
        parts = [lines[level - height + len(lines)] if level >= height - len(lines) else "" for lines in split]
        headings.append(_styled(_joined(table, parts, widths, gap).replace("\u00a0", " "), _BOLD, ansi))
    rule = RULE * (sum(widths) + gap * (len(widths) - 1))
    rows: list[tuple[str, ...]] = []
    before: Role | None = None
    for row, parts in zip(table.rows, texts, strict=True):
        above = [rule] if row.role is not before and before is not None else []
        before = row.role if row.role is not Role.HEADING else before
        if row.role is Role.HEADING:
            lines = layout.wrap(layout.visible(row.name), width)
        else:
            lines = list(_row_lines(table, row, parts, widths, gap, ansi))
        rows.append((*above, *lines))
    said = tuple(
        line
        for row, text in remarks(table)
        for line in layout.hanging_from(f"{SIGNS.get(row.mark, ' ')} ", text, width)
    )
    return _DrawnTable(headings=(*headings, rule), rows=tuple(rows), remarks=said)


def _paragraphs(table: Table, texts: Sequence[Sequence[str]], width: int, ansi: bool) -> Iterator[tuple[str, ...]]:
    for row, (first, *others) in zip(table.rows, texts, strict=True):
        lines = [coloured(line, row.tone) if ansi else line for line in layout.hanging(first, width)]
        for column, text in zip(table.columns[1:], others, strict=True):
            if text:
                lines += layout.hanging_from(f"    {layout.visible(column.heading)}: ", text, width)
        yield tuple(lines)


def chart_lines(chart: Chart, width: int, *, ansi: bool = False) -> Iterator[str]:
    """Bars of ``█`` and levels of ``░`` in half cells: few consoles have the eighths; or dots beside their levels."""
    levels = [] if chart.is_dots else [(Bar(name=level.name, value=level.value), "░") for level in chart.levels]
    rows = [*((bar, "●" if chart.is_dots else "█") for bar in chart.bars), *levels]
    names = [layout.cut(layout.visible(bar.name), width // 3) for bar, _ in rows]
    low, high = chart.ends
    texts = [_charted(bar, chart.unit, high) for bar, _ in rows]
    name_cells, text_cells = max(map(layout.width, names)), max(map(layout.width, texts))
    cells = max(width - name_cells - text_cells - 6, 4)
    scale = _TextScale(low, (high - low) or 1.0, cells)
    yield from layout.wrap(layout.visible(chart.title), width)
    for name, text, (bar, block) in zip(names, texts, rows, strict=True):
        drawn = scale.dotted(bar, chart.levels) if chart.is_dots else scale.filled(bar, block)
        if ansi and block != "░":
            tone = bar.tone if bar.tone is not Tone.PLAIN else Tone.DATA
            drawn = "│".join(coloured(part, tone) for part in drawn.split("│"))
        sign = SIGNS.get(bar.mark, " ")
        line = f"{sign} {layout.pad(name, name_cells)}  {layout.pad(text, text_cells, right=True)}  {drawn}"
        yield _styled(line, _BOLD if bar.mark is Mark.BOTTLENECK else "", ansi)
    for level in chart.levels if chart.is_dots else ():
        at = max(0, scale.cell(level.value) - len(level.name) // 2)
        yield " " * (name_cells + text_cells + 6 + min(at, cells - len(level.name))) + level.name


class _TextScale(NamedTuple):
    low: float
    span: float
    cells: int

    def cell(self, value: float) -> int:
        return min(self.cells - 1, int(self.cells * max(0.0, value - self.low) / self.span))

    def filled(self, bar: Bar, block: str) -> str:
        start, end = (round(2 * self.cells * (each - self.low) / self.span) for each in bar.ends)
        return self._with_interval(bar, _half_cells(block, start, max(end, start + 1)) if bar.value else "", "┼")

    def dotted(self, bar: Bar, levels: Sequence[Level]) -> str:
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
        start, at, end = (self.cell(each) for each in (bar.interval[0], bar.value, bar.interval[1]))
        if end - start < 2:
            return drawn
        at = min(max(at, start + 1), end - 1)
        first = "├" if bar.interval[0] >= self.low else "←"
        last = "┤" if bar.interval[1] <= self.low + self.span else "→"
        whisker = f"{first}{'─' * (at - start - 1)}{middle}{'─' * (end - at - 1)}{last}"
        return drawn[:start].ljust(start) + whisker + drawn[end + 1 :]


def _half_cells(block: str, start: int, end: int) -> str:
    if block != "█":
        return block * max((end + 1) // 2, 1)
    first = " " * (start // 2) + "▐" * (start % 2)
    return first + block * (end // 2 - len(first)) + "▌" * (end % 2)


def _charted(bar: Bar, unit: str, highest: float) -> str:
    if bar.value is None:
        return "-"
    if unit == "bytes/sec":
        return wording.rate(bar.value, beside=highest)
    ends = f" ({bar.interval[0]:,.1f} to {bar.interval[1]:,.1f})" if bar.interval else ""
    return f"{wording.with_minus(f'{bar.value:,.1f}')} {unit}{wording.with_minus(ends)}"


def _row_lines(
    table: Table, row: Row, texts: Sequence[str], widths: Sequence[int], gap: int, ansi: bool
) -> Iterator[str]:
    wrapped = [layout.wrap(text, cells) for text, cells in zip(texts, widths, strict=True)]
    if _has_sign(table, row):
        first, *rest = layout.wrap(texts[0][2:], max(widths[0] - 2, 1))
        wrapped[0] = [texts[0][:2] + first, *(f"  {line}" for line in rest)]
    for level in range(max(map(len, wrapped))):
        level_parts = [lines[level] if level < len(lines) else "" for lines in wrapped]
        if row.struck:
            whole = [part.replace(" ", _INSIDE) for part in level_parts]
            yield _styled(
                re.sub(" +", _stroke, _joined(table, whole, widths, gap)).replace(_INSIDE, " "), _STRUCK, ansi
            )
        else:
            line = _joined(table, level_parts, widths, gap)
            styled = _styled(line, {Mark.WARM_UP: _DIM, Mark.BOTTLENECK: _BOLD}.get(row.mark, ""), ansi)
            yield coloured(styled, row.tone) if ansi else styled


def _row_texts(table: Table, row: Row) -> list[str]:
    texts = [layout.visible(cell_text(cell, column.kind)) for cell, column in table.cells(row)]
    if _has_sign(table, row):
        texts[0] = f"{SIGNS.get(row.mark, ' ')} {texts[0]}"
    return texts


def _has_sign(table: Table, row: Row) -> bool:
    return table.signed and row.role is not Role.HEADING


def _fitted(table: Table, texts: list[list[str]], width: int) -> tuple[list[int], int, list[list[str]]] | None:
    unparted = [
        [t if c.kind is ReportKind.TEXT else t.replace(",", "") for t, c in zip(row, table.columns, strict=True)]
        for row in texts
    ]
    rounded = [
        [
            t if c.kind is ReportKind.TEXT else f"{float(t):.0f}" if _LONG_NUMBER.fullmatch(t) else t
            for t, c in zip(row, table.columns, strict=True)
        ]
        for row in unparted
    ]
    ways = [(gap, texts, lines) for gap, lines in ((2, 1), (2, 2), (1, 2), (2, 3), (1, 3))]
    for gap, rows, lines in [*ways, (1, unparted, 2), (1, unparted, 9), (1, rounded, 9)]:
        needed = _cells_needed(table, rows, heading_lines=lines)
        if sum(needed) + gap * (len(needed) - 1) <= width:
            return needed, gap, rows
    over = sum(needed) + len(needed) - 1 - width
    while over > 0 and max(needed) > _LEAST_CELLS:
        names = [
            i for i, column in enumerate(table.columns)
            if column.kind is ReportKind.TEXT and needed[i] > max(_LEAST_CELLS, _heading_cells(_heading(table, i), 9))
        ]  # fmt: skip
        blank = not any(text for row in texts for text in row)
        if not names and not table.marked and not blank:
            return None
        by_hand = [i for i in range(len(needed)) if blank and needed[i] > _heading_cells(_heading(table, i), 9)]
        needed[max(names or by_hand or range(len(needed)), key=lambda i: needed[i])] -= 1
        over -= 1
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


def _joined(table: Table, parts: Sequence[str], widths: Sequence[int], gap: int) -> str:
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
