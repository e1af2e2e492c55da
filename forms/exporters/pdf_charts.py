"""A chart of a form on the pages of a PDF: the shapes of its drawing, one by one."""

from fpdf import FPDF

from forms.exporters.drawing import HEIGHT, LEAST_HEIGHT, WIDTH, ChartText, Shape, Stroke, drawing
from forms.exporters.pdf_look import INK, LINE, TEXT, WARN
from forms.layout import visible
from forms.report import Chart

_BAR = (47, 95, 152)
_BAND = (223, 231, 241)
_LEVEL = (163, 63, 0)
_PAPER = (255, 255, 255)
_LETTER = 11.0
"""Size of letters, in the drawing's own units."""

_ABOVE_FOOT = 5.0
"""Room that is left below a chart, in the same."""

_STROKES = {
    "grid": (LINE, 0.25),
    "mean": (_LEVEL, 1.2),
    "reference": (INK, 1.0),
    "curve": (_BAR, 1.2),
    "casing": (_PAPER, 2.6),
    "whisker": (INK, 0.9),
}
"""Colour and width of a line, by its look."""


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

    # A drawing gives the base line of a text; a cell of a page begins 0.8 of a letter above it.
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
    """Oblique lines across a box."""
    offset = _HATCH_STEP
    while offset < width + height:
        start_x = x + max(0.0, offset - height)
        start_y = y + min(offset, height)
        pdf.line(start_x, start_y, x + min(offset, width), y + max(0.0, offset - width))
        offset += _HATCH_STEP
