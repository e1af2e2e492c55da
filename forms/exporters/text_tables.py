"""Tables of forms as plain text: how wide each column is, and the lines of each row.

Widths are in cells: a cell is the place of a letter. A table that is too wide becomes narrower step by step:
headings of more lines, a smaller gap between columns, columns of text that are wrapped, numbers without thousands'
commas, then without decimals. One that is still too wide takes more cells from its columns of text, or becomes
paragraphs, a row each.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from forms import layout
from forms.exporters.text_styles import BOLD, DIM, STRUCK, styled
from forms.report import SIGNS, Column, Mark, ReportKind, Role, Row, Table, cell_text, remarks

RULE = "─"
_INSIDE = "\ue000"
"""Stands for a blank inside a cell while a row is struck through; text from outside has no private characters here."""
_BY_HAND = {
    ReportKind.TEXT: 10,
    ReportKind.WHOLE: 11,
    ReportKind.SECONDS: 10,
    ReportKind.MILLISECONDS: 8,
    ReportKind.PERCENT: 11,
    ReportKind.DECIMAL: 9,
    ReportKind.RATIO: 7,
    ReportKind.SIGNED: 9,
}
"""Cells of an empty column, which people fill in by hand."""
_LONG_NUMBER = re.compile(r"[+-]?\d{4,}\.\d+")

_LEAST_CELLS = 4
"""Of a column."""
_READABLE_CELLS = 16
"""Of a column of text that is wrapped so that the numbers beside it keep their commas."""
_LEAST_STROKE = 3
"""Cells of a gap from which it is stroked: a stroke that touches a word reads as part of it."""
_MOST_HEADING_LINES = 9


def table_lines(table: Table, width: int, *, ansi: bool = False) -> Iterator[str]:
    """All lines of a table, in at most ``width`` cells."""
    drawn = drawn_table(table, width, ansi=ansi)
    yield from drawn.headings
    for lines in drawn.rows:
        yield from lines
    yield from drawn.remarks


class _DrawnTable(NamedTuple):
    """The lines of a table."""

    headings: tuple[str, ...]
    """Of all columns, with the rule below; empty where rows are paragraphs."""
    rows: tuple[tuple[str, ...], ...]
    """The lines of each row."""
    remarks: tuple[str, ...]
    """What stands below the rows about them."""


def drawn_table(table: Table, width: int, *, ansi: bool = False) -> _DrawnTable:
    """The table in at most ``width`` cells; its rows are paragraphs where cells are sentences or too many."""
    texts = [_row_texts(table, row) for row in table.rows]
    fitted = None if table.sentences else _fit_columns(table, texts, width)
    if fitted is None:
        return _DrawnTable(headings=(), rows=tuple(_paragraphs(table, texts, width, ansi)), remarks=())

    widths = fitted.widths
    gap = fitted.gap
    headings = _heading_lines(table, widths, gap, ansi)
    rule = RULE * (sum(widths) + gap * (len(widths) - 1))
    rows: list[tuple[str, ...]] = []
    role_above: Role | None = None
    for row, parts in zip(table.rows, fitted.texts, strict=True):
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
        headings.append(styled(line, BOLD, ansi))
    return headings


def _paragraphs(table: Table, texts: Sequence[Sequence[str]], width: int, ansi: bool) -> Iterator[tuple[str, ...]]:
    for row, (first, *others) in zip(table.rows, texts, strict=True):
        lines = [layout.coloured(line, row.tone) if ansi else line for line in layout.hanging(first, width)]
        for column, text in zip(table.columns[1:], others, strict=True):
            if text:
                lines += layout.hanging_from(f"    {layout.visible(column.heading)}: ", text, width)
        yield tuple(lines)


def _row_lines(
    table: Table, row: Row, texts: Sequence[str], widths: Sequence[int], gap: int, ansi: bool
) -> Iterator[str]:
    wrapped = [layout.wrap(text, cells) for text, cells in zip(texts, widths, strict=True)]
    if _has_sign(table, row):
        first, *others = layout.wrap(texts[0][2:], max(widths[0] - 2, 1))
        wrapped[0] = [texts[0][:2] + first, *(f"  {line}" for line in others)]

    style = {Mark.WARM_UP: DIM, Mark.BOTTLENECK: BOLD}.get(row.mark, "")
    for number, parts in enumerate(zip_longest(*wrapped, fillvalue="")):
        if row.struck:
            # Further lines of a cell are beside empty ones: strokes there would be a rule.
            line = _join_cells(table, parts, widths, gap) if number else _struck_line(table, parts, widths, gap)
            yield styled(line, STRUCK, ansi)
        else:
            line = styled(_join_cells(table, parts, widths, gap), style, ansi)
            yield layout.coloured(line, row.tone) if ansi else line


def _struck_line(table: Table, parts: Sequence[str], widths: Sequence[int], gap: int) -> str:
    """The line with strokes in the wide gaps between its cells, but not between the words of a cell."""
    protected = [part.replace(" ", _INSIDE) for part in parts]
    line = _join_cells(table, protected, widths, gap)
    return re.sub(" +", _stroke, line).replace(_INSIDE, " ")


def _row_texts(table: Table, row: Row) -> list[str]:
    """The texts of a row's cells; the first begins with the row's sign where the table has signs."""
    texts = [layout.visible(cell_text(cell, column.kind)) for cell, column in table.cells(row)]
    if _has_sign(table, row):
        texts[0] = f"{SIGNS.get(row.mark, ' ')} {texts[0]}"
    return texts


def _has_sign(table: Table, row: Row) -> bool:
    return table.signed and row.role is not Role.HEADING


class _FittedColumns(NamedTuple):
    """How a table fits into a width."""

    widths: list[int]
    """Cells of each column."""
    gap: int
    """Cells between columns."""
    texts: list[list[str]]
    """Of the cells of each row, with shorter numbers where need be."""


def _fit_columns(table: Table, texts: list[list[str]], width: int) -> _FittedColumns | None:
    """The most generous way that fits into ``width`` cells; None where paragraphs read better."""
    without_commas = [_row_without_commas(table, row) for row in texts]
    rounded = [_rounded_row(table, row) for row in without_commas]

    # From the most generous way to the narrowest: headings of more lines, smaller gaps, then shorter numbers.
    ways = [(gap, texts, lines) for gap, lines in ((2, 1), (2, 2), (1, 2), (2, 3), (1, 3))]
    shorter_ways = [(1, without_commas, 2), (1, without_commas, _MOST_HEADING_LINES), (1, rounded, _MOST_HEADING_LINES)]
    for gap, rows, heading_lines in ways:
        needed = _cells_needed(table, rows, heading_lines=heading_lines)
        if sum(needed) + gap * (len(needed) - 1) <= width:
            return _FittedColumns(widths=needed, gap=gap, texts=rows)

    wrapped = _wrap_columns_of_text(table, texts, needed, width)
    if wrapped is not None:
        return wrapped

    for gap, rows, heading_lines in shorter_ways:
        needed = _cells_needed(table, rows, heading_lines=heading_lines)
        if sum(needed) + gap * (len(needed) - 1) <= width:
            return _FittedColumns(widths=needed, gap=gap, texts=rows)
    # None of the ways fits: what the last and narrowest of them needs is cut further.
    return _narrow_columns(table, texts, needed, rounded, width)


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


def _wrap_columns_of_text(
    table: Table, texts: list[list[str]], needed: Sequence[int], width: int
) -> _FittedColumns | None:
    """Take cells from the widest columns of text until the table fits; None where one would not be readable then."""
    widths = list(needed)
    excess = sum(widths) + len(widths) - 1 - width
    columns_of_text = [index for index, column in enumerate(table.columns) if column.kind is ReportKind.TEXT]
    while excess > 0:
        widest = max(columns_of_text, key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= _READABLE_CELLS:
            return None
        widths[widest] -= 1
        excess -= 1
    return _FittedColumns(widths=widths, gap=1, texts=texts)


def _narrow_columns(
    table: Table, texts: list[list[str]], needed: list[int], rounded: list[list[str]], width: int
) -> _FittedColumns | None:
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
        if not candidates and is_blank:
            candidates = [index for index, cells in enumerate(needed) if cells > heading_cells[index]]
        elif not candidates and not table.marked:
            return None

        # A table of runs stays a table, and so does a blank form: at last any of their columns is cut.
        widest = max(candidates or range(len(needed)), key=needed.__getitem__)
        needed[widest] -= 1
        excess -= 1
    return _FittedColumns(widths=needed, gap=1, texts=rounded)


def _cells_needed(table: Table, texts: list[list[str]], *, heading_lines: int) -> list[int]:
    """Cells that each column needs for its widest text, and for its heading in ``heading_lines``."""
    needed: list[int] = []
    counted = [parts for row, parts in zip(table.rows, texts, strict=True) if row.role is not Role.HEADING]
    # Room to write by hand is left on blank forms only: elsewhere an empty column has nothing to say.
    is_blank = not any(chain.from_iterable(parts[1:] for parts in counted))
    for index, column in enumerate(table.columns):
        heading = _heading(table, index)
        widest = max((layout.width(parts[index]) for parts in counted), default=0)
        by_hand = _BY_HAND[column.kind] if is_blank and not widest else 0
        needed.append(max(widest, by_hand, _heading_cells(heading, heading_lines)))
    return needed


def _heading_cells(heading: str, lines: int) -> int:
    """The fewest cells in which a heading takes no more than ``lines`` lines."""
    cells = max(layout.width(word) for word in heading.split(" "))
    while len(layout.wrap(heading, cells)) > lines:
        cells += 1
    return cells


def _heading(table: Table, index: int) -> str:
    """A column's heading; the first stands behind the place of the signs, by blanks that no line breaks at."""
    return ("\u00a0\u00a0" if table.signed and not index else "") + layout.visible(table.columns[index].heading)


def _join_cells(table: Table, parts: Sequence[str], widths: Sequence[int], gap: int) -> str:
    return (" " * gap).join(
        layout.pad(part, cells, right=column.kind is not ReportKind.TEXT)
        for part, cells, column in zip(parts, widths, table.columns, strict=True)
    )


def _stroke(gap: re.Match[str]) -> str:
    """A stroke as long as a gap between cells, with a blank to each side; a narrower gap stays blank."""
    length = len(gap[0])
    return f" {RULE * (length - 2)} " if length >= _LEAST_STROKE else gap[0]
