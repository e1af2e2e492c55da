"""Forms as PDF on A4 or Letter: each form starts a page, long tables repeat their headings."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MethodType
from typing import Any, Literal

from fpdf import FPDF
from fpdf.enums import MethodReturnValue

from forms.exporters.pdf_fonts import TEXT, add_fonts
from forms.exporters.pdf_parts import GREY, INK, LINE, chart_on, lines_of, table_on
from forms.layout import control_pictures, cut, visible
from forms.report import SIGNS, Field, Report, cell_text, remarks

_MARGIN = 42.0
_FOOT = 10.0
_NAME_WIDTH, _MOST_NAME_WIDTH, _NAME_GAP = 110.0, 180.0, 8.0
_LONGEST_NAME = 160
_PAGES = 6 * "\x01"
"""Stands for the number of pages; no text from outside keeps its control characters here."""
_LINE_END = 12.0
_WHOLE_LINES = 4
"""A paragraph of so many lines is not parted between two pages."""
_TABLE_BEGIN = 75.0
"""Room for a caption, headings and two rows: a table does not begin with less at a page's foot."""
_SIZE = 9.0
_ROUNDING = 0.01
_OF_CELL = MethodReturnValue.PAGE_BREAK | MethodReturnValue.HEIGHT
"""What a table asks of the text of each of its cells."""
_LEADING, _BY_HAND = 1.35, 2.2
"""Height of a line in type sizes: of print, and of what is to be filled by hand."""


def render(reports: Sequence[Report], *, paper: str) -> bytes:
    """The forms as one document; ``paper`` is ``A4`` or ``Letter``."""
    with tempfile.TemporaryDirectory(prefix="sharebench-") as folder:
        pages = _Pages("Letter" if paper == "Letter" else "A4")
        add_fonts(pages, Path(folder), (control_pictures(text) for report in reports for text in _texts(report)))
        title = reports[0].title if len(reports) == 1 or reports[0].is_front_page else f"{len(reports)} forms"
        pages.set_title(control_pictures(title).encode(errors="replace").decode())
        pages.set_lang("en")
        pages.set_producer("sharebench")
        pages.set_creation_date(datetime.now(UTC))
        for report in reports:
            _report_on(pages, report)
        return bytes(pages.output())


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
    for chart in report.charts:
        yield from (level.name for level in chart.levels)
        yield from (bar.name for bar in chart.bars)


