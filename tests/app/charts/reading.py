"""Drawn charts read back into values: the heights of the dots in each column, by the ticks of the axis."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DOT_ROWS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bits of the two dots of each of the four heights of a braille cell, the highest first."""


@dataclass(frozen=True)
class DrawnChart:
    """What can be read off a chart: rows of cells, the axis, and values per sub-cell."""

    rows: list[str]
    """Right of the axis, the highest first."""
    ticks: dict[int, float]
    """Value of each tick by row, the highest row 0."""
    left: int
    """Columns left of the cells."""
    below: list[str]

    @property
    def per_row(self) -> float:
        rows = sorted(self.ticks)
        return (self.ticks[rows[0]] - self.ticks[rows[-1]]) / (rows[-1] - rows[0])

    def value(self, row: int, height: int) -> float:
        """The value at the middle of one of a cell's four heights, 0 the highest."""
        first = min(self.ticks)
        centre = self.ticks[first] - (row - first) * self.per_row
        return centre + (1.5 - height) * self.per_row / 4

    def values(self, column: int) -> list[float]:
        """What stands in a column of cells, the highest first."""
        found = []
        for number, row in enumerate(self.rows):
            bits = ord(row[column]) - 0x2800 if column < len(row) else -1
            if 0 <= bits <= 0xFF:
                found += [
                    self.value(number, height) for height, pair in enumerate(_DOT_ROWS) if bits & (pair[0] | pair[1])
                ]
        return found

    def column_of(self, label: str) -> int:
        """The column in whose middle a label below the axis stands."""
        found = re.search(rf"(?<!\S){re.escape(label)}(?!\S)", self.below[0])
        assert found, f"no label {label} in {self.below[0]!r}"
        return found.start() + (len(label) - 1) // 2 - self.left


def read_chart(text: str) -> DrawnChart:
    """The chart without colours, read back."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).split("\n")
    axis = next(number for number, line in enumerate(lines) if "└" in line)
    left = lines[axis].index("└") + 1
    ticks = {}
    for number, line in enumerate(lines[:axis]):
        label = line[: left - 1].strip()
        if label:
            ticks[number] = float(label)
    return DrawnChart(rows=[line[left:] for line in lines[:axis]], ticks=ticks, left=left, below=lines[axis + 1 :])
