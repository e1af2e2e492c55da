"""Forms as one HTML page: self-contained, light and dark, a form a page where it is printed."""

from collections.abc import Sequence
from functools import cache
from html import escape

from jinja2 import Template

from forms.exporters import template
from forms.exporters.drawing import HEIGHT, WIDTH, drawing
from forms.layout import control_pictures
from forms.report import SIGNS, Report, cell_text, remark_text

_COLOURS = {
    "paper": ("#ffffff", "#16181b"),
    "ink": ("#1b1b1b", "#ececec"),
    "faint": ("#595959", "#b0b0b0"),
    "line": ("#8a8a8a", "#7d7d7d"),
    "bar": ("#2f5f98", "#7fb0ea"),
    "band": ("#dfe7f1", "#28323f"),
    "level": ("#a33f00", "#ffab6b"),
    "warn": ("#8f1d1d", "#ff9d9d"),
}
LIGHT, DARK = ({name: both[page] for name, both in _COLOURS.items()} for page in (0, 1))


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


_LONG_ROWS = 24


@cache
def _page() -> Template:
    return template(
        "page.html.jinja",
        text=lambda text: escape(control_pictures(text)),
        written=lambda cell, column: cell_text(cell, column.kind),
        remark=remark_text,
        drawing=drawing,
        is_long=lambda report: sum(len(table.rows) for table in report.tables) > _LONG_ROWS,
    )


def render(reports: Sequence[Report], *, paper: str) -> bytes:
    """UTF-8; ``paper`` is the default for printing."""
    title = reports[0].title if len(reports) == 1 else f"{len(reports)} forms"
    colours = {"light": _variables(LIGHT), "dark": _variables(DARK)}
    sizes = {"width": WIDTH, "height": HEIGHT}
    written = _page().render(reports=reports, title=title, paper=paper, signs=SIGNS, **colours, **sizes)
    return written.encode(errors="replace")
