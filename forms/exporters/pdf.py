"""Forms as PDF on A4 or Letter: each form starts a page, long tables repeat their headings."""

import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from itertools import chain, zip_longest
from pathlib import Path
from shutil import which
from types import MethodType
from typing import Any, Literal, cast

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont, TTLibError
from fpdf import FPDF
from fpdf.enums import MethodReturnValue, TableBordersLayout, TableBorderStyle, TableCellStyle, VAlign
from fpdf.fonts import FontFace, TTFFont
from pymupdf_fonts import myfont

from forms.exporters.drawing import HEIGHT, LEAST_HEIGHT, WIDTH, ChartText, Shape, Stroke, drawing
from forms.layout import control_pictures, cut, visible
from forms.report import SIGNS, Chart, Field, Mark, Report, ReportKind, Role, Row, Table, cell_text, remarks
from storage.programs import run_program

TEXT = "text"
_FILES = {"": "figo", "B": "figbo"}
_SYMBOLS = "symbol2"
_UNITS = 1000
_REORDERED = frozenset({"R", "AL", "AN", "NSM"})
"""Directions that need bidirectional order or mark placement (Unicode Standard Annex 9)."""
_MOST_ASKED = 12
_PATIENCE_SECONDS = 5.0
_LAYOUT_TABLES = frozenset({"GDEF", "GPOS", "GSUB"})
"""Unused in a PDF, and reading them takes half the time."""


def add_fonts(pdf: FPDF, folder: Path, texts: Iterable[str]) -> None:
    """Our font, and others for the characters that it lacks."""
    characters = {character for character in chain.from_iterable(texts) if character >= " "}
    missing = {ord(character) for character in characters}
    for style, name in _FILES.items():
        content, covered = _font(name)
        missing -= covered
        _add(pdf, TEXT, style, _font_file(folder, name, content))

    others = [*_other_fonts(missing, folder)] if missing else []
    for number, (file, index) in enumerate(others):
        for style in _FILES:
            _add(pdf, f"other{number}", style, file, index)
    pdf.set_fallback_fonts([f"other{number}" for number in range(len(others))], exact_match=False)

    if missing or any(unicodedata.bidirectional(character) in _REORDERED for character in characters):
        pdf.set_text_shaping(True)


@cache
def _font(name: str) -> tuple[bytes, frozenset[int]]:
    content: bytes = myfont(name)
    return content, frozenset(TTFont(BytesIO(content), lazy=True).getBestCmap())


def _font_file(folder: Path, name: str, content: bytes) -> Path:
    file = folder / f"{name}.ttf"
    file.write_bytes(content)
    return file


def _add(pdf: FPDF, family: str, style: str, file: Path, index: int = 0) -> None:
    pdf.add_font(family, style, file, collection_font_number=index)
    font = pdf.fonts[f"{family}{style}"]
    assert isinstance(font, TTFFont)
    for table in _LAYOUT_TABLES.intersection(font.ttfont.keys()):
        del font.ttfont[table]


def _other_fonts(missing: Iterable[int], folder: Path) -> Iterator[tuple[Path, int]]:
    """(file, number in it) of Noto's symbols, of the system's fonts, and of boxes for what none of these has."""
    uncovered = set(missing)
    symbols, symbol_codes = _font(_SYMBOLS)
    if uncovered & symbol_codes:
        yield _font_file(folder, _SYMBOLS, symbols), 0
    uncovered -= symbol_codes

    for code in sorted(uncovered)[:_MOST_ASKED]:
        font = _system_font(code) if code in uncovered else None
        if font is None:
            continue
        with suppress(OSError, TTLibError):
            file, number = font
            codes = TTFont(file, fontNumber=number, lazy=True).getBestCmap() or {}
            covered = uncovered & codes.keys()
            if covered:
                uncovered -= covered
                yield font
    if uncovered:
        yield _font_file(folder, "boxes", boxes(uncovered)), 0


_BOX = (((80, 0), (80, 700), (920, 700), (920, 0)), ((130, 50), (870, 50), (870, 650), (130, 650)))
"""Its outline, and the hole in it the other way round."""


