"""The pages of a PDF: margins, foot, paragraphs and fields; all lengths are points."""

from collections.abc import Mapping, Sequence
from types import MethodType
from typing import Any, Literal

from fpdf import FPDF
from fpdf.enums import MethodReturnValue

from forms.exporters.pdf_look import GREY, INK, LINE, TEXT
from forms.exporters.pdf_tables import lines_of
from forms.layout import control_pictures, cut, visible
from forms.report import Field

_MARGIN = 33.0
"""Half an inch, less what a line takes: a form with all that may stand on it keeps to one page, on Letter too."""
_FOOT = 10.0
"""Height of the foot."""

# Of the names of fields.
_NAME_WIDTH = 110.0
_MOST_NAME_WIDTH = 180.0
_NAME_GAP = 8.0
_LONGEST_NAME = 160
"""Characters of a name that are kept."""

_PAGES = 6 * "\x01"
"""Stands for the number of pages; text from outside has no control characters here."""

_LINE_END = 12.0
"""Room that a paragraph leaves on its right."""

_WHOLE_LINES = 4
"""A paragraph of up to as many lines is not parted by a page's end."""

_SIZE = 9.0
"""Of letters, in points, as all lengths here."""

_ROUNDING = 0.01
"""Points by which fpdf2 may compute another width of a text."""
_CELL_OF_TABLE = MethodReturnValue.PAGE_BREAK | MethodReturnValue.HEIGHT
"""What fpdf2 asks ``multi_cell`` to return for a cell of a table, and for nothing else."""
_LEADING = 1.35
"""Height of a line, in heights of a letter."""

_BY_HAND = 2.2
"""Height of a line that is filled in by hand, in heights of a letter."""


class Pages(FPDF):
    """The pages of a document: ``paragraph`` and ``fields`` write on them, at ``y``, and begin new ones as needed.

    fpdf2 itself calls ``header`` at the begin of each page, and ``multi_cell`` for each cell of a table: the latter
    twice, first to learn its height (then ``_out`` is replaced, and nothing is written), then to write it.
    """

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
        """Write text in a box, as fpdf2 does, but soft hyphens are printed, and no line breaks at them.

        A cell of one line of plain text, as most of a table are, is written directly, which is much faster.
        """
        if options.get("output") == _CELL_OF_TABLE and self._is_one_line(options):
            padding = options["padding"]
            height = options["h"]
            x = self.x
            y = self.y
            # So fpdf2 itself tells whether it writes or only measures.
            if isinstance(self._out, MethodType):
                self.set_xy(x + padding.left, y + padding.top)
                self.cell(options["w"] - padding.left - padding.right, height, options["text"], align=options["align"])
                self.set_xy(x + options["w"], y)
            return False, height + padding.top + padding.bottom

        options["print_sh"] = True
        return super().multi_cell(*args, **options)

    def _is_one_line(self, options: Mapping[str, Any]) -> bool:
        """Whether a cell's text is plain and surely fits into one line."""
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
        """Write a text at the page's width; a short one stays on one page."""
        self.set_font(TEXT, "B" if bold else "", size)
        self.set_text_color(GREY if grey else INK)
        text = control_pictures(text).replace("\t", "    ")
        lines = lines_of(self, text, self.epw - _LINE_END)
        if len(lines) <= _WHOLE_LINES and self.y + len(lines) * size * _LEADING > self.page_break_trigger:
            self.add_page()
        self.multi_cell(self.epw - _LINE_END, size * _LEADING, text, align="L", new_x="LMARGIN")

    def fields(self, fields: Sequence[Field], *, by_hand: bool = False) -> None:
        """Write fields, a name and a text each; ``by_hand``: with lines to be filled in."""
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
            self.set_font(TEXT, "B" if field.is_answer else "", _SIZE)
            self.multi_cell(0, height, text, align="L", new_x="LMARGIN", new_y="NEXT")
            self.set_font(TEXT, "", _SIZE)

            if self.page_no() == page:
                self.y = max(self.y, below_name)
            if by_hand:
                self.line(self.l_margin + name_width, self.y, self.w - self.r_margin, self.y)
