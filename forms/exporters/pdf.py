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


def render(reports: Sequence[Report], *, paper: str) -> bytes:
    """The forms as one document; ``paper`` is ``A4`` or ``Letter``."""
    with tempfile.TemporaryDirectory(prefix="sharebench-") as folder:
        pages = Pages(paper, Path(folder), [text for report in reports for text in _texts(report)])
        pages.describe(reports[0].title if len(reports) == 1 else f"{len(reports)} forms", datetime.now(UTC))
        for report in reports:
            _report_on(pages, report)
        return pages.content()


def _texts(report: Report) -> Iterator[str]:
    """All text from outside, so that the fonts it needs are known."""
    yield report.title
    yield from report.advice
    for field in (*report.fields, *report.results):
        yield field.name + field.text
    for table in report.tables:
        yield table.caption + "".join(column.heading for column in table.columns)
        for row in table.rows:
            yield row.remark
            yield from (cell_text(c, k.kind) for c, k in zip(row.cells, table.columns, strict=False) if not c.formula)
    if report.chart:
        yield from (name for name, _ in report.chart.levels)
        yield from (bar.name for bar in report.chart.bars)


def _report_on(pages: Pages, report: Report) -> None:
    pages.new(report.title)
    pages.paragraph(report.title, size=15, bold=True)
    pages.gap(4)
    _fields_on(pages, report.fields, blank=report.blank)
    for table in report.tables:
        pages.gap(8)
        if table.caption:
            pages.paragraph(table.caption, size=_TEXT_SIZE, grey=True)
        table_on(pages, table, blank=report.blank)
        if table.marked and any(True for _ in remarks(table)):
            pages.gap(4)
            for row, said in remarks(table):
                pages.paragraph(f"{pages.sign(row)} {said}", size=8, indent=10)
    if report.results:
        pages.gap(8)
        _fields_on(pages, report.results)
    for text in report.advice:
        pages.gap(5)
        pages.paragraph(f"→ {text}", size=_TEXT_SIZE, indent=12)
    if report.chart:
        pages.chart(report.chart)


def _fields_on(pages: Pages, fields: Sequence[Field], *, blank: bool = False) -> None:
    for field in fields:
        pages.named(field.name, field.text, _NAME_WIDTH, size=_TEXT_SIZE, line_below=blank)
