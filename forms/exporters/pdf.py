"""Forms as PDF on A4 or Letter: each form starts a page, long tables repeat their headings. All lengths are points."""

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from forms.exporters.pdf_charts import chart_on
from forms.exporters.pdf_fonts import add_fonts
from forms.exporters.pdf_pages import Pages
from forms.exporters.pdf_tables import table_on
from forms.layout import control_pictures, visible
from forms.report import SIGNS, Report, cell_text, remarks

_TABLE_BEGIN = 75.0
"""Height that a table needs so that it begins on this page."""


def render(reports: Sequence[Report], *, paper: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="sharebench-") as folder:
        pages = Pages("Letter" if paper == "Letter" else "A4")
        texts = chain.from_iterable(map(_report_texts, reports))
        add_fonts(pages, Path(folder), map(control_pictures, texts))

        has_one_title = len(reports) == 1 or reports[0].is_front_page
        title = reports[0].title if has_one_title else f"{len(reports)} forms"
        pages.set_title(control_pictures(title).encode(errors="replace").decode())
        pages.set_lang("en")
        pages.set_producer("sharebench")
        pages.set_creation_date(datetime.now(UTC))
        for report in reports:
            _report_on(pages, report)
        return bytes(pages.output())


def _report_texts(report: Report) -> Iterator[str]:
    """All texts of a form, for whose characters fonts are needed."""
    yield report.title
    yield from report.advice
    for field in (*report.fields, *report.results):
        yield field.name + field.text

    for table in report.tables:
        yield table.caption + "".join(column.heading for column in table.columns)
        for row in table.rows:
            yield row.remark
            for cell, column in zip(row.cells, table.columns, strict=False):
                if not cell.formula:
                    yield cell_text(cell, column.kind)

    for chart in report.charts:
        yield from (level.name for level in chart.levels)
        yield from (bar.name for bar in chart.bars)


def _report_on(pages: Pages, report: Report) -> None:
    """Write a form on pages of its own. A chart that is a curve comes before the tables: it says the most."""
    pages.form_title = visible(report.title)
    pages.add_page()
    pages.paragraph(report.title, size=15, bold=True)
    pages.y += 4
    pages.fields(report.fields, by_hand=report.blank)

    begins_with_charts = report.chart is not None and report.chart.is_curve
    if begins_with_charts:
        _charts_on(pages, report)

    for table in report.tables:
        pages.y += 8
        if pages.y + _TABLE_BEGIN > pages.page_break_trigger:
            pages.add_page()
        if table.caption:
            pages.paragraph(table.caption, grey=True)
        table_on(pages, table, blank=report.blank)
        pages.y += 4
        for row, remark in remarks(table) if table.marked else ():
            pages.paragraph(f"{SIGNS.get(row.mark, ' ')} {remark}", size=8)

    pages.y += 4
    pages.fields(report.results)
    for text in report.advice:
        pages.y += 5
        pages.paragraph(f"→ {text}")
    if not begins_with_charts:
        _charts_on(pages, report)


def _charts_on(pages: Pages, report: Report) -> None:
    for chart in report.charts:
        chart_on(pages, chart)
