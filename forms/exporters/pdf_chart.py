"""A report's chart on a page of a PDF document."""

from fpdf import FPDF

from forms.exporters.drawing import HEIGHT, WIDTH, ChartText, Shape, Stroke, drawing
from forms.exporters.pdf_fonts import TEXT
from forms.exporters.pdf_table import INK, LINE, WARN
from forms.layout import visible
from forms.report import Chart

_BAR, _BAND, _LEVEL, _PAPER = (47, 95, 152), (223, 231, 241), (163, 63, 0), (255, 255, 255)
_CHART_WIDTH, _LEAST_CHART_WIDTH = 400.0, 270.0


def chart_on(pdf: FPDF, chart: Chart) -> None:
    """The chart, whole on one page: this one if it can be made to fit, else the next."""
    pdf.y += 10
    scale = min(_CHART_WIDTH / WIDTH, (pdf.page_break_trigger - pdf.y) / HEIGHT)
    if scale < _LEAST_CHART_WIDTH / WIDTH:
        scale = _CHART_WIDTH / WIDTH
        pdf.add_page()
    x, y = pdf.l_margin, pdf.y
    with pdf.local_context():
        for shape in drawing(chart).shapes:
            _shape(pdf, shape, x, y, scale)
    pdf.set_xy(x, y + HEIGHT * scale)


def _shape(pdf: FPDF, shape: Shape, x: float, y: float, scale: float) -> None:
    """A shape of the chart whose top left corner is there."""
    if isinstance(shape, ChartText):
        _text(pdf, shape, x + shape.x * scale, y + shape.y * scale)
    elif isinstance(shape, Stroke):
        colour, width = {"grid": (LINE, 0.25), "level0": (_LEVEL, 1.2)}.get(shape.look, (INK, 1.0))
        pdf.set_draw_color(colour)
        pdf.set_line_width(width)
        if shape.look == "level1":
            pdf.set_dash_pattern(dash=4, gap=2)
        pdf.line(x + shape.x1 * scale, y + shape.y1 * scale, x + shape.x2 * scale, y + shape.y2 * scale)
        pdf.set_dash_pattern()
    else:
        _box(pdf, shape.look, x + shape.x * scale, y + shape.y * scale, shape.width * scale, shape.height * scale)


def _text(pdf: FPDF, shape: ChartText, x: float, y: float) -> None:
    """A one-line text on its baseline: from x on, up to x, or around x."""
    size = 9 if shape.look else 7
    pdf.set_font(TEXT, "B" if shape.look else "", size)
    pdf.set_text_color(INK)
    text = visible(shape.text)
    width = pdf.get_string_width(text)
    pdf.set_xy(x - {"end": width, "middle": width / 2}.get(shape.anchor, 0), y - size * 0.8)
    pdf.cell(width, size, text)


def _box(pdf: FPDF, look: str, x: float, y: float, width: float, height: float) -> None:
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
        _hatch(pdf, x, y, width, height)


def _hatch(pdf: FPDF, x: float, y: float, width: float, height: float) -> None:
    """Slanted lines over a rectangle, cut at its edges."""
    step = offset = 4.0
    while offset < width + height:
        start = (x + max(0.0, offset - height), y + min(offset, height))
        pdf.line(*start, x + min(offset, width), y + max(0.0, offset - width))
        offset += step
