"""Forms as PDF on A4 or Letter: each form starts a page, long tables repeat their headings."""

import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from itertools import zip_longest
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
    used = {character for text in texts for character in text if character >= " "}
    missing = {ord(character) for character in used}
    for style, name in _FILES.items():
        content, covered = _font(name)
        missing -= covered
        _add(pdf, TEXT, style, _written(folder, name, content))
    others = [*_other_fonts(missing, folder)] if missing else []
    for number, (file, index) in enumerate(others):
        for style in _FILES:
            _add(pdf, f"other{number}", style, file, index)
    pdf.set_fallback_fonts([f"other{number}" for number in range(len(others))], exact_match=False)
    if missing or any(unicodedata.bidirectional(character) in _REORDERED for character in used):
        pdf.set_text_shaping(True)


@cache
def _font(name: str) -> tuple[bytes, frozenset[int]]:
    content: bytes = myfont(name)
    return content, frozenset(TTFont(BytesIO(content), lazy=True).getBestCmap())


def _written(folder: Path, name: str, content: bytes) -> Path:
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
    left, (symbols, covered) = set(missing), _font(_SYMBOLS)
    if left & covered:
        yield _written(folder, _SYMBOLS, symbols), 0
    left -= covered
    for code in sorted(left)[:_MOST_ASKED]:
        if code in left and (place := _system_font(code)):
            with suppress(OSError, TTLibError):
                found = left & (TTFont(place[0], fontNumber=place[1], lazy=True).getBestCmap() or {}).keys()
                if found:
                    left.difference_update(found)
                    yield place
    if left:
        yield _written(folder, "boxes", boxes(left)), 0