class _Pages(FPDF):
    """A document in points, at the foot of each page the form's title and the page's number."""

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
        """The foot: written first, so that it is read before what goes on from the page before."""
        self.set_auto_page_break(auto=False, margin=_MARGIN + _FOOT)
        self.set_font(TEXT, "", 7)
        self.set_text_color(GREY)
        self.set_y(-_MARGIN - _FOOT + 2)
        title, *more = lines_of(self, self.form_title, self.epw - 70)
        self.cell(self.epw - 60, _FOOT, f"{title} …" if more else title)
        self.set_x(self.w - self.r_margin - self.get_string_width("page 88 of 88"))
        self.cell(60, _FOOT, f"page {self.page_no()} of {_PAGES}")
        self.set_xy(self.l_margin, self.t_margin)
        self.set_auto_page_break(auto=True, margin=_MARGIN + _FOOT)

    def multi_cell(self, *args: Any, **options: Any) -> Any:
        """A text on lines of its own, soft hyphens (a name may have them) printed and no place to break it."""
        if options.get("output") == _OF_CELL and self._is_one_line(options):
            return self._one_line(options)
        return super().multi_cell(*args, **{**options, "print_sh": True})

    def _is_one_line(self, options: Mapping[str, Any]) -> bool:
        """Whether a table's cell is plain text of a single line, so that no breaks need be looked for."""
        text, padding, font = options["text"], options["padding"], self.current_font
        if self.text_shaping or font is None or not (text.isascii() and text.isprintable() and text == text.strip()):
            return False
        _, width = font.get_text_width(text, self.font_size_pt, None)
        return bool(width + _ROUNDING < options["w"] - padding.left - padding.right)

    def _one_line(self, options: Mapping[str, Any]) -> tuple[bool, float]:
        """Write the cell as ``multi_cell`` would, unless only its height is asked for: no page break, its height."""
        padding, height, x, y = options["padding"], options["h"], self.x, self.y
        if isinstance(self._out, MethodType):  # as fpdf2 itself tells whether it writes
            self.set_xy(x + padding.left, y + padding.top)
            self.cell(options["w"] - padding.left - padding.right, height, options["text"], align=options["align"])
            self.set_xy(x + options["w"], y)
        return False, height + padding.top + padding.bottom

    def _render_styled_text_line(self, *args: Any, **options: Any) -> bool:
        """A line of text, its font put on the page before it.

        A line that begins in the other font would put the text font into a part of its own, and lose it with that.
        """
        if self.current_font and not self.current_font_is_set_on_page:
            self._out(self._set_font_for_page(self.current_font, self.font_size_pt))
        return super()._render_styled_text_line(*args, **options)

    def paragraph(self, text: str, *, size: float = _SIZE, bold: bool = False, grey: bool = False) -> None:
        """A text over the page's width, its lines a little shorter than the tables."""
        self.set_font(TEXT, "B" if bold else "", size)
        self.set_text_color(GREY if grey else INK)
        text = control_pictures(text).replace("\t", "    ")
        lines = lines_of(self, text, self.epw - _LINE_END)
        if len(lines) <= _WHOLE_LINES and self.y + len(lines) * size * _LEADING > self.page_break_trigger:
            self.add_page()
            self.set_font(TEXT, "B" if bold else "", size)
            self.set_text_color(GREY if grey else INK)
        self.multi_cell(self.epw - _LINE_END, size * _LEADING, text, align="L", new_x="LMARGIN")

    def fields(self, fields: Sequence[Field], *, by_hand: bool = False) -> None:
        """Texts beside their names, as far to the right as the longest name asks; lines to write on where by hand."""
        self.set_font(TEXT, "", _SIZE)
        widest = max((self.get_string_width(visible(field.name)) for field in fields), default=0.0)
        beside = min(max(_NAME_WIDTH, widest + _NAME_GAP), _MOST_NAME_WIDTH)
        height = _SIZE * (_BY_HAND if by_hand else _LEADING)
        for field in fields:
            name = lines_of(self, cut(visible(field.name), _LONGEST_NAME), beside - _NAME_GAP)
            if self.y + height * len(name) > self.page_break_trigger:
                self.add_page()
                self.set_font(TEXT, "", _SIZE)
            page, below = self.page_no(), self.y + height * len(name)
            self.set_text_color(GREY)
            self.multi_cell(beside, height, "\n".join(name), align="L", new_x="LMARGIN", new_y="TOP")
            self.set_text_color(INK)
            self.set_x(self.l_margin + beside)
            text = control_pictures(field.text).replace("\t", "    ")
            self.multi_cell(0, height, text, align="L", new_x="LMARGIN", new_y="NEXT")
            self.y = max(self.y, below) if self.page_no() == page else self.y
            if by_hand:
                self.line(self.l_margin + beside, self.y, self.w - self.r_margin, self.y)


def _report_on(pages: _Pages, report: Report) -> None:
    pages.form_title = visible(report.title)
    pages.add_page()
    pages.paragraph(report.title, size=15, bold=True)
    pages.y += 4
    pages.fields(report.fields, by_hand=report.blank)
    for table in report.tables:
        pages.y += 8
        if pages.y + _TABLE_BEGIN > pages.page_break_trigger:
            pages.add_page()
        if table.caption:
            pages.paragraph(table.caption, grey=True)
        table_on(pages, table, blank=report.blank)
        pages.y += 4
        for row, said in remarks(table) if table.marked else ():
            pages.paragraph(f"{SIGNS.get(row.mark, ' ')} {said}", size=8)
    pages.y += 4
    pages.fields(report.results)
    for text in report.advice:
        pages.y += 5
        pages.paragraph(f"→ {text}")
    for chart in report.charts:
        chart_on(pages, chart)
