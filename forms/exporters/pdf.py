"""Forms as PDF on A4 or Letter: each form starts a page, long tables repeat their headings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from forms.exporters.pdf_page import Pages
from forms.exporters.pdf_table import table_on
from forms.report import Field, Report, cell_text, remarks

_NAME_WIDTH = 110.0
_TEXT_SIZE = 9.0


def render(sheets: Sequence[Report], *, paper: str) -> bytes:
    """The forms as one document; ``paper`` is ``A4`` or ``Letter``."""
    with tempfile.TemporaryDirectory(prefix="sharebench-") as folder:
        pages = Pages(paper, Path(folder), [text for sheet in sheets for text in _texts(sheet)])
        pages.describe(sheets[0].title if len(sheets) == 1 else f"{len(sheets)} forms", datetime.now(UTC))
        for sheet in sheets:
            _sheet_on(pages, sheet)
        return pages.content()


def _texts(sheet: Report) -> Iterator[str]:
    """All text from outside, so that the fonts it needs are known."""
    yield sheet.title
    yield from sheet.advice
    for field in (*sheet.fields, *sheet.results):
        yield field.name + field.text
    for table in sheet.tables:
        yield table.caption + "".join(column.heading for column in table.columns)
        for row in table.rows:
            yield row.remark
            yield from (cell_text(c, k.kind) for c, k in zip(row.cells, table.columns, strict=False) if not c.formula)
    if sheet.chart:
        yield from (name for name, _ in sheet.chart.levels)
        yield from (bar.name for bar in sheet.chart.bars)


def _sheet_on(pages: Pages, sheet: Report) -> None:
    pages.new(sheet.title)
    pages.paragraph(sheet.title, size=15, bold=True)
    pages.gap(4)
    _fields_on(pages, sheet.fields, blank=sheet.blank)
    for table in sheet.tables:
        pages.gap(8)
        if table.caption:
            pages.paragraph(table.caption, size=_TEXT_SIZE, grey=True)
        table_on(pages, table, blank=sheet.blank)
        if table.marked and any(True for _ in remarks(table)):
            pages.gap(4)
            for row, said in remarks(table):
                pages.paragraph(f"{pages.sign(row)} {said}", size=8, indent=10)
    if sheet.results:
        pages.gap(8)
        _fields_on(pages, sheet.results)
    for text in sheet.advice:
        pages.gap(5)
        pages.paragraph(f"→ {text}", size=_TEXT_SIZE, indent=12)
    if sheet.chart:
        pages.chart(sheet.chart)


def _fields_on(pages: Pages, fields: Sequence[Field], *, blank: bool = False) -> None:
    for field in fields:
        pages.named(field.name, field.text, _NAME_WIDTH, size=_TEXT_SIZE, line_below=blank)