def boxes(codes: Iterable[int]) -> bytes:
    """A TrueType font that draws each of these characters as a box, and blanks as nothing."""
    # HarfBuzz puts the blank in place of a character that is not to be seen, such as a selector of variations. Without
    # one it drops the character, and fpdf2 fails on a line of which nothing is left.
    names = {code: f"u{code:05X}" for code in sorted({ord(" "), *codes})}
    box, empty = TTGlyphPen(None), TTGlyphPen(None).glyph()
    for corners in (((80, 0), (80, 700), (920, 700), (920, 0)), ((130, 50), (870, 50), (870, 650), (130, 650))):
        box.moveTo(corners[0])
        for corner in corners[1:]:
            box.lineTo(corner)
        box.closePath()
    drawn = box.glyph()
    builder = FontBuilder(_UNITS, isTTF=True)
    builder.setupGlyphOrder([".notdef", *names.values()])
    builder.setupCharacterMap(names)
    glyphs = {name: empty if chr(code).isspace() else drawn for code, name in names.items()}
    builder.setupGlyf({".notdef": drawn, **glyphs})
    builder.setupHorizontalMetrics(dict.fromkeys([".notdef", *glyphs], (_UNITS, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Sharebench Boxes", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    file = BytesIO()
    builder.font.save(file)
    return file.getvalue()


def _system_font(code: int) -> tuple[Path, int] | None:
    if (program := which("fc-list")) is None:
        return None
    asked = [program, "-f", "%{file}\t%{index}\n", f":charset={code:x}:outline=true:color=false"]
    with suppress(OSError):
        listed = run_program(asked, seconds=_PATIENCE_SECONDS).text
        for line in sorted(listed.splitlines(), key=lambda line: ("Regular" not in line, "Bold" in line, line)):
            file, _, index = line.partition("\t")
            if index.isdigit():
                return Path(file), int(index) & 0xFFFF
    return None


INK, GREY, LINE, WARN = (27, 27, 27), (89, 89, 89), (138, 138, 138), (143, 29, 29)
_COLOURS = {Mark.REJECTED: WARN, Mark.RESTORED: WARN, Mark.FAILED: WARN, Mark.WARM_UP: GREY}
_SIZES = (9.0, 8.0, 7.0, 6.0)
_TABLE_LEADING, _SPACES = 1.25, (0.3, 0.12)
_PADDING = 5.0
_BY_HAND_HEIGHT = 26.0
_LEAST_TEXT = 60.0
_WRAPPED_FROM, _WRAPPED_TEXT = 8.0, 95.0
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
    size, widths = _fitted(pdf, table, texts)
    rows = [(row, part) for row, full in zip(table.rows, texts, strict=True) for part in _parts(pdf, full, widths)]
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
    ) as drawn:
        drawn.row([cut(visible(column.heading), _HEADING_CELLS) for column in table.columns])
        for row, part in rows:
            bold = row.role is Role.RESULT or row.mark in {Mark.UNUSUAL, Mark.BOTTLENECK}
            emphasis = ("B" if bold else "") + ("S" if row.struck else "")
            line = drawn.row(style=FontFace(emphasis=emphasis, color=_COLOURS.get(row.mark, INK)))
            if row.role is Role.HEADING:
                line.cell(part[0], colspan=len(widths))
            else:
                for text in part:
                    line.cell(text)


def _between_rows(pdf: FPDF, size: float, rows: int) -> float:
    room = pdf.page_break_trigger - pdf.y
    wide, narrow = (size * (_TABLE_LEADING + 2 * space) * (rows + 1) for space in _SPACES)
    return _SPACES[1] if narrow <= room < wide else _SPACES[0]


def _row_texts(table: Table, row: Row) -> list[str]:
    texts = [control_pictures(cell_text(c, column.kind)).replace("\t", " ") for c, column in table.cells(row)]
    if row.mark in SIGNS:
        texts[0] = f"{SIGNS[row.mark]} {texts[0]}"
    return texts


def lines_of(pdf: FPDF, text: str, width: float) -> list[str]:
    return cast("list[str]", pdf.multi_cell(width, text=text, align="L", dry_run=True, output="LINES"))


def _parts(pdf: FPDF, texts: Sequence[str], widths: Sequence[float]) -> Iterator[tuple[str, ...]]:
    columns = []
    for text, width in zip(texts, widths, strict=True):
        parts = [text]
        if len(text) > _MOST_LINES:
            lines = lines_of(pdf, text, width - 2 * _PADDING)
            if len(lines) > _MOST_LINES:
                parts = ["\n".join(lines[at : at + _MOST_LINES]) for at in range(0, len(lines), _MOST_LINES)]
        columns.append(parts)
    yield from zip_longest(*columns, fillvalue="")


def _fitted(pdf: FPDF, table: Table, texts: Sequence[Sequence[str]]) -> tuple[float, list[float]]:
    names = [i for i, column in enumerate(table.columns) if column.kind is ReportKind.TEXT] or range(len(table.columns))
    size, widths = _SIZES[0], [0.0]
    for size in _SIZES[:1] if table.sentences else _SIZES:
        pdf.set_font(TEXT, "B", size)
        natural = [_width(pdf, table, texts, index) for index in range(len(table.columns))]
        widest = _widest_text(natural, names, pdf.epw)
        widths = [min(width, widest) if index in names else width for index, width in enumerate(natural)]
        if sum(natural) <= pdf.epw or (size <= _WRAPPED_FROM and widest >= _WRAPPED_TEXT):
            break
    over = sum(widths) - pdf.epw
    return size, [width - max(over, 0.0) * width / sum(widths) - min(over, 0.0) / len(widths) for width in widths]


def _widest_text(widths: Sequence[float], names: Sequence[int], room: float) -> float:
    left = room - sum(width for index, width in enumerate(widths) if index not in names)
    texts = sorted(widths[index] for index in names)
    for place, width in enumerate(texts):
        share = left / (len(texts) - place)
        if width > share:
            return max(share, _LEAST_TEXT)
        left -= width
    return max(texts)


def _width(pdf: FPDF, table: Table, texts: Sequence[Sequence[str]], index: int) -> float:
    column = table.columns[index]
    entries = [row[index] for row, full in zip(texts, table.rows, strict=True) if full.role is not Role.HEADING]
    widest = max((pdf.get_string_width(text) for text in sorted(dict.fromkeys(entries), key=len)[-24:]), default=0.0)
    if column.kind is ReportKind.TEXT:
        widest = min(widest, _NARROW_TEXT)
    return max(widest, *(pdf.get_string_width(word) for word in column.heading.split(" "))) + 2 * _PADDING


_BAR, _BAND, _LEVEL, _PAPER = (47, 95, 152), (223, 231, 241), (163, 63, 0), (255, 255, 255)
_LETTER, _ABOVE_FOOT = 11.0, 5.0


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
    x, y = pdf.l_margin, pdf.y
    with pdf.local_context():
        for shape in drawing(chart, height).shapes:
            _shape(pdf, shape, x, y, scale)
    pdf.set_xy(x, y + height * scale)


def _shape(pdf: FPDF, shape: Shape, x: float, y: float, scale: float) -> None:
    if isinstance(shape, ChartText):
        _text(pdf, shape, x + shape.x * scale, y + shape.y * scale, scale)
    elif isinstance(shape, Stroke):
        colour, width = _STROKES[shape.look]
        pdf.set_draw_color(colour)
        pdf.set_line_width(width)
        if shape.look == "reference":
            pdf.set_dash_pattern(dash=4, gap=2)
        pdf.line(x + shape.x1 * scale, y + shape.y1 * scale, x + shape.x2 * scale, y + shape.y2 * scale)
        pdf.set_dash_pattern()
    else:
        _box(pdf, shape.look, x + shape.x * scale, y + shape.y * scale, shape.width * scale, shape.height * scale)


def _text(pdf: FPDF, shape: ChartText, x: float, y: float, scale: float) -> None:
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


def _box(pdf: FPDF, look: str, x: float, y: float, width: float, height: float) -> None:
    if look == "frame":
        pdf.set_draw_color(INK)
        pdf.set_line_width(0.8)
        pdf.rect(x, y, width, height)
        return
    fill, edge = {
        "band": (_BAND, _BAND),
        "rejected": (_PAPER, WARN),
        "unusual": (_PAPER, _BAR),
        "least": (_LEVEL, _LEVEL),
    }.get(look, (_BAR, _BAR))
    pdf.set_fill_color(fill)
    pdf.set_draw_color(edge)
    pdf.set_line_width(1.2 if look == "unusual" else 0.6)
    pdf.rect(x, y, width, height, style="DF")
    if look == "rejected":
        step = offset = 4.0
        while offset < width + height:
            start = (x + max(0.0, offset - height), y + min(offset, height))
            pdf.line(*start, x + min(offset, width), y + max(0.0, offset - width))
            offset += step


_MARGIN = 42.0
_FOOT = 10.0
_NAME_WIDTH, _MOST_NAME_WIDTH, _NAME_GAP = 110.0, 180.0, 8.0
_LONGEST_NAME = 160
_PAGES = 6 * "\x01"
"""Stands for the number of pages; text from outside has no control characters here."""
_LINE_END = 12.0
_WHOLE_LINES = 4
_TABLE_BEGIN = 75.0
_SIZE = 9.0
_ROUNDING = 0.01
_OF_CELL = MethodReturnValue.PAGE_BREAK | MethodReturnValue.HEIGHT
_LEADING, _BY_HAND = 1.35, 2.2


def render(reports: Sequence[Report], *, paper: str) -> bytes:
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
        self.set_x(self.w - self.r_margin - self.get_string_width("page 88 of 88"))
        self.cell(60, _FOOT, f"page {self.page_no()} of {_PAGES}")
        self.set_xy(self.l_margin, self.t_margin)
        self.set_auto_page_break(auto=True, margin=_MARGIN + _FOOT)

    def multi_cell(self, *args: Any, **options: Any) -> Any:
        """Print soft hyphens and never break at them: a name may have them."""
        if options.get("output") == _OF_CELL and self._is_one_line(options):
            padding, height, x, y = options["padding"], options["h"], self.x, self.y
            if isinstance(self._out, MethodType):  # as fpdf2 itself tells whether it writes
                self.set_xy(x + padding.left, y + padding.top)
                self.cell(options["w"] - padding.left - padding.right, height, options["text"], align=options["align"])
                self.set_xy(x + options["w"], y)
            return False, height + padding.top + padding.bottom
        return super().multi_cell(*args, **{**options, "print_sh": True})

    def _is_one_line(self, options: Mapping[str, Any]) -> bool:
        text, padding, font = options["text"], options["padding"], self.current_font
        if self.text_shaping or font is None or not (text.isascii() and text.isprintable() and text == text.strip()):
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
        beside = min(max(_NAME_WIDTH, widest + _NAME_GAP), _MOST_NAME_WIDTH)
        height = _SIZE * (_BY_HAND if by_hand else _LEADING)
        for field in fields:
            name = lines_of(self, cut(visible(field.name), _LONGEST_NAME), beside - _NAME_GAP)
            if self.y + height * len(name) > self.page_break_trigger:
                self.add_page()
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
    above, below = (report.charts, ()) if report.chart and report.chart.is_curve else ((), report.charts)
    for chart in above:
        chart_on(pages, chart)
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
    for chart in below:
        chart_on(pages, chart)
