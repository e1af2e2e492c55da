"""The headline of a page: the parts of its result, in as few lines as they need."""

from collections.abc import Iterable
from math import inf

from rich.cells import cell_len
from textual.content import Content

from app.tui.widgets.views import join_toned
from forms.layout import Toned

_GAP = " " * 3
"""Between the parts of one line."""


def headline_content(parts: Iterable[Toned], cells: int) -> Content:
    """The parts in lines of at most that many cells, each beginning with a part of its own; 0 cells: in one line."""
    room = cells or inf
    lines: list[list[Toned]] = [[]]
    used_cells = 0
    for part in parts:
        part_cells = cell_len(part.text)
        if lines[-1] and used_cells + part_cells > room:
            lines.append([])
            used_cells = 0
        lines[-1].append(part)
        used_cells += part_cells + len(_GAP)
    return Content("\n").join([join_toned(line, _GAP) for line in lines])
