"""A long text on a wide screen: two columns beside each other where one would run out of sight."""

from collections.abc import Callable
from itertools import accumulate, zip_longest

from rich.text import Text

LEAST_COLUMNS = 160
"""Cells for two columns that are as wide as the narrowest screen."""
_GAP = 4


def in_columns(draw: Callable[[int], str], width: int, height: int) -> str:
    """What ``draw`` gives for a width: as it is where that fits, else in two columns, broken between paragraphs."""
    whole = draw(width).rstrip("\n")
    if width < LEAST_COLUMNS or whole.count("\n") < height:
        return whole
    column = (width - _GAP) // 2
    paragraphs = [part.split("\n") for part in draw(column).strip("\n").split("\n\n")]
    ends = list(accumulate(len(part) + 1 for part in paragraphs))
    at = min(range(1, len(paragraphs) + 1), key=lambda count: max(ends[count - 1], ends[-1] - ends[count - 1]))
    left, right = _lines(paragraphs[:at]), _lines(paragraphs[at:])
    return "\n".join(
        f"{one}{' ' * (column + _GAP - Text.from_ansi(one).cell_len)}{other}".rstrip()
        for one, other in zip_longest(left, right, fillvalue="")
    )


def _lines(paragraphs: list[list[str]]) -> list[str]:
    return [line for part in paragraphs for line in (*part, "")][:-1]
