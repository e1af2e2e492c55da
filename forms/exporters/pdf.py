"""Forms as PDF on A4 or Letter: each form starts a page, long tables repeat their headings."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from types import MethodType
from typing import Any, Literal

from fpdf import FPDF
from fpdf.enums import MethodReturnValue

from forms.exporters.pdf_charts import chart_on
from forms.exporters.pdf_fonts import add_fonts
from forms.exporters.pdf_look import GREY, INK, LINE, TEXT
from forms.exporters.pdf_tables import lines_of, table_on
from forms.layout import control_pictures, cut, visible
from forms.report import SIGNS, Field, Report, cell_text, remarks

_MARGIN = 42.0
_FOOT = 10.0
_NAME_WIDTH = 110.0
_MOST_NAME_WIDTH = 180.0
_NAME_GAP = 8.0
_LONGEST_NAME = 160
_PAGES = 6 * "\x01"
"""Stands for the number of pages; text from outside has no control characters here."""

_LINE_END = 12.0
"""Room that a paragraph leaves on its right."""

_WHOLE_LINES = 4
"""A paragraph of up to as many lines is not parted by a page's end."""

_TABLE_BEGIN = 75.0
"""Height that a table needs so that it begins on this page."""

_SIZE = 9.0
"""Of letters, in points, as all lengths here."""

_ROUNDING = 0.01
_OF_CELL = MethodReturnValue.PAGE_BREAK | MethodReturnValue.HEIGHT
_LEADING = 1.35
"""Height of a line, in heights of a letter."""

_BY_HAND = 2.2
"""Height of a line that is filled in by hand, in heights of a letter."""


def render(reports: Sequence[Report], *, paper: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="sharebench-") as folder:
        pages = _Pages("Letter" if paper == "Letter" else "A4")
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


class _Pages(FPDF):
    """The pages, with what fpdf2 calls: ``header`` at each page's begin, ``multi_cell`` for each cell of a table."""

    def __init__(self, paper: Literal["A4", "Letter"]) -> None:
        super().__init__(format=paper, unit="pt")
        self.set_margin(_MARGIN)
        self.set_auto_page_break(auto=True, margin=_MARGIN + _FOOT)
        self.c_margin = 0
        self.set_draw_color(LINE)
        self.set_line_width(0.5)
        self.form_title = ""
        self.alias_nb_pages(_PAGES)

    def header(self) -> None:
        """Write the foot first, so that it is read before text continued from the page before."""
        self.set_auto_page_break(auto=False, margin=_MARGIN + _FOOT)
        self.set_font(TEXT, "", 7)
        self.set_text_color(GREY)
        self.set_y(-_MARGIN - _FOOT + 2)
        title, *more = lines_of(self, self.form_title, self.epw - 70)
        self.cell(self.epw - 60, _FOOT, f"{title} …" if more else title)
        # How many pages there are is known only at the end: room for two digits.
        self.set_x(self.w - self.r_margin - self.get_string_width("page 88 of 88"))
        self.cell(60, _FOOT, f"page {self.page_no()} of {_PAGES}")
        self.set_xy(self.l_margin, self.t_margin)
        self.set_auto_page_break(auto=True, margin=_MARGIN + _FOOT)

    def multi_cell(self, *args: Any, **options: Any) -> Any:
        """Print soft hyphens and never break at them: a name may have them."""
        if options.get("output") == _OF_CELL and self._is_one_line(options):
            padding = options["padding"]
            height = options["h"]
            x = self.x
            y = self.y
            # As fpdf2 itself tells whether it writes.
            if isinstance(self._out, MethodType):
                self.set_xy(x + padding.left, y + padding.top)
                self.cell(options["w"] - padding.left - padding.right, height, options["text"], align=options["align"])
                self.set_xy(x + options["w"], y)
            return False, height + padding.top + padding.bottom

        options["print_sh"] = True
        return super().multi_cell(*args, **options)

    def _is_one_line(self, options: Mapping[str, Any]) -> bool:
        text = options["text"]
        padding = options["padding"]
        font = self.current_font
        is_plain = text.isascii() and text.isprintable() and text == text.strip()
        if self.text_shaping or font is None or not is_plain:
            return False
        _, width = font.get_text_width(text, self.font_size_pt, None)
        return bool(width + _ROUNDING < options["w"] - padding.left - padding.right)

    def _render_styled_text_line(self, *args: Any, **options: Any) -> bool:
        """Put the font on the page first: a line that begins in the other font would lose it."""
        if self.current_font and not self.current_font_is_set_on_page:
            self._out(self._set_font_for_page(self.current_font, self.font_size_pt))
        return super()._render_styled_text_line(*args, **options)

    def paragraph(self, text: str, *, size: float = _SIZE, bold: bool = False, grey: bool = False) -> None:
        self.set_font(TEXT, "B" if bold else "", size)
        self.set_text_color(GREY if grey else INK)
        text = control_pictures(text).replace("\t", "    ")
        lines = lines_of(self, text, self.epw - _LINE_END)
        if len(lines) <= _WHOLE_LINES and self.y + len(lines) * size * _LEADING > self.page_break_trigger:
            self.add_page()
        self.multi_cell(self.epw - _LINE_END, size * _LEADING, text, align="L", new_x="LMARGIN")

    def fields(self, fields: Sequence[Field], *, by_hand: bool = False) -> None:
        self.set_font(TEXT, "", _SIZE)
        widest = max((self.get_string_width(visible(field.name)) for field in fields), default=0.0)
        name_width = min(max(_NAME_WIDTH, widest + _NAME_GAP), _MOST_NAME_WIDTH)
        height = _SIZE * (_BY_HAND if by_hand else _LEADING)
        for field in fields:
            name_lines = lines_of(self, cut(visible(field.name), _LONGEST_NAME), name_width - _NAME_GAP)
            if self.y + height * len(name_lines) > self.page_break_trigger:
                self.add_page()

            page = self.page_no()
            below_name = self.y + height * len(name_lines)
            self.set_text_color(GREY)
            self.multi_cell(name_width, height, "\n".join(name_lines), align="L", new_x="LMARGIN", new_y="TOP")
            self.set_text_color(INK)
            self.set_x(self.l_margin + name_width)
            text = control_pictures(field.text).replace("\t", "    ")
            self.multi_cell(0, height, text, align="L", new_x="LMARGIN", new_y="NEXT")

            if self.page_no() == page:
                self.y = max(self.y, below_name)
            if by_hand:
                self.line(self.l_margin + name_width, self.y, self.w - self.r_margin, self.y)


def _report_on(pages: _Pages, report: Report) -> None:
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


def _charts_on(pages: _Pages, report: Report) -> None:
    for chart in report.charts:
        chart_on(pages, chart)
