"""A sheet's chart as an inline SVG drawing, its colours those of the page around it."""

from __future__ import annotations

from html import escape

from forms.exporters.drawing import HEIGHT, WIDTH, Box, Shape, Stroke, drawing
from forms.layout import control_pictures
from forms.report import Chart

_HATCH = (
    '<defs><pattern id="hatch{number}" width="5" height="5" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><rect width="2" height="5" class="hatch"/></pattern></defs>'
)


def svg(chart: Chart, number: int) -> str:
    """The drawing as one SVG element; ``number`` tells it from others in the same page."""
    drawn = drawing(chart)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="chart{number}">',
        f'<title id="chart{number}">{_text(drawn.description)}</title>',
        _HATCH.format(number=number),
        *(_element(shape, number) for shape in drawn.shapes),
        "</svg>",
    ]
    return "".join(parts)


def _text(text: str) -> str:
    return escape(control_pictures(text))


def _element(shape: Shape, number: int) -> str:
    if isinstance(shape, Box):
        fill = f' fill="url(#hatch{number})"' if shape.look == "rejected" else ""
        place = f'x="{shape.x}" y="{shape.y}" width="{shape.width}" height="{shape.height}"'
        return f'<rect {place} class="{shape.look}"{fill}/>'
    if isinstance(shape, Stroke):
        ends = f'x1="{shape.x1}" x2="{shape.x2}" y1="{shape.y1}" y2="{shape.y2}"'
        return f'<line {ends} class="{shape.look}"/>'
    anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
    look = f' class="{shape.look}"' if shape.look else ""
    return f'<text x="{shape.x}" y="{shape.y}"{anchor}{look}>{_text(shape.text)}</text>'
