"""Drawn charts read back into values: the heights of the dots in each column, by the ticks of the axis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_DOT_ROWS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bits of the two dots of each of the four heights of a braille cell, the highest first."""
_SIGNS = "*-=.~|"
"""Those of a terminal without braille: one a cell."""
_EIGHTHS = {sign: eighths for eighths, sign in enumerate("▏▎▍▌▋▊▉█", 1)} | {"#": 8, "|": 8, "│": 8}
"""What each sign of a bar fills of its cell; a line that stands inside a bar is part of it."""


@dataclass(frozen=True)
class DrawnChart:
    """What can be read off a chart: rows of cells, the axis, and values per sub-cell."""

    rows: list[str]
    """Right of the axis, the highest first."""
    ticks: dict[int, float]
    """Value of each tick by row, the highest row 0."""
    left: int
    """Columns left of the cells."""
    inside: int
    """Columns of cells."""
    below: list[str]

    @cached_property
    def heights(self) -> int:
        """Sub-cells above each other in a cell: four of braille, one of other signs."""
        return 4 if any("⠀" <= sign <= "⣿" for row in self.rows for sign in row) else 1

    @cached_property
    def per_row(self) -> float:
        rows = sorted(self.ticks)
        return (self.ticks[rows[0]] - self.ticks[rows[-1]]) / (rows[-1] - rows[0])

    @property
    def per_sub_cell(self) -> float:
        return self.per_row / self.heights

    def value(self, row: int, height: int) -> float:
        """The value at the middle of one of a cell's heights, 0 the highest."""
        first = min(self.ticks)
        centre = self.ticks[first] - (row - first) * self.per_row
        return centre + ((self.heights - 1) / 2 - height) * self.per_sub_cell

    def values(self, column: int) -> list[float]:
        """What stands in a column of cells, the highest first."""
        found = []
        for number, row in enumerate(self.rows):
            sign = row[column] if column < min(len(row), self.inside) else " "
            if self.heights == 1:
                found += [self.value(number, 0)] if sign in _SIGNS else []
            elif "⠀" <= sign <= "⣿":
                bits = ord(sign) - 0x2800
                found += [
                    self.value(number, height) for height, pair in enumerate(_DOT_ROWS) if bits & (pair[0] | pair[1])
                ]
        return found

    def dots(self) -> Iterator[tuple[int, float]]:
        """Column and value of all that is drawn."""
        return ((column, value) for column in range(self.inside) for value in self.values(column))

    def column_of(self, label: str) -> int:
        """The column in whose middle a label below the axis stands."""
        found = re.search(rf"(?<!\S){re.escape(label)}(?!\S)", self.below[0])
        assert found, f"no label {label} in {self.below[0]!r}"
        return found.start() + (len(label) - 1) // 2 - self.left


def plain(text: str) -> str:
    """Without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def read_chart(text: str) -> DrawnChart:
    """The chart without colours, read back."""
    lines = plain(text).split("\n")
    axis, left = next((n, found.end() - 1) for n, line in enumerate(lines) if (found := re.search("[└≈~]─", line)))
    ticks = {}
    for number, line in enumerate(lines[:axis]):
        label = line[: left - 1].strip()
        if label:
            ticks[number] = float(label.replace("−", "-"))
    return DrawnChart(
        rows=[line[left:] for line in lines[:axis]],
        ticks=ticks,
        left=left,
        inside=lines[axis].count("─"),
        below=lines[axis + 1 :],
    )


def bar_length(bar: str) -> float:
    """How many cells a horizontal bar fills, without a line that stands beside it."""
    filled = re.sub(r" *[|│]? *$", "", bar)
    return sum(_EIGHTHS[sign] for sign in filled) / 8
