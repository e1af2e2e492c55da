"""A sheet's table on the pages of a PDF document."""

from __future__ import annotations

from collections.abc import Sequence

from forms.exporters.pdf_page import GREY, INK, WARN, Colour, Pages
from forms.layout import control_pictures
from forms.report import Cell, Column, Mark, ReportKind, Role, Row, Table, cell_text

_SIZES = (9.0, 8.0, 7.0, 6.0)
_PADDING = 5.0
_BY_HAND = 26.0
_LEAST_TEXT = 60.0
_NARROW_TEXT = 190.0
"""A text column is wrapped when it would be wider."""


def table_on(pages: Pages, table: Table, *, blank: bool = False) -> None:
    """The table over the page's width, in the largest size that fits; rows stay whole."""
    texts = [_texts(table, row) for row in table.rows]
    size, widths = _fitted(pages, table, texts)
    _TableWriter(pages, table.columns, widths, size, least_height=_BY_HAND if blank else 0.0).write(
        list(zip(table.rows, texts, strict=True))
    )


def _texts(table: Table, row: Row) -> list[str]:
    cells = [*row.cells, *[Cell()] * (len(table.columns) - len(row.cells))]
    texts = [
        control_pictures(cell_text(cell, column.kind)).replace("\t", " ")
        for cell, column in zip(cells, table.columns, strict=True)
    ]
    sign = Pages.sign(row)
    if sign != " ":
        texts[0] = f"{sign} {texts[0]}"
    return texts


def _fitted(pages: Pages, table: Table, texts: Sequence[Sequence[str]]) -> tuple[float, list[float]]:
    """The type size and column widths; what is left over goes to all columns alike."""
    size, widths = _SIZES[0], [0.0]
    for size in _SIZES[:1] if table.sentences else _SIZES:
        widths = [_width(pages, table, texts, index, size) for index in range(len(table.columns))]
        if sum(widths) <= pages.width:
            break
    over = sum(widths) - pages.width
    names = [i for i, column in enumerate(table.columns) if column.kind is ReportKind.TEXT] or list(range(len(widths)))
    if over > 0:
        spare = sum(max(0.0, widths[i] - _LEAST_TEXT) for i in names) or 1.0
        for i in names:
            widths[i] -= over * max(0.0, widths[i] - _LEAST_TEXT) / spare
    else:
        widths = [width - over / len(widths) for width in widths]
    return size, widths


def _width(pages: Pages, table: Table, texts: Sequence[Sequence[str]], index: int, size: float) -> float:
    column = table.columns[index]
    entries = [row[index] for row, full in zip(texts, table.rows, strict=True) if full.role is not Role.HEADING]
    longest = sorted(set(entries), key=len)[-24:]
    widest = max((pages.text_width(text, size, bold=True) for text in longest), default=0.0)
    if column.kind is ReportKind.TEXT:
        widest = min(widest, _NARROW_TEXT)
    heading = max(pages.text_width(word, size, bold=True) for word in column.heading.split(" "))
    return max(widest, heading) + 2 * _PADDING


class _TableWriter:
    """Draws rows one below the other, headings again on each page."""

    def __init__(
        self, pages: Pages, columns: Sequence[Column], widths: Sequence[float], size: float, least_height: float
    ) -> None:
        self.pages, self.columns, self.widths, self.size = pages, columns, widths, size
        self.least_height = least_height

    def write(self, rows: Sequence[tuple[Row, Sequence[str]]]) -> None:
        """The headings, then the rows."""
        self._headings()
        before: Role | None = None
        for row, texts in rows:
            self._row(row, texts, first_of_kind=row.role is not before and before is not None)
            before = row.role

    def _headings(self) -> None:
        lines = [
            self.pages.wrapped(column.heading, width - 2 * _PADDING, self.size, bold=True)
            for column, width in zip(self.columns, self.widths, strict=True)
        ]
        height = self._height(max(map(len, lines)))
        self.pages.make_space(height * 2)
        self.pages.line(self.pages.left, self.pages.y, self.pages.right, self.pages.y)
        self._cells(lines, height, bold=True, colour=INK)
        self.pages.line(self.pages.left, self.pages.y, self.pages.right, self.pages.y, width=1.2, colour=INK)

    def _height(self, lines: int) -> float:
        return max(lines * self.size * 1.25 + self.size * 0.6, self.least_height)

    def _row(self, row: Row, texts: Sequence[str], *, first_of_kind: bool) -> None:
        bold = row.role is Role.RESULT or row.mark in {Mark.UNUSUAL, Mark.BOTTLENECK}
        colour = {Mark.REJECTED: WARN, Mark.PUT_BACK: WARN, Mark.FAILED: WARN, Mark.WARM_UP: GREY}.get(row.mark, INK)
        lines = [
            self.pages.wrapped(text, width - 2 * _PADDING, self.size, bold=bold)
            if column.kind is ReportKind.TEXT and row.role is not Role.HEADING
            else [text]
            for text, column, width in zip(texts, self.columns, self.widths, strict=True)
        ]
        height = self._height(max(map(len, lines)))
        if not self.pages.make_space(height):
            self._headings()
        if first_of_kind:
            self.pages.line(self.pages.left, self.pages.y, self.pages.right, self.pages.y, width=1.0, colour=INK)
        self._cells(lines, height, bold=bold, colour=colour, struck=row.struck, spread=row.role is Role.HEADING)
        self.pages.line(self.pages.left, self.pages.y, self.pages.right, self.pages.y)

    def _cells(
        self,
        lines: Sequence[Sequence[str]],
        height: float,
        *,
        bold: bool,
        colour: Colour,
        struck: bool = False,
        spread: bool = False,
    ) -> None:
        x, top = self.pages.left, self.pages.y
        self.pages.line(x, top, x, top + height)
        for cell, column, width in zip(lines, self.columns, self.widths, strict=True):
            right = column.kind is not ReportKind.TEXT
            for index, text in enumerate(cell):
                y = top + self.size * (1.2 + 1.25 * index)
                at = x + (width - _PADDING if right else _PADDING)
                self.pages.text(at, y, text, size=self.size, bold=bold, colour=colour, right=right)
            x += width
            if not spread:
                self.pages.line(x, top, x, top + height)
        if spread:
            self.pages.line(self.pages.right, top, self.pages.right, top + height)
        if struck:
            y = top + self.size * 0.9
            self.pages.line(self.pages.left + 2, y, self.pages.right - 2, y, width=0.8, colour=colour)
        self.pages.y = top + height