def boxes(codes: Iterable[int]) -> bytes:
    """A TrueType font that draws each of these characters as a box, and blanks as nothing."""
    # HarfBuzz puts the blank in place of a character that is not to be seen, such as a selector of variations. Without
    # one it drops the character, and fpdf2 fails on a line of which nothing is left.
    names = {code: f"u{code:05X}" for code in sorted({ord(" "), *codes})}

    pen = TTGlyphPen(None)
    for corners in _BOX:
        pen.moveTo(corners[0])
        for corner in corners[1:]:
            pen.lineTo(corner)
        pen.closePath()
    box = pen.glyph()
    blank = TTGlyphPen(None).glyph()

    builder = FontBuilder(_UNITS, isTTF=True)
    builder.setupGlyphOrder([".notdef", *names.values()])
    builder.setupCharacterMap(names)
    glyphs = {name: blank if chr(code).isspace() else box for code, name in names.items()}
    builder.setupGlyf({".notdef": box, **glyphs})
    builder.setupHorizontalMetrics(dict.fromkeys([".notdef", *glyphs], (_UNITS, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Sharebench Boxes", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWinAscent=800, usWinDescent=200)
    builder.setupPost()

    file = BytesIO()
    builder.font.save(file)
    return file.getvalue()


def _system_font(code: int) -> tuple[Path, int] | None:
    """The file of a font of this machine that has the character, and its number in the file."""
    program = which("fc-list")
    if program is None:
        return None
    command = [program, "-f", "%{file}\t%{index}\n", f":charset={code:x}:outline=true:color=false"]
    with suppress(OSError):
        fonts = run_program(command, seconds=_PATIENCE_SECONDS).text.splitlines()
        for line in sorted(fonts, key=_oddness):
            file, _, index = line.partition("\t")
            if index.isdigit():
                # The upper half numbers the variations of a variable font.
                return Path(file), int(index) & 0xFFFF
    return None


def _oddness(line: str) -> tuple[bool, bool, str]:
    return "Regular" not in line, "Bold" in line, line


INK = (27, 27, 27)
GREY = (89, 89, 89)
LINE = (138, 138, 138)
WARN = (143, 29, 29)
_COLOURS = {Mark.REJECTED: WARN, Mark.RESTORED: WARN, Mark.FAILED: WARN, Mark.WARM_UP: GREY}
_SIZES = (9.0, 8.0, 7.0, 6.0)
_TABLE_LEADING = 1.25
# Above and below the text of a row, in heights of a letter.
_WIDE_SPACE = 0.3
_NARROW_SPACE = 0.12
_PADDING = 5.0
_BY_HAND_HEIGHT = 26.0
_LEAST_TEXT = 60.0
# From this size down, texts of that width are wrapped before letters become smaller.
_WRAPPED_FROM = 8.0
_WRAPPED_TEXT = 95.0
_NARROW_TEXT = 190.0
_MOST_LINES = 40
_HEADING_CELLS = 120


class _Rules(TableBordersLayout):
    def __init__(self, starts: set[int]) -> None:
        self.starts = starts

    def cell_style_getter(self, row_idx: int, *_: int, **_places: int) -> TableCellStyle:
        thick = TableBorderStyle(1.2, INK)
        top = thick if row_idx in self.starts else row_idx == 0
        return TableCellStyle(left=True, right=True, top=top, bottom=True if row_idx else thick)


def table_on(pdf: FPDF, table: Table, *, blank: bool = False) -> None:
    """Draw the table at the page's width in the largest size that fits; rows stay whole."""
    texts = [_row_texts(table, row) for row in table.rows]
    size, widths = _fit_columns(pdf, table, texts)
    rows: list[tuple[Row, tuple[str, ...]]] = []
    for row, row_texts in zip(table.rows, texts, strict=True):
        rows += [(row, part) for part in _parts(pdf, row_texts, widths)]

    roles = [row.role for row, _ in rows]
    starts = {index + 1 for index in range(1, len(roles)) if roles[index] is not roles[index - 1]}
    pdf.set_font(TEXT, "", size)
    pdf.set_text_color(INK)
    with pdf.table(
        borders_layout=_Rules(starts),
        col_widths=widths,
        line_height=size * _TABLE_LEADING,
        min_row_height=_BY_HAND_HEIGHT if blank else None,
        padding=(size * _between_rows(pdf, size, len(rows)), _PADDING),
        text_align=tuple("LEFT" if column.kind is ReportKind.TEXT else "RIGHT" for column in table.columns),
        v_align=VAlign.T,
    ) as page_table:
        page_table.row([cut(visible(column.heading), _HEADING_CELLS) for column in table.columns])
        for row, part in rows:
            is_bold = row.role is Role.RESULT or row.mark in {Mark.UNUSUAL, Mark.BOTTLENECK}
            emphasis = ("B" if is_bold else "") + ("S" if row.struck else "")
            line = page_table.row(style=FontFace(emphasis=emphasis, color=_COLOURS.get(row.mark, INK)))
            if row.role is Role.HEADING:
                line.cell(part[0], colspan=len(widths))
            else:
                for text in part:
                    line.cell(text)


def _between_rows(pdf: FPDF, size: float, rows: int) -> float:
    """The narrow space only where it saves a page."""
    room = pdf.page_break_trigger - pdf.y
    wide = size * (_TABLE_LEADING + 2 * _WIDE_SPACE) * (rows + 1)
    narrow = size * (_TABLE_LEADING + 2 * _NARROW_SPACE) * (rows + 1)
    return _NARROW_SPACE if narrow <= room < wide else _WIDE_SPACE


def _row_texts(table: Table, row: Row) -> list[str]:
    cells = [cell_text(cell, column.kind) for cell, column in table.cells(row)]
    texts = [control_pictures(text).replace("\t", " ") for text in cells]
    if row.mark in SIGNS:
        texts[0] = f"{SIGNS[row.mark]} {texts[0]}"
    return texts


def lines_of(pdf: FPDF, text: str, width: float) -> list[str]:
    return cast("list[str]", pdf.multi_cell(width, text=text, align="L", dry_run=True, output="LINES"))


def _parts(pdf: FPDF, texts: Sequence[str], widths: Sequence[float]) -> Iterator[tuple[str, ...]]:
    """A row in parts that a page has room for."""
    columns = []
    for text, width in zip(texts, widths, strict=True):
        parts = [text]
        if len(text) > _MOST_LINES:
            lines = lines_of(pdf, text, width - 2 * _PADDING)
            if len(lines) > _MOST_LINES:
                starts = range(0, len(lines), _MOST_LINES)
                parts = ["\n".join(lines[start : start + _MOST_LINES]) for start in starts]
        columns.append(parts)
    yield from zip_longest(*columns, fillvalue="")


def _fit_columns(pdf: FPDF, table: Table, texts: Sequence[Sequence[str]]) -> tuple[float, list[float]]:
    """The size of letters, and the widths of columns, which take all of the page's width."""
    columns = range(len(table.columns))
    text_columns: Sequence[int] = [index for index in columns if table.columns[index].kind is ReportKind.TEXT]
    text_columns = text_columns or columns
    size = _SIZES[0]
    widths = [0.0]
    for size in _SIZES[:1] if table.sentences else _SIZES:
        pdf.set_font(TEXT, "B", size)
        natural = [_width(pdf, table, texts, index) for index in columns]
        widest = _widest_text(natural, text_columns, pdf.epw)
        widths = [min(width, widest) if index in text_columns else width for index, width in enumerate(natural)]
        if sum(natural) <= pdf.epw or (size <= _WRAPPED_FROM and widest >= _WRAPPED_TEXT):
            break

    # What is too much is taken from wide columns first; what is free goes to all alike.
    excess = sum(widths) - pdf.epw
    return size, [width - max(excess, 0.0) * width / sum(widths) - min(excess, 0.0) / len(widths) for width in widths]


def _widest_text(widths: Sequence[float], text_columns: Sequence[int], room: float) -> float:
    """How wide columns of text may be, if each takes no more than it needs."""
    room -= sum(width for index, width in enumerate(widths) if index not in text_columns)
    text_widths = sorted(widths[index] for index in text_columns)
    for place, width in enumerate(text_widths):
        share = room / (len(text_widths) - place)
        if width > share:
            return max(share, _LEAST_TEXT)
        room -= width
    return max(text_widths)


def _width(pdf: FPDF, table: Table, texts: Sequence[Sequence[str]], index: int) -> float:
    column = table.columns[index]
    entries = [
        row_texts[index] for row_texts, row in zip(texts, table.rows, strict=True) if row.role is not Role.HEADING
    ]
    # Measuring takes time, and the widest is among those of the most letters.
    longest = sorted(dict.fromkeys(entries), key=len)[-24:]
    widest = max(map(pdf.get_string_width, longest), default=0.0)
    if column.kind is ReportKind.TEXT:
        widest = min(widest, _NARROW_TEXT)
    return max(widest, *map(pdf.get_string_width, column.heading.split(" "))) + 2 * _PADDING


_BAR = (47, 95, 152)
_BAND = (223, 231, 241)
_LEVEL = (163, 63, 0)
_PAPER = (255, 255, 255)
_LETTER = 11.0
_ABOVE_FOOT = 5.0
_STROKES = {
    "grid": (LINE, 0.25),
    "mean": (_LEVEL, 1.2),
    "reference": (INK, 1.0),
    "curve": (_BAR, 1.2),
    "casing": (_PAPER, 2.6),
    "whisker": (INK, 0.9),
}


def chart_on(pdf: FPDF, chart: Chart) -> None:
    """Draw the chart whole on this page if it can be made low enough, else on the next."""
    pdf.y += 10
    scale = pdf.epw / WIDTH
    height = min(HEIGHT, (pdf.page_break_trigger - pdf.y) / scale - _ABOVE_FOOT)
    if height < LEAST_HEIGHT:
        height = HEIGHT
        pdf.add_page()

    x = pdf.l_margin
    y = pdf.y
    with pdf.local_context():
        for shape in drawing(chart, height).shapes:
            _draw_shape(pdf, shape, x, y, scale)
    pdf.set_xy(x, y + height * scale)


def _draw_shape(pdf: FPDF, shape: Shape, x: float, y: float, scale: float) -> None:
    if isinstance(shape, ChartText):
        _draw_text(pdf, shape, x + shape.x * scale, y + shape.y * scale, scale)
    elif isinstance(shape, Stroke):
        colour, width = _STROKES[shape.look]
        pdf.set_draw_color(colour)
        pdf.set_line_width(width)
        if shape.look == "reference":
            pdf.set_dash_pattern(dash=4, gap=2)
        pdf.line(x + shape.x1 * scale, y + shape.y1 * scale, x + shape.x2 * scale, y + shape.y2 * scale)
        pdf.set_dash_pattern()
    else:
        _draw_box(pdf, shape.look, x + shape.x * scale, y + shape.y * scale, shape.width * scale, shape.height * scale)


def _draw_text(pdf: FPDF, shape: ChartText, x: float, y: float, scale: float) -> None:
    size = _LETTER * scale
    pdf.set_font(TEXT, "B" if shape.look else "", size)
    pdf.set_text_color(INK)
    pdf.set_fill_color(_PAPER)
    text = visible(shape.text)
    width = pdf.get_string_width(text)
    left = x - {"end": width, "middle": width / 2}.get(shape.anchor, 0)
    if shape.look == "sign":
        pdf.set_draw_color(_PAPER)
        pdf.rect(left - 1, y - size * 0.8, width + 2, size, style="DF")
    pdf.set_xy(left, y - size * 0.8)
    pdf.cell(width, size, text)


def _draw_box(pdf: FPDF, look: str, x: float, y: float, width: float, height: float) -> None:
    if look == "frame":
        pdf.set_draw_color(INK)
        pdf.set_line_width(0.8)
        pdf.rect(x, y, width, height)
        return

    fill, edge = _BOX_COLOURS.get(look, (_BAR, _BAR))
    pdf.set_fill_color(fill)
    pdf.set_draw_color(edge)
    pdf.set_line_width(1.2 if look == "unusual" else 0.6)
    pdf.rect(x, y, width, height, style="DF")
    if look == "rejected":
        _hatch(pdf, x, y, width, height)


_BOX_COLOURS = {
    "band": (_BAND, _BAND),
    "rejected": (_PAPER, WARN),
    "unusual": (_PAPER, _BAR),
    "least": (_LEVEL, _LEVEL),
}
"""Of the inside and of the edge."""
_HATCH_STEP = 4.0


def _hatch(pdf: FPDF, x: float, y: float, width: float, height: float) -> None:
    offset = _HATCH_STEP
    while offset < width + height:
        start_x = x + max(0.0, offset - height)
        start_y = y + min(offset, height)
        pdf.line(start_x, start_y, x + min(offset, width), y + max(0.0, offset - width))
        offset += _HATCH_STEP


_MARGIN = 42.0
_FOOT = 10.0
_NAME_WIDTH = 110.0
_MOST_NAME_WIDTH = 180.0
_NAME_GAP = 8.0
_LONGEST_NAME = 160
_PAGES = 6 * "\x01"
"""Stands for the number of pages; text from outside has no control characters here."""
_LINE_END = 12.0
_WHOLE_LINES = 4
_TABLE_BEGIN = 75.0
_SIZE = 9.0
_ROUNDING = 0.01
_OF_CELL = MethodReturnValue.PAGE_BREAK | MethodReturnValue.HEIGHT
_LEADING = 1.35
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
