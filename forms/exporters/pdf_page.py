"""The pages of a PDF document: a place that moves down, text in any script, lines, and a chart."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from fpdf import FPDF

from forms.exporters import pdf_fonts
from forms.exporters.drawing import HEIGHT, WIDTH, Box, ChartText, Shape, Stroke, drawing
from forms.layout import control_pictures
from forms.report import SIGNS, Chart, Row

INK, GREY, LINE, WARN = (27, 27, 27), (89, 89, 89), (138, 138, 138), (143, 29, 29)
_BAR, _BAND, _LEVEL, _PAPER = (47, 95, 152), (223, 231, 241), (163, 63, 0), (255, 255, 255)
_MARGIN = 42.0
_LEADING = 1.35
_CHART_WIDTH, _LEAST_CHART_WIDTH = 400.0, 270.0

Colour = tuple[int, int, int]


class Pages:
    """A document in points; ``y`` is the top of what comes next on the page."""

    def __init__(self, paper: str, folder: Path, texts: Sequence[str]) -> None:
        self._pdf = FPDF(format=paper, unit="pt")
        self._pdf.set_auto_page_break(False)
        self._pdf.c_margin = 0
        texts = [control_pictures(text) for text in texts]
        self._covered = pdf_fonts.add_fonts(self._pdf, folder, texts)
        self._font: tuple[str, float] | None = None
        self._title = ""
        self.left, self.right = _MARGIN, self._pdf.w - _MARGIN
        self.y = 0.0

    @property
    def width(self) -> float:
        """What is between the margins."""
        return self.right - self.left

    @property
    def bottom(self) -> float:
        """Where the page ends for what is printed on it."""
        return self._pdf.h - _MARGIN - 10

    def describe(self, title: str, made: datetime) -> None:
        """What the document says of itself."""
        self._pdf.set_title(control_pictures(title).encode(errors="replace").decode())
        self._pdf.set_lang("en")
        self._pdf.set_producer("sharebench")
        self._pdf.set_creation_date(made)

    def content(self) -> bytes:
        """The finished document."""
        return bytes(self._pdf.output())

    def new(self, title: str | None = None) -> None:
        """A new page, its number and the form's title at its foot."""
        self._pdf.add_page()
        self._title = self._title if title is None else title
        self._font = None
        foot = self._pdf.h - _MARGIN
        self.text(self.left, foot, self.shortened(self._title, self.width - 60, 7), size=7, colour=GREY)
        self.text(self.right, foot, f"page {self._pdf.page_no()}", size=7, colour=GREY, right=True)
        self.y = _MARGIN

    def gap(self, points: float) -> None:
        """Space left free."""
        self.y += points

    def make_space(self, points: float) -> bool:
        """Whether that much is left on the page; if not, a new page is begun."""
        if self.y + points <= self.bottom:
            return True
        self.new()
        return False

    def text_width(self, text: str, size: float, *, bold: bool = False) -> float:
        """How wide a one-line text is drawn."""
        self._set_font(size, bold=bold)
        return float(self._pdf.get_string_width(text))

    def _set_font(self, size: float, *, bold: bool) -> None:
        if self._font != ("B" if bold else "", size):
            self._font = ("B" if bold else "", size)
            self._pdf.set_font(pdf_fonts.TEXT, self._font[0], size)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float,
        bold: bool = False,
        colour: Colour = INK,
        right: bool = False,
        middle: bool = False,
    ) -> None:
        """A one-line text on its baseline: from x on, up to x, or around x.

        The library loses the font of the page where text and fill colours differ, and after text in other fonts.
        """
        if not text:
            return
        self._set_font(size, bold=bold)
        self._pdf.set_text_color(*colour)
        self._pdf.set_fill_color(*colour)
        plain = pdf_fonts.is_plain(text, self._covered)
        if not plain:
            self._pdf.set_text_shaping(True)
        width = float(self._pdf.get_string_width(text)) if right or middle or not plain else 0.0
        x -= width if right else width / 2 if middle else 0
        if plain:
            self._pdf.text(x, y, text)
        else:
            self._pdf.set_xy(x, y - size * 0.95)
            self._pdf.cell(w=width + 1, h=size * 1.2, text=text)
            self._pdf.set_text_shaping(False)
            self._pdf.current_font_is_set_on_page = False

    def wrapped(self, text: str, limit: float, size: float, *, bold: bool = False) -> list[str]:
        """A text's lines, each no wider than the limit."""
        return [part for line in _spaced(text).split("\n") for part in self._wrapped(line, limit, size, bold)]

    def _wrapped(self, text: str, limit: float, size: float, bold: bool) -> list[str]:
        if self.text_width(text, size, bold=bold) <= limit:
            return [text]
        lines, line = [], ""
        for word in text.split(" "):
            joined = f"{line} {word}" if line else word
            if self.text_width(joined, size, bold=bold) <= limit:
                line = joined
                continue
            lines += [line] if line else []
            line = word
            while len(line) > 1 and not self._fits(line, limit, size, bold):
                fits = self._fitting(line, limit, size, bold)
                lines.append(line[:fits])
                line = line[fits:]
        return [*lines, line]

    def _fitting(self, text: str, limit: float, size: float, bold: bool) -> int:
        """How many of a text's characters fit; at least one."""
        low, high = 1, min(len(text), 4 + int(limit / size * 8))
        while low < high:
            middle = (low + high + 1) // 2
            if self._fits(text[:middle], limit, size, bold):
                low = middle
            else:
                high = middle - 1
        return low

    def _fits(self, text: str, limit: float, size: float, bold: bool) -> bool:
        return self.text_width(text, size, bold=bold) <= limit

    def shortened(self, text: str, limit: float, size: float) -> str:
        """A text's first line, cut where it does not fit."""
        line, *more = self.wrapped(text, limit - 10, size)
        return f"{line} …" if more else line

    def paragraph(self, text: str, *, size: float, bold: bool = False, grey: bool = False, indent: float = 0) -> None:
        """A text over the page's width; lines after the first are indented."""
        for index, line in enumerate(self.wrapped(text, self.width - indent, size, bold=bold)):
            self.make_space(size * _LEADING)
            x = self.left + (indent if index else 0)
            self.text(x, self.y + size, line, size=size, bold=bold, colour=GREY if grey else INK)
            self.y += size * _LEADING

    def named(self, name: str, text: str, name_width: float, *, size: float, line_below: bool = False) -> None:
        """A text beside its name, with a line to write on where it is to be filled by hand."""
        names = self.wrapped(name, name_width - 8, size)
        lines = self.wrapped(text, self.width - name_width, size)
        height = size * (2.2 if line_below else _LEADING)
        for index in range(max(len(names), len(lines))):
            self.make_space(height)
            base = self.y + height - size * 0.35
            if index < len(names):
                self.text(self.left, base, names[index], size=size, colour=GREY)
            if index < len(lines):
                self.text(self.left + name_width, base, lines[index], size=size)
            self.y += height
        if line_below:
            self.line(self.left + name_width, self.y, self.right, self.y)

    def line(self, x1: float, y1: float, x2: float, y2: float, *, width: float = 0.5, colour: Colour = LINE) -> None:
        """A straight line."""
        self._pdf.set_draw_color(*colour)
        self._pdf.set_line_width(width)
        self._pdf.line(x1, y1, x2, y2)

    @staticmethod
    def sign(row: Row) -> str:
        """What marks a row where there is no room for a word."""
        return SIGNS.get(row.mark, " ")

    def chart(self, chart: Chart) -> None:
        """The chart, whole on one page: this one if it can be made to fit, else the next."""
        self.gap(10)
        scale = min(_CHART_WIDTH / WIDTH, (self.bottom - self.y) / HEIGHT)
        if scale < _LEAST_CHART_WIDTH / WIDTH:
            scale = _CHART_WIDTH / WIDTH
            self.new()
        for shape in drawing(chart).shapes:
            self._draw(shape, scale)
        self.y += HEIGHT * scale

    def _draw(self, shape: Shape, scale: float) -> None:
        x0, y0 = self.left, self.y
        if isinstance(shape, ChartText):
            self.text(
                x0 + shape.x * scale,
                y0 + shape.y * scale,
                shape.text,
                size=9 if shape.look else 7,
                bold=bool(shape.look),
                right=shape.anchor == "end",
                middle=shape.anchor == "middle",
            )
        elif isinstance(shape, Stroke):
            colour, width = {"grid": (LINE, 0.25), "level0": (_LEVEL, 1.2)}.get(shape.look, (INK, 1.0))
            if shape.look == "level1":
                self._pdf.set_dash_pattern(dash=4, gap=2)
            ends = (x0 + shape.x1 * scale, y0 + shape.y1 * scale, x0 + shape.x2 * scale, y0 + shape.y2 * scale)
            self.line(*ends, width=width, colour=colour)
            self._pdf.set_dash_pattern()
        else:
            self._box(shape, scale)

    def _box(self, box: Box, scale: float) -> None:
        place = (self.left + box.x * scale, self.y + box.y * scale, box.width * scale, box.height * scale)
        fill, edge = {
            "band": (_BAND, _BAND),
            "rejected": (_PAPER, WARN),
            "unusual": (_PAPER, _BAR),
            "least": (_LEVEL, _LEVEL),
        }.get(box.look, (_BAR, _BAR))
        self._pdf.set_fill_color(*fill)
        self._pdf.set_draw_color(*edge)
        self._pdf.set_line_width(1.2 if box.look == "unusual" else 0.6)
        self._pdf.rect(*place, style="DF")
        if box.look == "rejected":
            self._hatch(*place)

    def _hatch(self, x: float, y: float, width: float, height: float) -> None:
        """Slanted lines over a rectangle, cut at its edges."""
        step, offset = 4.0, 4.0
        while offset < width + height:
            start = (x + max(0.0, offset - height), y + min(offset, height))
            end = (x + min(offset, width), y + max(0.0, offset - width))
            self.line(*start, *end, width=0.6, colour=WARN)
            offset += step


def _spaced(text: str) -> str:
    """Text for a page: control characters as pictures, tabs as spaces."""
    return control_pictures(text).replace("\t", "    ")
