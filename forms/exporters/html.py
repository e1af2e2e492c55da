"""Forms as one HTML page: self-contained, light and dark, a form a page where it is printed."""

from collections.abc import Sequence
from functools import cache
from html import escape

from jinja2 import Template

from forms.exporters import template
from forms.exporters.drawing import HEIGHT, WIDTH, drawing
from forms.layout import control_pictures
from forms.report import SIGNS, Cell, Column, Report, cell_text, remark_text

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
"""On a light page and on a dark one."""
LIGHT = {name: light for name, (light, _) in _COLOURS.items()}
DARK = {name: dark for name, (_, dark) in _COLOURS.items()}


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


_LONG_ROWS = 16
"""A form of more rows has smaller charts where it is printed."""


@cache
def _page() -> Template:
    return template(
        "page.html.jinja",
        text=_escaped,
        written=_cell_text,
        remark=remark_text,
        drawing=drawing,
        is_long=_is_long,
    )


def _escaped(text: str) -> str:
    return escape(control_pictures(text))


def _cell_text(cell: Cell, column: Column) -> str:
    return cell_text(cell, column.kind)


def _is_long(report: Report) -> bool:
    return sum(len(table.rows) for table in report.tables) > _LONG_ROWS


def render(reports: Sequence[Report], *, paper: str) -> bytes:
    """UTF-8; ``paper`` is the default for printing."""
    title = reports[0].title if len(reports) == 1 else f"{len(reports)} forms"
    page = _page().render(
        reports=reports,
        title=title,
        paper=paper,
        signs=SIGNS,
        light=_variables(LIGHT),
        dark=_variables(DARK),
        width=WIDTH,
        height=HEIGHT,
    )
    return page.encode(errors="replace")
